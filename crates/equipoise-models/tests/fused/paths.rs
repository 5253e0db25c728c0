//! Paths, warm starts, checks, degrees of freedom.

use equipoise::{Control, Status};
use equipoise_models::fused::{
    Criterion, FitSettings, Method, Penalty, choose, fit_from, lambda_max, lambdas, path, verify,
};

use crate::judge::{Case, Draw, Seen};

fn cases() -> Vec<Case> {
    let mut draw = Draw::new(21);
    let rows: Vec<Vec<f64>> = (0..40).map(|_| (0..60).map(|_| draw.next()).collect()).collect();
    let case = |seen: Seen, penalty: Penalty, y: Vec<f64>, n: usize| Case {
        y,
        n,
        seen,
        penalty,
        lambda: 1.0,
        sparse: 0.0,
    };
    vec![
        case(Seen::All, Penalty::Chain, draw.signal(200), 200),
        case(Seen::All, Penalty::Trend1, draw.signal(120), 120),
        case(Seen::All, Penalty::Grid { rows: 12, columns: 15 }, draw.signal(180), 180),
        case(Seen::Rows(rows), Penalty::Chain, draw.signal(40), 60),
    ]
}

/// Every point of a path is the cold fit at its lambda, to 1e-6; the first has one piece; a criterion chooses the least.
#[test]
fn a_path_is_a_walk_of_cold_fits() {
    let control = Control::unlimited();
    for case in cases() {
        let matrix = case.matrix();
        let (signal, settings) = (case.signal(matrix.as_ref()), FitSettings::default());
        let largest = lambda_max(signal, &settings, &control).expect("it works");
        let points = path(signal, &settings, &lambdas(largest, 1e-2, 7).expect("it works"), &control, |_| {})
            .expect("it works");
        assert_eq!(points.len(), 7);
        for point in &points {
            let fit = &point.fit;
            assert_eq!(fit.status, Status::Converged, "{} {fit:?}", case.penalty.name());
            let at = Case { lambda: fit.lambda, ..case.clone() };
            let cold = at.fit(&settings, &control).expect("it works");
            assert!((cold.objective - fit.objective).abs() <= 2e-6 * cold.objective, "{cold:?} {fit:?}");
            at.judge(fit);
        }
        let best = choose(&points, Criterion::Bic).expect("it works");
        assert!(points.iter().all(|point| point.bic >= points[best].bic));
        // Beyond the largest lambda nothing is left of the differences; a little below it something is.
        let beyond = FitSettings { lambda: 1.02 * largest, ..settings.clone() };
        let kernel = if case.penalty == Penalty::Trend1 { 2 } else { 1 };
        let fit = fit_from(signal, &beyond, None, &control).expect("it works");
        let most = fit.x.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let differences = case.d();
        let size = |x: &[f64]| {
            let rows = differences.iter().map(|row| row.iter().zip(x).map(|(d, x)| d * x).sum::<f64>().abs());
            rows.fold(0.0, f64::max)
        };
        assert!(size(&fit.x) < 1e-3 * most.max(1.0), "{} {}", case.penalty.name(), size(&fit.x));
        assert!(fit.degrees_of_freedom.expect("it works") >= kernel);
        let below = FitSettings { lambda: 0.8 * largest, ..settings };
        let fit = fit_from(signal, &below, None, &control).expect("it works");
        assert!(size(&fit.x) > 1e-4, "{} {}", case.penalty.name(), size(&fit.x));
    }
}

/// Where a fit begins does not matter to what it finds, and its own result is found good.
#[test]
fn warm_starts_and_checks() {
    let (control, settings) = (Control::unlimited(), FitSettings::default());
    for case in cases() {
        let matrix = case.matrix();
        let signal = case.signal(matrix.as_ref());
        let cold = fit_from(signal, &settings, None, &control).expect("it works");
        let warm = fit_from(signal, &settings, Some(&cold.x), &control).expect("it works");
        assert_eq!(warm.status, Status::Converged);
        assert!((cold.objective - warm.objective).abs() <= 2e-6 * cold.objective);
        assert!(verify(signal, &settings, &cold.x, &control).expect("it works").relative_gap <= settings.gap);
        let mut worse = cold.x.clone();
        worse[3] += 0.5;
        assert!(verify(signal, &settings, &worse, &control).expect("it works").relative_gap > settings.gap);
        assert!(fit_from(signal, &settings, Some(&worse[1..]), &control).is_err());
        assert!(verify(signal, &settings, &worse[1..], &control).is_err());
    }
}

/// Two methods, one optimum, on problems larger than the oracle likes; and several threads change nothing.
#[test]
fn larger_problems_by_two_methods() {
    let mut draw = Draw::new(4);
    let rows: Vec<Vec<f64>> = (0..60).map(|_| (0..150).map(|_| draw.next()).collect()).collect();
    let grid = Penalty::Grid { rows: 30, columns: 40 };
    for (case, method) in [
        (
            Case { y: draw.signal(1200), n: 1200, seen: Seen::All, penalty: grid, lambda: 0.6, sparse: 0.1 },
            Method::Lines,
        ),
        (
            Case {
                y: draw.signal(60),
                n: 150,
                seen: Seen::Rows(rows),
                penalty: Penalty::Chain,
                lambda: 3.0,
                sparse: 0.0,
            },
            Method::Jumps,
        ),
    ] {
        let control = Control::unlimited();
        let one = case.fit(&FitSettings::default(), &control).expect("it works");
        assert_eq!((one.method, one.status), (method, Status::Converged), "{one:?}");
        let by_interior = FitSettings { method: Method::Interior, ..FitSettings::default() };
        let other = case.fit(&by_interior, &control).expect("it works");
        assert_eq!(other.status, Status::Converged, "{other:?}");
        assert!((one.objective - other.objective).abs() <= 2e-6 * one.objective, "{one:?} {other:?}");
        let several =
            case.fit(&FitSettings { threads: 3, ..FitSettings::default() }, &control).expect("it works");
        assert!((several.objective - one.objective).abs() <= 2e-6 * one.objective);
    }
}

/// Pieces that the eye would count.
#[test]
fn degrees_of_freedom_of_clear_signals() {
    let fit = |penalty: Penalty, y: Vec<f64>, lambda: f64, sparse: f64| {
        let case = Case { n: y.len(), y, seen: Seen::All, penalty, lambda, sparse };
        let found = case
            .fit(&FitSettings { gap: 1e-9, ..FitSettings::default() }, &Control::unlimited())
            .expect("it works");
        (found.segments, found.degrees_of_freedom, found.breaks)
    };
    let steps: Vec<f64> = (0..30)
        .map(|i| {
            if i < 10 {
                0.0
            } else if i < 20 {
                5.0
            } else {
                2.0
            }
        })
        .collect();
    assert_eq!(fit(Penalty::Chain, steps.clone(), 0.5, 0.0), (Some(3), Some(3), Some(vec![10, 20])));
    // The first step becomes 0 and is no longer free.
    assert_eq!(fit(Penalty::Chain, steps, 0.5, 0.3).1, Some(2));
    let roof: Vec<f64> = (0..31).map(|i: i32| 15.0 - f64::from((i - 15).abs())).collect();
    assert_eq!(fit(Penalty::Trend1, roof, 0.1, 0.0), (Some(2), Some(3), Some(vec![15])));
}
