//! What a node solves alone:
//!
//! ```text
//! x(t) = argmin  sum_k phi(a_k.x, b_k) + sum_j q_j/2 x_j^2 + g |x_j| - t_j x_j ,     q_j = s_j/N + e_j,  g = G/N
//! ```
//!
//! s and G are the weights of the penalty, N the number of nodes, `e_j` those of a proximal term around c; t is lambda + e c. Each
//! `x(t)` comes with a dual point u, one number a row, `u_k` in the subdifferential of phi at `a_k.x`: what bounds are made of.
//!
//! - Given: a shard, t, and how far x may be from the exact solution. Returns: x, u, how `f_i` bends.
//! - Must not know: neighbours, messages, who chose t.

mod hinge;
mod lasso;
mod logistic;
mod quadratic;

use equipoise::matrix::{RowValues, Rows, dot};
use equipoise::{Control, Pass};

use crate::curvature::Curvature;
use crate::factor::Symmetric;
use crate::problem::{Loss, Problem, Shard};

/// From so many columns on, what a node says of its curvature is a diagonal.
const FULL_CURVATURE: usize = 400;

/// One node's function.
#[derive(Debug, Clone)]
pub(crate) struct Local<'a> {
    shard: &'a Shard,
    loss: Loss,
    cost: f64,
    /// `s_j / N`.
    shares: Vec<f64>,
    /// G / N.
    l1: f64,
    /// `e_j`.
    prox: Vec<f64>,
    /// `q_j`.
    squares: Vec<f64>,
    x: Vec<f64>,
    solver: Solver,
}

/// What a loss keeps between two solves.
#[derive(Debug, Clone)]
enum Solver {
    Quadratic(Option<quadratic::Factor>),
    Logistic,
    Lasso(lasso::Columns),
    Hinge(hinge::Multipliers),
}

impl<'a> Local<'a> {
    /// Node `node` of a problem, at x = 0.
    pub(crate) fn new(problem: &'a Problem, node: usize) -> Self {
        let (shard, model) = (problem.shard(node), &problem.model);
        let (columns, nodes) = (problem.columns(), problem.nodes() as f64);
        let shares: Vec<f64> = (0..columns).map(|column| problem.square_weight(column) / nodes).collect();
        let solver = match model.loss {
            Loss::Ridge => Solver::Quadratic(None),
            Loss::Logistic => Solver::Logistic,
            Loss::Lasso => Solver::Lasso(lasso::Columns::new(&shard.rows)),
            Loss::Hinge => Solver::Hinge(hinge::Multipliers::new(shard.rows.len())),
        };
        Self {
            shard,
            loss: model.loss,
            cost: model.cost,
            squares: shares.clone(),
            shares,
            l1: problem.l1() / nodes,
            prox: vec![0.0; columns],
            x: vec![0.0; columns],
            solver,
        }
    }

    pub(crate) fn x(&self) -> &[f64] {
        &self.x
    }

    pub(crate) fn set_x(&mut self, x: &[f64]) {
        self.x.copy_from_slice(x);
    }

    pub(crate) fn rows(&self) -> &Rows<'static> {
        &self.shard.rows
    }

    pub(crate) fn targets(&self) -> &[f64] {
        &self.shard.targets
    }

    /// C.
    pub(crate) fn cost(&self) -> f64 {
        self.cost
    }

    /// `s_j / N`.
    pub(crate) fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// The weights of the proximal term.
    pub(crate) fn prox(&self) -> &[f64] {
        &self.prox
    }

    /// `sum_j e_j/2 (x_j - c_j)^2`.
    pub(crate) fn prox_at(&self, x: &[f64], centre: &[f64]) -> f64 {
        (0..x.len()).map(|j| 0.5 * self.prox[j] * (x[j] - centre[j]) * (x[j] - centre[j])).sum()
    }

    pub(crate) fn set_prox(&mut self, prox: Vec<f64>) {
        self.squares = self.shares.iter().zip(&prox).map(|(share, prox)| share + prox).collect();
        self.prox = prox;
        if let Solver::Quadratic(factor) = &mut self.solver {
            *factor = None;
        }
    }

    /// The least `q_j`: every `f_i` bends at least so much.
    pub(crate) fn strength(&self) -> f64 {
        self.squares.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Moves x to `x(t)`, up to `error` in the Euclidean norm where double precision allows it.
    pub(crate) fn solve(&mut self, tilt: &[f64], error: f64, control: &Control) -> Pass {
        let task = Task { shard: self.shard, squares: &self.squares, tilt, error, strength: self.strength() };
        match &mut self.solver {
            Solver::Quadratic(kept) => {
                if kept.is_none() {
                    *kept = Some(quadratic::Factor::new(&task, control)?);
                }
                if let Some(factor) = kept {
                    self.x = factor.solve(&task);
                }
                Ok(())
            }
            Solver::Logistic => logistic::solve(&task, &mut self.x, control),
            Solver::Lasso(columns) => columns.solve(&task, self.l1, &mut self.x, control),
            Solver::Hinge(multipliers) => multipliers.solve(&task, self.cost, &mut self.x, control),
        }
    }

    /// u at the last solution.
    pub(crate) fn dual(&self) -> Vec<f64> {
        let (rows, targets) = (&self.shard.rows, &self.shard.targets);
        match &self.solver {
            Solver::Quadratic(_) | Solver::Lasso(_) => {
                (0..rows.len()).map(|k| rows.dot(k, &self.x) - targets[k]).collect()
            }
            Solver::Logistic => {
                (0..rows.len()).map(|k| logistic::derivative(rows.dot(k, &self.x), targets[k])).collect()
            }
            Solver::Hinge(multipliers) => multipliers.dual(targets),
        }
    }

    /// `sum_k phi(a_k.x)`.
    pub(crate) fn loss_at(&self, x: &[f64]) -> f64 {
        let (rows, targets) = (&self.shard.rows, &self.shard.targets);
        let phi = |k: usize| -> f64 {
            let z = rows.dot(k, x);
            match self.loss {
                Loss::Ridge | Loss::Lasso => 0.5 * (z - targets[k]) * (z - targets[k]),
                Loss::Logistic => logistic::value(z, targets[k]),
                Loss::Hinge => self.cost * (1.0 - targets[k] * z).max(0.0),
            }
        };
        (0..rows.len()).map(phi).sum()
    }

    /// `f_i(x)`: the loss and this node's part of the penalty, without the proximal term.
    pub(crate) fn value(&self, x: &[f64]) -> f64 {
        let penalty = |j: usize| 0.5 * self.shares[j] * x[j] * x[j] + self.l1 * x[j].abs();
        self.loss_at(x) + (0..x.len()).map(penalty).sum::<f64>()
    }

    /// The gradient of `f_i`; of smooth losses only.
    pub(crate) fn gradient(&self, x: &[f64], control: &Control) -> Pass<Vec<f64>> {
        let (rows, targets) = (&self.shard.rows, &self.shard.targets);
        let mut g: Vec<f64> = self.shares.iter().zip(x).map(|(share, x)| share * x).collect();
        control.in_parts(rows.len(), rows.columns(), |part| {
            for k in part {
                let z = rows.dot(k, x);
                let slope = match self.loss {
                    Loss::Logistic => logistic::derivative(z, targets[k]),
                    _ => z - targets[k],
                };
                rows.add(k, slope, &mut g);
            }
        })?;
        Ok(g)
    }

    /// The second derivative of `f_i` with its proximal term at x, or a matrix below it where it has none.
    pub(crate) fn hessian(&self, x: &[f64], control: &Control) -> Pass<Symmetric> {
        let rows = &self.shard.rows;
        let mut found = Symmetric::diagonal_of(&self.squares);
        if self.loss == Loss::Hinge {
            return Ok(found);
        }
        control.in_parts(rows.len(), rows.columns() * rows.columns() / 2, |part| {
            for k in part {
                let weight = if self.loss == Loss::Logistic { logistic::bend(rows.dot(k, x)) } else { 1.0 };
                add_outer(rows, k, weight, &mut found);
            }
        })?;
        Ok(found)
    }

    /// Its diagonal.
    pub(crate) fn hessian_diagonal(&self, x: &[f64]) -> Vec<f64> {
        let rows = &self.shard.rows;
        let mut found = self.squares.clone();
        for k in 0..rows.len() {
            let weight = if self.loss == Loss::Logistic { logistic::bend(rows.dot(k, x)) } else { 1.0 };
            rows.for_each(k, |column, value| found[column] += weight * value * value);
        }
        found
    }

    /// What this node says of its curvature.
    pub(crate) fn curvature(&self, control: &Control) -> Pass<Curvature> {
        if self.x.len() > FULL_CURVATURE || self.loss == Loss::Hinge {
            return Ok(Curvature::Diagonal(self.squares.clone()));
        }
        Ok(Curvature::Full(self.hessian(&self.x, control)?.lower().to_vec()))
    }

    /// How much the loss bends along each column, at most: natural weights for a proximal term. A column that bends hardly
    /// counts as a hundredth of the mean, here or over all nodes.
    pub(crate) fn natural_prox(&self, mean_of_all: f64) -> Vec<f64> {
        const LEAST: f64 = 0.01;
        let rows = &self.shard.rows;
        let mut found = vec![0.0; rows.columns()];
        for k in 0..rows.len() {
            rows.for_each(k, |column, value| found[column] += value * value);
        }
        let (scale, mean) = (self.most_bend(), self.natural_mean().max(mean_of_all));
        found.iter().map(|sum| (scale * sum).max(LEAST * mean).max(f64::MIN_POSITIVE)).collect()
    }

    /// The mean of these over the columns.
    pub(crate) fn natural_mean(&self) -> f64 {
        let rows = &self.shard.rows;
        let sum: f64 = (0..rows.len()).map(|k| rows.squared_norm(k)).sum();
        self.most_bend() * sum / rows.columns() as f64
    }

    /// How much the loss of a row bends at most; the hinge's is a guess, as a kink bends without end.
    fn most_bend(&self) -> f64 {
        match self.loss {
            Loss::Ridge | Loss::Lasso => 1.0,
            Loss::Logistic => 0.25,
            Loss::Hinge => self.cost,
        }
    }
}

/// What is to be solved.
struct Task<'t> {
    shard: &'t Shard,
    squares: &'t [f64],
    tilt: &'t [f64],
    /// How far x may be from the solution.
    error: f64,
    strength: f64,
}

pub(crate) fn add_outer(rows: &Rows<'_>, k: usize, weight: f64, to: &mut Symmetric) {
    let (indices, values) = rows.row(k);
    // A row without a gap: no look at where its numbers belong.
    if let RowValues::Double(values) = values
        && values.len() == rows.columns()
    {
        for (r, value) in values.iter().enumerate() {
            let scaled = weight * value;
            to.row_mut(r).iter_mut().zip(values).for_each(|(sum, other)| *sum += scaled * other);
        }
        return;
    }
    for (place, &r) in indices.iter().enumerate() {
        let scaled = weight * values.at(place);
        let row = to.row_mut(r as usize);
        if let RowValues::Double(values) = values {
            let own = indices[..=place].iter().zip(&values[..=place]);
            own.for_each(|(&c, other)| row[c as usize] += scaled * other);
        } else {
            let own = indices[..=place].iter().enumerate();
            own.for_each(|(k, &c)| row[c as usize] += scaled * values.at(k));
        }
    }
}

fn norm(v: &[f64]) -> f64 {
    dot(v, v).sqrt()
}
