//! What is to be run: experiments, scale, thread counts, seeds, data.

use std::path::PathBuf;

use anyhow::{Result, ensure};

use crate::experiments::Experiment;
use crate::store::cores;

/// The most threads of a plan.
const MOST_THREADS: usize = 64;
/// The most thread counts that are measured unless others are asked for.
const MOST_COUNTS: usize = 16;

/// How large the problems are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Minutes on two cores: smaller problems where threads are measured, everything else as in the paper.
    Quick,
    /// The sizes of the paper: an hour or more, and several gigabytes.
    Paper,
}

impl Scale {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Paper => "paper",
        }
    }
}

/// What is to be run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Which experiments, in order.
    pub experiments: Vec<Experiment>,
    /// How large the problems are.
    pub scale: Scale,
    /// Thread counts, ascending, the first 1.
    pub threads: Vec<usize>,
    /// How many seeds.
    pub seeds: u64,
    /// Folder with a7a and w8a.
    pub data: Option<PathBuf>,
}

impl Plan {
    /// With thread counts of the machine's cores, and seeds of the scale, where none are given.
    pub fn new(
        experiments: Vec<Experiment>,
        scale: Scale,
        threads: Option<Vec<usize>>,
        seeds: Option<u64>,
        data: Option<PathBuf>,
    ) -> Result<Self> {
        let mut threads = threads.unwrap_or_else(|| (1..=cores().min(MOST_COUNTS)).collect());
        ensure!(
            threads.iter().all(|count| (1..=MOST_THREADS).contains(count)),
            "--threads takes counts from 1 to {MOST_THREADS}, separated by commas; found {threads:?}"
        );
        // Speed-ups are those over one thread.
        threads.push(1);
        threads.sort_unstable();
        threads.dedup();
        let seeds = seeds.unwrap_or(match scale {
            Scale::Quick => 3,
            Scale::Paper => 10,
        });
        ensure!((1..=1000).contains(&seeds), "--seeds takes 1 to 1000; found {seeds}");
        let plan = Self { experiments, scale, threads, seeds, data };
        // What is missing is said before anything is written.
        plan.experiments.iter().try_for_each(|experiment| experiment.cells(&plan).map(drop))?;
        Ok(plan)
    }

    /// The largest thread count.
    pub fn most_threads(&self) -> usize {
        self.threads.last().copied().unwrap_or(1)
    }

    /// Whether the sizes are those of the paper.
    pub fn is_paper(&self) -> bool {
        self.scale == Scale::Paper
    }

    /// The command that makes the figures of an experiment.
    pub fn command(&self, experiment: Experiment) -> String {
        let counts: Vec<String> = self.threads.iter().map(ToString::to_string).collect();
        let data = self.data.as_ref().map_or(String::new(), |folder| format!(" --data {}", folder.display()));
        let threads = if matches!(experiment, Experiment::Concurrency | Experiment::Svm) {
            format!(" --threads {}", counts.join(","))
        } else {
            String::new()
        };
        let data = if experiment == Experiment::Svm { data } else { String::new() };
        format!(
            "equipoise lab {} --scale {}{threads} --seeds {}{data}",
            experiment.name(),
            self.scale.name(),
            self.seeds
        )
    }
}
