//! Shared memory against memory of one's own, and the invariants of a round.

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::Control;
use crate::coupling::Coupling;
use crate::graph::Topology;
use crate::matrix::{DenseMatrix, Matrix, Rows};
use crate::problem::BlockChoice;
use crate::separable::{Bounds, ElasticNet, L1};
use crate::smooth::loss::Squared;
use crate::smooth::{Distance, Gram, LeastSquares};
use crate::solve::{Locking, Method};

fn settings(threads: usize) -> Settings {
    Settings { threads, method: Method::Pairs, ..Settings::default() }
}

/// A round of n updates of one thread in shared memory, and as many in memory of its own.
fn both<F: SmoothTerm, H: SeparableTerm>(problem: &Problem<F, H>, settings: &Settings, n: u64) -> [State; 2] {
    let state =
        State::new(problem.smooth(), problem.start().to_vec(), &Control::unlimited()).expect("in memory");
    let edges = SampledEdges::new(problem.graph(), problem.probabilities(), 7).expect("connected");
    let mut multicore = Multicore::new(problem, settings, None, &state, &edges);
    multicore.workers.truncate(1);
    multicore.active = 1;
    let (mut shared, mut own) = (state.clone(), state);
    multicore.memory.load(&shared, problem.separable());
    multicore.workers[0].window.open(&shared);
    multicore.workers[0].freely(problem.smooth(), &Quota::new(n)).expect("no failure");
    if matches!(Upkeep::suiting(problem.smooth()), Upkeep::Replica(_)) {
        multicore.workers[0].window.meet();
    }
    multicore.memory.snapshot(&mut shared);
    multicore.empty_purses(&mut shared);
    let (mut edges, mut pairs) = (edges.fork(0), PairUpdater::new(problem, settings));
    for _ in 0..n {
        let (i, j) = edges.draw();
        pairs.update(problem.smooth(), &mut own, i, j).expect("bounded");
    }
    [shared, own]
}

fn assert_same(name: &str, [shared, own]: [State; 2]) {
    assert!(own.x.iter().any(|x| *x != 0.0), "{name}: nothing moved");
    assert_eq!(shared.x, own.x, "{name}");
    assert_eq!(shared.product, own.product, "{name}: product");
}

fn dense(rows: usize, columns: usize) -> Matrix<'static> {
    let entry = |r: usize, c: usize| ((r * 31 + c * 17 + r * c) % 23) as f64 / 11.0 - 1.0;
    let rows: Vec<Vec<f64>> = (0..rows).map(|r| (0..columns).map(|c| entry(r, c)).collect()).collect();
    Matrix::from_rows(&rows).expect("rectangular")
}

/// Entries from U[0, 1].
fn random(rows: usize, columns: usize) -> Matrix<'static> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    let values = (0..rows * columns).map(|_| (rng.next_u64() >> 11) as f64 * (-53f64).exp2()).collect();
    DenseMatrix::from_columns(rows, columns, values).expect("rows times columns").into()
}

#[test]
fn one_thread_in_shared_memory_gives_the_bits_of_memory_of_its_own() {
    for locking in [Locking::None, Locking::Single, Locking::Double] {
        let settings = Settings { locking, ..settings(1) };
        let target: Vec<f64> = (0..40).map(|c| f64::from(c % 7) - 3.0).collect();
        let builder = || Problem::builder(Distance::new(target.clone(), 0.5).expect("valid"));
        let sum = || Coupling::sum(1.0).expect("valid");
        let bounds = || Bounds::new(-1.0, 1.5).expect("valid");
        let problem = builder().coupling(sum()).separable(bounds()).build().expect("valid");
        assert_same("balanced scalars", both(&problem, &settings, 500));
        let problem =
            builder().coupling(sum()).separable(L1::new(0.3).expect("valid")).build().expect("valid");
        assert_same("scalars with l1", both(&problem, &settings, 500));
        let problem = builder().coupling(Coupling::block_sum(vec![1.0, -2.0]).expect("valid"));
        let problem = problem.separable(bounds()).build().expect("valid");
        assert_same("block sum", both(&problem, &settings, 300));
        let problem = builder().separable(bounds()).build().expect("valid");
        assert_same("no rows", both(&problem, &settings, 300));
        let several = || Coupling::rows_of(dense(2, 40), vec![0.5, 0.0]).expect("valid");
        let problem = builder().coupling(several()).blocks(BlockChoice::Size(4)).build().expect("valid");
        assert_same("several rows", both(&problem, &settings, 300));
        let problem = builder().coupling(several()).blocks(BlockChoice::Size(4)).separable(bounds());
        assert_same("several rows with bounds", both(&problem.build().expect("valid"), &settings, 300));
        let problem = builder().coupling(several()).blocks(BlockChoice::Size(4));
        let problem = problem.separable(ElasticNet::new(0.2, 0.1).expect("valid"));
        assert_same("several rows with l1", both(&problem.build().expect("valid"), &settings, 300));
        let f = LeastSquares::new(dense(15, 40), vec![1.0; 15], Squared).expect("valid");
        let problem = Problem::builder(f).coupling(sum()).separable(bounds()).build().expect("valid");
        assert_same("least squares", both(&problem, &settings, 400));
    }
}

#[test]
fn products_in_place_and_replicated_give_the_same_bits_on_one_thread() {
    let (n, columns) = (60, 4000);
    let indices: Vec<u32> = (0..n as u32 * 3).map(|k| (k % 3) * 1300 + (k * 7919) % 1200).collect();
    let values = (0..n * 3).map(|k| (k % 5) as f64 - 1.5).collect();
    let starts: Vec<usize> = (0..=n).map(|i| 3 * i).collect();
    let long = Rows::new(columns, starts.clone(), indices.clone(), Some(values)).expect("valid");
    let short_indices: Vec<u32> = (0..n as u32 * 3).map(|k| (k % 3) * 10 + (k / 3) % 9).collect();
    let short = Rows::new(30, starts, short_indices, None).expect("valid");
    for (rows, upkeep_in_place) in [(&long, true), (&short, false)] {
        let f = Gram::new(rows, 0.1, -1.0).expect("valid");
        assert_eq!(Upkeep::suiting(&f) == Upkeep::InPlace, upkeep_in_place);
        let problem = Problem::builder(f)
            .coupling(Coupling::sum(2.0).expect("valid"))
            .separable(Bounds::new(0.0, 1.0).expect("valid"))
            .build()
            .expect("valid");
        assert_same("gram", both(&problem, &settings(1), 500));
    }
    // Several coordinates of one update that touch the same entries of a product kept in place.
    let entries: Vec<(usize, usize, f64)> =
        (0..240).map(|k| ((k * 37) % 40, k % 60, 0.5 + (k % 7) as f64)).collect();
    let sparse = crate::matrix::SparseMatrix::from_triplets(4000, 60, &entries).expect("valid");
    let f = || LeastSquares::new(sparse.clone(), vec![1.0; 4000], Squared).expect("valid");
    assert_eq!(Upkeep::suiting(&f()), Upkeep::InPlace);
    let problem = Problem::builder(f()).coupling(Coupling::block_sum(vec![1.0, 2.0]).expect("valid"));
    assert_same("block sum", both(&problem.build().expect("valid"), &settings(1), 300));
    let problem = Problem::builder(f()).blocks(BlockChoice::Size(4)).build().expect("valid");
    assert_same("no rows", both(&problem, &settings(1), 300));
}

/// After every round: in the domain, on the rows, never higher.
#[test]
fn rounds_of_eight_threads_stay_feasible_and_never_rise() {
    let target: Vec<f64> = (0..64).map(|c| f64::from(c % 9) - 4.0).collect();
    let rows = dense(2, 64);
    let couplings = [Coupling::sum(1.0), Coupling::rows_of(rows, vec![0.5, 0.25])];
    for (coupling, size) in couplings.into_iter().zip([1, 4]) {
        for locking in [Locking::None, Locking::Single, Locking::Double] {
            let f = Distance::new(target.clone(), 0.5).expect("valid");
            let problem = Problem::builder(f)
                .coupling(coupling.clone().expect("valid"))
                .separable(Bounds::new(-1.0, 1.0).expect("valid"))
                .blocks(BlockChoice::Size(size))
                .build()
                .expect("valid");
            let settings = Settings { locking, ..settings(8) };
            let mut state = State::new(problem.smooth(), problem.start().to_vec(), &Control::unlimited())
                .expect("in memory");
            let edges = SampledEdges::new(problem.graph(), problem.probabilities(), 1).expect("connected");
            let mut multicore = Multicore::new(&problem, &settings, None, &state, &edges);
            let limits = Limits::new(&settings, 1.0, Control::unlimited());
            let mut objective = problem.objective(&state.x).expect("in memory");
            for _ in 0..20 {
                let mut task = Task {
                    updates: 3000,
                    objective,
                    target: None,
                    wanted_gap: 0.0,
                    wanted_gap_at: &|_| 0.0,
                    limits: &limits,
                    hint: &|_| {},
                    heartbeat: &mut |_, _| {},
                };
                let round = multicore.round(&mut state, &mut task).expect("no failure");
                assert_eq!(round.updates, 3000);
                assert!(round.objective <= objective + 1e-12);
                assert!(
                    (round.objective - problem.objective(&state.x).expect("in memory")).abs()
                        <= 1e-12 * (1.0 + objective.abs())
                );
                assert!(state.x.iter().all(|x| (-1.0..=1.0).contains(x)));
                assert!(problem.coupling().infeasibility(&state.x) <= 1e-11, "{locking:?}");
                objective = round.objective;
            }
        }
    }
}

#[test]
fn a_hub_converges_without_locks_at_every_number_of_threads() {
    let n = 40 * 6;
    let target: Vec<f64> = (0..n).map(|c| ((c / 6 + 1) % 10) as f64).collect();
    for threads in [2, 4, 8, 15] {
        let graph = Topology::parse("star+ring", 40, 0).expect("known");
        let problem = Problem::builder(Distance::new(target.clone(), 0.15).expect("valid"))
            .coupling(Coupling::rows_of(random(4, n), vec![0.0; 4]).expect("valid"))
            .blocks(BlockChoice::Size(6))
            .graph(graph)
            .build()
            .expect("valid");
        let settings = Settings { tolerance: 1e-7, ..settings(threads) };
        let solution = crate::solve::solve(&problem, &settings).expect("no failure");
        assert_eq!(solution.status, Status::Converged, "{threads} threads");
        assert_eq!(solution.threads, threads);
    }
}
