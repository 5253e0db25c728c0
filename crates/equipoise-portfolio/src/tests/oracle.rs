//! The same problem for Clarabel, from its statement: `w` and, with turnover, `t_j >= |w_j - c_j|`.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};

use crate::{Constraints, Covariance, Returns};

/// The weights and the objective; none where it says that there are none.
pub(super) fn solve(
    returns: &Returns,
    covariance: &Covariance,
    constraints: &Constraints,
) -> Option<(Vec<f64>, f64)> {
    let n = returns.assets();
    let columns = if constraints.turnover.is_some() { 2 * n } else { n };
    let entry = |i: usize, j: usize| {
        let product: f64 =
            returns.centred().column(i).iter().zip(returns.centred().column(j)).map(|(a, b)| a * b).sum();
        (1.0 - covariance.shrinkage) * product / (returns.days() - 1) as f64
            + if i == j { covariance.ridge } else { 0.0 }
    };
    // In units in which the largest variance is 1.
    let scale = (0..n).map(|j| entry(j, j)).fold(0.0, f64::max);
    let mut quadratic = Vec::new();
    for j in 0..n {
        quadratic.extend((0..=j).map(|i| (i, j, 2.0 * entry(i, j) / scale)));
    }
    let mut linear = vec![0.0; columns];
    let (mut rows, mut right): (Vec<Vec<(usize, f64)>>, Vec<f64>) = (Vec::new(), Vec::new());
    let all = |sign: f64| (0..n).map(|j| (j, sign)).collect::<Vec<_>>();
    rows.push(all(1.0));
    right.push(constraints.budget);
    let largest = returns.mean().iter().fold(1e-300_f64, |a, m| a.max(m.abs()));
    if let Some(target) = constraints.target_return {
        rows.push((0..n).map(|j| (j, -returns.mean()[j] / largest)).collect());
        right.push(-target / largest);
    }
    let mut within = |terms: Vec<(usize, f64)>, low: f64, high: f64| {
        if high.is_finite() {
            rows.push(terms.clone());
            right.push(high);
        }
        if low.is_finite() {
            rows.push(terms.into_iter().map(|(j, a)| (j, -a)).collect());
            right.push(-low);
        }
    };
    for j in 0..n {
        within(vec![(j, 1.0)], constraints.lower[j], constraints.upper[j]);
    }
    for group in &constraints.groups {
        within(group.members.iter().map(|&j| (j, 1.0)).collect(), group.lower, group.upper);
    }
    if let Some(turnover) = &constraints.turnover {
        for j in 0..n {
            within(vec![(j, 1.0), (n + j, -1.0)], f64::NEG_INFINITY, turnover.current[j]);
            within(vec![(j, -1.0), (n + j, -1.0)], f64::NEG_INFINITY, -turnover.current[j]);
            linear[n + j] = turnover.price / scale;
        }
        within((n..2 * n).map(|j| (j, 1.0)).collect(), f64::NEG_INFINITY, turnover.limit);
    }
    let cones = [SupportedConeT::ZeroConeT(1), SupportedConeT::NonnegativeConeT(rows.len() - 1)];
    let entries: Vec<(usize, usize, f64)> =
        rows.iter().enumerate().flat_map(|(k, row)| row.iter().map(move |&(j, a)| (k, j, a))).collect();
    let (p, a) = (csc(columns, columns, quadratic), csc(rows.len(), columns, entries));
    let settings = DefaultSettings {
        verbose: false,
        tol_gap_abs: 1e-12,
        tol_gap_rel: 1e-12,
        tol_feas: 1e-12,
        max_iter: 200,
        ..DefaultSettings::default()
    };
    let mut solver = DefaultSolver::new(&p, &linear, &a, &right, &cones, settings).expect("shapes agree");
    solver.solve();
    let found = &solver.solution;
    match found.status {
        SolverStatus::PrimalInfeasible | SolverStatus::AlmostPrimalInfeasible => None,
        _ => Some((found.x[..n].to_vec(), found.obj_val * scale)),
    }
}

fn csc(rows: usize, columns: usize, mut entries: Vec<(usize, usize, f64)>) -> CscMatrix<f64> {
    entries.sort_by_key(|&(i, j, _)| (j, i));
    let mut starts = vec![0; columns + 1];
    entries.iter().for_each(|&(_, j, _)| starts[j + 1] += 1);
    (0..columns).for_each(|j| starts[j + 1] += starts[j]);
    let (places, values) = entries.into_iter().map(|(i, _, value)| (i, value)).unzip();
    CscMatrix::new(rows, columns, starts, places, values)
}
