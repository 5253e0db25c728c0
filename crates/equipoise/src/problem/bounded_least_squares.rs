//! `minimise 1/2 ||A x - b||^2` over bounds, by an active-set method: feasible, or a proof that nothing is.
//!
//! At the minimum with residual `r = b - A x` not zero, r itself separates: `r'A x < r'b` for every x within the
//! bounds. At most m variables are free at a time, and their columns are kept factored: a pivot costs `O(n m)`. It decides
//! the cases in which the dual method finds no interior. Where columns are so nearly dependent that this ends with a residual
//! which proves nothing, the search is made once more with a pseudo-inverse a pivot, for few enough rows. A control ends it
//! between two pivots.
//!
//! Reference: Stark and Parker 1995 (bounded-variable least squares).

use super::free_columns::FreeColumns;
use crate::control::{Control, Pass};
use crate::coupling::{ALLOWED_SHARE, Coupling};
use crate::matrix::{PseudoInverse, dot, max_abs};
use crate::separable::SeparableTerm;

/// Rows up to which a pseudo-inverse a pivot is affordable: each takes all eigenvalues of a matrix of that order.
const MOST_PSEUDO_INVERSE: usize = 100;
/// Steps with the last set of free variables, which take out what rounding left.
const REFINEMENTS: usize = 3;

/// What the bounds allow.
#[derive(Debug)]
pub(super) enum Outcome {
    /// A point within the bounds with A x = b.
    Feasible(Vec<f64>),
    /// A vector y with y'Ax < y'b for all x within the bounds.
    Infeasible(Vec<f64>),
}

pub(super) fn bounded_least_squares<T: SeparableTerm>(
    coupling: &Coupling,
    domain: &T,
    x: Vec<f64>,
    control: &Control,
) -> Pass<Outcome> {
    let found = search(coupling, domain, x.clone(), false, control)?;
    match &found {
        Outcome::Infeasible(witness)
            if coupling.rows() <= MOST_PSEUDO_INVERSE
                && !separates(coupling, domain, witness, x.len(), control)? =>
        {
            search(coupling, domain, x, true, control)
        }
        _ => Ok(found),
    }
}

/// Whether `y'Ax < y'b` for all x within the bounds.
fn separates<T: SeparableTerm>(
    coupling: &Coupling,
    domain: &T,
    y: &[f64],
    n: usize,
    control: &Control,
) -> Pass<bool> {
    let mut reach = 0.0;
    control.in_parts(n, coupling.numbers_per_column(), |part| {
        for c in part {
            let (t, (lower, upper)) = (coupling.column_dot(c, y), domain.domain(c));
            reach += if t == 0.0 { 0.0 } else { t * if t > 0.0 { upper } else { lower } };
        }
    })?;
    Ok(reach < dot(y, coupling.rhs()))
}

/// One search, with a factorisation that is kept up to date or with a pseudo-inverse a pivot.
fn search<T: SeparableTerm>(
    coupling: &Coupling,
    domain: &T,
    x: Vec<f64>,
    by_pseudo_inverse: bool,
    control: &Control,
) -> Pass<Outcome> {
    let mut search = Search::new(coupling, domain, x, control)?;
    search.by_pseudo_inverse = by_pseudo_inverse;
    for _ in 0..20 * (search.x.len() + coupling.rows()) {
        control.check()?;
        if !search.enter()? {
            break;
        }
        search.settle()?;
    }
    for _ in 0..REFINEMENTS {
        search.settle()?;
    }
    let Search { scale, best: (_, x), mut residual, .. } = search;
    if coupling.miss_within(&x, control)?.relative <= 0.5 * ALLOWED_SHARE {
        return Ok(Outcome::Feasible(x));
    }
    scaled_residual(coupling, &scale, &x, &mut residual, control)?;
    Ok(Outcome::Infeasible(residual.iter().zip(&scale).map(|(r, s)| r * s).collect()))
}

/// A point within the bounds on its way, with the variables that are free to move.
struct Search<'a, T> {
    coupling: &'a Coupling,
    domain: &'a T,
    control: &'a Control,
    /// One over the norm of every row.
    scale: Vec<f64>,
    x: Vec<f64>,
    free: Vec<usize>,
    is_free: Vec<bool>,
    /// The scaled columns of the free variables, in their order.
    columns: FreeColumns,
    /// Whether these are not kept, and every step takes a pseudo-inverse.
    by_pseudo_inverse: bool,
    /// `scale (b - A x)`.
    residual: Vec<f64>,
    /// The smallest residual so far, and its point.
    best: (f64, Vec<f64>),
}

impl<'a, T: SeparableTerm> Search<'a, T> {
    fn new(coupling: &'a Coupling, domain: &'a T, x: Vec<f64>, control: &'a Control) -> Pass<Self> {
        let norms = coupling.row_norms_within(x.len(), control)?;
        let mut search = Self {
            scale: norms.iter().map(|norm| 1.0 / norm.max(f64::MIN_POSITIVE)).collect(),
            free: Vec::new(),
            is_free: vec![false; x.len()],
            columns: FreeColumns::default(),
            by_pseudo_inverse: false,
            residual: vec![0.0; coupling.rows()],
            best: (f64::INFINITY, x.clone()),
            coupling,
            domain,
            control,
            x,
        };
        search.look()?;
        Ok(search)
    }

    /// The residual of x, and whether x is the best so far.
    fn look(&mut self) -> Pass {
        scaled_residual(self.coupling, &self.scale, &self.x, &mut self.residual, self.control)?;
        let size = max_abs(&self.residual);
        if size < self.best.0 {
            self.best.0 = size;
            self.best.1.copy_from_slice(&self.x);
        }
        Ok(())
    }

    /// Frees the variable that lowers the residual most; false where none does.
    fn enter(&mut self) -> Pass<bool> {
        let weighted: Vec<f64> = self.residual.iter().zip(&self.scale).map(|(r, s)| r * s).collect();
        let tolerance = 1e-14 * (1.0 + max_abs(&self.residual));
        let mut pulls: Vec<(f64, usize)> = Vec::new();
        self.control.in_parts(self.x.len(), self.coupling.numbers_per_column(), |part| {
            for c in part.filter(|&c| !self.is_free[c]) {
                let pull = self.coupling.column_dot(c, &weighted);
                let (lower, upper) = self.domain.domain(c);
                let movable = (pull > 0.0 && self.x[c] < upper) || (pull < 0.0 && self.x[c] > lower);
                if pull.abs() > tolerance && movable {
                    pulls.push((pull.abs(), c));
                }
            }
        })?;
        // What is left of the residual pulls at a combination of the free columns by rounding only: the next one, then.
        while let Some(place) = largest(&pulls) {
            let (_, c) = pulls.swap_remove(place);
            let mut column = vec![0.0; self.scale.len()];
            self.coupling.copy_column(c, &mut column);
            column.iter_mut().zip(&self.scale).for_each(|(a, s)| *a *= s);
            if self.by_pseudo_inverse || self.columns.push(column) {
                self.free.push(c);
                self.is_free[c] = true;
                return Ok(true);
            }
            if self.free.len() == self.scale.len() {
                // The free columns span everything.
                return Ok(false);
            }
            self.control.check()?;
        }
        Ok(false)
    }

    /// Moves the free variables to their least-squares values, dropping those that meet a bound on the way.
    fn settle(&mut self) -> Pass {
        while !self.free.is_empty() {
            self.control.check()?;
            let step = if self.by_pseudo_inverse {
                self.step_by_pseudo_inverse()
            } else {
                self.columns.nearest(&self.residual)
            };
            let (mut t, mut blocking) = (1.0, None);
            for (k, &c) in self.free.iter().enumerate() {
                let (lower, upper) = self.domain.domain(c);
                let bound = if step[k] > 0.0 { upper } else { lower };
                let room = if step[k] == 0.0 { f64::INFINITY } else { (bound - self.x[c]) / step[k] };
                if room < t {
                    (t, blocking) = (room.max(0.0), Some((k, bound)));
                }
            }
            self.free.iter().zip(&step).for_each(|(&c, step)| self.x[c] += t * step);
            if let Some((k, bound)) = blocking {
                let c = self.free.remove(k);
                if !self.by_pseudo_inverse {
                    self.columns.remove(k);
                }
                (self.x[c], self.is_free[c]) = (bound, false);
            }
            self.look()?;
            if blocking.is_none() {
                break;
            }
        }
        Ok(())
    }
}

impl<T> Search<'_, T> {
    /// The least step of the free variables to their least-squares values.
    fn step_by_pseudo_inverse(&self) -> Vec<f64> {
        let m = self.scale.len();
        let mut gram = vec![0.0; m * m];
        self.coupling.add_outers(self.free.iter().copied(), &mut gram);
        for c in 0..m {
            for r in c..m {
                gram[c * m + r] *= self.scale[c] * self.scale[r];
            }
        }
        let mut y = vec![0.0; m];
        PseudoInverse::new(&gram, m).apply(&self.residual, &mut y);
        y.iter_mut().zip(&self.scale).for_each(|(y, s)| *y *= s);
        self.free.iter().map(|&c| self.coupling.column_dot(c, &y)).collect()
    }
}

/// The place of the largest pull.
fn largest(pulls: &[(f64, usize)]) -> Option<usize> {
    (0..pulls.len()).max_by(|&a, &b| pulls[a].0.total_cmp(&pulls[b].0))
}

/// `scale (b - A x)`.
fn scaled_residual(
    coupling: &Coupling,
    scale: &[f64],
    x: &[f64],
    out: &mut [f64],
    control: &Control,
) -> Pass {
    coupling.residual_within(x, out, control)?;
    out.iter_mut().zip(scale).for_each(|(r, s)| *r *= -s);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Halt;
    use crate::matrix::Matrix;
    use crate::separable::Bounds;

    fn rows(rhs: Vec<f64>) -> Coupling {
        let matrix = Matrix::from_rows(&[[1.0, 1.0, 1.0], [1.0, -1.0, 0.0]]).expect("2 x 3");
        Coupling::rows_of(matrix, rhs).expect("valid")
    }

    fn searched(coupling: &Coupling, n: usize, control: &Control) -> Pass<Outcome> {
        let unit = Bounds::new(0.0, 1.0).expect("valid");
        bounded_least_squares(coupling, &unit, vec![0.0; n], control)
    }

    /// m rows whose only point in the unit box, to rounding, is a corner of it.
    fn corner(m: usize, n: usize) -> (Coupling, Vec<f64>) {
        let entry = |k: usize| ((k * 7919 + 13) % 1009) as f64 / 1009.0 - 0.5;
        let x: Vec<f64> = (0..n).map(|c| f64::from(u8::from((c * 5 + 3) % 7 < 3))).collect();
        let rows: Vec<Vec<f64>> = (0..m).map(|r| (0..n).map(|c| entry(r * n + c)).collect()).collect();
        let rhs = rows.iter().map(|row| dot(row, &x)).collect();
        (Coupling::rows_of(Matrix::from_rows(&rows).expect("rectangular"), rhs).expect("valid"), x)
    }

    #[test]
    fn a_corner_is_found_exactly() {
        let found = searched(&rows(vec![3.0, 0.0]), 3, &Control::unlimited()).expect("unlimited");
        let Outcome::Feasible(x) = found else { panic!("the corner (1, 1, 1) is feasible") };
        assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-12), "{x:?}");
    }

    #[test]
    fn a_witness_separates() {
        let coupling = rows(vec![3.5, 0.0]);
        let found = searched(&coupling, 3, &Control::unlimited()).expect("unlimited");
        let Outcome::Infeasible(y) = found else { panic!("at most 3 can be reached") };
        let reach: f64 = (0..3).map(|c| coupling.column_dot(c, &y).max(0.0)).sum();
        assert!(reach < y[0] * 3.5 - 1e-9);
    }

    #[test]
    fn many_pivots_lead_into_the_box() {
        for (m, n) in [(5, 12), (20, 60), (30, 31)] {
            let (coupling, _) = corner(m, n);
            let found = searched(&coupling, n, &Control::unlimited()).expect("unlimited");
            let Outcome::Feasible(x) = found else { panic!("{m} x {n}: a corner is feasible") };
            assert!(x.iter().all(|x| (0.0..=1.0).contains(x)), "{m} x {n}");
            assert!(coupling.miss(&x).is_feasible(), "{m} x {n}");
        }
    }

    #[test]
    fn a_pseudo_inverse_a_pivot_leads_there_as_well() {
        let unit = Bounds::new(0.0, 1.0).expect("valid");
        let (coupling, _) = corner(20, 60);
        let found = search(&coupling, &unit, vec![0.0; 60], true, &Control::unlimited()).expect("unlimited");
        let Outcome::Feasible(x) = found else { panic!("a corner is feasible") };
        assert!(coupling.miss(&x).is_feasible() && x.iter().all(|x| (0.0..=1.0).contains(x)));
    }

    #[test]
    fn it_ends_between_two_pivots() {
        let (coupling, _) = corner(20, 60);
        for looks in [0, 1, 5, 20] {
            let cut = searched(&coupling, 60, &Control::after_looks(looks));
            assert_eq!(cut.err(), Some(Halt::Interrupted), "{looks}");
        }
    }
}
