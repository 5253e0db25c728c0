//! How many pieces a fit has, and its degrees of freedom.
//!
//! ```text
//! chain, grid, graph   pieces of equal coefficients, by the penalised differences that are 0; those at 0 are not counted as
//!                      degrees of freedom where the coefficients are penalised too
//! trend of order k     knots + 1 pieces; knots + k + 1 degrees of freedom
//! any D                dimension of { v : (D v)_r = 0 for every r with (D b)_r = 0 }
//! ```
//!
//! These are unbiased estimates of Stein's degrees of freedom (Tibshirani and Taylor 2012); with a design there are no more than
//! it has rows. Methods that come near the optimum without reaching it leave no difference at 0: one counts as 0 where, as a
//! share of the largest, it is at most 1e-9 or the share by which its multiplier is inside its box. At the optimum one of both
//! is 0.
//!
//! A fit that was ended has the pieces that can be counted in the time that is left, and none otherwise.
//!
//! Must not know: how b was found.

use equipoise::{Control, Pass};
use faer::Mat;

use super::design::Design;
use super::proof::Task;

/// What counts as 0, relative to the largest difference.
const SMALL: f64 = 1e-9;
/// The largest number of coefficients for which the null space of any D is looked for.
const MOST_COEFFICIENTS: usize = 1000;
/// The same for a fit that was ended.
const MOST_AT_ONCE: usize = 100;

/// The pieces of a fit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Pieces {
    pub(super) segments: Option<usize>,
    pub(super) degrees_of_freedom: Option<usize>,
    /// Where a piece of a chain begins.
    pub(super) breaks: Option<Vec<usize>>,
}

/// Which penalised differences are 0.
pub(super) fn ties(task: &Task<'_>, b: &[f64], z: &[f64], control: &Control) -> Pass<Vec<bool>> {
    let mut differences = Vec::with_capacity(task.d.rows());
    task.d.for_each_within(control, |_, columns, values| {
        differences.push(columns.iter().zip(values).map(|(c, value)| value * b[*c]).sum::<f64>());
    })?;
    let largest = differences.iter().fold(0.0_f64, |most, difference| most.max(difference.abs()));
    let is_tie = |r: usize| {
        let inside = z.get(r).map_or(0.0, |z| 1.0 - z.abs() / task.lambda);
        differences[r] == 0.0 || differences[r].abs() <= inside.max(SMALL) * largest
    };
    let mut ties = Vec::with_capacity(differences.len());
    control.in_parts(differences.len(), 4, |part| ties.extend(part.map(is_tie)))?;
    Ok(ties)
}

pub(super) fn count(
    task: &Task<'_>,
    b: &[f64],
    z: &[f64],
    (is_ended, control): (bool, &Control),
) -> Pass<Pieces> {
    let ties = ties(task, b, z, control)?;
    let most = if is_ended { MOST_AT_ONCE } else { MOST_COEFFICIENTS };
    let capped = |count: usize| match task.design {
        Design::Matrix(x) => count.min(x.rows()),
        _ => count,
    };
    let begins = |order: usize| {
        let ends = ties.iter().enumerate().filter(|(_, tie)| !**tie);
        ends.map(|(r, _)| r + order.div_ceil(2)).collect::<Vec<usize>>()
    };
    let breaks = task.order.map(begins);
    if task.is_graph {
        let (number, count) = task.d.components_within(|r| ties[r], control)?;
        let mut is_zero = vec![task.sparse > 0.0; count];
        number.iter().zip(b).for_each(|(k, b)| is_zero[*k] &= *b == 0.0);
        let free = is_zero.iter().filter(|is_zero| !**is_zero).count();
        return Ok(Pieces { segments: Some(count), degrees_of_freedom: Some(capped(free)), breaks });
    }
    if let Some(order) = task.order {
        let count = ties.iter().filter(|tie| !**tie).count();
        let free = if task.sparse > 0.0 { null_space(task, &ties, b, most) } else { Some(count + order) };
        return Ok(Pieces { segments: Some(count + 1), degrees_of_freedom: free.map(capped), breaks });
    }
    let degrees_of_freedom = null_space(task, &ties, b, most).map(capped);
    Ok(Pieces { segments: None, degrees_of_freedom, breaks })
}

/// The dimension of what the ties leave free.
fn null_space(task: &Task<'_>, ties: &[bool], b: &[f64], most: usize) -> Option<usize> {
    let n = task.coefficients();
    let zeros: Vec<usize> =
        if task.sparse > 0.0 { (0..n).filter(|c| b[*c] == 0.0).collect() } else { Vec::new() };
    let tied: Vec<usize> = (0..ties.len()).filter(|r| ties[*r]).collect();
    if n > most || tied.len() > 4 * most {
        return None;
    }
    let place: Vec<Option<usize>> = {
        let mut place = vec![None; ties.len()];
        tied.iter().enumerate().for_each(|(k, r)| place[*r] = Some(k));
        place
    };
    let mut rows = Mat::<f64>::zeros(tied.len() + zeros.len(), n);
    task.d.for_each(|r, columns, values| {
        if let Some(k) = place[r] {
            columns.iter().zip(values).for_each(|(c, value)| rows[(k, *c)] = *value);
        }
    });
    zeros.iter().enumerate().for_each(|(k, c)| rows[(tied.len() + k, *c)] = 1.0);
    if rows.nrows() == 0 {
        return Some(n);
    }
    let factored = rows.col_piv_qr();
    let r = factored.thin_R();
    let count = r.nrows().min(r.ncols());
    let largest = (0..count).map(|k| r[(k, k)].abs()).fold(0.0, f64::max);
    let rank = (0..count).filter(|k| r[(*k, *k)].abs() > 1e-10 * largest).count();
    Some(n - rank)
}
