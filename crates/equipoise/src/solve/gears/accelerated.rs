//! Random pairs with momentum, for h = 0.
//!
//! # Method
//! The pair updates of `pairs.rs` on the iterate of `state/momentum.rs`, with nu the constant of the graph
//! (`theory/resistance.rs`). From a start x0 without momentum
//!
//! ```text
//! E f(x_k) - f* <= ||x0 - x*||^2 / (2 A_k) <= 2 nu ||x0 - x*||^2 / k^2      in the norm of K^+
//! ```
//! # When momentum begins
//! An update with momentum costs more than twice as much as one without, and where the problem is well conditioned it
//! gains nothing. So a run begins without, and takes momentum up when the objective falls nearly as much in eight
//! epochs as in the eight before: that is, when what is left is slow.
//! # Restart
//! On a strongly convex problem momentum that is never lost oscillates. Once an epoch the objective is evaluated; where
//! it rose, the run goes back to where it was lowest and starts again without momentum. So the result of a round is
//! never worse than its beginning.
//! # Where nu is an estimate
//! Too small a nu makes the objective rise too early. At a restart a doubled nu is tried; it stays if the time to the
//! next restart more than doubled, where a nu that was right already would have made it about sqrt 2.
//! # Must not know
//! How a pair is solved; how the graph's constant comes about.
//! # Reference
//! Nesterov 2012; Necoara and Takac 2021 for sketches; O'Donoghue and Candes 2015 for restarts.

use crate::archive::Archive;
use crate::control::{Control, Pass};
use crate::error::Result;
use crate::problem::Problem;
use crate::selection::SampledEdges;
use crate::separable::SeparableTerm;
use crate::smooth::SmoothTerm;
use crate::solve::driver::pace::Pace;
use crate::solve::gain;
use crate::solve::gears::{Attempt, Gear, Habits, Round, Task, renewed};
use crate::solve::pairs::PairUpdater;
use crate::state::{Momentum, State};

/// Epochs over which falls of the objective are compared.
const WINDOW: u32 = 8;
/// Momentum begins when the fall over a window is more than this share of the one before: 5 % an epoch.
const SLOW: f64 = 0.66;
/// Epochs of momentum that ended so early were not worth it.
const SHORT: u64 = 16;
/// Growth of the time to a restart which says that a doubled nu was needed.
const LONGER: f64 = 2.0;

/// The constant of the graph that momentum needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct GraphConstant {
    pub(crate) nu: f64,
    /// Whether it is known to be large enough.
    pub(crate) exact: bool,
}

/// Whether the pairs have momentum.
#[derive(Debug)]
enum Mode {
    /// No: falls of the objective in this window and the one before, and the epochs of this one.
    Plain { fall: f64, before: f64, epochs: u32 },
    /// Since so many epochs.
    Momentum { age: u64 },
}

/// Looks for a nu that is large enough.
#[derive(Debug)]
enum Trial {
    /// There is nothing to look for.
    Settled,
    /// No restart so far.
    Untried,
    /// The nu before, and the epochs it took to a restart.
    Doubled { nu: f64, age: u64 },
}

/// Pairs with momentum on one problem.
#[derive(Debug)]
pub(crate) struct Accelerated<'r, F, H> {
    problem: &'r Problem<F, H>,
    pairs: PairUpdater<'r, H>,
    edges: SampledEdges,
    turn: Turn,
    /// Updates between two looks at the objective.
    updates_per_check: u64,
    pace: Pace,
}

/// Momentum, and when it begins and ends.
#[derive(Debug)]
struct Turn {
    momentum: Momentum,
    mode: Mode,
    trial: Trial,
    /// The last point that was evaluated.
    current: State,
}

impl<'r, F: SmoothTerm, H: SeparableTerm> Accelerated<'r, F, H> {
    pub(crate) fn new(
        problem: &'r Problem<F, H>,
        pairs: PairUpdater<'r, H>,
        edges: SampledEdges,
        state: &State,
        constant: GraphConstant,
        updates_per_epoch: f64,
    ) -> Self {
        let turn = Turn {
            momentum: Momentum::new(problem.smooth(), state, constant.nu),
            mode: plain(),
            trial: if constant.exact { Trial::Settled } else { Trial::Untried },
            current: state.clone(),
        };
        let updates_per_check = (updates_per_epoch.ceil() as u64).max(1);
        Self { problem, pairs, edges, turn, updates_per_check, pace: Pace::new() }
    }
}

impl<F: SmoothTerm, H: SeparableTerm> Gear for Accelerated<'_, F, H> {
    fn habits(&self) -> Habits {
        Habits { sees_target: true, minds_moves: true, ..Habits::default() }
    }

    fn round(&mut self, state: &mut State, task: &mut Task<'_>) -> Attempt<Round> {
        let (f, view) = (self.problem.smooth(), self.problem.view());
        let (pairs, edges, turn) = (&mut self.pairs, &mut self.edges, &mut self.turn);
        let (mut made, mut status, mut objective) = (0, None, task.objective);
        while made < task.updates && status.is_none() {
            let count = self.updates_per_check.min(task.updates - made);
            let with_momentum = matches!(turn.mode, Mode::Momentum { .. });
            let heartbeat = |new| (task.heartbeat)(made + new, None);
            // Two loops, so that each is compiled for its own iterate.
            let (new, ended) = if with_momentum {
                let momentum = &mut turn.momentum;
                let update = || {
                    let (i, j) = edges.draw();
                    pairs.update(f, momentum, i, j)
                };
                self.pace.run(count, task.limits, update, heartbeat)?
            } else {
                let update = || {
                    let (i, j) = edges.draw();
                    pairs.update(f, state, i, j)
                };
                self.pace.run(count, task.limits, update, heartbeat)?
            };
            made += new;
            status = ended;
            if with_momentum {
                turn.momentum.write_to(&mut turn.current);
                let found = view.value(&turn.current.x, &turn.current.product);
                if gain::rose(objective, found) {
                    turn.lose_momentum(state);
                } else {
                    objective = found;
                    std::mem::swap(state, &mut turn.current);
                    turn.keep_momentum();
                }
            } else {
                let found = view.value(&state.x, &state.product);
                turn.watch(objective - found, state);
                objective = found;
            }
            if task.target.is_some_and(|target| objective <= target) {
                break;
            }
        }
        let found = renewed(view, state, task, &mut status)?;
        // What an x is worth that there was no time for, the certificate will say.
        let objective = found.unwrap_or(task.objective);
        Ok(Round { status, ..Round::new(made, objective) })
    }

    /// Whoever moved x took its momentum away.
    fn moved(&mut self, state: &State, _control: &Control) -> Pass<Option<f64>> {
        if let Mode::Momentum { age } = &mut self.turn.mode {
            *age = 0;
            self.turn.momentum.rest_at(state);
        }
        Ok(None)
    }

    fn carry(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        self.pairs.carry(archive)?;
        self.edges.carry(archive)?;
        self.turn.carry(archive)
    }
}

impl Turn {
    fn carry(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        self.momentum.carry(archive)?;
        let (mut with_momentum, mut since) = (false, 0);
        let (mut fall, mut before, mut epochs) = (0.0, 0.0, 0);
        match self.mode {
            Mode::Plain { fall: f, before: b, epochs: e } => (fall, before, epochs) = (f, b, e),
            Mode::Momentum { age } => (with_momentum, since) = (true, age),
        }
        archive.flag(&mut with_momentum)?;
        archive.work(&mut since)?;
        archive.number(&mut fall)?;
        archive.number(&mut before)?;
        archive.small(&mut epochs)?;
        self.mode =
            if with_momentum { Mode::Momentum { age: since } } else { Mode::Plain { fall, before, epochs } };
        let (mut stage, mut nu, mut age) = match self.trial {
            Trial::Settled => (0, 0.0, 0),
            Trial::Untried => (1, 0.0, 0),
            Trial::Doubled { nu, age } => (2, nu, age),
        };
        archive.small(&mut stage)?;
        archive.number(&mut nu)?;
        archive.work(&mut age)?;
        self.trial = match stage {
            0 => Trial::Settled,
            1 => Trial::Untried,
            _ => Trial::Doubled { nu, age },
        };
        Ok(())
    }

    /// After an epoch without momentum: is what is left slow?
    fn watch(&mut self, gain: f64, state: &State) {
        let Mode::Plain { fall, before, epochs } = &mut self.mode else { return };
        *fall += gain;
        *epochs += 1;
        if *epochs < WINDOW {
            return;
        }
        if *fall > SLOW * *before {
            self.momentum.rest_at(state);
            self.mode = Mode::Momentum { age: 0 };
        } else {
            self.mode = Mode::Plain { fall: 0.0, before: *fall, epochs: 0 };
        }
    }

    fn keep_momentum(&mut self) {
        if let Mode::Momentum { age } = &mut self.mode {
            *age += 1;
        }
    }

    /// The objective rose: back to the lowest point, and on from there.
    fn lose_momentum(&mut self, lowest: &State) {
        let Mode::Momentum { age } = self.mode else { return };
        let nu = self.momentum.nu();
        let (trial, next) = match self.trial {
            Trial::Settled => (Trial::Settled, nu),
            Trial::Doubled { nu: before, age: then } if (age as f64) < LONGER * then as f64 => {
                (Trial::Settled, before)
            }
            Trial::Untried | Trial::Doubled { .. } => (Trial::Doubled { nu, age }, 2.0 * nu),
        };
        self.trial = trial;
        self.momentum.set_nu(next);
        self.momentum.rest_at(lowest);
        self.mode = if age < SHORT { plain() } else { Mode::Momentum { age: 0 } };
    }
}

/// Without momentum, nothing seen so far: the first window is compared with nothing.
fn plain() -> Mode {
    Mode::Plain { fall: 0.0, before: f64::INFINITY, epochs: 0 }
}

#[cfg(test)]
mod tests {
    use crate::graph::Topology;
    use crate::smooth::Distance;
    use crate::solve::{Method, Settings, Status, solve};
    use crate::{Coupling, Problem};

    /// Agreement with an oracle would hold without any momentum; this would not.
    #[test]
    fn momentum_saves_most_updates_on_a_ring_and_begins_late_on_a_clique() {
        let n = 100;
        let weights: Vec<f64> = (0..n).map(|c| 10f64.powf(f64::from(c * 37 % 100) / 33.0)).collect();
        let target: Vec<f64> = (0..n).map(|c| f64::from(c * c * 7 % 23) / 11.0 - 1.0).collect();
        let updates = |graph: &str, method| {
            let f = Distance::new(target.clone(), weights.clone()).expect("finite");
            let topology = Topology::parse(graph, n as usize, 0).expect("known");
            let sum = Coupling::sum(5.0).expect("finite");
            let problem = Problem::builder(f).coupling(sum).graph(topology).build().expect("valid");
            let best =
                solve(&problem, &Settings { tolerance: 1e-12, ..Settings::default() }).expect("solved");
            let (start, optimum) =
                (problem.objective(problem.start()).expect("in memory"), best.certificate.objective);
            let goal = optimum + 1e-6 * (start - optimum);
            let settings = Settings { method, target_objective: Some(goal), ..Settings::default() };
            let solution = solve(&problem, &settings).expect("valid");
            assert_eq!(solution.status, Status::TargetReached, "{graph}");
            assert!(
                problem.objective(&solution.x).expect("in memory") <= goal
                    && solution.certificate.is_feasible(),
                "{graph}"
            );
            solution.updates
        };
        let (plain, fast) = (updates("ring", Method::Pairs), updates("ring", Method::Accelerated));
        assert!(5 * fast < plain, "{fast} updates with momentum, {plain} without");
        let (plain, fast) = (updates("clique", Method::Pairs), updates("clique", Method::Accelerated));
        assert!(fast < 2 * plain, "{fast} updates with momentum, {plain} without");
    }
}
