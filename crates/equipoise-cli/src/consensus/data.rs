//! Files and options into shards and a model.
//!
//! Given: the arguments. Returns: a checked problem, with the names of its columns where tables have some; on a rank, with the shards of
//! its own nodes. Must not know: how it is solved.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use equipoise::Control;
use equipoise::collective::Collective;
use equipoise::graph::{Graph, Topology};
use equipoise::matrix::Rows;
use equipoise_consensus::{Loss, Model, Problem, Shard};
use equipoise_formats::libsvm::{ReadOptions, read_path};
use equipoise_formats::table::{TableOptions, read_table};

use crate::args::ConsensusProblemArguments;
use crate::ending;
use crate::exit::note;
use crate::graph::parse_topology;
use crate::ranks::together;

/// Endings of tables, packed or not; and of those that are not packed. Any other name is LIBSVM text.
const TEXTS: [&str; 2] = ["csv", "tsv"];
const MATRICES: [&str; 2] = ["npy", "mtx"];

/// A problem, read.
#[derive(Debug)]
pub(super) struct Input {
    pub(super) problem: Problem,
    /// Of the columns, the bias last; none for LIBSVM text.
    pub(super) names: Option<Vec<String>>,
    pub(super) seconds: f64,
}

impl Input {
    pub(super) fn read(
        paths: &[PathBuf],
        args: &ConsensusProblemArguments,
        control: &Control,
    ) -> Result<Self> {
        let begun = Instant::now();
        let model = model(args)?;
        let files = read_files(paths, args, control)?;
        let (names, columns) = (files[0].names.clone(), files[0].columns);
        let shards = shards(files, columns, args, control)?;
        let problem = Problem::new(shards, model)?;
        Ok(Self { problem, names: with_bias(names, &model), seconds: begun.elapsed().as_secs_f64() })
    }

    /// The nodes of rank r of n are the r-th n-th of all; it reads their files and no others.
    pub(super) fn read_across(
        paths: &[PathBuf],
        args: &ConsensusProblemArguments,
        control: &Control,
        world: &dyn Collective,
    ) -> Result<Self> {
        let begun = Instant::now();
        let model = model(args)?;
        let nodes = args.shards_of.unwrap_or(paths.len());
        let (rank, ranks) = (world.rank(), world.ranks());
        if ranks > nodes {
            bail!("{ranks} ranks for {nodes} nodes: every rank needs one; use fewer ranks");
        }
        let own = rank * nodes / ranks..(rank + 1) * nodes / ranks;
        let paths = if args.shards_of.is_some() { paths } else { &paths[own.clone()] };
        let files = together(world, read_files(paths, args, control))?;
        let names = files[0].names.clone();
        let columns = columns_of_all(files[0].columns, names.as_deref(), world)?;
        let mut shards = together(world, shards(files, columns, args, control))?;
        if args.shards_of.is_some() {
            shards = shards.drain(own).collect();
        }
        let problem = Problem::across(shards, model, world)?;
        Ok(Self { problem, names: with_bias(names, &model), seconds: begun.elapsed().as_secs_f64() })
    }
}

/// Files as they are, of one kind.
fn read_files(paths: &[PathBuf], args: &ConsensusProblemArguments, control: &Control) -> Result<Vec<File>> {
    match args.shards_of {
        Some(count) if paths.len() != 1 => {
            let found = paths.len();
            bail!("--shards {count}: found {found} files, expected one whose rows are dealt to the nodes");
        }
        None if args.split.is_some() => {
            bail!("--split: expected --shards K with it: the number of nodes that the rows are dealt to");
        }
        _ => {}
    }
    let mut files = paths.iter().map(|path| File::read(path, args, control)).collect::<Result<Vec<_>>>()?;
    widen(&mut files)?;
    Ok(files)
}

/// The shards of all nodes that files have rows of, with so many columns.
fn shards(
    files: Vec<File>,
    columns: usize,
    args: &ConsensusProblemArguments,
    control: &Control,
) -> Result<Vec<Shard>> {
    let wide = |file: File| File { columns, ..file }.shard(control);
    let shards = files.into_iter().map(wide).collect::<Result<Vec<_>>>()?;
    Ok(match args.shards_of {
        Some(count) => shards[0].split(count, args.split.unwrap_or_default())?,
        None => shards,
    })
}

/// The columns of all ranks: those of tables must be the same, LIBSVM text has as many as the largest feature of all.
fn columns_of_all(columns: usize, names: Option<&[String]>, world: &dyn Collective) -> Result<usize> {
    // No name of a column has a line feed in it.
    let own = names.map_or_else(|| "LIBSVM text".into(), |names| format!("a table of {}", names.join("\n")));
    let first = &world.texts(&own)?[0];
    let shown = |text: &str| text.replace('\n', ", ");
    let complaint =
        (own != *first).then(|| format!("it has {}, expected {} as on rank 0", shown(&own), shown(first)));
    world.agree(complaint.as_deref())?;
    Ok(world.largest(columns as f64)? as usize)
}

fn with_bias(mut names: Option<Vec<String>>, model: &Model) -> Option<Vec<String>> {
    if let Some(names) = names.as_mut().filter(|_| model.bias) {
        names.push("bias".into());
    }
    names
}

/// The graph on so many nodes.
pub(super) fn graph(
    topology: &str,
    edges: Option<&Path>,
    seed: u64,
    nodes: usize,
    control: &Control,
) -> Result<(String, Graph)> {
    if let Some(file) = edges {
        let table = read_table(file, &TableOptions::default(), control)?;
        if table.columns() != 2 {
            let found = table.columns();
            bail!(
                "{}: found {found} columns, expected 2: the nodes that an edge joins, from 0",
                file.display()
            );
        }
        let end = |row: usize, column: usize| -> Result<usize> {
            let found = table.column(column)[row];
            if found < 0.0 || found.fract() != 0.0 || found >= nodes as f64 {
                let (row, last) = (row + 1, nodes.saturating_sub(1));
                bail!("{}: row {row}: found {found}, expected a node from 0 to {last}", file.display());
            }
            Ok(found as usize)
        };
        let list = (0..table.rows).map(|row| Ok((end(row, 0)?, end(row, 1)?))).collect::<Result<Vec<_>>>()?;
        let topology = Topology::Edges(list);
        let graph = Graph::new(&topology, nodes).with_context(|| file.display().to_string())?;
        return Ok((topology.to_string(), graph));
    }
    let choice = parse_topology(topology)?;
    if nodes == 1 {
        return Ok((choice.to_string(), Graph::single()));
    }
    let topology = choice.seeded(seed).resolve(nodes);
    Ok((topology.to_string(), Graph::new(&topology, nodes)?))
}

fn model(args: &ConsensusProblemArguments) -> Result<Model> {
    let Some(loss) = args.loss else { bail!("--loss is missing: ridge, logistic, lasso or hinge") };
    let only = |given: bool, option: &str, of: &str| -> Result<()> {
        if given {
            bail!("{option}: not for loss {loss}; it is for {of}");
        }
        Ok(())
    };
    only(args.l1.is_some() && loss != Loss::Lasso, "--l1", "lasso")?;
    only(args.cost.is_some() && loss != Loss::Hinge, "--cost", "hinge")?;
    only(args.bias && loss != Loss::Hinge, "--bias", "hinge")?;
    only(args.ridge.is_some() && loss == Loss::Hinge, "--ridge", "ridge, logistic and lasso")?;
    if loss == Loss::Lasso && args.l1.is_none() {
        bail!("--l1 is missing: the weight of the l1 norm, above 0");
    }
    let usual = Model::new(loss);
    Ok(Model {
        ridge: args.ridge.unwrap_or(usual.ridge),
        l1: args.l1.unwrap_or(usual.l1),
        cost: args.cost.unwrap_or(usual.cost),
        bias: args.bias,
        ..usual
    })
}

/// One file, as it was read.
struct File {
    path: PathBuf,
    names: Option<Vec<String>>,
    columns: usize,
    /// Starts, columns and values of rows, and what they are to explain.
    starts: Vec<usize>,
    indices: Vec<u32>,
    values: Option<Vec<f64>>,
    targets: Vec<f64>,
}

fn is_matrix(path: &Path) -> bool {
    path.extension().is_some_and(|ending| MATRICES.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

impl File {
    fn read(path: &Path, args: &ConsensusProblemArguments, control: &Control) -> Result<Self> {
        // Standard input has no name; a target is a column, which LIBSVM text has not.
        let is_piped_table = path.as_os_str() == "-" && args.target.is_some();
        if is_piped_table || ending::has(path, &TEXTS) || is_matrix(path) {
            return Self::of_table(path, args.target.as_deref(), control);
        }
        if let Some(target) = &args.target {
            if path.is_dir() {
                bail!("cannot read {}: it is a folder", path.display());
            }
            bail!(
                "--target {target}: {} is read as LIBSVM text, whose label is its target; names of tables end in {}",
                path.display(),
                TEXTS
                    .iter()
                    .chain(&MATRICES)
                    .map(|ending| format!(".{ending}"))
                    .collect::<Vec<_>>()
                    .join(", ")
            );
        }
        let read = read_path(path, ReadOptions::default(), control)?;
        if !args.quiet {
            read.notes.iter().for_each(|words| note(format_args!("note: {words}")));
        }
        let indices = read.indices.iter().map(|&column| read.features[column as usize] - 1).collect();
        Ok(Self {
            path: path.into(),
            names: None,
            columns: read.largest_feature as usize,
            starts: read.starts,
            indices,
            values: read.values,
            targets: read.labels,
        })
    }

    fn of_table(path: &Path, target: Option<&str>, control: &Control) -> Result<Self> {
        let mut table = read_table(path, &TableOptions::default(), control)?;
        let target = match target {
            Some(target) => target.to_owned(),
            None => table.names.last().cloned().unwrap_or_default(),
        };
        let targets = table.take(&target)?.values;
        let columns = table.columns();
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in 0..table.rows {
            for column in 0..columns {
                let value = table.column(column)[row];
                if value != 0.0 {
                    indices.push(column as u32);
                    values.push(value);
                }
            }
            starts.push(indices.len());
        }
        let (path, names) = (path.to_path_buf(), Some(table.names));
        Ok(Self { path, names, columns, starts, indices, values: Some(values), targets })
    }

    fn shard(self, control: &Control) -> Result<Shard> {
        control.check().map_err(equipoise_formats::Error::from)?;
        let rows = Rows::new(self.columns, self.starts, self.indices, self.values);
        Ok(Shard { rows: rows.with_context(|| self.path.display().to_string())?, targets: self.targets })
    }
}

/// Tables must have the same columns; LIBSVM text has as many as the largest feature of all.
fn widen(files: &mut [File]) -> Result<()> {
    let widest = files.iter().map(|file| file.columns).max().unwrap_or(0);
    let first = files[0].path.display().to_string();
    let (columns, names) = (files[0].columns, files[0].names.clone());
    for file in files {
        let path = file.path.display();
        match (&names, &file.names) {
            (Some(expected), Some(found)) => {
                if file.columns != columns {
                    let found = file.columns;
                    bail!(
                        "{path}: found {found} columns beside the target, expected {columns} as in {first}"
                    );
                }
                if let Some((a, b)) = found.iter().zip(expected).find(|(a, b)| a != b) {
                    bail!("{path}: found the column `{a}`, expected `{b}` as in {first}");
                }
            }
            (None, None) => file.columns = widest,
            _ => bail!("{path}: found a table beside LIBSVM text ({first}), expected files of one kind"),
        }
        if file.targets.is_empty() {
            bail!("{path}: found no rows, expected at least one; leave the shard out");
        }
    }
    Ok(())
}
