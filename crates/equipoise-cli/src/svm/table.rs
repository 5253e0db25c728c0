//! Tables as labelled rows: a column of labels, numbers or words; every other column a feature with a name.
//!
//! - Given: a file with columns and what was typed about them; or the columns of a model.
//! - Returns: rows without zeros, labels as numbers, and the names of both.
//! - Must not know: how a model is trained or applied.

use std::path::Path;

use anyhow::{Context, Result, bail};
use equipoise::Control;
use equipoise::matrix::Rows;
use equipoise_formats::Error;
use equipoise_formats::table::{Header, Table, TableOptions, read_records, read_table};

use super::data::{Columns, first_line};
use crate::args::TableChoice;
use crate::exit::note;

/// Features that are named in a note; not more than a glance.
const GLANCE: usize = 5;

/// What a table holds.
pub(crate) struct Labelled {
    pub(crate) rows: Rows<'static>,
    /// One a row; zeros where there is no column of labels.
    pub(crate) labels: Vec<f64>,
    pub(crate) names: Vec<String>,
    pub(crate) target: Option<String>,
    /// The words that labels 0, 1, ... stand for.
    pub(crate) label_names: Option<Vec<String>>,
    /// A column of weights, if it was named.
    pub(crate) weights: Option<Vec<f64>>,
}

/// Whether a path is to be read as a table: a target was named, or the ending says so.
pub(crate) fn is_table(path: &Path, choice: &TableChoice) -> bool {
    choice.target.is_some() || has_ending(path)
}

/// Whether the ending of a name is that of a table, packed or not.
pub(crate) fn has_ending(path: &Path) -> bool {
    crate::ending::has(path, &["csv", "tsv"])
}

/// Reads a table to learn from; without a target where none is needed.
pub(crate) fn read(
    path: &Path,
    choice: &TableChoice,
    weights: Option<&str>,
    needs_target: bool,
    control: &Control,
) -> Result<Labelled> {
    let Some(target) = choice.target.clone() else {
        if needs_target {
            if path.as_os_str() != "-" {
                let file = std::fs::File::open(path);
                file.with_context(|| format!("cannot read {}", path.display()))?;
            }
            let header =
                first_line(path).map_or_else(String::new, |line| format!("; the first line is {line}"));
            bail!("{}: which column has the labels? --target NAME says so{header}", path.display());
        }
        let mut table = read_with_target(path, &options(choice), None, control)?;
        let (labels, weights) = (vec![0.0; table.rows], taken(&mut table, weights)?);
        let names = table.names.clone();
        return Ok(Labelled {
            rows: rows(&table, &names, path)?,
            labels,
            names,
            target: None,
            label_names: None,
            weights,
        });
    };
    let mut table = read_with_target(path, &options(choice), Some(&target), control)
        .map_err(|error| lacking(path, &[&target], control).unwrap_or(error))?;
    let (labels, label_names) = match words_of(&mut table, &target) {
        Some(words) => numbered(&words, &target, path)?,
        None => (table.take(&target)?.values, None),
    };
    let weights = taken(&mut table, weights)?;
    if table.columns() == 0 {
        bail!("{}: no column is left beside the target {target}", path.display());
    }
    let names = table.names.clone();
    Ok(Labelled {
        rows: rows(&table, &names, path)?,
        labels,
        names,
        target: Some(target),
        label_names,
        weights,
    })
}

/// Reads a table into the columns of a model; labels are left out where the table has none.
pub(crate) fn read_for(
    path: &Path,
    choice: &TableChoice,
    columns: &Columns<'_>,
    quiet: bool,
    control: &Control,
) -> Result<(Labelled, bool)> {
    let target = choice.target.as_deref().or(columns.target);
    let mut options = options(choice);
    if let Some(names) = columns.names {
        options.keep = Some(names.iter().cloned().chain(target.map(str::to_owned)).collect());
    }
    let mut table = read_with_target(path, &options, target, control).map_err(|error| {
        let names: Vec<&str> = columns.names.unwrap_or_default().iter().map(String::as_str).collect();
        lacking(path, &names, control).unwrap_or(error)
    })?;
    let words = target.and_then(|target| words_of(&mut table, target));
    let is_there = |table: &Table, name: &str| table.names.iter().any(|own| own == name);
    let numbers = match target {
        Some(target) if words.is_none() && is_there(&table, target) => Some(table.take(target)?.values),
        _ => None,
    };
    if choice.target.is_some() && words.is_none() && numbers.is_none() {
        table.find(choice.target.as_deref().unwrap_or_default())?;
    }
    let names: Vec<String> = if let Some(names) = columns.names {
        names.to_vec()
    } else {
        let (found, expected) = (table.columns(), columns.features.len());
        if found != expected {
            bail!(
                "{}: found {found} columns of features; the model has {expected} and does not name them",
                path.display()
            );
        }
        if !quiet {
            note("note: the model does not name its features; columns are taken in the order of the table");
        }
        table.names.clone()
    };
    let has_labels = words.is_some() || numbers.is_some();
    let (labels, label_names) = match (words, numbers) {
        (Some(words), _) => known(&words, columns, target.unwrap_or_default(), path)?,
        (None, Some(numbers)) => (numbers, columns.label_names.map(<[String]>::to_vec)),
        (None, None) => (vec![0.0; table.rows], columns.label_names.map(<[String]>::to_vec)),
    };
    let rows = rows(&table, &names, path)?;
    let target = target.map(str::to_owned);
    Ok((Labelled { rows, labels, names, target, label_names, weights: None }, has_labels))
}

fn options(choice: &TableChoice) -> TableOptions {
    let header = if choice.no_header { Header::No } else { Header::Auto };
    TableOptions { header, drop: choice.drop.clone(), ..TableOptions::default() }
}

/// What is to be said of the first of these columns that a table does not have: then this is why it cannot be read.
fn lacking(path: &Path, names: &[&str], control: &Control) -> Option<anyhow::Error> {
    if path.as_os_str() == "-" {
        return None;
    }
    let records = read_records(path, control).ok()?;
    // A first line with numbers in it names nothing.
    if records.names().iter().any(|name| number(name).is_some()) {
        return None;
    }
    let missing = names.iter().find(|name| records.names().iter().all(|own| own != *name))?;
    records.find(missing).err().map(Into::into)
}

/// Labels are mostly numbers, which are read fast; where they are not they are read as words.
fn read_with_target(
    path: &Path,
    options: &TableOptions,
    target: Option<&str>,
    control: &Control,
) -> Result<Table> {
    let explained = |error: Error| match &error {
        Error::BadCell { column, .. } => {
            let advice = format!("--drop {column} leaves it out, --target {column} takes it as labels");
            anyhow::anyhow!("{error}; {advice}")
        }
        _ => error.into(),
    };
    let Some(target) = target else { return read_table(path, options, control).map_err(explained) };
    let as_words = TableOptions { words: vec![target.to_owned()], ..options.clone() };
    if path.as_os_str() == "-" {
        return read_table(path, &as_words, control).map_err(explained);
    }
    match read_table(path, options, control) {
        Err(Error::BadCell { column, .. }) if column == target => {
            read_table(path, &as_words, control).map_err(explained)
        }
        other => other.map_err(explained),
    }
}

/// Takes a column of words out.
fn words_of(table: &mut Table, name: &str) -> Option<Vec<String>> {
    let place = table.words.iter().position(|(own, _)| own == name)?;
    Some(table.words.remove(place).1)
}

/// The numbers that words say, or 0, 1, ... for different words in their order.
fn numbered(words: &[String], target: &str, path: &Path) -> Result<(Vec<f64>, Option<Vec<String>>)> {
    check_words(words, target, path)?;
    if let Some(numbers) = numbers(words) {
        return Ok((numbers, None));
    }
    let mut names: Vec<String> = words.to_vec();
    names.sort_unstable();
    names.dedup();
    let place = |word: &String| names.binary_search(word).unwrap_or(0) as f64;
    Ok((words.iter().map(place).collect(), Some(names)))
}

/// The same with the labels of a model; words that it does not know get numbers of their own.
fn known(
    words: &[String],
    columns: &Columns<'_>,
    target: &str,
    path: &Path,
) -> Result<(Vec<f64>, Option<Vec<String>>)> {
    check_words(words, target, path)?;
    let Some(names) = columns.label_names else {
        let row = words.iter().position(|word| number(word).is_none());
        return match (numbers(words), row) {
            (Some(numbers), _) => Ok((numbers, None)),
            (None, row) => {
                let row = row.unwrap_or(0);
                bail!(
                    "{}: row {}, column {target}: found {:?}; the labels of the model are numbers",
                    path.display(),
                    row + 1,
                    words[row]
                )
            }
        };
    };
    let mut names = names.to_vec();
    let place = |word: &String| {
        let place = names.iter().position(|name| name == word).unwrap_or_else(|| {
            names.push(word.clone());
            names.len() - 1
        });
        place as f64
    };
    let labels = words.iter().map(place).collect();
    Ok((labels, Some(names)))
}

fn check_words(words: &[String], target: &str, path: &Path) -> Result<()> {
    if let Some(row) = words.iter().position(|word| is_missing(word)) {
        bail!("{}: row {}, column {target}: the label is missing", path.display(), row + 1);
    }
    Ok(())
}

fn is_missing(word: &str) -> bool {
    matches!(word, "" | "NA" | "N/A" | "NaN" | "nan" | "null" | "?")
}

fn number(word: &str) -> Option<f64> {
    word.parse().ok().filter(|number: &f64| number.is_finite())
}

fn numbers(words: &[String]) -> Option<Vec<f64>> {
    words.iter().map(|word| number(word)).collect()
}

/// The column of weights, where the name is that of one.
fn taken(table: &mut Table, name: Option<&str>) -> Result<Option<Vec<f64>>> {
    let Some(name) = name.filter(|name| table.names.iter().any(|own| own == name)) else { return Ok(None) };
    let weights = table.take(name)?.values;
    if let Some(row) = weights.iter().position(|weight| *weight < 0.0) {
        bail!("row {}, column {name}: found {}, expected a weight: at least 0", row + 1, weights[row]);
    }
    Ok(Some(weights))
}

/// The columns of these names by row, without zeros.
fn rows(table: &Table, names: &[String], path: &Path) -> Result<Rows<'static>> {
    let places: Vec<usize> = if table.names == names {
        (0..names.len()).collect()
    } else {
        names.iter().map(|name| table.find(name)).collect::<equipoise_formats::Result<_>>()?
    };
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..table.rows {
        for (j, &place) in places.iter().enumerate() {
            let value = table.values[place * table.rows + i];
            if value != 0.0 {
                indices.push(u32::try_from(j).context("too many columns")?);
                values.push(value);
            }
        }
        starts.push(indices.len());
    }
    Rows::new(names.len(), starts, indices, Some(values)).with_context(|| path.display().to_string())
}

/// A few names for a message.
pub(crate) fn glance(names: &[String]) -> String {
    let shown = names[..names.len().min(GLANCE)].join(", ");
    if names.len() > GLANCE { format!("{shown}, ... ({} in all)", names.len()) } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_numbered_in_their_order_unless_they_say_numbers() {
        let of = |list: &[&str]| {
            let words: Vec<String> = list.iter().map(|&word| word.to_owned()).collect();
            numbered(&words, "y", Path::new("t.csv"))
        };
        assert_eq!(of(&["no", "yes", "maybe", "no"]).expect("words").0, [1.0, 2.0, 0.0, 1.0]);
        assert_eq!(of(&["-1", "+1", "1e0"]).expect("numbers"), (vec![-1.0, 1.0, 1.0], None));
        let missing = of(&["no", "NA"]).expect_err("missing").to_string();
        assert_eq!(missing, "t.csv: row 2, column y: the label is missing");
    }

    #[test]
    fn endings_of_tables_are_known_packed_or_not() {
        for (name, is) in
            [("a.csv", true), ("a.TSV.gz", true), ("a.csv.zst", true), ("a9a", false), ("a.txt.xz", false)]
        {
            assert_eq!(has_ending(Path::new(name)), is, "{name}");
        }
    }
}
