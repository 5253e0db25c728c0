//! `solve` and `verify`: the library's problem, in the words of a problem file or from one.
//!
//! - Given: a dictionary of words, or `{"toml": path}`; settings with the names of `[solve]`. Returns: the fields of a solution
//!   file, arrays as arrays.

use std::path::PathBuf;
use std::sync::Arc;

use equipoise::separable::{Nonsmooth, SeparableTerm};
use equipoise::{BlockChoice, Certificate, Control, Settings, Solution, Solver, certificate};
use equipoise_formats::Claims;
use equipoise_formats::problem_file::{AnyProblem, Building, Loading, Pairs, ProblemFile, SolveSpec, Term};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::answers::{answer, array};
use crate::errors::{Answered, refused};
use crate::options::{Options, numbers};
use crate::running::{Ending, Limits, Talk, Telling, run, run_here};
use crate::words::{HeldTerm, TermView, toml_table, toml_value, with_tables};

/// What stands for the file in messages.
pub(crate) const NAME: &str = "problem";

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(solve, module)?)?;
    module.add_function(wrap_pyfunction!(verify, module)?)?;
    module.add_function(wrap_pyfunction!(problem_from_toml, module)?)
}

/// A problem as Python gave it.
enum HeldProblem<'py> {
    File(PathBuf),
    Words(Box<HeldWords<'py>>),
}

/// The words of a problem: terms, and the tables that are none.
struct HeldWords<'py> {
    smooth: HeldTerm<'py>,
    separable: Option<HeldTerm<'py>>,
    coupling: Option<HeldTerm<'py>>,
    tables: toml::Table,
}

impl<'py> HeldProblem<'py> {
    fn of(problem: &Bound<'py, PyDict>, ending: &Arc<Ending>) -> PyResult<Self> {
        if let Some(path) = problem.get_item("toml")? {
            return Ok(Self::File(path.extract()?));
        }
        let term = |name: &str| match problem.get_item(name)?.filter(|value| !value.is_none()) {
            Some(value) => HeldTerm::of(name, &value, ending).map(Some),
            None => Ok(None),
        };
        let smooth = term("smooth")?
            .ok_or_else(|| refused("the problem has no \"smooth\"; it is all that must be there"))?;
        let (separable, coupling) = (term("separable")?, term("coupling")?);
        let mut tables = toml::Table::new();
        for (key, value) in problem.iter().filter(|(_, value)| !value.is_none()) {
            let key: String = key.extract()?;
            if !["smooth", "separable", "coupling"].contains(&key.as_str()) {
                let value = toml_value(&key, &value)?;
                tables.insert(key, value);
            }
        }
        Ok(Self::Words(Box::new(HeldWords { smooth, separable, coupling, tables })))
    }

    fn has_functions(&self) -> bool {
        matches!(self, Self::Words(words) if words.smooth.has_functions())
    }

    fn draft(&self) -> PyResult<Draft<'_>> {
        Ok(match self {
            Self::File(path) => Draft::File(path.clone()),
            Self::Words(words) => Draft::Words {
                own: words.smooth.has_functions(),
                smooth: words.smooth.view()?,
                separable: words.separable.as_ref().map(HeldTerm::view).transpose()?,
                coupling: words.coupling.as_ref().map(HeldTerm::view).transpose()?,
                tables: words.tables.clone(),
            },
        })
    }
}

/// A problem as the worker sees it.
enum Draft<'a> {
    File(PathBuf),
    Words {
        /// Whether f has functions.
        own: bool,
        smooth: TermView<'a>,
        separable: Option<TermView<'a>>,
        coupling: Option<TermView<'a>>,
        tables: toml::Table,
    },
}

impl Draft<'_> {
    /// The problem and the settings of a run; what was said to the run wins over what the file says.
    fn built(
        &self,
        typed: &SolveSpec,
        every_pair: bool,
        control: &Control,
    ) -> Answered<(AnyProblem<'_>, SolveSpec)> {
        let how = |wishes: &SolveSpec| {
            let seed = wishes.seed.unwrap_or(Settings::default().seed);
            if every_pair { Pairs::Every } else { Pairs::OfGraph { seed } }
        };
        match self {
            Self::File(path) => {
                let loading = |solve: &SolveSpec| Loading {
                    most_bytes: typed.or(solve).loaded_bytes(),
                    control: control.clone(),
                };
                let file = ProblemFile::read_within(path, control, loading)?;
                let wishes = typed.or(&file.solve);
                let memory_budget = wishes.verified_memory_budget();
                let building = Building { memory_budget, ..Building::new(path, how(&wishes), control) };
                Ok((file.build(&building)?, wishes))
            }
            Self::Words { own, smooth, separable, coupling, tables } => {
                let words = if *own { Term::new("linear") } else { smooth.words(control)? };
                let mut file = ProblemFile::new(words);
                if let Some(separable) = separable {
                    file.separable = separable.words(control)?.into_owned();
                }
                if let Some(coupling) = coupling {
                    file.coupling = coupling.words(control)?.into_owned();
                }
                let mut file = with_tables(file, tables.clone())?;
                let wishes = typed.or(&file.solve);
                let building = Building::new(NAME.as_ref(), how(&wishes), control);
                if !*own {
                    return Ok((file.build(&building)?, wishes));
                }
                let f = smooth.smooth(control)?;
                if file.blocks == BlockChoice::Automatic {
                    file.blocks = BlockChoice::Size(equipoise::smooth::PairTerm::dimension(&f));
                }
                Ok((file.build_around(f, &building)?, wishes))
            }
        }
    }
}

/// The wishes of a call, in the words of `[solve]`.
fn wishes(settings: Option<&Bound<'_, PyDict>>) -> PyResult<SolveSpec> {
    let Some(settings) = settings else { return Ok(SolveSpec::default()) };
    let mut tables = toml::Table::new();
    tables.insert("solve".into(), toml::Value::Table(toml_table("settings", settings)?));
    let file = with_tables(ProblemFile::new(Term::new("linear")), tables)?;
    Ok(file.solve)
}

/// Solves a problem in words; settings are those of `[solve]`, with dashes or underscores.
#[pyfunction]
#[pyo3(signature = (problem, settings=None, x0=None, progress=None))]
fn solve<'py>(
    py: Python<'py>,
    problem: Bound<'py, PyDict>,
    settings: Option<Bound<'py, PyDict>>,
    x0: Option<Bound<'py, PyAny>>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let ending = Arc::new(Ending::default());
    let held = HeldProblem::of(&problem, &ending)?;
    let typed = wishes(settings.as_ref())?;
    let start = x0.map(|x0| numbers("x0", &x0)).transpose()?;
    let limits = Limits::new(typed.time_limit, progress);
    let draft = held.draft()?;
    let work = |talk: &Talk<'_>| solved(draft, &typed, start, talk);
    let found =
        if held.has_functions() { run_here(py, &limits, &ending, work)? } else { run(py, &limits, work)? };
    describe(py, found)
}

/// A solution, and what was noticed on the way.
struct Found {
    solution: Solution,
    dropped_rows: Vec<usize>,
    tolerance: f64,
}

fn solved(draft: Draft<'_>, typed: &SolveSpec, start: Option<Vec<f64>>, talk: &Talk<'_>) -> Answered<Found> {
    let control = talk.control();
    let (problem, wishes) = draft.built(typed, false, control)?;
    let (settings, experiment) = (wishes.settings()?, wishes.experiment()?);
    let start = start.map(|x| feasible(&problem, x, control)).transpose()?;
    let mut telling = Telling::new(talk);
    let mut solver = Solver::new(&problem, &settings).control(control.clone()).experiment(&experiment);
    if talk.is_heard() {
        solver = solver.observer(&mut telling);
    }
    if let Some(start) = start {
        solver = solver.warm_start(start);
    }
    let dropped_rows = problem.dropped_rows().iter().map(|row| row.row).collect();
    Ok(Found { solution: solver.run()?, dropped_rows, tolerance: settings.tolerance })
}

/// x, or the feasible point nearest to it.
fn feasible(problem: &AnyProblem<'_>, x: Vec<f64>, control: &Control) -> Answered<Vec<f64>> {
    let within = |c: usize| match problem.separable() {
        Nonsmooth::Coordinates(h) => {
            let (lower, upper) = h.domain(c);
            lower <= x[c] && x[c] <= upper
        }
        Nonsmooth::Groups(_) => true,
    };
    let is_feasible = x.len() == problem.dimension()
        && (0..x.len()).all(within)
        && problem.coupling().miss(&x).is_feasible();
    if is_feasible { Ok(x) } else { Ok(problem.nearest_feasible_within(&x, control)?) }
}

/// The certificate of any x, from raw data.
#[pyfunction]
#[pyo3(signature = (problem, x, **settings))]
fn verify<'py>(
    py: Python<'py>,
    problem: Bound<'py, PyDict>,
    x: Bound<'py, PyAny>,
    settings: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = Options::new("verify", settings);
    let (limits, tolerance) = (Limits::of(&options)?, options.get("tolerance")?);
    options.done()?;
    let ending = Arc::new(Ending::default());
    let (held, x) = (HeldProblem::of(&problem, &ending)?, numbers("x", &x)?);
    let typed = SolveSpec { tolerance, ..SolveSpec::default() };
    let draft = held.draft()?;
    let work = |talk: &Talk<'_>| {
        let (problem, wishes) = draft.built(&typed, true, talk.control())?;
        let tolerance = wishes.verified_tolerance()?;
        Ok((certificate::check_within(&problem, &x, talk.control())?, tolerance))
    };
    let (found, tolerance) =
        if held.has_functions() { run_here(py, &limits, &ending, work)? } else { run(py, &limits, work)? };
    let answer = certified(py, &found)?;
    answer.set_item("tolerance", tolerance)?;
    answer.set_item("met", found.meets(tolerance))?;
    Ok(answer)
}

/// Reads a problem file; what it returns is a problem for `solve` and `verify`.
#[pyfunction]
fn problem_from_toml(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let options = Options::new("problem_from_toml", None);
    let (kinds, files) = run(py, &Limits::of(&options)?, |talk| {
        let file = ProblemFile::read(&path, talk.control())?;
        let kinds = [&file.smooth, &file.separable, &file.coupling].map(|term| term.kind().to_owned());
        Ok((kinds, ProblemFile::named_files(&path, talk.control())?))
    })?;
    let [smooth, separable, coupling] = kinds;
    Ok(answer!(py, { "toml": path, "kinds": (smooth, separable, coupling), "files": files }))
}

/// The claims of a certificate, with the names of a solution file.
fn certified<'py>(py: Python<'py>, found: &Certificate) -> PyResult<Bound<'py, PyDict>> {
    let claims = serde_json::to_value(Claims::with_allowed(found));
    let claims = claims.map_err(|error| refused(error.to_string()))?;
    let dict = PyDict::new(py);
    for (key, value) in claims.as_object().into_iter().flatten() {
        match value {
            serde_json::Value::Bool(truth) => dict.set_item(key, truth)?,
            serde_json::Value::Number(number) => dict.set_item(key, number.as_f64())?,
            serde_json::Value::Array(_) => dict.set_item(key, array(py, found.multipliers.clone()))?,
            _ => dict.set_item(key, py.None())?,
        }
    }
    dict.set_item("kkt_estimate", found.kkt_estimate)?;
    Ok(dict)
}

fn describe(py: Python<'_>, found: Found) -> PyResult<Bound<'_, PyDict>> {
    let Found { solution, dropped_rows, tolerance } = found;
    let certificate = certified(py, &solution.certificate)?;
    certificate.set_item("tolerance", tolerance)?;
    certificate.set_item("met", solution.certificate.meets(tolerance))?;
    let candidates = PyList::empty(py);
    for candidate in &solution.candidates {
        candidates.append((candidate.name, candidate.objective))?;
    }
    Ok(answer!(py, {
        "status": solution.status.name(),
        "objective": solution.certificate.objective,
        "bound": solution.certificate.lower_bound,
        "gap": solution.certificate.duality_gap,
        "multipliers": array(py, solution.certificate.multipliers),
        "certificate": certificate,
        "updates": solution.updates,
        "epochs": solution.epochs,
        "seconds": solution.seconds,
        "threads": solution.threads,
        "seed": solution.seed,
        "method": solution.method.name(),
        "reason": solution.reason,
        "candidates": candidates,
        "dropped_rows": dropped_rows,
        "x": array(py, solution.x),
    }))
}
