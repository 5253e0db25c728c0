//! What single draws do, by exact expectation: every sample and every pair, weighted with their chances.

use super::estimate::{Estimate, Memory};
use super::feed::Feed;
use super::law::Law;
use super::scale::{curvature_of, shares};
use crate::Control;
use crate::matrix::Matrix;
use crate::separable::{Values, Zero};
use crate::smooth::loss::{LogisticLoss, ScalarLoss, Squared};
use crate::smooth::{Distance, LossOfProduct, PairTerm, SmoothTerm, Sum};
use crate::solve::pairs::PairUpdater;
use crate::solve::pairs::metric::Metric;
use crate::state::State;
use crate::{Coupling, Problem, Settings};

const SAMPLES: usize = 7;
const N: usize = 4;

/// Numbers between -1 and 1 without a pattern.
fn number(k: usize) -> f64 {
    (((k as f64 + 1.0) * 12.9898).sin() * 43758.5453).fract()
}

fn rows() -> Vec<Vec<f64>> {
    let scale = |l: usize| if l == 2 { 8.0 } else { 1.0 };
    (0..SAMPLES).map(|l| (0..N).map(|c| scale(l) * number(l * N + c)).collect()).collect()
}

fn loss_of<L: ScalarLoss>(loss: L, sparse: bool) -> LossOfProduct<'static, L> {
    let dense = Matrix::from_rows(&rows()).expect("rectangular");
    let target = (0..SAMPLES).map(|l| if l % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let weights = Values::Each((0..SAMPLES).map(|l| 0.2 + 0.1 * (l % 3) as f64).collect());
    let matrix = if sparse {
        let mut triplets = Vec::new();
        dense.for_each(|r, c, v| {
            if (r + c) % 3 != 0 {
                triplets.push((r, c, v));
            }
        });
        crate::matrix::SparseMatrix::from_triplets(SAMPLES, N, &triplets).expect("within").into()
    } else {
        dense
    };
    LossOfProduct::weighted(matrix, target, loss, weights).expect("valid")
}

/// An estimate anchored at `snapshot` whose slopes, where it keeps those last seen, are a mixture of several points.
fn estimate<'a>(
    f: &'a Sum,
    memory: Memory,
    weighted: bool,
    by_entry: bool,
    snapshot: &[f64],
) -> Estimate<'a> {
    let sum = f.finite_sum().expect("samples");
    let kappa = sum.loss.largest_curvature();
    let (mut feed, batch) = Feed::new(sum.data, &Control::unlimited()).expect("valid");
    let mut estimate = Estimate::new(sum, batch, memory, N);
    estimate.curvature = curvature_of(f);
    estimate.by_entry = by_entry;
    if weighted {
        let found =
            shares(&mut feed, &mut estimate.batch, kappa, &estimate.curvature, None, &Control::unlimited())
                .expect("readable");
        estimate.law = Law::by_shares(&found.each);
        assert!(matches!(estimate.law, Law::Weighted { .. }));
    }
    if memory != Memory::None {
        estimate.anchor(&mut feed, snapshot, &Control::unlimited()).expect("readable");
        for (row, at) in [(1, 0.5), (4, -0.25), (1, 2.0)] {
            let x: Vec<f64> = snapshot.iter().map(|x| x + at).collect();
            estimate.pick(row, &x, 3.0);
            estimate.spread();
            estimate.settle();
        }
    }
    estimate
}

#[test]
fn the_expectation_of_every_estimate_is_the_gradient() {
    let (snapshot, x) = (vec![0.3, -0.2, 0.5, 0.4], vec![-0.6, 0.1, 0.9, 0.6]);
    for case in 0..24 {
        let memory = [Memory::None, Memory::Snapshot, Memory::LastSeen][case % 3];
        let (weighted, by_entry, sparse) = (case & 4 != 0, case & 8 != 0, case >= 12);
        let terms: Vec<Box<dyn SmoothTerm>> = vec![
            Box::new(loss_of(LogisticLoss, sparse)),
            Box::new(Distance::new(vec![0.1; N], 0.7).expect("valid")),
        ];
        let f = Sum::new(terms).expect("one length");
        let mut product = vec![0.0; f.product_len()];
        f.fill_product(&x, &mut product, &Control::unlimited()).expect("in memory");
        let mut mean = [0.0; N];
        for l in 0..SAMPLES {
            let mut estimate = estimate(&f, memory, weighted, by_entry, &snapshot);
            let inverse = estimate.law.inverse(l);
            estimate.pick(l, &x, inverse);
            estimate.spread();
            for (c, mean) in mean.iter_mut().enumerate() {
                *mean += estimate.partial(c, &x, &[]) / inverse;
            }
        }
        for (c, mean) in mean.iter().enumerate() {
            let exact = f.partial(c, &x, &product);
            assert!(
                (mean - exact).abs() < 1e-12 * (1.0 + exact.abs()),
                "{memory:?} {case}: {mean} and {exact}"
            );
        }
    }
}

#[test]
fn all_samples_at_once_are_the_gradient_and_slopes_seen_are_kept() {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;
    let x = vec![-0.6, 0.1, 0.9, 0.6];
    let f = Sum::new(vec![Box::new(loss_of(LogisticLoss, true))]).expect("one term");
    let mut product = vec![0.0; f.product_len()];
    f.fill_product(&x, &mut product, &Control::unlimited()).expect("in memory");
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut estimate = estimate(&f, Memory::LastSeen, false, false, &[0.0; N]);
    estimate.draw(&x, SAMPLES, &mut rng);
    let exact: Vec<f64> = (0..N).map(|c| f.partial(c, &x, &product)).collect();
    let close =
        |estimate: &Estimate<'_>| (0..N).all(|c| (estimate.partial(c, &x, &[]) - exact[c]).abs() < 1e-13);
    assert!(close(&estimate));
    estimate.settle();
    // Every slope is known now: any sample alone gives the gradient.
    for _ in 0..20 {
        estimate.draw(&x, 1, &mut rng);
        assert!(close(&estimate));
        estimate.settle();
    }
}

/// The recursion of SVRG in the norm of K+, which on a clique with a sum is `L (b - 1)` times the Euclidean one:
/// `E V+ <= V - alpha (1 - 2 alpha nu L_K) (f(x) - f*) + 2 alpha^2 nu L_K (f(snapshot) - f*)`.
#[test]
fn the_expected_distance_falls_as_the_recursion_says() {
    let f = Sum::new(vec![Box::new(loss_of(Squared, false))]).expect("one term");
    let problem = Problem::builder(f).separable(Zero).coupling(Coupling::sum(1.0).expect("finite"));
    let problem = problem.build().expect("valid");
    let f = problem.smooth();
    let exact = Settings { tolerance: 1e-14, ..Settings::default() };
    let optimum = crate::solve(&problem, &exact).expect("solved").x;
    let value = |x: &[f64]| {
        let mut product = vec![0.0; f.product_len()];
        f.fill_product(x, &mut product, &Control::unlimited()).expect("in memory");
        f.value(x, &product)
    };
    // N w_l |a_l|^2 without the part along the row bounds the curvature of every f_l on the kernel.
    let full = rows().iter().enumerate().fold(0.0_f64, |most, (l, row)| {
        let mean = row.iter().sum::<f64>() / N as f64;
        let size: f64 = row.iter().map(|a| (a - mean) * (a - mean)).sum();
        most.max(SAMPLES as f64 * (0.2 + 0.1 * (l % 3) as f64) * size)
    });
    let pairs_of = N as f64 - 1.0;
    let (nu, l) = (pairs_of, 3.0 * full);
    let l_k = full / (l * pairs_of);
    let distance =
        |x: &[f64]| 0.5 * l * pairs_of * x.iter().zip(&optimum).map(|(x, o)| (x - o) * (x - o)).sum::<f64>();
    for (snapshot, x, share) in [
        ([0.3, -0.2, 0.5, 0.4], [-0.6, 0.1, 0.9, 0.6], 0.1),
        ([1.3, -1.2, 0.5, 0.4], [0.25, 0.25, 0.25, 0.25], 0.25),
        ([0.25, 0.25, 0.25, 0.25], [2.0, -3.0, 1.5, 0.5], 0.4),
    ] {
        let alpha = share / (nu * l_k);
        let mut expected = 0.0;
        for row in 0..SAMPLES {
            for (i, j) in (0..N).flat_map(|i| (0..i).map(move |j| (i, j))) {
                let mut estimate = estimate(f, Memory::Snapshot, false, false, &snapshot);
                (estimate.curvature, estimate.apart) = (vec![l; N], true);
                let metric = Metric::standing_in(problem.view(), &estimate, alpha);
                let mut pairs = PairUpdater::standing_in(&problem, &estimate, &Settings::default(), metric);
                let mut state = State::without_product(x.to_vec());
                estimate.pick(row, &x, SAMPLES as f64);
                estimate.spread();
                pairs.update(&estimate, &mut state, i, j).expect("bounded");
                expected += distance(&state.x) / (SAMPLES * N * (N - 1) / 2) as f64;
            }
        }
        let (here, there) = (value(&x) - value(&optimum), value(&snapshot) - value(&optimum));
        let noise = 2.0 * alpha * nu * l_k;
        let bound = distance(&x) - alpha * (1.0 - noise) * here + alpha * noise * there;
        assert!(expected <= bound * (1.0 + 1e-9), "{expected} above {bound}");
    }
}
