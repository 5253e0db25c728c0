//! `[blocks]` and `[graph]`: how the problem is cut up, and which pieces move together.

use std::sync::Arc;

use equipoise::graph::{Topology, TopologyChoice};
use equipoise::{BlockChoice, DrawLaw, Matrix, ProbabilityChoice};
use equipoise_theory::Equalised;
use toml::Value;

use super::keys::{Keys, WHOLE, as_whole};
use crate::numbers::has_known_extension;
use crate::{Error, Result};

/// Which pairs of blocks move together, and how often.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GraphSpec {
    /// The edges, by name or one by one; a clique when the file gives neither.
    pub topology: TopologyChoice,
    /// How often each edge is drawn.
    pub probabilities: ProbabilityChoice,
}

/// Reads how x falls into blocks.
pub(super) fn read_blocks(mut keys: Keys<'_>) -> Result<BlockChoice> {
    keys.only(&["size", "boundaries", "auto"])?;
    let auto = keys.truth("auto")?;
    match (keys.has("size"), keys.has("boundaries"), auto) {
        (true, true, _) => Err(keys.place.conflict("size", "boundaries")),
        (true, _, Some(true)) => Err(keys.place.conflict("size", "auto")),
        (_, true, Some(true)) => Err(keys.place.conflict("boundaries", "auto")),
        (true, ..) => {
            let size = keys.need("size", Keys::size)?;
            if size == 0 {
                return Err(keys.place.wrong("size", "the number 0", "a whole number of at least 1"));
            }
            Ok(BlockChoice::Size(size))
        }
        (_, true, _) => {
            let numbers = keys.need("boundaries", Keys::vector)?;
            let whole = |(index, &number)| node(&keys, &format!("boundaries[{index}]"), number);
            Ok(BlockChoice::Boundaries(numbers.iter().enumerate().map(whole).collect::<Result<_>>()?))
        }
        (_, _, Some(false)) => Err(keys.place.missing("size or boundaries")),
        _ => Ok(BlockChoice::Automatic),
    }
}

/// Reads which pairs of blocks move together.
pub(super) fn read_graph(mut keys: Keys<'_>) -> Result<GraphSpec> {
    keys.only(&["topology", "edges", "probabilities"])?;
    if keys.has("topology") && keys.has("edges") {
        return Err(keys.place.conflict("topology", "edges"));
    }
    let topology = keys.text("topology")?.map(|name| name.parse()).transpose();
    let topology =
        topology.map_err(|unknown| Error::unknown_name(&keys.place.path, &keys.place.table, &unknown))?;
    let given = read_probabilities(&mut keys)?;
    let Some(matrix) = keys.matrix("edges")? else {
        return Ok(GraphSpec {
            topology: topology.unwrap_or_default(),
            probabilities: given.unwrap_or_default(),
        });
    };
    let (edges, weights) = read_edges(&keys, &matrix)?;
    let probabilities = match (given, weights) {
        (Some(_), Some(_)) => return Err(keys.place.conflict("probabilities", "the third column of edges")),
        (Some(given), None) => given,
        (None, Some(weights)) => ProbabilityChoice::Weighted(weights),
        (None, None) => ProbabilityChoice::default(),
    };
    Ok(GraphSpec { topology: Topology::Edges(edges).into(), probabilities })
}

fn read_probabilities(keys: &mut Keys<'_>) -> Result<Option<ProbabilityChoice>> {
    const KEY: &str = "probabilities";
    match keys.take(KEY) {
        None => Ok(None),
        Some(Value::String(word)) if word.parse::<ProbabilityChoice>().is_ok() => Ok(word.parse().ok()),
        Some(Value::String(word)) if word == Equalised.name() => {
            Ok(Some(ProbabilityChoice::Law(Arc::new(Equalised))))
        }
        Some(Value::String(word)) if !has_known_extension(&word) => Err(keys.place.wrong(
            KEY,
            format!("the text {word:?}"),
            "\"uniform\", \"lipschitz\", \"equalised\", or a list of weights: inline or a .csv, .mtx or .npy file",
        )),
        Some(other) => {
            keys.put_back(KEY, other);
            Ok(keys.vector(KEY)?.map(ProbabilityChoice::Weighted))
        }
    }
}

/// Edges, and their weights where there is a third column.
type Edges = (Vec<(usize, usize)>, Option<Vec<f64>>);

fn read_edges(keys: &Keys<'_>, matrix: &Matrix) -> Result<Edges> {
    let (rows, columns) = (matrix.rows(), matrix.columns());
    let dense = matches!(matrix, Matrix::Dense(_));
    if !dense || (rows > 0 && !(2..=3).contains(&columns)) {
        let sort = if dense { "a" } else { "a sparse" };
        let found = format!("{sort} {rows} x {columns} matrix");
        return Err(keys.place.wrong("edges", found, "rows `i,j` or `i,j,weight`, nodes counted from 0"));
    }
    let edge = |row| {
        let place = format!("edges[{row}]");
        Ok((node(keys, &place, matrix.entry(row, 0))?, node(keys, &place, matrix.entry(row, 1))?))
    };
    let edges = (0..rows).map(edge).collect::<Result<_>>()?;
    let weights = (columns == 3).then(|| (0..rows).map(|row| matrix.entry(row, 2)).collect());
    Ok((edges, weights))
}

/// A number of a list as an index from 0.
fn node(keys: &Keys<'_>, place: &str, number: f64) -> Result<usize> {
    match as_whole(number) {
        Some(whole) => Ok(whole as usize),
        None => Err(keys.place.wrong(place, format!("the number {number:?}"), WHOLE)),
    }
}
