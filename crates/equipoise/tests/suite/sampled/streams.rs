//! Samples that are read in order, a few at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread::sleep;
use std::time::Duration;

use super::{N, SAMPLES, dense, settings};
use crate::adaptor::{AnyProblem, composite};
use crate::numbers::Numbers;
use crate::resume::goes_on_alike;
use equipoise::matrix::ByRow;
use equipoise::separable::{L1, Values};
use equipoise::smooth::loss::{ScalarLoss, Squared};
use equipoise::smooth::{
    DualSide, FiniteSum, LeastSquares, LossOfProduct, PairTerm, SampleBatch, SampleData, SampleFault,
    SampleReader, SampleSource, SmoothTerm,
};
use equipoise::{
    Control, Coupling, Error, Matrix, Method, Pass, Settings, Solver, Status, certificate, solve,
};

/// Rows of a matrix, handed out seven at a time; one of them may be broken.
#[derive(Debug)]
struct Source {
    rows: Vec<Vec<f64>>,
    target: Vec<f64>,
    broken: Option<usize>,
}

struct Reader<'a> {
    source: &'a Source,
    next: usize,
}

impl SampleSource for Source {
    fn samples(&self) -> usize {
        self.rows.len()
    }
    fn columns(&self) -> usize {
        N
    }
    fn memory_budget(&self) -> usize {
        7 * N * 8
    }
    fn open(&self) -> Result<Box<dyn SampleReader + '_>, SampleFault> {
        Ok(Box::new(Reader { source: self, next: 0 }))
    }
}

impl SampleReader for Reader<'_> {
    fn next(&mut self, _used: Option<SampleBatch>) -> Result<Option<SampleBatch>, SampleFault> {
        let (first, end) = (self.next, (self.next + 7).min(self.source.samples()));
        if first == end {
            return Ok(None);
        }
        if let Some(row) = self.source.broken.filter(|row| (first..end).contains(row)) {
            return Err(SampleFault { row, reason: "entry 2 is NaN".into() });
        }
        self.next = end;
        let values = self.source.rows[first..end].concat();
        let rows = ByRow::Dense { columns: N, values };
        let (target, weights) = (self.source.target[first..end].to_vec(), Values::Uniform(1.0));
        Ok(Some(SampleBatch { first, rows, target, weights }))
    }
}

/// Least squares whose samples are streamed.
#[derive(Debug)]
struct Streamed {
    whole: LeastSquares<'static>,
    source: Source,
}

impl PairTerm for Streamed {
    fn dimension(&self) -> usize {
        self.whole.dimension()
    }
    fn partial(&self, c: usize, x: &[f64], product: &[f64]) -> f64 {
        self.whole.partial(c, x, product)
    }
    fn curvature(&self, c: usize) -> f64 {
        self.whole.curvature(c)
    }
    fn product_len(&self) -> usize {
        self.whole.product_len()
    }
    fn add_to_product(&self, c: usize, delta: f64, product: &mut [f64]) {
        self.whole.add_to_product(c, delta, product);
    }
}

impl SmoothTerm for Streamed {
    fn value(&self, x: &[f64], product: &[f64]) -> f64 {
        self.whole.value(x, product)
    }
    fn fill_product(&self, x: &[f64], product: &mut [f64], control: &Control) -> Pass {
        self.whole.fill_product(x, product, control)
    }
    fn dual(&self) -> Option<&dyn DualSide> {
        self.whole.dual()
    }
    fn finite_sum(&self) -> Option<FiniteSum<'_>> {
        let loss: &dyn ScalarLoss = &Squared;
        Some(FiniteSum { loss, data: SampleData::Stream(&self.source), rest: Vec::new() })
    }
}

fn streamed(broken: Option<usize>) -> AnyProblem {
    let (matrix, target): (Matrix, _) = (dense(), Numbers::new(81).vector(SAMPLES, 1.0));
    let rows = (0..SAMPLES).map(|r| (0..N).map(|c| matrix.entry(r, c)).collect()).collect();
    let source = Source { rows, target: target.clone(), broken };
    let whole = LossOfProduct::new(matrix, target, Squared).expect("valid");
    let builder = composite(Streamed { whole, source }, L1::new(0.5).expect("valid"));
    builder.coupling(Coupling::sum(1.0).expect("finite")).build().expect("valid")
}

#[test]
fn streamed_samples_lead_to_the_same_optimum() {
    let problem = streamed(None);
    let best = solve(&problem, &Settings::default()).expect("valid").certificate.objective;
    for method in [Method::Svrg, Method::Saga] {
        for batch in [1, 3, SAMPLES] {
            let solution = solve(&problem, &Settings { batch, ..settings(method) }).expect("valid");
            assert_eq!(solution.status, Status::Converged, "{}: {:?}", method.name(), solution.certificate);
            assert!((solution.certificate.objective - best).abs() < 1e-5 * (1.0 + best));
        }
    }
    let settings = Settings { max_updates: Some(20_000), ..settings(Method::Stochastic) };
    let solution = solve(&problem, &settings).expect("valid");
    assert!(solution.certificate.is_feasible() && solution.certificate.objective < 1.2 * best);
}

#[test]
fn a_stream_goes_on_where_it_was_put_aside() {
    let problem = streamed(None);
    for (method, batch) in
        [(Method::Svrg, 1), (Method::Saga, 3), (Method::Stochastic, 1), (Method::Stochastic, 3)]
    {
        let settings = Settings { batch, max_updates: Some(5000), ..settings(method) };
        let name = format!("{method} of {batch}");
        assert!(goes_on_alike(&name, &problem, &settings) > 1, "{name}");
    }
}

#[test]
fn a_sample_that_cannot_be_used_ends_the_run_with_its_number_and_the_iterate() {
    let problem = streamed(Some(40));
    for method in [Method::Stochastic, Method::Svrg, Method::Saga] {
        let error = solve(&problem, &settings(method)).expect_err("a broken sample");
        let words = error.to_string();
        assert!(words.starts_with("sample 40: entry 2 is NaN; the iterate after "), "{words}");
        let Error::BadSample { row, iterate, .. } = error else { panic!("{words}") };
        assert_eq!((row, iterate.len()), (40, N));
        assert!(equipoise::certificate::check(&problem, &iterate).expect("finite").is_feasible());
    }
}

/// Raises a flag with a batch, and is slow from then on.
#[derive(Debug)]
struct Interrupting {
    source: Source,
    read: Arc<AtomicUsize>,
    at: Arc<AtomicUsize>,
    flag: Arc<AtomicBool>,
}

impl SampleSource for Interrupting {
    fn samples(&self) -> usize {
        self.source.samples()
    }
    fn columns(&self) -> usize {
        N
    }
    fn memory_budget(&self) -> usize {
        self.source.memory_budget()
    }
    fn open(&self) -> Result<Box<dyn SampleReader + '_>, SampleFault> {
        Ok(Box::new(Interrupted { of: self, reader: Reader { source: &self.source, next: 0 } }))
    }
}

struct Interrupted<'a> {
    of: &'a Interrupting,
    reader: Reader<'a>,
}

impl SampleReader for Interrupted<'_> {
    fn next(&mut self, used: Option<SampleBatch>) -> Result<Option<SampleBatch>, SampleFault> {
        let Interrupting { read, at, flag, .. } = self.of;
        if read.fetch_add(1, Relaxed) >= at.load(Relaxed) {
            flag.store(true, Relaxed);
            // Longer than anyone has patience for the last certificate.
            sleep(Duration::from_millis(25));
        }
        self.reader.next(used)
    }
}

/// A problem whose source raises `flag` with batch number `at`, counted by `read`.
struct Watched {
    problem: AnyProblem,
    read: Arc<AtomicUsize>,
    at: Arc<AtomicUsize>,
    flag: Arc<AtomicBool>,
}

fn watched() -> Watched {
    let (matrix, target): (Matrix, _) = (dense(), Numbers::new(81).vector(SAMPLES, 1.0));
    let rows = (0..SAMPLES).map(|r| (0..N).map(|c| matrix.entry(r, c)).collect()).collect();
    let (read, at) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(usize::MAX)));
    let flag = Arc::new(AtomicBool::new(false));
    let source = Interrupting {
        source: Source { rows, target, broken: None },
        read: Arc::clone(&read),
        at: Arc::clone(&at),
        flag: Arc::clone(&flag),
    };
    let f = equipoise::smooth::Streamed::new(Box::new(source), Squared).expect("sound");
    let builder = composite(f, L1::new(0.5).expect("valid"));
    let problem = builder.coupling(Coupling::sum(1.0).expect("finite")).build().expect("valid");
    Watched { problem, read, at, flag }
}

#[test]
fn a_certificate_from_a_pass_that_ended_early_is_none() {
    let Watched { problem, read, at, flag } = watched();
    let x = problem.start();
    read.store(0, Relaxed);
    certificate::check(&problem, x).expect("finite");
    let batches = read.load(Relaxed);
    for raise in (0..batches - 1).step_by(batches.div_ceil(9)) {
        flag.store(false, Relaxed);
        read.store(0, Relaxed);
        at.store(raise, Relaxed);
        let found = certificate::check_within(&problem, x, &Control::on(Arc::clone(&flag)));
        assert_eq!(found, Err(Error::StoppedEarly { by: "interrupted" }), "from batch {raise} of {batches}");
        at.store(usize::MAX, Relaxed);
    }
}

#[test]
fn an_interrupt_during_any_pass_ends_the_run_within_a_few_batches() {
    let Watched { problem, read, at, flag } = watched();
    for method in [Method::Stochastic, Method::Svrg, Method::Saga] {
        let settings = Settings { tolerance: 1e-15, ..settings(method) };
        let mut results = 0;
        for raise in [0, 5, 17, 30, 50, 71, 90, 130, 200, 333] {
            flag.store(false, Relaxed);
            read.store(0, Relaxed);
            at.store(raise, Relaxed);
            let control = Control::on(Arc::clone(&flag));
            let found = Solver::new(&problem, &settings).control(control).run();
            let more = read.load(Relaxed) - raise;
            let name = format!("{} from batch {raise}", method.name());
            assert!(more < SAMPLES.div_ceil(7), "{name}: {more} batches more, a whole pass");
            at.store(usize::MAX, Relaxed);
            match found {
                Ok(solution) => {
                    results += 1;
                    assert_eq!(solution.status, Status::Interrupted, "{name}");
                    let again = {
                        flag.store(false, Relaxed);
                        certificate::check(&problem, &solution.x).expect("finite")
                    };
                    let (said, found) = (&solution.certificate, again.objective);
                    assert!((said.objective - found).abs() <= 1e-12 * (1.0 + found), "{name}");
                    let gap = said.is_partial || said.duality_gap >= again.duality_gap;
                    assert!(said.is_feasible() && gap, "{name}: {said:?}");
                }
                Err(error) => assert_eq!(error, Error::StoppedEarly { by: "interrupted" }, "{name}"),
            }
        }
        assert!(results >= 3, "{}: {results}", method.name());
    }
}

#[test]
fn a_limit_on_time_ends_a_pass_as_an_interrupt_does() {
    let problem = streamed(None);
    for method in [Method::Stochastic, Method::Svrg, Method::Saga] {
        match solve(&problem, &Settings { time_limit: Some(1e-9), ..settings(method) }) {
            Ok(solution) => {
                assert_eq!((solution.status, solution.updates), (Status::TimeLimit, 0), "{}", method.name());
                assert!(solution.certificate.is_feasible());
            }
            Err(error) => assert_eq!(error, Error::StoppedEarly { by: "time-limit" }),
        }
    }
}
