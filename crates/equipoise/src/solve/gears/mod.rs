//! Who makes a round of updates: the methods by name, and the gear that each puts in. A new method is a file here, a variant
//! with its name and its summary, and an arm of [`engage`].
//!
//! | gear | a round |
//! |---|---|
//! | `plain.rs` | random pairs on this thread: Algorithm 1 |
//! | `multicore.rs` | the same on several threads |
//! | `shuffled.rs` | pairs in turn, in random order |
//! | `accelerated.rs` | the same with momentum |
//! | `sampled/` | pairs along the gradient of a few samples: Algorithm 2, svrg, saga |
//! | `violating.rs` | sweeps of violating pairs, or a second-order step |
//! | `whole.rs` | nothing: where rows are spread over ranks, steps over all blocks do all |
//!
//! What all of them are to the driver says `gear.rs`. What moves pairs is compiled for its terms; the driver calls it once a
//! round through the trait.

pub(crate) mod accelerated;
mod gear;
pub(crate) mod graph_constant;
pub(crate) mod multicore;
mod plain;
pub(crate) mod sampled;
mod shuffled;
pub(crate) mod staleness;
pub(crate) mod violating;
mod whole;

pub(crate) use gear::{Attempt, Due, Gear, Habits, Round, Stop, Task, renewed};

use std::sync::Arc;
use std::time::Instant;

use crate::coupling::Shape;
use crate::problem::Problem;
use crate::selection::SampledEdges;
use crate::separable::SeparableTerm;
use crate::smooth::SmoothTerm;
use crate::solve::driver::limits::Limits;
use crate::solve::pairs::PairUpdater;
use crate::solve::{Experiment, Metric, Settings};
use crate::state::State;
use crate::team::Team;
use accelerated::Accelerated;
use multicore::Multicore;
use plain::Plain;
use shuffled::Shuffled;
use violating::Violating;
use whole::Whole;

/// How the optimum is sought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Method {
    /// Violating pairs where they apply; else random pairs, full proximal steps and second-order steps, in turns.
    #[default]
    Auto,
    /// The paper's random pairs; a full proximal step only when they stall.
    Pairs,
    /// Every pair of the graph in turn, in an order drawn anew for each pass; on a clique random matchings.
    Shuffled,
    /// For one row and scalar coordinates: sweeps that pair coordinates which want to move in opposite ways, and
    /// proximal Newton steps.
    Violating,
    /// Random pairs with momentum, for h = 0.
    Accelerated,
    /// Random pairs with the gradient of a random sample: the paper's Algorithm 2.
    Stochastic,
    /// The same, corrected by the gradient at a snapshot.
    Svrg,
    /// The same, corrected by the last slope seen of every sample.
    Saga,
}

crate::named!(Method, "method":
    "auto" => Self::Auto,
    "pairs" => Self::Pairs,
    "shuffled" => Self::Shuffled,
    "violating" => Self::Violating,
    "accelerated" => Self::Accelerated,
    "stochastic" => Self::Stochastic,
    "svrg" => Self::Svrg,
    "saga" => Self::Saga,
);

impl Method {
    /// What runs, in a few words, for lists of methods.
    pub fn summary(self) -> &'static str {
        match self {
            Self::Auto => "chooses by the shape of the problem",
            Self::Pairs => "the paper's algorithm, random pairs",
            Self::Shuffled => "the same, every pair in turn",
            Self::Violating => "the fast one for one row",
            Self::Accelerated => "pairs with momentum, for h = 0",
            Self::Stochastic => "the paper's algorithm on random samples",
            Self::Svrg => "the same, corrected at snapshots",
            Self::Saga => "the same, corrected sample by sample",
        }
    }
}

/// What is wanted of a gear.
pub(crate) struct Order<'o> {
    pub(crate) settings: &'o Settings,
    pub(crate) limits: &'o Limits,
    pub(crate) updates_per_epoch: f64,
    /// Whether the start may be good enough already.
    pub(crate) warm: bool,
    /// A dual point that goes with the start, and multipliers of the rows, where somebody knows them.
    pub(crate) dual: Option<(&'o [f64], &'o [f64])>,
    /// Whether a tolerance alone ends the run, and digits beyond it are welcome.
    pub(crate) by_tolerance: bool,
    /// Whether something else can go on where the gear is slow.
    pub(crate) may_hand_over: bool,
    /// Threads that are there already.
    pub(crate) team: Option<Arc<Team>>,
    pub(crate) experiment: Option<&'o dyn Experiment>,
}

/// A gear at work.
pub(crate) struct Engaged<'r> {
    pub(crate) gear: Box<dyn Gear + 'r>,
    pub(crate) state: State,
    /// The objective at the start.
    pub(crate) objective: f64,
    /// The metric of the pairs, where it is that of f.
    pub(crate) metric: Option<Metric>,
    /// Seconds that went into factors.
    pub(crate) preparation: f64,
}

/// The gear of the method that the settings name.
pub(crate) fn engage<'r, F: SmoothTerm, H: SeparableTerm>(
    problem: &'r Problem<F, H>,
    order: &Order<'_>,
    start: &[f64],
) -> Attempt<Engaged<'r>> {
    match order.settings.method {
        Method::Stochastic | Method::Svrg | Method::Saga => sampled::engage(problem, order, start),
        Method::Violating => {
            let state = State::new(problem.smooth(), start.to_vec(), order.limits.control())?;
            let gear = Violating::new(problem, order, &state)?;
            let objective = problem.view().value(&state.x, &state.product);
            Ok(Engaged { gear: Box::new(gear), state, objective, metric: None, preparation: 0.0 })
        }
        Method::Auto if problem.smooth().is_spread() => {
            let state = State::new(problem.smooth(), start.to_vec(), order.limits.control())?;
            let gear = Box::new(Whole::new(order.updates_per_epoch));
            let objective = problem.view().value(&state.x, &state.product);
            Ok(Engaged { gear, state, objective, metric: None, preparation: 0.0 })
        }
        Method::Auto | Method::Pairs | Method::Shuffled | Method::Accelerated => pairs(problem, order, start),
    }
}

/// Random pairs: on one thread, on several, in turn, or with momentum.
fn pairs<'r, F: SmoothTerm, H: SeparableTerm>(
    problem: &'r Problem<F, H>,
    order: &Order<'_>,
    start: &[f64],
) -> Attempt<Engaged<'r>> {
    let settings = order.settings;
    let state = State::new(problem.smooth(), start.to_vec(), order.limits.control())?;
    let edges = SampledEdges::new(problem.graph(), problem.probabilities(), settings.seed)?;
    Multicore::check_memory(problem, settings)?;
    let begun = Instant::now();
    let metric = metric(problem, settings);
    let updater = || PairUpdater::with_metric(problem, settings, metric.clone());
    let gear: Box<dyn Gear + 'r> = if settings.method == Method::Accelerated {
        let constant = graph_constant::of(problem, &metric, order.limits.control())?;
        Box::new(Accelerated::new(problem, updater(), edges, &state, constant, order.updates_per_epoch))
    } else if settings.method == Method::Shuffled {
        Box::new(Shuffled::new(problem, updater(), settings.seed)?)
    } else if Multicore::threads(problem, settings) > 1 {
        let mut multicore = Multicore::new(problem, settings, order.experiment, &state, &edges);
        multicore.prepare(order.limits)?;
        Box::new(multicore)
    } else {
        Box::new(Plain::new(problem, updater(), edges))
    };
    let preparation = begun.elapsed().as_secs_f64();
    let objective = problem.view().value(&state.x, &state.product);
    Ok(Engaged { gear, state, objective, metric: Some(metric), preparation })
}

/// The metric of the pairs. Momentum takes all gradients of a pair at one point, also where the pair moves entry by
/// entry: there the entries count as moving together.
fn metric<F: SmoothTerm, H: SeparableTerm>(problem: &Problem<F, H>, settings: &Settings) -> Metric {
    let mut metric = Metric::new(problem.view(), settings.step_size);
    let by_entry = matches!(problem.independent_coupling().shape(), Shape::None | Shape::BlockSum);
    if settings.method == Method::Accelerated && by_entry && !problem.smooth().is_decomposable() {
        let together = metric.pair_factor();
        metric.damp(problem.blocks().len(), |_| together);
    }
    metric
}
