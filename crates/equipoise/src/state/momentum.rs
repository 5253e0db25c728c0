//! An iterate with momentum, in the lazy form that moves two blocks at a time.
//!
//! The method keeps two points, x and z, and takes its gradients at a third:
//!
//! ```text
//! a = (1 + sqrt(1 + 4 nu A)) / (2 nu);  A' = A + a;  y = (A x + a z) / A'
//! g = the step of the pair at y;  x' = y - g;  z' = z - a g;  A = A'
//! ```
//!
//! Done literally, y would cost a pass over all coordinates. With `x = z + c u` it does not: `y = z + (1 - a/A') c u`,
//! and the step changes z and u in the pair alone: `c' = (1 - a/A') c`, `u' = u + (a - 1)/c' g`, `z' = z - a g`. The
//! first step has a = A', where u is 0 and c may be anything. c falls like `1/k^2`; long before it underflows u takes
//! it up. What f keeps in step is linear in x and treated in the same way.
//!
//! To the pair updates this is an [`Iterate`] like any other: they read y and say where it is to go.
//! Must not know: which pair comes next, why a run starts again.
//!
//! Reference: Nesterov 2012; Lee and Sidford 2013 for the lazy form.

use std::ops::Range;

use super::{Iterate, Role, State};
use crate::archive::Archive;
use crate::error::Result;
use crate::smooth::{PairTerm, Reads};

/// Below this u takes c up.
const SMALL: f64 = 1e-10;

/// x, z and y of the method, by pairs.
#[derive(Debug, Clone)]
pub(crate) struct Momentum {
    z: State,
    u: State,
    /// y and its product; only what was fetched in this update is fresh.
    y: State,
    nu: f64,
    /// A.
    total: f64,
    /// c.
    share: f64,
    /// a of the update under way.
    weight: f64,
    /// `(1 - a/A') c` of the update under way.
    pull: f64,
    /// `(a - 1)/c'` of the update under way.
    push: f64,
    /// Whether all of y's product is fresh.
    whole: bool,
}

impl Momentum {
    /// At rest at x, with the constant nu of the graph.
    pub(crate) fn new<F: PairTerm>(f: &F, at: &State, nu: f64) -> Self {
        let rest = State { x: vec![0.0; at.x.len()], product: vec![0.0; f.product_len()] };
        Self {
            z: at.clone(),
            u: rest,
            y: at.clone(),
            nu,
            total: 0.0,
            share: 1.0,
            weight: 0.0,
            pull: 0.0,
            push: 0.0,
            whole: false,
        }
    }

    /// Comes to rest at a point whose product is exact.
    pub(crate) fn rest_at(&mut self, at: &State) {
        self.z.x.copy_from_slice(&at.x);
        self.z.product.copy_from_slice(&at.product);
        self.u.x.fill(0.0);
        self.u.product.fill(0.0);
        (self.total, self.share) = (0.0, 1.0);
    }

    /// nu.
    pub(crate) fn nu(&self) -> f64 {
        self.nu
    }

    /// Changes nu; only at rest.
    pub(crate) fn set_nu(&mut self, nu: f64) {
        self.nu = nu;
    }

    /// A: the bound on the suboptimality is `||x0 - x*||^2 / (2 A)` in the norm of the graph.
    #[cfg(test)]
    pub(crate) fn total(&self) -> f64 {
        self.total
    }

    /// x with its product, as kept in step.
    pub(crate) fn write_to(&self, out: &mut State) {
        let combine = |out: &mut [f64], z: &[f64], u: &[f64]| {
            out.iter_mut().zip(z.iter().zip(u)).for_each(|(out, (z, u))| *out = z + self.share * u);
        };
        combine(&mut out.x, &self.z.x, &self.u.x);
        combine(&mut out.product, &self.z.product, &self.u.product);
    }

    /// Shows an archive everything but y, of which nothing is fresh between updates.
    pub(crate) fn carry(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        self.z.carry(archive)?;
        self.u.carry(archive)?;
        [&mut self.nu, &mut self.total, &mut self.share]
            .into_iter()
            .try_for_each(|number| archive.number(number))
    }

    /// Moves y in coordinate c by delta: x by as much, z by a times as much.
    #[inline]
    fn shift<F: PairTerm>(&mut self, f: &F, c: usize, delta: f64) {
        if delta == 0.0 {
            return;
        }
        let (of_z, of_u) = (self.weight * delta, -self.push * delta);
        self.z.x[c] += of_z;
        self.u.x[c] += of_u;
        if f.product_len() > 0 {
            f.add_to_product(c, of_z, &mut self.z.product);
            f.add_to_product(c, of_u, &mut self.u.product);
        }
    }

    /// `u <- c u, c <- 1`: the same x and z.
    #[cold]
    fn rebase(&mut self) {
        self.u.x.iter_mut().chain(&mut self.u.product).for_each(|u| *u *= self.share);
        self.share = 1.0;
    }
}

impl Iterate for Momentum {
    /// y.
    #[inline]
    fn x(&self) -> &[f64] {
        &self.y.x
    }

    #[inline]
    fn product(&self) -> &[f64] {
        &self.y.product
    }

    #[inline]
    fn begin(&mut self, _i: usize, _j: usize) -> bool {
        self.weight = 0.5 * (1.0 + (1.0 + 4.0 * self.nu * self.total).sqrt()) / self.nu;
        let total = self.total + self.weight;
        let kept = self.total / total;
        self.total = total;
        self.pull = kept * self.share;
        self.share = if kept == 0.0 { 1.0 } else { self.pull };
        self.push = (self.weight - 1.0) / self.share;
        self.whole = false;
        true
    }

    #[inline]
    fn fetch<F: PairTerm>(&mut self, f: &F, _role: Role, coordinates: impl Iterator<Item = usize>) {
        let pull = self.pull;
        for c in coordinates {
            self.y.x[c] = self.z.x[c] + pull * self.u.x[c];
            if self.whole {
                continue;
            }
            let (y, z, u) = (&mut self.y, &self.z, &self.u);
            let mut combine_products = || {
                let parts = z.product.iter().zip(&u.product);
                y.product.iter_mut().zip(parts).for_each(|(y, (z, u))| *y = z + pull * u);
            };
            match f.reads(c) {
                Reads::Entries(list) => {
                    for &k in list {
                        let k = k as usize;
                        y.product[k] = z.product[k] + pull * u.product[k];
                    }
                }
                Reads::Product => {
                    combine_products();
                    self.whole = true;
                }
                Reads::Everything => {
                    combine_products();
                    y.x.iter_mut().zip(z.x.iter().zip(&u.x)).for_each(|(y, (z, u))| *y = z + pull * u);
                    self.whole = true;
                }
            }
        }
    }

    #[inline]
    fn set<F: PairTerm>(&mut self, f: &F, c: usize, z: f64) {
        self.shift(f, c, z - self.y.x[c]);
    }

    #[inline]
    fn exchange<F: PairTerm>(
        &mut self,
        f: &F,
        _row: usize,
        c: [usize; 2],
        _a: [f64; 2],
        z: [f64; 2],
    ) -> [f64; 2] {
        let moved = [z[0] - self.y.x[c[0]], z[1] - self.y.x[c[1]]];
        self.shift(f, c[0], moved[0]);
        self.shift(f, c[1], moved[1]);
        moved
    }

    #[inline]
    fn set_block<F: PairTerm>(&mut self, f: &F, _role: Role, range: Range<usize>, z: &[f64]) {
        for (c, z) in range.zip(z) {
            self.set(f, c, *z);
        }
    }

    #[inline]
    fn set_gathered<F: PairTerm>(&mut self, f: &F, coordinates: &[usize], _masters: usize, z: &mut [f64]) {
        for (&c, z) in coordinates.iter().zip(z.iter()) {
            self.set(f, c, *z);
        }
    }

    #[inline]
    fn end(&mut self) {
        if self.share < SMALL {
            self.rebase();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Control;
    use crate::matrix::Matrix;
    use crate::smooth::loss::Squared;
    use crate::smooth::{LeastSquares, SmoothTerm};

    /// The method as printed, every point in full, against the lazy form: the same steps g at the same y.
    #[test]
    fn the_lazy_form_makes_the_same_points() {
        let n = 6;
        let rows: Vec<Vec<f64>> =
            (0..9).map(|r| (0..n).map(|c| ((r * 7 + c * 3) % 5) as f64 - 2.0).collect()).collect();
        let f = LeastSquares::new(Matrix::from_rows(&rows).expect("rows"), vec![1.0; 9], Squared).expect("f");
        let unlimited = Control::unlimited();
        let start = State::new(&f, (0..n).map(|c| c as f64 - 2.5).collect(), &unlimited).expect("in memory");
        let nu = 5.0;
        let mut lazy = Momentum::new(&f, &start, nu);
        let (mut x, mut z, mut total) = (start.x.clone(), start.x.clone(), 0.0f64);
        let mut product = vec![0.0; 9];
        for k in 0..4000 {
            let pair = [k % n, (k * k + 1 + k / 7) % n];
            if pair[0] == pair[1] {
                continue;
            }
            let a = (1.0 + (1.0 + 4.0 * nu * total).sqrt()) / (2.0 * nu);
            let next = total + a;
            let y: Vec<f64> = x.iter().zip(&z).map(|(x, z)| (total * x + a * z) / next).collect();
            f.fill_product(&y, &mut product, &unlimited).expect("in memory");
            let slope = f.partial(pair[0], &y, &product) - f.partial(pair[1], &y, &product);
            let g = slope / 200.0;
            x.clone_from(&y);
            x[pair[0]] -= g;
            x[pair[1]] += g;
            z[pair[0]] -= a * g;
            z[pair[1]] += a * g;
            total = next;

            assert!(lazy.begin(pair[0], pair[1]));
            lazy.fetch(&f, Role::Master, pair.into_iter());
            let seen = pair.map(|c| f.partial(c, lazy.x(), lazy.product()));
            let move_by = (seen[0] - seen[1]) / 200.0;
            let to = [lazy.x()[pair[0]] - move_by, lazy.x()[pair[1]] + move_by];
            lazy.exchange(&f, 0, pair, [1.0; 2], to);
            lazy.end();
        }
        assert!((lazy.total() / total - 1.0).abs() < 1e-12);
        let mut found = start.clone();
        lazy.write_to(&mut found);
        let worst = found.x.iter().zip(&x).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-9, "{worst}");
        let mut again = found.clone();
        again.refresh(&f, &unlimited).expect("in memory");
        let drift = found.product.iter().zip(&again.product).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(drift < 1e-9, "{drift}");
    }
}
