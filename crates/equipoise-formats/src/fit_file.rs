//! Files of fitted models: the JSON object that a model prints, written whole, and what is read back of it.
//!
//! ```text
//! { "status": "converged", "objective": .., "bound": .., "relative_gap": .., ... }
//! ```
//!
//! - Given: anything that serialises into an object. Returns: a file with that object on one line; or the object, from
//!   a file.
//! - Must not know: which model it is of. What is not a finite number is `null` in it: an unknown never becomes a zero.

use std::io::Write;
use std::path::Path;

use equipoise::Control;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::numbers::read_bytes;
use crate::solution_file::json_error;
use crate::whole_file::write_whole;
use crate::{Result, Standing};

/// The object on one line, without a line end.
pub fn to_json(fit: &impl Serialize) -> Result<String> {
    serde_json::to_string(fit).map_err(|error| json_error(Path::new("result"), &error))
}

/// Writes the object.
pub fn write_fit(path: impl AsRef<Path>, fit: &impl Serialize) -> Result<()> {
    let json = to_json(fit)?;
    write_whole(path.as_ref(), |out| writeln!(out, "{json}"))
}

/// Reads an object back; fields that the type does not know are passed over.
pub fn read_fit<T: DeserializeOwned>(path: impl AsRef<Path>, control: &Control) -> Result<T> {
    let path = path.as_ref();
    let bytes = read_bytes(path, control)?;
    serde_json::from_slice(&bytes).map_err(|error| json_error(path, &error))
}

/// What a run of many points came to: how many are missing where some are, else its gap.
pub fn measure_of_points(missing: usize, gap: f64) -> f64 {
    if missing > 0 { missing as f64 } else { gap }
}

/// How far the run came that a file is of: its `status`, and its `relative_gap` or how many of its points are `missing`; `None`
/// where it is no such object.
pub fn read_standing(path: impl AsRef<Path>, control: &Control) -> Result<Option<Standing>> {
    let bytes = read_bytes(path.as_ref(), control)?;
    let Ok(Value::Object(fields)) = serde_json::from_slice(&bytes) else { return Ok(None) };
    let Some(status) = fields.get("status").and_then(Value::as_str) else { return Ok(None) };
    let gap = fields.get("relative_gap").and_then(Value::as_f64).unwrap_or(f64::INFINITY);
    let missing = fields.get("missing").and_then(Value::as_u64).unwrap_or(0);
    let measure = measure_of_points(usize::try_from(missing).unwrap_or(usize::MAX), gap);
    Ok(Some(Standing { converged: status == "converged", measure }))
}
