//! A point that misses `A x = b` by little, made feasible.
//!
//! Coordinates within a tolerance of a bound are put on it; the free ones then take the shortest move that closes the rows,
//!
//! ```text
//! minimise ||s||  subject to  A_F s = b - A z ,
//! ```
//!
//! by an orthogonal factorisation of the scaled `A_F` with pivots, which finds its rank; those that meet a bound stay there, and
//! what is left is closed again. A row whose coordinates are all 0 up to rounding holds only when they are exactly 0: no
//! nearness of the whole point helps it.
//!
//! - Given: independent rows, bounds, and a point within them.
//! - Returns: a feasible point, of all tolerances' the one that misses least; `None` where none becomes feasible.
//! - Must not know: where the point comes from.

use faer::Mat;

use super::start::Domain;
use crate::control::{Control, Pass};
use crate::coupling::{ALLOWED_SHARE, Coupling};
use crate::matrix::max_abs;
use crate::separable::SeparableTerm;

/// How near a bound counts as on it, as a share of the largest coordinate, one after the other.
const NEAR_BOUND: [f64; 9] = [0.0, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6];
/// How often what is left is closed.
const MOST_MOVES: usize = 8;
/// Products of two numbers that all factorisations together may cost.
const MOST_PRODUCTS: usize = 1 << 30;
/// The share of a row's size at which it may be missed to begin with: farther points are not a matter of rounding.
const NEAR_ROWS: f64 = 1e-4;
/// The share of the largest pivot below which what is left of a row is rounding.
const DEPENDENCE: f64 = 1e-11;

/// The point made feasible, where its coordinates on bounds are known by one of the tolerances.
pub(super) fn repaired(
    coupling: &Coupling,
    domain: &Domain<'_>,
    z: &[f64],
    control: &Control,
) -> Pass<Option<Vec<f64>>> {
    let norms = coupling.row_norms_within(z.len(), control)?;
    if !is_near(coupling, &norms, z, control)? {
        return Ok(None);
    }
    let mut repair = Repair { coupling, domain, norms, factor: None, products: MOST_PRODUCTS, control };
    let mut best: (f64, Option<Vec<f64>>) = (0.5 * ALLOWED_SHARE, None);
    let mut last = Vec::new();
    for tolerance in NEAR_BOUND {
        let begin = at_bounds(domain, z, tolerance);
        if begin == last {
            continue;
        }
        last.clone_from(&begin);
        let (missed, found) = repair.closed(begin)?;
        if missed <= best.0 {
            best = (missed, Some(found));
        }
        if missed <= 1e-3 * ALLOWED_SHARE {
            break;
        }
    }
    Ok(best.1)
}

/// Whether every row is missed by little of what its coefficients make of coordinates as large as the largest.
fn is_near(coupling: &Coupling, norms: &[f64], z: &[f64], control: &Control) -> Pass<bool> {
    let mut missing = vec![0.0; norms.len()];
    coupling.residual_within(z, &mut missing, control)?;
    let size = max_abs(z);
    let rows = missing.iter().zip(norms.iter().zip(coupling.rhs()));
    Ok(rows.into_iter().all(|(r, (norm, b))| r.abs() <= NEAR_ROWS * (norm * size + b.abs())))
}

/// The point with every coordinate on a bound that it is near, or beyond.
pub(super) fn at_bounds(domain: &Domain<'_>, z: &[f64], tolerance: f64) -> Vec<f64> {
    let near = tolerance * max_abs(z);
    let snap = |c: usize, z: f64| {
        let (lower, upper) = domain.domain(c);
        if z - lower <= near {
            lower
        } else if upper - z <= near {
            upper
        } else {
            z
        }
    };
    z.iter().enumerate().map(|(c, &z)| snap(c, z)).collect()
}

/// One repair on its way.
struct Repair<'a> {
    coupling: &'a Coupling,
    domain: &'a Domain<'a>,
    norms: Vec<f64>,
    /// Of the free coordinates that were last asked for.
    factor: Option<(Vec<usize>, Factor)>,
    /// What further factorisations may cost.
    products: usize,
    control: &'a Control,
}

impl Repair<'_> {
    /// The point after its moves, and what it misses.
    fn closed(&mut self, mut z: Vec<f64>) -> Pass<(f64, Vec<f64>)> {
        let mut missing = vec![0.0; self.norms.len()];
        let mut free: Vec<usize> = (0..z.len()).filter(|&c| self.is_inside(c, z[c])).collect();
        let mut best = (self.coupling.miss_within(&z, self.control)?.relative, z.clone());
        for _ in 0..MOST_MOVES {
            if best.0 <= 1e-3 * ALLOWED_SHARE || !self.factored(&free)? {
                break;
            }
            self.coupling.residual_within(&z, &mut missing, self.control)?;
            missing.iter_mut().zip(&self.norms).for_each(|(r, norm)| *r /= -norm.max(f64::MIN_POSITIVE));
            let Some((_, factor)) = &self.factor else { break };
            for (&c, step) in free.iter().zip(factor.shortest(&missing)) {
                let (lower, upper) = self.domain.domain(c);
                z[c] = (z[c] + step).max(lower).min(upper);
            }
            free.retain(|&c| self.is_inside(c, z[c]));
            let missed = self.coupling.miss_within(&z, self.control)?.relative;
            if missed < best.0 {
                best = (missed, z.clone());
            }
        }
        Ok(best)
    }

    fn is_inside(&self, c: usize, z: f64) -> bool {
        let (lower, upper) = self.domain.domain(c);
        lower < z && z < upper
    }

    /// Whether there is a factor of these coordinates' columns.
    fn factored(&mut self, free: &[usize]) -> Pass<bool> {
        if self.factor.as_ref().is_some_and(|(of, _)| of == free) {
            return Ok(true);
        }
        self.control.check()?;
        let m = self.norms.len();
        let products = free.len().saturating_mul(m).saturating_mul(free.len().min(m));
        if free.is_empty() || products > self.products {
            return Ok(false);
        }
        self.products -= products;
        let mut scaled = Mat::zeros(free.len(), m);
        for (k, &c) in free.iter().enumerate() {
            self.coupling
                .for_each_in_column(c, |r, a| scaled[(k, r)] = a / self.norms[r].max(f64::MIN_POSITIVE));
        }
        self.factor = Some((free.to_vec(), Factor::of(&scaled)));
        Ok(true)
    }
}

/// `A_F' P' = Q R`.
struct Factor {
    q: Mat<f64>,
    r: Mat<f64>,
    /// The row of A at each place.
    order: Vec<usize>,
    rank: usize,
}

impl Factor {
    fn of(columns: &Mat<f64>) -> Self {
        let factor = columns.col_piv_qr();
        let (q, r) = (factor.compute_thin_Q(), factor.thin_R().to_owned());
        let order = factor.P().arrays().0.to_vec();
        let places = r.nrows().min(r.ncols());
        let largest = if places == 0 { 0.0 } else { r[(0, 0)].abs() };
        let rank = (0..places).take_while(|&k| r[(k, k)].abs() > DEPENDENCE * largest).count();
        Self { q, r, order, rank }
    }

    /// The shortest s with `A_F s` equal to this in as many rows as are independent: `Q R'^-1 P`.
    fn shortest(&self, wanted: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; self.rank];
        for k in 0..self.rank {
            let known: f64 = (0..k).map(|j| self.r[(j, k)] * y[j]).sum();
            y[k] = (wanted[self.order[k]] - known) / self.r[(k, k)];
        }
        (0..self.q.nrows()).map(|c| (0..self.rank).map(|k| self.q[(c, k)] * y[k]).sum()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Halt;
    use crate::matrix::Matrix;
    use crate::problem::NonsmoothView;
    use crate::separable::{NonNegative, Nonsmooth};

    /// `x0 - x1 = 0`, `x1 + x2 = 1`, `x2 + x3 - x4 = 1` over x >= 0.
    fn rows() -> Coupling {
        let rows = [[1.0, -1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0, -1.0]];
        Coupling::rows_of(Matrix::from_rows(&rows).expect("3 x 5"), vec![0.0, 1.0, 1.0]).expect("valid")
    }

    fn repaired_from(z: &[f64], control: &Control) -> Pass<Option<Vec<f64>>> {
        let h = Nonsmooth::Coordinates(NonNegative);
        let view: NonsmoothView<'_> = h.as_dyn();
        repaired(&rows(), &Domain(view), z, control)
    }

    #[test]
    fn coordinates_that_are_nearly_zero_are_put_there() {
        let near = [3e-10, 1e-10, 1.0 - 2e-10, 4e-10, 2e-10];
        let found = repaired_from(&near, &Control::unlimited()).expect("unlimited").expect("feasible");
        assert!(rows().miss(&found).relative <= 1e-3 * ALLOWED_SHARE, "{found:?}");
        assert!(found.iter().zip(near).all(|(z, near)| *z >= 0.0 && (z - near).abs() < 1e-8), "{found:?}");
    }

    #[test]
    fn what_is_far_from_its_rows_is_left() {
        let far = [0.5, 0.1, 0.9, 0.0, 0.0];
        assert_eq!(repaired_from(&far, &Control::unlimited()), Ok(None));
    }

    #[test]
    fn it_ends_between_two_factorisations() {
        let near = [3e-10, 1e-10, 1.0 - 2e-10, 4e-10, 2e-10];
        assert_eq!(repaired_from(&near, &Control::after_looks(0)), Err(Halt::Interrupted));
    }
}
