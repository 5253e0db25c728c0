//! More machines than we have: what ranks and nodes would do, by a model of machines and networks.
//!
//! Trainings on ranks that are threads of this process are written down call by call. The model must send their bytes exactly, and
//! foretell their seconds from those of trainings on fewer rows; then it is asked for 10^9 rows, more columns, up to 1024 ranks, and for 16384 ranks that add up one vector. Pairs exchange on graphs of
//! 10,000 nodes, event by event.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use equipoise::Control;
use equipoise::collective::{Collective, Threads};
use equipoise::graph::{Graph, Topology};
use equipoise_models::svm::{self, TrainSettings, train_across};

use super::svm_data::{Data, Shape};
use crate::cell::{Cell, Outcome};
use crate::cluster::{
    Bulk, Call, Exchange, Fit, Here, Kind, Machine, Noted, Seconds, Seen, Size, bytes_of_rank, seconds,
};
use crate::plan::Plan;

/// Trainings that are written down; where Newton systems are factored, and where they are not: few rows of which most answer all the
/// time, and many to a rough gap, which passes over its rows as rarely as 10^9 rows are.
pub(super) const TRAININGS: [&str; 3] = ["factored", "conjugate gradients", "conjugate gradients, many rows"];
/// Ranks on which the model is checked.
pub(super) const CHECKED: [usize; 2] = [2, 4];
/// What is asked of the model.
pub(super) const COLUMNS: [usize; 4] = [2999, 10_000, 100_000, 1_000_000];
pub(super) const RANKS: [usize; 7] = [16, 32, 64, 128, 256, 512, 1024];
pub(super) const GIGABITS: [f64; 2] = [10.0, 100.0];
pub(super) const ROWS: f64 = 1e9;
pub(super) const ENTRIES: f64 = 100.0;
/// Columns up to which systems are factored, with a bias.
const FACTORED: usize = 2999;
/// Ranks that add up one vector, and its length.
const MANY: [usize; 7] = [16, 64, 256, 1024, 4096, 10_000, 16_384];
pub(super) const LENGTH: usize = 10_000;
/// Graph, requests outstanding, whether they are damped, whether the network is troubled.
pub(super) const PAIRS: [(&str, usize, bool, bool); 7] = [
    ("random-regular:6", 1, true, false),
    ("tree+ring", 1, true, false),
    ("ring", 1, true, false),
    ("star+ring", 1, true, false),
    ("random-regular:6", 4, true, false),
    ("random-regular:6", 4, false, false),
    ("random-regular:6", 1, true, true),
];
/// Numbers that a pair exchanges, the share of the first error that is small enough, exchanges of a node at most.
pub(super) const PAIR_COLUMNS: usize = 100;
pub(super) const SMALL: f64 = 1e-2;
const MOST_A_NODE: u64 = 40;

/// What a prediction says; the first five and the last say of what.
const PREDICTED: [&str; 15] = [
    "columns",
    "gigabits",
    "troubled",
    "weak",
    "ranks",
    "seconds",
    "efficiency",
    "work",
    "led",
    "latency",
    "bytes",
    "waiting",
    "sent",
    "passes",
    "training",
];

pub(super) fn cells(plan: &Plan) -> Vec<Cell> {
    let cell = |kind: &str, weight| Cell::new("cluster", 1, weight).with("kind", &kind);
    let mut cells: Vec<Cell> =
        TRAININGS.iter().map(|training| cell("check", 20).with("training", training)).collect();
    cells.push(cell("predict", 20));
    cells.push(cell("sum", 2));
    for (graph, outstanding, is_damped, is_troubled) in PAIRS {
        let cell = cell("pairs", 10).with("graph", &graph).with("outstanding", &outstanding);
        let cell = cell.with("damped", &is_damped).with("troubled", &is_troubled);
        cells.push(cell.with("nodes", &nodes(plan)));
    }
    cells
}

/// Nodes of the graphs.
pub(super) fn nodes(plan: &Plan) -> usize {
    if plan.is_paper() { 100_000 } else { 10_000 }
}

pub(super) fn run(plan: &Plan, cell: &Cell, control: &Control) -> Result<Outcome> {
    match cell.get("kind") {
        "check" => checked(cell.get("training"), control),
        "predict" => predicted(control),
        "sum" => Ok(sums()),
        _ => pairs(plan, cell),
    }
}

/// What one rank wrote down.
struct Written {
    calls: Vec<Call>,
    /// Bytes of its ledger.
    bytes: u64,
    columns: usize,
    passes: f64,
    steps: u64,
}

/// The rows of a training, or a share of as many.
fn data_of(training: &str, share: f64) -> Result<(Data, f64)> {
    let (rows, features, gap) = match training {
        "factored" => (6000, 300, 1e-6),
        "conjugate gradients" => (8000, 3200, 1e-3),
        _ => (40_000, 3200, 1e-1),
    };
    let rows = (share * f64::from(rows)) as usize;
    Ok((Data::generated(Shape { rows, features, groups: 12, positive: 0.3 })?, gap))
}

/// A training on so many ranks, as each of them wrote it down.
fn written(training: &str, ranks: usize, control: &Control) -> Result<Vec<Written>> {
    let (data, gap) = data_of(training, 1.0)?;
    trained(&data, gap, ranks, control)
}

/// The same of these rows, to this gap.
fn trained(data: &Data, gap: f64, ranks: usize, control: &Control) -> Result<Vec<Written>> {
    let settings = TrainSettings { gap, ..TrainSettings::default() };
    let all = Threads::run(ranks, |world| -> Result<Written> {
        let own = data.share(world.rank(), ranks)?;
        let noted = Arc::new(Noted::of(Arc::clone(&world)));
        let company = svm::Watch { control: control.clone(), ..svm::Watch::default() };
        let shared: Arc<dyn Collective> = Arc::clone(&noted) as _;
        let trained = train_across(&shared, own.samples(), &settings, company)?;
        let class = &trained.report.classes[0];
        Ok(Written {
            calls: noted.calls(),
            bytes: world.ledger().traffic().bytes_sent,
            columns: data.rows.columns(),
            passes: class.epochs,
            steps: class.updates,
        })
    });
    all.into_iter().collect()
}

/// The model beside what ranks wrote down: bytes, and seconds of this machine, foretold from trainings on fewer rows.
fn checked(training: &str, control: &Control) -> Result<Outcome> {
    /// The share of the rows by which costs are measured.
    const MEASURED: f64 = 0.6;
    let mut outcome =
        Outcome::under(&["ranks", "rank", "calls", "bytes", "modelled", "from two", "seconds", "by model"]);
    let fewer = data_of(training, MEASURED)?;
    let [of_two_ranks, of_four] = CHECKED.map(|ranks| quickest(&fewer, ranks, control));
    let here = Here::of(&of_two_ranks?.1, &of_four?.1);
    let whole = data_of(training, 1.0)?;
    let mut of_two = None;
    let mut off = 0_u64;
    for ranks in CHECKED {
        let (all, seen) = quickest(&whole, ranks, control)?;
        let first = &all[0];
        let fit = Fit::of(&first.calls, first.columns, first.passes);
        let from_two = of_two.get_or_insert_with(|| fit.clone());
        for (rank, own) in all.iter().enumerate() {
            let one = |call: &Call| bytes_of_rank(call.kind, call.length, rank, ranks);
            let modelled: u64 = own.calls.iter().map(one).sum();
            off = off.max(modelled.abs_diff(own.bytes));
            outcome.rows.push(vec![
                ranks as f64,
                rank as f64,
                own.calls.len() as f64,
                own.bytes as f64,
                modelled as f64,
                from_two.bytes_of_rank(first.columns, rank, ranks),
                seen.seconds(),
                here.seconds(&seen),
            ]);
        }
        outcome = outcome
            .value(&format!("steps-{ranks}"), first.steps as f64)
            .value(&format!("passes-{ranks}"), first.passes)
            .value(&format!("products-{ranks}"), fit.products())
            .value(&format!("calls-{ranks}"), fit.calls());
    }
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    Ok(outcome.value("off", off as f64).value("processors", processors as f64))
}

/// Of a few trainings the one that was disturbed least, and its seconds.
fn quickest((data, gap): &(Data, f64), ranks: usize, control: &Control) -> Result<(Vec<Written>, Seen)> {
    const TIMES: usize = 3;
    let size = (data.rows.len(), data.rows.entries());
    let once = || -> Result<(Vec<Written>, Seen)> {
        let all = trained(data, *gap, ranks, control)?;
        let calls: Vec<&[Call]> = all.iter().map(|own| &own.calls[..]).collect();
        let seen = Seen::of(&calls, data.rows.columns(), size, all[0].passes);
        Ok((all, seen))
    };
    let mut best = once()?;
    for _ in 1..TIMES {
        let again = once()?;
        if again.1.seconds() < best.1.seconds() {
            best = again;
        }
    }
    Ok(best)
}

/// The seconds of a training of 10^9 rows, or of as many a rank as the most ranks then have.
fn predicted(control: &Control) -> Result<Outcome> {
    let fits = TRAININGS
        .iter()
        .map(|training| {
            let all = written(training, CHECKED[0], control)?;
            let first = all.first().context("a rank")?;
            Ok(Fit::of(&first.calls, first.columns, first.passes))
        })
        .collect::<Result<Vec<Fit>>>()?;
    let is_as_named = |(k, fit): (usize, &Fit)| (k == 0) == (fit.factored() > 0.0);
    ensure!(fits.iter().enumerate().all(is_as_named), "the trainings are not what they should be");
    let mut outcome = Outcome::under(&PREDICTED);
    for columns in COLUMNS {
        for training in if columns > FACTORED { 1..fits.len() } else { 0..1 } {
            let fit = &fits[training];
            for gigabits in GIGABITS {
                for (is_troubled, is_weak) in [(false, false), (false, true), (true, false), (true, true)] {
                    for ranks in RANKS {
                        let mut row = prediction(fit, columns, gigabits, is_troubled, is_weak, ranks);
                        row.extend([fit.passes(), training as f64]);
                        outcome.rows.push(row);
                    }
                }
            }
            control.check()?;
        }
    }
    Ok(outcome)
}

/// A row of what is predicted. Efficiency: seconds of one rank without trouble, on its share of the work or (weak) of the rows, over those of
/// all.
fn prediction(
    fit: &Fit,
    columns: usize,
    gigabits: f64,
    is_troubled: bool,
    is_weak: bool,
    ranks: usize,
) -> Vec<f64> {
    let (quiet, count) = (Machine::with_network(gigabits), ranks as f64);
    let machine = if is_troubled { quiet.troubled() } else { quiet };
    let rows = if is_weak { ROWS * count / RANKS[RANKS.len() - 1] as f64 } else { ROWS };
    let sized = |rows| Size { rows, columns, entries: ENTRIES };
    let alone = |rows| seconds(&quiet, 1, &fit.on(sized(rows), 1), 1).all;
    let ideal = if is_weak { alone(rows / count) } else { alone(rows) / count };
    let found = seconds(&machine, ranks, &fit.on(sized(rows), ranks), 1);
    let Seconds { all, work, led, latency, bytes } = found;
    let flag = |holds| f64::from(u8::from(holds));
    let sent = fit.bytes_of_rank(columns, 1, ranks);
    let settings = [columns as f64, gigabits, flag(is_troubled), flag(is_weak), count];
    let times = [all, ideal / all, work, led, latency, bytes, found.waiting(), sent];
    [&settings[..], &times].concat()
}

/// One sum of a vector on more and more ranks.
fn sums() -> Outcome {
    let mut outcome = Outcome::under(&["ranks", "quiet", "troubled"]);
    for ranks in MANY {
        let call = Bulk { kind: Kind::Sum, length: LENGTH, times: 6.0, read: 8e7, led: 0.0 };
        let quiet = Machine::with_network(GIGABITS[1]);
        let one = |machine: &Machine| seconds(machine, ranks, &[call], 1).all / call.times;
        outcome.rows.push(vec![ranks as f64, one(&quiet), one(&quiet.troubled())]);
    }
    outcome
}

/// Pairs on a graph.
fn pairs(plan: &Plan, cell: &Cell) -> Result<Outcome> {
    let nodes = nodes(plan);
    let graph = Graph::new(&Topology::parse(cell.get("graph"), nodes, 1)?, nodes)?;
    let machine = Machine::with_network(GIGABITS[1]);
    let troubled = Machine { loss: 1e-3, retry: 1e-4, ..machine.troubled() };
    let exchange = Exchange {
        graph: &graph,
        machine: if cell.get("troubled") == "true" { troubled } else { machine },
        columns: PAIR_COLUMNS,
        outstanding: cell.number("outstanding") as usize,
        is_damped: cell.get("damped") == "true",
        share: SMALL,
        most: MOST_A_NODE * nodes as u64,
        seed: cell.seed,
    };
    let ran = exchange.run();
    let fate = if ran.is_done {
        "reached"
    } else if ran.is_lost {
        "diverged"
    } else {
        "not reached"
    };
    let outcome = Outcome::default()
        .word("fate", fate)
        .value("updates", ran.updates as f64)
        .value("seconds", ran.seconds)
        .value("left", ran.left)
        .value("messages", ran.messages as f64)
        .value("bytes", ran.bytes)
        .value("busiest", ran.busiest)
        .value("queue", ran.queue as f64)
        .value("off", ran.off as f64)
        .value("drained", ran.drained as f64);
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every byte that ranks sent, and none besides.
    #[test]
    fn the_model_sends_the_bytes_of_the_ledger() {
        let control = Control::unlimited();
        for ranks in [2, 3, 4] {
            let all = written(TRAININGS[0], ranks, &control).expect("trained");
            for (rank, own) in all.iter().enumerate() {
                let one = |call: &Call| bytes_of_rank(call.kind, call.length, rank, ranks);
                assert_eq!(own.calls.iter().map(one).sum::<u64>(), own.bytes, "rank {rank} of {ranks}");
                let fit = Fit::of(&own.calls, own.columns, own.passes);
                assert_eq!(fit.bytes_of_rank(own.columns, rank, ranks), own.bytes as f64);
                assert_eq!(fit.calls(), own.calls.len() as f64);
                // Some Newton steps go by the system of one before, and a line is searched in few looks.
                let steps = own.steps as f64;
                assert!(
                    fit.factored() > 0.2 * steps && fit.factored() < steps,
                    "{} of {steps}",
                    fit.factored()
                );
                assert!(fit.calls() < 8.0 * steps, "{} calls in {steps} steps", fit.calls());
            }
        }
    }

    /// A system that is not formed is not sent either.
    #[test]
    fn conjugate_gradients_send_products_alone() {
        let all = written(TRAININGS[1], 2, &Control::unlimited()).expect("trained");
        let own = &all[1];
        let fit = Fit::of(&own.calls, own.columns, own.passes);
        let one = |call: &Call| bytes_of_rank(call.kind, call.length, 1, 2);
        assert_eq!(own.calls.iter().map(one).sum::<u64>(), own.bytes);
        assert!(fit.factored() == 0.0 && fit.products() > own.steps as f64);
    }

    /// Keeps every snapshot.
    struct All(Vec<svm::TrainSnapshot>);

    impl svm::TrainKeeper for All {
        fn is_due(&mut self) -> bool {
            true
        }
        fn keep(&mut self, snapshot: &svm::TrainSnapshot) {
            self.0.push(snapshot.clone());
        }
    }

    /// Wherever three ranks are ended, they go on to the same bits, and a good part of the steps before is not made again.
    #[test]
    fn ranks_go_on_from_every_snapshot() {
        let data = Data::generated(Shape { rows: 1200, features: 60, groups: 12, positive: 0.3 });
        let data = data.expect("valid");
        let settings = TrainSettings { gap: 1e-9, ..TrainSettings::default() };
        let train = |resumed: Option<&[svm::TrainSnapshot]>| {
            Threads::run(3, |world| {
                let (own, mut all) = (data.share(world.rank(), 3).expect("rows"), All(Vec::new()));
                let resumed = resumed.map(|all| &all[world.rank()]);
                let watch = svm::Watch { keeper: Some(&mut all), resumed, ..svm::Watch::default() };
                (train_across(&world, own.samples(), &settings, watch).expect("trained"), all.0)
            })
        };
        let whole = train(None);
        let cold = whole[0].0.report.classes[0].clone();
        let kept: Vec<u64> = whole[0].1.iter().map(svm::TrainSnapshot::updates).collect();
        for place in 0..kept.len() {
            // Words, as files have them.
            let again = |(_, all): &(svm::Trained, Vec<svm::TrainSnapshot>)| {
                svm::TrainSnapshot::from_words(&all[place].to_words()).expect("our own")
            };
            let snapshots: Vec<svm::TrainSnapshot> = whole.iter().map(again).collect();
            for ((first, _), (again, left)) in whole.iter().zip(train(Some(&snapshots))) {
                assert_eq!((&again.model, &again.multipliers), (&first.model, &first.multipliers));
                let found = &again.report.classes[0];
                assert_eq!((found.updates, found.epochs), (cold.updates, cold.epochs), "snapshot {place}");
                assert_eq!(left.len(), kept.len() - place - 1, "snapshot {place}");
            }
        }
        let half = kept.iter().rfind(|steps| 2 * **steps <= cold.updates).copied().unwrap_or(0);
        let left = (cold.updates - half) as f64 / cold.updates as f64;
        assert!(left <= 0.75, "{left} of the steps are made again after half of them");
    }
}
