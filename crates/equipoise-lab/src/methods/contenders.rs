//! Which methods are compared in which part.

use equipoise::{Method, Schedule};

/// One method with what distinguishes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Contender {
    /// Its name in the record.
    pub(super) name: &'static str,
    pub(super) method: Method,
    pub(super) schedule: Schedule,
    /// Whether it runs on the problem with equalised probabilities.
    pub(super) equalised: bool,
}

const PAIRS: Contender = plain("pairs", Method::Pairs);
const ACCELERATED: Contender = plain("accelerated", Method::Accelerated);
const EQUALISED: Contender =
    Contender { equalised: true, ..plain("accelerated-equalised", Method::Accelerated) };
const SVRG: Contender = plain("svrg", Method::Svrg);
const SAGA: Contender = plain("saga", Method::Saga);
const AUTO: Contender = plain("auto", Method::Auto);

/// What the paper's Algorithm 2 is called with each of its schedules.
pub(super) const STOCHASTIC: [Contender; 4] = [
    stochastic("stochastic-paper", Schedule::Paper),
    stochastic("stochastic-constant", Schedule::Constant),
    stochastic("stochastic-horizon", Schedule::Horizon),
    stochastic("stochastic-two-thirds", Schedule::TwoThirds),
];
/// Those whose gradients become exact at the optimum.
pub(super) const VARIANCE_REDUCED: [&str; 2] = ["svrg", "saga"];

const fn plain(name: &'static str, method: Method) -> Contender {
    Contender { name, method, schedule: Schedule::Paper, equalised: false }
}

const fn stochastic(name: &'static str, schedule: Schedule) -> Contender {
    Contender { schedule, ..plain(name, Method::Stochastic) }
}

/// For `accelerated`.
pub(super) fn on_graphs() -> Vec<Contender> {
    vec![PAIRS, ACCELERATED, EQUALISED, AUTO]
}

/// For `samples`, without the stochastic method, whose limit follows from these.
pub(super) fn on_samples() -> Vec<Contender> {
    vec![SVRG, SAGA, PAIRS, ACCELERATED, AUTO]
}

/// For `columns`.
pub(super) fn on_columns() -> Vec<Contender> {
    vec![SVRG, SAGA, PAIRS, AUTO]
}

/// For the slopes of a problem without samples.
pub(super) fn on_convex() -> [Contender; 2] {
    [ACCELERATED, PAIRS]
}

/// For the slopes of a problem with samples: the schedules whose average has a bound.
pub(super) fn on_sampled() -> [Contender; 2] {
    let [paper, _, horizon, _] = STOCHASTIC;
    [horizon, paper]
}
