//! Transfers along a spanning tree: in every round each node hands its surplus of lambda to its parent, from the
//! leaves to the root, and the root hands back a better x.
//!
//! ```text
//! down   x                                               parent -> child,  d numbers
//! up     lambda_c - grad f_c(x) of the subtree, its f    child -> parent,  d + 1 numbers
//! root   holds - sum_i grad f_i(x) = -g;   x <- x - B^-1 g,   B from N hess f_root(x) and the pairs (x, g) so far (BFGS)
//! ```
//!
//! Each of these is a transfer between two neighbours that keeps the sum of lambda; 2 (N - 1) messages a round, whatever the
//! graph. The first x is the mean of what the nodes believe alone. With shards that are alike the root bends as the others
//! do, and a round gains an order of magnitude; where they are not, the pairs (x, g) make up for it. When the root sees that
//! it is almost done, g is handed down once, each node keeps `lambda_i = grad f_i(x) - g/N` (the root what is left, so that the sum is
//! exactly 0) and solves alone: its `x_i` give the bound. For the hinge, `interior.rs` does the same with rounds of another kind.
//!
//! Rounds are waves of messages behind [`Transport`](crate::protocol::Transport), as exchanges of pairs are: delayed, lost and
//! sent again as those are.
//!
//! References: Liu and Nocedal, "On the limited memory BFGS method" (1989); Shamir, Srebro and Zhang, "Communication-efficient
//! distributed optimization using an approximate Newton-type method" (2014), for the root's curvature.

mod barrier;
mod interior;
mod member;
mod root;
mod spanning;

use equipoise::graph::Graph;
use equipoise::matrix::dot;
use equipoise::{Control, Halt, Pass, Status, Team};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::error::Error;
use crate::fit::{Candidate, Ended, Keeper, disagreement, status_of};
use crate::ledger::Unit;
use crate::local::Local;
use crate::pairs::size_of_multipliers;
use crate::problem::{Loss, Problem};
use crate::protocol::{Order, Share, run_in_threads, run_in_turn};
use crate::traffic::Traffic;
pub(crate) use member::Member;
use root::RootModel;
use spanning::Tree;

/// Rounds without a better point before the run is called stalled.
const PATIENCE: usize = 40;

/// Up to so many columns the curvature of a hinge travels unasked: 4 MB an edge and step.
const WIDE: usize = 1000;

/// Whether this is the method to take where nobody chose one.
pub(crate) fn suits(problem: &Problem) -> bool {
    match problem.model.loss {
        Loss::Ridge | Loss::Logistic => true,
        Loss::Hinge => problem.columns() <= WIDE,
        Loss::Lasso => false,
    }
}

/// F and its gradient at a point, as the root sees them.
#[derive(Debug, Clone)]
struct Seen {
    x: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
}

/// All nodes and what they have exchanged.
struct Run<'a> {
    root: usize,
    members: Vec<Member<'a>>,
    /// The x that all know.
    last: Vec<f64>,
    /// The x with the least F so far.
    least: Option<(f64, Vec<f64>)>,
    rounds: usize,
    rng: Xoshiro256PlusPlus,
}

pub(crate) fn run(
    problem: &Problem,
    graph: &Graph,
    start: Option<&[f64]>,
    keeper: &mut Keeper<'_, '_>,
) -> Result<Ended, Error> {
    let tree = Tree::new(graph);
    let mut run = Run {
        root: tree.root,
        members: members(problem, &tree, keeper.control()),
        last: vec![f64::NAN; problem.columns()],
        least: None,
        rounds: 0,
        rng: Xoshiro256PlusPlus::seed_from_u64(keeper.settings.seed),
    };
    let ended = match problem.model.loss {
        Loss::Hinge => run.approach(problem, start, keeper),
        _ => run.descend(problem, start, keeper),
    };
    let status = match ended {
        Ok(status) => status,
        Err(halt) => {
            if let Some((_, x)) = &run.least {
                keeper.look_once_more(x);
            }
            status_of(halt)?
        }
    };
    let sum = |j: usize| run.members.iter().map(|member| member.ledger().units()[j]).sum::<i128>();
    let sum_of_multipliers = (0..problem.columns()).map(sum).fold(0, |most: i128, sum| most.max(sum.abs()));
    let (traffic, rounds) = (run.traffic(), run.rounds);
    Ok(Ended { status, traffic, rounds, sum_of_multipliers, bytes_between_ranks: 0 })
}

fn members<'a>(problem: &'a Problem, tree: &Tree, control: &Control) -> Vec<Member<'a>> {
    let (parents, unit) = (tree.parents(), Unit::for_size(size_of_multipliers(problem, &Team::of(1))));
    let member = |id: usize| Member::new(id, Local::new(problem, id), unit, &parents, control);
    (0..problem.nodes()).map(member).collect()
}

/// The nodes of a tree of a graph.
#[cfg(test)]
pub(crate) fn tree_members<'a>(problem: &'a Problem, graph: &Graph) -> Vec<Member<'a>> {
    members(problem, &Tree::new(graph), &Control::unlimited())
}

impl Run<'_> {
    fn traffic(&self) -> Traffic {
        let mut all = Traffic::default();
        self.members.iter().for_each(|member| all.merge(&member.traffic));
        all
    }

    /// An order of the root to all, and what they answer together.
    fn wave(&mut self, order: Order, numbers: Vec<f64>, keeper: &Keeper<'_, '_>) -> Pass<Vec<f64>> {
        let (settings, control) = (keeper.settings, keeper.control());
        let faults = settings.faults;
        self.members[self.root].queue(order, numbers);
        if settings.asynchronous {
            let seed = rand::RngExt::random(&mut self.rng);
            let share = Share { each: 1, outstanding: 1, is_greedy: false, faults, seed };
            run_in_threads(&mut self.members, share, share.each, control);
        } else {
            // A root that is away begins once it is back.
            let turns =
                1 + faults.stall.filter(|stall| stall.node == self.root).map_or(0, |stall| stall.ticks);
            run_in_turn(&mut self.members, turns, false, faults, &mut self.rng, control);
        }
        control.check()?;
        // Whoever was ended has said so; there is no other reason for silence.
        self.members[self.root].answer().ok_or(Halt::Interrupted)
    }

    fn remember(&mut self, value: f64, x: &[f64]) {
        if self.least.as_ref().is_none_or(|(least, _)| value < *least) {
            self.least = Some((value, x.to_vec()));
        }
    }

    fn descend(
        &mut self,
        problem: &Problem,
        start: Option<&[f64]>,
        keeper: &mut Keeper<'_, '_>,
    ) -> Pass<Status> {
        let control = keeper.control().clone();
        let begin = match start {
            Some(start) => start.to_vec(),
            None => self.mean_of_beliefs(problem, keeper)?,
        };
        let mut best = self.look(begin, keeper)?;
        let mut model = RootModel::new();
        let mut without_gain = 0;
        loop {
            model.renew(self.members[self.root].local(), self.members.len(), &best.x, &control)?;
            let step = model.step(&best.gradient);
            let promised = -0.5 * dot(&step, &best.gradient);
            let allowed = keeper.settings.gap * best.value.abs();
            let is_close = 2.5 * promised <= allowed;
            // The first point is proven also where nobody asks: a run that is ended has something to show.
            if is_close || keeper.is_watched() || self.rounds == 1 {
                let met = self.certify(&best, is_close, keeper)?;
                if met {
                    return Ok(Status::Converged);
                }
            }
            if keeper.settings.max_messages.is_some_and(|most| self.traffic().total().messages >= most) {
                self.certify(&best, true, keeper)?;
                return Ok(Status::IterationLimit);
            }
            let next: Vec<f64> = best.x.iter().zip(&step).map(|(x, p)| x + p).collect();
            let seen = self.look(next, keeper)?;
            model.learn(&best, &seen);
            let slack = 4.0 * f64::EPSILON * best.value.abs() * self.members.len() as f64;
            let is_better = seen.value <= best.value - 2e-4 * promised + slack;
            without_gain = if seen.value < best.value { 0 } else { without_gain + 1 };
            if is_better {
                best = seen;
                model.relax();
            } else {
                model.damp();
            }
            if without_gain >= PATIENCE {
                self.certify(&best, true, keeper)?;
                return Ok(Status::Stalled);
            }
        }
    }

    /// The mean of what the nodes believe alone, where shards have rows enough for that to mean something; else 0.
    fn mean_of_beliefs(&mut self, problem: &Problem, keeper: &Keeper<'_, '_>) -> Pass<Vec<f64>> {
        let (d, nodes) = (problem.columns(), self.members.len() as f64);
        let mut mean = self.wave(Order::Believe, Vec::new(), keeper)?;
        let fewest = mean.pop().unwrap_or(0.0);
        let part = if fewest < 2.0 * d as f64 { 0.0 } else { 1.0 / nodes };
        mean.iter_mut().for_each(|x| *x *= part);
        Ok(mean)
    }

    /// A round: x down, gradients and values up.
    fn look(&mut self, x: Vec<f64>, keeper: &Keeper<'_, '_>) -> Pass<Seen> {
        self.rounds += 1;
        self.last.clone_from(&x);
        let mut gradient = self.wave(Order::Evaluate, x.clone(), keeper)?;
        let value = gradient.pop().unwrap_or(f64::NAN);
        self.remember(value, &x);
        Ok(Seen { x, value, gradient })
    }

    /// g down; every node keeps its part of it and solves alone. What only a watcher wants to see is not sent.
    fn certify(&mut self, best: &Seen, is_sent: bool, keeper: &mut Keeper<'_, '_>) -> Pass<bool> {
        // What local solves leave open, `sum ||r_i||^2 / (2 mu_i)`, is to be a hundredth of the gap allowed.
        let open = 0.02 * keeper.settings.gap * best.value.abs() / self.members.len() as f64;
        self.settle(&best.x, &best.gradient, open, is_sent, keeper)
    }

    /// lambda goes where it belongs at x, where gradients sum to g; the point and what all believe of it is looked at.
    fn settle(
        &mut self,
        x: &[f64],
        g: &[f64],
        open: f64,
        is_sent: bool,
        keeper: &mut Keeper<'_, '_>,
    ) -> Pass<bool> {
        if is_sent {
            let mut numbers = g.to_vec();
            numbers.push(open);
            if self.last != x {
                numbers.extend(x);
                self.last = x.to_vec();
            }
            self.wave(Order::Keep, numbers, keeper)?;
        } else {
            self.members.iter_mut().try_for_each(|member| member.show(x, g, open))?;
        }
        let beliefs: Vec<(&[f64], Vec<f64>)> = self.members.iter().map(Member::belief).collect();
        let apart = disagreement(x, beliefs.iter().map(|(own, _)| *own));
        let duals = beliefs.into_iter().map(|(_, dual)| dual).collect();
        keeper.look(Candidate { x: x.to_vec(), duals, disagreement: apart }, self.traffic().total())
    }
}
