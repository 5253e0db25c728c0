//! A fit: checks, the method, the best point that was proven, and how it ended.
//!
//! - Given: a problem, a graph, settings, perhaps a start; somebody who watches, and a control.
//! - Returns: a [`Fit`]. An objective and a bound in it hold in exact arithmetic for x as it is.
//! - Must not know: how a method moves lambda.
//!
//! On ranks every one of them keeps the same point with the same bounds; only data and what nodes do are its own.

use std::sync::Arc;
use std::time::Instant;

use equipoise::collective::{Collective, Post};
use equipoise::graph::Graph;
use equipoise::{Control, Pass, Status, Team};

use crate::error::Error;
use crate::problem::{Loss, Problem};
use crate::proof::{self, Bounds};
use crate::settings::{Method, Settings};
use crate::traffic::{EdgeTraffic, Traffic};
use crate::{pairs, tree};

/// What the nodes agree on, and what is known about it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Fit {
    /// How the run ended; converged: the gap is proven to be as small as asked for.
    pub status: Status,
    /// The consensus point; a bias last.
    pub x: Vec<f64>,
    /// F(x) from above.
    pub objective: f64,
    /// What no point gets below.
    pub bound: f64,
    /// `(objective - bound) / |objective|`, from above.
    pub relative_gap: f64,
    /// `max_i ||x_i - x||`.
    pub disagreement: f64,
    /// What crossed the edges.
    pub traffic: Traffic,
    /// The method that ran.
    pub method: Method,
    /// Rounds of the tree, or phases of exchanges.
    pub rounds: usize,
    /// The sum of all multipliers at the end, in units of their fixed point: 0.
    pub sum_of_multipliers: i128,
    /// Bytes of the letters between ranks, all of them together; 0 where there is one rank.
    pub bytes_between_ranks: u64,
}

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Checkpoint {
    /// Messages so far.
    pub messages: u64,
    /// Bytes so far.
    pub bytes: u64,
    /// Seconds since the start of the fit.
    pub seconds: f64,
    /// F at the consensus point.
    pub objective: f64,
    /// The bound that goes with it.
    pub bound: f64,
    /// Their difference, relative to the objective.
    pub relative_gap: f64,
    /// `max_i ||x_i - x||`.
    pub disagreement: f64,
}

/// Who watches, and who may end it. Checkpoints are told; an ended run has the best point that was proven.
pub type Watch<'w> = equipoise::Watch<'w, dyn FnMut(&Checkpoint) + 'w>;

/// Solves a problem over a graph.
pub fn fit(
    problem: &Problem,
    graph: &Graph,
    settings: &Settings,
    start: Option<&[f64]>,
    watch: Watch<'_>,
) -> Result<Fit, Error> {
    fit_with(problem, graph, settings, start, watch, None)
}

/// Other ranks, each with shards of its own, and the post between them.
pub struct Ranks<'r> {
    /// What all do together.
    pub world: Arc<dyn Collective>,
    /// What nodes say to those of other ranks.
    pub post: &'r mut dyn Post,
}

impl std::fmt::Debug for Ranks<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ranks").field("world", &self.world).finish_non_exhaustive()
    }
}

/// The same where shards are spread over ranks ([`Problem::across`]), all of which call this with the same graph, settings and start.
/// Exchanges of pairs alone, each node as soon as it can; every rank has the same fit.
pub fn fit_across(
    problem: &Problem,
    graph: &Graph,
    settings: &Settings,
    start: Option<&[f64]>,
    watch: Watch<'_>,
    ranks: Ranks<'_>,
) -> Result<Fit, Error> {
    fit_with(problem, graph, settings, start, watch, Some(ranks))
}

fn fit_with(
    problem: &Problem,
    graph: &Graph,
    settings: &Settings,
    start: Option<&[f64]>,
    watch: Watch<'_>,
    ranks: Option<Ranks<'_>>,
) -> Result<Fit, Error> {
    settings.check()?;
    check_graph(problem, graph)?;
    if let Some(start) = start {
        check_point(problem, start)?;
    }
    let is_spread = ranks.as_ref().is_some_and(|ranks| ranks.world.ranks() > 1);
    let method = match settings.method {
        Method::Tree if is_spread => return Err(Error::NotOnRanks),
        Method::Auto if tree::suits(problem) && !settings.asynchronous && !is_spread => Method::Tree,
        Method::Auto => Method::Pairs,
        Method::Tree if problem.model.loss == Loss::Lasso => {
            return Err(Error::NotAlongTree { loss: problem.model.loss.name() });
        }
        chosen => chosen,
    };
    let team = Team::of(1).across(ranks.as_ref().map(|ranks| Arc::clone(&ranks.world)));
    let mut keeper = Keeper::new(problem, settings, watch, &team);
    let post = ranks.map(|ranks| ranks.post).filter(|_| is_spread);
    let ended = match method {
        Method::Tree => tree::run(problem, graph, start, &mut keeper),
        _ => pairs::run(problem, graph, start, post, &mut keeper),
    };
    // Where ranks cannot go on together that is why, whatever came of it.
    team.check()?;
    keeper.finish(ended?, method)
}

/// How a method ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: Status,
    pub(crate) traffic: Traffic,
    pub(crate) rounds: usize,
    pub(crate) sum_of_multipliers: i128,
    pub(crate) bytes_between_ranks: u64,
}

/// A point with what its nodes believe.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) x: Vec<f64>,
    pub(crate) duals: Vec<Vec<f64>>,
    pub(crate) disagreement: f64,
}

/// The best point so far, proven.
#[derive(Debug, Clone)]
struct Best {
    x: Vec<f64>,
    bounds: Bounds,
    disagreement: f64,
}

/// Keeps the best point that was proven, and tells whoever watches.
pub(crate) struct Keeper<'k, 'w> {
    problem: &'k Problem,
    pub(crate) settings: &'k Settings,
    watch: Watch<'w>,
    pub(crate) team: &'k Team,
    begun: Instant,
    best: Option<Best>,
    /// The best dual point, by its bound, for whoever asks afterwards.
    duals: Option<(f64, Vec<Vec<f64>>)>,
    last: f64,
}

impl<'k, 'w> Keeper<'k, 'w> {
    pub(crate) fn new(
        problem: &'k Problem,
        settings: &'k Settings,
        watch: Watch<'w>,
        team: &'k Team,
    ) -> Self {
        let begun = Instant::now();
        Self { problem, settings, watch, team, begun, best: None, duals: None, last: f64::INFINITY }
    }

    pub(crate) fn control(&self) -> &Control {
        &self.watch.control
    }

    /// Whether somebody wants to see every step.
    pub(crate) fn is_watched(&self) -> bool {
        self.watch.observer.is_some()
    }

    pub(crate) fn duals(self) -> Option<Vec<Vec<f64>>> {
        self.duals.map(|(_, duals)| duals)
    }

    /// The relative gap that was last seen, in plain arithmetic.
    pub(crate) fn last_gap(&self) -> f64 {
        self.last
    }

    /// Looks at a point: tells of it, and proves it where it seems good enough or much better than the last that was
    /// proven. Whether the gap asked for is proven.
    pub(crate) fn look(&mut self, candidate: Candidate, total: EdgeTraffic) -> Pass<bool> {
        /// A point is proven when its gap is so much smaller than that of the last.
        const BETTER: f64 = 0.25;
        let control = self.team.patient(&self.watch.control);
        let bounds = proof::estimate(self.problem, &candidate.x, &candidate.duals, self.team, &control)?;
        let gap = bounds.relative_gap();
        self.last = gap;
        let known = self.best.as_ref().map_or(f64::INFINITY, |best| best.bounds.relative_gap());
        let is_new_bound = self.duals.as_ref().is_none_or(|(bound, _)| bounds.bound > *bound);
        if self.best.is_none() || gap <= self.settings.gap || gap < BETTER * known {
            let proven = proof::prove(self.problem, &candidate.x, &candidate.duals, self.team, &control)?;
            // A bound holds for every point: the best one of all counts.
            let bound = self.best.as_ref().map_or(proven.bound, |best| proven.bound.max(best.bounds.bound));
            let bounds = Bounds { bound, ..proven };
            if self.best.as_ref().is_none_or(|best| bounds.objective <= best.bounds.objective) {
                self.best = Some(Best { x: candidate.x, bounds, disagreement: candidate.disagreement });
            } else if let Some(best) = &mut self.best {
                best.bounds.bound = bound;
            }
        }
        if is_new_bound {
            self.duals = Some((bounds.bound, candidate.duals));
        }
        if let Some(observer) = &mut self.watch.observer {
            observer(&Checkpoint {
                messages: total.messages,
                bytes: total.bytes,
                seconds: self.begun.elapsed().as_secs_f64(),
                objective: bounds.objective,
                bound: bounds.bound,
                relative_gap: gap,
                disagreement: candidate.disagreement,
            });
        }
        Ok(self.best.as_ref().is_some_and(|best| best.bounds.relative_gap() <= self.settings.gap))
    }

    /// A point that nobody has looked at yet, of a run that is being ended: it takes the place of the best where that is proven at
    /// once.
    pub(crate) fn look_once_more(&mut self, x: &[f64]) {
        /// Seconds.
        const AT_ONCE: f64 = 0.08;
        let control = self.watch.control.afterwards(AT_ONCE);
        let (Some(best), Some((_, duals))) = (&mut self.best, &self.duals) else { return };
        let Ok(proven) = proof::prove(self.problem, x, duals, self.team, &control) else { return };
        if proven.objective < best.bounds.objective {
            let bound = proven.bound.max(best.bounds.bound);
            // Nobody was asked what it believes of this point: at most so far from it.
            let disagreement = best.disagreement + disagreement(x, std::iter::once(&best.x[..]));
            *best = Best { x: x.to_vec(), bounds: Bounds { bound, ..proven }, disagreement };
        }
    }

    fn finish(self, ended: Ended, method: Method) -> Result<Fit, Error> {
        let Some(Best { x, bounds, disagreement }) = self.best else {
            // Ended before there was anything to show.
            if let Some(halt) = self.team.halted(&self.watch.control) {
                return Err(halt.into());
            }
            return Err(equipoise::Error::from(equipoise::Halt::TimeLimit).into());
        };
        let relative_gap = bounds.relative_gap();
        let status = if relative_gap <= self.settings.gap { Status::Converged } else { ended.status };
        Ok(Fit {
            status,
            x,
            objective: bounds.objective,
            bound: bounds.bound,
            relative_gap,
            disagreement,
            traffic: ended.traffic,
            method,
            rounds: ended.rounds,
            sum_of_multipliers: ended.sum_of_multipliers,
            bytes_between_ranks: ended.bytes_between_ranks,
        })
    }
}

/// The status that a halt stands for; faults of data are errors.
pub(crate) fn status_of(halt: equipoise::Halt) -> Result<Status, Error> {
    Status::after(&halt).ok_or_else(|| halt.into())
}

fn check_graph(problem: &Problem, graph: &Graph) -> Result<(), Error> {
    let (found, expected) = (graph.nodes(), problem.nodes());
    if found != expected {
        return Err(Error::GraphSize { found, expected });
    }
    match graph.check_connected() {
        Err(equipoise::Error::GraphDisconnected { from, to, unreached, nodes }) => {
            Err(Error::Disconnected { from, to, unreached, nodes })
        }
        other => Ok(other?),
    }
}

pub(crate) fn check_point(problem: &Problem, x: &[f64]) -> Result<(), Error> {
    if x.len() != problem.columns() {
        let (found, expected) =
            (format!("{} numbers", x.len()), format!("{}, one a column", problem.columns()));
        return Err(Error::Point { found, expected });
    }
    if let Some(place) = x.iter().position(|x| !x.is_finite()) {
        let found = format!("{} at place {}", x[place], place + 1);
        return Err(Error::Point { found, expected: "finite numbers".into() });
    }
    Ok(())
}

/// `max_i ||x_i - x||`.
pub(crate) fn disagreement<'x>(x: &[f64], of: impl Iterator<Item = &'x [f64]>) -> f64 {
    let apart = |own: &[f64]| own.iter().zip(x).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
    of.map(apart).fold(0.0, f64::max)
}

/// The neighbours of every node, ascending.
pub(crate) fn neighbours(graph: &Graph) -> Vec<Vec<usize>> {
    let mut lists = vec![Vec::new(); graph.nodes()];
    for (a, b) in graph.edges() {
        lists[a].push(b);
        lists[b].push(a);
    }
    lists.iter_mut().for_each(|list| list.sort_unstable());
    lists
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Loss;
    use crate::tests::random;

    #[test]
    fn a_run_that_is_ended_has_the_last_point_that_is_better() {
        let problem = random(Loss::Ridge, 3, false, 5);
        let line = Graph::new(&equipoise::graph::Topology::Edges(vec![(0, 1), (1, 2)]), 3).expect("a graph");
        let settings = Settings::default();
        let best = fit(&problem, &line, &settings, None, Watch::default()).expect("valid input");
        let zeros = vec![0.0; problem.columns()];
        let duals: Vec<Vec<f64>> =
            problem.shards.iter().map(|shard| vec![0.0; shard.targets.len()]).collect();
        let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let watch = Watch { observer: None, control: Control::on(flag.clone()) };
        let team = Team::of(1);
        let mut keeper = Keeper::new(&problem, &settings, watch, &team);
        let candidate = Candidate { x: zeros.clone(), duals, disagreement: 0.5 };
        assert_eq!(keeper.look(candidate, EdgeTraffic::default()), Ok(false));
        flag.store(true, std::sync::atomic::Ordering::Relaxed);
        keeper.look_once_more(&best.x);
        keeper.look_once_more(&zeros);
        let ended = Ended {
            status: Status::Interrupted,
            traffic: Traffic::default(),
            rounds: 1,
            sum_of_multipliers: 0,
            bytes_between_ranks: 0,
        };
        let found = keeper.finish(ended, Method::Tree).expect("a point");
        assert_eq!((found.status, &found.x, found.objective), (Status::Interrupted, &best.x, best.objective));
        assert!(found.bound <= best.objective && found.disagreement > 0.5 && found.relative_gap > 0.0);
    }
}
