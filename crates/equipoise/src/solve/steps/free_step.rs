//! Second-order steps on the free variables: the finish that first-order pairs lack.
//!
//! On the face of x, the coordinates F at which h is smooth (or whose sign of movement is known), minimise
//!
//! ```text
//! r'd + 1/2 d'(Hessian of f + h) d   subject to   A_F d = 0,       r = grad f + grad h on F
//! ```
//!
//! by projected conjugate gradients preconditioned with the diagonal (`projected.rs`), then go along d as far as the face and the
//! objective allow, or to the projection of x + d onto the face where that is lower. Values that meet a bound or a
//! kink are assigned it exactly. The objective never rises. Must not know: pairs, graphs, random numbers.

mod face;
mod gradients;

use face::Face;
pub(super) use gradients::FLAT;
use gradients::{Direction, conjugate_gradients};

use crate::control::{Control, Halt, Pass};
use crate::coupling::{ALLOWED_SHARE, CouplingColumns};
use crate::error::{Error, Result};
use crate::matrix::max_abs;
use crate::pair_step::Model;
use crate::problem::View;
use crate::separable::Nonsmooth;
use crate::solve::gain;
use crate::solve::pairs::metric::Metric;
use crate::solve::pairs::subproblem::Subproblem;
use crate::state::State;

const MOST_HALVINGS: usize = 40;
/// Slope along a ray, relative to what is added up in it, above which it is no rounding.
const SURELY_FALLS: f64 = 1e-9;
/// Faces larger than this are searched along the line only: the projection would need too much memory.
const LARGEST_PROJECTION: usize = 200_000;

/// What a second-order step works on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FreeStep<'a> {
    pub(crate) view: View<'a>,
    pub(crate) metric: &'a Metric,
    pub(crate) control: &'a Control,
}

/// Why there are no more steps.
enum End {
    Halt(Halt),
    /// The objective falls for ever along these coordinates.
    Endless(Vec<usize>),
}

impl From<Halt> for End {
    fn from(halt: Halt) -> Self {
        Self::Halt(halt)
    }
}

impl FreeStep<'_> {
    fn objective(&self, state: &State) -> f64 {
        self.view.value(&state.x, &state.product)
    }

    /// Steps until they no longer pay or `most_products` Hessian products are spent; returns by how much the
    /// objective fell. Where they are ended early the state is that of the last whole step.
    pub(crate) fn take(&self, state: &mut State, most_products: usize) -> Result<Pass<f64>> {
        match self.steps(state, most_products) {
            Ok(gain) => Ok(Ok(gain)),
            Err(End::Halt(halt)) => Ok(Err(halt)),
            Err(End::Endless(coordinates)) => Err(Error::Unbounded { coordinates }),
        }
    }

    fn steps(&self, state: &mut State, most_products: usize) -> std::result::Result<f64, End> {
        let mut left = most_products;
        let first = self.objective(state);
        let mut before = first;
        while left > 0 {
            self.control.check()?;
            let Some(mut face) = Face::at(self.view, state, self.control)? else { break };
            let Some(direction) = self.direction(state, &mut face, &mut left)? else { break };
            let reach = face.reach(&state.x, &direction.d);
            let after = self.search(state, &face, &direction, before)?;
            let gain = before - after;
            before = after;
            // A face that ends at once is not yet the right one, and too large to be walked end by end.
            let premature = reach < 0.1 && direction.d.len() > LARGEST_PROJECTION;
            if gain::is_none(gain, after) || premature {
                break;
            }
        }
        Ok(first - before)
    }

    /// A descent direction on the face; coordinates that would leave it at once are held.
    fn direction(&self, state: &State, face: &mut Face<'_>, left: &mut usize) -> Pass<Option<Direction>> {
        for _ in 0..8 {
            let Some(direction) = conjugate_gradients(self, state, face, left)? else { return Ok(None) };
            if !face.hold_wrong_ways(&direction.d) {
                return Ok(Some(direction));
            }
        }
        Ok(None)
    }

    /// Moves along the direction; returns the new objective (the old one when nothing was lower).
    fn search(
        &self,
        state: &mut State,
        face: &Face<'_>,
        direction: &Direction,
        before: f64,
    ) -> std::result::Result<f64, End> {
        let d = &direction.d;
        let reach = face.reach(&state.x, d);
        if direction.ray && reach == f64::INFINITY {
            let moving = (0..d.len()).filter(|&c| d[c].abs() > 1e-6 * max_abs(d)).take(10);
            let endless = self.falls_for_ever(state, direction, before)?;
            return if endless { Err(End::Endless(moving.collect())) } else { Ok(before) };
        }
        let mut best: Option<(f64, State)> = None;
        let coupling = self.view.independent_coupling();
        // No step takes x further off its rows than rounding: what was tolerated once would be tolerated again.
        let off = coupling.miss_within(&state.x, self.control)?.relative;
        let tolerated = off.max(1e-2 * ALLOWED_SHARE);
        let mut offer = |trial: State| -> Pass<bool> {
            let value = self.objective(&trial);
            let bar = best.as_ref().map_or(before, |(value, _)| *value);
            let lower = value < bar && coupling.miss_within(&trial.x, self.control)?.relative <= tolerated;
            if lower {
                best = Some((value, trial));
            }
            Ok(lower)
        };
        let full = if direction.ray { reach } else { reach.min(1.0) };
        let mut t = full;
        for _ in 0..MOST_HALVINGS {
            self.control.check()?;
            if offer(self.along(state, face, d, t, reach)?)? {
                break;
            }
            t *= 0.5;
        }
        if reach < 1.0
            && !direction.ray
            && d.len() <= LARGEST_PROJECTION
            && let Some(trial) = self.projected(state, face, d)?
        {
            offer(trial)?;
        }
        Ok(match best {
            Some((value, trial)) => {
                *state = trial;
                value
            }
            None => before,
        })
    }

    /// Whether the objective still falls at its first rate a very long way along a ray, and not by rounding.
    fn falls_for_ever(&self, state: &State, direction: &Direction, before: f64) -> Pass<bool> {
        let (f, falls) = (self.view.smooth(), direction.falls);
        if self.view.has_floor() {
            return Ok(false);
        }
        if let Some(side) = f.dual() {
            let (mut u, mut sizes) = (vec![0.0; side.dual_len()], vec![0.0; state.x.len()]);
            side.dual_point(&state.x, &state.product, &mut u);
            side.add_dual_magnitude(&u, &mut sizes, self.control)?;
            let size: f64 = sizes.iter().zip(&direction.d).map(|(size, d)| size * d.abs()).sum();
            if -falls <= SURELY_FALLS * size {
                return Ok(false);
            }
        }
        let far = 1e6 * (1.0 + before.abs()) / -falls;
        for far in [far, 1e4 * far] {
            let x = state.x.iter().zip(&direction.d).map(|(x, d)| x + far * d).collect();
            let there = self.objective(&State::new(f, x, self.control)?);
            if there.is_nan() || there > before + 0.9 * far * falls {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// x + t d, with what meets its end of the face assigned to it.
    fn along(&self, state: &State, face: &Face<'_>, d: &[f64], t: f64, reach: f64) -> Pass<State> {
        let mut x: Vec<f64> = state.x.iter().zip(d).map(|(x, d)| x + t * d).collect();
        face.snap(&state.x, d, &mut x, if t >= reach { t } else { f64::INFINITY });
        State::new(self.view.smooth(), x, self.control)
    }

    /// The point of the face nearest to x + d with A x = b.
    fn projected(&self, state: &State, face: &Face<'_>, d: &[f64]) -> Pass<Option<State>> {
        let f = self.view.smooth();
        let coordinates: Vec<usize> = (0..d.len()).collect();
        let metric: Vec<f64> = (0..d.len()).map(|c| self.metric.diagonal(f, c)).collect();
        let gradient: Vec<f64> = d.iter().zip(&metric).map(|(d, metric)| -d * metric).collect();
        let Some(bounds) = face.bounds(&state.x) else { return Ok(None) };
        let model = Model { coordinates: &coordinates, x: &state.x, gradient: &gradient, metric: &metric };
        let columns = CouplingColumns::new(self.view.independent_coupling(), &coordinates);
        let mut z = vec![0.0; d.len()];
        let solved = Subproblem::default().solve(
            &model,
            &columns,
            Nonsmooth::Coordinates(&bounds),
            &[],
            &mut z,
            &|| self.control.halted().is_some(),
        );
        if solved { State::new(f, z, self.control).map(Some) } else { Ok(None) }
    }
}
