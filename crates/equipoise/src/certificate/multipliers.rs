//! Multipliers lambda that bring `-(grad f + A'lambda)` as near to the subdifferential of h as possible.
//!
//! Minimises `psi(lambda) = 1/2 sum_c r_c(lambda)^2`, a convex piecewise quadratic in m numbers, by Newton's
//! method with a line search; rows are scaled to unit length so that the result does not depend on
//! their units. psi = 0 exactly when x is optimal (for feasible x).

use super::residual::Residuals;
use crate::coupling::Outers;
use crate::matrix::{PseudoInverse, dot};
use crate::separable::SeparableTerm;
use crate::smooth::SmoothTerm;

const MOST_STEPS: usize = 60;
/// A step that promises less than this share of psi is not worth another look at the data.
const NEGLIGIBLE: f64 = 1e-13;
/// psi below this share of the squared gradient is rounding.
const ROUNDING: f64 = 1e-31;

/// The best multipliers for the independent rows, given the gradient of f at x.
pub(crate) fn estimate<F: SmoothTerm, H: SeparableTerm>(
    residuals: &Residuals<'_, F, H>,
    gradient: &[f64],
    stop: &dyn Fn() -> bool,
) -> Vec<f64> {
    let coupling = residuals.coupling();
    let m = coupling.rows();
    if m == 0 {
        return Vec::new();
    }
    let norms = coupling.row_norms(gradient.len());
    let scale = norms.iter().map(|norm| if *norm > 0.0 { 1.0 / norm } else { 1.0 }).collect();
    let fit = Fit { residuals, gradient, scale };
    let mut lambda = fit.pinned_start();
    let mut state = fit.evaluate(&lambda);
    let rounding = ROUNDING * dot(gradient, gradient);
    for _ in 0..MOST_STEPS {
        if stop() {
            break;
        }
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
            let next = fit.evaluate(&trial);
            if stop() {
                break;
            }
            if next.value <= state.value - 1e-4 * t * promise {
                improved = Some((trial, next));
                break;
            }
            t *= 0.5;
        }
        let Some((trial, next)) = improved else { break };
        (lambda, state) = (trial, next);
    }
    lambda.iter().zip(&fit.scale).map(|(lambda, scale)| lambda * scale).collect()
}

/// psi and its derivatives, in multipliers of unit rows.
struct Fit<'a, 'b, F, H> {
    residuals: &'a Residuals<'b, F, H>,
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

impl<F: SmoothTerm, H: SeparableTerm> Fit<'_, '_, F, H> {
    fn evaluate(&self, lambda: &[f64]) -> Evaluation {
        let coupling = self.residuals.coupling();
        let m = lambda.len();
        let actual: Vec<f64> = lambda.iter().zip(&self.scale).map(|(lambda, scale)| lambda * scale).collect();
        let (mut descent, mut hessian) = (vec![0.0; m], vec![0.0; m * m]);
        let s = |c: usize| -(self.gradient[c] + coupling.column_dot(c, &actual));
        let value = self.residuals.accumulate(s, &mut descent, &mut hessian);
        self.rescale(&mut descent, &mut hessian);
        Evaluation { value, descent, hessian }
    }

    /// Least squares over the coordinates whose residual is zero at one point only.
    fn pinned_start(&self) -> Vec<f64> {
        let coupling = self.residuals.coupling();
        let m = coupling.rows();
        let (mut rhs, mut gram) = (vec![0.0; m], vec![0.0; m * m]);
        let mut outers = Outers::new(coupling, &mut gram);
        self.residuals.for_each_pinned(|c, slope| {
            coupling.add_column(c, -(self.gradient[c] + slope), &mut rhs);
            outers.add(c, 1.0);
        });
        outers.finish();
        self.rescale(&mut rhs, &mut gram);
        let mut lambda = vec![0.0; m];
        PseudoInverse::new(&gram, m).apply(&rhs, &mut lambda);
        lambda
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
