//! Multipliers lambda that bring `-(grad f + A'lambda)` as near to the subdifferential of h as possible.
//!
//! Minimises `psi(lambda) = 1/2 sum_c r_c(lambda)^2`, a convex piecewise quadratic in m numbers, by Newton's
//! method with a line search; rows are scaled to unit length so that the result does not depend on
//! their units. psi = 0 exactly when x is optimal (for feasible x).
//!
//! Where it is ended early the best multipliers so far are the answer, and where there are none yet, those that fit a
//! sample of the columns.

use super::residual::Residuals;
use crate::control::{Control, Pass};
use crate::coupling::Outers;
use crate::matrix::{PseudoInverse, dot};

const MOST_STEPS: usize = 60;
/// A step that promises less than this share of psi is not worth another look at the data.
const NEGLIGIBLE: f64 = 1e-13;
/// psi below this share of the squared gradient is rounding.
const ROUNDING: f64 = 1e-31;
/// Products of two numbers that a sample of the columns may cost: a few milliseconds.
const PRODUCTS_OF_SAMPLE: usize = 1 << 22;

/// Multipliers for the independent rows.
#[derive(Debug)]
pub(crate) struct Multipliers {
    pub(crate) lambda: Vec<f64>,
    /// Whether the search for the best came to its end.
    pub(crate) outcome: Pass,
}

/// The best multipliers, given the gradient of f at x.
pub(crate) fn estimate(residuals: &Residuals<'_>, gradient: &[f64], control: &Control) -> Multipliers {
    let m = residuals.coupling().rows();
    if m == 0 {
        return Multipliers { lambda: Vec::new(), outcome: Ok(()) };
    }
    let mut best = None;
    let outcome = search(residuals, gradient, &mut best, control);
    Multipliers { lambda: best.unwrap_or_else(|| of_sample(residuals, gradient)), outcome }
}

/// Newton's method; `best` holds the multipliers so far.
fn search(
    residuals: &Residuals<'_>,
    gradient: &[f64],
    best: &mut Option<Vec<f64>>,
    control: &Control,
) -> Pass {
    let coupling = residuals.coupling();
    let m = coupling.rows();
    let norms = coupling.row_norms_within(gradient.len(), control)?;
    let fit = Fit { residuals, gradient, scale: scales(&norms) };
    let mut lambda = fit.pinned_start(control)?;
    *best = Some(fit.actual(&lambda));
    let mut state = fit.evaluate(&lambda, control)?;
    let rounding = ROUNDING * dot(gradient, gradient);
    for _ in 0..MOST_STEPS {
        control.check()?;
        let mut step = vec![0.0; m];
        PseudoInverse::new(&state.hessian, m).apply(&state.descent, &mut step);
        let promise = dot(&step, &state.descent);
        if promise.is_nan() || promise <= NEGLIGIBLE * state.value || state.value <= rounding {
            break;
        }
        let mut t = 1.0;
        let mut improved = None;
        while t > 1e-4 {
            let trial: Vec<f64> = lambda.iter().zip(&step).map(|(lambda, step)| lambda + t * step).collect();
            let next = fit.evaluate(&trial, control)?;
            control.check()?;
            if next.value <= state.value - 1e-4 * t * promise {
                improved = Some((trial, next));
                break;
            }
            t *= 0.5;
        }
        let Some((trial, next)) = improved else { break };
        (lambda, state) = (trial, next);
        *best = Some(fit.actual(&lambda));
    }
    Ok(())
}

/// Least squares over a sample of the columns; its size is bounded, so nothing ends it.
fn of_sample(residuals: &Residuals<'_>, gradient: &[f64]) -> Vec<f64> {
    let (coupling, n) = (residuals.coupling(), gradient.len());
    let m = coupling.rows();
    let columns = (PRODUCTS_OF_SAMPLE / (m * m)).clamp(1, n.max(1));
    let sample = residuals.sampled(n.div_ceil(columns));
    let mut squares = vec![0.0; m];
    let mut column = vec![0.0; m];
    for c in (0..n).step_by(n.div_ceil(columns)) {
        coupling.copy_column(c, &mut column);
        squares.iter_mut().zip(&column).for_each(|(square, a)| *square += a * a);
    }
    let norms: Vec<f64> = squares.iter().map(|square: &f64| square.sqrt()).collect();
    let fit = Fit { residuals: &sample, gradient, scale: scales(&norms) };
    fit.pinned_start(&Control::unlimited()).map_or_else(|_| vec![0.0; m], |lambda| fit.actual(&lambda))
}

/// One over the norms of the rows.
fn scales(norms: &[f64]) -> Vec<f64> {
    norms.iter().map(|norm| if *norm > 0.0 { 1.0 / norm } else { 1.0 }).collect()
}

/// psi and its derivatives, in multipliers of unit rows.
struct Fit<'a> {
    residuals: &'a Residuals<'a>,
    gradient: &'a [f64],
    scale: Vec<f64>,
}

struct Evaluation {
    value: f64,
    /// Minus the gradient of psi.
    descent: Vec<f64>,
    /// Lower triangle, column-major.
    hessian: Vec<f64>,
}

impl Fit<'_> {
    /// The multipliers of the rows as they are.
    fn actual(&self, lambda: &[f64]) -> Vec<f64> {
        lambda.iter().zip(&self.scale).map(|(lambda, scale)| lambda * scale).collect()
    }

    fn evaluate(&self, lambda: &[f64], control: &Control) -> Pass<Evaluation> {
        let coupling = self.residuals.coupling();
        let m = lambda.len();
        let actual = self.actual(lambda);
        let (mut descent, mut hessian) = (vec![0.0; m], vec![0.0; m * m]);
        let s = |c: usize| -(self.gradient[c] + coupling.column_dot(c, &actual));
        let value = self.residuals.accumulate(s, &mut descent, &mut hessian, control)?;
        self.rescale(&mut descent, &mut hessian);
        Ok(Evaluation { value, descent, hessian })
    }

    /// Least squares over the coordinates whose residual is zero at one point only.
    fn pinned_start(&self, control: &Control) -> Pass<Vec<f64>> {
        let coupling = self.residuals.coupling();
        let m = coupling.rows();
        let (mut rhs, mut gram) = (vec![0.0; m], vec![0.0; m * m]);
        let mut outers = Outers::new(coupling, &mut gram);
        self.residuals.for_each_pinned(control, |c, slope| {
            coupling.add_column(c, -(self.gradient[c] + slope), &mut rhs);
            outers.add(c, 1.0);
        })?;
        outers.finish();
        self.rescale(&mut rhs, &mut gram);
        let mut lambda = vec![0.0; m];
        PseudoInverse::new(&gram, m).apply(&rhs, &mut lambda);
        Ok(lambda)
    }

    fn rescale(&self, vector: &mut [f64], gram: &mut [f64]) {
        let m = vector.len();
        for c in 0..m {
            vector[c] *= self.scale[c];
            for r in c..m {
                gram[c * m + r] *= self.scale[c] * self.scale[r];
            }
        }
    }
}
