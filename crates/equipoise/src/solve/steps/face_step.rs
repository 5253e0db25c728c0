//! Conjugate gradients on the face of x, for a factored quadratic with too many products for a dense system.
//!
//! On the coordinates F at which h is smooth, minimise
//!
//! ```text
//! r'delta + 1/2 delta'(E + Z_F'W Z_F) delta   subject to   A_F delta = 0 ,      E = d + l2
//! ```
//!
//! preconditioned by the diagonal (`projected.rs`). A step that would leave the face ends at its boundary: the coordinate that stops it
//! is assigned its bound (or kink) exactly and leaves F. The rows are kept, the objective never rises, and a step
//! costs the columns in F and nothing else. Must not know: pairs, graphs, random numbers.

use crate::control::{Control, Pass};
use crate::coupling::Coupling;
use crate::matrix::dot;
use crate::problem::View;
use crate::separable::{ClosedForm, Nonsmooth, SeparableTerm};
use crate::smooth::Factored;
use crate::solve::steps::projected::Projected;
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

/// The free coordinates, side by side, in the order of the directions.
#[derive(Debug, Default)]
struct Face {
    x: Vec<f64>,
    /// The ends of the stretch on which h is smooth.
    ends: Vec<(f64, f64)>,
    /// `E`.
    own: Vec<f64>,
}

impl Face {
    fn remove(&mut self, k: usize) {
        self.x.swap_remove(k);
        self.ends.swap_remove(k);
        self.own.swap_remove(k);
    }

    /// How far along p every coordinate stays on the face, and who ends it first.
    fn reach(&self, p: &[f64]) -> (f64, usize) {
        let mut first = (f64::INFINITY, 0);
        for k in 0..p.len() {
            let (lower, upper) = self.ends[k];
            let p = p[k];
            let room = if p > 0.0 { (upper - self.x[k]) / p } else { (lower - self.x[k]) / p };
            if p != 0.0 && room < first.0 {
                first = (room, k);
            }
        }
        first
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
        let mut outcome = FaceOutcome { gain: 0.0, steps: 0, columns: 0, met_an_end: false };
        let mut before = Before::default();
        let Ok((mut face, mut gradients)) = self.face_of(x, control) else { return (outcome, before) };
        if self.factored.was_cut() {
            return (outcome, before);
        }
        // Ended early, the steps up to then count.
        let _ended: Pass =
            self.walk(x, &mut face, &mut gradients, (&mut outcome, &mut before), most_steps, control);
        for (&c, value) in gradients.columns().iter().zip(&face.x) {
            before.columns.push(c);
            before.values.push(std::mem::replace(&mut x[c as usize], *value));
        }
        (outcome, before)
    }

    /// Steps along conjugate directions, each as far as the face goes.
    fn walk(
        &mut self,
        x: &mut [f64],
        face: &mut Face,
        gradients: &mut Projected<'_>,
        (outcome, before): (&mut FaceOutcome, &mut Before),
        most_steps: usize,
        control: &Control,
    ) -> Pass {
        let enough = SOLVED * gradients.fit();
        let mut image = vec![0.0; face.x.len()];
        while outcome.steps < most_steps && face.x.len() > self.coupling.rows() && gradients.fit() > enough {
            control.check()?;
            image.truncate(face.x.len());
            self.apply(face, gradients, &mut image);
            if self.factored.was_cut() {
                break;
            }
            outcome.steps += 1;
            outcome.columns += face.x.len();
            let (slope, bend) = (gradients.fall(), dot(gradients.p(), &image));
            let (reach, stopper) = face.reach(gradients.p());
            let wanted = if bend > 0.0 { slope / bend } else { f64::INFINITY };
            let t = wanted.min(reach);
            if !(t.is_finite() && slope > 0.0) {
                break;
            }
            outcome.gain += t * (slope - 0.5 * t * bend);
            face.x.iter_mut().zip(gradients.p()).for_each(|(x, p)| *x += t * p);
            gradients.step(t, &image);
            if reach <= wanted {
                let (lower, upper) = face.ends[stopper];
                let c = gradients.columns()[stopper];
                let end = if gradients.p()[stopper] > 0.0 { upper } else { lower };
                before.columns.push(c);
                before.values.push(std::mem::replace(&mut x[c as usize], end));
                outcome.met_an_end = true;
                face.remove(stopper);
                gradients.remove(stopper);
                gradients.begin_anew(control)?;
            } else {
                gradients.turn(control)?;
            }
        }
        Ok(())
    }

    /// The coordinates at which h is smooth, and the steepest way down from there.
    fn face_of(&mut self, x: &[f64], control: &Control) -> Pass<(Face, Projected<'a>)> {
        let mut face = Face::default();
        let moved: Vec<u32> = (0..x.len() as u32).filter(|&c| x[c as usize] != 0.0).collect();
        let amounts: Vec<f64> = moved.iter().map(|&c| x[c as usize]).collect();
        self.u.clear();
        self.u.resize(self.factored.rank(), 0.0);
        self.image.resize(self.factored.rank(), 0.0);
        self.factored.add_columns(&moved, &amounts, &mut self.u);
        self.u.iter_mut().enumerate().for_each(|(k, u)| *u *= self.factored.weight(k));
        let (mut columns, mut inverse, mut r) = (Vec::new(), Vec::new(), Vec::new());
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
            face.x.push(value);
            face.ends.push(ends);
            face.own.push(own);
            columns.push(c as u32);
            inverse.push(if diagonal > 0.0 { 1.0 / diagonal } else { 1.0 });
            r.push(-(self.factored.own_slope(c) + self.factored.own_curvature(c) * value + lo));
        }
        let mut pull = vec![0.0; columns.len()];
        self.factored.dots(&columns, &self.u, &mut pull);
        r.iter_mut().zip(&pull).for_each(|(r, pull)| *r -= pull);
        Ok((face, Projected::begin(self.coupling, columns, inverse, r, control)?))
    }

    /// `image = (E + Z_F'W Z_F) p`.
    fn apply(&mut self, face: &Face, gradients: &Projected<'_>, image: &mut [f64]) {
        self.image.fill(0.0);
        self.factored.add_columns(gradients.columns(), gradients.p(), &mut self.image);
        self.image.iter_mut().enumerate().for_each(|(k, image)| *image *= self.factored.weight(k));
        self.factored.dots(gradients.columns(), &self.image, image);
        for ((image, p), own) in image.iter_mut().zip(gradients.p()).zip(&face.own) {
            *image += own * p;
        }
    }
}
