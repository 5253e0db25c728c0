//! Who says that a fit is good enough: plain numbers on the way, a proof at the end.
//!
//! Every look of a run is at plain primal and dual. Where their gap is within what is wanted, give or take rounding, the
//! bounds are proven; `accepted` is said of proven bounds only, and the model is the one they were proven for.
//!
//! A step that knows weights of its own shows them; where those of the multipliers do not suffice they are looked at, too.
//!
//! Rounding may spoil a model whose errors are dear (`C_i` of 1e15 charges 0.1 for the last digit of a margin). Where the
//! proof fails for want of that, the bias and then the size of the model are moved by a few units of the last digit, and
//! what is proven best is kept. Where the optimum is `w = 0` the multipliers are moved instead, see `cancel`. A model of nu-svc
//! that is no better than `w = 0` is that, once its multipliers show that nothing is much better.

use std::sync::{Mutex, PoisonError};

use super::Kind;
use super::dual::Task;
use super::evaluate::Evaluation;
use super::proof::{Bounds, Goal};
use equipoise::enclosure::Enclosure;
use equipoise::{Control, Judge, Pass, Verdict};

/// Doublings of the step by which a bias is moved, from one unit of the last digit on.
const MOST_DOUBLINGS: u32 = 24;
/// Sizes of a model that are tried, each further from 1 by a factor of 4, from 4 units of the last digit on.
const MOST_SIZES: i32 = 8;
/// The share of an objective by which a quick proof may exceed what plain sums make of it.
const SHARP: f64 = 1e-9;

/// A model as a file has it, and what is proven of it.
#[derive(Debug, Clone)]
pub(super) struct Proven {
    pub(super) weights: Vec<f64>,
    pub(super) bias: f64,
    pub(super) bounds: Bounds,
}

impl Proven {
    /// Whether there is no margin to divide by.
    pub(super) fn is_zero(&self) -> bool {
        self.weights.iter().all(|w| *w == 0.0)
    }
}

impl Task<'_> {
    /// Proves what can be proven of multipliers and of the model that was found for them, until the goal is met.
    pub(super) fn prove(
        &self,
        beta: &[f64],
        plain: &Evaluation,
        goal: Goal,
        control: &Control,
    ) -> Pass<Proven> {
        // Most gaps are far above what rounding does. The objective is a figure that people compare: where little is known of
        // its rounding, as with large costs, it is looked at in full.
        let is_sharp = |bounds: &Bounds| bounds.primal - plain.primal <= SHARP * bounds.primal;
        let swift = self.swift_bounds(beta, plain).filter(|bounds| goal.is_met(*bounds));
        if let Some(bounds) = swift.filter(is_sharp) {
            let (weights, bias) = plain.written(self.kind);
            return Ok(Proven { weights, bias, bounds });
        }
        let mut dual = self.dual_below(beta, control)?;
        if self.kind == Kind::OneClass && plain.vanishes && -dual > goal.absolute(0.0) {
            dual = dual.max(self.dual_below(&self.cancelled(beta, control)?, control)?);
        }
        let (weights, bias) = plain.written(self.kind);
        if self.kind == Kind::NuSvc && plain.vanishes {
            return Ok(Proven { weights, bias, bounds: Bounds { primal: 0.0, dual } });
        }
        let scores = self.enclosed_scores(&weights, control)?;
        let primal = self.primal_above(&weights, &scores, bias, control)?;
        let mut proven = Proven { weights, bias, bounds: Bounds { primal, dual } };
        if plain.may_vanish && primal > 0.0 {
            proven = Proven {
                weights: vec![0.0; proven.weights.len()],
                bias: 0.0,
                bounds: Bounds { primal: 0.0, dual },
            };
        }
        let is_met = |proven: &Proven| goal.is_met(proven.bounds);
        if is_met(&proven) || !dual.is_finite() || plain.gap() > goal.absolute(dual) + plain.rounding {
            return Ok(proven);
        }
        self.move_bias(&mut proven, &scores, control)?;
        if self.kind == Kind::Svc {
            for k in 1..=MOST_SIZES {
                if is_met(&proven) {
                    break;
                }
                let size = 1.0 + 4f64.powi(k) * f64::EPSILON;
                let weights: Vec<f64> = plain.w.iter().map(|w| size * w).collect();
                let bias = size * plain.bias;
                let scores = self.enclosed_scores(&weights, control)?;
                let primal = self.primal_above(&weights, &scores, bias, control)?;
                let mut sized = Proven { weights, bias, bounds: Bounds { primal, dual } };
                self.move_bias(&mut sized, &scores, control)?;
                if sized.bounds.primal < proven.bounds.primal {
                    proven = sized;
                }
            }
        }
        Ok(proven)
    }

    /// Moves the bias, first by units of its last digit, as long as the primal falls.
    pub(super) fn move_bias(&self, proven: &mut Proven, scores: &[Enclosure], control: &Control) -> Pass {
        if !self.has_bias {
            return Ok(());
        }
        let size = |i: usize| self.targets[i].abs().max(scores[i].centre().abs());
        let largest = (0..scores.len()).map(size).filter(|size| size.is_finite()).fold(0.0, f64::max);
        let largest = self.team.largest(largest);
        let unit = f64::EPSILON * largest.max(proven.bias.abs());
        let start = proven.bias;
        for sign in [1.0, -1.0] {
            let mut misses = 0;
            for k in 0..MOST_DOUBLINGS {
                let bias = start + sign * unit * 2f64.powi(k.cast_signed());
                let primal = self.primal_above(&proven.weights, scores, bias, control)?;
                if primal < proven.bounds.primal {
                    proven.bounds.primal = primal;
                    proven.bias = bias;
                    misses = 0;
                } else {
                    misses += 1;
                    // The primal is convex in the bias; a unit may be too little to see it fall.
                    if misses > 2 {
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}

/// What was found at the point that was looked at last.
#[derive(Debug)]
struct Looked {
    at: Vec<f64>,
    plain: Evaluation,
    proven: Option<Proven>,
}

/// Looks that deserved a proof, and the next that gets one: proofs that fail come more and more rarely.
#[derive(Debug, Default)]
struct Proofs {
    deserved: u32,
    next: u32,
}

/// Certifies multipliers by primal and dual, to a relative gap.
#[derive(Debug)]
pub(super) struct GapJudge<'t> {
    task: &'t Task<'t>,
    goal: Goal,
    last: Mutex<Option<Looked>>,
    proofs: Mutex<Proofs>,
    /// Weights that a step ended at, more exact than those of multipliers may be; looked at once.
    hint: Mutex<Vec<f64>>,
}

impl<'t> GapJudge<'t> {
    pub(super) fn new(task: &'t Task<'t>, goal: Goal) -> Self {
        Self { task, goal, last: Mutex::new(None), proofs: Mutex::default(), hint: Mutex::default() }
    }

    /// What was found at x, and what is proven of it unless the control ends that; looks again where the last look was
    /// elsewhere.
    pub(super) fn into_proven(self, x: &[f64], control: &Control) -> Pass<(Evaluation, Option<Proven>)> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).take();
        // All ranks look again where one has to.
        let is_same = self.task.everywhere(last.as_ref().is_some_and(|looked| looked.at == x));
        let (plain, proven) = match last {
            Some(looked) if is_same => (looked.plain, looked.proven),
            // There is no model without.
            _ => (self.evaluated(x, &Control::unlimited())?, None),
        };
        let proven = proven.or_else(|| self.task.prove(x, &plain, self.goal, control).ok());
        Ok((plain, proven))
    }

    /// Plain numbers at x, with w = 0 where that is the better model and near enough.
    fn evaluated(&self, x: &[f64], control: &Control) -> Pass<Evaluation> {
        let mut plain = self.task.evaluate(x, control)?;
        let is_near = || -plain.dual <= self.wanted_gap(0.0);
        if self.task.kind == Kind::NuSvc && plain.primal >= 0.0 && is_near() {
            plain.vanish();
        }
        Ok(plain)
    }

    /// Whether a proof is worth its passes.
    fn is_due(&self, plain: &Evaluation) -> bool {
        let wanted = self.wanted_gap(plain.dual);
        if plain.gap() > wanted + plain.rounding && !plain.vanishes {
            return false;
        }
        let mut proofs = self.proofs.lock().unwrap_or_else(PoisonError::into_inner);
        proofs.deserved += 1;
        if proofs.deserved < proofs.next {
            return false;
        }
        proofs.next = proofs.deserved + proofs.deserved.div_ceil(2);
        true
    }

    fn look(&self, x: &[f64], control: &Control) -> Pass<(Evaluation, Option<Proven>)> {
        let mut plain = self.evaluated(x, control)?;
        let hint = std::mem::take(&mut *self.hint.lock().unwrap_or_else(PoisonError::into_inner));
        let is_far = plain.gap() > self.wanted_gap(plain.dual) && !plain.vanishes;
        if is_far && hint.len() == plain.w.len() {
            plain = self.task.with_weights(plain, hint, control)?;
        }
        let proven =
            if self.is_due(&plain) { Some(self.task.prove(x, &plain, self.goal, control)?) } else { None };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let mut at = last.take().map_or_else(Vec::new, |looked| looked.at);
        at.resize(x.len(), 0.0);
        self.task.team.fill(&mut at, |first, at| at.copy_from_slice(&x[first..first + at.len()]));
        *last = Some(Looked { at, plain: plain.clone(), proven: proven.clone() });
        Ok((plain, proven))
    }
}

impl Judge for GapJudge<'_> {
    fn judge(&self, x: &[f64], control: &Control) -> equipoise::Result<Verdict> {
        let (plain, proven) = self.look(x, control)?;
        let (dual, gap, relative_gap) = match &proven {
            Some(Proven { bounds, .. }) if bounds.gap().is_finite() => {
                (bounds.dual, bounds.gap(), bounds.relative_gap(self.goal.least))
            }
            _ => (plain.dual, plain.gap(), plain.gap() / plain.dual.abs().max(self.goal.least)),
        };
        let accepted = proven.is_some_and(|proven| self.goal.is_met(proven.bounds));
        Ok(Verdict::new(-dual, relative_gap, accepted)
            .with_gap(gap)
            .with_infeasibility(plain.infeasibility)
            .with_multipliers(plain.multipliers))
    }

    fn hint(&self, dual: &[f64]) {
        let mut hint = self.hint.lock().unwrap_or_else(PoisonError::into_inner);
        hint.clear();
        hint.extend_from_slice(dual);
    }

    fn memory(&self) -> Vec<u64> {
        let proofs = self.proofs.lock().unwrap_or_else(PoisonError::into_inner);
        vec![proofs.deserved.into(), proofs.next.into()]
    }

    fn remember(&self, memory: &[u64]) {
        if let [deserved, next] = memory {
            let count = |word: &u64| u32::try_from(*word).unwrap_or(u32::MAX / 2);
            let mut proofs = self.proofs.lock().unwrap_or_else(PoisonError::into_inner);
            *proofs = Proofs { deserved: count(deserved), next: count(next) };
        }
    }

    fn wanted_gap(&self, objective: f64) -> f64 {
        self.goal.absolute(objective)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::svm::proof::LEAST_SCALE;
    use crate::svm::train::Plan;
    use crate::svm::{Samples, TrainSettings};
    use equipoise::matrix::Rows;

    #[test]
    fn a_look_ends_soon_after_it_is_told_to() {
        let n = 100_000;
        let values: Vec<f64> = (0..10 * n).map(|k| f64::from(k * 7 % 31) - 15.0).collect();
        let indices: Vec<u32> = (0..n as usize).flat_map(|_| 0..10).collect();
        let starts = (0..=n as usize).map(|i| 10 * i).collect();
        let rows = Rows::new(10, starts, indices, Some(values)).expect("valid");
        let labels: Vec<f64> = (0..n).map(|i| f64::from(i % 2)).collect();
        let samples = Samples { rows: &rows, labels: &labels, weights: None };
        let settings = TrainSettings::default();
        let plan = Plan::new(samples, &settings, None).expect("valid");
        let task = plan.single_task(0).expect("valid");
        let judge = GapJudge::new(&task, Goal { gap: settings.gap, least: LEAST_SCALE });
        let x = vec![0.0; rows.len()];
        let raised = Control::on(Arc::new(AtomicBool::new(true)));
        for control in [raised, Control::unlimited().within(0.0)] {
            let refused = judge.judge(&x, &control);
            assert!(matches!(refused, Err(equipoise::Error::StoppedEarly { .. })), "{refused:?}");
        }
        assert!(judge.judge(&x, &Control::unlimited()).is_ok_and(|verdict| !verdict.accepted));
    }
}
