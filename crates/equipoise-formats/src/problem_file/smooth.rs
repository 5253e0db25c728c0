//! `[smooth]`: f.

use toml::Value;

use super::keys::Keys;
use super::spec::{NumberOrList, SmoothSpec};
use crate::{MatrixData, Result};

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
        "least-squares" => {
            let (matrix, target, weights) = read_rows(&mut keys, &["matrix", "target", "weights"])?;
            Ok(SmoothSpec::LeastSquares { matrix, target, weights })
        }
        "logistic" => {
            let (matrix, target, weights) = read_rows(&mut keys, &["matrix", "target", "weights"])?;
            Ok(SmoothSpec::Logistic { matrix, target, weights })
        }
        "squared-hinge" => {
            let (matrix, target, weights) = read_rows(&mut keys, &["matrix", "target", "weights"])?;
            Ok(SmoothSpec::SquaredHinge { matrix, target, weights })
        }
        "huber" => {
            let (matrix, target, weights) = read_rows(&mut keys, &["matrix", "target", "weights", "delta"])?;
            Ok(SmoothSpec::Huber { matrix, target, weights, delta: keys.need("delta", Keys::number)? })
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
type Rows = (MatrixData, Vec<f64>, Option<Vec<f64>>);

/// The keys that all losses of a matrix share.
fn read_rows(keys: &mut Keys<'_>, known: &[&str]) -> Result<Rows> {
    keys.only(known)?;
    let matrix = keys.need("matrix", Keys::matrix)?;
    Ok((matrix, keys.need("target", Keys::vector)?, keys.vector("weights")?))
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
