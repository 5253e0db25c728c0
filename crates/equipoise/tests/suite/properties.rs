//! Properties of the optimum on random small problems: certified, not above the start, invariant.
//!
//! Cases are drawn from a fixed seed, so that every run tests the same ones.

use crate::adaptor::{AnyProblem, solve_checked};
use crate::samples::{groups, term};
use equipoise::separable::{Bounds, L1};
use equipoise::smooth::loss::Squared;
use equipoise::smooth::{LossOfProduct, SmoothTerm};
use equipoise::{BlockChoice, Coupling, DenseMatrix, Matrix, Problem, Settings, Status, certificate};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

const TOLERANCE: f64 = 1e-8;

fn config() -> Config {
    Config { cases: 64, rng_seed: RngSeed::Fixed(20_151), failure_persistence: None, ..Config::default() }
}

/// Which h and how many rows.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    OneRowBox,
    OneRowL1,
    TwoRowsL1,
    Groups,
}

/// The data of one problem: least squares on n variables; rows of A; a point x0 that makes b = A x0.
#[derive(Debug, Clone)]
struct Data {
    kind: Kind,
    n: usize,
    /// By variable: n + 2 entries of the matrix M each.
    matrix: Vec<Vec<f64>>,
    target: Vec<f64>,
    /// By variable: one entry for each row of A.
    rows: Vec<Vec<f64>>,
    inside: Vec<f64>,
    weight: f64,
}

fn kinds() -> impl Strategy<Value = Kind> {
    prop_oneof![Just(Kind::OneRowBox), Just(Kind::OneRowL1), Just(Kind::TwoRowsL1), Just(Kind::Groups)]
}

fn data() -> impl Strategy<Value = Data> {
    (kinds(), 2..8_usize).prop_flat_map(|(kind, half)| {
        let n = if kind == Kind::Groups { 2 * half.div_ceil(2) } else { half };
        let m = if kind == Kind::TwoRowsL1 { 2 } else { 1 };
        let entries = |size: f64, count: usize| prop::collection::vec(-size..size, count);
        let columns = prop::collection::vec(entries(1.0, n + 2), n);
        let rows = prop::collection::vec(prop::collection::vec((1..5_i32).prop_map(f64::from), m), n);
        (columns, entries(3.0, n + 2), rows, entries(1.0, n), 0.0..2.0_f64).prop_map(
            move |(matrix, target, rows, inside, weight)| Data {
                kind,
                n,
                matrix,
                target,
                rows,
                inside,
                weight,
            },
        )
    })
}

impl Data {
    /// The same with its variables (for groups its pairs of variables) in another order.
    fn reordered(&self, order: &[usize]) -> Self {
        let by = |list: &[Vec<f64>]| order.iter().map(|&c| list[c].clone()).collect();
        let inside = order.iter().map(|&c| self.inside[c]).collect();
        Self { matrix: by(&self.matrix), rows: by(&self.rows), inside, ..self.clone() }
    }

    /// The problem with its objective multiplied by `scale`.
    fn problem(&self, scale: f64) -> AnyProblem {
        let columns = |list: &[Vec<f64>]| -> Matrix {
            let values: Vec<f64> = list.iter().flatten().copied().collect();
            DenseMatrix::from_columns(list[0].len(), self.n, values).expect("n equal columns").into()
        };
        let rows = columns(&self.rows);
        let mut rhs = vec![0.0; rows.rows()];
        rows.multiply(&self.inside, &mut rhs);
        let coupling = if self.kind == Kind::TwoRowsL1 {
            Coupling::rows_of(rows, rhs)
        } else {
            Coupling::row(self.rows.concat(), rhs[0])
        };
        let f = LossOfProduct::weighted(columns(&self.matrix), self.target.clone(), Squared, scale)
            .expect("valid");
        let h = match self.kind {
            Kind::OneRowBox => term(Bounds::new(-1.0, 1.25).expect("valid")),
            Kind::Groups => groups(scale * self.weight),
            Kind::OneRowL1 | Kind::TwoRowsL1 => term(L1::new(scale * self.weight).expect("valid")),
        };
        let blocks = if self.kind == Kind::Groups { BlockChoice::Size(2) } else { BlockChoice::Automatic };
        let builder = Problem::builder(Box::new(f) as Box<dyn SmoothTerm>).nonsmooth(h);
        builder.coupling(coupling.expect("finite")).blocks(blocks).build().expect("feasible by construction")
    }
}

/// The certified optimum.
fn optimum(problem: &AnyProblem) -> (f64, Vec<f64>) {
    let settings = Settings { tolerance: TOLERANCE, time_limit: Some(20.0), ..Settings::default() };
    let solution = solve_checked(problem, &settings);
    assert_eq!(solution.status, Status::Converged, "{:?}", solution.certificate);
    (solution.certificate.objective, solution.x)
}

fn close(first: f64, second: f64) -> bool {
    (first - second).abs() <= 2.0 * TOLERANCE * (1.0 + first.abs().max(second.abs()))
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn solutions_are_certified_and_not_above_the_start(data in data()) {
        let problem = data.problem(1.0);
        let (objective, x) = optimum(&problem);
        prop_assert!(objective <= problem.objective(problem.start()).expect("in memory") + 1e-12);
        let inside = problem.objective(&data.inside).expect("in memory");
        prop_assert!(objective <= inside + 1e-7, "the point that made b is feasible");
        prop_assert!(certificate::check(&problem, &x).expect("right length").is_feasible());
    }

    #[test]
    fn the_order_of_the_variables_does_not_matter(data in data(), turn in 1..7_usize) {
        let width = if data.kind == Kind::Groups { 2 } else { 1 };
        let order: Vec<usize> = (0..data.n).map(|c| (data.n - width - c / width * width + width * turn) % data.n + c % width).collect();
        let (first, _) = optimum(&data.problem(1.0));
        let (second, _) = optimum(&data.reordered(&order).problem(1.0));
        prop_assert!(close(first, second), "{first} and {second}");
    }

    #[test]
    fn the_scale_of_the_objective_does_not_matter(data in data(), scale in prop_oneof![Just(1e-3), Just(0.5), Just(1e3)]) {
        let (first, _) = optimum(&data.problem(1.0));
        let (second, x) = optimum(&data.problem(scale));
        let slack = 2.0 * TOLERANCE * (1.0 + first.abs() + 1.0 / scale);
        prop_assert!((first - second / scale).abs() <= slack, "{first} and {second} / {scale}");
        let value = data.problem(1.0).objective(&x).expect("in memory");
        prop_assert!((value - first).abs() <= slack, "its minimiser has {value}, not {first}");
    }

    #[test]
    fn a_feasible_point_that_is_not_optimal_is_not_certified(data in data(), towards in 0.01..1.0_f64) {
        let problem = data.problem(1.0);
        let (objective, x) = optimum(&problem);
        let between: Vec<f64> = x.iter().zip(&data.inside).map(|(x, inside)| x + towards * (inside - x)).collect();
        let certificate = certificate::check(&problem, &between).expect("right length");
        prop_assert!(certificate.is_feasible(), "{certificate:?}");
        let above = certificate.objective - objective;
        let allowed = 1e-6 * (1.0 + certificate.objective.abs());
        prop_assert!(above <= 1.1 * allowed || !certificate.meets(1e-6), "{above} above the optimum: {certificate:?}");
        if let Some(gap) = certificate.duality_gap {
            prop_assert!(gap >= above - 1e-7 * (1.0 + objective.abs()), "gap {gap} below the distance {above}");
        }
    }
}
