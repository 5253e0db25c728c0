//! The JSON object of `equipoise solve --json` and `--out`.
//!
//! Given a solution; writes exactly these fields in this order. Reading asks
//! only for `x`: the rest may be missing, and fields that later versions append are skipped.
//! Numbers come back bit for bit. JSON has no infinities and no NaN: a claim that is none of its numbers says nothing and becomes
//! null, which reads back as a claim that is not there; an x that is not finite is refused.

use std::io::Write;
use std::path::Path;

use equipoise::coupling::ALLOWED_SHARE;
use equipoise::{Candidate, Certificate, Control, Method, Solution, Status};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::numbers::read_bytes;
use crate::standing::PointStanding;
use crate::whole_file::write_whole;
use crate::{Error, Result};

/// A finished run, as the command line prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SolutionFile {
    /// How it ended.
    #[serde(serialize_with = "as_name")]
    pub status: Status,
    /// What can be said of x.
    #[serde(flatten, serialize_with = "as_claims")]
    pub certificate: Certificate,
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
    /// The method that ran.
    #[serde(serialize_with = "as_name")]
    pub method: Method,
    /// Why this method, in one line.
    pub reason: String,
    /// The points that a stochastic run compared, each with its objective; left out where there are none.
    #[serde(serialize_with = "as_object", skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Candidate>,
    /// The iterate, flat.
    pub x: Vec<f64>,
    /// Its coordinates that have names, one object; left out where there are none.
    #[serde(serialize_with = "by_name", skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<(String, f64)>,
}

impl From<Solution> for SolutionFile {
    /// The solution; candidates without a finite objective are left out.
    fn from(solution: Solution) -> Self {
        let Solution { status, x, certificate, updates, epochs, seconds, threads, seed, method, .. } =
            solution;
        let (reason, mut candidates) = (solution.reason, solution.candidates);
        candidates.retain(|candidate| candidate.objective.is_finite());
        let variables = Vec::new();
        Self {
            status,
            certificate,
            updates,
            epochs,
            seconds,
            threads,
            seed,
            method,
            reason,
            candidates,
            x,
            variables,
        }
    }
}

/// What a certificate claims, as the fields of a JSON object: the one form that files and reports have of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Claims<'a> {
    objective: f64,
    smooth: f64,
    separable: f64,
    infeasibility: f64,
    relative_infeasibility: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed_infeasibility: Option<f64>,
    kkt_residual: f64,
    lower_bound: Option<f64>,
    duality_gap: Option<f64>,
    holds_within: Option<f64>,
    is_proven: bool,
    is_partial: bool,
    multipliers: &'a [f64],
}

impl<'a> Claims<'a> {
    /// The claims of a solution file.
    pub fn of(certificate: &'a Certificate) -> Self {
        Self {
            objective: certificate.objective,
            smooth: certificate.smooth,
            separable: certificate.separable,
            infeasibility: certificate.infeasibility,
            relative_infeasibility: certificate.relative_infeasibility,
            allowed_infeasibility: None,
            kkt_residual: certificate.kkt_residual,
            lower_bound: certificate.lower_bound,
            duality_gap: certificate.duality_gap,
            holds_within: certificate.holds_within,
            is_proven: certificate.is_proven,
            is_partial: certificate.is_partial,
            multipliers: &certificate.multipliers,
        }
    }

    /// The same, and which relative infeasibility is allowed.
    pub fn with_allowed(certificate: &'a Certificate) -> Self {
        Self { allowed_infeasibility: Some(ALLOWED_SHARE), ..Self::of(certificate) }
    }
}

fn as_claims<S: Serializer>(
    certificate: &Certificate,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    Claims::of(certificate).serialize(serializer)
}

fn as_name<S: Serializer>(
    value: &impl std::fmt::Display,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// Names and numbers as one object, in their order.
fn as_object<S: Serializer>(list: &[Candidate], serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_map(list.iter().map(|candidate| (candidate.name, candidate.objective)))
}

fn by_name<S: Serializer>(list: &[(String, f64)], serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_map(list.iter().map(|(name, value)| (name, value)))
}

fn check_finite(numbers: &[(&str, f64)]) -> Result<()> {
    match numbers.iter().find(|(_, value)| !value.is_finite()) {
        Some(&(field, found)) => Err(Error::NonFinite { field: field.into(), found }),
        None => Ok(()),
    }
}

fn check_finite_list(field: &str, list: &[f64]) -> Result<()> {
    match list.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(Error::NonFinite { field: format!("{field}[{index}]"), found: list[index] }),
        None => Ok(()),
    }
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
    /// The infeasibility relative to the rows' own terms that the run reported.
    pub relative_infeasibility: Option<f64>,
    /// The KKT residual the run reported.
    pub kkt_residual: Option<f64>,
    /// The duality gap the run reported.
    pub duality_gap: Option<f64>,
    /// The multipliers the run reported; NaN for one that it did not know.
    #[serde(default, deserialize_with = "with_unknowns")]
    pub multipliers: Option<Vec<f64>>,
    /// The seed of the run.
    pub seed: Option<u64>,
}

/// A list in which null stands for what is no number.
fn with_unknowns<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<Vec<f64>>, D::Error> {
    let list: Option<Vec<Option<f64>>> = Option::deserialize(deserializer)?;
    Ok(list.map(|list| list.into_iter().map(|number| number.unwrap_or(f64::NAN)).collect()))
}

impl StoredSolution {
    /// How far its run came, as far as it says.
    pub fn standing(&self) -> PointStanding {
        PointStanding {
            converged: self.status.as_deref() == Some(Status::Converged.name()),
            // Whoever says nothing of the rows says that there is nothing to be said.
            relative_infeasibility: self.relative_infeasibility.unwrap_or(0.0),
            gap: self.duality_gap,
            residual: self.kkt_residual,
        }
    }
}

impl SolutionFile {
    /// How far a run came.
    pub fn standing_of(solution: &Solution) -> PointStanding {
        let certificate = &solution.certificate;
        PointStanding {
            converged: solution.status == Status::Converged,
            relative_infeasibility: certificate.relative_infeasibility,
            gap: certificate.duality_gap,
            residual: Some(certificate.kkt_residual),
        }
    }

    /// The same, its first coordinates by these names.
    #[must_use]
    pub fn named(mut self, names: Vec<String>) -> Self {
        self.variables = names.into_iter().zip(self.x.iter().copied()).collect();
        self
    }

    /// The object on one line, without a line end.
    pub fn to_json(&self) -> Result<String> {
        self.check_finite()?;
        serde_json::to_string(self).map_err(|error| json_error(Path::new("solution"), &error))
    }

    fn check_finite(&self) -> Result<()> {
        check_finite(&[("epochs", self.epochs), ("seconds", self.seconds)])?;
        if let Some(bad) = self.candidates.iter().find(|candidate| !candidate.objective.is_finite()) {
            return Err(Error::NonFinite { field: format!("candidates.{}", bad.name), found: bad.objective });
        }
        check_finite_list("x", &self.x)
    }
}

/// Writes a solution file.
pub fn write_solution(path: impl AsRef<Path>, solution: &SolutionFile) -> Result<()> {
    let json = solution.to_json()?;
    write_whole(path.as_ref(), |out| writeln!(out, "{json}"))
}

/// Writes a solution file that claims nothing of x but the status of the run it comes from.
pub fn write_iterate(path: impl AsRef<Path>, status: &str, x: &[f64]) -> Result<()> {
    #[derive(Serialize)]
    struct Iterate<'a> {
        status: &'a str,
        x: &'a [f64],
    }
    check_finite_list("x", x)?;
    let json = serde_json::to_string(&Iterate { status, x })
        .map_err(|error| json_error(Path::new("solution"), &error))?;
    write_whole(path.as_ref(), |out| writeln!(out, "{json}"))
}

/// Reads a solution file, for a warm start or for verification.
pub fn read_solution(path: impl AsRef<Path>, control: &Control) -> Result<StoredSolution> {
    let path = path.as_ref();
    parse_solution(&read_bytes(path, control)?, path)
}

/// [`read_solution`] from bytes; the path is for messages.
pub fn parse_solution(bytes: &[u8], path: impl AsRef<Path>) -> Result<StoredSolution> {
    serde_json::from_slice(bytes).map_err(|error| json_error(path.as_ref(), &error))
}

pub(crate) fn json_error(path: &Path, error: &serde_json::Error) -> Error {
    let (line, column) = (error.line(), error.column());
    // The parser repeats the place at the end of its message.
    let text = error.to_string();
    let message = text.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&text).to_owned();
    Error::Json { path: path.into(), line, column, message }
}
