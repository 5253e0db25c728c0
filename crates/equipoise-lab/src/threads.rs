//! Several threads: runs of the paper's experiments and of the support vector machines at many thread counts, each
//! against the best code for one thread. `benchmarks/threads/README.md` says what each part measures.

mod bare;
mod data;
mod measure;
mod pairs;
mod plan;
mod protocols;
mod record;
pub(crate) mod report;
mod synthetic;
mod violating;

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};

use plan::Selection;
use record::Record;

use crate::setup::{Setup, given, name_of};

/// The most seconds of a run that is only to show that everything works.
const QUICK_LIMIT: f64 = 5.0;

/// What can be measured alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// The bare loop: memory read as the updates of `full-tree` read it.
    Bare,
    /// The paper's synthetic problem on tree+ring, and the bare loop.
    FullTree,
    /// The same on star+ring.
    FullStar,
    /// A smaller one at every thread count and level of locking.
    Sweep,
    /// The paper's experiment with support vector machines.
    SvmPairs,
    /// Training by violating pairs.
    Violating,
    /// Protocols of updates.
    Protocols,
}

/// What to measure, and where the rows go.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The part.
    #[arg(long, value_enum)]
    part: Part,
    /// Folder of the record; rows are appended to its `threads.csv`.
    #[arg(long)]
    out: PathBuf,
    /// Small problems, one and two threads, one run each: to see that everything works.
    #[arg(long)]
    quick: bool,
    /// Thread counts in place of the part's own.
    #[arg(long, value_delimiter = ',', value_name = "COUNTS")]
    threads_list: Option<Vec<usize>>,
    /// Runs of every case, in place of the part's own numbers.
    #[arg(long, value_name = "N")]
    repeats: Option<usize>,
    /// Only these delays (microseconds).
    #[arg(long, value_delimiter = ',', value_name = "DELAYS")]
    delays: Option<Vec<u64>>,
    /// Only these: one-thread (the baseline), double, single, none.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    locking: Option<Vec<String>>,
    /// Only these graphs, for `sweep`: tree+ring, star+ring.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    topologies: Option<Vec<String>>,
    /// Only these sets, for the support vector machines: a7a, w8a, generated.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    sets: Option<Vec<String>>,
    /// Folder with a7a and w8a as LIBSVM text, or with a folder `classification` that has them.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Seconds after which a run is given up.
    #[arg(long, default_value_t = 240.0)]
    time_limit: f64,
    /// The commit that was built, for `setup.txt`.
    #[arg(long)]
    commit: Option<String>,
}

impl Arguments {
    fn selection(&self) -> Selection<'_> {
        Selection {
            quick: self.quick,
            threads: self.threads_list.as_deref(),
            repeats: self.repeats,
            delays: self.delays.as_deref(),
            codes: self.locking.as_deref(),
        }
    }

    /// What `setup.txt` is told.
    fn setup(&self) -> Setup<'_> {
        let repeats = self.repeats.map(|repeats| [repeats]);
        let [delays, locking] = [given(self.delays.as_deref()), given(self.locking.as_deref())];
        let [graphs, sets] = [given(self.topologies.as_deref()), given(self.sets.as_deref())];
        Setup {
            part: name_of(&self.part),
            quick: self.quick,
            commit: self.commit.as_deref(),
            choices: vec![
                format!("thread counts: {}", given(self.threads_list.as_deref())),
                format!("repeats: {}", given(repeats.as_ref().map(|repeats| &repeats[..]))),
                format!("delays: {delays}; locking: {locking}; graphs: {graphs}; sets: {sets}"),
                format!("time limit of a run: {} s", self.limit()),
            ],
        }
    }

    /// Seconds after which a run is given up.
    fn limit(&self) -> f64 {
        if self.quick { self.time_limit.min(QUICK_LIMIT) } else { self.time_limit }
    }

    /// Whether a graph or set is asked for by name, or no names are given.
    fn wants(names: Option<&[String]>, name: &str) -> bool {
        names.is_none_or(|names| names.iter().any(|wanted| wanted == name))
    }
}

/// Measures one part.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let counts = arguments.threads_list.as_deref().unwrap_or(&[1]);
    ensure!(!counts.is_empty() && !counts.contains(&0), "thread counts start at 1");
    arguments.selection().check()?;
    let mut record = Record::open(&arguments.out, arguments.commit.as_deref(), arguments.limit())?;
    arguments.setup().write(&arguments.out)?;
    match arguments.part {
        Part::Bare => bare::run(arguments, &mut record),
        Part::FullTree => {
            bare::run(arguments, &mut record)?;
            synthetic::full(arguments, "full-tree", "tree+ring", &mut record)
        }
        Part::FullStar => synthetic::full(arguments, "full-star", "star+ring", &mut record),
        Part::Sweep => synthetic::sweep(arguments, &mut record),
        Part::SvmPairs => pairs::run(arguments, &mut record),
        Part::Violating => violating::run(arguments, &mut record),
        Part::Protocols => protocols::run(arguments, &mut record),
    }
}
