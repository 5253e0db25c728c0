//! Where the first proximal point begins: a dual point that belongs to x, and scales that fit it.
//!
//! ```text
//! u = W Z x ,     sigma = (what a coordinate may move) / (how far its slope is from what it rests at) ,  means of those that are off
//! ```
//!
//! Near the optimum few coordinates are off, and by little: few are looked at, and sigma is large.
//!
//! Where somebody knows the dual point better than x does it is that, and sigma is NEAR over the mean curvature of single coordinates:
//! these answer to it as they would without a proximal term.
//!
//! Must not know: who moved x before.

use std::ops::Range;

use super::ProximalNewton;
use crate::separable::SeparableTerm;
use crate::smooth::Factored;

/// The band of the first proximal point, in shares of how far the slope of a coordinate is from what it rests at, at most.
const FIRST_BAND: f64 = 4.0;
/// sigma over what the coordinates' own curvature makes of it, where the dual point is known.
const NEAR: f64 = 1e3;

impl<H: SeparableTerm> ProximalNewton<'_, H> {
    /// The dual point that belongs to x, and a sigma that fits the scales of x and of the gradient.
    pub(super) fn begin(&mut self, x: &[f64]) {
        let n = self.dimension;
        self.u = vec![0.0; self.factored.rank()];
        let mut product = vec![0.0; self.factored.rank()];
        self.product_of(x, &mut product);
        self.objective = self.objective_at(x, &product);
        self.u.iter_mut().enumerate().for_each(|(k, u)| *u = self.factored.weight(k) * product[k]);
        self.product = product;
        let known = std::mem::take(&mut self.known);
        let is_known = known.len() == self.u.len() && !known.is_empty();
        if is_known {
            self.u = known;
        }
        self.slopes.resize(x.len(), 0.0);
        self.refresh_slopes();
        let mut sums = [0.0; 5];
        self.team.add(x.len(), &mut sums, |range, sums| self.add_scales(range, x, sums));
        let [width, bounded, violation, reach, violators] = sums;
        let largest = self.team.largest((0..x.len()).map(|c| self.violation(c, x).1).fold(0.0, f64::max));
        self.band = if largest > 0.0 { FIRST_BAND * largest } else { f64::INFINITY };
        let violation = (violation / violators.max(1.0)).sqrt();
        let reach = if 2.0 * bounded > n as f64 { width / bounded } else { (reach / n as f64).sqrt() };
        self.sigma = if violation > 0.0 && reach > 0.0 { reach / violation } else { 1.0 };
        if is_known {
            let own = |range: Range<usize>| range.map(|c| self.factored.own_curvature(c)).sum();
            let mean = self.team.sum(x.len(), own) / n as f64;
            self.sigma = if mean > 0.0 { NEAR / mean } else { self.sigma };
            self.band = f64::INFINITY;
        }
        self.system.sample_coarsely();
    }

    /// The slope at coordinate c, and how far it is from what the coordinate rests at.
    fn violation(&self, c: usize, x: &[f64]) -> (f64, f64) {
        let rows = self.coupling.column_dot(c, &self.lambda);
        let g = self.slopes[c] + self.factored.own_curvature(c) * x[c] + rows;
        let (lo, hi) = self.h.term().subdifferential(c, x[c]);
        (g, (g + (-g).max(lo).min(hi)).abs())
    }

    /// Adds up, over some coordinates: widths of bounds, how many have them, squared violations of optimality,
    /// squared distances that a coordinate alone may go, and how many violate.
    fn add_scales(&self, range: Range<usize>, x: &[f64], sums: &mut [f64]) {
        let [width, bounded, violation, reach, violators] = sums else { return };
        for c in range {
            let (g, miss) = self.violation(c, x);
            *violation += miss * miss;
            *violators += f64::from(u8::from(miss != 0.0));
            let (lower, upper) = self.h.term().domain(c);
            if upper - lower < f64::INFINITY {
                *width += upper - lower;
                *bounded += 1.0;
            }
            let curvature = self.view.smooth().curvature(c);
            *reach += if curvature > 0.0 { x[c] * x[c] + (g / curvature).powi(2) } else { x[c] * x[c] };
        }
    }
}
