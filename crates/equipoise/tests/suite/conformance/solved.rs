//! Every term is solved to tolerance, also when it tells the solver no more than a user's own term must.

use super::{N, separable_terms, smooth_terms};
use crate::adaptor::solve_checked;
use crate::numbers::Numbers;
use crate::samples::least_squares;
use equipoise::separable::{Bounds, Nonsmooth, SeparableTerm};
use equipoise::smooth::{PairTerm, SmoothTerm};
use equipoise::{Control, Coupling, Matrix, Method, Pass, Problem, Settings, Status};

/// A smooth term that hides what is optional: interactions, Hessian, dual side.
#[derive(Debug)]
struct PlainSmooth(Box<dyn SmoothTerm>);

impl PairTerm for PlainSmooth {
    fn dimension(&self) -> usize {
        self.0.dimension()
    }
    fn partial(&self, c: usize, x: &[f64], product: &[f64]) -> f64 {
        self.0.partial(c, x, product)
    }
    fn curvature(&self, c: usize) -> f64 {
        self.0.curvature(c)
    }
    fn product_len(&self) -> usize {
        self.0.product_len()
    }
    fn add_to_product(&self, c: usize, delta: f64, product: &mut [f64]) {
        self.0.add_to_product(c, delta, product);
    }
}

impl SmoothTerm for PlainSmooth {
    fn value(&self, x: &[f64], product: &[f64]) -> f64 {
        self.0.value(x, product)
    }
    fn fill_product(&self, x: &[f64], product: &mut [f64], control: &Control) -> Pass {
        self.0.fill_product(x, product, control)
    }
}

/// A separable term that hides what is optional: closed form, slope of the prox, conjugate.
#[derive(Debug)]
struct PlainSeparable(Box<dyn SeparableTerm>);

impl SeparableTerm for PlainSeparable {
    fn value(&self, c: usize, z: f64) -> f64 {
        self.0.value(c, z)
    }
    fn domain(&self, c: usize) -> (f64, f64) {
        self.0.domain(c)
    }
    fn prox(&self, c: usize, v: f64, d: f64) -> f64 {
        self.0.prox(c, v, d)
    }
    fn subdifferential(&self, c: usize, z: f64) -> (f64, f64) {
        self.0.subdifferential(c, z)
    }
}

/// No rows, one row, two rows; all are met by a point of the domain of h.
fn couplings(h: &dyn SeparableTerm) -> Vec<Coupling> {
    let inside: Vec<f64> = (0..N).map(|c| 0.3_f64.max(h.domain(c).0).min(h.domain(c).1)).collect();
    let matrix: Matrix = Numbers::new(47).dense(2, N);
    let mut rhs = vec![0.0; 2];
    matrix.multiply(&inside, &mut rhs);
    let sum = Coupling::sum(inside.iter().sum()).expect("finite");
    vec![Coupling::none(), sum, Coupling::rows_of(matrix, rhs).expect("finite")]
}

fn check(name: &str, f: Box<dyn SmoothTerm>, h: Box<dyn SeparableTerm>, coupling: Coupling) -> f64 {
    let rows = coupling.rows();
    let problem = Problem::builder(f).nonsmooth(Nonsmooth::Coordinates(h)).coupling(coupling).build();
    let problem = problem.expect("valid by construction");
    let solve = |method| {
        let settings = Settings { tolerance: 1e-8, time_limit: Some(20.0), method, ..Settings::default() };
        let solution = solve_checked(&problem, &settings);
        assert_eq!(solution.status, Status::Converged, "{name}, {rows} rows: {:?}", solution.certificate);
        solution.certificate.objective
    };
    let (auto, pairs) = (solve(Method::Auto), solve(Method::Pairs));
    agree(name, auto, pairs, 1e-7);
    auto
}

#[track_caller]
fn agree(name: &str, first: f64, second: f64, tolerance: f64) {
    assert!((first - second).abs() <= tolerance * (1.0 + first.abs()), "{name}: {first} and {second}");
}

fn unit_box() -> Box<dyn SeparableTerm> {
    Box::new(Bounds::new(-1.0, 1.0).expect("valid"))
}

#[test]
fn every_smooth_term_within_bounds() {
    for (k, (name, _)) in smooth_terms().into_iter().enumerate() {
        let copy = || smooth_terms().swap_remove(k).1;
        for coupling in couplings(&*unit_box()) {
            let known = check(name, copy(), unit_box(), coupling.clone());
            let plain = check(name, Box::new(PlainSmooth(copy())), unit_box(), coupling);
            agree(name, known, plain, 1e-5);
        }
    }
}

#[test]
fn every_separable_term_on_least_squares() {
    for (k, (name, h)) in separable_terms().into_iter().enumerate() {
        let copy = || separable_terms().swap_remove(k).1;
        for coupling in couplings(&*h) {
            let known = check(name, least_squares(N), copy(), coupling.clone());
            let plain = check(name, least_squares(N), Box::new(PlainSeparable(copy())), coupling);
            agree(name, known, plain, 1e-5);
        }
    }
}
