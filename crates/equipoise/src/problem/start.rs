//! A feasible start: found when none is given, checked when one is.
//!
//! The point of `{A x = b, x in the domain of h}` nearest to a given one is a pair step over all coordinates
//! at once with a shifted right-hand side; with many rows, or where that fails, it is sought from the interior. When there is no such point the error carries a witness y:
//! `y'A x < y'b` for every x in the domain.

use super::NonsmoothView;
use super::bounded_least_squares::{Outcome, bounded_least_squares};
use super::repair::{at_bounds, repaired};
use crate::control::{Control, Pass};
use crate::coupling::{ALLOWED_SHARE, Apart, Coupling, CouplingColumns, Members, Shape};
use crate::error::{Error, Result};
use crate::interior::{self, Program, Sought};
use crate::matrix::{check_finite_vector, check_length, max_abs};
use crate::pair_step::{DualWorkspace, Model, Rows, newton, one_row};
use crate::separable::{Nonsmooth, Piece, PieceTerm, SeparableTerm, Values};
use crate::smooth::Bend;

/// What a question to a term counts as, in numbers read.
const PER_COORDINATE: usize = 8;

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
pub(super) fn check(
    coupling: &Coupling,
    separable: NonsmoothView<'_>,
    x: &[f64],
    n: usize,
    control: &Control,
) -> Result<()> {
    check_length("start", "entries", x.len(), n)?;
    check_finite_vector("start", x)?;
    let mut outside = None;
    control.in_parts(n, PER_COORDINATE, |mut part| {
        let is_outside = |index: &usize| {
            let Piece { lower, upper, .. } = PieceTerm::piece(&Domain(separable), *index);
            x[*index] < lower || x[*index] > upper
        };
        outside = outside.or_else(|| part.find(is_outside));
    })?;
    if let Some(index) = outside {
        let Piece { lower, upper, .. } = PieceTerm::piece(&Domain(separable), index);
        return Err(Error::StartOutsideDomain { index, found: x[index], lower, upper });
    }
    match coupling.first_row_missed(x, control)? {
        Some((row, found, allowed)) => Err(Error::InfeasibleStart { row, found, allowed }),
        None => Ok(()),
    }
}

/// Rows from which on the interior comes first: other ways factor a dense matrix of that order many times.
const MANY_ROWS: usize = 20;
/// How near to nearest a point from the interior is, relative to its squared distance.
const NEAR: f64 = 1e-9;
/// How near a bound is that bound up to rounding, as a share of the largest coordinate.
const ROUNDING: f64 = 1e-13;

/// The feasible point nearest to `x`, for a coupling of independent rows.
pub(crate) fn project(
    coupling: &Coupling,
    separable: NonsmoothView<'_>,
    x: &[f64],
    control: &Control,
) -> Result<Vec<f64>> {
    project_from(coupling, separable, x, 3, control)
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
    let mut from = Vec::with_capacity(n);
    control.in_parts(n, PER_COORDINATE, |part| {
        from.extend(part.map(|c| SeparableTerm::prox(&domain, c, x[c], 1.0)));
    })?;
    let mut shift = vec![0.0; m];
    coupling.residual_within(&from, &mut shift, control)?;
    shift.iter_mut().for_each(|s| *s = -*s);
    if max_abs(&shift) == 0.0 {
        return Ok(from);
    }
    if let Some(apart) = coupling.apart(n)
        && let Some(z) = project_apart(coupling, &apart, &domain, &from, control)?
    {
        return Ok(z);
    }
    if m >= MANY_ROWS
        && let Some(z) = from_inside(coupling, &domain, &from, control)?
    {
        return Ok(z);
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
        control.check()?;
        settle_row(weights, &Members::All(n), coupling.rhs()[0], &domain, &mut z);
        if is_inside(&domain, &z, control)?
            && coupling.miss_within(&z, control)?.relative <= 0.5 * ALLOWED_SHARE
        {
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
        if supremum(coupling, &domain, &witness, n, control)?.value < needed - 1e-9 * size {
            return Err(empty_domain(coupling, &domain, witness, n, control)?);
        }
    }
    let inside = is_inside(&domain, &z, control)?;
    if inside && coupling.miss_within(&z, control)?.relative <= 1e-3 * ALLOWED_SHARE {
        return Ok(z);
    }
    // From far away the first projection is exact only relative to where it began, and Newton's method looks at all rows at
    // once: project what is left.
    if inside && projections > 0 {
        return project_from(coupling, separable, &z, projections - 1, control);
    }
    // What is a bound up to rounding is that bound: a row of such coordinates alone would not hold otherwise.
    let snapped = at_bounds(&domain, &z, ROUNDING);
    if coupling.miss(&snapped).relative <= 1e-3 * ALLOWED_SHARE {
        return Ok(snapped);
    }
    if m < MANY_ROWS
        && let Some(z) = from_inside(coupling, &domain, &from, control)?
    {
        return Ok(z);
    }
    // The dual method gives up where the feasible set has no interior; an active-set method decides.
    match bounded_least_squares(coupling, &domain, from, control)? {
        Outcome::Feasible(z) if z.iter().all(|z| z.is_finite()) => Ok(z),
        Outcome::Feasible(_) => Err(Error::NoFeasibleStart { missed: f64::INFINITY, allowed: ALLOWED_SHARE }),
        // What a rounding residual makes look infeasible is not.
        Outcome::Infeasible(_) if inside && coupling.miss(&z).relative <= 0.5 * ALLOWED_SHARE => Ok(z),
        Outcome::Infeasible(witness) if proves(coupling, &domain, &witness, n, control)? => {
            Err(empty_domain(coupling, &domain, witness, n, control)?)
        }
        // What looks infeasible without a proof of it may be a matter of rounding.
        Outcome::Infeasible(_) => {
            let missed = coupling.miss_within(&z, control)?.relative;
            let found = if inside { repaired(coupling, &domain, &z, control)? } else { None };
            found.ok_or(Error::NoFeasibleStart { missed, allowed: ALLOWED_SHARE })
        }
    }
}

/// The feasible point nearest to `from` where the rows share no coordinate: row by row. `None` where a row cannot be met.
fn project_apart(
    coupling: &Coupling,
    apart: &Apart,
    domain: &Domain<'_>,
    from: &[f64],
    control: &Control,
) -> Pass<Option<Vec<f64>>> {
    let mut z = from.to_vec();
    let mut workspace = one_row::Workspace::default();
    for (members, &rhs) in apart.members.iter().zip(coupling.rhs()) {
        control.check()?;
        let coordinates: Vec<usize> = members.iter().collect();
        let x: Vec<f64> = coordinates.iter().map(|&c| from[c]).collect();
        let row: Vec<f64> = coordinates.iter().map(|&c| apart.weights.at(c)).collect();
        let shift = rhs - row.iter().zip(&x).map(|(a, x)| a * x).sum::<f64>();
        let (gradient, metric, mut nearest) = (vec![0.0; x.len()], vec![1.0; x.len()], x.clone());
        let model = Model { coordinates: &coordinates, x: &x, gradient: &gradient, metric: &metric };
        let wanted = one_row::Row { coefficients: &row, shift };
        if !one_row::solve(&model, wanted, domain, 0.0, &mut workspace, &mut nearest).found {
            return Ok(None);
        }
        coordinates.iter().zip(&nearest).for_each(|(&c, nearest)| z[c] = *nearest);
        settle_row(&apart.weights, members, rhs, domain, &mut z);
    }
    let holds =
        is_inside(domain, &z, control)? && coupling.miss_within(&z, control)?.relative <= 0.5 * ALLOWED_SHARE;
    Ok(holds.then_some(z))
}

/// The feasible point nearest to `from`, by way of the interior; `None` where that does not lead to a feasible one. Where the
/// feasible set is thin the point from there is feasible only once it is on its bounds.
fn from_inside(
    coupling: &Coupling,
    domain: &Domain<'_>,
    from: &[f64],
    control: &Control,
) -> Pass<Option<Vec<f64>>> {
    let pieces = (0..from.len()).map(|c| PieceTerm::piece(domain, c)).collect();
    let linear = from.iter().map(|x| -x).collect();
    let program = Program { coupling, bends: vec![Bend::Diagonal(vec![1.0; from.len()])], linear, pieces };
    let Some(found) = interior::solve(&program, Sought::Points, NEAR, interior::MOST_PRODUCTS, control)?
    else {
        return Ok(None);
    };
    let candidates = found.into_candidates();
    for candidate in &candidates {
        let holds = coupling.miss_within(&candidate.x, control)?.relative <= 1e-2 * ALLOWED_SHARE;
        if holds && is_inside(domain, &candidate.x, control)? {
            return Ok(Some(candidate.x.clone()));
        }
    }
    for candidate in &candidates {
        if let Some(z) = repaired(coupling, domain, &candidate.x, control)? {
            return Ok(Some(z));
        }
    }
    Ok(None)
}

/// Whether every coordinate is a number in its domain.
fn is_inside(domain: &Domain<'_>, z: &[f64], control: &Control) -> Pass<bool> {
    let mut inside = true;
    control.in_parts(z.len(), PER_COORDINATE, |mut part| {
        inside = inside && part.all(|c| z[c].is_finite() && SeparableTerm::value(domain, c, z[c]) == 0.0);
    })?;
    Ok(inside)
}

/// Gives what rounding left of `a'z - b` to coordinates that can take it.
fn settle_row(weights: &Values, members: &Members, rhs: f64, domain: &Domain<'_>, z: &mut [f64]) {
    let mut left = members.iter().map(|c| weights.at(c) * z[c]).sum::<f64>() - rhs;
    for c in members.iter() {
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
        let reachable = supremum(coupling, domain, &[sign], n, control)?.value;
        let needed = sign * coupling.rhs()[0];
        if reachable < needed - 1e-12 * (reachable.abs() + needed.abs()) {
            return Err(empty_domain(coupling, domain, vec![sign], n, control)?);
        }
    }
    Ok(())
}

/// The supremum of y'A x over the domain.
struct Supremum {
    value: f64,
    /// The sum of the sizes of what was added up.
    size: f64,
}

/// The supremum of y'A x over the domain. A pull of rounding size on an unbounded coordinate counts as none.
fn supremum(
    coupling: &Coupling,
    domain: &Domain<'_>,
    y: &[f64],
    n: usize,
    control: &Control,
) -> Pass<Supremum> {
    let mut sizes = vec![0.0; n];
    coupling.add_magnitudes(y, &mut sizes, control)?;
    let mut sum = Supremum { value: 0.0, size: 0.0 };
    control.in_parts(n, coupling.numbers_per_column() + PER_COORDINATE, |part| {
        for c in part {
            let (t, (lower, upper)) = (coupling.column_dot(c, y), domain.domain(c));
            let end = if t > 0.0 { upper } else { lower };
            if t != 0.0 && (end.is_finite() || t.abs() > 1e-9 * sizes[c]) {
                sum.value += t * end;
                sum.size += sizes[c] * end.abs();
            }
        }
    })?;
    Ok(sum)
}

/// Whether y'A x stays below y'b over the domain, by more than rounding makes of the sums.
fn proves(coupling: &Coupling, domain: &Domain<'_>, y: &[f64], n: usize, control: &Control) -> Pass<bool> {
    let reached = supremum(coupling, domain, y, n, control)?;
    let needed: f64 = coupling.rhs().iter().zip(y).map(|(b, y)| b * y).sum();
    let size: f64 = reached.size + coupling.rhs().iter().zip(y).map(|(b, y)| (b * y).abs()).sum::<f64>();
    let rounding = (n + 2 * y.len()) as f64 * f64::EPSILON * size;
    Ok(reached.value + rounding < needed)
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
    let reachable = supremum(coupling, domain, &witness, n, control)?.value;
    Ok(Error::EmptyDomain { reachable, needed, witness })
}
