//! `[blocks]`, `[graph]` and `[solve]`: how the problem is cut up and worked on.

use toml::Value;

use super::keys::{Keys, WHOLE, as_whole};
use super::spec::{BlocksSpec, GraphSpec, ProbabilitiesSpec, SolveSpec};
use crate::Result;
use crate::numbers::{MatrixData, has_known_extension};

/// Reads how x falls into blocks.
pub(super) fn read_blocks(mut keys: Keys<'_>) -> Result<BlocksSpec> {
    keys.only(&["size", "boundaries", "auto"])?;
    let auto = keys.truth("auto")?;
    match (keys.has("size"), keys.has("boundaries"), auto) {
        (true, true, _) => Err(keys.conflict("size", "boundaries")),
        (true, _, Some(true)) => Err(keys.conflict("size", "auto")),
        (_, true, Some(true)) => Err(keys.conflict("boundaries", "auto")),
        (true, ..) => {
            let size = keys.need("size", Keys::size)?;
            if size == 0 {
                return Err(keys.wrong("size", "the number 0", "a whole number of at least 1"));
            }
            Ok(BlocksSpec::Size(size))
        }
        (_, true, _) => {
            let numbers = keys.need("boundaries", Keys::vector)?;
            let whole = |(index, &number)| node(&keys, &format!("boundaries[{index}]"), number);
            Ok(BlocksSpec::Boundaries(numbers.iter().enumerate().map(whole).collect::<Result<_>>()?))
        }
        (_, _, Some(false)) => Err(keys.missing("size or boundaries")),
        _ => Ok(BlocksSpec::Auto),
    }
}

/// Reads which pairs of blocks move together.
pub(super) fn read_graph(mut keys: Keys<'_>) -> Result<GraphSpec> {
    keys.only(&["topology", "edges", "probabilities"])?;
    if keys.has("topology") && keys.has("edges") {
        return Err(keys.conflict("topology", "edges"));
    }
    let topology = keys.text("topology")?;
    let given = read_probabilities(&mut keys)?;
    let Some(matrix) = keys.matrix("edges")? else {
        return Ok(GraphSpec { topology, edges: None, probabilities: given.unwrap_or_default() });
    };
    let (edges, weights) = read_edges(&keys, &matrix)?;
    let probabilities = match (given, weights) {
        (Some(_), Some(_)) => return Err(keys.conflict("probabilities", "the third column of edges")),
        (Some(given), None) => given,
        (None, Some(weights)) => ProbabilitiesSpec::Weights(weights),
        (None, None) => ProbabilitiesSpec::default(),
    };
    Ok(GraphSpec { topology: None, edges: Some(edges), probabilities })
}

fn read_probabilities(keys: &mut Keys<'_>) -> Result<Option<ProbabilitiesSpec>> {
    const KEY: &str = "probabilities";
    match keys.take(KEY) {
        None => Ok(None),
        Some(Value::String(word)) if word == "uniform" => Ok(Some(ProbabilitiesSpec::Uniform)),
        Some(Value::String(word)) if word == "lipschitz" => Ok(Some(ProbabilitiesSpec::Lipschitz)),
        Some(Value::String(word)) if word == "equalised" => Ok(Some(ProbabilitiesSpec::Equalised)),
        Some(Value::String(word)) if !has_known_extension(&word) => Err(keys.wrong(
            KEY,
            format!("the text {word:?}"),
            "\"uniform\", \"lipschitz\", \"equalised\", or a list of weights: inline or a .csv, .mtx or .npy file",
        )),
        Some(other) => {
            keys.put_back(KEY, other);
            Ok(keys.vector(KEY)?.map(ProbabilitiesSpec::Weights))
        }
    }
}

/// Edges, and their weights where there is a third column.
type Edges = (Vec<(usize, usize)>, Option<Vec<f64>>);

fn read_edges(keys: &Keys<'_>, matrix: &MatrixData) -> Result<Edges> {
    let (rows, columns) = (matrix.rows(), matrix.columns());
    let dense = matches!(matrix, MatrixData::Dense { .. });
    if !dense || (rows > 0 && !(2..=3).contains(&columns)) {
        let sort = if dense { "a" } else { "a sparse" };
        let found = format!("{sort} {rows} x {columns} matrix");
        return Err(keys.wrong("edges", found, "rows `i,j` or `i,j,weight`, nodes counted from 0"));
    }
    let edge = |row| {
        let place = format!("edges[{row}]");
        Ok((node(keys, &place, matrix.get(row, 0))?, node(keys, &place, matrix.get(row, 1))?))
    };
    let edges = (0..rows).map(edge).collect::<Result<_>>()?;
    let weights = (columns == 3).then(|| (0..rows).map(|row| matrix.get(row, 2)).collect());
    Ok((edges, weights))
}

/// A number of a list as an index from 0.
fn node(keys: &Keys<'_>, place: &str, number: f64) -> Result<usize> {
    match as_whole(number) {
        Some(whole) => Ok(whole as usize),
        None => Err(keys.wrong(place, format!("the number {number:?}"), WHOLE)),
    }
}

/// The keys of `[solve]`.
const SOLVE_KEYS: [&str; 15] = [
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

/// Reads limits and choices; the keys are the command line's flags.
pub(super) fn read_solve(mut keys: Keys<'_>) -> Result<SolveSpec> {
    keys.dash_underscores()?;
    keys.only(&SOLVE_KEYS)?;
    Ok(SolveSpec {
        tolerance: keys.number("tolerance")?,
        time_limit: keys.number("time-limit")?,
        max_epochs: keys.whole("max-epochs")?,
        max_updates: keys.whole("max-updates")?,
        method: keys.text("method")?,
        seed: keys.whole("seed")?,
        memory_budget: keys.bytes("memory-budget")?,
        threads: keys.whole("threads")?,
        locking: keys.text("locking")?,
        delay_us: keys.whole("delay-us")?,
        step_rule: keys.text("step-rule")?,
        deterministic: keys.truth("deterministic")?,
        schedule: keys.text("schedule")?,
        batch: keys.whole("batch")?,
        step_size: keys.number("step-size")?,
    })
}
