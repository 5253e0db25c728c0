//! The bounds against runs: means over seeds stay below them.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::super::dense::tests::numbers;
use super::super::problem::is_quadratic;
use super::super::{KNorm, Resistances};
use super::*;
use equipoise::coupling::Coupling;
use equipoise::graph::{EdgeSampler, Topology};
use equipoise::matrix::Matrix;
use equipoise::separable::{Bounds, ElasticNet};
use equipoise::smooth::{Distance, LeastSquares, Logistic, Quadratic, loss};
use equipoise::solve::{PairStepper, Settings, solve};

/// A positive definite matrix `M'M / n + shift I`.
fn matrix(seed: u64, n: usize, shift: f64) -> Matrix<'static> {
    let mut number = numbers(seed);
    let m: Vec<Vec<f64>> = (0..n).map(|_| (0..n).map(|_| number() - 0.5).collect()).collect();
    let entry = |i: usize, j: usize| {
        (0..n).map(|k| m[k][i] * m[k][j]).sum::<f64>() / n as f64 + if i == j { shift } else { 0.0 }
    };
    let rows: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect();
    Matrix::from_rows(&rows).expect("square")
}

fn weights(n: usize) -> Vec<f64> {
    (0..n).map(|c| 0.5 + (c % 4) as f64 * 0.5).collect()
}

fn optimum<F: SmoothTerm, H: SeparableTerm>(problem: &Problem<F, H>) -> f64 {
    let settings = Settings { tolerance: 1e-12, max_epochs: Some(1e5), ..Settings::default() };
    solve(problem, &settings).expect("bounded").certificate.objective
}

/// Runs pairs over seeds; the mean of the suboptimality, less four standard errors, must not exceed the bound. A true
/// bound fails that with probability below 1e-4 a checkpoint; with equality throughout. Returns the tightest ratio.
fn holds<F: SmoothTerm, H: SeparableTerm>(problem: &Problem<F, H>, case: &str) -> f64 {
    let seeds = 40u64;
    let best = optimum(problem);
    let delta_0 = problem.objective(problem.start()).expect("in memory") - best;
    let prediction = Prediction::new(problem, Scheme::Pairs).expect(case);
    if let Some(above) = prediction.suboptimality(problem, problem.start()) {
        assert!(above >= delta_0 * (1.0 - 1e-9), "{case}: {above} {delta_0}");
    }
    let sampler = EdgeSampler::new(problem.graph(), problem.probabilities()).expect("edges");
    let checkpoints = [1u64, 3, 10, 30, 100, 300];
    let mut gaps = vec![Vec::new(); checkpoints.len()];
    for seed in 0..seeds {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut stepper = PairStepper::new(problem, &Settings::default()).expect("valid");
        for k in 1..=*checkpoints.last().expect("some") {
            let (i, j) = sampler.draw(&mut rng);
            stepper.update(i, j).expect("bounded");
            if let Some(at) = checkpoints.iter().position(|&c| c == k) {
                gaps[at].push((problem.objective(stepper.x()).expect("in memory") - best).max(0.0));
            }
        }
    }
    let mut tightest: f64 = 0.0;
    for (gaps, &k) in gaps.iter().zip(&checkpoints) {
        let count = gaps.len() as f64;
        let mean = gaps.iter().sum::<f64>() / count;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let surely = mean - 4.0 * (variance / count).sqrt() - 1e-9 * delta_0;
        let bound = prediction.bound(delta_0, k).expect(case);
        assert!(surely <= bound, "{case}, k = {k}: mean {mean}, bound {bound}");
        // Further down, the optimum itself is not known well enough.
        if bound > 1e-7 * delta_0 {
            tightest = tightest.max(mean / bound);
        }
    }
    println!("{case}: mean over bound at most {tightest:.3}");
    tightest
}

#[test]
fn the_linear_rate_holds_and_is_tight_for_separable_quadratics() {
    for (topology, name) in
        [(Topology::Clique, "clique"), (Topology::Ring, "ring"), (Topology::Wheel, "wheel")]
    {
        let target: Vec<f64> = (0..10).map(|c| f64::from(c % 3)).collect();
        let f = Distance::new(target, 0.5).expect("valid");
        let problem = Problem::builder(f)
            .coupling(Coupling::sum(1.0).expect("valid"))
            .graph(topology)
            .build()
            .expect("valid");
        let tightest = holds(&problem, name);
        if name == "clique" {
            // On a clique with H = L I every direction shrinks by the same share: the bound is an equality.
            assert!(tightest > 0.6, "{tightest}");
        }
    }
}

#[test]
fn bounds_hold_for_coupled_quadratics_with_unequal_rows() {
    for seed in 0..4 {
        let row: Vec<f64> =
            (0..8).map(|c| if c % 2 == 0 { 1.0 + f64::from(c) / 4.0 } else { -1.5 }).collect();
        for topology in [Topology::Ring, Topology::Clique] {
            let f = Quadratic::new(matrix(seed, 8, 0.1), vec![1.0, -2.0, 0.5, 0.0, 1.0, 3.0, -1.0, 0.0]);
            let problem = Problem::builder(f.expect("convex"))
                .coupling(Coupling::row(row.clone(), 1.0).expect("valid"))
                .graph(topology)
                .build()
                .expect("valid");
            holds(&problem, "coupled");
        }
    }
}

#[test]
fn bounds_hold_with_bounds_and_penalties() {
    let f = || Quadratic::new(matrix(3, 6, 0.2), vec![1.0, -2.0, 0.5, 0.0, 1.0, 3.0]).expect("convex");
    let sum = || Coupling::sum(1.0).expect("valid");
    let boxed = Bounds::new(0.0, 1.0).expect("valid");
    holds(&Problem::builder(f()).separable(boxed).coupling(sum()).build().expect("valid"), "box");
    let net = ElasticNet::new(0.3, 0.5).expect("valid");
    holds(&Problem::builder(f()).separable(net).coupling(sum()).build().expect("valid"), "elastic net");
    let far = Distance::new(vec![9.0, -4.0, 0.0, 2.0, 5.0, 1.0], weights(6)).expect("valid");
    let boxed = Bounds::new(-1.0, 1.0).expect("valid");
    holds(
        &Problem::builder(far).separable(boxed).coupling(sum()).build().expect("valid"),
        "distance in a box",
    );
}

#[test]
fn bounds_hold_for_sums_over_blocks() {
    let target: Vec<f64> = (0..15).map(|c| f64::from(c * c % 7)).collect();
    let f = Distance::new(target, weights(15)).expect("valid");
    let coupling = Coupling::block_sum(vec![1.0, 0.0, -1.0]).expect("valid");
    let problem = Problem::builder(f).coupling(coupling).graph(Topology::Wheel).build().expect("valid");
    holds(&problem, "blocks");
}

#[test]
fn constants_of_the_closed_forms() {
    // Distance with weight L/2 on a clique: sigma = 1 / (b - 1), whatever L and the coefficient of the row.
    for (l, a) in [(1.0, 1.0), (3.0, -2.0)] {
        let f = Distance::new(vec![1.0; 24], 0.5 * l).expect("valid");
        let problem =
            Problem::builder(f).coupling(Coupling::row(a, 1.0).expect("valid")).build().expect("valid");
        let found = PairConstants::of(&problem).expect("even");
        assert!((found.sigma.expect("quadratic") * 23.0 - 1.0).abs() < 1e-12);
        assert!((found.nu - 23.0).abs() < 1e-9 && (found.mu.expect("quadratic") - l / (a * a)).abs() < 1e-12);
    }
    // Dense and by rule: a diagonal Hessian as a matrix gives the same as a sum over coordinates.
    let w = weights(12);
    let rows: Vec<Vec<f64>> =
        (0..12).map(|i| (0..12).map(|j| if i == j { 2.0 * w[i] } else { 0.0 }).collect()).collect();
    let full = Quadratic::new(Matrix::from_rows(&rows).expect("square"), vec![0.0; 12]).expect("convex");
    let alone = Distance::new(vec![0.0; 12], w).expect("valid");
    let coupling = || Coupling::sum(1.0).expect("valid");
    let full = Problem::builder(full).coupling(coupling()).graph(Topology::Star).build().expect("valid");
    let alone = Problem::builder(alone).coupling(coupling()).graph(Topology::Star).build().expect("valid");
    let (full, alone) = (PairConstants::of(&full).expect("small"), PairConstants::of(&alone).expect("small"));
    assert!((full.sigma.expect("known") / alone.sigma.expect("known") - 1.0).abs() < 1e-6);
    assert!((full.nu / alone.nu - 1.0).abs() < 1e-9);
}

#[test]
fn acceleration_keeps_its_promise() {
    // The plain form of the method on a dense quadratic, against 2 nu R_0^2 / k^2 and R_0^2 / (2 A_k), R_0 exact.
    let n = 10;
    let f =
        Quadratic::new(matrix(5, n, 0.02), (0..n).map(|c| (c % 3) as f64 - 1.0).collect()).expect("convex");
    let start: Vec<f64> = (0..n).map(|c| if c == 0 { 1.0 } else { 0.0 }).collect();
    let problem = Problem::builder(f)
        .coupling(Coupling::sum(1.0).expect("valid"))
        .graph(Topology::Ring)
        .start(start)
        .build()
        .expect("valid");
    let layout = Layout::of(&problem).expect("one row");
    let norm = layout.norm(0).expect("small");
    let nu = Resistances::of(&norm, &equipoise::Control::unlimited()).expect("connected").nu();
    let solved = solve(&problem, &Settings { tolerance: 1e-13, ..Settings::default() }).expect("bounded");
    let best = solved.certificate.objective;
    let apart: Vec<f64> = problem.start().iter().zip(&solved.x).map(|(a, b)| a - b).collect();
    let r_0_squared = norm.dual_squared(&apart).expect("connected");
    let delta_0 = problem.objective(problem.start()).expect("in memory") - best;
    let constants = PairConstants::of(&problem).expect("small");
    assert!(r_0_squared <= constants.spread().expect("quadratic") * delta_0);
    let prediction = Prediction::new(&problem, Scheme::Accelerated).expect("quadratic");
    let sampler = EdgeSampler::new(problem.graph(), problem.probabilities()).expect("edges");
    for k_max in [20u64, 100, 400] {
        let gaps: Vec<f64> = (0..40)
            .map(|seed| accelerated_gap(&problem, &layout, &sampler, nu, k_max, seed) - best)
            .collect();
        let mean = gaps.iter().sum::<f64>() / 40.0;
        let deviation = (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / 39.0 / 40.0).sqrt();
        let sharp = curves::accelerated_sharp(nu, r_0_squared, k_max);
        let predicted = prediction.bound(delta_0, k_max).expect("finite");
        println!("k {k_max}: mean {mean:.3e}, sharp {sharp:.3e}, predicted {predicted:.3e}");
        assert!(mean - 4.0 * deviation <= sharp, "k {k_max}: {mean} {sharp}");
        assert!(sharp <= curves::accelerated(nu, r_0_squared, k_max) && sharp <= predicted);
    }
}

fn accelerated_gap<F: SmoothTerm, H: SeparableTerm>(
    problem: &Problem<F, H>,
    layout: &Layout<'_, F, H>,
    sampler: &EdgeSampler,
    nu: f64,
    updates: u64,
    seed: u64,
) -> f64 {
    let f = problem.smooth();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (mut x, mut z) = (problem.start().to_vec(), problem.start().to_vec());
    let mut product = vec![0.0; f.product_len()];
    let mut weight = 0.0f64;
    for _ in 0..updates {
        let a = (1.0 + (1.0 + 4.0 * nu * weight).sqrt()) / (2.0 * nu);
        let next = weight + a;
        let y: Vec<f64> = x.iter().zip(&z).map(|(x, z)| (weight * x + a * z) / next).collect();
        let (i, j) = sampler.draw(&mut rng);
        f.fill_product(&y, &mut product, &crate::Control::unlimited()).expect("in memory");
        let g = (f.partial(i, &y, &product) - f.partial(j, &y, &product)) / layout.pair_curvature(i, j);
        x = y;
        for (at, sign) in [(i, 1.0), (j, -1.0)] {
            x[at] -= sign * g;
            z[at] -= sign * a * g;
        }
        weight = next;
    }
    problem.objective(&x).expect("in memory")
}

#[test]
fn the_updates_to_a_bound_are_the_fewest() {
    let near = Distance::new((0..20).map(f64::from).collect(), weights(20)).expect("finite");
    let builder = Problem::builder(near).coupling(Coupling::sum(1.0).expect("finite"));
    let problem = builder.graph(Topology::Ring).build().expect("valid");
    let prediction = Prediction::new(&problem, Scheme::Pairs).expect("quadratic");
    for wanted in [1e2, 1.0, 1e-6, 1e-12] {
        let k = prediction.updates_to(1e3, wanted).expect("a linear rate");
        let bound = |k| prediction.bound(1e3, k).expect("known");
        assert!(bound(k) <= wanted && bound(k - 1) > wanted, "{wanted}: {k}");
    }
    assert_eq!(prediction.updates_to(1.0, 2.0), Some(0));
    assert_eq!(prediction.updates_to(f64::NAN, 1.0), None);
}

#[test]
fn where_no_theorem_applies() {
    let sum = || Coupling::sum(1.0).expect("valid");
    let f = || Distance::new(vec![1.0; 6], 0.5).expect("valid");
    let none = Problem::builder(f()).build().expect("valid");
    assert!(Prediction::new(&none, Scheme::Pairs).is_none());
    let plain = Problem::builder(f()).coupling(sum()).build().expect("valid");
    let prediction = Prediction::new(&plain, Scheme::Pairs).expect("quadratic");
    assert_eq!(prediction.bound(f64::INFINITY, 3), None);
    // H = I: ||g||^2 / 2 is the suboptimality itself.
    let mut x = vec![1.0 / 6.0; 6];
    (x[0], x[1]) = (x[0] + 1.0, x[1] - 1.0);
    assert!((prediction.suboptimality(&plain, &x).expect("quadratic") - 1.0).abs() < 1e-12);
    assert_eq!((prediction.bound(0.0, 3), prediction.bound(7.0, 0)), (Some(0.0), Some(7.0)));
    // Free of bounds and not strongly convex.
    let rows = Matrix::from_rows(&[[1.0, 2.0, 3.0], [0.0, 1.0, 1.0]]).expect("valid");
    let labels = vec![1.0, -1.0];
    let logistic = Logistic::new(rows.clone(), labels, loss::LogisticLoss).expect("valid");
    let problem = Problem::builder(logistic).coupling(sum()).build().expect("valid");
    assert!(Prediction::new(&problem, Scheme::Pairs).is_none());
    let square = LeastSquares::new(rows, vec![1.0, 2.0], loss::Squared).expect("valid");
    assert!(is_quadratic(&Problem::builder(square).coupling(sum()).build().expect("valid")));
    // h on a ring: Theorem 4 is for the clique.
    let boxed = Bounds::new(0.0, 1.0).expect("valid");
    let ring = Problem::builder(f()).separable(boxed).coupling(sum()).graph(Topology::Ring).build();
    let ring = ring.expect("valid");
    assert!(Prediction::new(&ring, Scheme::Pairs).is_none());
    assert!(Prediction::new(&ring, Scheme::Accelerated).is_none());
}

/// The mean over samples of `sqrt(1 + (a_l'x - y_l)^2)`: slopes within +-1, curvature at most `||a_l||^2`.
struct Rounded {
    rows: Vec<Vec<f64>>,
    targets: Vec<f64>,
}

impl Rounded {
    fn new(samples: usize, n: usize) -> Self {
        let mut number = numbers(11);
        let rows = (0..samples).map(|_| (0..n).map(|_| 2.0 * number() - 1.0).collect()).collect();
        Self { rows, targets: (0..samples).map(|_| 4.0 * number() - 2.0).collect() }
    }

    fn distance(&self, l: usize, x: &[f64]) -> f64 {
        equipoise::matrix::dot(&self.rows[l], x) - self.targets[l]
    }

    fn value(&self, x: &[f64]) -> f64 {
        let total: f64 = (0..self.rows.len()).map(|l| self.distance(l, x).hypot(1.0)).sum();
        total / self.rows.len() as f64
    }

    fn slope(&self, l: usize, x: &[f64]) -> f64 {
        let u = self.distance(l, x);
        u / u.hypot(1.0)
    }

    /// The minimiser over the x of sum 0, by gradient steps.
    fn minimiser(&self, n: usize) -> Vec<f64> {
        let mut x = vec![0.0; n];
        for _ in 0..20_000 {
            let mut g = vec![0.0; n];
            for (l, row) in self.rows.iter().enumerate() {
                let slope = self.slope(l, &x) / self.rows.len() as f64;
                g.iter_mut().zip(row).for_each(|(g, a)| *g += slope * a);
            }
            let mean = g.iter().sum::<f64>() / n as f64;
            x.iter_mut().zip(&g).for_each(|(x, g)| *x -= (g - mean) / n as f64);
        }
        x
    }
}

#[test]
fn stochastic_pairs_in_the_k_norm_keep_their_promise() {
    let n = 8;
    let f = Rounded::new(20, n);
    let best = f.minimiser(n);
    let optimum = f.value(&best);
    let pair_square = |row: &Vec<f64>| {
        let mut squares: Vec<f64> = row.iter().map(|a| a * a).collect();
        squares.sort_unstable_by(|a, b| b.total_cmp(a));
        squares[0] + squares[1]
    };
    // ||a_e||^2 bounds both the curvature of a sample on a pair and the square of its gradient there.
    let lipschitz = f.rows.iter().map(pair_square).fold(0.0, f64::max);
    let gradient = lipschitz.sqrt();
    for topology in [Topology::Clique, Topology::Ring] {
        let graph = equipoise::graph::Graph::new(&topology, n).expect("valid");
        let uniform = EdgeProbabilities::Uniform;
        let norm = KNorm::uniform(&graph, &uniform, lipschitz).expect("valid");
        let sampler = EdgeSampler::new(&graph, &uniform).expect("edges");
        let r_0 = norm.dual_squared(&best).expect("connected").sqrt();
        let g = curves::k_norm_sgd_noise(n, gradient, lipschitz);
        for updates in [100u64, 400, 1600] {
            let alpha = r_0 / (g * (updates as f64).sqrt());
            let gap = |seed: u64| {
                let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
                let mut sample = numbers(seed + 1000);
                let (mut x, mut average) = (vec![0.0; n], vec![0.0; n]);
                for _ in 0..updates {
                    average.iter_mut().zip(&x).for_each(|(mean, x)| *mean += x / updates as f64);
                    let l = ((sample() * 20.0) as usize).min(19);
                    let (i, j) = sampler.draw(&mut rng);
                    let step = alpha * f.slope(l, &x) * (f.rows[l][i] - f.rows[l][j]) / (2.0 * lipschitz);
                    x[i] -= step;
                    x[j] += step;
                }
                f.value(&average) - optimum
            };
            let gaps: Vec<f64> = (0..30).map(gap).collect();
            let mean = gaps.iter().sum::<f64>() / 30.0;
            let deviation = (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / 29.0 / 30.0).sqrt();
            let bound = curves::k_norm_sgd(r_0, g, updates);
            assert!(mean - 4.0 * deviation <= bound, "{topology:?}, k {updates}: {mean} {bound}");
            assert!(mean > 0.0 && mean < f.value(&vec![0.0; n]) - optimum + 4.0 * deviation);
        }
    }
}
