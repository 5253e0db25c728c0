//! Bounds in exact arithmetic: the objective from above, the optimum from below.
//!
//! For every vector theta, and every lambda where there is a sum, by `1/2 omega z^2 >= theta z - theta^2 / (2 omega)`,
//!
//! ```text
//! f(v) >= - theta'y - sum_i theta_i^2 / (2 omega_i) + sum_j min over [l_j, u_j] of (x_j'theta + lambda) v + rho/2 v^2  - lambda s
//! ```
//!
//! at every v of the region. theta is the residual of a good point, but need not be: rounding in it costs sharpness, never
//! truth. Inner products are charged `|fl(a'b) - a'b| <= gamma_n ||a|| ||b||`, `gamma_n = n u / (1 - n u)`; the rest is summed
//! with enclosures. The objective: `||X w - y||` is within `gamma_k (||y|| + sum_j |w_j| ||x_j||)` of the norm of the computed
//! residual, k the number of its terms. Where these charges are more than what is asked for, residual and products are computed with
//! enclosures, too.
//!
//! - Given: data, a region, norms of the columns; theta, w. Returns: two numbers. Must not know: how w was found.

use equipoise::enclosure::{Enclosure, Sum, above, dot};

use super::Data;
use super::region::Region;

/// `n u / (1 - n u)`, from above; infinite where that says nothing.
fn gamma(n: usize) -> f64 {
    let nu = n as f64 * (f64::EPSILON / 2.0);
    if nu < 0.5 { above(nu / (1.0 - nu)) } else { f64::INFINITY }
}

/// A norm from above, from the computed sum of so many squares.
pub(super) fn norm_above(squares: f64, terms: usize) -> f64 {
    // Relative error gamma of the sum, at most twice that of the root; underflow of every square.
    let sum = squares + terms as f64 * f64::MIN_POSITIVE;
    above(sum.sqrt() * (1.0 + 2.0 * gamma(terms + 2)))
}

/// What proofs need to know of the data and the region, made once.
#[derive(Debug)]
pub(super) struct Ground<'a> {
    pub(super) data: Data<'a>,
    pub(super) ridge: f64,
    pub(super) sum: Option<f64>,
    /// Bounds that hold everywhere in the region.
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
    /// Norms of the columns, from above.
    pub(super) norms: Vec<f64>,
    /// Whether it is `v >= 0, sum v = s`.
    is_simplex: bool,
    /// The root of the largest sample weight, from above.
    heaviest: f64,
}

impl<'a> Ground<'a> {
    pub(super) fn new(data: Data<'a>, region: &Region, ridge: f64, squared_norms: &[f64]) -> Self {
        let (lower, upper) = region.implied();
        let sum = region.sum();
        let is_simplex = sum
            .is_some_and(|s| lower.iter().all(|l| *l == 0.0) && upper.iter().all(|u| *u >= s))
            && ridge == 0.0;
        let rows = data.matrix.rows();
        let norms = squared_norms.iter().map(|squares| norm_above(*squares, rows)).collect();
        let heaviest =
            data.weights.map_or(1.0, |weights| above(weights.iter().fold(0.0_f64, |a, b| a.max(*b)).sqrt()));
        Self { data, ridge, sum, lower, upper, norms, is_simplex, heaviest }
    }

    /// The root of the largest sample weight, from above.
    pub(super) fn heaviest(&self) -> f64 {
        self.heaviest
    }

    /// theta that goes with a residual: the gradient of the losses.
    pub(super) fn theta(&self, residual: &[f64]) -> Vec<f64> {
        match self.data.weights {
            None => residual.to_vec(),
            Some(weights) => residual.iter().zip(weights).map(|(r, weight)| r * weight).collect(),
        }
    }

    /// The objective at w from above; `residual` is what was computed of `X w - y`.
    pub(super) fn objective(&self, w: &[f64], y: &[f64], residual: &[f64]) -> f64 {
        let squares = match self.data.weights {
            None => dot(residual, residual),
            Some(weights) => {
                let mut sum = Sum::default();
                for (r, weight) in residual.iter().zip(weights) {
                    sum.add_enclosure(Enclosure::product(*r, *r) * Enclosure::from(*weight));
                }
                sum.value()
            }
        };
        let terms = w.iter().filter(|w| **w != 0.0).count() + 1;
        let y_norm = norm_above(equipoise::matrix::dot(y, y), y.len());
        let mut size = y_norm;
        w.iter().zip(&self.norms).for_each(|(w, norm)| size = above(size + w.abs() * norm));
        let missed = above(above(gamma(2 * terms) * size) * self.heaviest);
        let norm = above(squares.upper().max(0.0).sqrt());
        let half = (Enclosure::from(norm) + Enclosure::from(missed)).square().half();
        let ridge =
            if self.ridge > 0.0 { (dot(w, w) * Enclosure::from(self.ridge)).half() } else { 0.0.into() };
        (half + ridge).upper()
    }

    /// The same from a residual that is known with its errors: nothing is charged beyond these.
    pub(super) fn objective_enclosed(&self, w: &[f64], residual: &[Enclosure]) -> f64 {
        let mut sum = Sum::default();
        for (i, r) in residual.iter().enumerate() {
            let weight = self.data.weights.map_or(1.0, |weights| weights[i]);
            sum.add_enclosure(r.square() * Enclosure::from(weight));
        }
        if self.ridge > 0.0 {
            sum.add_enclosure(dot(w, w) * Enclosure::from(self.ridge));
        }
        sum.value().half().upper()
    }

    /// The bound that theta and its products with the columns, as computed, give; `-inf` where they give none.
    pub(super) fn bound(&self, theta: &[f64], products: &[f64], y: &[f64]) -> f64 {
        let rows = theta.len();
        let norm = norm_above(equipoise::matrix::dot(theta, theta), rows);
        // Products may also lose what underflows.
        let charge = above(gamma(rows) * norm);
        let lost = rows as f64 * f64::MIN_POSITIVE;
        let error = |j: usize| above(charge * self.norms[j] + lost);
        let around = |(j, product): (usize, &f64)| Enclosure::around(*product, error(j));
        self.bound_enclosed(theta, &products.iter().enumerate().map(around).collect::<Vec<_>>(), y)
    }

    /// The bound that theta gives, its products with the columns known with their errors.
    pub(super) fn bound_enclosed(&self, theta: &[f64], products: &[Enclosure], y: &[f64]) -> f64 {
        let mut total = Sum::default();
        total.add_enclosure(-dot(theta, y));
        total.add_enclosure(-self.half_square(theta));
        let lambda = self.lambda(products);
        if let Some(sum) = self.sum {
            total.add_enclosure(Enclosure::product(-lambda, sum));
        }
        for (j, product) in products.iter().enumerate() {
            let slope = *product + Enclosure::from(lambda);
            let least = self.least(j, slope);
            if least == f64::NEG_INFINITY {
                return least;
            }
            total.add(least);
        }
        total.value().lower()
    }

    /// `sum_i theta_i^2 / (2 omega_i)`.
    fn half_square(&self, theta: &[f64]) -> Enclosure {
        let Some(weights) = self.data.weights else { return dot(theta, theta).half() };
        let mut sum = Sum::default();
        for (theta, weight) in theta.iter().zip(weights).filter(|(theta, _)| **theta != 0.0) {
            sum.add_enclosure(Enclosure::product(*theta, *theta).over(Enclosure::from(*weight)).half());
        }
        sum.value()
    }

    /// The least of `t v + rho/2 v^2` over the bounds of a coordinate and every t of an enclosure.
    fn least(&self, j: usize, slope: Enclosure) -> f64 {
        let (a, b) = (slope.lower(), slope.upper());
        if !(a.is_finite() && b.is_finite()) {
            return f64::NEG_INFINITY;
        }
        // Concave in t: the least is at one of the ends.
        self.least_at(j, a).min(self.least_at(j, b))
    }

    fn least_at(&self, j: usize, t: f64) -> f64 {
        let (lower, upper) = (self.lower[j], self.upper[j]);
        if self.ridge == 0.0 {
            let bound = if t > 0.0 { lower } else { upper };
            return match () {
                () if t == 0.0 => 0.0,
                () if bound.is_infinite() => f64::NEG_INFINITY,
                () => Enclosure::product(t, bound).lower(),
            };
        }
        let rho = Enclosure::from(self.ridge);
        let derivative = |v: f64| Enclosure::from(t) + rho * Enclosure::from(v);
        let value = |v: f64| (Enclosure::product(t, v) + (rho * Enclosure::from(v).square()).half()).lower();
        if lower.is_finite() && derivative(lower).lower() >= 0.0 {
            value(lower)
        } else if upper.is_finite() && derivative(upper).upper() <= 0.0 {
            value(upper)
        } else {
            // The least over all v, which is no more.
            -(Enclosure::product(t, t).over(rho).half().upper())
        }
    }

    /// The multiplier of the sum for which the bound is best, in plain arithmetic.
    fn lambda(&self, products: &[Enclosure]) -> f64 {
        let Some(sum) = self.sum else { return 0.0 };
        if self.is_simplex {
            return -products.iter().map(|q| q.lower()).fold(f64::INFINITY, f64::min);
        }
        let products: Vec<f64> = products.iter().map(|q| q.centre()).collect();
        best_lambda(&products, &self.lower, &self.upper, self.ridge, sum)
    }
}

/// The lambda at which `sum_j v_j(lambda) = s`, `v_j` the minimiser of `(q_j + lambda) v + rho/2 v^2` over its bounds.
fn best_lambda(q: &[f64], lower: &[f64], upper: &[f64], ridge: f64, sum: f64) -> f64 {
    if ridge > 0.0 {
        // The sum falls as lambda rises: bisection.
        let at = |lambda: f64| -> f64 {
            (0..q.len()).map(|j| (-(q[j] + lambda) / ridge).clamp(lower[j], upper[j])).sum()
        };
        let size = q.iter().fold(1.0_f64, |a, b| a.max(b.abs())) + ridge * (1.0 + sum.abs());
        let (mut low, mut high) = (-size, size);
        for _ in 0..200 {
            if at(low) >= sum {
                break;
            }
            low *= 2.0;
        }
        for _ in 0..200 {
            if at(high) <= sum {
                break;
            }
            high *= 2.0;
        }
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if at(middle) >= sum { low = middle } else { high = middle }
        }
        return 0.5 * (low + high);
    }
    // v_j falls from u_j to l_j as lambda passes -q_j: the breakpoint at which the sum passes s.
    let mut order: Vec<usize> = (0..q.len()).collect();
    order.sort_unstable_by(|&a, &b| q[b].total_cmp(&q[a]));
    let endless = upper.iter().filter(|u| u.is_infinite()).count();
    let mut finite: f64 = upper.iter().filter(|u| u.is_finite()).sum();
    let mut left = endless;
    for &j in &order {
        if upper[j].is_infinite() {
            left -= 1;
        } else {
            finite -= upper[j];
        }
        finite += lower[j];
        if left == 0 && finite <= sum {
            return -q[j];
        }
    }
    order.last().map_or(0.0, |&j| -q[j])
}
