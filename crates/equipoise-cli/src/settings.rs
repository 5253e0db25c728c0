//! The settings of a run: the library's defaults, then `[solve]` of the file, then the command line.

use anyhow::{Context, Result, anyhow};
use equipoise::{Method, Settings};
use equipoise_formats::problem_file::SolveSpec;

use crate::args::SolveArguments;
use crate::suggest;

/// Merges and checks the settings.
pub(crate) fn resolve(file: &SolveSpec, typed: &SolveArguments) -> Result<Settings> {
    let default = Settings::default();
    let method = match typed.method.as_ref().or(file.method.as_ref()) {
        Some(name) => method(name).with_context(|| format!("{}: [solve]", typed.problem.display()))?,
        None => default.method,
    };
    let settings = Settings {
        tolerance: typed.tolerance.or(file.tolerance).unwrap_or(default.tolerance),
        max_updates: typed.max_updates.or(file.max_updates).or(default.max_updates),
        max_epochs: typed.max_epochs.or(file.max_epochs).map(|most| most as f64).or(default.max_epochs),
        time_limit: typed.time_limit.or(file.time_limit).or(default.time_limit),
        method,
        seed: typed.seed.or(file.seed).unwrap_or(default.seed),
        ..default
    };
    settings.validate()?;
    Ok(settings)
}

/// The tolerance of a verification: as typed, else the file's, else the default.
pub(crate) fn tolerance(file: &SolveSpec, typed: Option<f64>) -> Result<f64> {
    let default = Settings::default();
    let tolerance = typed.or(file.tolerance).unwrap_or(default.tolerance);
    Settings { tolerance, ..default }.validate()?;
    Ok(tolerance)
}

/// The names of all methods.
pub(crate) fn method_names() -> [&'static str; Method::ALL.len()] {
    Method::ALL.map(|(name, _)| name)
}

/// The name of a method.
pub(crate) fn method_name(method: Method) -> &'static str {
    Method::ALL.iter().find(|(_, listed)| *listed == method).map_or("unnamed", |(name, _)| name)
}

/// The method of a name.
pub(crate) fn method(name: &str) -> Result<Method> {
    let found = Method::ALL.iter().find(|(known, _)| *known == name);
    found.map(|(_, method)| *method).ok_or_else(|| {
        let known = method_names();
        anyhow!("unknown method {name:?}; known: {}{}", known.join(", "), suggest::hint(name, known))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn an_unknown_method_of_the_file_gets_a_suggestion() {
        let file = SolveSpec { method: Some("pair".into()), ..SolveSpec::default() };
        let error = resolve(&file, &SolveArguments::default()).expect_err("unknown");
        assert!(format!("{error:#}").ends_with("did you mean `pairs`?"), "{error:#}");
    }
}
