//! Fits against an independent solver, bounds against exact arithmetic, limits, warm starts, threads.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dashu::rational::RBig;
use equipoise::{Control, DenseMatrix, Matrix, Status};
use equipoise_testkit::{Blocks, Coupling, Dense, Instance, Loss, Separable, Smooth};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Data, Error, Fit, Region, Round, Rows, Settings, Watch, fit, fit_many, verify};

/// One random problem.
struct Case {
    x: DenseMatrix<'static>,
    y: Vec<f64>,
    weights: Option<Vec<f64>>,
    region: Region,
    settings: Settings,
}

impl Case {
    fn data(&self) -> Data<'_> {
        Data { matrix: &self.x, weights: self.weights.as_deref() }
    }

    fn fit(&self) -> Fit {
        fit(&self.data(), &self.y, &self.region, &self.settings, None, Watch::default()).expect("a fit")
    }

    /// The same for the oracle: the ridge as rows of its own.
    fn instance(&self, name: String) -> Instance {
        let (rows, columns) = (self.x.rows(), self.x.columns());
        let mut m: Vec<Vec<f64>> =
            (0..rows).map(|i| (0..columns).map(|j| self.x.column(j)[i]).collect()).collect();
        let (mut y, mut weights) = (self.y.clone(), self.weights.clone().unwrap_or_else(|| vec![1.0; rows]));
        if self.settings.ridge > 0.0 {
            for j in 0..columns {
                let mut row = vec![0.0; columns];
                row[j] = 1.0;
                m.push(row);
                y.push(0.0);
                weights.push(self.settings.ridge);
            }
        }
        let coupling = match &self.region.rows {
            Rows::None => Coupling::None,
            Rows::Sum(sum) => Coupling::Sum(*sum),
            Rows::Equations { matrix, rhs } => {
                let row = |r: usize| (0..columns).map(|c| matrix.entry(r, c)).collect::<Vec<f64>>();
                let matrix = Dense::from_rows(&(0..matrix.rows()).map(row).collect::<Vec<_>>());
                Coupling::Rows { matrix, rhs: rhs.clone() }
            }
        };
        Instance {
            name,
            smooth: Smooth::Loss {
                loss: Loss::LeastSquares,
                m: Dense::from_rows(&m),
                y,
                weights: Some(weights),
            },
            separable: Separable::Box { lower: self.region.lower.clone(), upper: self.region.upper.clone() },
            coupling,
            blocks: Blocks::Auto,
            dimension: columns,
        }
    }
}

/// A problem of a kind: simplex, scaled simplex, box with a sum, box, non-negative, upper bounds, equality rows.
fn case(kind: usize, seed: u64, rows: usize, columns: usize) -> Case {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1000 * kind as u64 + seed);
    let mut draw = |low: f64, high: f64| low + (high - low) * rng.random::<f64>();
    let x: Vec<f64> = (0..rows * columns).map(|_| draw(-0.5, 1.0)).collect();
    let y: Vec<f64> = (0..rows).map(|_| draw(-1.0, 2.0)).collect();
    let weights = (seed % 3 == 1).then(|| (0..rows).map(|_| draw(-0.2, 2.0).max(0.0)).collect());
    let ridge = if seed.is_multiple_of(4) { draw(0.01, 1.0) } else { 0.0 };
    let lower: Vec<f64> = (0..columns).map(|_| draw(-1.0, 0.1)).collect();
    let upper: Vec<f64> = lower.iter().map(|l| l + draw(0.0, 1.0)).collect();
    let endless = vec![f64::INFINITY; columns];
    let region = match kind {
        0 => Region::simplex(columns, 1.0),
        1 => Region::simplex(columns, draw(0.1, 5.0)),
        2 => {
            let share = draw(0.0, 1.0);
            let sum = lower.iter().zip(&upper).map(|(l, u)| l + share * (u - l)).sum();
            Region { lower, upper, rows: Rows::Sum(sum) }
        }
        3 => Region::bounds(lower, upper),
        4 => Region::bounds(vec![0.0; columns], endless),
        5 => Region::bounds(vec![f64::NEG_INFINITY; columns], upper),
        _ => {
            let count = 1 + columns / 4;
            let a: Vec<Vec<f64>> =
                (0..count).map(|_| (0..columns).map(|_| draw(-1.0, 1.0)).collect()).collect();
            // A point inside the box makes the rows feasible.
            let inside: Vec<f64> = lower.iter().zip(&upper).map(|(l, u)| 0.5 * (l + u)).collect();
            let rhs = a.iter().map(|row| row.iter().zip(&inside).map(|(a, w)| a * w).sum()).collect();
            let matrix = Matrix::from_rows(&a).expect("rows");
            Region { lower, upper, rows: Rows::Equations { matrix, rhs } }
        }
    };
    let x = DenseMatrix::from_columns(rows, columns, x).expect("a matrix");
    Case { x, y, weights, region, settings: Settings { ridge, gap: 1e-8, ..Settings::default() } }
}

#[test]
fn random_problems_agree_with_the_oracle() {
    let mut compared = 0;
    for kind in 0..7 {
        for seed in 0..(if kind == 6 { 12 } else { 45 }) {
            let (rows, columns) = (6 + (seed as usize * 7) % 30, 2 + (seed as usize * 5) % 14);
            let mut case = case(kind, seed, rows, columns);
            if kind == 6 {
                case.settings.gap = 1e-6;
            }
            let name = format!("kind {kind}, seed {seed}, {rows} x {columns}");
            let found = case.fit();
            assert_eq!(found.status, Status::Converged, "{name}: gap {:e}", found.relative_gap);
            assert!(found.bound <= found.objective + 1e-9 * (1.0 + found.objective), "{name}");
            assert!(found.x.iter().zip(&case.region.lower).all(|(w, l)| w >= l), "{name}");
            assert!(found.x.iter().zip(&case.region.upper).all(|(w, u)| w <= u), "{name}");
            assert!(found.infeasibility <= 1e-9, "{name}: {:e}", found.infeasibility);
            let checked =
                verify(&case.data(), &case.y, &case.region, &case.settings, &found.x, &Control::unlimited());
            assert_eq!(checked.expect("checked").status, Status::Converged, "{name}");
            let Ok(oracle) = equipoise_testkit::solve(&case.instance(name.clone())) else { continue };
            let size = 1.0 + oracle.objective.abs();
            let allowed = 1e-6 * size + case.settings.gap * case.data().scale(&case.y, 0.0);
            assert!(
                (found.objective - oracle.objective).abs() <= allowed,
                "{name}: {} against {}",
                found.objective,
                oracle.objective
            );
            assert!(
                found.bound <= oracle.objective + 1e-6 * size,
                "{name}: {} above {}",
                found.bound,
                oracle.objective
            );
            compared += 1;
        }
    }
    assert!(compared >= 250, "the oracle judged only {compared}");
}

#[test]
fn wide_problems_work_on_few_columns() {
    for kind in 0..5 {
        let mut case = case(kind, 2, 60, 300);
        case.settings.gap = 1e-7;
        let mut columns = 0;
        let mut seen = |round: &Round| columns = round.columns;
        let watch = Watch { observer: Some(&mut seen), control: Control::unlimited() };
        let found = fit(&case.data(), &case.y, &case.region, &case.settings, None, watch).expect("a fit");
        assert_eq!(found.status, Status::Converged, "kind {kind}: gap {:e}", found.relative_gap);
        assert!(kind > 1 || columns < 300, "the simplex needs few columns, not {columns}");
        let oracle = equipoise_testkit::solve(&case.instance(format!("wide {kind}"))).expect("an optimum");
        assert!((found.objective - oracle.objective).abs() <= 1e-5 * (1.0 + oracle.objective), "kind {kind}");
    }
}

/// The same columns in units from 1e-7 to 1e7.
fn with_units(x: &DenseMatrix<'_>, seed: u64) -> DenseMatrix<'static> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (rows, columns) = (x.rows(), x.columns());
    let units: Vec<f64> = (0..columns).map(|_| 10_f64.powf(random.random_range(-7.0..7.0))).collect();
    let values = x.values().iter().enumerate().map(|(k, value)| value * units[k / rows]);
    DenseMatrix::from_columns(rows, columns, values.collect()).expect("a matrix")
}

/// Rounding has a part in none of these: neither columns in units that are far apart, nor targets that the region allows nothing near.
#[test]
fn columns_of_very_different_lengths_and_targets_out_of_reach_converge() {
    for kind in 0..2 {
        let stalled = (0..60).filter(|&seed| {
            let mut case = case(kind, 900 + seed, 4 + seed as usize % 9, 2 + seed as usize % 6);
            case.x = with_units(&case.x, seed);
            case.settings.gap = 1e-6;
            case.fit().status != Status::Converged
        });
        // A few are beyond f64: a column of 1e7 would have to be orthogonal to the residual to twenty digits.
        let stalled: Vec<u64> = stalled.collect();
        assert!(stalled.len() <= 6, "kind {kind}: {stalled:?}");
    }
    let x = DenseMatrix::from_columns(4, 1, vec![0.0, -95.8, -95.8, 33.0]).expect("a matrix");
    for y in [[0.0, 0.01, 0.0, 0.0], [1e-38; 4], [-3e-27, 1e-38, 0.0, 0.0]] {
        let region = Region::simplex(1, 1.0);
        let found =
            fit(&Data::new(&x), &y, &region, &Settings::default(), None, Watch::default()).expect("a fit");
        assert_eq!((found.status, found.x), (Status::Converged, vec![1.0]), "{:e}", found.relative_gap);
    }
}

fn exact(value: f64) -> RBig {
    RBig::try_from(value).expect("finite")
}

/// The objective at a rational point, exactly.
fn objective(case: &Case, w: &[RBig]) -> RBig {
    let mut sum = RBig::ZERO;
    for (i, y) in case.y.iter().enumerate() {
        let mut r = -exact(*y);
        for (j, w) in w.iter().enumerate() {
            r += exact(case.x.column(j)[i]) * w.clone();
        }
        sum += exact(case.weights.as_ref().map_or(1.0, |weights| weights[i])) * r.clone() * r;
    }
    let squares = w.iter().fold(RBig::ZERO, |sum, w| sum + w.clone() * w.clone());
    (sum + exact(case.settings.ridge) * squares) / RBig::from(2)
}

/// Fewer rows than columns, whose lengths are far apart: what keeps weights near has to be in the units of each.
#[test]
fn columns_that_depend_on_each_other_and_are_of_very_different_lengths_converge() {
    let cases: [(&[f64], &[&[f64]]); 3] = [
        (&[1.394, 1.771], &[&[388_671.196, 0.0], &[0.0, 0.0], &[0.0, 0.416], &[-1_220_894.96, 0.0]]),
        (
            &[-3.298e-4, 7.054e-5],
            &[&[2.078e-3, -9.606e-7], &[-3.698e-3, -6.567e-3], &[8.559, -5.617e-3], &[-911.7, -0.3585]],
        ),
        (
            &[-2.0, -4.0, 0.0, 1.0],
            &[
                &[52_297.6, 0.0, 0.0, 0.0],
                &[0.0, -8.098e-3, -1.091e-4, 0.0],
                &[0.0, 0.0, -0.2314, 0.0],
                &[0.0, 0.0, 0.0, -341.9],
                &[0.0, -2_620_130.5, -4.817e-6, 0.0],
            ],
        ),
    ];
    for (y, columns) in cases {
        let x = DenseMatrix::from_columns(y.len(), columns.len(), columns.concat()).expect("valid");
        let (y, region) = (y.to_vec(), Region::simplex(columns.len(), 1.0));
        let found = Case { x, y, weights: None, region, settings: Settings::default() }.fit();
        assert_eq!(found.status, Status::Converged, "{found:?}");
        assert!(found.bound <= found.objective && found.relative_gap <= 1e-6);
    }
}

#[test]
fn no_bound_is_false_in_exact_arithmetic() {
    for kind in 0..5 {
        for seed in 0..60 {
            let mut case = case(kind, 500 + seed, 4 + seed as usize % 9, 2 + seed as usize % 6);
            // Units that are far apart; from half of the seeds on those of columns, too.
            let power = 10_f64.powi([0, 6, -7][seed as usize % 3]);
            case.y.iter_mut().for_each(|y| *y *= power);
            if seed >= 30 {
                case.x = with_units(&case.x, seed);
            }
            let found = case.fit();
            let w: Vec<RBig> = found.x.iter().map(|w| exact(*w)).collect();
            assert!(objective(&case, &w) <= exact(found.objective), "kind {kind}, seed {seed}: objective");
            // The same point, made exactly feasible: no lower bound may be above it.
            let feasible: Vec<RBig> = match case.region.rows {
                Rows::Sum(sum) if kind < 2 => {
                    let total = w.iter().fold(RBig::ZERO, |total, w| total + w.clone());
                    w.iter().map(|w| w.clone() * exact(sum) / total.clone()).collect()
                }
                Rows::Sum(sum) => {
                    let total = w.iter().fold(RBig::ZERO, |total, w| total + w.clone());
                    let lack = exact(sum) - total;
                    let room =
                        |k: usize| (found.x[k] - case.region.lower[k]).min(case.region.upper[k] - found.x[k]);
                    let k = (0..w.len()).max_by(|&a, &b| room(a).total_cmp(&room(b))).expect("a weight");
                    let mut moved = w.clone();
                    moved[k] += lack;
                    let inside =
                        moved[k] >= exact(case.region.lower[k]) && moved[k] <= exact(case.region.upper[k]);
                    if !inside {
                        continue;
                    }
                    moved
                }
                _ => w.clone(),
            };
            let value = objective(&case, &feasible);
            assert!(exact(found.bound) <= value, "kind {kind}, seed {seed}: bound {} false", found.bound);
        }
    }
}

#[test]
fn many_targets_are_fitted_like_one_and_threads_change_no_bit() {
    for kind in [0, 2, 3, 4, 6] {
        let case = case(kind, 7, 40, 12);
        let count = if kind == 6 { 5 } else { 70 };
        let values: Vec<f64> = (0..count * 40).map(|k| f64::from(k * 37 % 101) / 50.0 - 0.4).collect();
        let targets = DenseMatrix::from_columns(40, count as usize, values).expect("targets");
        let run = |threads: usize| {
            let settings = Settings { threads, ..case.settings.clone() };
            fit_many(&case.data(), &targets, &case.region, &settings, None, &Control::unlimited())
                .expect("fits")
        };
        let (fits, again) = (run(1), run(3));
        assert_eq!(fits.len(), count as usize);
        for (k, (one, other)) in fits.iter().zip(&again).enumerate() {
            assert_eq!(
                (&one.x, one.objective, one.bound),
                (&other.x, other.objective, other.bound),
                "kind {kind}, {k}"
            );
            assert_eq!(one.status, Status::Converged);
            let alone =
                fit(&case.data(), targets.column(k), &case.region, &case.settings, None, Watch::default())
                    .expect("a fit");
            let allowed = 2.0 * case.settings.gap * case.data().scale(targets.column(k), 0.0);
            assert!((one.objective - alone.objective).abs() <= allowed, "kind {kind}, target {k}");
        }
    }
}

#[test]
fn threads_change_no_bit_of_a_large_fit() {
    let case = case(0, 3, 5000, 400);
    let run = |threads: usize| {
        let settings = Settings { threads, ..case.settings.clone() };
        fit(&case.data(), &case.y, &case.region, &settings, None, Watch::default()).expect("a fit")
    };
    let (one, four) = (run(1), run(4));
    assert_eq!((one.x, one.objective, one.bound), (four.x, four.objective, four.bound));
}

#[test]
fn a_warm_start_ends_where_a_cold_one_does() {
    for kind in [0, 2, 3, 6] {
        let case = case(kind, 11, 50, 200);
        let cold = case.fit();
        let shifted: Vec<f64> = cold.x.iter().map(|w| w + 0.001).collect();
        let warm = fit(&case.data(), &case.y, &case.region, &case.settings, Some(&shifted), Watch::default());
        let warm = warm.expect("a fit");
        assert_eq!(warm.status, Status::Converged);
        let allowed = 2.0 * case.settings.gap * case.data().scale(&case.y, 0.0);
        assert!((warm.objective - cold.objective).abs() <= allowed, "kind {kind}");
    }
}

#[test]
fn a_wish_to_stop_gives_a_feasible_point_and_a_true_bound() {
    let case = case(0, 3, 200, 300);
    let flag = Arc::new(AtomicBool::new(true));
    for (control, status) in
        [(Control::on(flag), Status::Interrupted), (Control::unlimited().within(0.0), Status::TimeLimit)]
    {
        let watch = Watch { observer: None, control: control.clone() };
        let found = fit(&case.data(), &case.y, &case.region, &case.settings, None, watch).expect("a point");
        assert_eq!(found.status, status);
        assert!(found.infeasibility <= 1e-15 && found.x.iter().all(|w| *w >= 0.0));
        assert!(found.bound >= 0.0 && found.bound <= case.fit().objective && found.objective.is_finite());
        let targets = DenseMatrix::from_columns(200, 1, case.y.clone()).expect("a target");
        let many =
            fit_many(&case.data(), &targets, &case.region, &case.settings, None, &control).expect("points");
        assert_eq!(many[0].status, status);
    }
}

#[test]
fn columns_that_repeat_and_a_target_of_zero_are_no_obstacle() {
    let column: Vec<f64> = (0..20).map(|k| f64::from(k) / 7.0 - 1.0).collect();
    let values: Vec<f64> = (0..6).flat_map(|_| column.clone()).collect();
    let x = DenseMatrix::from_columns(20, 6, values).expect("a matrix");
    for y in [vec![0.0; 20], column.clone(), vec![1.0; 20]] {
        for region in [Region::simplex(6, 1.0), Region::bounds(vec![0.0; 6], vec![0.3; 6])] {
            let found = fit(&Data::new(&x), &y, &region, &Settings::default(), None, Watch::default())
                .expect("a fit");
            assert_eq!(found.status, Status::Converged, "{region:?}: gap {:e}", found.relative_gap);
        }
    }
}

#[test]
fn what_cannot_be_is_refused_with_evidence() {
    let case = case(0, 1, 10, 4);
    let try_fit = |y: &[f64], region: &Region, settings: &Settings| {
        fit(&case.data(), y, region, settings, None, Watch::default()).expect_err("refused")
    };
    let (settings, simplex) = (Settings::default(), Region::simplex(4, 1.0));
    assert!(matches!(
        try_fit(&[1.0; 9], &simplex, &settings),
        Error::Length { what: "target", found: 9, expected: 10, .. }
    ));
    let mut y = vec![1.0; 10];
    y[3] = f64::NAN;
    assert!(matches!(try_fit(&y, &simplex, &settings), Error::BadNumber { what: "target", place: 4, .. }));
    let y = [1.0; 10];
    let crossed = Region::bounds(vec![0.0, 0.0, 2.0, 0.0], vec![1.0; 4]);
    assert_eq!(try_fit(&y, &crossed, &settings), Error::Crossed { column: 3, lower: 2.0, upper: 1.0 });
    let short = Region::simplex(3, 1.0);
    assert!(matches!(try_fit(&y, &short, &settings), Error::Length { found: 3, expected: 4, .. }));
    let far = Region { lower: vec![0.0; 4], upper: vec![0.2; 4], rows: Rows::Sum(1.0) };
    assert!(matches!(try_fit(&y, &far, &settings), Error::OutOfReach { sum: 1.0, least: 0.0, .. }));
    let negative = Region::simplex(4, -1.0);
    assert!(matches!(try_fit(&y, &negative, &settings), Error::OutOfReach { .. }));
    let rows = |count: usize, rhs: Vec<f64>| {
        let matrix = Matrix::from_rows(&vec![[1.0; 4]; count]).expect("rows");
        let (lower, upper) = (vec![f64::NEG_INFINITY; 4], vec![f64::INFINITY; 4]);
        Region { lower, upper, rows: Rows::Equations { matrix, rhs } }
    };
    assert_eq!(try_fit(&y, &rows(5, vec![1.0; 5]), &settings), Error::TooManyRows { rows: 5, columns: 4 });
    let contradiction = try_fit(&y, &rows(2, vec![1.0, 2.0]), &settings);
    assert!(
        matches!(contradiction, Error::Equipoise(_)) && contradiction.to_string().contains("row"),
        "{contradiction}"
    );
    for bad in [
        Settings { ridge: -1.0, ..Settings::default() },
        Settings { gap: 0.0, ..Settings::default() },
        Settings { threads: 0, ..Settings::default() },
    ] {
        assert!(matches!(try_fit(&y, &simplex, &bad), Error::BadSetting { .. }), "{bad:?}");
    }
    let outside =
        verify(&case.data(), &y, &simplex, &settings, &[2.0, -1.0, 0.0, 0.0], &Control::unlimited());
    assert!(matches!(outside, Err(Error::BadNumber { what: "weight", place: 2, .. })));
    let missed = verify(&case.data(), &y, &simplex, &settings, &[0.5, 0.0, 0.0, 0.0], &Control::unlimited());
    assert_ne!(missed.expect("checked").status, Status::Converged);
}
