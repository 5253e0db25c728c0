//! The nodes agree on what one machine with all rows finds: every loss, every graph, whatever happens to messages.

use equipoise::Control;
use equipoise::Status;
use equipoise::graph::Graph;
use rand::RngExt;

use super::{LOSSES, graph, oracle, random, shard};
use crate::protocol::Faults;
use crate::{Loss, Method, Model, Problem, Settings, Watch, fit, verify};

const GRAPHS: [&str; 6] = ["ring", "clique", "star+ring", "tree+ring", "grid", "random-regular"];

#[track_caller]
fn check(problem: &Problem, graph: &Graph, settings: &Settings, what: &str) {
    let found = fit(problem, graph, settings, None, Watch::default()).expect("valid input");
    let gap = found.relative_gap;
    assert_eq!(found.status, Status::Converged, "{what}: gap {gap:e} after {} rounds", found.rounds);
    assert_eq!(found.sum_of_multipliers, 0, "{what}");
    let (_, best) = oracle::optimum(problem);
    let slack = 1e-8 * (1.0 + best.abs());
    assert!(found.objective >= best - slack && found.bound <= best + slack, "{what}: {found:?}, best {best}");
    assert!(found.objective - best <= settings.gap * found.objective.abs() + slack, "{what}");
    let checked = verify(problem, &found.x, 2.0 * settings.gap, &Control::unlimited()).expect("valid input");
    assert!(checked.is_met, "{what}: {checked:?}");
    assert!(checked.bound <= best + slack && checked.objective >= best - slack, "{what}: {checked:?}");
}

fn pairs(gap: f64, seed: u64) -> Settings {
    Settings { method: Method::Pairs, gap, seed, ..Settings::default() }
}

#[test]
fn every_loss_over_every_graph() {
    for name in GRAPHS {
        for loss in LOSSES {
            let problem = random(loss, 6, loss == Loss::Hinge, 11);
            check(&problem, &graph(name, 6), &pairs(1e-6, 5), &format!("{loss} over {name}"));
        }
    }
}

#[test]
fn the_tree_reaches_the_same_point_over_every_graph() {
    for name in GRAPHS {
        for (loss, bias, seed) in [
            (Loss::Ridge, false, 1),
            (Loss::Logistic, false, 2),
            (Loss::Logistic, false, 3),
            (Loss::Hinge, false, 4),
            (Loss::Hinge, true, 5),
        ] {
            let problem = random(loss, 6, bias, seed);
            let settings = Settings { gap: 1e-10, ..Settings::default() };
            check(&problem, &graph(name, 6), &settings, &format!("{loss} along a tree of {name}"));
        }
    }
}

/// Every loss over every graph by both methods, messages delayed, overtaken and lost.
#[test]
fn delays_reordering_and_loss_change_nothing_over_fifty_seeds() {
    for seed in 0..50_u64 {
        let name = GRAPHS[seed as usize % GRAPHS.len()];
        let faults = Faults { delay: seed % 7, loss: 0.05 * (seed % 5) as f64, stall: None };
        for (k, loss) in [LOSSES[0], LOSSES[1], LOSSES[2], LOSSES[2], LOSSES[3]].into_iter().enumerate() {
            let mut problem = random(loss, 5, loss == Loss::Hinge && seed % 2 == 0, 100 + seed);
            // An elastic net is one of the two with an l1 norm.
            problem.model.ridge = if k == 3 { 0.3 } else { problem.model.ridge };
            let settings = Settings { faults, greedy: seed % 2 == 1, ..pairs(1e-5, seed) };
            let what = format!("seed {seed}: {loss} over {name}, {faults:?}");
            check(&problem, &graph(name, 5), &settings, &what);
            if loss != Loss::Lasso {
                let settings = Settings { method: Method::Tree, ..settings };
                check(&problem, &graph(name, 5), &settings, &format!("{what}, along a tree"));
            }
        }
    }
}

/// Multipliers of 1e-12 C are not nothing.
#[test]
fn a_hinge_of_large_numbers() {
    for (bias, seed) in [(false, 1), (true, 2), (true, 3), (false, 4)] {
        let mut rng = super::rng(seed);
        let mut draw = || 2.0 * rng.random::<f64>() - 1.0;
        let shards: Vec<_> = (0..3)
            .map(|_| {
                let rows: Vec<Vec<f64>> = (0..4).map(|_| (0..6).map(|_| 1e6 * draw()).collect()).collect();
                let targets: Vec<f64> = rows.iter().map(|row| (row[0] + row[1]).signum()).collect();
                shard(&rows, &targets)
            })
            .collect();
        let model = Model { bias, cost: 100.0, ..Model::new(Loss::Hinge) };
        let problem = Problem::new(shards, model).expect("valid");
        let settings = Settings::default();
        let found =
            fit(&problem, &graph("clique", 3), &settings, None, Watch::default()).expect("valid input");
        assert_eq!(found.status, Status::Converged, "{bias} {seed}: {:e}", found.relative_gap);
        assert!(found.bound > 0.0 && found.bound <= found.objective);
    }
}

/// Some thousands of rows: by the tree in a few rounds, to a small gap.
#[test]
fn a_hinge_of_many_rows_takes_few_rounds() {
    let mut rng = super::rng(12);
    let mut draw = || 2.0 * rng.random::<f64>() - 1.0;
    let truth: Vec<f64> = (0..8).map(|_| draw()).collect();
    let shards: Vec<_> = (0..9)
        .map(|node| {
            let rows: Vec<Vec<f64>> = (0..300).map(|_| (0..8).map(|_| draw()).collect()).collect();
            let label = |row: &Vec<f64>| {
                let clean: f64 = row.iter().zip(&truth).map(|(a, b)| a * b).sum();
                (clean + 0.1 * f64::from(node) + draw()).signum()
            };
            let targets: Vec<f64> = rows.iter().map(label).collect();
            shard(&rows, &targets)
        })
        .collect();
    let problem = Problem::new(shards, Model { bias: true, ..Model::new(Loss::Hinge) }).expect("valid");
    let settings = Settings { gap: 1e-8, ..Settings::default() };
    let ring = graph("ring", 9);
    let found = fit(&problem, &ring, &settings, None, Watch::default()).expect("valid input");
    assert_eq!((found.status, found.method, found.sum_of_multipliers), (Status::Converged, Method::Tree, 0));
    assert!(found.rounds < 40 && found.disagreement < 1e-3, "{} {}", found.rounds, found.disagreement);
    let threads = Settings { method: Method::Tree, asynchronous: true, ..settings.clone() };
    let other = fit(&problem, &ring, &threads, None, Watch::default()).expect("valid input");
    assert_eq!(other.status, Status::Converged);
    assert!((other.objective / found.objective - 1.0).abs() < 2e-8);
    let warm = fit(&problem, &ring, &settings, Some(&found.x), Watch::default()).expect("valid input");
    assert_eq!(warm.status, Status::Converged);
    assert!(warm.rounds < found.rounds, "{} {}", warm.rounds, found.rounds);
    let checked = verify(&problem, &found.x, 2e-8, &Control::unlimited()).expect("valid input");
    assert!(checked.is_met, "{checked:?}");
}

#[test]
fn one_thread_a_node() {
    for (seed, loss) in LOSSES.into_iter().enumerate() {
        let problem = random(loss, 4, loss == Loss::Hinge, 300 + seed as u64);
        let settings = Settings { asynchronous: true, ..pairs(1e-5, seed as u64) };
        check(&problem, &graph("ring", 4), &settings, &format!("{loss} in threads"));
    }
    let problem = random(Loss::Ridge, 4, false, 310);
    let faults = Faults { delay: 3, loss: 0.05, stall: None };
    let settings = Settings { asynchronous: true, faults, ..pairs(1e-5, 1) };
    check(&problem, &graph("clique", 4), &settings, "ridge in threads with faults");
}

/// Columns from a tenth to ten, and more rows.
#[test]
fn columns_of_different_sizes() {
    for (loss, gap) in [(Loss::Lasso, 1e-6), (Loss::Hinge, 1e-4)] {
        let mut rng = super::rng(8);
        let mut draw = || 2.0 * rng.random::<f64>() - 1.0;
        let sizes = [0.1, 0.3, 1.0, 3.0, 10.0];
        let shards: Vec<_> = (0..4)
            .map(|_| {
                let rows: Vec<Vec<f64>> =
                    (0..40).map(|_| sizes.iter().map(|s| s * draw()).collect()).collect();
                let clean = |row: &Vec<f64>| row.iter().zip(&sizes).map(|(a, s)| a / s).sum::<f64>();
                let noisy: Vec<f64> = rows.iter().map(|row| clean(row) + 0.5 * draw()).collect();
                let targets: Vec<f64> =
                    noisy.iter().map(|v| if loss == Loss::Hinge { v.signum() } else { *v }).collect();
                shard(&rows, &targets)
            })
            .collect();
        let problem = Problem::new(shards, Model::new(loss)).expect("valid");
        check(&problem, &graph("ring", 4), &pairs(gap, 3), &format!("{loss}, columns of different sizes"));
    }
}

#[test]
fn an_elastic_net_and_a_single_node() {
    let mut problem = random(Loss::Lasso, 5, false, 77);
    problem.model.ridge = 0.3;
    check(&problem, &graph("ring", 5), &pairs(1e-7, 2), "elastic net");
    for loss in LOSSES {
        let problem = random(loss, 1, loss == Loss::Hinge, 9);
        check(&problem, &Graph::single(), &pairs(1e-7, 2), &format!("{loss} alone"));
    }
    let problem = random(Loss::Logistic, 1, false, 9);
    check(&problem, &Graph::single(), &Settings::default(), "logistic alone along a tree of one");
}

/// Two shards of two rows: the exact pair step reaches the optimum at once.
#[test]
fn an_exact_pair_step_ends_a_ridge_of_two_nodes() {
    let shards = vec![
        shard(&[vec![1.0, 2.0], vec![0.0, 1.0]], &[1.0, 0.0]),
        shard(&[vec![2.0, 0.0], vec![1.0, 1.0]], &[1.0, -1.0]),
    ];
    let problem = Problem::new(shards, Model::new(Loss::Ridge)).expect("valid");
    let settings = pairs(1e-13, 0);
    let found = fit(&problem, &graph("ring", 2), &settings, None, Watch::default()).expect("valid input");
    assert_eq!((found.status, found.rounds), (Status::Converged, 1));
    assert!(
        (found.x[0] - 11.0 / 40.0).abs() < 1e-14 && (found.x[1] - 1.0 / 40.0).abs() < 1e-14,
        "{:?}",
        found.x
    );
    assert!((found.objective - 97.0 / 80.0).abs() < 1e-14);
    assert!(found.bound <= 97.0 / 80.0 && found.objective >= 97.0 / 80.0);
}

#[test]
fn a_point_that_is_not_optimal_is_not_met() {
    for loss in LOSSES {
        let problem = random(loss, 3, loss == Loss::Hinge, 5);
        let found =
            verify(&problem, &vec![0.25; problem.columns()], 1e-6, &Control::unlimited()).expect("valid");
        let (_, best) = oracle::optimum(&problem);
        assert!(!found.is_met && found.objective > best && found.bound <= best + 1e-8, "{loss}: {found:?}");
        assert!(found.bound >= best - 1e-4 * (1.0 + best.abs()), "{loss}: {found:?}, best {best}");
    }
}

#[test]
fn limits_and_starts() {
    let problem = random(Loss::Lasso, 5, false, 21);
    let ring = graph("ring", 5);
    let few = Settings { max_messages: Some(40), ..pairs(1e-12, 1) };
    let found = fit(&problem, &ring, &few, None, Watch::default()).expect("valid input");
    assert_eq!(found.status, Status::IterationLimit);
    assert!(found.bound <= found.objective && found.sum_of_multipliers == 0);
    let ended = Watch { observer: None, control: Control::unlimited().within(0.0) };
    assert!(fit(&problem, &ring, &few, None, ended).is_err());
    let problem = random(Loss::Logistic, 5, false, 22);
    let settings = Settings { gap: 1e-9, ..Settings::default() };
    let cold = fit(&problem, &ring, &settings, None, Watch::default()).expect("valid input");
    let warm = fit(&problem, &ring, &settings, Some(&cold.x), Watch::default()).expect("valid input");
    assert!(warm.traffic.total().messages < cold.traffic.total().messages);
    assert_eq!(warm.status, Status::Converged);
}

#[test]
fn whoever_watches_sees_messages_grow_and_the_gap_fall() {
    for (loss, method) in [(Loss::Logistic, Method::Tree), (Loss::Ridge, Method::Pairs)] {
        let problem = random(loss, 6, false, 31);
        let mut seen = Vec::new();
        let mut tell = |at: &crate::Checkpoint| seen.push(*at);
        let watch = Watch { observer: Some(&mut tell), ..Watch::default() };
        let settings = Settings { method, gap: 1e-8, ..Settings::default() };
        fit(&problem, &graph("ring", 6), &settings, None, watch).expect("valid input");
        assert!(seen.len() >= 2, "{loss}");
        assert!(seen.windows(2).all(|w| w[0].messages <= w[1].messages && w[0].bytes <= w[1].bytes));
        assert!(seen[seen.len() - 1].relative_gap <= 1e-8 && seen[0].relative_gap > 1e-8);
    }
}

/// The proximal term must not hold back an l1 penalty that is small beside the squares of the data.
#[test]
fn a_lasso_of_large_numbers_does_not_stall() {
    let model = Model { ridge: 0.0, l1: 0.01, ..Model::new(Loss::Lasso) };
    let row = [vec![10_000.0, 20_000.0, -5_000.0]];
    let one = Problem::new(vec![shard(&row, &[1.0])], model).expect("a valid problem");
    check(&one, &Graph::single(), &pairs(1e-6, 1), "one row");
    let other = [vec![-3_000.0, 8_000.0, 1_000.0]];
    let shards = vec![shard(&row, &[1.0]), shard(&other, &[0.5])];
    let two = Problem::new(shards, model).expect("a valid problem");
    check(&two, &graph("ring", 2), &pairs(1e-6, 1), "two rows");
}

#[test]
fn a_shard_of_zeros_does_not_stall_a_lasso() {
    let model = Model { ridge: 0.0, l1: 0.1, ..Model::new(Loss::Lasso) };
    let shards = vec![shard(&[vec![1.0], vec![0.5]], &[1.0, 0.3]), shard(&[vec![0.0]], &[0.7])];
    let problem = Problem::new(shards, model).expect("a valid problem");
    check(&problem, &graph("ring", 2), &pairs(1e-6, 1), "a shard of zeros");
}
