//! Certificates that were ended early say so, and what they say is true.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use super::*;
use crate::coupling::Coupling;
use crate::matrix::DenseMatrix;
use crate::separable::NonNegative;
use crate::smooth::{Distance, DualSide, PairTerm};
use crate::{Error, Matrix};

const ROWS: usize = 12;
const COLUMNS: usize = 40_000;

/// Distances that raise a flag with the given call of a pass.
#[derive(Debug)]
struct Raising {
    inner: Distance,
    flag: Arc<AtomicBool>,
    calls: Arc<AtomicUsize>,
    at: Arc<AtomicUsize>,
}

impl Raising {
    fn called(&self) {
        if self.calls.fetch_add(1, Relaxed) == self.at.load(Relaxed) {
            self.flag.store(true, Relaxed);
        }
    }
}

impl PairTerm for Raising {
    fn dimension(&self) -> usize {
        self.inner.dimension()
    }
    fn partial(&self, c: usize, x: &[f64], product: &[f64]) -> f64 {
        self.inner.partial(c, x, product)
    }
    fn curvature(&self, c: usize) -> f64 {
        self.inner.curvature(c)
    }
}

impl SmoothTerm for Raising {
    fn value(&self, x: &[f64], product: &[f64]) -> f64 {
        self.inner.value(x, product)
    }
    fn fill_product(&self, _x: &[f64], _product: &mut [f64], _control: &Control) -> Pass {
        self.called();
        Ok(())
    }
    fn gradient(&self, x: &[f64], product: &[f64], out: &mut [f64], control: &Control) -> Pass {
        self.called();
        self.inner.gradient(x, product, out, control)
    }
    fn hessian_product(
        &self,
        x: &[f64],
        product: &[f64],
        v: &[f64],
        out: &mut [f64],
        control: &Control,
    ) -> Pass<bool> {
        self.called();
        self.inner.hessian_product(x, product, v, out, control)
    }
    fn dual(&self) -> Option<&dyn DualSide> {
        self.inner.dual()
    }
}

#[test]
fn a_certificate_that_was_ended_says_so_and_how_far_it_came() {
    let number = |k: usize| ((k * 7919 + 17) % 1009) as f64 / 1009.0 - 0.3;
    let matrix = DenseMatrix::from_columns(ROWS, COLUMNS, (0..ROWS * COLUMNS).map(number).collect());
    let matrix = Matrix::from(matrix.expect("finite"));
    let inside: Vec<f64> = (0..COLUMNS).map(|c| if c % 3 == 0 { 0.0 } else { 1.0 + number(c) }).collect();
    let mut rhs = vec![0.0; ROWS];
    matrix.multiply(&inside, &mut rhs);
    let (flag, calls) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let at = Arc::new(AtomicUsize::new(usize::MAX));
    let inner = Distance::new((0..COLUMNS).map(|c| number(3 * c)).collect(), 1.0).expect("finite");
    let f = Raising { inner, flag: Arc::clone(&flag), calls: Arc::clone(&calls), at: Arc::clone(&at) };
    let coupling = Coupling::rows_of(matrix, rhs).expect("finite");
    let problem = Problem::builder(f).separable(NonNegative).coupling(coupling).start(inside.clone());
    let problem = problem.build().expect("feasible");
    let whole = check(&problem, &inside).expect("finite");
    assert!(!whole.is_partial && whole.kkt_residual.is_finite() && whole.duality_gap.is_some());
    let control = Control::on(Arc::clone(&flag));
    let cut_at = |call: usize, effort: Effort| {
        flag.store(false, Relaxed);
        calls.store(0, Relaxed);
        at.store(call, Relaxed);
        certify(problem.view(), &inside, effort, &Proposal::NONE, &control)
    };
    // In the first pass there is nothing to say yet.
    assert_eq!(cut_at(0, Effort::Full), Err(Halt::Interrupted));
    // With the gradient: multipliers from a sample, and what they leave of the optimality conditions.
    let rough = cut_at(1, Effort::Full).expect("a part");
    assert!(rough.is_partial && rough.duality_gap.is_none(), "{rough:?}");
    assert_eq!((rough.objective, rough.infeasibility), (whole.objective, whole.infeasibility));
    assert_eq!(rough.multipliers.len(), ROWS);
    assert!(rough.kkt_residual >= 0.5 * whole.kkt_residual, "{rough:?}");
    // In the search for a sharper bound: all but that.
    let blunt = cut_at(2, Effort::Full).expect("a part");
    assert!(blunt.is_partial);
    assert_eq!((&blunt.multipliers, blunt.kkt_residual), (&whole.multipliers, whole.kkt_residual));
    assert!(blunt.duality_gap.is_none_or(|gap| Some(gap) >= whole.duality_gap), "{blunt:?}");
    // Nobody but an interrupted run has use for parts.
    flag.store(true, Relaxed);
    at.store(usize::MAX, Relaxed);
    let refused = check_within(&problem, &inside, &control);
    assert_eq!(refused, Err(Error::StoppedEarly { by: "interrupted" }));
}
