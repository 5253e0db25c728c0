//! Rows of a loss on ranks: the same certified optimum on 1, 2 and 4 of them, the same bits on each, and ranks that end together.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use equipoise::collective::{Accord, Collective, Ledger, Threads};
use equipoise::matrix::ByRow;
use equipoise::separable::{Bounds, GroupL2, L1, NonNegative, Nonsmooth, SeparableTerm, Values, Zero};
use equipoise::smooth::loss::{HuberLoss, LogisticLoss, Squared};
use equipoise::smooth::{
    Distance, LossOfProduct, PairTerm, SampleBatch, SampleFault, SampleReader, SampleSource, Sharded,
    SmoothTerm, Streamed, Sum,
};
use equipoise::{
    BlockChoice, Control, Coupling, DenseMatrix, Error, Matrix, Method, Problem, Settings, Solution, Solver,
    Status, certificate,
};

use crate::adaptor::{AnyProblem, term};
use crate::numbers::Numbers;

const ROWS: usize = 90;
const N: usize = 20;

/// What is to be solved; its rows are dealt to ranks.
#[derive(Debug, Clone, Copy)]
enum Task {
    Lasso,
    Logistic,
    Huber,
    Groups,
    Ridge,
}

const TASKS: [Task; 5] = [Task::Lasso, Task::Logistic, Task::Huber, Task::Groups, Task::Ridge];

/// Rows as they are, and what they are to explain.
fn data(task: Task) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut numbers = Numbers::new(41);
    let rows: Vec<Vec<f64>> = (0..ROWS).map(|_| numbers.vector(N, 1.0)).collect();
    let truth: Vec<f64> = (0..N).map(|c| if c % 3 == 0 { numbers.next() } else { 0.0 }).collect();
    let explained = |row: &Vec<f64>| -> f64 { row.iter().zip(&truth).map(|(a, b)| a * b).sum() };
    let noisy: Vec<f64> = rows.iter().map(|row| explained(row) + 0.3 * numbers.next()).collect();
    let target = match task {
        Task::Logistic => noisy.iter().map(|y| y.signum()).collect(),
        _ => noisy,
    };
    (rows, target)
}

fn loss(task: Task, rows: &[Vec<f64>], target: Vec<f64>) -> Box<dyn SmoothTerm> {
    let matrix: Matrix = if rows.is_empty() {
        DenseMatrix::from_columns(0, N, Vec::new()).expect("no rows").into()
    } else {
        Matrix::from_rows(rows).expect("rows of one length")
    };
    match task {
        Task::Logistic => Box::new(LossOfProduct::new(matrix, target, LogisticLoss).expect("valid")),
        Task::Huber => Box::new(
            LossOfProduct::new(matrix, target, HuberLoss::new(0.2).expect("above 0")).expect("valid"),
        ),
        _ => Box::new(LossOfProduct::new(matrix, target, Squared).expect("valid")),
    }
}

/// The problem around an f.
fn around(task: Task, f: Box<dyn SmoothTerm>) -> AnyProblem {
    let h: Nonsmooth<Box<dyn SeparableTerm>> = match task {
        Task::Lasso => term(L1::new(2.0).expect("above 0")),
        Task::Logistic => term(Bounds::new(-0.8, 0.8).expect("in order")),
        Task::Huber => term(NonNegative),
        Task::Groups => Nonsmooth::Groups(GroupL2::new(1.5).expect("above 0")),
        Task::Ridge => term(Zero),
    };
    let f: Box<dyn SmoothTerm> = match task {
        Task::Ridge => {
            let ridge: Box<dyn SmoothTerm> = Box::new(Distance::new(vec![0.0; N], 0.5).expect("above 0"));
            Box::new(Sum::new(vec![f, ridge]).expect("of one length"))
        }
        _ => f,
    };
    let mut numbers = Numbers::new(8);
    let (coupling, blocks) = match task {
        Task::Groups => (Coupling::block_sum(vec![0.1; 4]).expect("finite"), BlockChoice::Size(4)),
        Task::Ridge => {
            let rows = numbers.dense(3, N);
            (Coupling::rows_of(rows, vec![0.2, -0.1, 0.3]).expect("finite"), BlockChoice::Automatic)
        }
        Task::Huber => (Coupling::sum(1.0).expect("finite"), BlockChoice::Automatic),
        _ => (Coupling::sum(0.0).expect("finite"), BlockChoice::Automatic),
    };
    let builder = Problem::builder(f).nonsmooth(h).coupling(coupling).blocks(blocks);
    builder.build().expect("valid")
}

/// This rank's rows, around an accord.
fn spread(task: Task, world: &Arc<dyn Collective>, own: Control) -> (AnyProblem, Arc<Accord>) {
    try_spread(task, world, own).expect("terms of one length")
}

/// The same on ranks that may not stay together.
fn try_spread(
    task: Task,
    world: &Arc<dyn Collective>,
    own: Control,
) -> Result<(AnyProblem, Arc<Accord>), Error> {
    let (rank, ranks) = (world.rank(), world.ranks());
    let (rows, target) = data(task);
    let part = rank * ROWS / ranks..(rank + 1) * ROWS / ranks;
    let f = loss(task, &rows[part.clone()], target[part].to_vec());
    let accord = Accord::new(Arc::clone(world), own);
    let f = Sharded::new(f, &accord)?;
    Ok((around(task, Box::new(f)), accord))
}

fn solved(task: Task, ranks: usize, settings: &Settings) -> Vec<Solution> {
    let all = Threads::run(ranks, |world| {
        let (problem, accord) = spread(task, &world, Control::unlimited());
        let solution = Solver::new(&problem, settings).control(accord.control()).run();
        accord.check().map(|()| solution)?
    });
    all.into_iter().map(|solution| solution.expect("valid")).collect()
}

#[test]
fn ranks_find_the_certified_optimum_of_one_process() {
    let settings = Settings::default();
    for task in TASKS {
        let (rows, target) = data(task);
        let whole = around(task, loss(task, &rows, target));
        let alone = equipoise::solve(&whole, &settings).expect("valid");
        assert_eq!(alone.status, Status::Converged, "{task:?} alone");
        for ranks in [1, 2, 4] {
            let all = solved(task, ranks, &settings);
            let first = &all[0];
            assert_eq!(first.status, Status::Converged, "{task:?} on {ranks}: {:?}", first.certificate);
            assert!(first.certificate.is_proven, "{task:?} on {ranks}");
            for other in &all {
                assert_eq!((&other.x, &other.certificate), (&first.x, &first.certificate), "{task:?}");
            }
            // One process judges x from all rows.
            let judged = certificate::check(&whole, &first.x).expect("x of the right length");
            assert!(judged.meets(settings.tolerance), "{task:?} on {ranks}: {judged:?}");
            let size = 1.0 + alone.certificate.objective.abs();
            let apart = (first.certificate.objective - alone.certificate.objective).abs();
            assert!(apart <= 2.0 * settings.tolerance * size, "{task:?} on {ranks}: {apart}");
            assert!((judged.objective - first.certificate.objective).abs() <= 1e-12 * size);
        }
    }
}

/// Whoever is told to stop takes the others along, at the same x.
#[test]
fn one_rank_that_is_interrupted_ends_all() {
    let flag = Arc::new(AtomicBool::new(true));
    let all = Threads::run(3, |world| {
        let own = if world.rank() == 1 { Control::on(Arc::clone(&flag)) } else { Control::unlimited() };
        let (problem, accord) = spread(Task::Logistic, &world, own);
        Solver::new(&problem, &Settings::default()).control(accord.control()).run()
    });
    flag.store(false, Ordering::Relaxed);
    let all: Vec<_> = all.into_iter().map(|end| end.map(|solution| (solution.status, solution.x))).collect();
    for end in &all {
        match end {
            Ok((status, _)) => assert_eq!(*status, Status::Interrupted),
            Err(error) => assert_eq!(*error, Error::StoppedEarly { by: "interrupted" }),
        }
        assert_eq!(end, &all[0]);
    }
    // A limit of one rank's clock counts for all, too.
    let all = Threads::run(2, |world| {
        let own = if world.rank() == 0 { Control::unlimited().within(0.0) } else { Control::unlimited() };
        let (problem, accord) = spread(Task::Lasso, &world, own);
        let ended = Solver::new(&problem, &Settings::default()).control(accord.control()).run();
        ended.map(|solution| solution.status)
    });
    for end in all {
        assert!(
            matches!(end, Ok(Status::TimeLimit) | Err(Error::StoppedEarly { by: "time-limit" })),
            "{end:?}"
        );
    }
}

/// Rows in one batch, which cannot be read any more after so many passes.
#[derive(Debug)]
struct Source {
    rows: Vec<Vec<f64>>,
    target: Vec<f64>,
    passes: AtomicUsize,
    last: usize,
}

struct Reader<'a>(Option<&'a Source>);

impl SampleSource for Source {
    fn samples(&self) -> usize {
        self.rows.len()
    }
    fn columns(&self) -> usize {
        N
    }
    fn memory_budget(&self) -> usize {
        1 << 20
    }
    fn open(&self) -> Result<Box<dyn SampleReader + '_>, SampleFault> {
        if self.passes.fetch_add(1, Ordering::Relaxed) >= self.last {
            return Err(SampleFault { row: 7, reason: "entry 2 is NaN".into() });
        }
        Ok(Box::new(Reader(Some(self))))
    }
}

impl SampleReader for Reader<'_> {
    fn next(&mut self, _used: Option<SampleBatch>) -> Result<Option<SampleBatch>, SampleFault> {
        Ok(self.0.take().map(|source| SampleBatch {
            first: 0,
            rows: ByRow::Dense { columns: N, values: source.rows.concat() },
            target: source.target.clone(),
            weights: Values::Uniform(1.0),
        }))
    }
}

/// Rows that stay where they are are as good; a file that one rank cannot read again is an error on all, with its rank.
#[test]
fn rows_may_be_streamed_and_a_fault_of_one_rank_is_told_to_all() {
    let run = |last: usize| {
        Threads::run(2, |world| {
            let (rows, target) = data(Task::Lasso);
            let part = world.rank() * ROWS / 2..(world.rank() + 1) * ROWS / 2;
            let last = if world.rank() == 1 { last } else { usize::MAX };
            let (rows, target) = (rows[part.clone()].to_vec(), target[part].to_vec());
            let source = Source { rows, target, passes: AtomicUsize::new(0), last };
            let f = Streamed::new(Box::new(source), Squared).expect("readable at first");
            let accord = Accord::new(world, Control::unlimited());
            let problem = around(Task::Lasso, Box::new(Sharded::new(f, &accord)?));
            Solver::new(&problem, &Settings::default()).control(accord.control()).run()
        })
    };
    for end in run(usize::MAX) {
        assert_eq!(end.map(|solution| solution.status), Ok(Status::Converged));
    }
    for last in [2, 9] {
        for end in run(last) {
            let error = end.expect_err("rows cannot be read").to_string();
            assert!(error.contains("on rank 1") && error.contains("entry 2 is NaN"), "{error}");
        }
    }
}

/// A rank that takes part so many times, and then leaves its world.
#[derive(Debug)]
struct Leaving {
    world: Mutex<Option<Arc<dyn Collective>>>,
    left: AtomicUsize,
    place: (usize, usize),
    ledger: Ledger,
}

impl Leaving {
    fn after(world: Arc<dyn Collective>, times: usize) -> Arc<dyn Collective> {
        let place = (world.rank(), world.ranks());
        let (world, left) = (Mutex::new(Some(world)), AtomicUsize::new(times));
        Arc::new(Self { world, left, place, ledger: Ledger::default() })
    }

    fn take_part(&self, act: impl FnOnce(&dyn Collective) -> Result<(), Error>) -> Result<(), Error> {
        let mut world = self.world.lock().expect("nobody panics with it");
        let stays = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        if stays.is_err() {
            *world = None;
        }
        let gone = || Error::Rank { rank: self.place.0, what: "it had enough".into() };
        world.as_ref().map_or_else(|| Err(gone()), |world| act(&**world))
    }
}

impl Collective for Leaving {
    fn rank(&self) -> usize {
        self.place.0
    }
    fn ranks(&self) -> usize {
        self.place.1
    }
    fn gather(&self, own: &[f64], all: &mut [f64]) -> Result<(), Error> {
        self.take_part(|world| world.gather(own, all))
    }
    fn deal(&self, blocks: &[f64], dealt: &mut [f64]) -> Result<(), Error> {
        self.take_part(|world| world.deal(blocks, dealt))
    }
    fn broadcast(&self, numbers: &mut [f64]) -> Result<(), Error> {
        self.take_part(|world| world.broadcast(numbers))
    }
    fn ledger(&self) -> &Ledger {
        &self.ledger
    }
}

/// Whatever they are at: in the middle of a pair's derivatives, of a pass, of a certificate.
#[test]
fn a_rank_that_leaves_is_what_the_others_are_told() {
    let mut ended_early = 0;
    for task in TASKS {
        for after in [0, 1, 2, 3, 4, 5, 6, 7, 9, 12, 17, 25, 40, 70, 120] {
            let all = Threads::run(3, |world| {
                let world = if world.rank() == 2 { Leaving::after(world, after) } else { world };
                let (problem, accord) = try_spread(task, &world, Control::unlimited())?;
                Solver::new(&problem, &Settings::default()).control(accord.control()).run()
            });
            let is_early = all[2].is_err();
            ended_early += usize::from(is_early);
            for (rank, end) in all.into_iter().enumerate() {
                match end {
                    Err(error) => assert!(
                        matches!(&error, Error::Rank { rank: 2, what } if what.starts_with("it ha")),
                        "{task:?}, rank {rank} after {after}: {error}"
                    ),
                    Ok(solution) => {
                        assert!(!is_early, "{task:?}, rank {rank} after {after}: {}", solution.status);
                        assert_eq!(solution.status, Status::Converged);
                    }
                }
            }
        }
    }
    assert!(ended_early > 40, "{ended_early}");
}

/// Without the control of the accord a run learns it from the term alone.
#[test]
fn a_run_without_the_control_of_its_ranks_is_told_as_well() {
    for after in [8, 12, 17, 25] {
        let all = Threads::run(2, |world| {
            let world = if world.rank() == 1 { Leaving::after(world, after) } else { world };
            let (problem, _) = try_spread(Task::Huber, &world, Control::unlimited())?;
            Solver::new(&problem, &Settings::default()).run()
        });
        for end in all {
            assert!(matches!(end, Err(Error::Rank { rank: 1, .. })), "after {after}: {end:?}");
        }
    }
}

#[test]
fn methods_by_pairs_are_refused_on_ranks() {
    for method in [Method::Pairs, Method::Svrg, Method::Violating] {
        let all = Threads::run(2, |world| {
            let (problem, accord) = spread(Task::Lasso, &world, Control::unlimited());
            let settings = Settings { method, ..Settings::default() };
            Solver::new(&problem, &settings).control(accord.control()).run()
        });
        for end in all {
            assert!(matches!(end, Err(Error::MethodNotApplicable { .. })), "{method}: {end:?}");
        }
    }
    // Terms of other lengths are named with their rank.
    for end in Threads::run(2, |world| {
        let f = Distance::new(vec![1.0; 2 + world.rank()], 1.0)?;
        Sharded::new(f, &Accord::new(world, Control::unlimited())).map(|f| f.dimension())
    }) {
        let error = end.expect_err("of other lengths").to_string();
        assert_eq!(error, "rank 1: its term has 3 variables, expected 2 as on rank 0");
    }
}
