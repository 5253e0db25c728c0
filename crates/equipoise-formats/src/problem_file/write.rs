//! Writes a problem file that reads back to an equal [`ProblemFile`].
//!
//! Sparse matrices go to `.mtx` files, dense ones to `.npy`, long lists to `.csv`, all beside the
//! TOML; short lists stay inline. Tables that hold nothing but defaults are left out.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use equipoise::graph::TopologyChoice;
use equipoise::{BlockChoice, Locking, Method, ProbabilityChoice, Schedule};
use equipoise_theory::StepRule;

use super::output::{INLINE, Output, number};
use super::{Entry, GraphSpec, ProblemFile, SolveSpec, Term, coupling, separable};
use crate::whole_file::write_whole;
use crate::{Error, Result};

/// Writes `NAME.toml` and the files it names, `NAME-*`, into a folder, which is created if need
/// be. Returns the path of the TOML file. NaN in a problem is written, but equals nothing.
pub fn write_problem(folder: impl AsRef<Path>, name: &str, problem: &ProblemFile) -> Result<PathBuf> {
    let folder = folder.as_ref();
    fs::create_dir_all(folder).map_err(|reason| Error::writing(folder, &reason))?;
    let mut out = Output::new(folder, name);
    out.term("smooth", "smooth", &problem.smooth)?;
    out.term_unless(separable::DEFAULT, "separable", &problem.separable)?;
    out.term_unless(coupling::DEFAULT, "coupling", &problem.coupling)?;
    out.blocks(&problem.blocks)?;
    out.graph(&problem.graph)?;
    out.solve(&problem.solve);
    let path = folder.join(format!("{name}.toml"));
    write_whole(&path, |file| file.write_all(out.as_toml().as_bytes()))?;
    Ok(path)
}

impl Output<'_> {
    /// A term: `table` is its place in TOML, `stem` in file names.
    fn term(&mut self, table: &str, stem: &str, term: &Term) -> Result<()> {
        let header = if table.contains('.') { format!("[[{table}]]") } else { format!("[{table}]") };
        self.table(&header, stem);
        self.text("kind", term.kind());
        for (key, entry) in term.entries() {
            match entry {
                Entry::Number(value) => self.pair(key, number(*value)),
                Entry::Count(count) => self.whole(key, *count),
                Entry::List(list) => self.list(key, list)?,
                Entry::Matrix(matrix) => self.matrix(key, matrix)?,
                Entry::Rows(rows) => self.text(key, &rows.path().to_string_lossy()),
                Entry::Terms(_) => {}
            }
        }
        // Tables come after the keys of the table that they are in.
        for (key, entry) in term.entries() {
            let Entry::Terms(terms) = entry else { continue };
            let place = format!("{table}.{key}");
            for (index, inner) in terms.iter().enumerate() {
                self.term(&place, &format!("{stem}-{index}"), inner)?;
            }
        }
        Ok(())
    }

    /// A term, unless it is nothing but the default.
    fn term_unless(&mut self, default: &str, table: &str, term: &Term) -> Result<()> {
        if *term == Term::new(default) { Ok(()) } else { self.term(table, table, term) }
    }

    fn blocks(&mut self, blocks: &BlockChoice) -> Result<()> {
        match blocks {
            BlockChoice::Automatic => Ok(()),
            BlockChoice::Size(size) => {
                self.table("[blocks]", "blocks");
                self.pair("size", size);
                Ok(())
            }
            BlockChoice::Boundaries(boundaries) => {
                self.table("[blocks]", "blocks");
                let numbers: Vec<f64> = boundaries.iter().map(|&place| place as f64).collect();
                self.list("boundaries", &numbers)
            }
        }
    }

    fn graph(&mut self, graph: &GraphSpec) -> Result<()> {
        if *graph == GraphSpec::default() {
            return Ok(());
        }
        self.table("[graph]", "graph");
        match graph.topology.edges() {
            Some(edges) => self.edges(edges)?,
            None if graph.topology == TopologyChoice::default() => {}
            None => self.text("topology", &graph.topology.to_string()),
        }
        match &graph.probabilities {
            ProbabilityChoice::Uniform => Ok(()),
            ProbabilityChoice::Weighted(weights) => self.list("probabilities", weights),
            named => {
                self.text("probabilities", &named.to_string());
                Ok(())
            }
        }
    }

    fn edges(&mut self, edges: &[(usize, usize)]) -> Result<()> {
        if edges.len() > INLINE {
            return self.file("edges", "csv", |path| {
                write_whole(path, |out| edges.iter().try_for_each(|(i, j)| writeln!(out, "{i},{j}")))
            });
        }
        let pairs: Vec<String> = edges.iter().map(|(i, j)| format!("[{i}, {j}]")).collect();
        self.pair("edges", format_args!("[{}]", pairs.join(", ")));
        Ok(())
    }

    fn solve(&mut self, solve: &SolveSpec) {
        if *solve == SolveSpec::default() {
            return;
        }
        self.table("[solve]", "solve");
        let numbers = [
            ("tolerance", solve.tolerance),
            ("time-limit", solve.time_limit),
            ("step-size", solve.step_size),
        ];
        for (key, value) in numbers {
            if let Some(value) = value {
                self.pair(key, number(value));
            }
        }
        let counts = [
            ("max-epochs", solve.max_epochs),
            ("max-updates", solve.max_updates),
            ("seed", solve.seed),
            ("memory-budget", solve.memory_budget),
            ("threads", solve.threads),
            ("delay-us", solve.delay_us),
            ("batch", solve.batch),
        ];
        for (key, value) in counts {
            if let Some(value) = value {
                self.whole(key, value);
            }
        }
        let names = [
            ("method", solve.method.map(Method::name)),
            ("locking", solve.locking.map(Locking::name)),
            ("step-rule", solve.step_rule.map(StepRule::name)),
            ("schedule", solve.schedule.map(Schedule::name)),
        ];
        for (key, name) in names {
            if let Some(name) = name {
                self.text(key, name);
            }
        }
        if let Some(truth) = solve.deterministic {
            self.pair("deterministic", truth);
        }
    }
}
