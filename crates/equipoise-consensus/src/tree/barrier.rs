//! What a node does for an interior point of the hinge: its rows, their slacks and multipliers.
//!
//! ```text
//! m_k = y_k a_k.x - 1 = s_k - z_k,     alpha_k s_k = mu,     beta_k z_k = mu,     alpha_k + beta_k = C,     all above 0
//! D_k = 1 / (s_k / alpha_k + z_k / beta_k)                 how much row k bends there
//! ```
//!
//! Newton's direction for these and for `Q x = A'(y alpha)` needs of all nodes together `A'DA` and two vectors: nothing of a row
//! leaves its node. Reference: Mehrotra, "On the implementation of a primal-dual interior point method" (1992).
//!
//! - Given: x, directions, lengths of steps, from the root. Returns: sums over its rows. Must not know: who sums them up.

use equipoise::{Control, Pass};

use crate::factor::Symmetric;
use crate::local::{Local, add_outer};

/// The rows of one node; none before it was told where to begin.
#[derive(Debug, Clone, Default)]
pub(super) struct Barrier {
    rows: Vec<Row>,
    /// The change of x that is under way.
    direction: Vec<f64>,
    /// What this node believes, given its multipliers.
    belief: Vec<f64>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Row {
    alpha: f64,
    beta: f64,
    /// s: how far beyond the margin.
    slack: f64,
    /// z: how far short of it.
    short: f64,
    margin: f64,
    /// D.
    bend: f64,
    /// What a step changes: alpha (and beta by as much less), s, z.
    turns: [f64; 3],
}

impl Row {
    /// On the central path of weight mu.
    fn on_path(margin: f64, mu: f64, cost: f64) -> Self {
        let part = |margin: f64| {
            let size = (margin * cost).hypot(2.0 * mu);
            let sum =
                if margin >= 0.0 { margin * cost + size } else { 4.0 * mu * mu / (size - margin * cost) };
            2.0 * mu * cost / (sum + 2.0 * mu)
        };
        let (alpha, beta) = (part(margin), part(-margin));
        let mut row = Self { alpha, beta, slack: mu / alpha, short: mu / beta, ..Self::default() };
        row.settle(margin);
        row
    }

    /// The margin, as it is; the larger of both slacks gives way to rounding.
    fn settle(&mut self, margin: f64) {
        self.margin = margin;
        if margin >= 0.0 {
            self.slack = self.short + margin;
        } else {
            self.short = self.slack - margin;
        }
        self.bend = 1.0 / (self.slack / self.alpha + self.short / self.beta);
    }

    /// The products of the changes: what a linear model of the products leaves out.
    fn corrections(&self) -> (f64, f64) {
        let [alpha, slack, short] = self.turns;
        (alpha * slack, -alpha * short)
    }

    /// The changes for a change of the margin and products of mu; how long a step along them may be.
    fn turn(&mut self, change: f64, mu: f64, (first, second): (f64, f64)) -> f64 {
        let left = mu - self.alpha * self.slack - first;
        let right = mu - self.beta * self.short - second;
        let alpha = self.bend * (left / self.alpha - right / self.beta - change);
        let slack = (left - self.slack * alpha) / self.alpha;
        let short = (right + self.short * alpha) / self.beta;
        self.turns = [alpha, slack, short];
        let most = |value: f64, turn: f64| if turn < 0.0 { -value / turn } else { f64::INFINITY };
        let alphas = most(self.alpha, alpha).min(most(self.beta, -alpha));
        alphas.min(most(self.slack, slack)).min(most(self.short, short))
    }
}

impl Barrier {
    pub(super) fn is_there(&self) -> bool {
        !self.rows.is_empty()
    }

    /// `-y_k alpha_k`.
    pub(super) fn dual(&self, targets: &[f64]) -> Vec<f64> {
        self.rows.iter().zip(targets).map(|(row, y)| -y * row.alpha).collect()
    }

    pub(super) fn belief(&self) -> &[f64] {
        &self.belief
    }

    /// Begins at x, on the central path of weight mu.
    pub(super) fn centre(&mut self, local: &Local<'_>, x: &[f64], mu: f64) {
        let (rows, y, cost) = (local.rows(), local.targets(), local.cost());
        let row = |k: usize| Row::on_path(y[k] * rows.dot(k, x) - 1.0, mu, cost);
        self.rows = (0..rows.len()).map(row).collect();
        self.belief = x.to_vec();
    }

    /// `A'DA`, `A'(y alpha)`, `A'(y D m)`; the sum of all products, of `C z` where z is as small as the margin lets it be, and of
    /// alpha; the number of rows.
    pub(super) fn sense(&self, local: &Local<'_>, control: &Control) -> Pass<Vec<f64>> {
        let (rows, y, d) = (local.rows(), local.targets(), local.rows().columns());
        let mut curvature = Symmetric::diagonal_of(&vec![0.0; d]);
        let (mut pulls, mut bent) = (vec![0.0; d], vec![0.0; d]);
        let (mut products, mut losses, mut alphas) = (0.0, 0.0, 0.0);
        control.in_parts(rows.len(), d * d / 2, |part| {
            for k in part {
                let row = &self.rows[k];
                add_outer(rows, k, row.bend, &mut curvature);
                rows.add(k, y[k] * row.alpha, &mut pulls);
                rows.add(k, y[k] * row.bend * row.margin, &mut bent);
                products += row.alpha * row.slack + row.beta * row.short;
                losses += local.cost() * (-row.margin).max(0.0);
                alphas += row.alpha;
            }
        })?;
        let mut answer = curvature.lower().to_vec();
        answer.extend(pulls);
        answer.extend(bent);
        answer.extend([products, losses, alphas, rows.len() as f64]);
        Ok(answer)
    }

    /// For the direction without the barrier: how a weight of 1, and what the direction leaves out, would change the
    /// right-hand side; the sum of what products would change by beyond first order; how long the step may be.
    pub(super) fn predict(&mut self, local: &Local<'_>, direction: &[f64]) -> Vec<f64> {
        let (rows, y, d) = (local.rows(), local.targets(), local.rows().columns());
        let (mut weighted, mut corrected) = (vec![0.0; d], vec![0.0; d]);
        let (mut second_order, mut most) = (0.0, f64::INFINITY);
        for (k, row) in self.rows.iter_mut().enumerate() {
            most = most.min(row.turn(y[k] * rows.dot(k, direction), 0.0, (0.0, 0.0)));
            let (first, second) = row.corrections();
            second_order += first + second;
            rows.add(k, y[k] * row.bend * (1.0 / row.alpha - 1.0 / row.beta), &mut weighted);
            rows.add(k, y[k] * row.bend * (second / row.beta - first / row.alpha), &mut corrected);
        }
        weighted.extend(corrected);
        weighted.extend([second_order, most]);
        weighted
    }

    /// For the direction that is to be taken: how long the step may be.
    pub(super) fn aim(&mut self, local: &Local<'_>, direction: &[f64], mu: f64) -> Vec<f64> {
        let (rows, y) = (local.rows(), local.targets());
        self.direction = direction.to_vec();
        let mut most = f64::INFINITY;
        for (k, row) in self.rows.iter_mut().enumerate() {
            let corrections = row.corrections();
            most = most.min(row.turn(y[k] * rows.dot(k, direction), mu, corrections));
        }
        vec![most]
    }

    /// Takes the step.
    pub(super) fn advance(&mut self, local: &Local<'_>, length: f64, x: &mut [f64]) {
        let (rows, y) = (local.rows(), local.targets());
        x.iter_mut().zip(&self.direction).for_each(|(x, p)| *x += length * p);
        for (k, row) in self.rows.iter_mut().enumerate() {
            let [alpha, slack, short] = row.turns;
            row.alpha += length * alpha;
            row.beta -= length * alpha;
            row.slack += length * slack;
            row.short += length * short;
            row.settle(y[k] * rows.dot(k, x) - 1.0);
        }
    }

    /// The gradient of `f_i`, with its multipliers for the slopes of the hinge.
    pub(super) fn gradient(&self, local: &Local<'_>, x: &[f64]) -> Vec<f64> {
        let mut g: Vec<f64> = local.shares().iter().zip(x).map(|(share, x)| share * x).collect();
        for (k, row) in self.rows.iter().enumerate() {
            local.rows().add(k, -local.targets()[k] * row.alpha, &mut g);
        }
        g
    }

    /// What goes with lambda and the multipliers of the rows: `q x = lambda + A'(y alpha)`, x itself where nothing bends.
    pub(super) fn believe(&mut self, local: &Local<'_>, lambda: &[f64], x: &[f64]) {
        let gradient = self.gradient(local, x);
        let belief = |j: usize| {
            let share = local.shares()[j];
            if share > 0.0 { x[j] + (lambda[j] - gradient[j]) / share } else { x[j] }
        };
        self.belief = (0..x.len()).map(belief).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_begin_on_the_central_path() {
        for margin in [-1e6, -1.0, -1e-9, 0.0, 1e-9, 2.0, 1e6] {
            for mu in [1e-8, 1.0, 1e4] {
                for cost in [1e-3, 1.0, 1e3] {
                    let row = Row::on_path(margin, mu, cost);
                    let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (a.abs() + b.abs());
                    assert!(row.alpha > 0.0 && row.beta > 0.0 && row.slack > 0.0 && row.short > 0.0);
                    assert!(near(row.alpha + row.beta, cost), "{margin} {mu} {cost}: {row:?}");
                    assert!(near(row.alpha * row.slack, mu) && near(row.beta * row.short, mu), "{row:?}");
                    assert!(near(1.0 + row.slack - row.short, 1.0 + margin) || margin.abs() < 1.0, "{row:?}");
                }
            }
        }
    }
}
