//! Bounds in exact arithmetic: the objective from above, the optimum from below.
//!
//! With `s = (1 - delta)/(T - 1)`, `rho = delta mu` and any vectors theta, x, any multipliers lambda and any `kappa_1 >= 0`: by
//! `||Cz||^2 >= 2 theta'Cz - ||theta||^2`, every portfolio z within the limits has
//!
//! ```text
//! objective(z) >= - s ||theta||^2 - sum_k max over [low_k, high_k] of lambda_k v  - kappa_1 limit
//!                 + sum_j min over [l_j, u_j] of  (2 s c_j'theta + sum_k lambda_k a_kj) z_j + rho z_j^2 + (kappa + kappa_1) |z_j - c_j|
//! ```
//!
//! theta is `C w` of a good w. Rounding in it costs sharpness, never truth: products are charged
//! `|fl(a'b) - a'b| <= gamma_n ||a|| ||b||`, the rest is summed with enclosures. The objective: `||C w||` is within
//! `gamma_k sum_j |w_j| ||c_j||` of the norm of what was computed, k the number of its terms; by a Gram matrix K as computed,
//! `||C w||^2` is within `gamma_T (sum_j |w_j| ||c_j||)^2` of `w'Kw`.
//!
//! - Given: returns, covariance, constraints; w, theta and products, multipliers. Returns: numbers. Must not know: how w was found.

use equipoise::enclosure::{Enclosure, Sum, above, dot};
use equipoise::{Control, Pass};

use crate::passes::Gram;
use crate::{Constraints, Covariance, Multipliers, Returns};

/// Where nothing limits a weight and nothing bends, bounds hold up to so many times the weights there are.
const REACH: f64 = 1e4;

/// `n u / (1 - n u)`, from above; infinite where that says nothing.
fn gamma(n: usize) -> f64 {
    let nu = n as f64 * (f64::EPSILON / 2.0);
    if nu < 0.5 { above(nu / (1.0 - nu)) } else { f64::INFINITY }
}

/// A norm from above, from the computed sum of so many squares.
fn norm_above(squares: f64, terms: usize) -> f64 {
    // Relative error gamma of the sum, at most twice that of the root; underflow of every square.
    let sum = squares + terms as f64 * f64::MIN_POSITIVE;
    above(sum.sqrt() * (1.0 + 2.0 * gamma(terms + 2)))
}

/// What was computed of `C'theta` and `||theta||^2`.
#[derive(Debug)]
pub(crate) struct Products {
    /// `||theta||^2`.
    pub(crate) square: Enclosure,
    /// `c_j'theta`, as computed.
    pub(crate) values: Vec<f64>,
    /// Each is within `charge ||c_j|| + lost` of the truth.
    charge: f64,
    lost: f64,
    /// `||C w||^2` of the w that theta came from, from above.
    pub(crate) of_weights: f64,
}

impl Products {
    /// Whether `||theta||^2` is known up to a share of it.
    pub(crate) fn is_sharp(&self, share: f64) -> bool {
        let (low, high) = (self.square.lower(), self.square.upper());
        high - low <= share * high
    }
}

/// What proofs need to know of data and limits, made once.
#[derive(Debug)]
pub(crate) struct Ground<'a> {
    returns: &'a Returns,
    covariance: &'a Covariance,
    /// Norms of the columns, from above.
    norms: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// R where weights that nothing limits are taken to be at most R in size.
    pub(crate) holds_within: Option<f64>,
    /// s.
    share: Enclosure,
    /// What gaps are measured against at least.
    least_scale: f64,
}

impl<'a> Ground<'a> {
    pub(crate) fn new(returns: &'a Returns, covariance: &'a Covariance, constraints: &Constraints) -> Self {
        let days = returns.days();
        let norms = covariance.squares.iter().map(|squares| norm_above(*squares, days)).collect();
        let share =
            Enclosure::difference(1.0, covariance.shrinkage).over(Enclosure::from(covariance.divisor));
        let (lower, upper) = constraints.implied();
        let mut ground = Self {
            returns,
            covariance,
            norms,
            lower,
            upper,
            holds_within: None,
            share,
            least_scale: 1e-9 * covariance.mean_variance(),
        };
        let endless = ground.lower.iter().chain(&ground.upper).any(|bound| bound.is_infinite());
        if endless && covariance.ridge == 0.0 {
            let held = constraints.turnover.iter().flat_map(|turnover| &turnover.current);
            let finite =
                ground.lower.iter().chain(&ground.upper).filter(|bound| bound.is_finite()).chain(held);
            let reach =
                REACH * finite.fold(constraints.budget.abs().max(1.0), |most, value| most.max(value.abs()));
            ground.lower.iter_mut().for_each(|bound| *bound = bound.max(-reach));
            ground.upper.iter_mut().for_each(|bound| *bound = bound.min(reach));
            ground.holds_within = Some(reach);
        }
        ground
    }

    /// The gap of two bounds; a point that misses its rows by rounding may lie below the optimum, which counts as a gap, too.
    pub(crate) fn relative_gap(&self, objective: f64, bound: f64) -> f64 {
        above((objective - bound).abs() / objective.max(self.least_scale))
    }

    /// From theta and what was computed of `C'theta`; theta is what was computed of `C w`.
    pub(crate) fn products_by_pass(&self, w: &[f64], theta: &[f64], values: Vec<f64>) -> Products {
        let days = theta.len();
        let square = dot(theta, theta);
        let terms = w.iter().filter(|w| **w != 0.0).count() + 1;
        let missed = above(gamma(2 * terms) * self.size(w));
        let norm = above(square.upper().max(0.0).sqrt());
        let of_weights = (Enclosure::from(norm) + Enclosure::from(missed)).square().upper();
        let charge = above(gamma(days) * norm);
        Products { square, values, charge, lost: days as f64 * f64::MIN_POSITIVE, of_weights }
    }

    /// From theta with every product enclosed: where weights may be large, the rest of a slope counts many times.
    pub(crate) fn products_enclosed(&self, w: &[f64], theta: &[f64], control: &Control) -> Pass<Products> {
        let columns = self.returns.centred();
        let (mut values, mut lost) = (Vec::with_capacity(w.len()), 0.0_f64);
        for j in 0..w.len() {
            if j.is_multiple_of(64) {
                control.check()?;
            }
            let product = dot(columns.column(j), theta);
            let value = product.centre();
            values.push(value);
            lost = lost.max(above((product.upper() - value).max(value - product.lower())));
        }
        let plain = self.products_by_pass(w, theta, values);
        Ok(Products { charge: 0.0, lost, ..plain })
    }

    /// The same from the Gram matrix of all assets, in their order; theta is `C w` itself.
    pub(crate) fn products_by_gram(&self, w: &[f64], gram: &Gram) -> Products {
        let (days, assets) = (self.returns.days(), w.len());
        // Most weights are 0: only the others count.
        let held: Vec<usize> = (0..assets).filter(|&j| w[j] != 0.0).collect();
        let weights_held: Vec<f64> = held.iter().map(|&j| w[j]).collect();
        let mut entries = vec![0.0; held.len()];
        let products: Vec<Enclosure> = (0..assets)
            .map(|j| {
                let column = gram.column(j);
                entries.iter_mut().zip(&held).for_each(|(entry, &i)| *entry = column[i]);
                dot(&entries, &weights_held)
            })
            .collect();
        let size = self.size(w);
        let charge = above(gamma(days) * size);
        let values: Vec<f64> = products.iter().map(|product| product.centre()).collect();
        let spread = products
            .iter()
            .zip(&values)
            .map(|(product, value)| (product.upper() - value).max(value - product.lower()));
        let lost = above(days as f64 * assets as f64 * f64::MIN_POSITIVE + spread.fold(0.0, f64::max) * 2.0);
        let mut square = Sum::default();
        held.iter().for_each(|&j| square.add_enclosure(products[j] * Enclosure::from(w[j])));
        let weights: f64 = above(w.iter().map(|w| w.abs()).sum::<f64>() * (1.0 + gamma(assets + 1)));
        let radius = above(above(charge * size) + above(lost * weights));
        let square = square.value().widened(radius);
        Products { of_weights: square.upper().max(0.0), square, values, charge, lost }
    }

    /// `sum_j |w_j| ||c_j||`, from above.
    fn size(&self, w: &[f64]) -> f64 {
        let mut size = 0.0;
        w.iter()
            .zip(&self.norms)
            .filter(|(w, _)| **w != 0.0)
            .for_each(|(w, norm)| size = above(size + above(w.abs() * norm)));
        size
    }

    /// Variance and objective, from above.
    pub(crate) fn objective(&self, w: &[f64], products: &Products, constraints: &Constraints) -> (f64, f64) {
        let mut variance = self.share * Enclosure::from(products.of_weights);
        if self.covariance.ridge > 0.0 {
            variance += dot(w, w) * Enclosure::from(self.covariance.ridge);
        }
        let moved =
            constraints.turnover.as_ref().filter(|turnover| turnover.price > 0.0).map(|turnover| {
                Constraints::turnover_enclosed(turnover, w) * Enclosure::from(turnover.price)
            });
        (variance.upper(), moved.map_or(variance, |moved| variance + moved).upper())
    }

    /// The bound that products and multipliers give; 0, which no objective is below, where they give none.
    pub(crate) fn bound(
        &self,
        products: &Products,
        multipliers: &Multipliers,
        constraints: &Constraints,
    ) -> f64 {
        let lambda = multipliers.admissible(constraints);
        let mut total = Sum::default();
        total.add_enclosure(-(self.share * products.square));
        total.add_enclosure(Enclosure::product(-lambda.budget, constraints.budget));
        if let Some(target) = constraints.target_return {
            total.add_enclosure(Enclosure::product(-lambda.target_return, target));
        }
        for (group, &lambda) in constraints.groups.iter().zip(&lambda.groups) {
            let end = if lambda > 0.0 { group.upper } else { group.lower };
            if lambda != 0.0 {
                total.add_enclosure(Enclosure::product(-lambda, end));
            }
        }
        let mut price = Enclosure::from(0.0);
        if let Some(turnover) = &constraints.turnover {
            price = Enclosure::from(turnover.price) + Enclosure::from(lambda.turnover);
            if lambda.turnover > 0.0 {
                total.add_enclosure(Enclosure::product(-lambda.turnover, turnover.limit));
            }
        }
        let current = constraints.turnover.as_ref().map(|turnover| turnover.current.as_slice());
        let double = self.share + self.share;
        let (share, mean) = (double.centre(), self.returns.mean());
        let (mut grouped, mut sizes) = (vec![0.0; mean.len()], vec![0.0_f64; mean.len()]);
        for (group, lambda) in constraints.groups.iter().zip(&lambda.groups) {
            group
                .members
                .iter()
                .for_each(|&j| (grouped[j], sizes[j]) = (grouped[j] + lambda, sizes[j] + lambda.abs()));
        }
        let rounds = 16.0 + 2.0 * constraints.groups.len() as f64;
        for j in 0..mean.len() {
            let value = products.values[j];
            let error = above(products.charge * self.norms[j] + products.lost);
            // In plain arithmetic first: what is clearly above 0 is worth nothing at a lower limit of 0.
            let of_return = lambda.target_return * mean[j];
            let plain = share * value + lambda.budget + of_return + grouped[j];
            let size = (share * value).abs() + lambda.budget.abs() + of_return.abs() + sizes[j];
            let radius =
                above(above(share * error * 1.001) + rounds * f64::EPSILON * size + f64::MIN_POSITIVE);
            if current.is_none() && self.lower[j] == 0.0 && plain > radius {
                continue;
            }
            let mut slope = double * Enclosure::around(value, error) + Enclosure::from(lambda.budget);
            slope += Enclosure::product(lambda.target_return, mean[j]);
            if sizes[j] > 0.0 {
                slope += Enclosure::around(grouped[j], above(rounds * f64::EPSILON * sizes[j]));
            }
            let least = self.least(j, slope, price, current.map(|current| current[j]));
            if least == f64::NEG_INFINITY {
                return 0.0;
            }
            total.add(least);
        }
        let bound = total.value().lower();
        // No variance is negative, and no change earns anything.
        if bound.is_nan() { 0.0 } else { bound.max(0.0) }
    }

    /// The least of `t z + rho z^2 + kappa |z - c|` over the bounds of a weight and every t of an enclosure.
    fn least(&self, j: usize, slope: Enclosure, price: Enclosure, current: Option<f64>) -> f64 {
        let (lower, upper) = (self.lower[j], self.upper[j]);
        let Some(c) = current else { return self.least_on(slope, lower, upper) };
        let worth = price * Enclosure::from(c);
        let mut least = f64::INFINITY;
        if lower < c {
            let below = self.least_on(slope - price, lower, upper.min(c));
            least = least.min((Enclosure::from(below) + worth).lower());
        }
        if upper > c {
            let above = self.least_on(slope + price, lower.max(c), upper);
            least = least.min((Enclosure::from(above) - worth).lower());
        }
        if least == f64::INFINITY {
            // Both limits are c.
            least = (slope * Enclosure::from(c)
                + Enclosure::from(c).square() * Enclosure::from(self.covariance.ridge))
            .lower();
        }
        if least.is_nan() { f64::NEG_INFINITY } else { least }
    }

    /// The least of `t z + rho z^2` over an interval and every t of an enclosure.
    fn least_on(&self, slope: Enclosure, lower: f64, upper: f64) -> f64 {
        let (a, b) = (slope.lower(), slope.upper());
        if !(a.is_finite() && b.is_finite()) {
            return f64::NEG_INFINITY;
        }
        // Concave in t: the least is at one of the ends.
        self.least_at(a, lower, upper).min(self.least_at(b, lower, upper))
    }

    fn least_at(&self, t: f64, lower: f64, upper: f64) -> f64 {
        if self.covariance.ridge == 0.0 {
            let bound = if t > 0.0 { lower } else { upper };
            return match () {
                () if t == 0.0 => 0.0,
                () if bound.is_infinite() => f64::NEG_INFINITY,
                () => Enclosure::product(t, bound).lower(),
            };
        }
        let rho = Enclosure::from(self.covariance.ridge);
        let derivative = |v: f64| Enclosure::from(t) + rho * Enclosure::from(v) + rho * Enclosure::from(v);
        let value = |v: f64| (Enclosure::product(t, v) + rho * Enclosure::from(v).square()).lower();
        if lower.is_finite() && derivative(lower).lower() >= 0.0 {
            value(lower)
        } else if upper.is_finite() && derivative(upper).upper() <= 0.0 {
            value(upper)
        } else {
            // The least over all z, which is no more.
            -(Enclosure::product(t, t).over(rho).half().half().upper())
        }
    }
}
