//! Steps from the interior: the minimiser of a second-order model of f with h and all rows, found by `interior/`.
//!
//! ```text
//! z = argmin  grad f(x)'(z - x) + 1/2 (z - x)'(Hessian at x)(z - x) + h(z)   subject to   A z = b ,    x += t (z - x)
//! ```
//!
//! For a quadratic f one step is all; for other losses the next model is made at the new x. Where the whole step goes too far for
//! the model, a part of it is taken; where no part of it is better, the model bends more,
//!
//! ```text
//! + 1/2 (z - x)'D(z - x) ,    D a share of the largest curvatures of f, from 1e-4 on ten times as large each time .
//! ```
//!
//! Taken where pairs do not pay: many rows, bad units, no progress.
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
use crate::interior::{self, Candidate, FACTORS, MOST_PRODUCTS, Program, Sought};
use crate::matrix::dot;
use crate::problem::{Model, View, pivot_ratio};
use crate::smooth::Bend;
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
/// The share of the largest curvatures that is added first where a model leads nowhere, and the largest; by how much it grows
/// then, and shrinks where a model held.
const FIRST_DAMPING: f64 = 1e-4;
const MOST_DAMPING: f64 = 1.0;
const MORE: f64 = 10.0;
const LESS: f64 = 0.1;
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
        let (mut worth, mut damping): (f64, f64) = (0.0, 0.0);
        for _ in 0..MOST_MODELS {
            let wish = Wish { gap: wanted_gap, worth, damping };
            let found = Self::improve(view, state, wish, done.passes, control);
            let Improved { better, promised, proposed } = match found {
                Ok(Some(found)) => found,
                Ok(None) => break,
                // What was gained so far stays; whoever asks the control will see.
                Err(_) if taken.moved => break,
                Err(halt) => return Err(halt),
            };
            // Multipliers of a model that bends more than f are none of f.
            if damping == 0.0 || taken.proposed.is_empty() {
                taken.proposed = proposed;
            }
            let Some(Better { next, fell, reached }) = better else {
                if promised <= SHARE_OF_GAP * wanted_gap || damping >= MOST_DAMPING {
                    break;
                }
                damping = (MORE * damping).max(FIRST_DAMPING);
                continue;
            };
            *state = next;
            taken.moved = true;
            if reached == Reached::Optimum || (damping == 0.0 && fell <= SHARE_OF_GAP * wanted_gap) {
                break;
            }
            if reached == Reached::End {
                damping = if damping > FIRST_DAMPING { LESS * damping } else { 0.0 };
            }
            worth = SHARE_OF_GAP * fell;
        }
        // Whoever gets somewhere comes back sooner.
        if taken.moved {
            self.due = done.rounds + u64::from(ROUNDS).max(done.rounds / 2);
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
        wish: Wish,
        passes: f64,
        control: &Control,
    ) -> Pass<Option<Improved>> {
        control.check()?;
        let Some(mut model) = Here::at(view, state, control)? else { return Ok(None) };
        if wish.damping > 0.0 {
            model.bend_more(view, state, wish.damping);
        }
        let gap = (SHARE_OF_GAP * wish.gap).max(wish.worth) / (1.0 + model.objective.abs());
        let products = passes * interior::stored(&model.program) as f64;
        let allowed = (products / FACTORS).min(MOST_PRODUCTS);
        let gap = gap.clamp(LEAST_GAP, MOST_GAP);
        let found = interior::solve(&model.program, Sought::Points, gap, allowed, control)?;
        let Some(found) = found else { return Ok(None) };
        let proposed = found.multipliers();
        let candidates = found.into_candidates();
        let better = model.better(view, state, &candidates, wish.gap, control)?;
        let promises = candidates.iter().map(|candidate| model.promised(view, state, &candidate.x));
        let promised = promises.filter(|promised| promised.is_finite()).fold(0.0, f64::max);
        Ok(Some(Improved { better, promised, proposed }))
    }
}

/// What a model is to be good for.
#[derive(Debug, Clone, Copy)]
struct Wish {
    /// The gap that is wanted in the end.
    gap: f64,
    /// The gap that the path of this model is worth.
    worth: f64,
    /// How much more than f it bends.
    damping: f64,
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
    /// What f + h would fall by if f were the model.
    promised: f64,
    proposed: Vec<Vec<f64>>,
}

/// A point that is better.
struct Better {
    next: State,
    fell: f64,
    reached: Reached,
}

/// How far a model led.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Reached {
    /// To its end, and it was f itself.
    Optimum,
    /// To its end.
    End,
    /// Some of the way.
    Part,
}

impl<'a> Here<'a> {
    /// `None` where there is no such model.
    fn at(view: View<'a>, state: &State, control: &Control) -> Pass<Option<Self>> {
        let smooth = view.smooth().value(&state.x, &state.product);
        let objective = smooth + view.separable_value(&state.x);
        let model = view.model(&state.x, &state.product, control)?;
        Ok(model.map(|Model { program, gradient }| Self { program, gradient, smooth, objective }))
    }

    /// Adds a share of the largest curvatures of f.
    fn bend_more(&mut self, view: View<'_>, state: &State, share: f64) {
        let added: Vec<f64> = (0..state.x.len()).map(|c| share * view.smooth().curvature(c)).collect();
        let moved = self.program.linear.iter_mut().zip(added.iter().zip(&state.x));
        moved.for_each(|(linear, (d, x))| *linear -= d * x);
        self.program.bends.push(Bend::Diagonal(added));
    }

    /// `grad f'(z - x)` and `(z - x)'H(z - x)`.
    fn model_at(&self, state: &State, z: &[f64]) -> (f64, f64) {
        let step: Vec<f64> = z.iter().zip(&state.x).map(|(z, x)| z - x).collect();
        let mut image = vec![0.0; step.len()];
        self.program.bends.iter().for_each(|part| part.add_product(&step, &mut image));
        (dot(&self.gradient, &step), dot(&step, &image))
    }

    /// What the objective would fall by on the way to z if f were its model.
    fn promised(&self, view: View<'_>, state: &State, z: &[f64]) -> f64 {
        let (linear, bend) = self.model_at(state, z);
        view.separable_value(&state.x) - view.separable_value(z) - linear - 0.5 * bend
    }

    /// The first candidate that is not worse than the others by what matters; or a point on the way to one, where the whole way
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
                best = Some(Better {
                    next,
                    fell,
                    reached: if is_exact { Reached::Optimum } else { Reached::End },
                });
            }
        }
        let Some(whole) = best else { return Ok(None) };
        if !gain::is_none(whole.fell, self.objective) {
            return Ok(Some(whole));
        }
        if whole.reached == Reached::Optimum {
            return Ok(None);
        }
        // What is on bounds and kinks may be better there and lead up all the same.
        let promise = |candidate: &Candidate| self.promised(view, state, &candidate.x);
        let mut ways: Vec<_> = candidates.iter().map(|candidate| (promise(candidate), candidate)).collect();
        ways.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (_, candidate) in ways.iter().filter(|(promised, _)| *promised > 0.0) {
            if let Some(better) = self.on_the_way(view, state, &candidate.x, control)? {
                return Ok(Some(better));
            }
        }
        Ok(None)
    }

    /// The first point on the way to z that is better, from far to near: z is too far for the model.
    fn on_the_way(
        &self,
        view: View<'_>,
        state: &State,
        z: &[f64],
        control: &Control,
    ) -> Pass<Option<Better>> {
        let mut share = 0.5;
        for _ in 0..MOST_HALVINGS {
            let between = |(x, z): (&f64, &f64)| x + share * (z - x);
            let x: Vec<f64> = state.x.iter().zip(z).map(between).collect();
            if let Some(next) = feasible(view, &x, control)? {
                let fell = self.objective - view.value(&next.x, &next.product);
                if !gain::is_none(fell, self.objective) {
                    return Ok(Some(Better { next, fell, reached: Reached::Part }));
                }
            }
            share *= 0.5;
        }
        Ok(None)
    }

    /// Whether f is its model at a point, up to rounding.
    fn is_exact(&self, view: View<'_>, state: &State, next: &State) -> bool {
        let (linear, bend) = self.model_at(state, &next.x);
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
