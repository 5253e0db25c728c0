//! Bounds from raw data, for any x and any dual point, whoever found them.
//!
//! ```text
//! F(x) = sum_k phi_k(a_k.x) + h(x)   >=   D(u) = - sum_k phi_k*(u_k) - h*(-A'u)      for every x and u
//! ```
//!
//! with `u_k` of the node that holds row k, taken at its own `x_i`. In terms of multipliers,
//! `D(u) = sum_i (f_i(x_i) - lambda_i.x_i) - sum_i ||r_i||^2 / (2 mu_i) + (what Jensen's inequality leaves)`, r the residual of the local
//! solve: D charges what local solves leave open, and more tightly than node by node. No sum of lambda enters it.
//!
//! | loss | phi* | h* | what u must meet |
//! |---|---|---|---|
//! | ridge | `u^2/2 + u b` | `v^2 / 2S` | nothing |
//! | logistic | entropy of `-y u` | `v^2 / 2S` | `-y u` in [0, 1] |
//! | lasso | `u^2/2 + u b` | `(\|v\| - G)_+^2 / 2S` | S = 0: `\|A'u\| <= G`; t u for the best t that meets it |
//! | hinge | `y u` | `v^2 / 2`, none for the bias | `-y u` in [0, C]; with a bias `sum u = 0`, as whole numbers of 2^-40 of a power of two above the largest |
//!
//! Where shards are spread over ranks, sums are over all of them, and every rank has both bounds.
//!
//! [`estimate`] computes both in plain arithmetic, [`prove`] with enclosures: what it returns holds in exact arithmetic.

use equipoise::enclosure::{Enclosure, Sum, above};
use equipoise::smooth::loss::{LogisticLoss, ScalarLoss};
use equipoise::{Control, Pass, Team};

use crate::problem::{Loss, Problem, Shard};

/// An objective from above and a bound from below.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bounds {
    pub(crate) objective: f64,
    pub(crate) bound: f64,
}

impl Bounds {
    /// `(objective - bound) / |objective|`, from above; infinite where a bound is not known.
    pub(crate) fn relative_gap(&self) -> f64 {
        let gap = self.objective - self.bound;
        if gap <= 0.0 {
            return 0.0;
        }
        let relative = above(gap.next_up() / self.objective.abs());
        if relative.is_nan() { f64::INFINITY } else { relative }
    }
}

/// What one number of the hinge's dual is a whole number of, relative to a power of two above the largest.
const HINGE_UNIT: f64 = 1.0 / HINGE_UNITS as f64;
const HINGE_UNITS: i64 = 1 << 40;

/// Both bounds in plain arithmetic.
pub(crate) fn estimate(
    problem: &Problem,
    x: &[f64],
    duals: &[Vec<f64>],
    team: &Team,
    control: &Control,
) -> Pass<Bounds> {
    let objective = objective(problem, x, team, control)?;
    let prepared = prepared(problem, duals, team);
    let mut v = vec![0.0; problem.columns()];
    let (mut squares, mut products, mut conjugates) = (0.0, 0.0, 0.0);
    for (shard, u) in problem.shards.iter().zip(&prepared) {
        control.in_parts(u.len(), v.len(), |part| {
            for k in part {
                shard.rows.add(k, u[k], &mut v);
                squares += u[k] * u[k];
                products += u[k] * shard.targets[k];
                if problem.model.loss == Loss::Logistic {
                    conjugates += LogisticLoss.conjugate(u[k], shard.targets[k]);
                }
            }
        })?;
    }
    team.total(&mut v);
    let mut sums = [squares, products, conjugates];
    team.total(&mut sums);
    let [squares, products, conjugates] = sums;
    let (ridge, l1, cost) = (problem.model.ridge, problem.model.l1, problem.model.cost);
    let size: f64 = v.iter().map(|v| v * v).sum();
    let bound = match problem.model.loss {
        Loss::Ridge => -0.5 * squares - products - 0.5 * size / ridge,
        Loss::Logistic => -conjugates - 0.5 * size / ridge,
        Loss::Lasso => {
            let whole = v.iter().map(|v| (v.abs() - l1).max(0.0).powi(2)).sum::<f64>();
            let whole =
                if ridge > 0.0 { -0.5 * squares - products - 0.5 * whole / ridge } else { f64::NEG_INFINITY };
            let t = scale(l1, v.iter().fold(0.0, |most, v| v.abs().max(most)), squares, products);
            whole.max(-0.5 * t * t * squares - t * products)
        }
        Loss::Hinge => {
            let penalised = problem.columns() - usize::from(problem.model.bias);
            let size: f64 = v[..penalised].iter().map(|v| v * v).sum();
            -cost * products - 0.5 * cost * cost * size
        }
    };
    Ok(Bounds { objective, bound })
}

/// F(x) in plain arithmetic.
pub(crate) fn objective(problem: &Problem, x: &[f64], team: &Team, control: &Control) -> Pass<f64> {
    let mut sum = 0.0;
    for shard in &problem.shards {
        control.in_parts(shard.rows.len(), x.len(), |part| {
            for k in part {
                let (z, y) = (shard.rows.dot(k, x), shard.targets[k]);
                sum += match problem.model.loss {
                    Loss::Ridge | Loss::Lasso => 0.5 * (z - y) * (z - y),
                    Loss::Logistic => LogisticLoss.value(z, y),
                    Loss::Hinge => problem.model.cost * (1.0 - y * z).max(0.0),
                };
            }
        })?;
    }
    let penalty = |j: usize| 0.5 * problem.square_weight(j) * x[j] * x[j] + problem.l1() * x[j].abs();
    Ok(team.total_of(sum) + (0..x.len()).map(penalty).sum::<f64>())
}

/// Both bounds in exact arithmetic, for x as it is.
pub(crate) fn prove(
    problem: &Problem,
    x: &[f64],
    duals: &[Vec<f64>],
    team: &Team,
    control: &Control,
) -> Pass<Bounds> {
    let mut value = Sum::default();
    let prepared = prepared(problem, duals, team);
    let mut v = vec![Sum::default(); problem.columns()];
    let mut sums = DualSums::default();
    for (shard, u) in problem.shards.iter().zip(&prepared) {
        control.in_parts(u.len(), 8 * v.len(), |part| {
            for k in part {
                value.add_enclosure(enclose_loss(problem, shard, k, x));
                shard.rows.enclose_add(k, u[k], &mut v);
                sums.add(problem.model.loss, u[k], shard.targets[k]);
            }
        })?;
    }
    merged(team, &mut v);
    let mut all = [value, sums.squares, sums.products, sums.conjugates];
    merged(team, &mut all);
    [value, sums.squares, sums.products, sums.conjugates] = all;
    for (j, &x) in x.iter().enumerate() {
        value.add_enclosure((Enclosure::product(x, x) * problem.square_weight(j).into()).half());
        value.add_enclosure(Enclosure::product(x.abs(), problem.l1()));
    }
    let v: Vec<Enclosure> = v.iter().map(Sum::value).collect();
    let bound = sums.bound(problem, &v);
    let bound = if bound.is_nan() { f64::NEG_INFINITY } else { bound };
    Ok(Bounds { objective: value.value().upper(), bound })
}

/// Sums of this rank become those of all, in the order of the ranks.
fn merged(team: &Team, sums: &mut [Sum]) {
    if !team.is_spread() {
        return;
    }
    let all = team.lists(&Sum::packed(sums));
    sums.fill(Sum::default());
    for numbers in &all {
        // A world that has come to its end has nothing to add; the caller asks the team.
        Sum::merge_packed(sums, numbers);
    }
}

fn enclose_loss(problem: &Problem, shard: &Shard, k: usize, x: &[f64]) -> Enclosure {
    let (z, y) = (shard.rows.enclose_dot(k, x), shard.targets[k]);
    match problem.model.loss {
        Loss::Ridge | Loss::Lasso => (z - y.into()).square().half(),
        Loss::Logistic => LogisticLoss.enclose_value(z, y),
        Loss::Hinge => {
            let margin = if y > 0.0 { z } else { -z };
            (Enclosure::from(1.0) - margin).positive_part() * problem.model.cost.into()
        }
    }
}

/// What the dual needs of u beside A'u.
#[derive(Debug, Default)]
struct DualSums {
    squares: Sum,
    products: Sum,
    conjugates: Sum,
}

impl DualSums {
    fn add(&mut self, loss: Loss, u: f64, y: f64) {
        match loss {
            Loss::Ridge | Loss::Lasso => {
                self.squares.add_product(u, u);
                self.products.add_product(u, y);
            }
            Loss::Logistic => self.conjugates.add_enclosure(LogisticLoss.enclose_conjugate(u.into(), y)),
            Loss::Hinge => self.products.add_product(u, y),
        }
    }

    /// D from below.
    fn bound(&self, problem: &Problem, v: &[Enclosure]) -> f64 {
        let (ridge, l1) = (problem.model.ridge, problem.model.l1);
        let (squares, products) = (self.squares.value(), self.products.value());
        let square_sum = |of: &mut dyn Iterator<Item = Enclosure>| -> Enclosure {
            let mut sum = Sum::default();
            of.for_each(|v| sum.add_enclosure(v.square()));
            sum.value().half()
        };
        match problem.model.loss {
            Loss::Ridge => {
                (-squares.half() - products - square_sum(&mut v.iter().copied()).over(ridge.into())).lower()
            }
            Loss::Logistic => {
                (-self.conjugates.value() - square_sum(&mut v.iter().copied()).over(ridge.into())).lower()
            }
            Loss::Lasso => {
                let beyond = &mut v.iter().map(|v| (v.abs() - l1.into()).positive_part());
                let whole = if ridge > 0.0 {
                    (-squares.half() - products - square_sum(beyond).over(ridge.into())).lower()
                } else {
                    f64::NEG_INFINITY
                };
                // t is rounded down so far that t |v| <= G is sure.
                let most = v.iter().map(|v| v.magnitude()).fold(0.0, f64::max);
                let t = scale(l1, above(most), squares.centre(), products.centre());
                let scaled = if above(above(most) * t.abs()) <= l1 {
                    let t = Enclosure::from(t);
                    (-(t.square() * squares).half() - t * products).lower()
                } else {
                    f64::NEG_INFINITY
                };
                whole.max(scaled)
            }
            Loss::Hinge => {
                let cost = Enclosure::from(problem.model.cost);
                let penalised = problem.columns() - usize::from(problem.model.bias);
                let size = square_sum(&mut v[..penalised].iter().copied());
                (-(cost * products) - cost.square() * size).lower()
            }
        }
    }
}

/// The t of t u that makes the lasso's dual largest among those with `t most <= l1`.
fn scale(l1: f64, most: f64, squares: f64, products: f64) -> f64 {
    let allowed = if most > 0.0 { l1 / most * (1.0 - 64.0 * f64::EPSILON) } else { f64::INFINITY };
    let best = if squares > 0.0 { -products / squares } else { 0.0 };
    best.clamp(-allowed, allowed)
}

/// u in the domain of the conjugate: the hinge's in units of C, where there is a bias as whole numbers that sum to 0.
fn prepared(problem: &Problem, duals: &[Vec<f64>], team: &Team) -> Vec<Vec<f64>> {
    match problem.model.loss {
        Loss::Ridge | Loss::Lasso => duals.to_vec(),
        Loss::Logistic => {
            let inside = |(u, y): (&f64, &f64)| -y * (-y * u).clamp(0.0, 1.0);
            let each = |(u, shard): (&Vec<f64>, &Shard)| u.iter().zip(&shard.targets).map(inside).collect();
            duals.iter().zip(&problem.shards).map(each).collect()
        }
        Loss::Hinge => hinge_units(problem, duals, team),
    }
}

fn hinge_units(problem: &Problem, duals: &[Vec<f64>], team: &Team) -> Vec<Vec<f64>> {
    let cost = problem.model.cost;
    let share = |(u, y): (&f64, &f64)| (-y * u / cost).clamp(0.0, 1.0);
    let each = |(u, shard): (&Vec<f64>, &Shard)| -> Vec<f64> {
        u.iter()
            .zip(&shard.targets)
            .map(share)
            .map(|share| if share.is_nan() { 0.0 } else { share })
            .collect()
    };
    let shares: Vec<Vec<f64>> = duals.iter().zip(&problem.shards).map(each).collect();
    let back = |(alpha, shard): (&Vec<f64>, &Shard)| -> Vec<f64> {
        alpha.iter().zip(&shard.targets).map(|(a, y)| -y * a).collect()
    };
    if !problem.model.bias {
        return shares.iter().zip(&problem.shards).map(back).collect();
    }
    // A power of two that makes the largest as large as it can be.
    let most = team.largest(shares.iter().flatten().fold(0.0_f64, |most, share| most.max(*share)));
    let shift = if most > 0.0 { (-most.log2()).floor().clamp(0.0, 900.0) as i32 } else { 0 };
    let (up, down) = (2f64.powi(shift) * HINGE_UNITS as f64, 2f64.powi(-shift) * HINGE_UNIT);
    let units = |share: &f64| ((share * up).round_ties_even() as i64).min(HINGE_UNITS);
    let mut alpha: Vec<Vec<i64>> = shares.iter().map(|list| list.iter().map(units).collect()).collect();
    balance(problem, &mut alpha, team);
    let whole = |list: &Vec<i64>| -> Vec<f64> { list.iter().map(|units| *units as f64 * down).collect() };
    let shares: Vec<Vec<f64>> = alpha.iter().map(whole).collect();
    shares.iter().zip(&problem.shards).map(back).collect()
}

/// Makes `sum y alpha` 0: the side that has too much gives some up, first where alpha is between its bounds, and shard after shard
/// wherever they are.
fn balance(problem: &Problem, alpha: &mut [Vec<i64>], team: &Team) {
    let label = |shard: usize, k: usize| problem.shards[shard].targets[k] > 0.0;
    let mut excess: i128 = 0;
    for (shard, list) in alpha.iter().enumerate() {
        for (k, &a) in list.iter().enumerate() {
            excess += if label(shard, k) { i128::from(a) } else { -i128::from(a) };
        }
    }
    let excess = whole(team, excess).iter().sum::<i128>();
    let (rank, _) = team.place();
    let positive = excess > 0;
    let mut left = excess.abs();
    for is_free_only in [true, false] {
        let mut places: Vec<(usize, usize)> = Vec::new();
        for (shard, list) in alpha.iter().enumerate() {
            places.extend((0..list.len()).map(|k| (shard, k)).filter(|&(shard, k)| {
                label(shard, k) == positive && list[k] > 0 && (!is_free_only || list[k] < HINGE_UNITS)
            }));
        }
        while left > 0 {
            let counts = whole(team, places.len() as i128);
            let all: i128 = counts.iter().sum();
            if all == 0 || team.check().is_err() {
                break;
            }
            // Where there is less left than places, the first of all give one unit each.
            let each = (left / all).max(1);
            let mut own = (left - each * counts[..rank].iter().sum::<i128>()).clamp(0, each * counts[rank]);
            let mut given = 0;
            for &(shard, k) in &places {
                let gives = each.min(own).min(i128::from(alpha[shard][k]));
                alpha[shard][k] -= gives as i64;
                own -= each.min(own);
                given += gives;
            }
            left -= whole(team, given).iter().sum::<i128>();
            places.retain(|&(shard, k)| alpha[shard][k] > 0);
        }
    }
}

/// A whole number of every rank, in the order of the ranks; below 2^100.
fn whole(team: &Team, number: i128) -> Vec<i128> {
    const HALF: i128 = 1 << 50;
    if !team.is_spread() {
        return vec![number];
    }
    let (high, low) = (number.div_euclid(HALF), number.rem_euclid(HALF));
    let read = |words: Vec<f64>| {
        let word = |place: usize| words.get(place).copied().unwrap_or(0.0) as i128;
        word(0) * HALF + word(1)
    };
    let mut all: Vec<i128> = team.lists(&[high as f64, low as f64]).into_iter().map(read).collect();
    // A world that has come to its end lists no others.
    all.resize(team.place().1, 0);
    all
}
