//! Whole sets of random problems of shapes that pairs are no match for, counted: how many converge, and whether an objective ever
//! rose. The first is small enough to be solved at every test; the others take minutes and are asked for by name
//! (`cargo test --release -p equipoise --test suite -- --ignored --nocapture shape_sets`).

use equipoise::solve::{Observer, Progress, Solver};
use equipoise::{Settings, Status};
use equipoise_testkit::{self as kit, Blocks, Coupling, Dense, Instance, Loss, Separable, Smooth};

use crate::adaptor::problem;
use crate::numbers::Numbers;

/// Seconds a problem. The wish is 10 on a machine of its own with an optimised build, where they take hundredths; a test that other
/// tests keep waiting is not to fail for that, and ends a problem that hangs all the same.
const SECONDS: f64 = 60.0;

/// The largest objective so far after a smaller one, relative to its size.
#[derive(Default)]
struct Rises {
    least: Option<f64>,
    worst: f64,
}

impl Observer for Rises {
    fn checkpoint(&mut self, progress: &Progress) {
        let now = progress.verdict.objective;
        let least = *self.least.get_or_insert(now);
        self.worst = self.worst.max((now - least) / (1.0 + least.abs()));
        self.least = Some(least.min(now));
    }
}

/// What became of a set.
#[derive(Default)]
struct Count {
    problems: usize,
    converged: usize,
    rising: usize,
    others: Vec<String>,
}

impl Count {
    fn solve(&mut self, instance: &Instance, tolerance: f64, seconds: f64) {
        self.problems += 1;
        let settings = Settings { tolerance, time_limit: Some(seconds), ..Settings::default() };
        let problem = match problem(instance) {
            Ok(problem) => problem,
            Err(error) => return self.others.push(format!("{}: {error}", instance.name)),
        };
        let mut rises = Rises::default();
        let solution = match Solver::new(&problem, &settings).observer(&mut rises).run() {
            Ok(solution) => solution,
            Err(error) => return self.others.push(format!("{}: {error}", instance.name)),
        };
        // What the rows miss by rounding moves the objective about as far.
        if rises.worst > 1e-9 {
            self.rising += 1;
            self.others.push(format!("{}: rose by {:.1e}", instance.name, rises.worst));
        }
        if solution.status == Status::Converged {
            self.converged += 1;
        } else {
            let (gap, residual) = (solution.certificate.duality_gap, solution.certificate.kkt_residual);
            self.others.push(format!(
                "{}: {}, gap {gap:?}, KKT {residual:.1e}, {:.1} s",
                instance.name, solution.status, solution.seconds
            ));
        }
    }

    fn judge(&self, share: f64) {
        println!("{} of {} converged, {} rose", self.converged, self.problems, self.rising);
        self.others.iter().for_each(|other| println!("  {other}"));
        assert!(self.rising == 0, "{} rose", self.rising);
        assert!(self.converged as f64 >= share * self.problems as f64, "{} converged", self.converged);
    }
}

fn dense(numbers: &mut Numbers, rows: usize, cols: usize) -> Dense {
    Dense { rows, cols, data: numbers.vector(rows * cols, 1.0), sparse: false }
}

fn with_rows(name: String, smooth: Smooth, separable: Separable, matrix: Dense, at: &[f64]) -> Instance {
    let (rhs, dimension) = (matrix.times(at), at.len());
    let coupling = Coupling::Rows { matrix, rhs };
    Instance { name, smooth, separable, coupling, blocks: Blocks::Auto, dimension }
}

/// Factors over so many decades.
fn spread(numbers: &mut Numbers, decades: f64, count: usize) -> Vec<f64> {
    (0..count).map(|_| 10f64.powf(0.5 * decades * numbers.next())).collect()
}

/// A loss or a quadratic under 1 to 8 rows, with any penalty; rows, columns or data in units over 2 to 6 decades.
fn badly_scaled(seed: u64) -> Instance {
    let mut numbers = Numbers::new(40_000 + seed);
    let decades = 2.0 + numbers.below(5) as f64;
    let (n, m) = (10 + numbers.below(50), 1 + numbers.below(8));
    let samples = n / 2 + numbers.below(2 * n);
    let what = seed % 3;
    let unit = if what == 1 { spread(&mut numbers, decades, n) } else { vec![1.0; n] };
    let of_rows = if what == 0 { spread(&mut numbers, decades, m) } else { vec![1.0; m] };
    let of_data = if what == 2 { spread(&mut numbers, decades, samples) } else { vec![1.0; samples] };
    let mut matrix = dense(&mut numbers, m, n);
    for (r, factor) in of_rows.iter().enumerate() {
        matrix.row_mut(r).iter_mut().zip(&unit).for_each(|(a, unit)| *a *= factor / unit);
    }
    let mut data = dense(&mut numbers, samples, n);
    for (r, factor) in of_data.iter().enumerate() {
        data.row_mut(r).iter_mut().zip(&unit).for_each(|(a, unit)| *a *= factor / unit);
    }
    let scaled = |numbers: &mut Numbers, size: f64| -> Vec<f64> {
        numbers.vector(samples, size).iter().zip(&of_data).map(|(y, factor)| y * factor).collect()
    };
    let (kind, smooth) = match numbers.below(4) {
        0 => {
            let y = scaled(&mut numbers, 3.0);
            ("squares", Smooth::Loss { loss: Loss::LeastSquares, m: data, y, weights: None })
        }
        1 => {
            let y = numbers.labels(samples);
            ("logistic", Smooth::Loss { loss: Loss::Logistic, m: data, y, weights: None })
        }
        2 => {
            let y = scaled(&mut numbers, 3.0);
            ("huber", Smooth::Loss { loss: Loss::Huber { delta: 1.0 }, m: data, y, weights: None })
        }
        _ => {
            let target = numbers.vector(n, 2.0).iter().zip(&unit).map(|(t, unit)| t * unit).collect();
            let weights = spread(&mut numbers, 1.0, n).iter().zip(&unit).map(|(w, u)| w / (u * u)).collect();
            ("distance", Smooth::Distance { target, weights })
        }
    };
    let lower: Vec<f64> = unit.iter().map(|unit| -0.5 * unit).collect();
    let upper: Vec<f64> = unit.clone();
    let l1: Vec<f64> = unit.iter().map(|unit| 0.3 / unit).collect();
    let separable = match numbers.below(4) {
        0 | 1 => Separable::Box { lower, upper },
        2 => Separable::ElasticNet { l1, l2: unit.iter().map(|unit| 0.1 / (unit * unit)).collect() },
        _ => Separable::L1Box { weights: l1, lower, upper },
    };
    let at: Vec<f64> = unit.iter().map(|unit| (0.25 + 0.6 * numbers.next()) * unit).collect();
    let name = format!(
        "{seed}: {kind}/{}, {} over {decades} decades, {m} of {n}",
        separable.kind(),
        ["rows", "columns", "data"][what as usize]
    );
    with_rows(name, smooth, separable, matrix, &at)
}

#[test]
fn units_over_two_to_six_decades() {
    let mut count = Count::default();
    (0..300).for_each(|seed| count.solve(&badly_scaled(seed), 1e-6, SECONDS));
    count.judge(0.99);
}

/// A squared hinge with l1 and nothing else under 1 to 8 rows, samples in units over 6 decades.
fn hinge_with_l1(seed: u64) -> Instance {
    let mut numbers = Numbers::new(45_000 + seed);
    let (n, m) = (10 + numbers.below(50), 1 + numbers.below(8));
    let samples = n / 2 + numbers.below(2 * n);
    let matrix = dense(&mut numbers, m, n);
    let mut data = dense(&mut numbers, samples, n);
    for (r, factor) in spread(&mut numbers, 6.0, samples).iter().enumerate() {
        data.row_mut(r).iter_mut().for_each(|a| *a *= factor);
    }
    let y = numbers.labels(samples);
    let at: Vec<f64> = (0..n).map(|_| 0.5 + 0.25 * numbers.next()).collect();
    let smooth = Smooth::Loss { loss: Loss::SquaredHinge, m: data, y, weights: None };
    let separable = Separable::L1 { weights: vec![0.3; n] };
    with_rows(format!("{seed}: hinge and l1, {samples} samples, {m} of {n}"), smooth, separable, matrix, &at)
}

#[test]
fn hinges_with_kinks_over_six_decades() {
    let mut count = Count::default();
    (0..20).for_each(|seed| count.solve(&hinge_with_l1(seed), 1e-6, SECONDS));
    count.judge(0.95);
}

/// 100 to 200 dense rows, linear or logistic f on a box.
fn many_dense_rows(seed: u64) -> Instance {
    let mut numbers = Numbers::new(50_000 + seed);
    let m = 100 + numbers.below(101);
    let n = 2 * m;
    let (matrix, y) = (dense(&mut numbers, m, n), numbers.labels(n));
    let at: Vec<f64> = (0..n).map(|_| 0.5 + 0.4 * numbers.next()).collect();
    let separable = Separable::Box { lower: vec![0.0; n], upper: vec![1.0; n] };
    let (kind, smooth) = if seed.is_multiple_of(2) {
        ("linear", Smooth::Linear { c: numbers.vector(n, 1.0) })
    } else {
        let data = dense(&mut numbers, n, n);
        ("logistic", Smooth::Loss { loss: Loss::Logistic, m: data, y, weights: None })
    };
    with_rows(format!("{seed}: {kind}, {m} rows"), smooth, separable, matrix, &at)
}

#[test]
#[ignore = "takes minutes: 60 problems with 100 to 200 dense rows"]
fn a_hundred_to_two_hundred_dense_rows() {
    let mut count = Count::default();
    (0..60).for_each(|seed| count.solve(&many_dense_rows(seed), 1e-6, 10.0));
    count.judge(1.0);
}

/// Sparse rows over twice as many variables x >= 0, and costs for which a degenerate vertex is optimal.
fn degenerate(seed: u64) -> Instance {
    let mut numbers = Numbers::new(60_000 + seed);
    let m = 60 + numbers.below(81);
    let n = 2 * m;
    let mut matrix = Dense { sparse: true, ..Dense::zeros(m, n) };
    for r in 0..m {
        for _ in 0..5 {
            let c = numbers.below(n);
            matrix.row_mut(r)[c] = numbers.next();
        }
    }
    let positive: Vec<bool> = (0..n).map(|_| numbers.below(4) == 0).collect();
    let at: Vec<f64> = positive.iter().map(|p| if *p { 1.0 + numbers.next().abs() } else { 0.0 }).collect();
    let prices = matrix.transpose_times(&numbers.vector(m, 1.0));
    let slack = |p: &bool, numbers: &mut Numbers| if *p { 0.0 } else { numbers.next().abs() };
    let c = prices.iter().zip(&positive).map(|(a, p)| a + slack(p, &mut numbers)).collect();
    with_rows(format!("{seed}: {m} rows"), Smooth::Linear { c }, Separable::NonNegative, matrix, &at)
}

#[test]
#[ignore = "takes a minute: 80 degenerate vertices"]
fn eighty_degenerate_vertices() {
    let mut count = Count::default();
    (0..80).for_each(|seed| count.solve(&degenerate(seed), 1e-6, 10.0));
    count.judge(79.0 / 80.0);
}

/// Two of four rows parallel up to 1e-6 to 1e-9.
fn parallel(seed: u64) -> Instance {
    let mut numbers = Numbers::new(70_000 + seed);
    let apart = 10f64.powi(-6 - (seed % 4) as i32);
    let (m, n) = (4, 20 + numbers.below(30));
    let mut matrix = dense(&mut numbers, m, n);
    for c in 0..n {
        matrix.row_mut(3)[c] = matrix.get(0, c) + apart * numbers.next();
    }
    let at: Vec<f64> = (0..n).map(|_| 0.5 + 0.4 * numbers.next()).collect();
    let smooth = Smooth::Distance { target: numbers.vector(n, 2.0), weights: vec![0.5; n] };
    let separable = Separable::Box { lower: vec![0.0; n], upper: vec![1.0; n] };
    with_rows(format!("{seed}: apart by {apart:e}"), smooth, separable, matrix, &at)
}

#[test]
fn rows_parallel_up_to_a_billionth() {
    let mut count = Count::default();
    (0..40).for_each(|seed| count.solve(&parallel(seed), 1e-6, SECONDS));
    count.judge(1.0);
}

/// The answer of a certificate is that of the oracle, where the oracle has one.
#[test]
fn units_do_not_hide_a_wrong_optimum() {
    for seed in 0..30 {
        let instance = badly_scaled(7 * seed);
        let Ok(oracle) = kit::solve(&instance) else { continue };
        let solution = crate::adaptor::solve_checked(
            &problem(&instance).expect("feasible"),
            &Settings { tolerance: 1e-7, time_limit: Some(SECONDS), ..Settings::default() },
        );
        let off = kit::objective(&instance, &solution.x) - oracle.objective;
        assert!(off <= 1e-6 * (1.0 + oracle.objective.abs()), "{}: {off:e}", instance.name);
    }
}
