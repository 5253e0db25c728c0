//! Violating pairs against random pairs and the oracle, on problems with one row; and what they cannot do.

use crate::adaptor::{problem, solve_checked};
use crate::numbers::Numbers;
use crate::samples::{groups, l1, sample, term};
use equipoise::graph::Topology;
use equipoise::{BlockChoice, Coupling, Error, Method, Settings, Status, solve};
use equipoise_testkit as kit;

/// Objectives agree to this, relative to 1 + |objective|.
const AGREEMENT: f64 = 1e-6;
const CASES: u64 = 200;

fn settings(method: Method) -> Settings {
    Settings { tolerance: 1e-7, time_limit: Some(20.0), method, ..Settings::default() }
}

fn dense(numbers: &mut Numbers, rows: usize, cols: usize) -> kit::Dense {
    let mut matrix = kit::Dense::zeros(rows, cols);
    (0..rows).for_each(|r| matrix.row_mut(r).copy_from_slice(&numbers.vector(cols, 1.0)));
    matrix.sparse = numbers.below(2) == 0;
    if matrix.sparse {
        let drop = (0..rows * cols).filter(|_| numbers.below(2) == 0);
        drop.collect::<Vec<_>>().into_iter().for_each(|k| matrix.row_mut(k / cols)[k % cols] = 0.0);
    }
    matrix
}

/// `M'M`, positive definite or of low rank, and c in its range.
fn quadratic(numbers: &mut Numbers, n: usize) -> kit::Smooth {
    let rows = 1 + numbers.below(2 * n);
    let m = dense(numbers, rows, n);
    let mut q = kit::Dense::zeros(n, n);
    for (i, j) in (0..n).flat_map(|i| (0..=i).map(move |j| (i, j))) {
        let entry: f64 = (0..rows).map(|r| m.get(r, i) * m.get(r, j)).sum();
        (q.row_mut(i)[j], q.row_mut(j)[i]) = (entry, entry);
    }
    let point = numbers.vector(n, 2.0);
    let c = q.times(&point);
    kit::Smooth::Quadratic { q, c }
}

fn smooth(numbers: &mut Numbers, n: usize) -> kit::Smooth {
    let tall = n + 1 + numbers.below(n);
    let flat = 1 + numbers.below(n.div_ceil(2));
    match numbers.below(7) {
        0 => least_squares(numbers, tall, n),
        1 => least_squares(numbers, flat, n),
        2 => quadratic(numbers, n),
        3 => {
            let weights = numbers.vector(n, 1.0).iter().map(|w| 1.1 + w).collect();
            kit::Smooth::Distance { target: numbers.vector(n, 2.0), weights }
        }
        4 => kit::Smooth::Loss {
            loss: kit::Loss::Logistic,
            m: dense(numbers, tall, n),
            y: numbers.labels(tall),
            weights: None,
        },
        5 => {
            let (first, second) = (least_squares(numbers, flat, n), quadratic(numbers, n));
            kit::Smooth::Sum(vec![first, second])
        }
        _ => {
            let logistic = kit::Smooth::Loss {
                loss: kit::Loss::Logistic,
                m: dense(numbers, tall, n),
                y: numbers.labels(tall),
                weights: None,
            };
            let distance = kit::Smooth::Distance { target: numbers.vector(n, 2.0), weights: vec![0.125; n] };
            kit::Smooth::Sum(vec![logistic, distance])
        }
    }
}

fn least_squares(numbers: &mut Numbers, rows: usize, n: usize) -> kit::Smooth {
    kit::Smooth::Loss {
        loss: kit::Loss::LeastSquares,
        m: dense(numbers, rows, n),
        y: numbers.vector(rows, 3.0),
        weights: None,
    }
}

/// h that keeps every f bounded below: bounds to both sides, or a penalty on every coordinate.
fn separable(numbers: &mut Numbers, n: usize) -> kit::Separable {
    let mut bounds = || {
        let lower: Vec<f64> = numbers.vector(n, 1.0).iter().map(|v| v - 1.0).collect();
        let upper = lower.iter().map(|low| low + [0.0, 0.5, 2.0, 3.0][numbers.below(4)]).collect();
        (lower, upper)
    };
    let (lower, upper) = bounds();
    let mut positive = || numbers.vector(n, 0.5).iter().map(|v| 0.55 + v).collect::<Vec<_>>();
    let (l1, l2) = (positive(), positive());
    match numbers.below(4) {
        0 => kit::Separable::Box { lower, upper },
        1 => kit::Separable::L1 { weights: l1 },
        2 => kit::Separable::ElasticNet { l1, l2 },
        _ => kit::Separable::L1Box { weights: l1, lower, upper },
    }
}

/// A row of coefficients of any sign, some 0, and a right-hand side that a point in the domain gives.
fn instance(seed: u64) -> kit::Instance {
    let mut numbers = Numbers::new(7_000 + seed);
    let most = [4, 20, 59][numbers.below(3)];
    let dimension = 2 + numbers.below(most);
    let smooth = smooth(&mut numbers, dimension);
    let separable = separable(&mut numbers, dimension);
    let mut weights: Vec<f64> = (0..dimension)
        .map(|_| match numbers.below(4) {
            0 => 0.0,
            1 => numbers.below(5) as f64 - 2.0,
            _ => 2.0 * numbers.next(),
        })
        .collect();
    weights[0] = -1.5;
    let inside: Vec<f64> = (0..dimension)
        .map(|c| {
            let (lower, upper) = separable.bounds(c);
            let t = 0.5 * (1.0 + numbers.next());
            if lower.is_finite() { lower + t * (upper - lower) } else { 4.0 * t - 2.0 }
        })
        .collect();
    let rhs = weights.iter().zip(&inside).map(|(a, x)| a * x).sum();
    let coupling = if numbers.below(4) == 0 {
        kit::Coupling::Sum(inside.iter().sum())
    } else {
        kit::Coupling::Row { weights, rhs }
    };
    let name = format!("{seed}: {}/{}/{}/{dimension}", smooth.kind(), separable.kind(), coupling.kind());
    kit::Instance { name, smooth, separable, coupling, blocks: kit::Blocks::Auto, dimension }
}

/// The same under two to four rows that share no coordinate; some coordinates are in none.
fn rows_apart(seed: u64) -> kit::Instance {
    let mut numbers = Numbers::new(9_000 + seed);
    let mut instance = instance(seed);
    let n = instance.dimension;
    let rows = (2 + numbers.below(3)).min(n);
    let mut matrix = kit::Dense::zeros(rows, n);
    for c in 0..n {
        let row = if c < rows { c } else { numbers.below(rows + 1) };
        if row < rows {
            matrix.row_mut(row)[c] = [1.0, -1.0, 0.5 + numbers.next().abs()][numbers.below(3)];
        }
    }
    matrix.sparse = numbers.below(2) == 0;
    let inside: Vec<f64> = (0..n)
        .map(|c| {
            let (lower, upper) = instance.separable.bounds(c);
            let t = 0.5 * (1.0 + numbers.next());
            if lower.is_finite() { lower + t * (upper - lower) } else { 4.0 * t - 2.0 }
        })
        .collect();
    instance.name.push_str("/apart");
    instance.coupling = kit::Coupling::Rows { rhs: matrix.times(&inside), matrix };
    instance
}

#[test]
fn violating_pairs_agree_with_random_pairs_and_the_oracle() {
    agree_with_the_oracle(instance, CASES);
}

#[test]
fn rows_that_share_no_coordinate_agree_with_the_oracle() {
    agree_with_the_oracle(rows_apart, CASES / 2);
}

fn agree_with_the_oracle(instance: fn(u64) -> kit::Instance, cases: u64) {
    let (mut failures, mut without_oracle) = (Vec::new(), Vec::new());
    for seed in 0..cases {
        let instance = instance(seed);
        let problem = problem(&instance).expect("valid");
        let oracle = match kit::solve(&instance) {
            Ok(oracle) => oracle,
            Err(failure) => {
                without_oracle.push(failure.to_string());
                continue;
            }
        };
        for method in [Method::Violating, Method::Pairs, Method::Auto] {
            let solution = solve_checked(&problem, &settings(method));
            let objective = kit::objective(&instance, &solution.x);
            let off = (objective - oracle.objective) / (1.0 + oracle.objective.abs());
            let infeasibility = kit::infeasibility(&instance, &solution.x);
            if solution.status != Status::Converged || off.abs() > AGREEMENT || infeasibility > 1e-9 {
                failures.push(format!(
                    "{} by {method:?}: {}, off {off:.1e}, infeasibility {infeasibility:.1e}, gap {:?}, {} updates, {:.1} s",
                    instance.name, solution.status, solution.certificate.duality_gap, solution.updates, solution.seconds
                ));
            }
        }
    }
    println!("{cases} problems, {} without an oracle", without_oracle.len());
    assert!(without_oracle.len() * 20 <= cases as usize, "{without_oracle:#?}");
    assert!(failures.is_empty(), "{} disagree:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn violating_pairs_never_raise_the_objective_and_stay_feasible() {
    for instance in (0..60).flat_map(|seed| [instance(seed), rows_apart(seed)]) {
        let problem = problem(&instance).expect("valid");
        let mut before = problem.objective(problem.start()).expect("in memory");
        for max_updates in [1, 2, 5, 20, 100] {
            let limited = Settings { max_updates: Some(max_updates), ..settings(Method::Violating) };
            let solution = solve_checked(&problem, &limited);
            let objective = kit::objective(&instance, &solution.x);
            assert!(
                objective <= before + 1e-12 * (1.0 + before.abs()),
                "{}: {before}, {objective}",
                instance.name
            );
            assert!(kit::infeasibility(&instance, &solution.x) <= 1e-9, "{}", instance.name);
            before = objective;
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    for instance in (0..40).flat_map(|seed| [instance(seed), rows_apart(seed)]) {
        let problem = problem(&instance).expect("valid");
        let [first, second] = [0, 1].map(|_| solve_checked(&problem, &settings(Method::Violating)));
        assert_eq!((first.x, first.updates), (second.x, second.updates), "{}", instance.name);
    }
}

#[test]
fn a_row_with_a_single_coefficient_fixes_its_coordinate() {
    let smooth = kit::Smooth::Distance { target: vec![3.0, -1.0, 2.0], weights: vec![1.0; 3] };
    let coupling = kit::Coupling::Row { weights: vec![0.0, -2.0, 0.0], rhs: -1.0 };
    let separable = kit::Separable::Box { lower: vec![-1.0; 3], upper: vec![2.5; 3] };
    let instance = kit::Instance {
        name: "one coefficient".into(),
        smooth,
        separable,
        coupling,
        blocks: kit::Blocks::Auto,
        dimension: 3,
    };
    for method in [Method::Violating, Method::Pairs, Method::Auto] {
        let solution = solve_checked(&problem(&instance).expect("valid"), &settings(method));
        assert_eq!(solution.status, Status::Converged, "{method:?}");
        for (x, expected) in solution.x.iter().zip([2.5, 0.5, 2.0]) {
            assert!((x - expected).abs() < 1e-6, "{method:?}: {:?}", solution.x);
        }
    }
}

#[test]
fn violating_pairs_say_what_they_need() {
    let sum = || Coupling::sum(3.0).expect("finite");
    let auto = BlockChoice::Automatic;
    let mut ring = sample("a ring", term(l1()), sum(), auto.clone());
    ring.graph = Topology::Ring;
    let cases = [
        (sample("no rows", term(l1()), Coupling::none(), auto.clone()), "one coupling row"),
        (sample("two rows", term(l1()), crate::samples::rows(2, 24), auto), "one coupling row"),
        (sample("blocks", term(l1()), sum(), BlockChoice::Size(4)), "one coordinate"),
        (sample("groups", groups(0.5), sum(), BlockChoice::Size(4)), "one coordinate"),
        (sample("groups of one", groups(0.5), sum(), BlockChoice::Size(1)), "group"),
        (ring, "clique"),
    ];
    for (sample, needed) in cases {
        let name = sample.name;
        let problem = sample.problem();
        let error = solve(&problem, &settings(Method::Violating)).expect_err(name);
        let Error::MethodNotApplicable { method, why } = error else { panic!("{name}: {error}") };
        assert_eq!(method, "violating");
        assert!(why.contains(needed), "{name}: {why}");
        // What it cannot do, another can.
        assert_eq!(solve_checked(&problem, &settings(Method::Auto)).status, Status::Converged, "{name}");
    }
}

#[test]
fn a_second_row_that_says_the_same_is_no_obstacle() {
    let matrix = crate::adaptor::matrix_of(&[&[1.0; 24], &[2.0; 24]]);
    let coupling = Coupling::rows_of(matrix, vec![3.0, 6.0]).expect("finite");
    let problem = sample("dependent rows", term(l1()), coupling, BlockChoice::Automatic).problem();
    match solve(&problem, &settings(Method::Violating)) {
        Ok(solution) => assert_eq!(solution.status, Status::Converged),
        Err(error) => assert!(matches!(error, Error::MethodNotApplicable { .. }), "{error}"),
    }
}
