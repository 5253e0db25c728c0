//! Findings of hostile users: what was once claimed falsely, refused though solvable, or made worse on the way.

use equipoise::graph::Topology;
use equipoise::separable::{ElasticNet, GroupL2, L1, Nonsmooth, SeparableTerm, Zero};
use equipoise::smooth::loss::{HuberLoss, Squared};
use equipoise::smooth::{Distance, Huber, LeastSquares, Quadratic, SmoothTerm};
use equipoise::solve::{Observer, Progress, Solver};
use equipoise::{BlockChoice, Coupling, Matrix, Method, Problem, Settings, Status, certificate, solve};

use crate::adaptor::{AnyProblem, builder, composite, matrix_of, solve_checked};
use crate::numbers::Numbers;

fn rows(matrix: &[&[f64]], rhs: &[f64]) -> Coupling {
    Coupling::rows_of(matrix_of(matrix), rhs.to_vec()).expect("finite")
}

#[test]
fn a_small_row_beside_a_large_one_is_not_missed() {
    let f = Distance::new(vec![1.0; 4], 1.0).expect("finite");
    let far_apart = rows(&[&[1.0, 1.0, 0.0, 0.0], &[0.0, 0.0, 1.0, 1.0]], &[1e9, 1.0]);
    let problem = builder(f.clone()).coupling(far_apart).build().expect("feasible");
    let missed = certificate::check(&problem, &[5e8, 5e8, 0.0, 0.0]).expect("a point");
    assert!(!missed.is_feasible() && missed.relative_infeasibility >= 1.0);
    assert!((1.0..1.0 + 1e-12).contains(&missed.infeasibility), "{}", missed.infeasibility);
    let sizes = rows(&[&[1e6, 1e6, 0.0, 0.0], &[0.0, 1e-6, 1e-6, 2e-6]], &[2e6, 3e-6]);
    let problem = builder(f).coupling(sizes).build().expect("feasible");
    for method in [Method::Auto, Method::Pairs] {
        let solution = solve_checked(&problem, &Settings { method, ..Settings::default() });
        assert_eq!(solution.status, Status::Converged);
        let x = &solution.x;
        let small = 1e-6 * x[1] + 1e-6 * x[2] + 2e-6 * x[3];
        assert!((small - 3e-6).abs() <= 1e-9 * 3e-6 * 10.0, "{method:?}: {small:e}");
    }
}

#[test]
fn a_small_gradient_is_no_small_distance() {
    let one = Huber::new(matrix_of(&[&[0.001]]), vec![1000.0], HuberLoss::new(0.5).expect("positive"));
    let two = Huber::new(
        matrix_of(&[&[1.0, 0.0], &[0.0, 1e-7]]),
        vec![0.0, 1.0],
        HuberLoss::new(0.1).expect("positive"),
    );
    for (f, tolerance) in [(one.expect("finite"), 1e-3), (two.expect("finite"), 1e-6)] {
        for method in [Method::Auto, Method::Pairs] {
            let problem = builder(f.clone()).build().expect("valid");
            let start = certificate::check(&problem, problem.start()).expect("a point");
            assert!(!start.meets(tolerance), "{start:?}");
            let settings = Settings { method, tolerance, time_limit: Some(20.0), ..Settings::default() };
            let solution = solve_checked(&problem, &settings);
            let objective = solution.certificate.objective;
            let honest =
                solution.status != Status::Converged || objective <= tolerance * (1.0 + objective.abs());
            assert!(honest, "{method:?}: {:?}", solution.certificate);
        }
    }
}

/// Least squares under l1, one variable without a penalty and with a coefficient in the row that is hardly there: it is far
/// from its optimum while its slope is small. The same problem in other units of that variable is an easy one.
#[test]
fn a_variable_that_its_row_hardly_feels_is_not_forgotten() {
    let (mut claims, mut cases) = (0, 0);
    for seed in 0..150 {
        let mut numbers = Numbers::new(20_000 + seed);
        let (m, n) = (2 + numbers.below(5), 2 + numbers.below(5));
        let small = 10f64.powi(-4 - (seed % 3) as i32);
        let entries: Vec<Vec<f64>> = (0..m).map(|_| numbers.vector(n, 1.0)).collect();
        let target = numbers.vector(m, 3.0);
        let weights: Vec<f64> = (0..n).map(|c| if c == 0 { 0.0 } else { numbers.next().abs() }).collect();
        let row: Vec<f64> = (0..n).map(|c| if c == 0 { 1.0 } else { numbers.next() }).collect();
        let rhs = 3.0 * numbers.next();
        // In units of the variable in which its coefficient is `unit`.
        let problem = |unit: f64| {
            let scaled = |row: &Vec<f64>| -> Vec<f64> {
                row.iter().enumerate().map(|(c, a)| if c == 0 { unit * a } else { *a }).collect()
            };
            let matrix: Vec<Vec<f64>> = entries.iter().map(&scaled).collect();
            let f = LeastSquares::new(Matrix::from_rows(&matrix).expect("m x n"), target.clone(), Squared);
            let row = Coupling::row(scaled(&row), rhs).expect("finite");
            let h = L1::new(weights.clone()).expect("valid");
            composite(f.expect("finite"), h).coupling(row).build().expect("feasible")
        };
        let best = solve_checked(&problem(1.0), &Settings { tolerance: 1e-10, ..Settings::default() });
        // Its column stays as it is, its coefficient in the row does not.
        let hard = {
            let f = LeastSquares::new(Matrix::from_rows(&entries).expect("m x n"), target.clone(), Squared);
            let mut felt = row.clone();
            felt[0] = small;
            let row = Coupling::row(felt, rhs).expect("finite");
            let h = L1::new(weights.clone()).expect("valid");
            composite(f.expect("finite"), h).coupling(row).build().expect("feasible")
        };
        for (problem, optimum) in [(problem(small), Some(best.certificate.objective)), (hard, None)] {
            for method in [Method::Auto, Method::Pairs] {
                let settings = Settings { method, max_epochs: Some(3000.0), ..Settings::default() };
                let solution = solve_checked(&problem, &settings);
                let found = solution.certificate.objective;
                let optimum = optimum.unwrap_or_else(|| {
                    let sharp =
                        Settings { tolerance: 1e-11, max_epochs: Some(20_000.0), ..Settings::default() };
                    solve(&problem, &sharp).expect("bounded").certificate.objective
                });
                cases += 1;
                claims += usize::from(solution.status == Status::Converged);
                let excess = found - optimum;
                let honest = solution.status != Status::Converged || excess <= 2e-6 * (1.0 + found.abs());
                assert!(honest, "seed {seed}, {method}: {found} called optimal, {optimum} is possible");
            }
        }
    }
    assert!(3 * claims > cases, "only {claims} of {cases} converged: a test of nothing");
}

#[test]
fn rows_that_are_nearly_parallel_have_their_one_solution() {
    let parallel = rows(&[&[1.0, 1.0], &[1.0, 1.000_000_1]], &[1.0, 2.0]);
    let f = Distance::new(vec![0.0; 2], 1.0).expect("finite");
    let problem = builder(f).coupling(parallel).build().expect("two rows and two variables have a solution");
    let solution = solve_checked(&problem, &Settings::default());
    assert!(solution.certificate.is_feasible(), "{:?}", solution.certificate);
    assert!((solution.x[1] - 1e7).abs() < 1.0, "{:?}", solution.x);
}

/// `1/2 x'Qx + c'x` with singular Q, c in its range, one row.
fn singular(seed: u64, n: usize) -> AnyProblem {
    let mut numbers = Numbers::new(seed);
    let rank = n / 2;
    let factor: Vec<Vec<f64>> = (0..rank).map(|_| numbers.vector(n, 1.0)).collect();
    let entry = |i: usize, j: usize| factor.iter().map(|row| row[i] * row[j]).sum::<f64>();
    let q: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect();
    let t = numbers.vector(n, 1.0);
    let c = (0..n).map(|i| (0..n).map(|j| q[i][j] * t[j]).sum()).collect();
    let row = Coupling::row(numbers.vector(n, 1.0), numbers.next()).expect("finite");
    let f = Quadratic::new(Matrix::from_rows(&q).expect("square"), c).expect("convex");
    builder(f).coupling(row).build().expect("feasible")
}

#[test]
fn singular_quadratics_are_certified_at_their_optimum() {
    let converged =
        |seed: &u64| solve_checked(&singular(*seed, 33), &Settings::default()).status == Status::Converged;
    let missed: Vec<u64> = (0..20).filter(|seed| !converged(seed)).collect();
    assert!(missed.is_empty(), "{missed:?} are not");
}

#[test]
fn identical_columns_under_a_penalty_with_zeros_are_not_called_optimal_too_soon() {
    for seed in 0..20 {
        let mut numbers = Numbers::new(900 + seed);
        let n = 6;
        let column = numbers.vector(4, 1.0);
        let entries: Vec<Vec<f64>> = (0..4).map(|r| vec![column[r]; n]).collect();
        let l2: Vec<f64> = (0..n).map(|c| if c % 2 == 0 { 0.0 } else { 1.0 }).collect();
        let weights: Vec<f64> = (0..n).map(|c| -60.0 * c as f64).collect();
        let f =
            LeastSquares::new(Matrix::from_rows(&entries).expect("4 x 6"), numbers.vector(4, 3.0), Squared);
        let h = ElasticNet::new(0.0, l2).expect("valid");
        let row = Coupling::row(weights, 1.0).expect("finite");
        let problem = composite(f.expect("finite"), h).coupling(row).build().expect("feasible");
        let rough = solve_checked(&problem, &Settings { tolerance: 1e-4, ..Settings::default() });
        let best = solve(&problem, &Settings { tolerance: 1e-10, ..Settings::default() }).expect("bounded");
        let excess = rough.certificate.objective - best.certificate.objective;
        let allowed = 1e-4 * (1.0 + rough.certificate.objective.abs());
        assert!(rough.status != Status::Converged || excess <= allowed, "seed {seed}: {excess:e}");
    }
}

#[test]
fn what_pairs_cannot_reach_auto_can() {
    for seed in 0..30 {
        let mut numbers = Numbers::new(6_000 + seed);
        let (m, n) = (5 + numbers.below(4), 24);
        let entries: Vec<Vec<f64>> = (0..m).map(|_| numbers.vector(n, 1.0)).collect();
        let inside = numbers.vector(n, 1.0);
        let rhs: Vec<f64> =
            entries.iter().map(|row| row.iter().zip(&inside).map(|(a, x)| a * x).sum()).collect();
        let coupling = Coupling::rows_of(Matrix::from_rows(&entries).expect("m x n"), rhs).expect("finite");
        let f = Distance::new(numbers.vector(n, 1.0), 0.5).expect("finite");
        let f: Box<dyn SmoothTerm> = Box::new(f);
        let groups = Nonsmooth::Groups(GroupL2::new(0.1).expect("valid"));
        let problem = Problem::builder(f).nonsmooth::<Box<dyn SeparableTerm>>(groups).coupling(coupling);
        // Pairs of two scalars each: no pair can move under five rows.
        let problem = problem.blocks(BlockChoice::Size(2)).build().expect("feasible");
        let pairs = solve(&problem, &Settings { method: Method::Pairs, ..Settings::default() });
        let refused = pairs.expect_err("pairs cannot move").to_string();
        assert!(refused.contains("method auto"), "{refused}");
        let solution = solve_checked(&problem, &Settings { time_limit: Some(20.0), ..Settings::default() });
        assert_eq!(solution.status, Status::Converged, "seed {seed}: {:?}", solution.certificate);
    }
}

#[derive(Default)]
struct Watch(Vec<f64>);

impl Observer for Watch {
    fn checkpoint(&mut self, progress: &Progress) {
        self.0.push(progress.verdict.objective);
    }
}

#[test]
fn the_objective_never_rises() {
    let mut worse = Vec::new();
    for seed in 0..60 {
        let mut numbers = Numbers::new(4_000 + seed);
        let (m, n) = (2 + numbers.below(4), 8 + numbers.below(12));
        let entries: Vec<Vec<f64>> = (0..m).map(|_| numbers.vector(n, 1.0)).collect();
        let f =
            LeastSquares::new(Matrix::from_rows(&entries).expect("m x n"), numbers.vector(m, 2.0), Squared);
        let row = Coupling::row(numbers.vector(n, 1.0), 1.0).expect("finite");
        let problem = composite(f.expect("finite"), Zero).coupling(row).build().expect("feasible");
        let settings = Settings { tolerance: 1e-12, max_updates: Some(20_000), ..Settings::default() };
        let mut watch = Watch::default();
        let solution = Solver::new(&problem, &settings).observer(&mut watch).run().expect("bounded");
        let rose = watch.0.windows(2).any(|pair| pair[1] > pair[0] + 1e-13 * (1.0 + pair[0].abs()));
        let best = watch.0.iter().copied().fold(f64::INFINITY, f64::min);
        let lost = solution.certificate.objective > best + 1e-13 * (1.0 + best.abs());
        if rose || lost || !solution.certificate.is_feasible() {
            worse.push(format!("seed {seed}: {:?} {:e}", solution.status, solution.certificate.objective));
        }
    }
    assert!(worse.is_empty(), "{} of 60:\n{}", worse.len(), worse.join("\n"));
}

/// Rows by the hundred: what every step may tolerate does not add up.
#[test]
fn rows_by_the_hundred_are_met_at_every_checkpoint() {
    let (m, n) = (120, 300);
    let mut numbers = Numbers::new(91);
    let entries: Vec<Vec<f64>> = (0..m).map(|_| numbers.vector(n, 1.0)).collect();
    let inside = numbers.vector(n, 1.0);
    let rhs = entries.iter().map(|row| row.iter().zip(&inside).map(|(a, x)| a * x).sum()).collect();
    let samples: Vec<Vec<f64>> = (0..60).map(|_| numbers.vector(n, 1.0)).collect();
    let f = LeastSquares::new(Matrix::from_rows(&samples).expect("60 x n"), numbers.vector(60, 3.0), Squared);
    let coupling = Coupling::rows_of(Matrix::from_rows(&entries).expect("m x n"), rhs).expect("finite");
    let problem = composite(f.expect("finite"), L1::new(0.3).expect("positive")).coupling(coupling);
    let problem = problem.blocks(BlockChoice::Size(100)).build().expect("feasible");
    for method in [Method::Auto, Method::Pairs] {
        let settings = Settings { method, tolerance: 1e-12, max_updates: Some(200), ..Settings::default() };
        let mut history = equipoise::History::default();
        let solution = Solver::new(&problem, &settings).observer(&mut history).run().expect("bounded");
        assert!(method == Method::Auto || history.checkpoints.len() > 1, "{method:?}");
        for progress in &history.checkpoints {
            let certificate = progress.certificate.as_ref().expect("no judge");
            assert!(certificate.is_feasible(), "{method:?} after {}: {certificate:?}", progress.update);
        }
        assert!(solution.certificate.is_feasible(), "{method:?}: {:?}", solution.certificate);
    }
}

#[test]
fn a_graph_in_parts_does_not_keep_auto_from_the_optimum() {
    let f = Distance::new(vec![4.0, -1.0, 2.0, 0.5], 0.5).expect("finite");
    let problem = composite(f, L1::new(0.1).expect("positive"))
        .coupling(Coupling::sum(1.0).expect("finite"))
        .graph(Topology::Edges(vec![(0, 2), (1, 3)]))
        .build()
        .expect("the graph has no say yet");
    let refused = solve(&problem, &Settings { method: Method::Pairs, ..Settings::default() });
    assert!(refused.expect_err("disconnected").to_string().contains("method auto"));
    let solution = solve_checked(&problem, &Settings::default());
    assert_eq!(solution.status, Status::Converged, "{:?}", solution.certificate);
    // The same without a graph of one's own.
    let f = Distance::new(vec![4.0, -1.0, 2.0, 0.5], 0.5).expect("finite");
    let whole = composite(f, L1::new(0.1).expect("positive")).coupling(Coupling::sum(1.0).expect("finite"));
    let whole = solve_checked(&whole.build().expect("feasible"), &Settings::default());
    let [one, other] = [&solution, &whole].map(|solution| solution.certificate.objective);
    assert!((one - other).abs() <= 1e-5, "{one} {other}");
}

/// An objective beyond the largest number: nothing is proven, nothing is claimed, and x is there all the same.
#[test]
fn an_objective_that_overflows_stalls_and_is_never_met() {
    for target in [1e300, 1e160] {
        let f = LeastSquares::new(matrix_of(&[&[1.0, 2.0], &[0.5, -1.0]]), vec![target, -target], Squared);
        let problem = builder(f.expect("finite")).coupling(Coupling::sum(1.0).expect("finite"));
        let problem = problem.build().expect("feasible");
        for method in [Method::Auto, Method::Pairs, Method::Violating] {
            let solution =
                solve(&problem, &Settings { method, ..Settings::default() }).expect("no fault of a term");
            assert_eq!(solution.status, Status::Stalled, "{method:?}: {:?}", solution.certificate);
            assert!(solution.x.iter().all(|x| x.is_finite()), "{:?}", solution.x);
            assert!(solution.certificate.is_feasible() && !solution.certificate.meets(1e-3));
        }
        let start = certificate::check(&problem, problem.start()).expect("a point");
        assert!(start.objective.is_infinite() && !start.meets(1.0), "{start:?}");
    }
}
