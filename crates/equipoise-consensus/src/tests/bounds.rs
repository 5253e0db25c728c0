//! Bounds against exact arithmetic: an objective is never below F(x), and a bound never above the least F.

use dashu::rational::RBig;
use equipoise::{Control, Team};
use rand::RngExt;

use super::{LOSSES, random, rng, shard};
use crate::problem::{Loss, Model, Problem};
use crate::proof::{estimate, prove};

fn exact(value: f64) -> RBig {
    RBig::try_from(value).expect("a finite number")
}

/// F(x) as a fraction; of all losses but the logistic.
fn value(problem: &Problem, x: &[f64]) -> RBig {
    let model = problem.model();
    let half = exact(0.5);
    let mut sum = exact(0.0);
    for shard in &problem.shards {
        for k in 0..shard.rows.len() {
            let mut z = exact(0.0);
            shard.rows.for_each(k, |column, value| z += exact(value) * exact(x[column]));
            let y = exact(shard.targets[k]);
            sum += if model.loss == Loss::Hinge {
                let slack = exact(1.0) - y * z;
                if slack > exact(0.0) { slack * exact(model.cost) } else { exact(0.0) }
            } else {
                let r = z - y;
                &half * &r * &r
            };
        }
    }
    for (j, x) in x.iter().enumerate() {
        sum += &half * exact(problem.square_weight(j)) * exact(*x) * exact(*x);
        sum += exact(problem.l1()) * exact(x.abs());
    }
    sum
}

/// The least F of a ridge with two columns, by Cramer's rule.
fn least(problem: &Problem) -> RBig {
    let ridge = exact(problem.model().ridge);
    let (mut a, mut b, mut c) = (ridge.clone(), exact(0.0), ridge);
    let (mut p, mut q, mut r) = (exact(0.0), exact(0.0), exact(0.0));
    for shard in &problem.shards {
        for k in 0..shard.rows.len() {
            let mut row = [exact(0.0), exact(0.0)];
            shard.rows.for_each(k, |column, value| row[column] = exact(value));
            let y = exact(shard.targets[k]);
            a += &row[0] * &row[0];
            b += &row[0] * &row[1];
            c += &row[1] * &row[1];
            p += &row[0] * &y;
            q += &row[1] * &y;
            r += &y * &y;
        }
    }
    let det = &a * &c - &b * &b;
    let (x, z) = ((&c * &p - &b * &q) / &det, (&a * &q - &b * &p) / &det);
    exact(0.5) * (r - p * x - q * z)
}

#[test]
fn no_objective_is_too_low_and_no_bound_too_high() {
    for seed in 0..200 {
        let mut rng = rng(seed);
        let size = 10f64.powi((seed % 13) as i32 - 6);
        let mut draw = || size * (2.0 * rng.random::<f64>() - 1.0);
        let shards: Vec<_> = (0..3)
            .map(|_| {
                let rows: Vec<Vec<f64>> = (0..4).map(|_| vec![draw(), draw()]).collect();
                let targets: Vec<f64> = (0..4).map(|_| draw()).collect();
                shard(&rows, &targets)
            })
            .collect();
        let model = Model { ridge: size, ..Model::new(Loss::Ridge) };
        let problem = Problem::new(shards, model).expect("valid");
        let x = [draw(), draw()];
        let duals: Vec<Vec<f64>> = (0..3).map(|_| (0..4).map(|_| draw()).collect()).collect();
        let found = prove(&problem, &x, &duals, &Team::of(1), &Control::unlimited()).expect("no limit");
        assert!(exact(found.objective) >= value(&problem, &x), "seed {seed}");
        assert!(exact(found.bound) <= least(&problem), "seed {seed}");
        // At the best point both are close to the least.
        let settings = crate::Settings { gap: 1e-12, ..crate::Settings::default() };
        let ring = super::graph("ring", 3);
        let fit = crate::fit(&problem, &ring, &settings, None, crate::Watch::default()).expect("valid");
        let least = least(&problem);
        assert!(exact(fit.objective) >= value(&problem, &fit.x) && exact(fit.bound) <= least, "seed {seed}");
        assert!(exact(fit.objective) >= least, "seed {seed}");
    }
}

#[test]
fn any_dual_point_gives_a_bound_below_any_objective() {
    for seed in 0..60 {
        for loss in LOSSES {
            let problem = random(loss, 3, loss == Loss::Hinge && seed % 2 == 0, seed);
            let mut rng = rng(seed + 1000);
            let mut draw = || 3.0 * (2.0 * rng.random::<f64>() - 1.0);
            let duals: Vec<Vec<f64>> =
                problem.shards.iter().map(|shard| shard.targets.iter().map(|_| draw()).collect()).collect();
            let x: Vec<f64> = (0..problem.columns()).map(|_| draw()).collect();
            let control = Control::unlimited();
            let proven = prove(&problem, &x, &duals, &Team::of(1), &control).expect("no limit");
            let plain = estimate(&problem, &x, &duals, &Team::of(1), &control).expect("no limit");
            assert!(proven.bound <= proven.objective, "{loss}, seed {seed}: {proven:?}");
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + a.abs());
            assert!(
                near(proven.objective, plain.objective) && near(proven.bound, plain.bound),
                "{loss}: {plain:?}"
            );
            if loss != Loss::Logistic {
                assert!(exact(proven.objective) >= value(&problem, &x), "{loss}, seed {seed}");
            }
        }
    }
}
