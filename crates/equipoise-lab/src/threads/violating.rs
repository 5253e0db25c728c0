//! Training by violating pairs to a relative gap, on more and more threads.

use anyhow::Result;
use equipoise::Status;
use equipoise_models::svm::{TrainSettings, Watch, train};

use super::Arguments;
use super::data::Data;
use super::plan::{Case, rounds};
use super::record::{Key, Record, Row};

/// The relative gap to reach.
const GAP: f64 = 1e-4;

/// Measures every set.
pub(super) fn run(arguments: &Arguments, record: &mut Record) -> Result<()> {
    let wants = |name: &str| Arguments::wants(arguments.sets.as_deref(), name);
    if wants("generated") {
        let (rows, columns) = if arguments.quick { (2000, 100) } else { (1_000_000, 1000) };
        let data = Data::generated(rows, columns)?;
        measure(arguments, "generated", &data, 1.0, false, record)?;
    }
    for name in ["a7a", "w8a"] {
        if !wants(name) {
            continue;
        }
        let Some(folder) = &arguments.data else {
            eprintln!("violating: {name} needs --data FOLDER");
            continue;
        };
        let data = Data::read(folder, name)?;
        for cost in [1.0, 10.0] {
            measure(arguments, name, &data, cost, true, record)?;
        }
    }
    Ok(())
}

fn measure(
    arguments: &Arguments,
    name: &str,
    data: &Data,
    cost: f64,
    short: bool,
    record: &mut Record,
) -> Result<()> {
    let fit = Fit { data, cost, time_limit: arguments.limit() };
    let cases = arguments.selection().violating(short);
    if let Some(first) = cases.first().filter(|_| short) {
        // A fit of milliseconds feels the cold caches of the first run.
        fit.run(*first, 0)?;
    }
    for (case, repeat) in rounds(&cases) {
        let key = Key {
            part: "violating",
            problem: format!("{name} C={cost}"),
            topology: "clique",
            locking: case.code.name(),
            delay_us: 0,
            threads: case.threads,
            repeat,
        };
        record.run(&key, || fit.run(case, repeat))?;
    }
    Ok(())
}

struct Fit<'a> {
    data: &'a Data,
    cost: f64,
    time_limit: f64,
}

impl Fit<'_> {
    /// Trains once; the primal is computed again from raw data, and the target is what the gap allows it to be.
    fn run(&self, case: Case, repeat: usize) -> Result<Row> {
        let settings = TrainSettings {
            cost: self.cost,
            gap: GAP,
            threads: case.threads,
            seed: repeat as u64,
            time_limit: Some(self.time_limit),
            ..TrainSettings::default()
        };
        let trained = train(self.data.samples(), &settings, None, Watch::default())?;
        let (primal, dual) = (self.data.primal(&trained.model), trained.report.dual());
        let target = dual + GAP * dual.abs();
        let low = primal <= target + 1e-9 * target.abs();
        let mut status = trained.report.status().to_string();
        if trained.report.status() == Status::Converged && !low {
            status.push_str("; the gap from raw data is above its target");
        }
        let classes = &trained.report.classes;
        Ok(Row {
            seconds: trained.report.seconds,
            preparation_seconds: 0.0,
            updates: classes.iter().map(|class| class.updates).sum(),
            objective: primal,
            target,
            reached: low,
            infeasibility: classes.iter().map(|class| class.infeasibility).fold(0.0, f64::max),
            status,
        })
    }
}
