//! A path point is a cold fit; rescaling a composition changes nothing; folds, halves; what is refused; wishes to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use equipoise::{Control, Matrix, Status};
use equipoise_models::lasso::{
    Data, Error, Fitter, Lambdas, Loss, Settings, cross_validate, path, stability,
};

use crate::instances::{Draw, Regression};

/// Log-ratios of made-up counts, and a target of four of them.
fn compositions(samples: usize, parts: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut draw = Draw::new(11);
    let counts: Vec<Vec<f64>> =
        (0..samples).map(|_| (0..parts).map(|_| (2.0 * draw.next()).exp()).collect()).collect();
    let x: Vec<Vec<f64>> = counts.iter().map(|row| row.iter().map(|c| c.ln()).collect()).collect();
    let y =
        x.iter().map(|row| 3.0 + row[0] - row[1] + 0.5 * row[2] - 0.5 * row[3] + 0.1 * draw.next()).collect();
    (x, y)
}

fn zero_sum(parts: usize) -> Settings {
    let constraints = Matrix::from_rows(&[vec![1.0; parts]]).expect("finite");
    Settings { constraints: Some(constraints), gap: 1e-10, ..Settings::default() }
}

#[test]
fn a_path_point_is_a_cold_fit() {
    let control = Control::unlimited();
    for seed in 0..60 {
        let regression = Regression::draw(seed);
        let Ok(mut fitter) = Fitter::new(regression.data(), &regression.settings, &control) else { continue };
        if fitter.lambda_max() == 0.0 {
            continue;
        }
        let lambdas =
            Lambdas::Falling { count: 12, least: 0.01 }.resolve(fitter.lambda_max()).expect("valid");
        let mut heard = 0;
        let points = path(&mut fitter, &lambdas, &control, |_| heard += 1).expect("a path");
        assert_eq!((heard, points.len()), (12, 12));
        for point in points {
            let mut cold = Fitter::new(regression.data(), &regression.settings, &control).expect("as above");
            let alone = cold.fit(point.lambda, &control).expect("a fit");
            let off = (alone.objective - point.objective).abs() / alone.objective;
            assert!(off < 1e-8, "seed {seed}: {} and {}", alone.objective, point.objective);
        }
    }
}

#[test]
fn rescaling_a_composition_changes_nothing() {
    let (x, y) = compositions(30, 12);
    let control = Control::unlimited();
    let fit = |x: &[Vec<f64>]| {
        let matrix = Matrix::from_rows(x).expect("finite");
        let data = Data { x: &matrix, y: &y, weights: None };
        let mut fitter = Fitter::new(data, &zero_sum(12), &control).expect("valid");
        let lambda = 0.05 * fitter.lambda_max();
        fitter.fit(lambda, &control).expect("a fit")
    };
    let plain = fit(&x);
    assert!(plain.nonzeros >= 4, "{}", plain.nonzeros);
    let rescaled: Vec<Vec<f64>> =
        x.iter().enumerate().map(|(i, row)| row.iter().map(|v| v + (i as f64 - 7.0)).collect()).collect();
    let other = fit(&rescaled);
    for (a, b) in plain.coefficients.iter().zip(&other.coefficients) {
        assert!((a - b).abs() < 1e-8, "{a} {b}");
    }
    let sum: f64 = plain.coefficients.iter().sum();
    assert!(sum.abs() < 1e-12, "{sum}");
}

#[test]
fn a_start_at_the_optimum_stays_there() {
    let control = Control::unlimited();
    let regression = Regression::draw(3);
    let mut fitter = Fitter::new(regression.data(), &regression.settings, &control).expect("valid");
    let lambda = 0.1 * fitter.lambda_max();
    let first = fitter.fit(lambda, &control).expect("a fit");
    let mut again = Fitter::new(regression.data(), &regression.settings, &control).expect("valid");
    let start: Vec<f64> = first.coefficients.iter().copied().chain(first.intercept).collect();
    again.start_at(&start, &control).expect("of the right length");
    let second = again.fit(lambda, &control).expect("a fit");
    assert_eq!(second.status, Status::Converged);
    assert!((second.objective - first.objective).abs() <= 1e-9 * first.objective);
    assert!(again.start_at(&start[1..], &control).is_err());
}

#[test]
fn folds_find_a_lambda_and_threads_do_not_change_it() {
    let (x, y) = compositions(60, 15);
    let matrix = Matrix::from_rows(&x).expect("finite");
    let data = Data { x: &matrix, y: &y, weights: None };
    let control = Control::unlimited();
    let lambdas = Lambdas::Falling { count: 30, least: 0.001 };
    let run = |threads| {
        let settings = Settings { threads, ..zero_sum(15) };
        cross_validate(data, &settings, &lambdas, 5, 3, &control, |_| ()).expect("folds")
    };
    let cv = run(1);
    let (best, one_se) = (cv.best.expect("converged"), cv.one_se.expect("converged"));
    assert!(one_se <= best && best > 5, "{one_se} {best}");
    let (best, one_se) = (&cv.points[best], &cv.points[one_se]);
    assert!(best.error < 0.02 && best.error < 0.2 * cv.points[0].error, "{}", best.error);
    assert!(one_se.error <= best.error + best.standard_error);
    assert_eq!(cv, run(2));
    let halves =
        stability(data, &zero_sum(15), best.point.lambda * 4.0, 10, 5, &control, |_| ()).expect("halves");
    assert_eq!(halves.samples, 20);
    let least = halves.frequencies[..4].iter().copied().fold(1.0, f64::min);
    assert!(least >= 0.9, "{:?}", halves.frequencies);
}

/// On several threads others may be under way; none begins.
#[test]
fn a_wish_to_stop_gives_the_folds_that_were_done() {
    let (x, y) = compositions(60, 15);
    let matrix = Matrix::from_rows(&x).expect("finite");
    let data = Data { x: &matrix, y: &y, weights: None };
    let lambdas = Lambdas::Falling { count: 10, least: 0.01 };
    let unlimited = Control::unlimited();
    let whole = cross_validate(data, &zero_sum(15), &lambdas, 5, 3, &unlimited, |_| ()).expect("folds");
    assert_eq!((whole.folds, whole.status), (5, Status::Converged));
    let begun = AtomicUsize::new(0);
    let run = |last: usize| {
        let flag = Arc::new(AtomicBool::new(false));
        let tell = |fold: usize| {
            begun.fetch_add(1, Ordering::Relaxed);
            flag.fetch_or(fold == last, Ordering::Relaxed);
        };
        cross_validate(data, &zero_sum(15), &lambdas, 5, 3, &Control::on(Arc::clone(&flag)), tell)
    };
    for last in [0, 2] {
        let some = run(last).expect("what there is");
        assert_eq!((some.folds, some.status), (last + 1, Status::Interrupted));
        assert_eq!(begun.swap(0, Ordering::Relaxed), last + 1);
        assert_eq!((some.best, some.one_se), (None, None));
        assert!(some.points.iter().all(|one| one.error.is_finite() && !one.is_converged));
        assert_eq!(some.points[0].standard_error.is_nan(), last == 0);
        let paired = some.points.iter().zip(&whole.points);
        assert!(paired.clone().all(|(one, other)| one.point == other.point));
    }
    // Before the first fold is done there is nothing to tell.
    let raised = Control::on(Arc::new(AtomicBool::new(true)));
    for early in [raised, Control::unlimited().within(0.0)] {
        let error = cross_validate(data, &zero_sum(15), &lambdas, 5, 3, &early, |_| ());
        assert!(matches!(error, Err(Error::Equipoise(equipoise::Error::StoppedEarly { .. }))), "{error:?}");
    }
    let flag = Arc::new(AtomicBool::new(false));
    let (control, halves) = (Control::on(Arc::clone(&flag)), AtomicUsize::new(0));
    let tell = |_| {
        halves.fetch_add(1, Ordering::Relaxed);
        flag.store(true, Ordering::Relaxed);
    };
    let error = stability(data, &zero_sum(15), 1.0, 10, 5, &control, tell);
    assert!(matches!(error, Err(Error::Equipoise(equipoise::Error::StoppedEarly { .. }))), "{error:?}");
    assert_eq!(halves.load(Ordering::Relaxed), 1);
}

#[test]
fn what_cannot_be_fitted_is_refused_in_words() {
    let control = Control::unlimited();
    let x = Matrix::from_rows(&[[1.0, 2.0], [3.0, 2.0], [0.0, 2.0]]).expect("finite");
    let y = [1.0, 2.0, 4.0];
    let message = |x: &Matrix, y: &[f64], settings: &Settings| {
        let data = Data { x, y, weights: None };
        Fitter::new(data, settings, &control).expect_err("refused").to_string()
    };
    let plain = Settings::default();
    assert!(message(&x, &y, &plain).contains("column 1 is 2 in every row"));
    let free = Settings { intercept: false, ..Settings::default() };
    assert!(message(&x, &y[1..], &free).contains("the target has 2 entries, X has 3 rows"));
    assert!(message(&x, &[1.0, f64::NAN, 2.0], &free).contains("row 1"));
    let logistic = Settings { loss: Loss::Logistic, ..free.clone() };
    assert!(message(&x, &y, &logistic).contains("labels -1 and +1"));
    let rows = |rows: &[Vec<f64>]| Settings {
        constraints: Some(Matrix::from_rows(rows).expect("finite")),
        ..free.clone()
    };
    assert!(
        message(&x, &y, &rows(&[vec![1.0, 0.0], vec![0.0, 1.0]])).contains("2 independent constraints on 2")
    );
    assert!(message(&x, &y, &rows(&[vec![0.0, 0.0]])).contains("constraint 0"));
    assert!(message(&x, &y, &rows(&[vec![1.0, 0.0, 1.0]])).contains("3 columns, X has 2"));
    for l1_ratio in [0.0, -1.0, 1.5, f64::NAN] {
        assert!(message(&x, &y, &Settings { l1_ratio, ..free.clone() }).contains("l1-ratio"));
    }
    let data = Data { x: &x, y: &y, weights: None };
    let mut fitter = Fitter::new(data, &free, &control).expect("valid");
    for lambda in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(fitter.fit(lambda, &control), Err(Error::Setting { name: "lambda", .. })));
    }
}

#[test]
fn a_wish_to_stop_gives_what_there_is_with_bounds_that_hold() {
    let regression = Regression::draw(3);
    let control = Control::unlimited();
    let mut fitter = Fitter::new(regression.data(), &regression.settings, &control).expect("valid");
    let lambda = 0.1 * fitter.lambda_max();
    let optimum = Fitter::new(regression.data(), &regression.settings, &control)
        .and_then(|mut fitter| fitter.fit(lambda, &control))
        .expect("a fit");
    let raised = Control::on(Arc::new(AtomicBool::new(true)));
    let point = fitter.fit(lambda, &raised).expect("what there is");
    assert_eq!(point.status, Status::Interrupted);
    assert!(point.bound <= optimum.objective && point.objective >= optimum.bound);
    let late = fitter.fit(lambda, &Control::unlimited().within(0.0)).expect("what there is");
    assert_eq!(late.status, Status::TimeLimit);
    assert_eq!(fitter.fit(lambda, &control).expect("a fit").status, Status::Converged);
}
