//! Steps from the interior: the minimiser of a second-order model of f with h and all rows, found by `interior/`.
//!
//! ```text
//! z = argmin  grad f(x)'(z - x) + 1/2 (z - x)'(Hessian at x)(z - x) + h(z)   subject to   A z = b ,    x += t (z - x)
//! ```
//!
//! For a quadratic f one step is all; for other losses the next model is made at the new x. Taken where pairs do not pay: many
//! rows, bad units, no progress.
//!
//! - Given: a state, the gap that is wanted, what a factor may cost.
//! - Returns: whether x moved; and, moved or not, multipliers for whoever certifies it.
//! - Must not know: pairs, graphs, certificates.
//!
//! What is returned is feasible, in the domain, and no worse than what was given; the multipliers are a proposal.

use crate::archive::Archive;
use crate::control::{Control, Pass};
use crate::coupling::{ALLOWED_SHARE, Coupling};
use crate::error::Result;
use crate::interior::{self, Candidate, FACTORS, MOST_PRODUCTS, Program};
use crate::problem::{Model, View, pivot_ratio};
use crate::solve::gain;
use crate::state::State;

/// Rows from which on it comes before any pair.
const MANY_ROWS: usize = 20;
/// Rounds after which it is first thought of elsewhere; and how many times as many there are before the next.
const ROUNDS: u32 = 6;
const LATER: u32 = 4;
/// The smallest pivot of `A A'` with unit rows under which rows are nearly parallel; and the products that asking may cost.
const NEARLY_PARALLEL: f64 = 1e-8;
const MOST_COMPARED: usize = 1 << 24;
/// Models of one step.
const MOST_MODELS: usize = 40;
/// Halvings of a step.
const MOST_HALVINGS: usize = 30;
/// The gap that a path is followed to, as a share of the one that is wanted; and the least.
const SHARE_OF_GAP: f64 = 1e-2;
const LEAST_GAP: f64 = 1e-12;
const MOST_GAP: f64 = 1e-4;
/// The miss of a row, as a share of what is allowed, that a new point may have.
const SHARE_OF_MISS: f64 = 0.5;

/// Steps from the interior, and when they are taken.
#[derive(Debug)]
pub(crate) struct InteriorStep {
    /// The round after which the next is due.
    due: u64,
    /// Whether one was taken, and nobody moved since.
    is_last: bool,
}

/// What a step did.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    pub(crate) moved: bool,
    /// Multipliers of the independent rows, for whoever certifies x.
    pub(crate) proposed: Vec<Vec<f64>>,
}

/// What a run has done so far.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Done {
    pub(crate) rounds: u64,
    /// About how often all data were read; infinite where a step may cost whatever it costs.
    pub(crate) passes: f64,
}

impl InteriorStep {
    /// For a problem whose h is in closed form and whose f says how it bends.
    pub(crate) fn new(view: View<'_>) -> Option<Self> {
        if !view.has_model() {
            return None;
        }
        let coupling = view.independent_coupling();
        let is_first = coupling.rows() >= MANY_ROWS || are_nearly_parallel(coupling, view.dimension());
        let due = if is_first { 0 } else { u64::from(ROUNDS) };
        Some(Self { due, is_last: false })
    }

    /// Whether it is due after so many rounds.
    pub(crate) fn is_due(&self, rounds: u64) -> bool {
        rounds >= self.due
    }

    /// Whether it might do something that it has not done.
    pub(crate) fn is_untried(&self) -> bool {
        !self.is_last
    }

    /// Is told that others gained something since.
    pub(crate) fn others_moved(&mut self) {
        self.is_last = false;
    }

    /// Shows an archive what is to come.
    pub(crate) fn carry(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.work(&mut self.due)?;
        archive.flag(&mut self.is_last)
    }

    /// Takes a step; one that would cost more than all that was done so far is not taken.
    pub(crate) fn take(
        &mut self,
        view: View<'_>,
        state: &mut State,
        wanted_gap: f64,
        done: Done,
        control: &Control,
    ) -> Pass<Taken> {
        self.due = u64::from(LATER) * done.rounds.max(u64::from(ROUNDS) / 2);
        let mut taken = Taken::default();
        // The first model is followed to its end, in case it is f itself; those after it as far as they are worth it.
        let mut worth: f64 = 0.0;
        for _ in 0..MOST_MODELS {
            let found = Self::improve(view, state, wanted_gap, worth, done.passes, control);
            let Improved { better, proposed } = match found {
                Ok(Some(found)) => found,
                Ok(None) => break,
                // What was gained so far stays; whoever asks the control will see.
                Err(_) if taken.moved => break,
                Err(halt) => return Err(halt),
            };
            taken.proposed = proposed;
            let Some(Better { next, fell, is_exact }) = better else { break };
            *state = next;
            taken.moved = true;
            if is_exact || fell <= SHARE_OF_GAP * wanted_gap {
                break;
            }
            worth = SHARE_OF_GAP * fell;
        }
        // What was too dear may be worth it at the end.
        self.is_last = done.passes.is_infinite() || !taken.proposed.is_empty();
        Ok(taken)
    }

    /// A better point, by the model at x followed to a gap of `worth` at least, and multipliers; `None` where there is no model
    /// or no end of its path.
    fn improve(
        view: View<'_>,
        state: &State,
        wanted_gap: f64,
        worth: f64,
        passes: f64,
        control: &Control,
    ) -> Pass<Option<Improved>> {
        control.check()?;
        let Some(model) = Here::at(view, state, control)? else { return Ok(None) };
        let gap = (SHARE_OF_GAP * wanted_gap).max(worth) / (1.0 + model.objective.abs());
        let products = passes * interior::stored(&model.program) as f64;
        let allowed = (products / FACTORS).min(MOST_PRODUCTS);
        let gap = gap.clamp(LEAST_GAP, MOST_GAP);
        let Some(found) = interior::solve(&model.program, gap, allowed, control)? else { return Ok(None) };
        let candidates: Vec<Candidate> = found.snapped.into_iter().chain([found.inside]).collect();
        let better = model.better(view, state, &candidates, wanted_gap, control)?;
        let proposed = candidates.into_iter().rev().map(|candidate| candidate.lambda).collect();
        Ok(Some(Improved { better, proposed }))
    }
}

/// The model at x, and what x is worth.
struct Here<'a> {
    program: Program<'a>,
    gradient: Vec<f64>,
    smooth: f64,
    objective: f64,
}

/// Whether rows are nearly parallel: closed forms of pairs keep them to a few digits only, and what is lost costs as much as
/// the multipliers are large. Not asked of very many columns.
fn are_nearly_parallel(coupling: &Coupling, n: usize) -> bool {
    let m = coupling.rows();
    if m < 2 || coupling.is_block_sum() || n.saturating_mul(m * m) > MOST_COMPARED {
        return false;
    }
    let mut gram = vec![0.0; m * m];
    (0..n).for_each(|c| coupling.add_outer(c, 1.0, &mut gram));
    pivot_ratio(&gram, &coupling.row_norms(n)) < NEARLY_PARALLEL
}

/// What the end of a path is good for.
struct Improved {
    better: Option<Better>,
    proposed: Vec<Vec<f64>>,
}

/// A point that is better.
struct Better {
    next: State,
    fell: f64,
    /// Whether the model was f itself.
    is_exact: bool,
}

impl<'a> Here<'a> {
    /// `None` where there is no such model.
    fn at(view: View<'a>, state: &State, control: &Control) -> Pass<Option<Self>> {
        let smooth = view.smooth().value(&state.x, &state.product);
        let objective = smooth + view.separable_value(&state.x);
        let model = view.model(&state.x, &state.product, control)?;
        Ok(model.map(|Model { program, gradient }| Self { program, gradient, smooth, objective }))
    }

    /// The first candidate that is not worse than the others by what matters; or a point on the way to it, where the whole way
    /// goes too far.
    fn better(
        &self,
        view: View<'_>,
        state: &State,
        candidates: &[Candidate],
        wanted_gap: f64,
        control: &Control,
    ) -> Pass<Option<Better>> {
        let mut best: Option<Better> = None;
        for candidate in candidates {
            let Some(next) = feasible(view, &candidate.x, control)? else { continue };
            let fell = self.objective - view.value(&next.x, &next.product);
            let least = best.as_ref().map_or(f64::NEG_INFINITY, |best| best.fell + SHARE_OF_GAP * wanted_gap);
            if fell > least {
                let is_exact = self.is_exact(view, state, &next);
                best = Some(Better { next, fell, is_exact });
            }
        }
        let Some(whole) = best else { return Ok(None) };
        if !gain::is_none(whole.fell, self.objective) {
            return Ok(Some(whole));
        }
        if whole.is_exact {
            return Ok(None);
        }
        // Too far for the model.
        let mut share = 0.5;
        for _ in 0..MOST_HALVINGS {
            let between = |(x, z): (&f64, &f64)| x + share * (z - x);
            let x: Vec<f64> = state.x.iter().zip(&whole.next.x).map(between).collect();
            if let Some(next) = feasible(view, &x, control)? {
                let fell = self.objective - view.value(&next.x, &next.product);
                if !gain::is_none(fell, self.objective) {
                    return Ok(Some(Better { next, fell, is_exact: false }));
                }
            }
            share *= 0.5;
        }
        Ok(None)
    }

    /// Whether f is its model at a point, up to rounding.
    fn is_exact(&self, view: View<'_>, state: &State, next: &State) -> bool {
        let step: Vec<f64> = next.x.iter().zip(&state.x).map(|(z, x)| z - x).collect();
        let mut image = vec![0.0; step.len()];
        self.program.bends.iter().for_each(|part| part.add_product(&step, &mut image));
        let (linear, bend) = (crate::matrix::dot(&self.gradient, &step), crate::matrix::dot(&step, &image));
        let found = view.smooth().value(&next.x, &next.product);
        let size = 1.0 + self.smooth.abs() + found.abs() + linear.abs() + bend.abs();
        (found - (self.smooth + linear + 0.5 * bend)).abs() <= 1e-10 * size
    }
}

/// The state at x, if x is feasible and in the domain.
fn feasible(view: View<'_>, x: &[f64], control: &Control) -> Pass<Option<State>> {
    let miss = view.independent_coupling().miss_within(x, control)?;
    let is_inside = view.separable_value(x).is_finite() && x.iter().all(|x| x.is_finite());
    let holds = miss.relative <= SHARE_OF_MISS * ALLOWED_SHARE;
    if !is_inside || !holds {
        return Ok(None);
    }
    Ok(Some(State::new(view.smooth(), x.to_vec(), control)?))
}
