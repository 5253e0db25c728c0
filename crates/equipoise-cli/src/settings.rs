//! The settings of a run: the library's defaults, then `[solve]` of the file, then the command line.

use anyhow::{Context, Result, anyhow};
use equipoise::{Locking, Method, Schedule, Settings, StepRule};
use equipoise_formats::problem_file::SolveSpec;

use crate::args::SolveArguments;
use crate::suggest;

/// Merges and checks the settings.
pub(crate) fn resolve(file: &SolveSpec, typed: &SolveArguments) -> Result<Settings> {
    let default = Settings::default();
    let multicore = &typed.multicore;
    let method = typed.method.as_ref().or(file.method.as_ref());
    let locking = multicore.locking.as_ref().or(file.locking.as_ref());
    let step_rule = multicore.step_rule.as_ref().or(file.step_rule.as_ref());
    let schedule = typed.schedule.as_ref().or(file.schedule.as_ref());
    let place = || format!("{}: [solve]", typed.problem.display());
    let settings = Settings {
        tolerance: typed.tolerance.or(file.tolerance).unwrap_or(default.tolerance),
        max_updates: typed.max_updates.or(file.max_updates).or(default.max_updates),
        max_epochs: typed.max_epochs.or(file.max_epochs).map(|most| most as f64).or(default.max_epochs),
        time_limit: typed.time_limit.or(file.time_limit).or(default.time_limit),
        method: named("method", &Method::ALL, method, default.method).with_context(place)?,
        memory_budget: memory_budget(file, typed.memory_budget),
        seed: typed.seed.or(file.seed).unwrap_or(default.seed),
        threads: typed.threads.or(file.threads.map(saturated)).unwrap_or(default.threads),
        locking: named("locking", &Locking::ALL, locking, default.locking).with_context(place)?,
        step_rule: named("step-rule", &StepRule::ALL, step_rule, default.step_rule).with_context(place)?,
        delay_us: multicore.delay_us.or(file.delay_us).unwrap_or(default.delay_us),
        deterministic: multicore.deterministic || file.deterministic.unwrap_or(default.deterministic),
        schedule: named("schedule", &Schedule::ALL, schedule, default.schedule).with_context(place)?,
        step_size: typed.step_size.or(file.step_size).unwrap_or(default.step_size),
        batch: typed.batch.or(file.batch.map(saturated)).unwrap_or(default.batch),
        ..default
    };
    settings.validate()?;
    Ok(settings)
}

/// The memory budget: as typed, else the file's, else the default.
pub(crate) fn memory_budget(file: &SolveSpec, typed: Option<u64>) -> usize {
    let bytes = typed.or(file.memory_budget).map(saturated);
    bytes.unwrap_or(Settings::default().memory_budget)
}

/// Bytes that the matrix of a loss may take to be loaded; `None` where the method needs it in memory anyway.
///
/// Settings that are wrong say nothing here: [`resolve`] refuses them.
pub(crate) fn loaded_bytes(file: &SolveSpec, typed: &SolveArguments) -> Option<u64> {
    let settings = resolve(file, typed).ok()?;
    let by_samples = matches!(settings.method, Method::Stochastic | Method::Svrg | Method::Saga);
    // `auto` takes a method by samples for what does not fit into a budget that was set.
    let given = typed.memory_budget.or(file.memory_budget).is_some();
    (by_samples || (given && settings.method == Method::Auto)).then_some(settings.memory_budget as u64)
}

/// The tolerance of a verification: as typed, else the file's, else the default.
pub(crate) fn tolerance(file: &SolveSpec, typed: Option<f64>) -> Result<f64> {
    let default = Settings::default();
    let tolerance = typed.or(file.tolerance).unwrap_or(default.tolerance);
    Settings { tolerance, ..default }.validate()?;
    Ok(tolerance)
}

/// A count that is refused later where it is too large.
fn saturated(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// The names of all values.
pub(crate) fn names<T, const N: usize>(all: [(&'static str, T); N]) -> [&'static str; N] {
    all.map(|(name, _)| name)
}

/// The name of a value.
pub(crate) fn name_of<T: Copy + PartialEq>(all: &[(&'static str, T)], value: T) -> &'static str {
    all.iter().find(|(_, listed)| *listed == value).map_or("unnamed", |(name, _)| name)
}

/// The value of a name, if there is one; `what` stands in the message.
fn named<T: Copy>(what: &str, all: &[(&'static str, T)], name: Option<&String>, default: T) -> Result<T> {
    let Some(name) = name else { return Ok(default) };
    let found = all.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let known: Vec<_> = all.iter().map(|(name, _)| *name).collect();
        anyhow!("unknown {what} {name:?}; known: {}{}", known.join(", "), suggest::hint(name, known))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Multicore;

    #[test]
    fn the_command_line_wins_over_the_file_and_the_file_over_the_defaults() {
        let file =
            SolveSpec { tolerance: Some(1e-3), seed: Some(5), max_epochs: Some(7), ..SolveSpec::default() };
        let typed = SolveArguments { tolerance: Some(1e-4), ..SolveArguments::default() };
        let settings = resolve(&file, &typed).expect("valid");
        let expected = Settings { tolerance: 1e-4, seed: 5, max_epochs: Some(7.0), ..Settings::default() };
        assert_eq!(settings, expected);
        assert_eq!(
            resolve(&SolveSpec::default(), &SolveArguments::default()).expect("valid"),
            Settings::default()
        );
    }

    #[test]
    fn the_command_line_wins_in_what_concerns_threads() {
        let file = SolveSpec {
            threads: Some(2),
            locking: Some("double".into()),
            delay_us: Some(7),
            step_rule: Some("paper".into()),
            deterministic: Some(true),
            ..SolveSpec::default()
        };
        let of_file = Settings {
            threads: 2,
            locking: Locking::Double,
            delay_us: 7,
            step_rule: StepRule::Paper,
            deterministic: true,
            ..Settings::default()
        };
        assert_eq!(resolve(&file, &SolveArguments::default()).expect("valid"), of_file);
        let multicore = Multicore {
            locking: Some("single".into()),
            delay_us: Some(0),
            step_rule: Some("sharp".into()),
            deterministic: true,
        };
        let typed = SolveArguments { threads: Some(3), multicore, ..SolveArguments::default() };
        let of_both = Settings {
            threads: 3,
            locking: Locking::Single,
            delay_us: 0,
            step_rule: StepRule::Sharp,
            deterministic: true,
            ..Settings::default()
        };
        assert_eq!(resolve(&file, &typed).expect("valid"), of_both);
        assert_eq!(resolve(&SolveSpec::default(), &typed).expect("valid"), of_both);
    }

    #[test]
    fn only_methods_by_samples_leave_a_matrix_in_its_file() {
        let file = SolveSpec { memory_budget: Some(1 << 20), ..SolveSpec::default() };
        let typed = |method: &str, memory_budget| {
            let method = Some(method.to_owned());
            SolveArguments { method, memory_budget, ..SolveArguments::default() }
        };
        assert_eq!(loaded_bytes(&SolveSpec::default(), &typed("auto", None)), None);
        assert_eq!(loaded_bytes(&file, &typed("auto", None)), Some(1 << 20));
        assert_eq!(loaded_bytes(&file, &typed("pairs", Some(5))), None);
        for method in ["stochastic", "svrg", "saga"] {
            assert_eq!(loaded_bytes(&file, &typed(method, None)), Some(1 << 20));
            assert_eq!(loaded_bytes(&file, &typed(method, Some(5))), Some(5));
        }
    }

    #[test]
    fn the_command_line_wins_in_what_concerns_samples() {
        let schedule = Some("constant".into());
        let file = SolveSpec { schedule, batch: Some(4), step_size: Some(0.5), ..SolveSpec::default() };
        let of_file =
            Settings { schedule: Schedule::Constant, batch: 4, step_size: 0.5, ..Settings::default() };
        assert_eq!(resolve(&file, &SolveArguments::default()).expect("valid"), of_file);
        let schedule = Some("horizon".into());
        let typed =
            SolveArguments { schedule, batch: Some(2), step_size: Some(1.5), ..SolveArguments::default() };
        let of_both =
            Settings { schedule: Schedule::Horizon, batch: 2, step_size: 1.5, ..Settings::default() };
        assert_eq!(resolve(&file, &typed).expect("valid"), of_both);
        let file = SolveSpec { step_size: Some(2.0), ..SolveSpec::default() };
        let error = resolve(&file, &SolveArguments::default()).expect_err("out of range");
        assert_eq!(error.to_string(), "setting step-size is 2; allowed: a number above 0 and below 2");
    }

    #[test]
    fn unknown_names_of_the_file_get_a_suggestion() {
        let none = SolveSpec::default;
        for (file, suggested) in [
            (SolveSpec { method: Some("pair".into()), ..none() }, "pairs"),
            (SolveSpec { locking: Some("sinlge".into()), ..none() }, "single"),
            (SolveSpec { step_rule: Some("block".into()), ..none() }, "blocks"),
            (SolveSpec { schedule: Some("constent".into()), ..none() }, "constant"),
        ] {
            let error = resolve(&file, &SolveArguments::default()).expect_err("unknown");
            let words = format!("{error:#}");
            assert!(words.ends_with(&format!("did you mean `{suggested}`?")), "{words}");
            assert!(words.contains("[solve]"), "{words}");
        }
    }

    #[test]
    fn a_count_of_threads_beyond_any_machine_is_refused_in_words() {
        for count in [0, 1025, 5000, u64::MAX] {
            let file = SolveSpec { threads: Some(count), ..SolveSpec::default() };
            let error = resolve(&file, &SolveArguments::default()).expect_err("out of range");
            assert!(error.to_string().contains("a whole number from 1 to 1024"), "{error}");
        }
    }
}
