//! Files and options into what the model takes.
//!
//! Given: the arguments. Returns: a checked problem, with the names of users. Must not know: how it is solved.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};
use equipoise::Control;
use equipoise_allocation::{Error, Problem, Row, Settings, Users};
use equipoise_formats::{read_unpacked, read_vector};

use super::{case, table};
use crate::args::AskedArguments;
use crate::ending;

/// A problem, read.
pub(super) struct Input {
    pub(super) problem: Problem,
    /// What users are called, where they have names.
    pub(super) names: Option<Vec<String>>,
    pub(super) settings: Settings,
    /// Whether it is a case: users are generators.
    pub(super) is_case: bool,
    /// How many generators are out of service.
    pub(super) off: usize,
    pub(super) seconds: f64,
}

/// What a file holds before it is checked.
pub(super) struct Draft {
    pub(super) groups: Vec<Users>,
    pub(super) rows: Vec<Row>,
    pub(super) names: Option<Vec<String>>,
    pub(super) off: usize,
}

impl Input {
    /// Reads the data; `first` is the demand where many are asked for.
    pub(super) fn read(
        path: &Path,
        args: &AskedArguments,
        first: Option<f64>,
        control: &Control,
    ) -> Result<Self> {
        let begun = Instant::now();
        if let Some(found) = args.demand.filter(|demand| !demand.is_finite()) {
            bail!("--demand: found {found}, expected a finite number");
        }
        let demand = args.demand.or(first);
        // Standard input has no name that says what it is.
        let piped = (path.as_os_str() == "-").then(|| read_unpacked(path, u64::MAX, control)).transpose()?;
        let is_case = piped.as_deref().map_or_else(|| ending::has(path, &["m"]), case::is_case);
        let draft = if is_case {
            case::read(path, piped.as_deref(), args, demand, control)?
        } else {
            table::read(path, piped, args, demand, control)?
        };
        let Draft { groups, rows, names, off } = draft;
        let problem = Problem::new(groups, rows)
            .map_err(|error| named(error, names.as_deref(), is_case))
            .with_context(|| path.display().to_string())?;
        control.check().map_err(equipoise_formats::Error::from)?;
        let defaults = Settings::default();
        let settings = Settings {
            gap: args.gap.unwrap_or(defaults.gap),
            threads: args.threads.unwrap_or(defaults.threads),
        };
        Ok(Self { problem, names, settings, is_case, off, seconds: begun.elapsed().as_secs_f64() })
    }

    /// What a user is called.
    pub(super) fn name(&self, user: usize) -> String {
        self.names.as_ref().map_or_else(|| (user + 1).to_string(), |names| names[user].clone())
    }
}

/// An error of the model, with users by their names; those of a case are generators.
pub(super) fn named(error: Error, names: Option<&[String]>, is_case: bool) -> anyhow::Error {
    // Whoever asks why work ended looks for an error of the library.
    let error = match error {
        Error::Equipoise(inner) => return inner.into(),
        own => own,
    };
    let Some(names) = names else { return error.into() };
    let text = error.to_string();
    let mut words = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("user ") {
        words.push_str(before);
        let digits = after.len() - after.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        let name = after[..digits].parse::<usize>().ok().and_then(|user| names.get(user.wrapping_sub(1)));
        match name {
            Some(name) => words.extend(["`", name, "`"]),
            None => words.extend(["user ", &after[..digits]]),
        }
        rest = &after[digits..];
    }
    words.push_str(rest);
    if is_case {
        words = words.replace(" users ", " generators ").replace("no user ", "no generator ");
    }
    anyhow!(words)
}

/// More demands than this are a slip of the hand.
const MOST_DEMANDS: usize = 10_000_000;

/// The demands that are asked for: `LO:HI:K`, or those of a file.
pub(super) fn demands(typed: &str, control: &Control) -> Result<Vec<f64>> {
    let parts: Vec<&str> = typed.split(':').collect();
    if let [low, high, count] = parts[..]
        && let (Ok(low), Ok(high), Ok(count)) =
            (low.parse::<f64>(), high.parse::<f64>(), count.parse::<usize>())
    {
        if !(low.is_finite() && high.is_finite()) || count == 0 {
            bail!(
                "--demands {typed}: expected two finite numbers and a count of at least 1, as in 100:500:5"
            );
        }
        if count > MOST_DEMANDS {
            bail!("--demands {typed}: found {count} demands, expected at most {MOST_DEMANDS}");
        }
        let step = if count > 1 { (high - low) / (count - 1) as f64 } else { 0.0 };
        let at = |k: usize| if k + 1 == count && k > 0 { high } else { low + step * k as f64 };
        return Ok((0..count).map(at).collect());
    }
    let list = read_vector(typed, control)
        .with_context(|| format!("--demands {typed}: expected LO:HI:K, or a file of numbers"))?;
    if list.is_empty() {
        bail!("--demands {typed}: found no numbers, expected at least one");
    }
    Ok(list)
}
