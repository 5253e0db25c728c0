//! `[solve]`: what a file, or whoever starts a run, says about it; and the settings that come of it.
//!
//! ```text
//! settings = the library's defaults  <  [solve] of the file  <  what was typed
//! ```
//!
//! Given wishes from one or several sides; returns [`Settings`], checked. The keys are the command line's flags.

use equipoise::{Locking, Method, Schedule, Settings};
use equipoise_theory::{Delayed, StepRule};

use super::keys::Keys;
use crate::{Error, Result};

/// Limits and choices for the solver; what is `None` takes the solver's default.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SolveSpec {
    /// Tolerance on the certificate.
    pub tolerance: Option<f64>,
    /// Seconds.
    pub time_limit: Option<f64>,
    /// Passes over the blocks.
    pub max_epochs: Option<u64>,
    /// Pair updates.
    pub max_updates: Option<u64>,
    /// How the optimum is sought.
    pub method: Option<Method>,
    /// Seed of the random numbers.
    pub seed: Option<u64>,
    /// Bytes that may be taken beside the problem's vectors.
    pub memory_budget: Option<u64>,
    /// Threads that work on the run.
    pub threads: Option<u64>,
    /// What a pair update locks.
    pub locking: Option<Locking>,
    /// Microseconds of artificial delay.
    pub delay_us: Option<u64>,
    /// A rule for steps.
    pub step_rule: Option<StepRule>,
    /// Whether one seed and thread count give one result.
    pub deterministic: Option<bool>,
    /// How the steps of the stochastic method shrink.
    pub schedule: Option<Schedule>,
    /// Samples an update.
    pub batch: Option<u64>,
    /// The paper's alpha.
    pub step_size: Option<f64>,
    /// Keys whose names nobody knows, with what is to be said of them unless somebody else has that wish, too.
    pub misnamed: Vec<(&'static str, Error)>,
}

impl SolveSpec {
    /// These wishes, and where they say nothing those of `other`.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        Self {
            tolerance: self.tolerance.or(other.tolerance),
            time_limit: self.time_limit.or(other.time_limit),
            max_epochs: self.max_epochs.or(other.max_epochs),
            max_updates: self.max_updates.or(other.max_updates),
            method: self.method.or(other.method),
            seed: self.seed.or(other.seed),
            memory_budget: self.memory_budget.or(other.memory_budget),
            threads: self.threads.or(other.threads),
            locking: self.locking.or(other.locking),
            delay_us: self.delay_us.or(other.delay_us),
            step_rule: self.step_rule.or(other.step_rule),
            deterministic: self.deterministic.or(other.deterministic),
            schedule: self.schedule.or(other.schedule),
            batch: self.batch.or(other.batch),
            step_size: self.step_size.or(other.step_size),
            misnamed: {
                let typed = [
                    ("method", self.method.is_some()),
                    ("locking", self.locking.is_some()),
                    ("step-rule", self.step_rule.is_some()),
                    ("schedule", self.schedule.is_some()),
                ];
                let outdone = |(key, _): &&(&str, Error)| !typed.contains(&(*key, true));
                self.misnamed.iter().chain(other.misnamed.iter().filter(outdone)).cloned().collect()
            },
        }
    }

    /// The settings of a run, checked.
    pub fn settings(&self) -> Result<Settings> {
        if let Some((_, said)) = self.misnamed.first() {
            return Err(said.clone());
        }
        let default = Settings::default();
        let settings = Settings {
            tolerance: self.tolerance.unwrap_or(default.tolerance),
            max_updates: self.max_updates.or(default.max_updates),
            max_epochs: self.max_epochs.map(|most| most as f64).or(default.max_epochs),
            time_limit: self.time_limit.or(default.time_limit),
            method: self.method.unwrap_or(default.method),
            memory_budget: self.memory_budget.map_or(default.memory_budget, saturated),
            seed: self.seed.unwrap_or(default.seed),
            threads: self.threads.map_or(default.threads, saturated),
            locking: self.locking.unwrap_or(default.locking),
            deterministic: self.deterministic.unwrap_or(default.deterministic),
            schedule: self.schedule.unwrap_or(default.schedule),
            step_size: self.step_size.unwrap_or(default.step_size),
            batch: self.batch.map_or(default.batch, saturated),
            ..default
        };
        settings.validate()?;
        Ok(settings)
    }

    /// What only experiments ask for, checked.
    pub fn experiment(&self) -> equipoise::Result<Delayed> {
        Delayed::new(self.step_rule.unwrap_or_default(), self.delay_us.unwrap_or_default())
    }

    /// Bytes that the matrix of a loss may take to be loaded; `None` where the method needs it in memory anyway.
    ///
    /// Settings that are wrong say nothing here: [`SolveSpec::settings`] refuses them.
    pub fn loaded_bytes(&self) -> Option<u64> {
        let settings = self.settings().ok()?;
        let by_samples = matches!(settings.method, Method::Stochastic | Method::Svrg | Method::Saga);
        // `auto` takes a method by samples for what does not fit into a budget that was set.
        let for_auto = self.memory_budget.is_some() && settings.method == Method::Auto;
        (by_samples || for_auto).then_some(settings.memory_budget as u64)
    }

    /// The tolerance of a verification, checked.
    pub fn verified_tolerance(&self) -> Result<f64> {
        let alone = Self { tolerance: self.tolerance, ..Self::default() };
        Ok(alone.settings()?.tolerance)
    }

    /// The memory budget of a verification, whatever else is asked of the run.
    pub fn verified_memory_budget(&self) -> usize {
        self.memory_budget.map_or(Settings::default().memory_budget, saturated)
    }
}

/// A count that is refused later where it is too large.
fn saturated(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// The keys of `[solve]`.
const KEYS: [&str; 15] = [
    "tolerance",
    "time-limit",
    "max-epochs",
    "max-updates",
    "method",
    "seed",
    "memory-budget",
    "threads",
    "locking",
    "delay-us",
    "step-rule",
    "deterministic",
    "schedule",
    "batch",
    "step-size",
];

/// Reads limits and choices.
pub(super) fn read(mut keys: Keys<'_>) -> Result<SolveSpec> {
    keys.dash_underscores()?;
    keys.only(&KEYS)?;
    let mut misnamed = Vec::new();
    Ok(SolveSpec {
        tolerance: keys.number("tolerance")?,
        time_limit: keys.number("time-limit")?,
        max_epochs: keys.whole("max-epochs")?,
        max_updates: keys.whole("max-updates")?,
        method: known(keys.named("method"), "method", &mut misnamed)?,
        seed: keys.whole("seed")?,
        memory_budget: keys.bytes("memory-budget")?,
        threads: keys.whole("threads")?,
        locking: known(keys.named("locking"), "locking", &mut misnamed)?,
        delay_us: keys.whole("delay-us")?,
        step_rule: known(keys.named("step-rule"), "step-rule", &mut misnamed)?,
        deterministic: keys.truth("deterministic")?,
        schedule: known(keys.named("schedule"), "schedule", &mut misnamed)?,
        batch: keys.whole("batch")?,
        step_size: keys.number("step-size")?,
        misnamed,
    })
}

/// A name that is known; what is said of another is kept.
fn known<T>(
    found: Result<Option<T>>,
    key: &'static str,
    misnamed: &mut Vec<(&'static str, Error)>,
) -> Result<Option<T>> {
    match found {
        Err(unknown @ Error::UnknownName { .. }) => {
            misnamed.push((key, unknown));
            Ok(None)
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProblemFile;

    #[test]
    fn what_is_typed_wins_over_the_file_and_the_file_over_the_defaults() {
        let file =
            SolveSpec { tolerance: Some(1e-3), seed: Some(5), max_epochs: Some(7), ..SolveSpec::default() };
        let typed = SolveSpec { tolerance: Some(1e-4), ..SolveSpec::default() };
        let settings = typed.or(&file).settings().expect("valid");
        let expected = Settings { tolerance: 1e-4, seed: 5, max_epochs: Some(7.0), ..Settings::default() };
        assert_eq!(settings, expected);
        assert_eq!(SolveSpec::default().settings().expect("valid"), Settings::default());
    }

    #[test]
    fn what_is_typed_wins_in_what_concerns_threads() {
        let file = SolveSpec {
            threads: Some(2),
            locking: Some(Locking::Double),
            delay_us: Some(7),
            step_rule: Some(StepRule::Paper),
            deterministic: Some(true),
            ..SolveSpec::default()
        };
        let of_file =
            Settings { threads: 2, locking: Locking::Double, deterministic: true, ..Settings::default() };
        let merged = SolveSpec::default().or(&file);
        assert_eq!(merged.settings().expect("valid"), of_file);
        assert_eq!(merged.experiment(), Delayed::new(StepRule::Paper, 7));
        let typed = SolveSpec {
            threads: Some(3),
            locking: Some(Locking::Single),
            delay_us: Some(0),
            step_rule: Some(StepRule::Sharp),
            ..SolveSpec::default()
        };
        let of_both =
            Settings { threads: 3, locking: Locking::Single, deterministic: true, ..Settings::default() };
        assert_eq!(typed.or(&file).settings().expect("valid"), of_both);
        assert_eq!(typed.or(&file).experiment(), Delayed::new(StepRule::Sharp, 0));
    }

    #[test]
    fn only_methods_by_samples_leave_a_matrix_in_its_file() {
        let file = SolveSpec { memory_budget: Some(1 << 20), ..SolveSpec::default() };
        let typed =
            |method, memory_budget| SolveSpec { method: Some(method), memory_budget, ..SolveSpec::default() };
        assert_eq!(typed(Method::Auto, None).loaded_bytes(), None);
        assert_eq!(typed(Method::Auto, None).or(&file).loaded_bytes(), Some(1 << 20));
        assert_eq!(typed(Method::Pairs, Some(5)).or(&file).loaded_bytes(), None);
        for method in [Method::Stochastic, Method::Svrg, Method::Saga] {
            assert_eq!(typed(method, None).or(&file).loaded_bytes(), Some(1 << 20));
            assert_eq!(typed(method, Some(5)).or(&file).loaded_bytes(), Some(5));
        }
    }

    #[test]
    fn what_is_typed_wins_in_what_concerns_samples() {
        let schedule = Some(Schedule::Constant);
        let file = SolveSpec { schedule, batch: Some(4), step_size: Some(0.5), ..SolveSpec::default() };
        let of_file =
            Settings { schedule: Schedule::Constant, batch: 4, step_size: 0.5, ..Settings::default() };
        assert_eq!(file.settings().expect("valid"), of_file);
        let schedule = Some(Schedule::Horizon);
        let typed = SolveSpec { schedule, batch: Some(2), step_size: Some(1.5), ..SolveSpec::default() };
        let of_both =
            Settings { schedule: Schedule::Horizon, batch: 2, step_size: 1.5, ..Settings::default() };
        assert_eq!(typed.or(&file).settings().expect("valid"), of_both);
        let file = SolveSpec { step_size: Some(2.0), ..SolveSpec::default() };
        let error = file.settings().expect_err("out of range");
        assert_eq!(error.to_string(), "setting step-size is 2; allowed: a number above 0 and below 2");
    }

    #[test]
    fn unknown_names_of_the_file_get_a_suggestion() {
        for (key, found, suggested) in [
            ("method", "pair", "pairs"),
            ("locking", "sinlge", "single"),
            ("step-rule", "block", "blocks"),
            ("schedule", "constent", "constant"),
        ] {
            let text = format!("[smooth]\nkind = \"linear\"\nlinear = [1]\n[solve]\n{key} = \"{found}\"\n");
            let file = ProblemFile::from_toml_str(&text, "p.toml").expect("readable").solve;
            let words = file.settings().expect_err("unknown").to_string();
            assert!(
                words.starts_with(&format!("p.toml: [solve]: unknown {key} \"{found}\"; known: ")),
                "{words}"
            );
            assert!(words.ends_with(&format!("; did you mean `{suggested}`?")), "{words}");
            // Who types another name is not troubled.
            let typed = SolveSpec {
                method: Some(Method::Pairs),
                locking: Some(Locking::None),
                step_rule: Some(StepRule::Blocks),
                schedule: Some(Schedule::Paper),
                ..SolveSpec::default()
            };
            assert!(typed.or(&file).settings().is_ok(), "{key}");
        }
    }

    #[test]
    fn a_count_of_threads_beyond_any_machine_is_refused_in_words() {
        for count in [0, 1025, 5000, u64::MAX] {
            let file = SolveSpec { threads: Some(count), ..SolveSpec::default() };
            let error = file.settings().expect_err("out of range");
            assert!(error.to_string().contains("a whole number from 1 to 1024"), "{error}");
        }
    }

    #[test]
    fn a_verification_asks_for_nothing_but_its_tolerance() {
        let file = SolveSpec { threads: Some(0), memory_budget: Some(9), ..SolveSpec::default() };
        assert_eq!((file.verified_tolerance().expect("valid"), file.verified_memory_budget()), (1e-6, 9));
        let file = SolveSpec { tolerance: Some(-1.0), ..SolveSpec::default() };
        assert!(file.verified_tolerance().is_err());
    }
}
