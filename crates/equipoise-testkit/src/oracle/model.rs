//! An [`Instance`] as a cone program: columns 0..n are x, auxiliary columns follow.
//!
//! | piece | model |
//! |---|---|
//! | quadratic, distance, elastic net's square | in P |
//! | factor | `r = Mx`, `1/2 r^2` |
//! | losses | `loss.rs` |
//! | l1 | `-t <= x <= t`, `weight t` |
//! | group l2 | `||x_B|| <= s`, `weight s` |
//! | bounds, equations | non-negative and zero cones |
//!
//! Rows of weight 0 are left out.

use super::conic::{Affine, Program};
use crate::instance::{Dense, Instance, Separable, Smooth};
use crate::loss::add_square;

/// The program of an instance; `scale` is the typical size of each coordinate of x, `magnitude` a
/// factor for all columns.
pub(super) fn build(instance: &Instance, scale: &[f64], magnitude: f64) -> Program {
    let mut program = Program::new(magnitude);
    for size in scale {
        program.column(*size);
    }
    add_smooth(&mut program, &instance.smooth);
    add_separable(&mut program, instance, scale);
    let (matrix, rhs) = instance.coupling.equations(instance.dimension);
    (0..matrix.rows).for_each(|r| program.zero(row_of(&matrix, r, 1.0, -rhs[r])));
    program
}

fn add_smooth(program: &mut Program, term: &Smooth) {
    match term {
        Smooth::Quadratic { q, c } => {
            for i in 0..q.rows {
                (i..q.cols).for_each(|j| program.add_quadratic(i, j, q.get(i, j)));
            }
            add_linear(program, c);
        }
        Smooth::Factor { m, c } => {
            (0..m.rows).for_each(|r| add_square(program, row_of(m, r, 1.0, 0.0)));
            add_linear(program, c);
        }
        Smooth::Loss { loss, m, y, weights } => {
            for (r, w) in weighted_rows(m, weights.as_deref()) {
                loss.model(program, |factor, constant| row_of(m, r, factor, constant), y[r], w);
            }
        }
        Smooth::Distance { target, weights } => {
            for c in 0..target.len() {
                program.add_quadratic(c, c, 2.0 * weights[c]);
                program.add_linear(c, -2.0 * weights[c] * target[c]);
                program.add_constant(weights[c] * target[c] * target[c]);
            }
        }
        Smooth::Linear { c } => add_linear(program, c),
        Smooth::Sum(terms) => terms.iter().for_each(|term| add_smooth(program, term)),
    }
}

fn add_separable(program: &mut Program, instance: &Instance, scale: &[f64]) {
    let h = &instance.separable;
    for c in 0..instance.dimension {
        program.add_quadratic(c, c, h.l2_weight(c));
        add_bounds(program, c, h.bounds(c));
        let (fall, rise) = h.slopes(c);
        if fall == rise && rise > 0.0 {
            let size = program.column(scale[c]);
            program.add_linear(size, rise);
            program.non_negative(Affine::new(vec![(size, 1.0), (c, -1.0)], 0.0));
            program.non_negative(Affine::new(vec![(size, 1.0), (c, 1.0)], 0.0));
        } else if fall != rise {
            let cost = program.column(scale[c] * fall.max(rise));
            program.add_linear(cost, 1.0);
            program.non_negative(Affine::new(vec![(cost, 1.0), (c, -rise)], 0.0));
            program.non_negative(Affine::new(vec![(cost, 1.0), (c, fall)], 0.0));
        }
    }
    let Separable::GroupL2 { weights } = h else { return };
    let boundaries = instance.blocks.boundaries(instance.dimension).expect("groups need explicit blocks");
    for (block, weight) in boundaries.windows(2).zip(weights).filter(|(_, weight)| **weight > 0.0) {
        let norm = program.column(scale[block[0]]);
        program.add_linear(norm, *weight);
        let members = (block[0]..block[1]).map(|c| Affine::new(vec![(c, 1.0)], 0.0));
        let cone = std::iter::once(Affine::new(vec![(norm, 1.0)], 0.0)).chain(members);
        program.second_order(cone.collect());
    }
}

fn add_bounds(program: &mut Program, c: usize, (lower, upper): (f64, f64)) {
    if lower == upper {
        program.zero(Affine::new(vec![(c, 1.0)], -lower));
        return;
    }
    if lower.is_finite() {
        program.non_negative(Affine::new(vec![(c, 1.0)], -lower));
    }
    if upper.is_finite() {
        program.non_negative(Affine::new(vec![(c, -1.0)], upper));
    }
}

fn add_linear(program: &mut Program, c: &[f64]) {
    c.iter().enumerate().for_each(|(column, coefficient)| program.add_linear(column, *coefficient));
}

fn weighted_rows(m: &Dense, weights: Option<&[f64]>) -> impl Iterator<Item = (usize, f64)> {
    let rows = (0..m.rows).map(move |r| (r, weights.map_or(1.0, |list| list[r])));
    rows.filter(|(_, weight)| *weight > 0.0)
}

/// `factor * (row of m)'x + constant`.
fn row_of(m: &Dense, row: usize, factor: f64, constant: f64) -> Affine {
    let entries = m.row(row).iter().enumerate().filter(|(_, entry)| **entry != 0.0);
    Affine::new(entries.map(|(c, entry)| (c, factor * entry)).collect(), constant)
}
