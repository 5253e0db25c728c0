//! The experiments: which cells each has, how one is run, what is shown of them and which claims they test.

mod cluster;
mod cluster_show;
mod concurrency;
mod methods;
mod svm;
mod svm_data;
mod svm_peers;
mod theory;
mod theory_show;
mod topologies;

use anyhow::Result;
use equipoise::Control;
use equipoise_report::Section;

use crate::cell::{Cell, Outcome, Record};
use crate::claims::Claim;
use crate::plan::Plan;

/// What can be run alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Experiment {
    /// Figure 1: the graph decides how fast pairs converge.
    Topologies,
    /// Figure 2: several threads and levels of locking.
    Concurrency,
    /// Figure 3 and Table 2: support vector machines.
    Svm,
    /// The theorems: promised beside seen.
    Theory,
    /// Plain, accelerated and sampled pairs on shared problems.
    Methods,
    /// Ranks and nodes on more machines than there are here, by a model.
    Cluster,
}

impl Experiment {
    /// In the order of the paper.
    pub const ALL: &'static [Self] =
        &[Self::Topologies, Self::Concurrency, Self::Svm, Self::Theory, Self::Methods, Self::Cluster];

    /// Its name on the command line and in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Topologies => "topologies",
            Self::Concurrency => "concurrency",
            Self::Svm => "svm",
            Self::Theory => "theory",
            Self::Methods => "methods",
            Self::Cluster => "cluster",
        }
    }

    /// Its cells.
    pub(crate) fn cells(self, plan: &Plan) -> Result<Vec<Cell>> {
        Ok(match self {
            Self::Topologies => topologies::cells(plan),
            Self::Concurrency => concurrency::cells(plan),
            Self::Svm => svm::cells(plan)?,
            Self::Theory => theory::cells(plan),
            Self::Methods => methods::cells(plan),
            Self::Cluster => cluster::cells(plan),
        })
    }

    /// Runs one of them.
    pub(crate) fn run(self, plan: &Plan, cell: &Cell, control: &Control) -> Result<Outcome> {
        match self {
            Self::Topologies => topologies::run(plan, cell, control),
            Self::Concurrency => concurrency::run(plan, cell, control),
            Self::Svm => svm::run(plan, cell, control),
            Self::Theory => theory::run(cell, control),
            Self::Methods => methods::run(plan, cell, control),
            Self::Cluster => cluster::run(plan, cell, control),
        }
    }

    /// What is shown of its records.
    pub(crate) fn section(self, plan: &Plan, records: &[&Record]) -> Section {
        let command = plan.command(self);
        match self {
            Self::Topologies => topologies::section(records, &command),
            Self::Concurrency => concurrency::section(plan, records, &command),
            Self::Svm => svm::section(records, &command),
            Self::Theory => theory_show::section(records, &command),
            Self::Methods => methods::section(records, &command),
            Self::Cluster => cluster_show::section(records, &command),
        }
    }

    /// The claims that its records test.
    pub(crate) fn claims(self, plan: &Plan, records: &[&Record]) -> Vec<Claim> {
        match self {
            Self::Topologies => topologies::claims(records),
            Self::Concurrency => concurrency::claims(plan, records),
            Self::Svm => svm::claims(plan, records),
            Self::Theory => theory_show::claims(records),
            Self::Methods => methods::claims(records),
            Self::Cluster => cluster_show::claims(records),
        }
    }
}

/// The records with these settings.
pub(crate) fn those<'a>(records: &[&'a Record], wanted: &[(&str, &str)]) -> Vec<&'a Record> {
    let fits = |record: &&&Record| wanted.iter().all(|(name, value)| record.cell.get(name) == *value);
    records.iter().filter(fits).copied().collect()
}

/// A number in the fewest digits that say enough.
pub(crate) fn short(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        "\u{2013}".into()
    } else if value == 0.0 {
        "0".into()
    } else if (1e-2..1e4).contains(&size) {
        let digits = (2.0 - size.log10().floor()).clamp(0.0, 4.0) as usize;
        let text = format!("{value:.digits$}");
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    } else {
        format!("{value:.1e}")
    }
}
