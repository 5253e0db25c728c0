//! Every bound that is reported holds in exact arithmetic: rational numbers judge coefficients as they are.
//!
//! The exact objective of the coefficients is at most the one reported. No exact objective of any point with `C b = 0`, exactly, is
//! below any bound reported for the same problem.

use dashu::rational::RBig;
use equipoise::Control;
use equipoise_models::lasso::{Fitter, Loss, Point, verify};

use crate::instances::{Draw, Regression};

fn exact(value: f64) -> RBig {
    RBig::try_from(value).expect("finite")
}

fn size(value: RBig) -> RBig {
    if value < RBig::ZERO { -value } else { value }
}

/// The objective in rational numbers, for squares and Huber's loss.
fn objective(regression: &Regression, lambda: f64, b: &[RBig], intercept: &RBig) -> RBig {
    let settings = &regression.settings;
    let half = exact(0.5);
    let mut sum = RBig::ZERO;
    for (i, row) in regression.x.iter().enumerate() {
        let z = row.iter().zip(b).fold(intercept.clone(), |z, (x, b)| z + exact(*x) * b);
        let miss = size(z - exact(regression.y[i]));
        let value = match settings.loss {
            Loss::Huber(delta) if miss > exact(delta) => exact(delta) * (miss - exact(delta) * &half),
            _ => &miss * &miss * &half,
        };
        sum += value * exact(regression.weights.as_ref().map_or(1.0, |weights| weights[i]));
    }
    // The limits as the library rounds them.
    let (l1, l2) = (lambda * settings.l1_ratio, lambda * (1.0 - settings.l1_ratio));
    for (j, b) in b.iter().enumerate() {
        let factor = settings.penalties.as_ref().map_or(1.0, |factors| factors[j]);
        sum += exact(factor * l1) * size(b.clone()) + exact(factor * l2) * &half * b * b;
    }
    sum
}

/// The coefficients with the one of largest weight in the only row changed so that it holds exactly.
fn feasible(regression: &Regression, point: &Point) -> Option<Vec<RBig>> {
    let mut b: Vec<RBig> = point.coefficients.iter().map(|b| exact(*b)).collect();
    match regression.rows.as_slice() {
        [] => Some(b),
        [row] => {
            let at = (0..row.len()).max_by(|&i, &k| row[i].abs().total_cmp(&row[k].abs())).expect("columns");
            let rest = row.iter().zip(&b).enumerate().filter(|(j, _)| *j != at);
            let rest = rest.fold(RBig::ZERO, |sum, (_, (c, b))| sum + exact(*c) * b);
            b[at] = -rest / exact(row[at]);
            Some(b)
        }
        _ => None,
    }
}

#[test]
fn no_bound_is_false() {
    let control = Control::unlimited();
    let mut judged = 0;
    for seed in 1000..2200 {
        let mut regression = Regression::draw(seed);
        if regression.settings.loss == Loss::Logistic {
            continue;
        }
        // Targets and columns out of scale, cancelling sums.
        let mut draw = Draw::new(seed);
        let scale = 10_f64.powf(draw.below(13) as f64 - 6.0);
        regression.y.iter_mut().for_each(|y| *y *= scale);
        if draw.is(0.3) {
            regression.y.iter_mut().for_each(|y| *y += 1e7 * scale);
        }
        regression.settings.gap = if draw.is(0.5) { 1e-6 } else { 1e-14 };
        let Ok(mut fitter) = Fitter::new(regression.data(), &regression.settings, &control) else { continue };
        if fitter.lambda_max() == 0.0 {
            continue;
        }
        for ratio in [0.5, 0.02] {
            let lambda = ratio * fitter.lambda_max();
            let point = fitter.fit(lambda, &control).expect("a fit");
            let intercept = exact(point.intercept.unwrap_or(0.0));
            let as_written: Vec<RBig> = point.coefficients.iter().map(|b| exact(*b)).collect();
            let found = objective(&regression, lambda, &as_written, &intercept);
            assert!(
                found <= exact(point.objective),
                "seed {seed}, {ratio}: the objective is above what is claimed"
            );
            let Some(b) = feasible(&regression, &point) else { continue };
            let found = objective(&regression, lambda, &b, &intercept);
            assert!(
                found >= exact(point.bound),
                "seed {seed}, {ratio}: a point is below the bound {}",
                point.bound
            );
            judged += 1;
            // Coefficients that somebody rounded.
            let rounded: Vec<f64> = point.coefficients.iter().map(|b| (b * 64.0).round() / 64.0).collect();
            let claimed = (rounded.as_slice(), point.intercept);
            let seen =
                verify(regression.data(), &regression.settings, lambda, claimed, &control).expect("judged");
            let as_written: Vec<RBig> = rounded.iter().map(|b| exact(*b)).collect();
            let found = objective(&regression, lambda, &as_written, &intercept);
            assert!(found <= exact(seen.objective), "seed {seed}, {ratio}: verify claims too little");
        }
    }
    assert!(judged > 1000, "{judged}");
}
