//! Exchanges over all edges of the graph, in phases, with a proximal term around a moving centre where `f_i` need not bend.
//!
//! ```text
//! repeat   a phase of exchanges (in turn, or one thread a node); nothing is in flight after it
//!          x = mean of x_i; the gap of x and of the dual points of all nodes; ended where it is small enough
//!          with a proximal term sum_j e_ij/2 (x_j - c_ij)^2 per node: c_i <- x_i, once the inner gap is below a part of what the term is worth;
//!          e_ij shrinks where moved centres gain little
//! ```
//!
//! Each node has its own centre: the sum of the terms is one term around their mean and a constant, and nobody has to agree on one.
//! The dual never falls in a phase if curvatures are lower bounds. Those of a logistic loss are not, and neither is anything
//! exact under staleness: where the dual has fallen, lambda goes back to where it was and steps are halved.
//!
//! - Given: problem, graph, start. Returns: how it ended; points go to the `Keeper`. Must not know: who carries messages.

use equipoise::graph::Graph;
use equipoise::{Pass, Status};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::error::Error;
use crate::fit::{Candidate, Ended, Keeper, disagreement, neighbours, status_of};
use crate::ledger::{Ledger, Unit};
use crate::local::Local;
use crate::problem::{Loss, Problem};
use crate::protocol::{Node, run_in_threads, run_in_turn};
use crate::traffic::Traffic;

/// Exchanges of the first phase, for each edge; later phases grow to the most.
const FIRST_PHASE: f64 = 2.0;
const LONGEST_PHASE: f64 = 40.0;
const GROWTH: f64 = 1.3;
/// Phases without a smaller gap before the run is called stalled.
const PATIENCE: usize = 60;
/// Steps of nodes that act at the same time.
const STALE_DAMPING: f64 = 0.6;
/// The centre moves when the inner gap is below this part of what the proximal term is worth.
const INNER: f64 = 0.3;
/// Or after so many phases, whatever the inner gap: waiting for the last of it costs more than a centre that is a little off.
const LONG: usize = 6;
/// A lasso moves by about `l1 / e` at most when its centre moves, which may be next to nothing: after so many centres in
/// turn that did not make the gap smaller by more than this part of it, e becomes so much smaller; and that so often at most.
const SLOW: usize = 2;
const SLOW_GAIN: f64 = 0.9;
const SHRINK: f64 = 0.1;
const MOST_SHRINKS: usize = 12;

pub(crate) fn run(
    problem: &Problem,
    graph: &Graph,
    start: Option<&[f64]>,
    keeper: &mut Keeper<'_, '_>,
) -> Result<Ended, Error> {
    let control = keeper.control().clone();
    let lists = neighbours(graph);
    let locals: Vec<Local<'_>> = (0..problem.nodes()).map(|node| Local::new(problem, node)).collect();
    let unit = Unit::for_size(size_of_multipliers(problem));
    let mut nodes = Vec::with_capacity(locals.len());
    let mean = locals.iter().map(Local::natural_mean).sum::<f64>() / locals.len() as f64;
    for (id, mut local) in locals.into_iter().enumerate() {
        if let Some(part) = prox_part(problem.model.loss) {
            local.set_prox(local.natural_prox(mean).iter().map(|weight| part * weight).collect());
        }
        if let Some(start) = start {
            local.set_x(start);
        }
        nodes.push(Node::new(id, local, unit, &lists[id], &control));
    }
    let is_stale = keeper.settings.asynchronous || !keeper.settings.faults.is_none();
    let damping = if is_stale { STALE_DAMPING } else { 1.0 };
    nodes.iter_mut().for_each(|node| node.damping = damping);
    let mut phases = Phases { problem, nodes, edges: graph.edge_count(), damping, rounds: 0 };
    let status = match phases.run(keeper) {
        Ok(status) => status,
        Err(halt) => status_of(halt)?,
    };
    let sum = |j: usize| phases.nodes.iter().map(|node| node.ledger().units()[j]).sum::<i128>();
    let sum_of_multipliers = (0..problem.columns()).map(sum).fold(0, |most: i128, sum| most.max(sum.abs()));
    Ok(Ended { status, traffic: phases.traffic(), rounds: phases.rounds, sum_of_multipliers })
}

/// How large lambda may become, roughly: what all rows pull together.
pub(crate) fn size_of_multipliers(problem: &Problem) -> f64 {
    let mut sum = 0.0;
    for shard in &problem.shards {
        for k in 0..shard.rows.len() {
            let pull = match problem.model.loss {
                Loss::Ridge | Loss::Lasso => shard.targets[k].abs(),
                Loss::Logistic => 1.0,
                Loss::Hinge => problem.model.cost,
            };
            sum += pull * shard.rows.squared_norm(k).sqrt();
        }
    }
    sum + problem.l1()
}

/// The weights of the proximal term, as a part of how much the loss bends; none where every `f_i` bends anyway.
fn prox_part(loss: Loss) -> Option<f64> {
    match loss {
        Loss::Ridge | Loss::Logistic => None,
        Loss::Lasso | Loss::Hinge => Some(0.1),
    }
}

struct Phases<'a> {
    problem: &'a Problem,
    nodes: Vec<Node<'a>>,
    edges: usize,
    /// What steps are multiplied by at most.
    damping: f64,
    rounds: usize,
}

/// The dual of the inner problem, and lambda there.
struct Good {
    dual: f64,
    /// How far it was from the best at most.
    gap: f64,
    ledgers: Vec<Ledger>,
}

/// How fast the gap falls from centre to centre.
struct Pace {
    smallest: f64,
    slow: usize,
    shrinks: usize,
}

impl Pace {
    /// Whether the proximal term holds x back, by the smallest gap so far.
    fn is_too_slow(&mut self, smallest: f64) -> bool {
        self.slow = if smallest <= SLOW_GAIN * self.smallest { 0 } else { self.slow + 1 };
        self.smallest = smallest;
        if self.slow < SLOW || self.shrinks >= MOST_SHRINKS {
            return false;
        }
        self.slow = 0;
        self.shrinks += 1;
        true
    }
}

impl Phases<'_> {
    fn traffic(&self) -> Traffic {
        let mut all = Traffic::default();
        self.nodes.iter().for_each(|node| all.merge(&node.traffic));
        all
    }

    fn run(&mut self, keeper: &mut Keeper<'_, '_>) -> Pass<Status> {
        let control = keeper.control().clone();
        let settings = keeper.settings;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(settings.seed);
        let (mut length, mut smallest, mut without_gain) = (FIRST_PHASE, f64::INFINITY, 0);
        let mut good: Option<Good> = None;
        // Phases since the centre moved.
        let mut since = 0;
        let mut pace = Pace { smallest: f64::INFINITY, slow: 0, shrinks: 0 };
        self.refine(1e-3)?;
        loop {
            self.nodes.iter_mut().try_for_each(Node::renew_curvature)?;
            self.phase(length, settings, &mut rng, keeper);
            control.check()?;
            self.rounds += 1;
            length = (length * GROWTH).min(LONGEST_PHASE);
            let x = self.mean();
            self.refine(0.01 * self.apart(&x).max(1e-12))?;
            let x = self.mean();
            let apart = self.apart(&x);
            let dual = self.inner_dual();
            let duals = self.nodes.iter().map(|node| node.local().dual()).collect();
            let traffic = self.traffic();
            if keeper.look(Candidate { x: x.clone(), duals, disagreement: apart }, &traffic)? {
                return Ok(Status::Converged);
            }
            if settings.max_messages.is_some_and(|most| traffic.total().messages >= most) {
                return Ok(Status::IterationLimit);
            }
            let gap = keeper.last_gap();
            without_gain = if gap < 0.98 * smallest { 0 } else { without_gain + 1 };
            smallest = smallest.min(gap);
            if without_gain >= PATIENCE {
                return Ok(Status::Stalled);
            }
            let worth: f64 = self.nodes.iter().map(|node| node.local().prox_at(&x, node.centre())).sum();
            let inner = self.value(&x) + worth - dual;
            good = Some(self.guarded(good, dual, inner));
            if prox_part(self.problem.model.loss).is_some() {
                since += 1;
                if inner <= INNER * worth || since >= LONG || self.edges == 0 {
                    since = 0;
                    // Where a centre moves because time is up, it is not e that makes it slow.
                    let is_exact = inner <= INNER * worth || self.edges == 0;
                    if self.problem.model.loss == Loss::Lasso && is_exact && pace.is_too_slow(smallest) {
                        self.nodes.iter_mut().for_each(|node| node.scale_prox(SHRINK));
                        without_gain = 0;
                    }
                    for node in &mut self.nodes {
                        let own = node.local().x().to_vec();
                        node.recentre(&own);
                    }
                    good = None;
                }
            }
        }
    }

    /// What is good now; or back to what was, with shorter steps. Local solves are not exact, and a part of the gap is their doubt.
    fn guarded(&mut self, good: Option<Good>, dual: f64, gap: f64) -> Good {
        const DOUBT: f64 = 0.25;
        match good {
            Some(good) if dual < good.dual - (DOUBT * good.gap).max(1e-9 * (1.0 + good.dual.abs())) => {
                for (node, ledger) in self.nodes.iter_mut().zip(&good.ledgers) {
                    node.restore(ledger);
                    node.damping *= 0.5;
                }
                good
            }
            _ => {
                let most = self.damping;
                self.nodes.iter_mut().for_each(|node| node.damping = (1.2 * node.damping).min(most));
                let ledgers = self.nodes.iter().map(|node| node.ledger().clone()).collect();
                Good { dual, gap, ledgers }
            }
        }
    }

    fn phase(
        &mut self,
        length: f64,
        settings: &crate::Settings,
        rng: &mut Xoshiro256PlusPlus,
        keeper: &Keeper<'_, '_>,
    ) {
        let exchanges = (length * self.edges as f64).ceil() as u64;
        if settings.asynchronous {
            let each = exchanges.div_ceil(self.nodes.len() as u64);
            let seed = rng.random();
            run_in_threads(&mut self.nodes, each, settings.greedy, settings.faults, seed, keeper.control());
        } else {
            run_in_turn(&mut self.nodes, exchanges, settings.greedy, settings.faults, rng, keeper.control());
        }
    }

    fn refine(&mut self, error: f64) -> Pass {
        self.nodes.iter_mut().try_for_each(|node| node.refine(error))
    }

    /// The consensus point: the mean of what all believe.
    fn mean(&self) -> Vec<f64> {
        let mut mean = vec![0.0; self.problem.columns()];
        for node in &self.nodes {
            mean.iter_mut().zip(node.local().x()).for_each(|(sum, x)| *sum += x);
        }
        mean.iter_mut().for_each(|sum| *sum /= self.nodes.len() as f64);
        if self.problem.model.loss == Loss::Lasso {
            // Where most nodes say 0, it is 0.
            for (j, mean) in mean.iter_mut().enumerate() {
                let zeros = self.nodes.iter().filter(|node| node.local().x()[j] == 0.0).count();
                if 2 * zeros >= self.nodes.len() {
                    *mean = 0.0;
                }
            }
        }
        mean
    }

    fn apart(&self, x: &[f64]) -> f64 {
        disagreement(x, self.nodes.iter().map(|node| node.local().x()))
    }

    fn value(&self, x: &[f64]) -> f64 {
        self.nodes.iter().map(|node| node.local().value(x)).sum()
    }

    /// `sum_i f_i(x_i) + (proximal term) - lambda_i.x_i`.
    fn inner_dual(&self) -> f64 {
        let each = |node: &Node<'_>| -> f64 {
            let x = node.local().x();
            let tilt: f64 = node.ledger().values().iter().zip(x).map(|(l, x)| l * x).sum();
            node.local().value(x) + node.local().prox_at(x, node.centre()) - tilt
        };
        self.nodes.iter().map(each).sum()
    }
}
