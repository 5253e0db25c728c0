//! Puts a gear in: the one that a method asks for, with what it needs, at a start.

use std::sync::Arc;
use std::time::Instant;

use crate::coupling::Shape;
use crate::problem::Problem;
use crate::selection::SampledEdges;
use crate::separable::SeparableTerm;
use crate::smooth::SmoothTerm;
use crate::solve::driver::limits::Limits;
use crate::solve::gears::accelerated::Accelerated;
use crate::solve::gears::multicore::Multicore;
use crate::solve::gears::plain::Plain;
use crate::solve::gears::violating::Violating;
use crate::solve::gears::{Attempt, Gear, graph_constant, sampled};
use crate::solve::pairs::PairUpdater;
use crate::solve::{Experiment, Method, Metric, Settings};
use crate::state::State;
use crate::team::Team;

/// What is wanted of a gear.
pub(crate) struct Order<'o> {
    pub(crate) settings: &'o Settings,
    pub(crate) limits: &'o Limits,
    pub(crate) updates_per_epoch: f64,
    /// Whether the start may be good enough already.
    pub(crate) warm: bool,
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
        Method::Auto | Method::Pairs | Method::Accelerated => pairs(problem, order, start),
    }
}

/// Random pairs: on one thread, on several, or with momentum.
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
