//! Work on a thread of its own, while the thread that called waits, listens to Ctrl-C and calls Python's functions.
//!
//! ```text
//! caller:  every 20 ms: signals?  -> raise the flag, wait for the worker, let KeyboardInterrupt out
//!          a report:    progress(report) on this thread; False or an exception -> raise the flag
//! worker:  the library, under a Control with that flag; it waits while a report is looked at
//! ```
//!
//! The interpreter is free all the while: other Python threads run. Progress functions are called on the caller's thread, one
//! at a time, so that they may draw and print. Signals are looked at on the main thread, the only one that Python gives them to.
//! At the exit of the interpreter ([`leave`]) runs of other threads are ended first: a thread must not come back to an
//! interpreter that is gone.
//!
//! - Given: work that takes a [`Talk`]. Returns: its result, or the exception that ended it.
//! - Must not know: what the work is.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use equipoise::Control;
use equipoise::solve::{Observer, Progress};
use numpy::PyArray1;
use pyo3::exceptions::PySystemExit;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{Answered, Fault, refused};
use crate::options::Options;

/// How long a signal may wait until it is looked at.
const LOOK: Duration = Duration::from_millis(20);
/// As much as the first thread of a process has.
const STACK: usize = 8 << 20;
/// How long the exit of the interpreter waits for runs to end.
const FAREWELL: Duration = Duration::from_secs(5);

/// How many runs there are in this process (its child by a fork has none of them), and whether all of them shall end.
static RUNS: AtomicUsize = AtomicUsize::new(0);
static PROCESS: AtomicU32 = AtomicU32::new(0);
static IS_LEAVING: AtomicBool = AtomicBool::new(false);

/// Counts a run for as long as it lives.
struct Counted;

impl Counted {
    fn new() -> Self {
        let own = std::process::id();
        if PROCESS.swap(own, Ordering::SeqCst) != own {
            RUNS.store(0, Ordering::SeqCst);
        }
        RUNS.fetch_add(1, Ordering::SeqCst);
        Self
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        // Those that a fork cut off were counted by another process.
        let _ = RUNS.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |count| count.checked_sub(1));
    }
}

/// Ends every run of this process and waits for them; for the exit of the interpreter.
#[pyfunction]
pub(crate) fn leave(py: Python<'_>) {
    IS_LEAVING.store(true, Ordering::SeqCst);
    let are_ours = PROCESS.load(Ordering::SeqCst) == std::process::id();
    py.detach(|| {
        let until = Instant::now() + FAREWELL;
        while are_ours && RUNS.load(Ordering::SeqCst) > 0 && Instant::now() < until {
            thread::sleep(Duration::from_millis(1));
        }
    });
}

/// Whether this is the thread that gets signals.
fn is_main(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import("threading")?;
    let own = threading.call_method0("get_ident")?;
    threading.call_method0("main_thread")?.getattr("ident")?.eq(own)
}

/// What every long function may be told about its run.
pub(crate) struct Limits {
    time_limit: Option<f64>,
    progress: Option<Py<PyAny>>,
}

impl Limits {
    pub(crate) fn new(time_limit: Option<f64>, progress: Option<Bound<'_, PyAny>>) -> Self {
        Self { time_limit, progress: progress.map(Bound::unbind) }
    }

    pub(crate) fn of(options: &Options<'_>) -> PyResult<Self> {
        let time_limit: Option<f64> = options.get("time_limit")?;
        if let Some(limit) = time_limit
            && (limit.is_nan() || limit <= 0.0)
        {
            return Err(refused(format!("time_limit is {limit}; allowed: a number of seconds above 0")));
        }
        let progress = options.raw("progress")?;
        Ok(Self::new(time_limit, progress))
    }

    pub(crate) fn seconds(&self) -> Option<f64> {
        self.time_limit
    }

    fn control(&self, ending: &Ending) -> Control {
        let control = Control::on(Arc::clone(&ending.flag)).forsaken_by(Arc::clone(&ending.forsaken));
        match self.time_limit {
            Some(limit) => control.within(limit),
            None => control,
        }
    }
}

/// Where a run stands; what is not known is `None` in Python.
#[derive(Debug, Clone, Default)]
pub(crate) struct Report {
    pub(crate) seconds: Option<f64>,
    pub(crate) objective: Option<f64>,
    pub(crate) bound: Option<f64>,
    pub(crate) gap: Option<f64>,
    pub(crate) updates: Option<u64>,
    pub(crate) epoch: Option<f64>,
    pub(crate) label: Option<f64>,
    /// Which round, point or fold this is, counted from 1.
    pub(crate) round: Option<usize>,
    /// The iterate, of problems in words.
    pub(crate) x: Option<Vec<f64>>,
}

impl Report {
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("seconds", self.seconds)?;
        dict.set_item("objective", self.objective)?;
        dict.set_item("bound", self.bound)?;
        dict.set_item("gap", self.gap)?;
        dict.set_item("updates", self.updates)?;
        dict.set_item("epoch", self.epoch)?;
        dict.set_item("label", self.label.filter(|label| !label.is_nan()))?;
        dict.set_item("round", self.round)?;
        dict.set_item("x", self.x.as_deref().map(|x| PyArray1::from_slice(py, x)))?;
        Ok(dict)
    }

    /// Calls the progress function; whether to go on.
    fn shown_to(&self, progress: &Py<PyAny>, py: Python<'_>) -> PyResult<bool> {
        let answer = progress.bind(py).call1((self.to_dict(py)?,))?;
        Ok(!matches!(answer.extract::<bool>(), Ok(false)))
    }
}

/// What ends a run from Python's side: a flag that the library looks at, and the exception behind it, if there is one.
#[derive(Debug, Default)]
pub(crate) struct Ending {
    flag: Arc<AtomicBool>,
    /// Raised with an exception: there is no result then, and nobody waits for its proof.
    forsaken: Arc<AtomicBool>,
    raised: Mutex<Option<PyErr>>,
}

impl Ending {
    /// Ends the run as interrupted.
    fn stop(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Ends the run; the first exception is the one that is let out.
    pub(crate) fn raise(&self, error: PyErr) {
        self.slot().get_or_insert(error);
        self.forsaken.store(true, Ordering::Relaxed);
        self.stop();
    }

    pub(crate) fn is_raised(&self) -> bool {
        self.slot().is_some()
    }

    fn take(&self) -> Option<PyErr> {
        self.slot().take()
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, Option<PyErr>> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows a report to the progress function, and looks at signals.
    fn show(&self, report: &Report, progress: &Py<PyAny>) {
        let answer = Python::attach(|py| {
            let goes_on = report.shown_to(progress, py)?;
            py.check_signals()?;
            Ok(goes_on)
        });
        match answer {
            Ok(true) => {}
            Ok(false) => self.stop(),
            Err(error) => self.raise(error),
        }
    }
}

/// A report, and where the answer is awaited.
type Told = (Report, SyncSender<()>);

/// Who hears reports.
enum Voice<'a> {
    Nobody,
    /// The thread that called.
    Caller(Sender<Told>),
    /// A function, on this very thread.
    Function(&'a Py<PyAny>),
}

/// The worker's side.
pub(crate) struct Talk<'a> {
    control: Control,
    ending: &'a Ending,
    voice: Voice<'a>,
}

impl Talk<'_> {
    pub(crate) fn control(&self) -> &Control {
        &self.control
    }

    /// Whether anybody listens.
    pub(crate) fn is_heard(&self) -> bool {
        !matches!(self.voice, Voice::Nobody)
    }

    /// Tells where the run stands, and waits until that was looked at.
    pub(crate) fn tell(&self, report: Report) {
        match &self.voice {
            Voice::Nobody => {}
            Voice::Function(progress) => self.ending.show(&report, progress),
            Voice::Caller(sender) => {
                let (done, answered) = mpsc::sync_channel(1);
                if sender.send((report, done)).is_ok() {
                    // A caller who is gone has nothing to say.
                    let _ = answered.recv();
                }
            }
        }
    }
}

/// The library's observer: tells every checkpoint.
pub(crate) struct Telling<'a> {
    talk: &'a Talk<'a>,
    label: Option<f64>,
    x: Option<Vec<f64>>,
    /// Whether the objective of a verdict is minus a dual, as it is for support vector machines.
    of_dual: bool,
}

impl<'a> Telling<'a> {
    pub(crate) fn new(talk: &'a Talk<'a>) -> Self {
        Self { talk, label: None, x: None, of_dual: false }
    }

    pub(crate) fn of_dual(talk: &'a Talk<'a>) -> Self {
        Self { of_dual: true, ..Self::new(talk) }
    }
}

impl Observer for Telling<'_> {
    fn of_fit(&mut self, label: f64) {
        self.label = Some(label);
    }

    fn iterate(&mut self, x: &[f64]) {
        // That of a dual is nothing that the user knows.
        self.x = (!self.of_dual).then(|| x.to_vec());
    }

    fn checkpoint(&mut self, progress: &Progress) {
        let verdict = &progress.verdict;
        let (objective, bound) = if self.of_dual {
            (verdict.gap.map(|gap| gap - verdict.objective), Some(-verdict.objective))
        } else {
            (Some(verdict.objective), verdict.gap.map(|gap| verdict.objective - gap))
        };
        self.talk.tell(Report {
            seconds: Some(progress.seconds),
            objective,
            bound,
            gap: verdict.gap,
            updates: Some(progress.update),
            epoch: Some(progress.epoch),
            label: self.label,
            round: None,
            x: self.x.take(),
        });
    }
}

/// Does the work on a thread of its own.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    limits: &Limits,
    work: impl FnOnce(&Talk<'_>) -> Answered<T> + Send,
) -> PyResult<T> {
    let ending = Ending::default();
    let (sender, receiver) = mpsc::channel::<Told>();
    let progress = limits.progress.as_ref();
    let control = limits.control(&ending);
    let (told, hears_signals, _counted) = (&ending, is_main(py)?, Counted::new());
    let joined = py.detach(move || {
        thread::scope(|scope| {
            let ending = told;
            let worker = move || {
                // It lives as long as the work: that it is gone tells the caller that there is nothing left to wait for.
                let alive = sender.clone();
                let voice = if progress.is_some() { Voice::Caller(sender) } else { Voice::Nobody };
                let answer = work(&Talk { control, ending, voice });
                drop(alive);
                answer
            };
            let worker = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, worker);
            let worker = worker.map_err(|error| (error.kind(), format!("cannot start a thread: {error}")));
            worker.map(|worker| {
                attend(&receiver, progress, ending, hears_signals);
                worker.join()
            })
        })
    });
    let answer = match joined {
        Ok(Ok(answer)) => answer,
        Ok(Err(panic)) => std::panic::resume_unwind(panic),
        Err((kind, words)) => Err(Fault::File(kind, words)),
    };
    ending.take().map_or(answer.map_err(PyErr::from), Err)
}

/// The exception of a signal that came, if one did.
fn signals() -> PyResult<()> {
    Python::attach(|py| {
        py.check_signals()?;
        Ok(())
    })
}

/// Waits for the worker.
fn attend(receiver: &Receiver<Told>, progress: Option<&Py<PyAny>>, ending: &Ending, hears_signals: bool) {
    loop {
        match receiver.recv_timeout(LOOK) {
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {
                if IS_LEAVING.load(Ordering::SeqCst) {
                    // A thread that ends so says nothing of it.
                    ending.raise(PySystemExit::new_err("the interpreter is shutting down"));
                } else if hears_signals
                    && !ending.is_raised()
                    && let Err(error) = signals()
                {
                    ending.raise(error);
                }
            }
            Ok((report, done)) => {
                if let Some(progress) = progress.filter(|_| !ending.is_raised()) {
                    ending.show(&report, progress);
                }
                // The worker waits; that it is gone is impossible.
                let _ = done.send(());
            }
        }
    }
}

/// Does the work on this thread, for terms that are Python functions: they are called where their owner is, and Ctrl-C comes
/// up inside them. The interpreter is free between two calls.
pub(crate) fn run_here<T: Send>(
    py: Python<'_>,
    limits: &Limits,
    ending: &Ending,
    work: impl FnOnce(&Talk<'_>) -> Answered<T> + Send,
) -> PyResult<T> {
    let (control, progress) = (limits.control(ending), limits.progress.as_ref());
    let answer = py.detach(|| {
        let voice = progress.map_or(Voice::Nobody, Voice::Function);
        work(&Talk { control, ending, voice })
    });
    ending.take().map_or(answer.map_err(PyErr::from), Err)
}
