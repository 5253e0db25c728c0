//! The JSON object of `equipoise solve --json` and `--out`.
//!
//! Given a solution as plain numbers; writes exactly these fields in this order. Reading asks
//! only for `x`: the rest may be missing, and fields that later versions append are skipped.
//! Numbers come back bit for bit. JSON has no infinities and no NaN, so these are refused.

use std::fs;
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize, Serializer};

use crate::numbers::write_file;
use crate::{Error, Result};

/// A finished run, as the command line prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SolutionFile {
    /// `converged`, `iteration-limit`, `time-limit`, `stalled`, `interrupted` or `target-reached`.
    pub status: String,
    /// `f(x) + h(x)`.
    pub objective: f64,
    /// `f(x)`.
    pub smooth: f64,
    /// `h(x)`.
    pub separable: f64,
    /// `max |A x - b|`.
    pub infeasibility: f64,
    /// The scaled KKT residual.
    pub kkt_residual: f64,
    /// The absolute duality gap; null when no finite dual point was found.
    pub duality_gap: Option<f64>,
    /// λ of `L = f + h + λ'(A x - b)`.
    pub multipliers: Vec<f64>,
    /// Pair updates made.
    pub updates: u64,
    /// Passes over the blocks made.
    pub epochs: f64,
    /// Seconds taken.
    pub seconds: f64,
    /// Threads that worked on it.
    pub threads: usize,
    /// The seed of the run.
    pub seed: u64,
    /// The name of the method that ran.
    pub method: String,
    /// Why this method, in one line.
    pub reason: String,
    /// The points that a stochastic run compared, each with its objective; left out where there are none.
    #[serde(serialize_with = "as_object", skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<(String, f64)>,
    /// The iterate, flat.
    pub x: Vec<f64>,
}

/// Names and numbers as one object, in their order.
fn as_object<S: Serializer>(list: &[(String, f64)], serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_map(list.iter().map(|(name, value)| (name, value)))
}

/// A solution file as read: only the iterate is sure to be there.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct StoredSolution {
    /// The iterate, flat.
    pub x: Vec<f64>,
    /// The status the run reported.
    pub status: Option<String>,
    /// The objective the run reported.
    pub objective: Option<f64>,
    /// The infeasibility the run reported.
    pub infeasibility: Option<f64>,
    /// The KKT residual the run reported.
    pub kkt_residual: Option<f64>,
    /// The duality gap the run reported.
    pub duality_gap: Option<f64>,
    /// The multipliers the run reported.
    pub multipliers: Option<Vec<f64>>,
    /// The seed of the run.
    pub seed: Option<u64>,
}

impl SolutionFile {
    /// The object on one line, without a line end.
    pub fn to_json(&self) -> Result<String> {
        self.check_finite()?;
        serde_json::to_string(self).map_err(|error| json_error(Path::new("solution"), &error))
    }

    fn check_finite(&self) -> Result<()> {
        let numbers = [
            ("objective", self.objective),
            ("smooth", self.smooth),
            ("separable", self.separable),
            ("infeasibility", self.infeasibility),
            ("kkt_residual", self.kkt_residual),
            ("duality_gap", self.duality_gap.unwrap_or(0.0)),
            ("epochs", self.epochs),
            ("seconds", self.seconds),
        ];
        if let Some((field, found)) = numbers.into_iter().find(|(_, value)| !value.is_finite()) {
            return Err(Error::NonFinite { field: field.into(), found });
        }
        if let Some((name, found)) = self.candidates.iter().find(|(_, value)| !value.is_finite()) {
            return Err(Error::NonFinite { field: format!("candidates.{name}"), found: *found });
        }
        for (field, list) in [("multipliers", &self.multipliers), ("x", &self.x)] {
            if let Some(index) = list.iter().position(|value| !value.is_finite()) {
                return Err(Error::NonFinite { field: format!("{field}[{index}]"), found: list[index] });
            }
        }
        Ok(())
    }
}

/// Writes a solution file.
pub fn write_solution(path: impl AsRef<Path>, solution: &SolutionFile) -> Result<()> {
    let json = solution.to_json()?;
    write_file(path.as_ref(), |out| writeln!(out, "{json}"))
}

/// Writes a solution file that claims nothing of x but the status of the run it comes from.
pub fn write_iterate(path: impl AsRef<Path>, status: &str, x: &[f64]) -> Result<()> {
    #[derive(Serialize)]
    struct Iterate<'a> {
        status: &'a str,
        x: &'a [f64],
    }
    if let Some(index) = x.iter().position(|value| !value.is_finite()) {
        return Err(Error::NonFinite { field: format!("x[{index}]"), found: x[index] });
    }
    let json = serde_json::to_string(&Iterate { status, x })
        .map_err(|error| json_error(Path::new("solution"), &error))?;
    write_file(path.as_ref(), |out| writeln!(out, "{json}"))
}

/// Reads a solution file, for a warm start or for verification.
pub fn read_solution(path: impl AsRef<Path>) -> Result<StoredSolution> {
    let path = path.as_ref();
    let bytes = fs::read(path).map_err(|reason| Error::reading(path, &reason))?;
    serde_json::from_slice(&bytes).map_err(|error| json_error(path, &error))
}

fn json_error(path: &Path, error: &serde_json::Error) -> Error {
    let (line, column) = (error.line(), error.column());
    // The parser repeats the place at the end of its message.
    let text = error.to_string();
    let message = text.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&text).to_owned();
    Error::Json { path: path.into(), line, column, message }
}
