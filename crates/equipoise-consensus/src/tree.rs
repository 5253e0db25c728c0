//! Transfers along a spanning tree, for smooth losses: in every round each node hands its surplus of lambda to its parent, from the
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
//! exactly 0) and solves alone: its `x_i` give the bound.
//!
//! References: Liu and Nocedal, "On the limited memory BFGS method" (1989); Shamir, Srebro and Zhang, "Communication-efficient
//! distributed optimization using an approximate Newton-type method" (2014), for the root's curvature.

use equipoise::graph::Graph;
use equipoise::matrix::{axpy, dot};
use equipoise::{Control, Pass, Status};

use crate::error::Error;
use crate::factor::Cholesky;
use crate::fit::{Candidate, Ended, Keeper, disagreement, neighbours, status_of};
use crate::ledger::{Ledger, Unit};
use crate::local::Local;
use crate::problem::Problem;
use crate::traffic::Traffic;

/// Up to so many columns the root's curvature is used in full, beyond its diagonal.
const FULL: usize = 1000;
/// Most pairs (x, g) that are kept.
const PAIRS: usize = 40;
/// Rounds without a better point before the run is called stalled.
const PATIENCE: usize = 40;

/// A rooted spanning tree.
#[derive(Debug)]
struct Tree {
    root: usize,
    /// Child and parent, parents before their children.
    edges: Vec<(usize, usize)>,
}

impl Tree {
    /// Of shortest paths from a node in the middle of a longest one.
    fn new(graph: &Graph) -> Self {
        let lists = neighbours(graph);
        let walk = |from: usize| -> (Vec<usize>, Vec<(usize, usize)>) {
            let mut seen = vec![false; lists.len()];
            let (mut order, mut edges) = (vec![from], Vec::new());
            seen[from] = true;
            let mut next = 0;
            while next < order.len() {
                let node = order[next];
                next += 1;
                for &to in &lists[node] {
                    if !seen[to] {
                        seen[to] = true;
                        order.push(to);
                        edges.push((to, node));
                    }
                }
            }
            (order, edges)
        };
        let last = |order: &[usize]| order.last().copied().unwrap_or(0);
        let end = last(&walk(0).0);
        let (order, edges) = walk(end);
        let mut way = vec![last(&order)];
        while let Some(&(_, parent)) = edges.iter().find(|(child, _)| *child == way[way.len() - 1]) {
            way.push(parent);
        }
        let root = way[way.len() / 2];
        Self { root, edges: walk(root).1 }
    }

    fn count_up(&self, numbers: usize, traffic: &mut Traffic) {
        self.edges.iter().rev().for_each(|&(child, parent)| traffic.count(child, parent, numbers));
    }

    fn count_down(&self, numbers: usize, traffic: &mut Traffic) {
        self.edges.iter().for_each(|&(child, parent)| traffic.count(parent, child, numbers));
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
    tree: Tree,
    locals: Vec<Local<'a>>,
    traffic: Traffic,
    rounds: usize,
    sum_of_multipliers: i128,
}

pub(crate) fn run(
    problem: &Problem,
    graph: &Graph,
    start: Option<&[f64]>,
    keeper: &mut Keeper<'_, '_>,
) -> Result<Ended, Error> {
    let mut run = Run {
        tree: Tree::new(graph),
        locals: (0..problem.nodes()).map(|node| Local::new(problem, node)).collect(),
        traffic: Traffic::default(),
        rounds: 0,
        sum_of_multipliers: 0,
    };
    let status = match run.descend(problem, start, keeper) {
        Ok(status) => status,
        Err(halt) => status_of(halt)?,
    };
    let (rounds, sum_of_multipliers) = (run.rounds, run.sum_of_multipliers);
    Ok(Ended { status, traffic: run.traffic, rounds, sum_of_multipliers })
}

impl Run<'_> {
    fn descend(
        &mut self,
        problem: &Problem,
        start: Option<&[f64]>,
        keeper: &mut Keeper<'_, '_>,
    ) -> Pass<Status> {
        let control = keeper.control().clone();
        let begin = match start {
            Some(start) => start.to_vec(),
            None => self.mean_of_beliefs(problem, &control)?,
        };
        let mut best = self.look(begin, &control)?;
        let mut model = RootModel::new();
        let mut without_gain = 0;
        loop {
            model.renew(&self.locals[self.tree.root], self.locals.len(), &best.x, &control)?;
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
            if keeper.settings.max_messages.is_some_and(|most| self.traffic.total().messages >= most) {
                self.certify(&best, true, keeper)?;
                return Ok(Status::IterationLimit);
            }
            let next: Vec<f64> = best.x.iter().zip(&step).map(|(x, p)| x + p).collect();
            let seen = self.look(next, &control)?;
            model.learn(&best, &seen);
            let slack = 4.0 * f64::EPSILON * best.value.abs() * self.locals.len() as f64;
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
    fn mean_of_beliefs(&mut self, problem: &Problem, control: &Control) -> Pass<Vec<f64>> {
        let (d, nodes) = (problem.columns(), self.locals.len());
        let fewest = self.locals.iter().map(|local| local.rows().len()).min().unwrap_or(0);
        if fewest < 2 * d {
            return Ok(vec![0.0; d]);
        }
        let mut mean = vec![0.0; d];
        for local in &mut self.locals {
            // A gradient of a thousandth of the curvature.
            let error = 1e-3 * local.natural_mean() / local.strength();
            local.solve(&vec![0.0; d], error, control)?;
            axpy(1.0 / nodes as f64, local.x(), &mut mean);
        }
        self.tree.count_up(d, &mut self.traffic);
        Ok(mean)
    }

    /// A round: x down, gradients and values up.
    fn look(&mut self, x: Vec<f64>, control: &Control) -> Pass<Seen> {
        self.rounds += 1;
        self.tree.count_down(x.len(), &mut self.traffic);
        let (mut value, mut gradient) = (0.0, vec![0.0; x.len()]);
        for local in &self.locals {
            control.check()?;
            value += local.value(&x);
            axpy(1.0, &local.gradient(&x, control)?, &mut gradient);
        }
        self.tree.count_up(x.len() + 1, &mut self.traffic);
        Ok(Seen { x, value, gradient })
    }

    /// g down; every node keeps its part of it and solves alone.
    fn certify(&mut self, best: &Seen, is_counted: bool, keeper: &mut Keeper<'_, '_>) -> Pass<bool> {
        let control = keeper.control().clone();
        let (d, nodes) = (best.x.len(), self.locals.len());
        if is_counted {
            self.tree.count_down(d, &mut self.traffic);
        }
        let gradients: Vec<Vec<f64>> =
            self.locals.iter().map(|local| local.gradient(&best.x, &control)).collect::<Pass<_>>()?;
        let size = gradients.iter().flatten().fold(0.0_f64, |most, g| most.max(g.abs()));
        let unit = Unit::for_size(size * nodes as f64);
        let mut ledgers = vec![Ledger::new(unit, d); nodes];
        // Along the tree: what a node does not keep goes to its parent.
        for &(child, parent) in self.tree.edges.iter().rev() {
            let keeps = |j: usize| unit.units(gradients[child][j] - best.gradient[j] / nodes as f64);
            let surplus: Vec<i128> = (0..d).map(|j| ledgers[child].units()[j] - keeps(j)).collect();
            ledgers[child].hand_over(&surplus, false);
            ledgers[parent].hand_over(&surplus, true);
        }
        self.sum_of_multipliers = (0..d)
            .map(|j| ledgers.iter().map(|ledger| ledger.units()[j]).sum::<i128>())
            .fold(0, |a, b| a.max(b.abs()));
        let mut duals = Vec::with_capacity(nodes);
        // What local solves leave open, `sum ||r_i||^2 / (2 mu_i)`, is to be a hundredth of the gap allowed.
        let open = 0.02 * keeper.settings.gap * best.value.abs() / nodes as f64;
        for (local, ledger) in self.locals.iter_mut().zip(&ledgers) {
            local.set_x(&best.x);
            let error = (open / local.strength()).sqrt();
            local.solve(&ledger.values(), error, &control)?;
            duals.push(local.dual());
        }
        let apart = disagreement(&best.x, self.locals.iter().map(Local::x));
        keeper.look(Candidate { x: best.x.clone(), duals, disagreement: apart }, &self.traffic)
    }
}

/// What the root knows of how F bends.
struct RootModel {
    base: Option<Base>,
    pairs: Vec<(Vec<f64>, Vec<f64>)>,
    /// The part of its diagonal that is added to the base.
    damping: f64,
}

enum Base {
    Full(Cholesky),
    Diagonal(Vec<f64>),
}

impl RootModel {
    fn new() -> Self {
        Self { base: None, pairs: Vec::new(), damping: 0.0 }
    }

    /// N times the root's own curvature at x, damped.
    fn renew(&mut self, root: &Local<'_>, nodes: usize, x: &[f64], control: &Control) -> Pass {
        let n = nodes as f64;
        if x.len() > FULL {
            let diagonal = root.hessian_diagonal(x).iter().map(|v| n * v * (1.0 + self.damping)).collect();
            self.base = Some(Base::Diagonal(diagonal));
            return Ok(());
        }
        let mut matrix = root.hessian(x, control)?.scaled(n);
        // Directions that the root's rows do not see bend, too.
        let few = x.len() as f64 / (x.len() + root.rows().len()) as f64;
        let part = self.damping + if few > 0.2 { 0.3 * few } else { 0.0 };
        let mean = matrix.diagonal().iter().sum::<f64>() / x.len() as f64;
        let extra: Vec<f64> = matrix.diagonal().iter().map(|v| part * v.max(0.1 * mean)).collect();
        matrix.add_diagonal(&extra);
        self.base = match matrix.factored() {
            Some(factor) => Some(Base::Full(factor)),
            None => {
                Some(Base::Diagonal(matrix.diagonal().iter().map(|v| v.max(f64::MIN_POSITIVE)).collect()))
            }
        };
        Ok(())
    }

    fn damp(&mut self) {
        self.damping = (4.0 * self.damping).max(0.1);
    }

    fn relax(&mut self) {
        self.damping = if self.damping < 0.05 { 0.0 } else { 0.25 * self.damping };
    }

    /// A pair of points: how the gradient changed along the way.
    fn learn(&mut self, from: &Seen, to: &Seen) {
        let s: Vec<f64> = to.x.iter().zip(&from.x).map(|(a, b)| a - b).collect();
        let y: Vec<f64> = to.gradient.iter().zip(&from.gradient).map(|(a, b)| a - b).collect();
        if dot(&s, &y) > 1e-14 * (dot(&s, &s) * dot(&y, &y)).sqrt() {
            self.pairs.push((s, y));
            if self.pairs.len() > PAIRS {
                self.pairs.remove(0);
            }
        }
    }

    /// `- B^-1 g`, by the two loops of limited memory.
    fn step(&self, g: &[f64]) -> Vec<f64> {
        let mut q = g.to_vec();
        let mut weights = Vec::with_capacity(self.pairs.len());
        for (s, y) in self.pairs.iter().rev() {
            let weight = dot(s, &q) / dot(s, y);
            axpy(-weight, y, &mut q);
            weights.push(weight);
        }
        let mut z = match &self.base {
            Some(Base::Full(factor)) => factor.solve(&q),
            Some(Base::Diagonal(diagonal)) => q.iter().zip(diagonal).map(|(q, d)| q / d).collect(),
            None => q,
        };
        for ((s, y), weight) in self.pairs.iter().zip(weights.iter().rev()) {
            let back = dot(y, &z) / dot(s, y);
            axpy(weight - back, s, &mut z);
        }
        z.iter_mut().for_each(|z| *z = -*z);
        z
    }
}
