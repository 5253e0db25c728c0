//! `[smooth]`: f.

use toml::Value;

use super::keys::Keys;
use super::samples::Samples;
use super::spec::{LossSpec, NumberOrList, SmoothSpec};
use crate::Result;

const KINDS: [&str; 9] = [
    "quadratic",
    "least-squares",
    "logistic",
    "squared-hinge",
    "huber",
    "distance",
    "linear",
    "synthetic",
    "sum",
];

/// Reads f from its table, or one term of a sum from its own.
pub(super) fn read(mut keys: Keys<'_>) -> Result<SmoothSpec> {
    let kind = keys.kind(None)?;
    match kind.as_str() {
        "quadratic" => read_quadratic(keys),
        "least-squares" => read_loss(keys, LossSpec::LeastSquares),
        "logistic" => read_loss(keys, LossSpec::Logistic),
        "squared-hinge" => read_loss(keys, LossSpec::SquaredHinge),
        "huber" => {
            keys.only(&["matrix", "target", "weights", "delta"])?;
            let delta = keys.need("delta", Keys::number)?;
            read_loss(keys, LossSpec::Huber { delta })
        }
        "distance" => {
            keys.only(&["target", "weight"])?;
            let weight = keys.number_or_list("weight")?.unwrap_or(NumberOrList::Number(1.0));
            Ok(SmoothSpec::Distance { target: keys.need("target", Keys::vector)?, weight })
        }
        "linear" => {
            keys.only(&["linear"])?;
            Ok(SmoothSpec::Linear { linear: keys.need("linear", Keys::vector)? })
        }
        "synthetic" => read_synthetic(keys),
        "sum" => read_sum(keys),
        _ => Err(keys.unknown_kind(&kind, &KINDS)),
    }
}

fn read_quadratic(mut keys: Keys<'_>) -> Result<SmoothSpec> {
    keys.only(&["matrix", "factor", "linear"])?;
    match (keys.has("matrix"), keys.has("factor")) {
        (true, true) => return Err(keys.conflict("matrix", "factor")),
        (false, false) => return Err(keys.missing("matrix or factor")),
        _ => {}
    }
    Ok(SmoothSpec::Quadratic {
        matrix: keys.matrix("matrix")?,
        factor: keys.matrix("factor")?,
        linear: keys.vector("linear")?,
    })
}

/// M, y and w of a sum over rows.
fn read_loss(mut keys: Keys<'_>, loss: LossSpec) -> Result<SmoothSpec> {
    keys.only(&["matrix", "target", "weights"])?;
    let samples = keys.need("matrix", Keys::samples)?;
    let target = keys.vector("target")?;
    if target.is_none() && !samples.is_labelled() {
        return Err(keys.missing("target"));
    }
    let weights = keys.vector("weights")?;
    let (matrix, labels) = match samples {
        Samples::Unloaded(rows) => return Ok(SmoothSpec::Streamed { loss, rows, target, weights }),
        Samples::Loaded(matrix, labels) => (matrix, labels),
    };
    let target = target.or(labels).unwrap_or_default();
    Ok(match loss {
        LossSpec::LeastSquares => SmoothSpec::LeastSquares { matrix, target, weights },
        LossSpec::Logistic => SmoothSpec::Logistic { matrix, target, weights },
        LossSpec::SquaredHinge => SmoothSpec::SquaredHinge { matrix, target, weights },
        LossSpec::Huber { delta } => SmoothSpec::Huber { matrix, target, weights, delta },
    })
}

fn read_synthetic(mut keys: Keys<'_>) -> Result<SmoothSpec> {
    keys.only(&["nodes", "block", "rows", "seed"])?;
    Ok(SmoothSpec::Synthetic {
        nodes: keys.need("nodes", Keys::size)?,
        block: keys.need("block", Keys::size)?,
        rows: keys.need("rows", Keys::size)?,
        seed: keys.need("seed", Keys::whole)?,
    })
}

fn read_sum(mut keys: Keys<'_>) -> Result<SmoothSpec> {
    const TERMS: &str = "an array of at least one table";
    keys.only(&["terms"])?;
    let items = match keys.take("terms") {
        None => return Err(keys.missing("terms")),
        Some(Value::Array(items)) if !items.is_empty() => items,
        Some(other) => return Err(keys.wrong_type("terms", &other, TERMS)),
    };
    let term = |(index, item)| match item {
        Value::Table(entries) => {
            read(Keys::new(keys.origin, format!("{}.terms[{index}]", keys.table), entries))
        }
        other => Err(keys.wrong_type(&format!("terms[{index}]"), &other, "a table with a kind")),
    };
    Ok(SmoothSpec::Sum { terms: items.into_iter().enumerate().map(term).collect::<Result<_>>()? })
}
