//! Writes a problem file that reads back to an equal [`ProblemFile`].
//!
//! Sparse matrices go to `.mtx` files, dense ones to `.npy`, long lists to `.csv`, all beside the
//! TOML; short lists stay inline. Tables that hold nothing but defaults are left out.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::output::{INLINE, Output, number};
use super::spec::{
    BlocksSpec, CouplingSpec, GraphSpec, LossSpec, NumberOrList, ProbabilitiesSpec, ProblemFile,
    SeparableSpec, SmoothSpec, SolveSpec,
};
use crate::numbers::{MatrixData, write_file};
use crate::{Error, Result};

/// Writes `NAME.toml` and the files it names, `NAME-*`, into a folder, which is created if need
/// be. Returns the path of the TOML file. NaN in a problem is written, but equals nothing.
pub fn write_problem(folder: impl AsRef<Path>, name: &str, problem: &ProblemFile) -> Result<PathBuf> {
    let folder = folder.as_ref();
    fs::create_dir_all(folder).map_err(|reason| Error::writing(folder, &reason))?;
    let mut out = Output::new(folder, name);
    out.smooth("smooth", "smooth", &problem.smooth)?;
    out.separable(&problem.separable)?;
    out.coupling(&problem.coupling)?;
    out.blocks(&problem.blocks)?;
    out.graph(&problem.graph)?;
    out.solve(&problem.solve);
    let path = folder.join(format!("{name}.toml"));
    write_file(&path, |file| file.write_all(out.as_toml().as_bytes()))?;
    Ok(path)
}

impl Output<'_> {
    /// f, or a term of it: `table` is its place in TOML, `stem` in file names.
    fn smooth(&mut self, table: &str, stem: &str, smooth: &SmoothSpec) -> Result<()> {
        let header = if table == "smooth" { format!("[{table}]") } else { format!("[[{table}]]") };
        self.table(&header, stem);
        match smooth {
            SmoothSpec::Quadratic { matrix, factor, linear } => {
                self.text("kind", "quadratic");
                for (key, matrix) in [("matrix", matrix), ("factor", factor)] {
                    matrix.as_ref().map_or(Ok(()), |matrix| self.matrix(key, matrix))?;
                }
                self.optional_list("linear", linear.as_ref())
            }
            SmoothSpec::LeastSquares { matrix, target, weights } => {
                self.loss("least-squares", matrix, target, weights.as_ref())
            }
            SmoothSpec::Logistic { matrix, target, weights } => {
                self.loss("logistic", matrix, target, weights.as_ref())
            }
            SmoothSpec::SquaredHinge { matrix, target, weights } => {
                self.loss("squared-hinge", matrix, target, weights.as_ref())
            }
            SmoothSpec::Huber { matrix, target, weights, delta } => {
                self.loss("huber", matrix, target, weights.as_ref())?;
                self.pair("delta", number(*delta));
                Ok(())
            }
            SmoothSpec::Streamed { loss, rows, target, weights } => {
                let (kind, delta) = match loss {
                    LossSpec::LeastSquares => ("least-squares", None),
                    LossSpec::Logistic => ("logistic", None),
                    LossSpec::SquaredHinge => ("squared-hinge", None),
                    LossSpec::Huber { delta } => ("huber", Some(delta)),
                };
                self.text("kind", kind);
                self.text("matrix", &rows.path().to_string_lossy());
                self.optional_list("target", target.as_ref())?;
                if let Some(delta) = delta {
                    self.pair("delta", number(*delta));
                }
                self.optional_list("weights", weights.as_ref())
            }
            SmoothSpec::Distance { target, weight } => {
                self.text("kind", "distance");
                self.list("target", target)?;
                self.number_or_list("weight", weight)
            }
            SmoothSpec::Linear { linear } => {
                self.text("kind", "linear");
                self.list("linear", linear)
            }
            SmoothSpec::Synthetic { nodes, block, rows, seed } => {
                self.text("kind", "synthetic");
                self.line(format_args!("nodes = {nodes}\nblock = {block}\nrows = {rows}"));
                self.whole("seed", *seed);
                Ok(())
            }
            SmoothSpec::Sum { terms } => {
                self.text("kind", "sum");
                let place = format!("{table}.terms");
                let mut term = |(index, term)| self.smooth(&place, &format!("{stem}-{index}"), term);
                terms.iter().enumerate().try_for_each(&mut term)
            }
        }
    }

    fn loss(
        &mut self,
        kind: &str,
        matrix: &MatrixData,
        target: &[f64],
        weights: Option<&Vec<f64>>,
    ) -> Result<()> {
        self.text("kind", kind);
        self.matrix("matrix", matrix)?;
        self.list("target", target)?;
        self.optional_list("weights", weights)
    }

    fn separable(&mut self, separable: &SeparableSpec) -> Result<()> {
        const TABLE: &str = "separable";
        match separable {
            SeparableSpec::Zero => {}
            SeparableSpec::NonNegative => self.kind(TABLE, "non-negative"),
            SeparableSpec::Box { lower, upper } => {
                self.kind(TABLE, "box");
                self.bounds(lower.as_ref(), upper.as_ref())?;
            }
            SeparableSpec::L1 { weight } => {
                self.kind(TABLE, "l1");
                self.number_or_list("weight", weight)?;
            }
            SeparableSpec::ElasticNet { l1, l2 } => {
                self.kind(TABLE, "elastic-net");
                self.number_or_list("l1", l1)?;
                self.number_or_list("l2", l2)?;
            }
            SeparableSpec::L1Box { weight, lower, upper } => {
                self.kind(TABLE, "l1-box");
                self.number_or_list("weight", weight)?;
                self.bounds(lower.as_ref(), upper.as_ref())?;
            }
            SeparableSpec::GroupL2 { weight } => {
                self.kind(TABLE, "group-l2");
                self.number_or_list("weight", weight)?;
            }
        }
        Ok(())
    }

    fn bounds(&mut self, lower: Option<&NumberOrList>, upper: Option<&NumberOrList>) -> Result<()> {
        lower.map_or(Ok(()), |lower| self.number_or_list("lower", lower))?;
        upper.map_or(Ok(()), |upper| self.number_or_list("upper", upper))
    }

    fn coupling(&mut self, coupling: &CouplingSpec) -> Result<()> {
        const TABLE: &str = "coupling";
        match coupling {
            CouplingSpec::None => {}
            CouplingSpec::Sum { rhs } => {
                self.kind(TABLE, "sum");
                self.number_or_list("rhs", rhs)?;
            }
            CouplingSpec::Row { weights, rhs } => {
                self.kind(TABLE, "row");
                self.list("weights", weights)?;
                self.pair("rhs", number(*rhs));
            }
            CouplingSpec::Rows { matrix, rhs } => {
                self.kind(TABLE, "rows");
                self.matrix("matrix", matrix)?;
                self.list("rhs", rhs)?;
            }
        }
        Ok(())
    }

    fn blocks(&mut self, blocks: &BlocksSpec) -> Result<()> {
        match blocks {
            BlocksSpec::Auto => Ok(()),
            BlocksSpec::Size(size) => {
                self.table("[blocks]", "blocks");
                self.pair("size", size);
                Ok(())
            }
            BlocksSpec::Boundaries(boundaries) => {
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
        if let Some(topology) = &graph.topology {
            self.text("topology", topology);
        }
        if let Some(edges) = &graph.edges {
            self.edges(edges)?;
        }
        match &graph.probabilities {
            ProbabilitiesSpec::Uniform => Ok(()),
            ProbabilitiesSpec::Lipschitz => {
                self.text("probabilities", "lipschitz");
                Ok(())
            }
            ProbabilitiesSpec::Equalised => {
                self.text("probabilities", "equalised");
                Ok(())
            }
            ProbabilitiesSpec::Weights(weights) => self.list("probabilities", weights),
        }
    }

    fn edges(&mut self, edges: &[(usize, usize)]) -> Result<()> {
        if edges.len() > INLINE {
            return self.file("edges", "csv", |path| {
                write_file(path, |out| edges.iter().try_for_each(|(i, j)| writeln!(out, "{i},{j}")))
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
            ("method", &solve.method),
            ("locking", &solve.locking),
            ("step-rule", &solve.step_rule),
            ("schedule", &solve.schedule),
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
