//! The methods against each other: seconds and updates to one accuracy, and how errors fall with the updates.
//! `benchmarks/methods/README.md` says what each part measures.

mod columns;
mod contenders;
mod data;
mod measure;
mod quadratics;
mod record;
pub(crate) mod report;
mod samples;
mod slopes;

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};

use crate::setup::{Setup, given, name_of};
use record::Record;

/// The most seconds of a run that is only to show that everything works.
const QUICK_LIMIT: f64 = 2.0;
/// Seeds of the problems.
const SEEDS: [u64; 3] = [1, 2, 3];
/// Runs of every method on every problem; long ones are not repeated.
const REPEATS: usize = 3;

/// What can be measured alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// Momentum: quadratics on ring, tree+ring and clique.
    Accelerated,
    /// Many samples of few dense features.
    Samples,
    /// Columns much denser than rows.
    Columns,
    /// Errors by updates, beside what is proven of them; no times.
    Slopes,
}

/// What to measure, and where the rows go.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The part.
    #[arg(long, value_enum)]
    part: Part,
    /// Folder of the record; rows are appended to its `methods.csv` and `slopes.csv`.
    #[arg(long)]
    out: PathBuf,
    /// Small problems, one seed, one run each: to see that everything works.
    #[arg(long)]
    quick: bool,
    /// Runs of every method on every problem.
    #[arg(long, value_name = "N")]
    repeats: Option<usize>,
    /// Seconds after which a run is given up; `stochastic` has a limit of its own.
    #[arg(long, default_value_t = 60.0, value_name = "SECONDS")]
    time_limit: f64,
    /// Seeds of the problems, in place of 1,2,3; for `slopes` those of the runs, in place of 1 to 20.
    #[arg(long, value_delimiter = ',', value_name = "SEEDS")]
    seeds: Option<Vec<u64>>,
    /// The commit that was built, for `setup.txt`.
    #[arg(long)]
    commit: Option<String>,
}

impl Arguments {
    /// Seconds after which a run is given up.
    fn limit(&self) -> f64 {
        if self.quick { self.time_limit.min(QUICK_LIMIT) } else { self.time_limit }
    }

    fn repeats(&self) -> usize {
        self.repeats.unwrap_or(if self.quick { 1 } else { REPEATS })
    }

    /// The seeds of the problems.
    fn seeds(&self) -> &[u64] {
        self.seeds.as_deref().unwrap_or(if self.quick { &SEEDS[..1] } else { &SEEDS })
    }

    fn setup(&self) -> Setup<'_> {
        Setup {
            part: name_of(&self.part),
            quick: self.quick,
            commit: self.commit.as_deref(),
            choices: vec![
                format!("repeats: {}; seeds: {}", self.repeats(), given(self.seeds.as_deref())),
                format!("time limit of a run: {} s", self.limit()),
            ],
        }
    }
}

/// Measures one part.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    ensure!(arguments.repeats() > 0 && !arguments.seeds().is_empty(), "at least one run and one seed");
    ensure!(arguments.time_limit > 0.0, "the time limit is a number above 0");
    if arguments.part == Part::Slopes {
        let mut record = slopes::record::Record::open(&arguments.out, arguments.commit.as_deref())?;
        arguments.setup().write(&arguments.out)?;
        return slopes::run(arguments, &mut record);
    }
    let mut record = Record::open(&arguments.out, arguments.commit.as_deref())?;
    arguments.setup().write(&arguments.out)?;
    match arguments.part {
        Part::Accelerated => quadratics::run(arguments, &mut record),
        Part::Samples => samples::run(arguments, &mut record),
        Part::Columns => columns::run(arguments, &mut record),
        Part::Slopes => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn parse(line: &str) -> Option<Arguments> {
        Line::try_parse_from(line.split_whitespace()).ok().map(|line| line.arguments)
    }

    #[test]
    fn a_part_has_its_own_seeds_and_repeats() {
        let arguments = parse("lab --part accelerated --out x").expect("known options");
        assert_eq!((arguments.repeats(), arguments.seeds(), arguments.limit()), (3, &[1, 2, 3][..], 60.0));
        let arguments = parse("lab --part slopes --out x --quick").expect("known options");
        assert_eq!((arguments.repeats(), arguments.seeds(), arguments.limit()), (1, &[1][..], 2.0));
    }

    #[test]
    fn others_are_used_when_given() {
        let line = "lab --part samples --out x --repeats 5 --seeds 4,6 --time-limit 7";
        let arguments = parse(line).expect("known options");
        assert_eq!((arguments.repeats(), arguments.seeds(), arguments.limit()), (5, &[4, 6][..], 7.0));
        assert!(parse("lab --part threads --out x").is_none());
        assert!(parse("lab --part samples").is_none());
    }
}
