//! Conjugate gradients on the face of x, for a factored quadratic with too many products for a dense system.
//!
//! On the coordinates F at which h is smooth, minimise
//!
//! ```text
//! r'delta + 1/2 delta'(E + Z_F'W Z_F) delta   subject to   A_F delta = 0 ,      E = d + l2
//! ```
//!
//! preconditioned by the diagonal. A step that would leave the face ends at its boundary: the coordinate that stops it
//! is assigned its bound (or kink) exactly and leaves F. The rows are kept, the objective never rises, and a step
//! costs the columns in F and nothing else. Must not know: pairs, graphs, random numbers.

use crate::control::Control;
use crate::coupling::Coupling;
use crate::matrix::{PseudoInverse, dot};
use crate::problem::View;
use crate::separable::{ClosedForm, Nonsmooth, SeparableTerm};
use crate::smooth::Factored;
use crate::solve::steps::watched::Watched;

/// Fall of the preconditioned residual, squared, at which the face is solved.
const SOLVED: f64 = 1e-10;

/// What the step works on.
pub(crate) struct FaceStep<'a> {
    h: ClosedForm<'a, dyn SeparableTerm + 'a>,
    factored: Watched<'a>,
    coupling: &'a Coupling,
    /// `W Z x` of the last call, and `W Z p`.
    u: Vec<f64>,
    image: Vec<f64>,
}

/// What a call achieved.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FaceOutcome {
    /// By how much the objective fell.
    pub(crate) gain: f64,
    /// Conjugate gradient steps.
    pub(crate) steps: usize,
    /// Columns touched, all steps together.
    pub(crate) columns: usize,
    /// Whether a coordinate met the end of the face.
    pub(crate) met_an_end: bool,
}

/// What x was before a call, where it changed.
#[derive(Debug, Default)]
pub(crate) struct Before {
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Before {
    /// Puts x back.
    pub(crate) fn restore(&self, x: &mut [f64]) {
        self.columns.iter().zip(&self.values).for_each(|(&c, &value)| x[c as usize] = value);
    }
}

/// The free coordinates, side by side.
#[derive(Debug, Default)]
struct Face {
    columns: Vec<u32>,
    x: Vec<f64>,
    /// The ends of the stretch on which h is smooth.
    ends: Vec<(f64, f64)>,
    /// `E`, and one over the diagonal of the matrix.
    own: Vec<f64>,
    inverse: Vec<f64>,
    /// Minus the gradient.
    r: Vec<f64>,
    p: Vec<f64>,
}

impl Face {
    fn remove(&mut self, k: usize) {
        self.columns.swap_remove(k);
        self.x.swap_remove(k);
        self.ends.swap_remove(k);
        self.own.swap_remove(k);
        self.inverse.swap_remove(k);
        self.r.swap_remove(k);
        self.p.swap_remove(k);
    }

    /// How far along p every coordinate stays on the face, and who ends it first.
    fn reach(&self) -> (f64, usize) {
        let mut first = (f64::INFINITY, 0);
        for k in 0..self.p.len() {
            let (lower, upper) = self.ends[k];
            let p = self.p[k];
            let room = if p > 0.0 { (upper - self.x[k]) / p } else { (lower - self.x[k]) / p };
            if p != 0.0 && room < first.0 {
                first = (room, k);
            }
        }
        first
    }

    /// `r -= A_F'y` so that `D^-1 r` keeps the rows; `p = D^-1 r`; returns `r'D^-1 r`.
    fn turn(&mut self, coupling: &Coupling, rows: &PseudoInverse) -> f64 {
        let m = coupling.rows();
        let (mut pulled, mut y) = (vec![0.0; m], vec![0.0; m]);
        if let Some(a) = coupling.uniform_row() {
            pulled[0] = a * self.r.iter().zip(&self.inverse).map(|(r, d)| r * d).sum::<f64>();
        } else {
            for k in 0..self.r.len() {
                coupling.add_column(self.columns[k] as usize, self.inverse[k] * self.r[k], &mut pulled);
            }
        }
        rows.apply(&pulled, &mut y);
        let uniform = coupling.uniform_row().map(|a| a * y[0]);
        let mut fit = 0.0;
        for k in 0..self.r.len() {
            // What the rows hold back is taken out of r for good: it would drown the rest in rounding.
            self.r[k] -= uniform.unwrap_or_else(|| coupling.column_dot(self.columns[k] as usize, &y));
            let v = self.inverse[k] * self.r[k];
            fit += self.r[k] * v;
            self.p[k] = v;
        }
        fit
    }

    /// The pseudo-inverse of `A_F D^-1 A_F'`.
    fn rows(&self, coupling: &Coupling) -> PseudoInverse {
        let m = coupling.rows();
        let mut gram = vec![0.0; m * m];
        for (&c, &d) in self.columns.iter().zip(&self.inverse) {
            coupling.add_outer(c as usize, d, &mut gram);
        }
        PseudoInverse::new(&gram, m)
    }
}

impl<'a> FaceStep<'a> {
    /// `None` where f is no factored quadratic or h has no closed form.
    pub(crate) fn new(view: View<'a>) -> Option<Self> {
        let h = match view.separable() {
            Nonsmooth::Coordinates(h) => ClosedForm::of(h, view.dimension())?,
            Nonsmooth::Groups(_) => return None,
        };
        let factored = Watched::new(view.smooth().factored()?, view.dimension());
        let coupling = view.independent_coupling();
        Some(Self { h, factored, coupling, u: Vec::new(), image: Vec::new() })
    }

    /// Moves x on its face for at most so many steps, fewer where it is told to stop; also what x was before.
    pub(crate) fn take(
        &mut self,
        x: &mut [f64],
        most_steps: usize,
        control: &Control,
    ) -> (FaceOutcome, Before) {
        self.factored.begin(control);
        let mut face = self.face_of(x);
        let mut outcome = FaceOutcome { gain: 0.0, steps: 0, columns: 0, met_an_end: false };
        let mut stopped = Before::default();
        if self.factored.was_cut() {
            return (outcome, stopped);
        }
        let mut rows = face.rows(self.coupling);
        let mut fit = face.turn(self.coupling, &rows);
        let enough = SOLVED * fit;
        let (mut out, mut old) = (vec![0.0; face.columns.len()], Vec::new());
        while outcome.steps < most_steps && face.columns.len() > self.coupling.rows() && fit > enough {
            if control.halted().is_some() {
                break;
            }
            out.truncate(face.columns.len());
            self.apply(&face, &mut out);
            if self.factored.was_cut() {
                break;
            }
            outcome.steps += 1;
            outcome.columns += face.columns.len();
            let (slope, bend) = (dot(&face.p, &face.r), dot(&face.p, &out));
            let (reach, stopper) = face.reach();
            let wanted = if bend > 0.0 { slope / bend } else { f64::INFINITY };
            let t = wanted.min(reach);
            if !(t.is_finite() && slope > 0.0) {
                break;
            }
            outcome.gain += t * (slope - 0.5 * t * bend);
            for k in 0..face.columns.len() {
                face.x[k] += t * face.p[k];
                face.r[k] -= t * out[k];
            }
            if reach <= wanted {
                let (lower, upper) = face.ends[stopper];
                let place = &mut x[face.columns[stopper] as usize];
                stopped.columns.push(face.columns[stopper]);
                stopped.values.push(*place);
                *place = if face.p[stopper] > 0.0 { upper } else { lower };
                outcome.met_an_end = true;
                face.remove(stopper);
                rows = face.rows(self.coupling);
                fit = face.turn(self.coupling, &rows);
            } else {
                let before = fit;
                // The fit of the new residual decides how much of the old direction stays.
                old.clone_from(&face.p);
                fit = face.turn(self.coupling, &rows);
                let ratio = fit / before;
                face.p.iter_mut().zip(&old).for_each(|(p, old)| *p += ratio * old);
            }
        }
        let Face { mut columns, x: mut values, .. } = face;
        columns.iter().zip(&mut values).for_each(|(&c, value)| std::mem::swap(&mut x[c as usize], value));
        columns.extend(stopped.columns);
        values.extend(stopped.values);
        (outcome, Before { columns, values })
    }

    /// The coordinates at which h is smooth, with minus their gradient.
    fn face_of(&mut self, x: &[f64]) -> Face {
        let mut face = Face::default();
        let moved: Vec<u32> = (0..x.len() as u32).filter(|&c| x[c as usize] != 0.0).collect();
        let amounts: Vec<f64> = moved.iter().map(|&c| x[c as usize]).collect();
        self.u.clear();
        self.u.resize(self.factored.rank(), 0.0);
        self.image.resize(self.factored.rank(), 0.0);
        self.factored.add_columns(&moved, &amounts, &mut self.u);
        self.u.iter_mut().enumerate().for_each(|(k, u)| *u *= self.factored.weight(k));
        for (c, &value) in x.iter().enumerate() {
            let piece = self.h.piece(c);
            let (lo, hi) = piece.subdifferential(value);
            if lo != hi {
                continue;
            }
            let mut ends = (piece.lower, piece.upper);
            if piece.l1 > 0.0 {
                ends = if value > 0.0 { (ends.0.max(0.0), ends.1) } else { (ends.0, ends.1.min(0.0)) };
            }
            let own = self.factored.own_curvature(c) + piece.l2;
            let diagonal = own + self.factored.column_square(c);
            face.columns.push(c as u32);
            face.x.push(value);
            face.ends.push(ends);
            face.own.push(own);
            face.inverse.push(if diagonal > 0.0 { 1.0 / diagonal } else { 1.0 });
            face.r.push(-(self.factored.own_slope(c) + self.factored.own_curvature(c) * value + lo));
        }
        let mut pull = vec![0.0; face.columns.len()];
        self.factored.dots(&face.columns, &self.u, &mut pull);
        face.r.iter_mut().zip(&pull).for_each(|(r, pull)| *r -= pull);
        face.p = vec![0.0; face.columns.len()];
        face
    }

    /// `out = (E + Z_F'W Z_F) p`.
    fn apply(&mut self, face: &Face, out: &mut [f64]) {
        self.image.fill(0.0);
        self.factored.add_columns(&face.columns, &face.p, &mut self.image);
        self.image.iter_mut().enumerate().for_each(|(k, image)| *image *= self.factored.weight(k));
        self.factored.dots(&face.columns, &self.image, out);
        for ((out, p), own) in out.iter_mut().zip(&face.p).zip(&face.own) {
            *out += own * p;
        }
    }
}
