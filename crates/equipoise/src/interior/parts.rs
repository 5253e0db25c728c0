//! Coordinates as parts, bounds as slacks.
//!
//! A coordinate whose h has a kink at 0 inside its interval is the difference of two parts, each at least 0, that cost `l1`
//! each; every other coordinate is one part. A barrier keeps a part on one side of a bound,
//!
//! ```text
//! s = sign (v - bound) > 0 ,    with multiplier z > 0 ,
//! ```
//!
//! and a coordinate whose bounds are equal is held there. In scaled units. Must not know: rows, systems.

use super::Program;
use super::scaling::Scaling;
use crate::coupling::Coupling;

/// A part of a coordinate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub(super) coordinate: usize,
    /// What it counts in x: 1 or -1.
    pub(super) sign: f64,
    pub(super) lower: f64,
    pub(super) upper: f64,
    /// Its own slope beside q.
    pub(super) cost: f64,
}

/// One side of a part.
#[derive(Debug, Clone, Copy)]
pub(super) struct Barrier {
    pub(super) part: usize,
    /// 1 for a lower bound, -1 for an upper one.
    pub(super) sign: f64,
    pub(super) bound: f64,
}

/// All of them, in scaled units.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) all: Vec<Part>,
    pub(super) barriers: Vec<Barrier>,
    /// Where the parts of coordinate c begin; one more entry for the end.
    pub(super) starts: Vec<usize>,
    /// Where the barriers of each part begin; one more entry for the end.
    pub(super) barrier_starts: Vec<usize>,
    /// Coordinates whose interval is a point.
    pub(super) held: Vec<bool>,
    pub(super) slope: Vec<f64>,
    pub(super) rhs: Vec<f64>,
    /// The interval of every coordinate.
    pub(super) domain: Vec<(f64, f64)>,
}

impl Parts {
    /// With these rows in place of the program's own.
    pub(super) fn new(program: &Program<'_>, rows: &Coupling, scaling: &Scaling) -> Self {
        let n = program.linear.len();
        let slope: Vec<f64> = (0..n).map(|c| scaling.cost * scaling.columns[c] * program.linear[c]).collect();
        let rhs = rows.rhs().iter().zip(&scaling.rows).map(|(b, r)| b * r).collect();
        let (mut parts, mut starts) = (Vec::with_capacity(n), Vec::with_capacity(n + 1));
        let mut domain = Vec::with_capacity(n);
        for (coordinate, piece) in program.pieces.iter().enumerate() {
            starts.push(parts.len());
            let d = scaling.columns[coordinate];
            let (lower, upper, cost) = (piece.lower / d, piece.upper / d, scaling.cost * d * piece.l1);
            domain.push((lower, upper));
            if cost > 0.0 && lower < 0.0 && upper > 0.0 {
                parts.push(Part { coordinate, sign: 1.0, lower: 0.0, upper, cost });
                parts.push(Part { coordinate, sign: -1.0, lower: 0.0, upper: -lower, cost });
            } else {
                let cost = if upper <= 0.0 { -cost } else { cost };
                parts.push(Part { coordinate, sign: 1.0, lower, upper, cost });
            }
        }
        starts.push(parts.len());
        let held: Vec<bool> = domain.iter().map(|(lower, upper)| lower == upper).collect();
        let (mut barriers, mut barrier_starts) = (Vec::new(), Vec::new());
        for (k, part) in parts.iter().enumerate() {
            barrier_starts.push(barriers.len());
            if held[part.coordinate] {
                continue;
            }
            if part.lower > f64::NEG_INFINITY {
                barriers.push(Barrier { part: k, sign: 1.0, bound: part.lower });
            }
            if part.upper < f64::INFINITY {
                barriers.push(Barrier { part: k, sign: -1.0, bound: part.upper });
            }
        }
        barrier_starts.push(barriers.len());
        Self { all: parts, barriers, starts, barrier_starts, held, slope, rhs, domain }
    }

    pub(super) fn dimension(&self) -> usize {
        self.slope.len()
    }

    /// The parts of a coordinate.
    pub(super) fn of(&self, c: usize) -> std::ops::Range<usize> {
        self.starts[c]..self.starts[c + 1]
    }

    /// The barriers of a part.
    pub(super) fn barriers_of(&self, part: usize) -> std::ops::Range<usize> {
        self.barrier_starts[part]..self.barrier_starts[part + 1]
    }

    /// x, from its parts.
    pub(super) fn x(&self, v: &[f64]) -> Vec<f64> {
        (0..self.dimension()).map(|c| self.of(c).map(|k| self.all[k].sign * v[k]).sum()).collect()
    }
}
