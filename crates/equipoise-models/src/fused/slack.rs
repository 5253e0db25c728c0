//! The paper's formulation: slacks for both signs of every difference, moved by pairs.
//!
//! ```text
//! minimise 1/2 ||y - X b||^2 + lambda sum t + mu ||b||_1     t - D b - u = 0 ,   t + D b - v = 0 ,   u, v >= 0
//! ```
//!
//! Two scalars share no direction of the kernel (unless b has two entries), so pairs cannot move at all; and even moves of one `b_k` with
//! all slacks that it touches are stuck where the optimum needs two of them to move together: y = (1, 1, 1), lambda = 3/2
//! on a chain, from 0, is such a place, with objective 3/2 where the optimum is 0. What leads on is the full proximal step
//! of the core, taken when pairs stall. This is here to be compared with; the other methods are faster by orders of magnitude.
//!
//! - Given: a task. Returns: b, and z as the difference of the multipliers of both rows.
//! - Must not know: how pairs move.

use equipoise::separable::{L1Bounds, SeparableTerm};
use equipoise::smooth::loss::Squared;
use equipoise::smooth::{LeastSquares, SmoothTerm};
use equipoise::{
    Control, Coupling, Halt, Observer, Problem, Progress, Settings, Solver, SparseMatrix, Status, Verdict,
};

use super::design::{Design, for_each_in_column};
use super::error::Result;
use super::interior::Found;
use super::proof::{Dual, Task};
use super::settings::FitSettings;
use super::watch::Told;

/// The problem in the paper's variables: b, then t, u and v.
pub(super) fn problem(
    task: &Task<'_>,
    control: &Control,
) -> Result<Problem<Box<dyn SmoothTerm>, Box<dyn SeparableTerm>>> {
    let (n, m) = (task.coefficients(), task.d.rows());
    let dimension = n + 3 * m;
    let mut seen = Vec::new();
    match task.design {
        Design::Identity => seen.extend((0..n).map(|c| (c, c, 1.0))),
        Design::Observed { indices, .. } => {
            seen.extend(indices.iter().enumerate().map(|(k, c)| (k, *c, 1.0)));
        }
        Design::Matrix(x) => {
            (0..n).for_each(|c| for_each_in_column(x, c, |r, value| seen.push((r, c, value))));
        }
    }
    let x = SparseMatrix::from_triplets(task.y.len(), dimension, &seen)?;
    let mut rows = Vec::new();
    task.d.for_each(|r, columns, values| {
        rows.extend([
            (r, n + r, 1.0),
            (r, n + m + r, -1.0),
            (m + r, n + r, 1.0),
            (m + r, n + 2 * m + r, -1.0),
        ]);
        for (c, value) in columns.iter().zip(values) {
            rows.extend([(r, *c, -value), (m + r, *c, *value)]);
        }
    });
    let rows = SparseMatrix::from_triplets(2 * m, dimension, &rows)?;
    let mut weights = vec![task.sparse; n];
    weights.resize(n + m, task.lambda);
    weights.resize(dimension, 0.0);
    let mut lower = vec![f64::NEG_INFINITY; n + m];
    lower.resize(dimension, 0.0);
    // Boxed, as everywhere but in hot loops: the solver is compiled once for all of them.
    let h: Box<dyn SeparableTerm> = Box::new(L1Bounds::new(weights, lower, vec![f64::INFINITY; dimension])?);
    let f: Box<dyn SmoothTerm> = Box::new(LeastSquares::new(x, task.y.to_vec(), Squared)?);
    let coupling = if m == 0 { Coupling::none() } else { Coupling::rows_of(rows, vec![0.0; 2 * m])? };
    Ok(Problem::builder(f).separable(h).coupling(coupling).build_within(control)?)
}

/// Solves by pairs, and full steps where they stall.
pub(super) fn solve(
    task: &Task<'_>,
    settings: &FitSettings,
    start: Option<&[f64]>,
    (told, control): (&mut Told<'_>, &Control),
) -> Result<Found> {
    let problem = problem(task, control)?;
    let core = Settings {
        method: equipoise::Method::Pairs,
        tolerance: 0.1 * settings.gap,
        max_epochs: Some(settings.max_rounds as f64),
        threads: settings.threads,
        ..Settings::default()
    };
    let mut tell = Tell(told);
    let mut solver = Solver::new(&problem, &core).control(control.clone()).observer(&mut tell);
    if let Some(b) = start {
        let differences = task.d.apply(b);
        let sizes = differences.iter().map(|difference| difference.abs());
        let mut x = b.to_vec();
        x.extend(sizes.clone());
        x.extend(differences.iter().map(|difference| difference.abs() - difference));
        x.extend(differences.iter().map(|difference| difference.abs() + difference));
        solver = solver.warm_start(x);
    }
    let solution = solver.run()?;
    let (n, m) = (task.coefficients(), task.d.rows());
    let b = solution.x[..n].to_vec();
    let multipliers = &solution.certificate.multipliers;
    let z = (0..m).map(|r| multipliers[m + r] - multipliers[r]).collect();
    let fitted = task.design.apply(&b, task.y.len());
    let theta = task.y.iter().zip(&fitted).map(|(y, fitted)| y - fitted).collect();
    let halt = match solution.status {
        Status::Interrupted => Some(Halt::Interrupted),
        Status::TimeLimit => Some(Halt::TimeLimit),
        _ => None,
    };
    Ok(Found { b, dual: Dual { z, theta }, rounds: solution.epochs.ceil() as usize, halt })
}

/// Tells the observer of a fit what that of a solver is told: slacks that are as small as they may be have the fit's objective.
struct Tell<'a, 'w>(&'a mut Told<'w>);

impl Observer for Tell<'_, '_> {
    fn checkpoint(&mut self, progress: &Progress) {
        let Verdict { objective, gap, .. } = progress.verdict;
        let bound = gap.map_or(f64::NEG_INFINITY, |gap| objective - gap);
        self.0.tell(progress.epoch as usize, (objective, bound));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fused::penalty::Penalty;

    fn known<'a>(y: &'a [f64], d: &'a super::super::penalty::Differences) -> Task<'a> {
        let (design, order) = (Design::Identity, Some(1));
        Task { y, design, d, order, is_graph: true, lambda: 1.5, sparse: 0.0 }
    }

    /// The counterexample: from 0 no single coefficient with the slacks of its rows can gain anything, though the optimum is elsewhere.
    #[test]
    fn single_coefficients_with_their_slacks_are_stuck() {
        let d = Penalty::Chain.differences(3).expect("it works");
        let y = [1.0; 3];
        let task = known(&y, &d);
        let problem = problem(&task, &Control::unlimited()).expect("it works");
        // The best slacks for b: t = |D b|, which is what a move of b_k with its hyperedge takes.
        let at = |b: [f64; 3]| {
            let differences = d.apply(&b);
            let mut x = b.to_vec();
            x.extend(differences.iter().map(|difference| difference.abs()));
            x.extend(differences.iter().map(|difference| difference.abs() - difference));
            x.extend(differences.iter().map(|difference| difference.abs() + difference));
            problem.objective(&x).expect("in memory")
        };
        assert_eq!(at([0.0; 3]), 1.5);
        for k in 0..3 {
            for step in [-1.0, -0.1, -1e-3, 1e-3, 0.01, 0.1, 0.5, 1.0, 2.0] {
                let mut b = [0.0; 3];
                b[k] = step;
                assert!(at(b) > 1.5, "coefficient {k} by {step}");
            }
        }
        assert_eq!(at([1.0; 3]), 0.0);
    }

    /// Pairs of scalars share no direction; the full steps of the core lead to the optimum all the same.
    #[test]
    fn full_steps_lead_out() {
        let d = Penalty::Chain.differences(3).expect("it works");
        let y = [1.0; 3];
        let task = known(&y, &d);
        let settings = FitSettings { lambda: 1.5, ..FitSettings::default() };
        let found = solve(&task, &settings, None, (&mut Told::new(None, &y), &Control::unlimited()))
            .expect("it works");
        assert!(found.b.iter().all(|b| (b - 1.0).abs() < 1e-4), "{found:?}");
    }
}
