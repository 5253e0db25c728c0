//! The coordinates that one proximal point looks at: those that answer to small changes of the dual point.
//!
//! Everything that the inner loop reads lies here, side by side, so that a Newton step touches the rows of the set
//! and nothing else. What the coordinates left out answer is constant meanwhile; [`WorkingSet::missed`] counts those
//! for which that was wrong.

use super::ProximalNewton;
use super::newton_system::Free;
use crate::separable::SeparableTerm;
use crate::smooth::SmoothTerm;

/// Slope of the line that counts as zero, relative to the first.
const FLAT: f64 = 0.1;
/// Looks at the line in one search.
const MOST_LOOKS: usize = 30;

pub(super) struct WorkingSet {
    columns: Vec<u32>,
    /// `x_c / sigma`.
    center: Vec<f64>,
    /// `g_c`, now and at the beginning.
    g: Vec<f64>,
    first_g: Vec<f64>,
    /// `1 / (d_c + 1/sigma)`, empty where every `d_c` is 0.
    reciprocal: Vec<f64>,
    /// What the coordinates answer now.
    z: Vec<f64>,
    /// How `g_c` changes along the Newton direction.
    along: Vec<f64>,
    sigma: f64,
    dimension: usize,
    /// `|z - x|^2` of the coordinates left out, and of all.
    outside_moved: f64,
    pub(super) moved_squared: f64,
    /// `A z` of the coordinates left out, and of all.
    outside_rows: Vec<f64>,
    pub(super) rows_now: Vec<f64>,
    /// The coordinates that answer, with their `S_c`.
    pub(super) free: Free,
}

/// The answer of coordinate c and its derivative in `-g`.
#[inline]
fn answer<H: SeparableTerm>(h: &H, c: usize, center: f64, g: f64, reciprocal: f64) -> f64 {
    h.prox(c, (center - g) * reciprocal, 1.0 / reciprocal)
}

impl WorkingSet {
    /// The set for the proximal point of x at the present dual point; sets z and product of what is left out.
    pub(super) fn gather<F: SmoothTerm, H: SeparableTerm>(
        method: &ProximalNewton<'_, F, H>,
        x: &[f64],
        z: &mut [f64],
        product: &mut [f64],
    ) -> Self {
        let (n, sigma, m) = (x.len(), method.sigma, method.coupling.rows());
        let inverse = 1.0 / sigma;
        let mut set = Self {
            columns: Vec::new(),
            center: Vec::new(),
            g: Vec::new(),
            first_g: Vec::new(),
            reciprocal: Vec::new(),
            z: Vec::new(),
            along: Vec::new(),
            sigma,
            dimension: n,
            outside_moved: 0.0,
            moved_squared: 0.0,
            outside_rows: vec![0.0; m],
            rows_now: vec![0.0; m],
            free: Free::default(),
        };
        let (mut changed, mut amounts) = (Vec::new(), Vec::new());
        for c in 0..n {
            let g = method.slopes[c] + method.coupling.column_dot(c, &method.lambda);
            let reciprocal = 1.0 / (method.factored.own_curvature(c) + inverse);
            let center = x[c] * inverse;
            // A coordinate is out where it stays put although g changes by the band either way.
            let near = method.band == f64::INFINITY || {
                let up = answer(method.h, c, center, g - method.band, reciprocal);
                let down = answer(method.h, c, center, g + method.band, reciprocal);
                up != down
            };
            if near {
                set.columns.push(c as u32);
                set.center.push(center);
                set.g.push(g);
                set.reciprocal.push(reciprocal);
                set.z.push(z[c]);
            } else {
                let value = answer(method.h, c, center, g, reciprocal);
                if value != z[c] {
                    changed.push(c as u32);
                    amounts.push(value - z[c]);
                    z[c] = value;
                }
                set.outside_moved += (value - x[c]) * (value - x[c]);
                if value != 0.0 {
                    method.coupling.add_column(c, value, &mut set.outside_rows);
                }
            }
        }
        method.factored.add_columns(&changed, &amounts, product);
        set.first_g.clone_from(&set.g);
        set.along.resize(set.columns.len(), 0.0);
        set
    }

    /// The share of all coordinates that is looked at.
    pub(super) fn share(&self) -> f64 {
        self.columns.len() as f64 / self.dimension as f64
    }

    /// The answers at the present g, into z and the product; who answers; what moved.
    pub(super) fn answer<F: SmoothTerm, H: SeparableTerm>(
        &mut self,
        method: &ProximalNewton<'_, F, H>,
        z: &mut [f64],
        product: &mut [f64],
    ) {
        let h = method.h;
        self.free.clear();
        self.moved_squared = self.outside_moved;
        self.rows_now.clone_from(&self.outside_rows);
        let (mut changed, mut amounts) = (Vec::new(), Vec::new());
        for k in 0..self.columns.len() {
            let c = self.columns[k] as usize;
            let reciprocal = self.reciprocal[k];
            let (v, d) = ((self.center[k] - self.g[k]) * reciprocal, 1.0 / reciprocal);
            let value = h.prox(c, v, d);
            let slope = h.prox_slope(c, v, d);
            if slope > 0.0 {
                self.free.push(self.columns[k], slope * reciprocal);
            }
            if value != self.z[k] {
                changed.push(self.columns[k]);
                amounts.push(value - self.z[k]);
                self.z[k] = value;
                z[c] = value;
            }
            let moved = value - self.center[k] * self.sigma;
            self.moved_squared += moved * moved;
            if value != 0.0 {
                method.coupling.add_column(c, value, &mut self.rows_now);
            }
        }
        method.factored.add_columns(&changed, &amounts, product);
    }

    /// How g changes along the direction that the system holds.
    pub(super) fn look_along<F: SmoothTerm, H: SeparableTerm>(&mut self, method: &ProximalNewton<'_, F, H>) {
        let (du, dlambda) = method.system.solution();
        method.factored.dots(&self.columns, du, &mut self.along);
        for (along, &c) in self.along.iter_mut().zip(&self.columns) {
            *along += method.coupling.column_dot(c as usize, dlambda);
        }
    }

    /// The step along the direction at which the dual function is nearly flat.
    pub(super) fn line_search<F: SmoothTerm, H: SeparableTerm>(
        &self,
        method: &ProximalNewton<'_, F, H>,
        product: &[f64],
        z: &[f64],
    ) -> f64 {
        let (du, dlambda) = method.system.solution();
        let (mut constant, mut linear) = (0.0, 0.0);
        for (k, du) in du.iter().enumerate() {
            let weight = method.factored.weight(k);
            constant += du * (method.u[k] / weight - product[k]);
            linear += du * du / weight;
        }
        for ((d, b), now) in dlambda.iter().zip(method.coupling.rhs()).zip(&self.rows_now) {
            constant += d * (b - now);
        }
        let _ = z;
        // What the coordinates left out contribute is in product and rows; those of the set answer to t.
        let slope = |t: f64| {
            let mut sum = constant + t * linear;
            for k in 0..self.columns.len() {
                let c = self.columns[k] as usize;
                let along = self.along[k];
                let value = answer(method.h, c, self.center[k], self.g[k] + t * along, self.reciprocal[k]);
                sum -= (value - self.z[k]) * along;
            }
            sum
        };
        let first = constant;
        let (mut low, mut at_low, mut high) = (0.0, first, 1.0);
        let mut at_high = slope(high);
        if at_high.abs() <= FLAT * first.abs() {
            return 1.0;
        }
        let mut looks = 1;
        while at_high < 0.0 && high < 1e6 && looks < MOST_LOOKS {
            (low, at_low) = (high, at_high);
            high *= 2.0;
            at_high = slope(high);
            looks += 1;
            if at_high.abs() <= FLAT * first.abs() {
                return high;
            }
        }
        let mut t = high;
        while looks < MOST_LOOKS {
            let share = (-at_low / (at_high - at_low)).clamp(0.1, 0.9);
            t = low + (high - low) * share;
            let at_t = slope(t);
            looks += 1;
            if at_t.abs() <= FLAT * first.abs() {
                break;
            }
            if at_t < 0.0 {
                (low, at_low) = (t, at_t);
            } else {
                (high, at_high) = (t, at_t);
            }
        }
        t
    }

    /// Goes t along the direction.
    pub(super) fn advance(&mut self, t: f64) {
        self.g.iter_mut().zip(&self.along).for_each(|(g, along)| *g += t * along);
    }

    /// The largest change of any g since the set was made.
    pub(super) fn largest_move(&self) -> f64 {
        self.g.iter().zip(&self.first_g).map(|(g, first)| (g - first).abs()).fold(0.0, f64::max)
    }

    /// How many of the coordinates left out would answer otherwise by now.
    pub(super) fn missed<F: SmoothTerm, H: SeparableTerm>(
        &self,
        method: &ProximalNewton<'_, F, H>,
        x: &[f64],
        z: &[f64],
    ) -> usize {
        if self.columns.len() == x.len() {
            return 0;
        }
        let inverse = 1.0 / self.sigma;
        let mut inside = self.columns.iter().copied().peekable();
        let mut missed = 0;
        for c in 0..x.len() {
            if inside.next_if_eq(&(c as u32)).is_some() {
                continue;
            }
            let g = method.slopes[c] + method.coupling.column_dot(c, &method.lambda);
            let reciprocal = 1.0 / (method.factored.own_curvature(c) + inverse);
            missed += usize::from(answer(method.h, c, x[c] * inverse, g, reciprocal) != z[c]);
        }
        missed
    }
}
