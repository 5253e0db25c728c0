//! A feasible start: found when none is given, checked when one is.
//!
//! The point of `{A x = b, x in the domain of h}` nearest to a given one is a pair step over all coordinates
//! at once with a shifted right-hand side. When there is no such point the error carries a witness y:
//! `y'A x < y'b` for every x in the domain.

use super::NonsmoothView;
use super::bounded_least_squares::{Outcome, bounded_least_squares};
use crate::control::{Control, Pass};
use crate::coupling::{ALLOWED_SHARE, CouplingColumns};
use crate::coupling::{Coupling, Shape};
use crate::error::{Error, Result};
use crate::matrix::{check_finite_vector, check_length, max_abs};
use crate::pair_step::{DualWorkspace, Model, Rows, newton, one_row};
use crate::separable::{Nonsmooth, Piece, PieceTerm, SeparableTerm, Values};

/// The domain of a term, as bounds.
#[derive(Debug)]
pub(crate) struct Domain<'a>(pub(crate) NonsmoothView<'a>);

impl PieceTerm for Domain<'_> {
    fn dimension(&self) -> Option<usize> {
        None
    }
    #[inline]
    fn piece(&self, c: usize) -> Piece {
        match self.0 {
            Nonsmooth::Coordinates(h) => {
                let (lower, upper) = h.domain(c);
                Piece { lower, upper, ..Piece::FREE }
            }
            Nonsmooth::Groups(_) => Piece::FREE,
        }
    }
}

/// Refuses a start that is not finite, outside the domain, or off A x = b.
pub(super) fn check(coupling: &Coupling, separable: NonsmoothView<'_>, x: &[f64], n: usize) -> Result<()> {
    check_length("start", "entries", x.len(), n)?;
    check_finite_vector("start", x)?;
    for (index, &found) in x.iter().enumerate() {
        let Piece { lower, upper, .. } = PieceTerm::piece(&Domain(separable), index);
        if found < lower || found > upper {
            return Err(Error::StartOutsideDomain { index, found, lower, upper });
        }
    }
    match coupling.first_row_missed(x) {
        Some((row, found, allowed)) => Err(Error::InfeasibleStart { row, found, allowed }),
        None => Ok(()),
    }
}

/// The feasible point nearest to `x`, for a coupling of independent rows.
pub(crate) fn project(
    coupling: &Coupling,
    separable: NonsmoothView<'_>,
    x: &[f64],
    control: &Control,
) -> Result<Vec<f64>> {
    project_from(coupling, separable, x, 3, control)
}

fn largest_row(coupling: &Coupling, n: usize) -> f64 {
    coupling.row_norms(n).iter().copied().fold(0.0, f64::max) * (n as f64).sqrt()
}

fn project_from(
    coupling: &Coupling,
    separable: NonsmoothView<'_>,
    x: &[f64],
    projections: usize,
    control: &Control,
) -> Result<Vec<f64>> {
    let (n, m) = (x.len(), coupling.rows());
    let domain = Domain(separable);
    let from: Vec<f64> = (0..n).map(|c| SeparableTerm::prox(&domain, c, x[c], 1.0)).collect();
    let mut shift = vec![0.0; m];
    coupling.residual(&from, &mut shift);
    shift.iter_mut().for_each(|s| *s = -*s);
    if max_abs(&shift) == 0.0 {
        return Ok(from);
    }
    let coordinates: Vec<usize> = (0..n).collect();
    let (gradient, metric) = (vec![0.0; n], vec![1.0; n]);
    let model = Model { coordinates: &coordinates, x: &from, gradient: &gradient, metric: &metric };
    let mut z = from.clone();
    if let Shape::Row(weights) = coupling.shape() {
        check_one_row(coupling, &domain, n, control)?;
        let row: Vec<f64> = (0..n).map(|c| weights.at(c)).collect();
        let mut workspace = one_row::Workspace::default();
        one_row::solve(
            &model,
            one_row::Row { coefficients: &row, shift: shift[0] },
            &domain,
            0.0,
            &mut workspace,
            &mut z,
        );
        settle_row(weights, coupling.rhs()[0], &domain, &mut z);
        let inside = (0..n).all(|c| SeparableTerm::value(&domain, c, z[c]) == 0.0);
        if inside && coupling.miss(&z).relative <= 0.5 * ALLOWED_SHARE {
            return Ok(z);
        }
    } else {
        let mut lambda = vec![0.0; m];
        let mut workspace = DualWorkspace::default();
        let rows = Rows { columns: &CouplingColumns::new(coupling, &coordinates), shift: &shift };
        let stop = || control.halted().is_some();
        newton::solve(&model, rows, &domain, &mut lambda, &mut workspace, &mut z, &stop);
        control.check()?;
        // Where nothing is feasible the multipliers run away along a witness.
        let witness: Vec<f64> = lambda.iter().map(|lambda| -lambda).collect();
        let needed: f64 = coupling.rhs().iter().zip(&witness).map(|(b, y)| b * y).sum();
        let size: f64 = coupling.rhs().iter().zip(&witness).map(|(b, y)| (b * y).abs()).sum();
        if supremum(coupling, &domain, &witness, n, control)? < needed - 1e-9 * size {
            return Err(empty_domain(coupling, &domain, witness, n, control)?);
        }
    }
    let inside = (0..n).all(|c| SeparableTerm::value(&domain, c, z[c]) == 0.0);
    if inside && coupling.miss(&z).relative <= 1e-3 * ALLOWED_SHARE {
        return Ok(z);
    }
    // From far away the first projection is exact only relative to where it began: project what is left.
    if inside && projections > 0 && coupling.infeasibility(&z) <= 1e-9 * max_abs(x) * largest_row(coupling, n)
    {
        return project_from(coupling, separable, &z, projections - 1, control);
    }
    // The dual method gives up where the feasible set has no interior; an active-set method decides.
    match bounded_least_squares(coupling, &domain, from) {
        Outcome::Feasible(z) => Ok(z),
        // What a rounding residual makes look infeasible is not.
        Outcome::Infeasible(_) if inside && coupling.miss(&z).relative <= 0.5 * ALLOWED_SHARE => Ok(z),
        Outcome::Infeasible(witness) => Err(empty_domain(coupling, &domain, witness, n, control)?),
    }
}

/// Gives what rounding left of `a'z - b` to coordinates that can take it.
fn settle_row(weights: &Values, rhs: f64, domain: &Domain<'_>, z: &mut [f64]) {
    let mut left = (0..z.len()).map(|c| weights.at(c) * z[c]).sum::<f64>() - rhs;
    for c in 0..z.len() {
        let a = weights.at(c);
        if left == 0.0 {
            break;
        }
        let (lower, upper) = domain.domain(c);
        // Only within the domain: a bound that is met stays met.
        if a != 0.0 && z[c] > lower && z[c] < upper {
            let moved = (z[c] - left / a).max(lower).min(upper);
            left -= a * (z[c] - moved);
            z[c] = moved;
        }
    }
}

/// One row: the extreme values of a'x over the domain must enclose b.
fn check_one_row(coupling: &Coupling, domain: &Domain<'_>, n: usize, control: &Control) -> Result<()> {
    for sign in [1.0, -1.0] {
        let reachable = supremum(coupling, domain, &[sign], n, control)?;
        let needed = sign * coupling.rhs()[0];
        if reachable < needed - 1e-12 * (reachable.abs() + needed.abs()) {
            return Err(empty_domain(coupling, domain, vec![sign], n, control)?);
        }
    }
    Ok(())
}

/// The supremum of y'A x over the domain. A pull of rounding size on an unbounded coordinate counts as none.
fn supremum(coupling: &Coupling, domain: &Domain<'_>, y: &[f64], n: usize, control: &Control) -> Pass<f64> {
    let mut sizes = vec![0.0; n];
    coupling.add_magnitudes(y, &mut sizes, control)?;
    let reach = |c: usize| {
        let (t, (lower, upper)) = (coupling.column_dot(c, y), domain.domain(c));
        let end = if t > 0.0 { upper } else { lower };
        if t == 0.0 || (end.is_infinite() && t.abs() <= 1e-9 * sizes[c]) { 0.0 } else { t * end }
    };
    Ok((0..n).map(reach).sum())
}

fn empty_domain(
    coupling: &Coupling,
    domain: &Domain<'_>,
    mut witness: Vec<f64>,
    n: usize,
    control: &Control,
) -> Pass<Error> {
    let size = max_abs(&witness).max(f64::MIN_POSITIVE);
    witness.iter_mut().for_each(|y| *y /= size);
    let needed = coupling.rhs().iter().zip(&witness).map(|(b, y)| b * y).sum();
    Ok(Error::EmptyDomain { reachable: supremum(coupling, domain, &witness, n, control)?, needed, witness })
}
