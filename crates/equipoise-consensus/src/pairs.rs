//! Exchanges over all edges of the graph, in phases, with a proximal term around a moving centre where `f_i` need not bend.
//!
//! ```text
//! repeat   a phase of exchanges (in turn, one thread a node, or on ranks); nothing is in flight after it
//!          x = mean of x_i; the gap of x and of the dual points of all nodes; ended where it is small enough
//!          with a proximal term sum_j e_ij/2 (x_j - c_ij)^2 per node: c_i <- x_i, once the inner gap is below a part of what the term is worth;
//!          e_ij shrinks where moved centres gain little
//! ```
//!
//! Each node has its own centre: the sum of the terms is one term around their mean and a constant, and nobody has to agree on one.
//! The dual never falls in a phase if curvatures are lower bounds. Those of a logistic loss are not, and neither is anything
//! exact under staleness: where the dual has fallen, lambda goes back to where it was and steps are halved.
//!
//! On ranks each has its own nodes, and all of them the sums; so all take the same decisions.
//!
//! - Given: problem, graph, start. Returns: how it ended; points go to the `Keeper`. Must not know: who carries messages.

use equipoise::collective::Post;
use equipoise::graph::Graph;
use equipoise::{Pass, Status, Team};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::error::Error;
use crate::fit::{Candidate, Ended, Keeper, disagreement, neighbours, status_of};
use crate::ledger::{Ledger, Unit};
use crate::local::Local;
use crate::problem::{Loss, Problem};
use crate::protocol::{Carrier, Node, Share, run_in_threads, run_in_turn};
use crate::traffic::{EdgeTraffic, Traffic};

/// Exchanges of the first phase, for each edge; later phases grow to the most.
const FIRST_PHASE: f64 = 2.0;
const LONGEST_PHASE: f64 = 40.0;
const GROWTH: f64 = 1.3;
/// What a node with a thread of its own may begin in a phase while others are away, in shares.
const MOST_SHARES: u64 = 16;
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
    post: Option<&mut dyn Post>,
    keeper: &mut Keeper<'_, '_>,
) -> Result<Ended, Error> {
    let team = keeper.team;
    // What is under way on one rank is waited for on others: no solve ends early there.
    let control = team.patient(keeper.control());
    let lists = neighbours(graph);
    let locals: Vec<Local<'_>> = problem.own_nodes().map(|node| Local::new(problem, node)).collect();
    let unit = Unit::for_size(size_of_multipliers(problem, team));
    let mut nodes = Vec::with_capacity(locals.len());
    let mean = team.total_of(locals.iter().map(Local::natural_mean).sum()) / problem.nodes() as f64;
    for (id, mut local) in problem.own_nodes().zip(locals) {
        if let Some(part) = prox_part(problem.model.loss) {
            local.set_prox(local.natural_prox(mean).iter().map(|weight| part * weight).collect());
        }
        if let Some(start) = start {
            local.set_x(start);
        }
        nodes.push(Node::new(id, local, unit, &lists[id], &control));
    }
    let settings = keeper.settings;
    let at_once = settings.asynchronous || post.is_some();
    let is_stale = at_once || !settings.faults.is_none();
    let damping = if is_stale { STALE_DAMPING } else { 1.0 };
    // What a node has asked for is added up before it sees any of it.
    let damping = if at_once { damping / settings.outstanding as f64 } else { damping };
    nodes.iter_mut().for_each(|node| node.damping = damping);
    let carrier = post.map(|post| {
        let counts = team.lists(&[nodes.len() as f64]);
        let mut firsts = vec![0];
        for count in counts.iter().flatten() {
            firsts.push(firsts[firsts.len() - 1] + *count as usize);
        }
        Carrier::new(post, team.place().0, firsts, problem.columns())
    });
    team.check()?;
    let mut phases = Phases { problem, team, nodes, carrier, edges: graph.edge_count(), damping, rounds: 0 };
    let status = match phases.run(keeper) {
        Ok(status) => status,
        Err(halt) => status_of(halt)?,
    };
    let sum_of_multipliers = phases.sum_of_multipliers();
    let sent = phases.carrier.as_ref().map_or(0.0, |carrier| carrier.bytes_sent() as f64);
    let bytes_between_ranks = team.total_of(sent) as u64;
    Ok(Ended {
        status,
        traffic: phases.traffic_of_all(),
        rounds: phases.rounds,
        sum_of_multipliers,
        bytes_between_ranks,
    })
}

/// How large lambda may become, roughly: what all rows pull together.
pub(crate) fn size_of_multipliers(problem: &Problem, team: &Team) -> f64 {
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
    team.total_of(sum) + problem.l1()
}

/// The weights of the proximal term, as a part of how much the loss bends; none where every `f_i` bends anyway.
fn prox_part(loss: Loss) -> Option<f64> {
    match loss {
        Loss::Ridge | Loss::Logistic => None,
        Loss::Lasso | Loss::Hinge => Some(0.1),
    }
}

struct Phases<'a, 'p> {
    problem: &'a Problem,
    team: &'a Team,
    /// Those of this rank.
    nodes: Vec<Node<'a>>,
    /// To nodes of other ranks.
    carrier: Option<Carrier<'p>>,
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

impl Phases<'_, '_> {
    fn traffic(&self) -> Traffic {
        let mut all = Traffic::default();
        self.nodes.iter().for_each(|node| all.merge(&node.traffic));
        all
    }

    /// What crossed all edges so far, whoever counted it.
    fn total(&self) -> EdgeTraffic {
        let own = self.traffic().total();
        let mut sums = [own.messages as f64, own.bytes as f64];
        self.team.total(&mut sums);
        EdgeTraffic { messages: sums[0] as u64, bytes: sums[1] as u64 }
    }

    /// What crossed every edge, whoever counted it.
    fn traffic_of_all(&self) -> Traffic {
        let own = self.traffic();
        if !self.team.is_spread() {
            return own;
        }
        let words: Vec<f64> = own
            .edges()
            .flat_map(|((from, to), of)| [from as f64, to as f64, of.messages as f64, of.bytes as f64])
            .collect();
        let mut all = Traffic::default();
        for edge in self.team.lists(&words).concat().chunks_exact(4) {
            let counted = EdgeTraffic { messages: edge[2] as u64, bytes: edge[3] as u64 };
            all.add((edge[0] as usize, edge[1] as usize), counted);
        }
        all
    }

    /// The largest sum of lambda over all nodes of all ranks, in units, of any column.
    fn sum_of_multipliers(&self) -> i128 {
        let sum = |j: usize| self.nodes.iter().map(|node| node.ledger().units()[j]).sum::<i128>();
        let own: Vec<i128> = (0..self.problem.columns()).map(sum).collect();
        sum_over_ranks(&own, self.team).into_iter().fold(0, |most: i128, sum| most.max(sum.abs()))
    }

    fn run(&mut self, keeper: &mut Keeper<'_, '_>) -> Pass<Status> {
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
            if let Some(halt) = self.team.halted(keeper.control()) {
                return Err(halt);
            }
            self.rounds += 1;
            length = (length * GROWTH).min(LONGEST_PHASE);
            let x = self.mean();
            self.refine(0.01 * self.apart(&x).max(1e-12))?;
            let x = self.mean();
            let apart = self.apart(&x);
            let dual = self.inner_dual();
            let duals = self.nodes.iter().map(|node| node.local().dual()).collect();
            let total = self.total();
            if keeper.look(Candidate { x: x.clone(), duals, disagreement: apart }, total)? {
                return Ok(Status::Converged);
            }
            if settings.max_messages.is_some_and(|most| total.messages >= most) {
                return Ok(Status::IterationLimit);
            }
            let gap = keeper.last_gap();
            without_gain = if gap < 0.98 * smallest { 0 } else { without_gain + 1 };
            smallest = smallest.min(gap);
            if without_gain >= PATIENCE {
                return Ok(Status::Stalled);
            }
            let worth = self.nodes.iter().map(|node| node.local().prox_at(&x, node.centre())).sum();
            let worth = self.team.total_of(worth);
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
        let mut share = || Share {
            each: exchanges.div_ceil(self.problem.nodes() as u64),
            outstanding: settings.outstanding,
            is_greedy: settings.greedy,
            faults: settings.faults,
            seed: rng.random(),
        };
        if let Some(carrier) = &mut self.carrier {
            carrier.run(&mut self.nodes, &share(), keeper.control());
        } else if settings.asynchronous {
            let share = share();
            let most = MOST_SHARES * share.each;
            run_in_threads(&mut self.nodes, share, most, keeper.control());
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
        self.team.total(&mut mean);
        let all = self.problem.nodes();
        mean.iter_mut().for_each(|sum| *sum /= all as f64);
        if self.problem.model.loss == Loss::Lasso {
            // Where most nodes say 0, it is 0.
            let zeros = |j: usize| self.nodes.iter().filter(|node| node.local().x()[j] == 0.0).count() as f64;
            let mut zeros: Vec<f64> = (0..mean.len()).map(zeros).collect();
            self.team.total(&mut zeros);
            for (mean, zeros) in mean.iter_mut().zip(zeros) {
                if 2.0 * zeros >= all as f64 {
                    *mean = 0.0;
                }
            }
        }
        mean
    }

    fn apart(&self, x: &[f64]) -> f64 {
        self.team.largest(disagreement(x, self.nodes.iter().map(|node| node.local().x())))
    }

    fn value(&self, x: &[f64]) -> f64 {
        self.team.total_of(self.nodes.iter().map(|node| node.local().value(x)).sum())
    }

    /// `sum_i f_i(x_i) + (proximal term) - lambda_i.x_i`.
    fn inner_dual(&self) -> f64 {
        let each = |node: &Node<'_>| -> f64 {
            let x = node.local().x();
            let tilt: f64 = node.ledger().values().iter().zip(x).map(|(l, x)| l * x).sum();
            node.local().value(x) + node.local().prox_at(x, node.centre()) - tilt
        };
        self.team.total_of(self.nodes.iter().map(each).sum())
    }
}

/// Whole numbers of every rank, added up without rounding: as f64 of 40 bits each, of which a thousand ranks add up exactly.
fn sum_over_ranks(own: &[i128], team: &Team) -> Vec<i128> {
    const PART: i128 = 1 << 40;
    if !team.is_spread() {
        return own.to_vec();
    }
    let mut parts: Vec<f64> = Vec::with_capacity(3 * own.len());
    for number in own {
        let (rest, low) = (number.div_euclid(PART), number.rem_euclid(PART));
        let (high, middle) = (rest.div_euclid(PART), rest.rem_euclid(PART));
        parts.extend([low as f64, middle as f64, high as f64]);
    }
    team.total(&mut parts);
    parts.chunks_exact(3).map(|p| (p[2] as i128 * PART + p[1] as i128) * PART + p[0] as i128).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use equipoise::collective::{Collective, Threads};

    use super::*;

    #[test]
    fn whole_numbers_of_ranks_are_added_up_without_rounding() {
        let numbers = |rank: usize| {
            let sign = if rank.is_multiple_of(2) { 1 } else { -1 };
            vec![sign * ((1_i128 << 100) + rank as i128), sign * (rank as i128 + 1), 0, i128::from(u64::MAX)]
        };
        let expected: Vec<i128> = (0..4).map(|j| (0..3).map(|rank| numbers(rank)[j]).sum()).collect();
        for found in Threads::run(3, |world| {
            let own = numbers(world.rank());
            sum_over_ranks(&own, &Team::of(1).across(Some(world as Arc<dyn Collective>)))
        }) {
            assert_eq!(found, expected);
        }
        assert_eq!(sum_over_ranks(&numbers(1), &Team::of(1)), numbers(1));
    }
}
