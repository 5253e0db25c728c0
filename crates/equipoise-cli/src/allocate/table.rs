//! A table of users as a problem.
//!
//! Given: a file and what is asked for. Returns: a draft of a problem. Must not know: how it is solved.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, anyhow, bail};
use equipoise::Control;
use equipoise_allocation::{Column, Cost, Costs, Piecewise, Row, Users};
use equipoise_formats::suggest;
use equipoise_formats::table::{Missing, Table, TableOptions, parse_table, read_table};

use super::data::Draft;
use crate::args::AskedArguments;

/// A kind of cost, and the columns it reads: name, value where it is missing (none: it must be there).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Quadratic,
    Linear,
    Piecewise,
    Entropy,
    Power,
    Log,
}

equipoise::named!(Kind, "cost":
    "quadratic" => Kind::Quadratic, "linear" => Kind::Linear, "piecewise" => Kind::Piecewise,
    "entropy" => Kind::Entropy, "power" => Kind::Power, "log" => Kind::Log);

impl Kind {
    fn columns(self) -> &'static [(&'static str, Option<f64>)] {
        match self {
            Self::Quadratic => &[("c2", Some(0.0)), ("c1", Some(0.0)), ("c0", Some(0.0))],
            Self::Linear => &[("c1", None), ("c0", Some(0.0))],
            Self::Piecewise => &[],
            Self::Entropy => &[("weight", Some(1.0)), ("reference", Some(1.0)), ("c1", Some(0.0))],
            Self::Power => &[("weight", Some(1.0)), ("exponent", None), ("c1", Some(0.0))],
            Self::Log => &[("weight", Some(1.0)), ("offset", Some(0.0)), ("c1", Some(0.0))],
        }
    }
}

/// Reads a table, or takes the text of one that is at hand.
pub(super) fn read(
    path: &Path,
    text: Option<String>,
    args: &AskedArguments,
    demand: Option<f64>,
    control: &Control,
) -> Result<Draft> {
    if args.reserve.is_some() {
        bail!("--reserve is for cases; in a table, add a column and --row 'COLUMN<=B'");
    }
    let options = TableOptions {
        names: args.names.clone(),
        drop: args.drop.clone(),
        missing: Missing::Keep,
        words: ["name", "cost", "points"].map(String::from).to_vec(),
        infinite: true,
        ..TableOptions::default()
    };
    let table = match text {
        Some(text) => parse_table(text.into_bytes(), path, &options, control)?,
        None => read_table(path, &options, control)?,
    };
    let (rows, sources) = rows(args, demand, &table)?;
    if rows.is_empty() {
        bail!("nothing is asked for: say --demand D (the sum over all users), or --row 'COLUMN=B'");
    }
    let words = |name: &str| table.words.iter().find(|(own, _)| own == name).map(|(_, words)| words);
    let kinds = kinds(path, args, words("cost"), table.rows)?;
    check_columns(path, &table, &kinds, &sources)?;
    let points = words("points");
    let kinds = straight_apart(kinds, &table);
    let mut groups = Vec::new();
    match &kinds {
        Kinds::All(kind) => groups.push(users(path, &table, *kind, None, points, &sources)?),
        Kinds::Each(list) => {
            for (_, kind) in <Kind as equipoise::Named>::ALL {
                let of_kind = (0..list.len()).filter(|&k| list[k] == *kind);
                let (straight, bent): (Vec<usize>, Vec<usize>) =
                    of_kind.partition(|&k| *kind == Kind::Power && is_straight(&table, k));
                for places in [bent, straight] {
                    if !places.is_empty() {
                        groups.push(users(path, &table, *kind, Some(places), points, &sources)?);
                    }
                }
            }
        }
    }
    let names = words("name").cloned().or(table.row_names);
    Ok(Draft { groups, rows, names, off: 0 })
}

/// The rows that are asked for, and the column of each; none: every user counts 1.
fn rows(args: &AskedArguments, demand: Option<f64>, table: &Table) -> Result<(Vec<Row>, Vec<Option<usize>>)> {
    let mut rows: Vec<Row> = demand.map(|demand| Row::equal("demand", demand)).into_iter().collect();
    let mut sources = vec![None; rows.len()];
    for typed in &args.rows {
        let parts = [">=", "<=", "="].iter().find_map(|sense| {
            let (name, value) = typed.split_once(sense)?;
            Some((name.trim(), *sense, value.trim()))
        });
        let parsed = parts.and_then(|(name, sense, value)| Some((name, sense, value.parse::<f64>().ok()?)));
        let Some((name, sense, value)) = parsed else {
            bail!("--row {typed}: expected a column, =, >= or <=, and a number, as in 'water<=40'");
        };
        rows.push(Row { name: name.into(), sense: sense.parse()?, value });
        sources.push(Some(table.find(name)?));
    }
    Ok((rows, sources))
}

/// The kinds of cost: one for all users, or one each.
enum Kinds {
    All(Kind),
    Each(Vec<Kind>),
}

fn kinds(path: &Path, args: &AskedArguments, words: Option<&Vec<String>>, count: usize) -> Result<Kinds> {
    let parse = |word: &str| word.parse::<Kind>().map_err(|unknown| anyhow!(suggest::unknown(&unknown)));
    let default = parse(&args.cost).map_err(|error| anyhow!("--cost: {error}"))?;
    let Some(words) = words else { return Ok(Kinds::All(default)) };
    let mut list = Vec::with_capacity(count);
    for (row, word) in words.iter().enumerate() {
        let kind = if word.is_empty() { Ok(default) } else { parse(word) };
        let place = || format!("{}: row {}, column `cost`", path.display(), row + 1);
        list.push(kind.map_err(|error| anyhow!("{}: {error}", place()))?);
    }
    let first = list[0];
    Ok(if list.iter().all(|kind| *kind == first) { Kinds::All(first) } else { Kinds::Each(list) })
}

/// Powers of exponent 1 are straight lines, and users of their own where others bend.
fn straight_apart(kinds: Kinds, table: &Table) -> Kinds {
    match kinds {
        Kinds::All(Kind::Power) => {
            let count = (0..table.rows).filter(|&row| is_straight(table, row)).count();
            let is_mixed = count > 0 && count < table.rows;
            if is_mixed { Kinds::Each(vec![Kind::Power; table.rows]) } else { Kinds::All(Kind::Power) }
        }
        kinds => kinds,
    }
}

fn is_straight(table: &Table, row: usize) -> bool {
    let column = table.names.iter().position(|name| name == "exponent");
    column.is_some_and(|column| table.column(column)[row] == 1.0)
}

/// Refuses columns that nobody reads: a name may be misspelt.
fn check_columns(path: &Path, table: &Table, kinds: &Kinds, sources: &[Option<usize>]) -> Result<()> {
    let present: Vec<Kind> = match kinds {
        Kinds::All(kind) => vec![*kind],
        Kinds::Each(list) => list.clone(),
    };
    let of_kind = |name: &str, kind: Kind| kind.columns().iter().any(|(own, _)| *own == name);
    for (k, name) in table.names.iter().enumerate() {
        let is_read = matches!(name.as_str(), "lower" | "upper")
            || present.iter().any(|kind| of_kind(name, *kind))
            || sources.contains(&Some(k));
        if is_read {
            continue;
        }
        let mut known = vec!["name", "cost", "points", "lower", "upper"];
        present.iter().flat_map(|kind| kind.columns()).for_each(|(own, _)| known.push(own));
        known.sort_unstable();
        known.dedup();
        let others: Vec<&str> = <Kind as equipoise::Named>::ALL
            .iter()
            .filter(|(_, kind)| of_kind(name, *kind))
            .map(|(word, _)| *word)
            .collect();
        let hint = match (suggest::nearest(name, &known), others.is_empty()) {
            (_, false) => format!("; costs that read it: {}", others.join(", ")),
            (Some(near), _) => format!("; did you mean `{near}`?"),
            _ => String::new(),
        };
        bail!(
            "{}: column `{name}` is not read by these costs, nor by a --row{hint}; leave it out with --drop {name}",
            path.display()
        );
    }
    Ok(())
}

/// Users of one kind.
fn users(
    path: &Path,
    table: &Table,
    kind: Kind,
    places: Option<Vec<usize>>,
    points: Option<&Vec<String>>,
    sources: &[Option<usize>],
) -> Result<Users> {
    let count = places.as_ref().map_or(table.rows, Vec::len);
    let row_of = |k: usize| places.as_ref().map_or(k, |places| places[k]);
    let gather = |column: usize| -> Vec<f64> {
        let values = table.column(column);
        places.as_ref().map_or_else(|| values.to_vec(), |places| places.iter().map(|&k| values[k]).collect())
    };
    let place = |name: &str| table.names.iter().position(|own| own == name);
    let whole = |name: &str, values: Vec<f64>| -> Result<Column> {
        match values.iter().position(|value| value.is_nan()) {
            Some(k) => bail!(
                "{}: row {}, column `{name}`: missing value, expected a finite number",
                path.display(),
                row_of(k) + 1
            ),
            None => Ok(Column::Many(values)),
        }
    };
    let column = |k: usize| -> Result<Column> {
        let (name, default) = kind.columns()[k];
        match (place(name), default) {
            (Some(column), _) => whole(name, gather(column)),
            (None, Some(default)) => Ok(Column::One(default)),
            (None, None) => bail!("{}: no column `{name}`; {kind} costs need it", path.display()),
        }
    };
    let mut ends = None;
    let is_straight = kind == Kind::Power
        && place("exponent").is_some_and(|column| gather(column).iter().all(|exponent| *exponent == 1.0));
    let costs = match kind {
        Kind::Quadratic if place("c2").is_none() && place("c1").is_none() => {
            bail!("{}: no column `c2` or `c1`; quadratic costs need one of them", path.display())
        }
        Kind::Quadratic => Costs::Quadratic { c2: column(0)?, c1: column(1)?, c0: column(2)? },
        Kind::Linear => Costs::Quadratic { c2: Column::One(0.0), c1: column(0)?, c0: column(1)? },
        Kind::Entropy => Costs::Entropy { weight: column(0)?, reference: column(1)?, c1: column(2)? },
        Kind::Power if is_straight => {
            let (weight, c1) = (column(0)?, column(2)?);
            Costs::linear((0..count).map(|k| weight.get(k) + c1.get(k)).collect::<Vec<f64>>())
        }
        Kind::Power => Costs::Power { weight: column(0)?, exponent: column(1)?, c1: column(2)? },
        Kind::Log => Costs::Log { weight: column(0)?, offset: column(1)?, c1: column(2)? },
        Kind::Piecewise => {
            let Some(points) = points else {
                bail!("{}: no column `points`; piecewise costs need it", path.display());
            };
            let mut costs: Vec<Arc<dyn Cost>> = Vec::with_capacity(count);
            let mut limits: Vec<(f64, f64)> = Vec::with_capacity(count);
            for k in 0..count {
                let word = &points[row_of(k)];
                let at = || format!("{}: row {}, column `points`", path.display(), row_of(k) + 1);
                let list = parse_points(word).ok_or_else(|| {
                    anyhow!("{}: found \"{word}\", expected pairs such as 0:0 10:25 20:60", at())
                })?;
                let cost = Piecewise::new(&list).map_err(|error| anyhow!("{}: {error}", at()))?;
                limits.push((list[0].0, list[list.len() - 1].0));
                costs.push(Arc::new(cost));
            }
            ends = Some(limits);
            Costs::Own(costs)
        }
    };
    // An empty cell, like a missing column, is the usual limit.
    let limit = |name: &str, usual: &dyn Fn(usize) -> f64| match place(name) {
        Some(column) => {
            let values = gather(column).into_iter().enumerate();
            Column::Many(values.map(|(k, value)| if value.is_nan() { usual(k) } else { value }).collect())
        }
        None if ends.is_some() => Column::Many((0..count).map(usual).collect()),
        None => Column::One(usual(0)),
    };
    let (lower, upper) = (
        limit("lower", &|k| ends.as_ref().map_or(0.0, |ends| ends[k].0)),
        limit("upper", &|k| ends.as_ref().map_or(f64::INFINITY, |ends| ends[k].1)),
    );
    // As of every power, x is not below 0.
    let lower =
        if is_straight { Column::Many((0..count).map(|k| lower.get(k).max(0.0)).collect()) } else { lower };
    let coefficients: Result<Vec<Column>> = sources
        .iter()
        .map(|source| {
            source.map_or(Ok(Column::One(1.0)), |column| whole(&table.names[column], gather(column)))
        })
        .collect();
    Ok(Users { count, costs, lower, upper, coefficients: coefficients?, places })
}

/// Pairs of numbers with a colon between, and blanks or semicolons between pairs.
fn parse_points(word: &str) -> Option<Vec<(f64, f64)>> {
    word.split(|letter: char| letter.is_whitespace() || letter == ';')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (x, y) = pair.split_once(':')?;
            Some((x.parse().ok()?, y.parse().ok()?))
        })
        .collect::<Option<Vec<(f64, f64)>>>()
        .filter(|list| !list.is_empty())
}
