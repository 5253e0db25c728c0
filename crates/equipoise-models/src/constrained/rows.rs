//! Equality rows, or weights without any bound: the library's own problem and its certificate.
//!
//! - Given: data, a region. Returns: a [`Fit`] whose bound is that of the certificate. Must not know: how pairs are moved.

use equipoise::separable::{Bounds, SeparableTerm};
use equipoise::smooth::{Distance, LeastSquares, SmoothTerm, Sum, loss::Squared};
use equipoise::{
    Certificate, Coupling, DenseMatrix, Observer, Problem, Progress, Solver, Status, certificate,
};

use super::region::{Region, Rows};
use super::{Data, Fit, Result, Round, Settings, Watch};

type Term<'a> = Box<dyn SmoothTerm + 'a>;

pub(super) fn fit(
    data: &Data<'_>,
    target: &[f64],
    region: &Region,
    settings: &Settings,
    start: Option<&[f64]>,
    watch: Watch<'_>,
) -> Result<Fit> {
    let problem = problem(data, target, region, settings, &watch.control)?;
    let scale = |objective: f64| data.scale(target, objective);
    let mut tell = Tell { observer: watch.observer, columns: data.matrix.columns(), scale: &scale };
    // The certificate is judged by gap / (1 + |objective|); what is asked for is gap / scale.
    let mut tolerance = (settings.gap * scale(0.0)).clamp(1e-12, 1.0);
    let mut from = match start {
        Some(start) => Some(problem.nearest_feasible_within(start, &watch.control)?),
        None => None,
    };
    let mut rounds = 0.0;
    loop {
        let own =
            equipoise::Settings { tolerance, threads: settings.threads, ..equipoise::Settings::default() };
        let mut solver = Solver::new(&problem, &own).control(watch.control.clone()).observer(&mut tell);
        if let Some(from) = from {
            solver = solver.warm_start(from);
        }
        let solution = solver.run()?;
        rounds += solution.epochs;
        let mut fit = of(solution.x, &solution.certificate, scale(solution.certificate.objective));
        let met = fit.relative_gap <= settings.gap && solution.certificate.is_feasible();
        (fit.method, fit.rounds) = (solution.method.name(), rounds as usize);
        fit.status = match solution.status {
            Status::Converged if !met && tolerance > 2e-12 => {
                tolerance = (tolerance * (0.5 * settings.gap / fit.relative_gap)).max(1e-12);
                from = Some(fit.x);
                continue;
            }
            Status::Converged if !met => Status::Stalled,
            _ if met => Status::Converged,
            other => other,
        };
        return Ok(fit);
    }
}

/// What is known of a point, from raw data.
pub(super) fn check(
    data: &Data<'_>,
    target: &[f64],
    region: &Region,
    settings: &Settings,
    x: &[f64],
    control: &equipoise::Control,
) -> Result<Fit> {
    let problem = problem(data, target, region, settings, control)?;
    let certificate = certificate::check_within(&problem, x, control)?;
    let mut fit = of(x.to_vec(), &certificate, data.scale(target, certificate.objective));
    if fit.relative_gap <= settings.gap && certificate.is_feasible() {
        fit.status = Status::Converged;
    }
    Ok(fit)
}

fn problem<'a>(
    data: &Data<'a>,
    target: &[f64],
    region: &Region,
    settings: &Settings,
    control: &equipoise::Control,
) -> Result<Problem<Term<'a>, Box<dyn SeparableTerm>>> {
    let columns = data.matrix.columns();
    let matrix = DenseMatrix::borrowed(data.matrix.rows(), columns, data.matrix.values())?;
    let losses: Term<'a> = match data.weights {
        None => Box::new(LeastSquares::new(matrix, target.to_vec(), Squared)?),
        Some(weights) => {
            Box::new(LeastSquares::weighted(matrix, target.to_vec(), Squared, weights.to_vec())?)
        }
    };
    let smooth: Term<'a> = if settings.ridge > 0.0 {
        let ridge: Term<'a> = Box::new(Distance::new(vec![0.0; columns], 0.5 * settings.ridge)?);
        Box::new(Sum::new(vec![losses, ridge])?)
    } else {
        losses
    };
    let coupling = match &region.rows {
        Rows::None => Coupling::none(),
        Rows::Sum(sum) => Coupling::sum(*sum)?,
        Rows::Equations { matrix, rhs } => Coupling::rows_of(matrix.clone(), rhs.clone())?,
    };
    let bounds: Box<dyn SeparableTerm> = Box::new(Bounds::new(region.lower.clone(), region.upper.clone())?);
    Ok(Problem::builder(smooth).separable(bounds).coupling(coupling).build_within(control)?)
}

fn of(x: Vec<f64>, certificate: &Certificate, scale: f64) -> Fit {
    // Squares are not negative, wherever the point.
    let bound = certificate.lower_bound.filter(|bound| certificate.is_proven && *bound > 0.0);
    let holds_within = certificate.holds_within.filter(|_| bound.is_some());
    let bound = bound.unwrap_or(0.0);
    // A point that misses its rows by rounding may lie below the optimum: that counts as a gap, too.
    let gap = (certificate.objective - bound).abs();
    Fit {
        status: Status::Stalled,
        x,
        objective: certificate.objective,
        bound,
        relative_gap: gap / scale,
        multipliers: certificate.multipliers.clone(),
        infeasibility: certificate.relative_infeasibility,
        holds_within,
        method: "",
        rounds: 0,
        seconds: 0.0,
    }
}

/// Tells the observer of a fit what that of a solver is told.
struct Tell<'a, 's> {
    observer: Option<&'a mut dyn FnMut(&Round)>,
    columns: usize,
    /// What gaps are measured against.
    scale: &'s dyn Fn(f64) -> f64,
}

impl Observer for Tell<'_, '_> {
    fn checkpoint(&mut self, progress: &Progress) {
        if let (Some(observer), Some(certificate)) = (&mut self.observer, &progress.certificate) {
            let (objective, bound) =
                (certificate.objective, certificate.lower_bound.unwrap_or(f64::NEG_INFINITY));
            observer(&Round {
                round: progress.epoch as usize,
                columns: self.columns,
                seconds: progress.seconds,
                objective,
                bound,
                relative_gap: (objective - bound).abs() / (self.scale)(objective),
            });
        }
    }
}
