//! Nodes on several ranks: the same point as in one process, a sum of multipliers that is 0, and what is refused.

use std::sync::Mutex;

use equipoise::Status;
use equipoise::collective::{Collective, Letters, Threads};

use super::{LOSSES, graph, random, shard};
use crate::protocol::Faults;
use crate::{
    Error, Fit, Loss, Method, Model, Problem, Ranks, Settings, Shard, Watch, fit, fit_across, verify,
};

/// The shards of a problem as it was given, dealt to ranks in runs.
fn part(shards: &[Shard], world: &dyn Collective) -> Vec<Shard> {
    let (rank, ranks, all) = (world.rank(), world.ranks(), shards.len());
    shards[rank * all / ranks..(rank + 1) * all / ranks].to_vec()
}

/// What every rank finds.
fn on_ranks(problem: &Problem, ranks: usize, topology: &str, settings: &Settings) -> Vec<Result<Fit, Error>> {
    let ends: Vec<_> = Letters::between(ranks).into_iter().map(|end| Mutex::new(Some(end))).collect();
    let graph = graph(topology, problem.nodes());
    Threads::run(ranks, |world| {
        let mut post = ends[world.rank()].lock().expect("nobody panics").take().expect("one end a rank");
        let model = Model { bias: false, ..problem.model };
        let own = Problem::across(part(&problem.shards, &*world), model, &*world)?;
        let ranks = Ranks { world, post: &mut post };
        fit_across(&own, &graph, settings, None, Watch::default(), ranks)
    })
}

#[test]
fn ranks_agree_on_the_point_of_one_process() {
    for (k, loss) in LOSSES.into_iter().enumerate() {
        let problem = random(loss, 7, false, 11 + k as u64);
        let gap = if loss == Loss::Hinge { 1e-2 } else { 1e-6 };
        let alone = fit(
            &problem,
            &graph("ring", 7),
            &Settings { gap: 1e-7, ..Settings::default() },
            None,
            Watch::default(),
        );
        let alone = alone.expect("valid input");
        for (ranks, outstanding) in [(1, 1), (2, 1), (3, 2), (4, 3)] {
            let settings = Settings { gap, outstanding, ..Settings::default() };
            let all = on_ranks(&problem, ranks, "clique", &settings);
            let first = all[0].as_ref().expect("valid input").clone();
            assert_eq!(first.status, Status::Converged, "{loss:?} on {ranks} ranks: {first:?}");
            assert_eq!(first.sum_of_multipliers, 0);
            assert!(first.objective >= alone.bound && first.bound <= alone.objective, "{loss:?} on {ranks}");
            assert_eq!(first.bytes_between_ranks > 0, ranks > 1);
            // The point is one that anybody can check.
            let checked = verify(&problem, &first.x, 1.1 * gap, &equipoise::Control::unlimited());
            assert!(checked.expect("a point").is_met, "{loss:?} on {ranks} ranks");
            for other in all {
                let other = other.expect("as the first");
                assert_eq!((other.x, other.bound), (first.x.clone(), first.bound));
                assert_eq!(other.traffic, first.traffic);
            }
        }
    }
}

/// With labels, a bias and units of the hinge's dual that are given up wherever shards are.
#[test]
fn a_bias_is_balanced_over_ranks() {
    let problem = random(Loss::Hinge, 6, false, 5);
    let model = Model { bias: true, ..problem.model };
    let whole = Problem::new(problem.shards.clone(), model).expect("valid");
    let settings = Settings { gap: 2e-2, ..Settings::default() };
    let ends: Vec<_> = Letters::between(3).into_iter().map(|end| Mutex::new(Some(end))).collect();
    let found = Threads::run(3, |world| {
        let mut post = ends[world.rank()].lock().expect("nobody panics").take().expect("one end a rank");
        let own = Problem::across(part(&problem.shards, &*world), model, &*world).expect("valid");
        assert_eq!((own.nodes(), own.rows(), own.columns()), (6, whole.rows(), 5));
        let ranks = Ranks { world, post: &mut post };
        fit_across(&own, &graph("clique", 6), &settings, None, Watch::default(), ranks).expect("valid")
    });
    let best = fit(&whole, &graph("ring", 6), &Settings::default(), None, Watch::default()).expect("valid");
    for fit in found {
        assert!(fit.bound <= best.objective && fit.objective >= best.bound, "{fit:?}");
        assert!(fit.relative_gap <= 2e-2, "{fit:?}");
        assert_eq!(fit.sum_of_multipliers, 0);
    }
}

/// Delay, loss and a node that is away: what was asked for is met all the same.
#[test]
fn letters_may_be_late_and_lost() {
    let problem = random(Loss::Ridge, 5, false, 9);
    let stall = Some(crate::protocol::Stall { node: 3, ticks: 100 });
    let faults = Faults { delay: 8, loss: 0.1, stall };
    let settings = Settings { gap: 1e-4, faults, outstanding: 2, ..Settings::default() };
    for found in on_ranks(&problem, 2, "ring", &settings) {
        let found = found.expect("valid input");
        assert_eq!((found.status, found.sum_of_multipliers), (Status::Converged, 0));
    }
}

#[test]
fn what_does_not_go_on_ranks_is_refused_by_all() {
    let problem = random(Loss::Ridge, 4, false, 1);
    let tree = Settings { method: Method::Tree, ..Settings::default() };
    for found in on_ranks(&problem, 2, "ring", &tree) {
        assert!(matches!(found, Err(Error::NotOnRanks)), "{found:?}");
    }
    // Columns that differ, and a rank without both labels.
    let shards = [shard(&[vec![1.0, 2.0], vec![0.0, 1.0]], &[1.0, 3.0]), shard(&[vec![1.0]], &[1.0])];
    let refused = |shards: &[Shard], model: Model, words: &str| {
        for found in Threads::run(2, |world| Problem::across(part(shards, &*world), model, &*world)) {
            let error = found.expect_err("must be refused").to_string();
            assert!(error.contains(words), "{error}");
        }
    };
    refused(&shards, Model::new(Loss::Ridge), "rank 1: its shards have 1 columns, expected 2");
    let mut two = [shards[0].clone(), shards[0].clone()];
    two[1].targets[1] = f64::NAN;
    refused(&two, Model::new(Loss::Ridge), "rank 1: shard 0: target 2: found NaN");
    let labels = [shards[0].clone(), shard(&[vec![1.0, 1.0]], &[2.0])];
    refused(&labels, Model::new(Loss::Logistic), "found 3: 1, 2, 3");
}
