//! The command line as typed. Meaning and ranges are checked later, by those who use the values.
//!
//! Defaults that a help text quotes are the library's own.

mod allocate;
mod checkpoint;
mod consensus;
mod constrained;
mod fused;
mod generate;
mod lab;
mod lasso;
mod multicore;
mod portfolio;
mod solve;
mod svm;
mod values;

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser};
use equipoise::Named;

pub(crate) use allocate::{
    AllocateArguments, AllocateCommand, AllocateRunArguments, AllocateVerifyArguments, AskedArguments,
};
pub(crate) use checkpoint::Checkpointing;
pub(crate) use consensus::{
    ConsensusArguments, ConsensusCommand, ConsensusFitArguments, ConsensusProblemArguments,
    ConsensusVerifyArguments,
};
pub(crate) use constrained::{
    ConstrainedArguments, ConstrainedCommand, FitArguments, ProblemArguments, TableArguments,
    VerifyFitArguments,
};
pub(crate) use fused::{
    Fitting, FusedArguments, FusedCommand, FusedFitArguments, FusedPathArguments, FusedVerifyArguments,
};
pub(crate) use generate::{Data, Destination, GenerateArguments, Kind, Size};
pub(crate) use lab::{DemoArguments, LabArguments, LabExperiment, LabScale, ReportArguments};
pub(crate) use lasso::{
    LassoArguments, LassoCommand, LassoCvArguments, LassoFitArguments, LassoPathArguments,
    LassoPredictArguments, LassoVerifyArguments, ManyLambdas, OneLambda, OutputArguments,
    RegressionArguments, StabilityArguments,
};
pub(crate) use multicore::Multicore;
pub(crate) use portfolio::{
    MarketArguments, PortfolioArguments, PortfolioCommand, PortfolioSolveArguments, PortfolioVerifyArguments,
};
pub(crate) use solve::SolveArguments;
pub(crate) use svm::{
    CheckArguments, Costs, CvArguments, PathArguments, PredictArguments, SvmArguments, SvmCommand,
    TableChoice, TrainArguments, Training,
};

const ABOUT: &str = "Certified solver for convex problems under linear coupling constraints:\n\
                     minimise f(x) + h(x) subject to A x = b";

const EXAMPLES: &str = "\
EXAMPLES
  equipoise demo                                      see it work, no files needed; writes a page
  equipoise generate lasso --size 500 --out my-lasso  make a problem with known optimum
  equipoise solve my-lasso/problem.toml --out x.json  solve it
  equipoise verify my-lasso/problem.toml x.json       check the answer, trusting nobody
  equipoise svm train a9a --model a9a.json            train a support vector machine
  equipoise constrained fit units.csv --target west --simplex  weights of a synthetic control
  equipoise allocate case.m --plot merit.svg          dispatch generators at least cost
  equipoise fused fit signal.csv --lambda 2           find the steps in a signal
  equipoise portfolio prices.csv --frontier 50        the least risk for every return

EXIT STATUS
  0  converged, or the certificate is met
  1  finished without converging, or the certificate is not met
  2  error
  130  interrupted before there was a result";

/// `equipoise`.
#[derive(Debug, Parser)]
#[command(name = "equipoise", version, long_version = crate::version::long(), about = ABOUT, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: crate::Command,
}

pub(crate) const COMPLETIONS_EXAMPLES: &str = "\
EXAMPLES
  equipoise completions bash > ~/.local/share/bash-completion/completions/equipoise
  equipoise completions fish > ~/.config/fish/completions/equipoise.fish";

pub(crate) const MAN_EXAMPLES: &str = "\
EXAMPLES
  equipoise man ~/.local/share/man/man1
  equipoise man pages && man -l pages/equipoise-svm-train.1";

const VERIFY_EXAMPLES: &str = "\
EXAMPLES
  equipoise verify problem.toml x.json
  equipoise verify problem.toml x.json --tolerance 1e-8 --json

The certificate is met when x is in the domain of h, every row of Ax = b holds up to 1e-9 of its
own terms, and the duality gap, proven in exact arithmetic, is within T (1 + |objective|); where a
term has no conjugate an estimate stands in for it.
Exit status: 0 met, 1 not met, 2 error.";

/// `equipoise verify`.
#[derive(Debug, Args)]
#[command(after_help = VERIFY_EXAMPLES)]
pub(crate) struct VerifyArguments {
    /// The problem
    #[arg(value_name = "PROBLEM.toml")]
    pub(crate) problem: PathBuf,
    /// The solution: what `solve --out` wrote, or any JSON object with a list `x`
    #[arg(value_name = "SOLUTION.json")]
    pub(crate) solution: PathBuf,
    #[arg(long, value_name = "T", allow_hyphen_values = true, help = solve::tolerance_help())]
    pub(crate) tolerance: Option<f64>,
    /// Print the certificate as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

const GRAPH_EXAMPLES: &str = "\
TOPOLOGIES
  ring  clique  star  star+ring  tree+ring  tree  wheel
  grid or grid:ROWSxCOLUMNS
  erdos-renyi or erdos-renyi:PROBABILITY
  random-regular or random-regular:DEGREE

EXAMPLES
  equipoise graph star+ring 24
  equipoise graph random-regular:4 1000 --seed 7 --json
  equipoise graph tree+ring 1000 --theory

Exit status: 0 connected, 1 disconnected (no problem can be solved over it), 2 error.";

/// `equipoise graph`.
#[derive(Debug, Args)]
#[command(after_help = GRAPH_EXAMPLES)]
pub(crate) struct GraphArguments {
    /// The shape, perhaps with a parameter after a colon
    pub(crate) topology: String,
    /// The number of nodes
    #[arg(value_name = "N", value_parser = values::count::<usize>)]
    pub(crate) nodes: usize,
    /// Seed of random topologies
    #[arg(long, value_name = "S", value_parser = values::count::<u64>, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Add what the theorems say: constants, predicted updates, steps under delay
    #[arg(long)]
    pub(crate) theory: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads a value by its name; the help lists the names.
fn by_name<T: Named + Send + Sync>() -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(T::ALL.iter().map(|(name, _)| *name)).try_map(|name| T::of_name(&name))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use equipoise::Settings;
    use equipoise::graph::Topology;
    use equipoise_models::svm::TrainSettings;
    use equipoise_theory::Delayed;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }

    /// Lines of examples and notes that are longer than what help is wrapped at would break raggedly.
    #[test]
    fn notes_of_help_are_at_most_98_wide() {
        fn look(command: &clap::Command, path: &str, long: &mut Vec<String>) {
            let path = format!("{path} {}", command.get_name());
            let notes = [command.get_after_help(), command.get_after_long_help(), command.get_before_help()];
            for note in notes.into_iter().flatten() {
                let text = note.to_string();
                let wide = text.lines().filter(|line| line.chars().count() > 98);
                long.extend(wide.map(|line| format!("{path}: {line}")));
            }
            command.get_subcommands().for_each(|below| look(below, &path, long));
        }
        let mut long = Vec::new();
        look(&Arguments::command(), "", &mut long);
        assert!(long.is_empty(), "{long:#?}");
    }

    #[test]
    fn help_quotes_the_defaults_of_the_library() {
        let mut command = Arguments::command();
        let help = |name: &str, command: &mut clap::Command| {
            let found = command.find_subcommand_mut(name).expect("a subcommand");
            found.render_long_help().to_string()
        };
        let default = Settings::default();
        let tolerance = format!("[default: {:e}]", default.tolerance);
        for name in ["solve", "verify"] {
            let text = help(name, &mut command);
            assert!(text.contains(&tolerance), "{text}");
        }
        let text = help("solve", &mut command);
        assert_eq!((default.max_updates, default.max_epochs, default.time_limit), (None, None, None));
        assert_eq!(text.matches("[default: no limit]").count(), 3, "{text}");
        assert!(text.contains("[default: auto]") && text.contains("[default: 0]"), "{text}");
        let quoted = [
            ("--memory-budget <SIZE>", format!("{}MiB", default.memory_budget >> 20)),
            ("--threads <N>", default.threads.to_string()),
            ("--locking <LOCKING>", default.locking.to_string()),
            ("--delay-us <D>", Delayed::default().delay_us().to_string()),
            ("--step-rule <STEP_RULE>", Delayed::default().rule().to_string()),
            ("--schedule <SCHEDULE>", default.schedule.to_string()),
            ("--batch <N>", default.batch.to_string()),
        ];
        for (option, value) in quoted {
            assert_eq!(quoted_default(&text, option), Some(value.as_str()), "{option}");
        }
        assert!(text.contains("--deterministic") && !default.deterministic, "{text}");
    }

    /// The default that a help text quotes for an option.
    fn quoted_default<'a>(text: &'a str, option: &str) -> Option<&'a str> {
        let after = text.split(option).nth(1).expect("the option is listed");
        after.split("[default: ").nth(1).and_then(|text| text.split(']').next())
    }

    #[test]
    fn help_of_svm_quotes_the_defaults_of_the_library() {
        let mut command = Arguments::command();
        let svm = command.find_subcommand_mut("svm").expect("a subcommand");
        let default = TrainSettings::default();
        for name in ["train", "cv", "path"] {
            let text = svm.find_subcommand_mut(name).expect("a subcommand").render_long_help().to_string();
            let quoted = [
                ("--gap <T>", format!("{:e}", default.gap)),
                ("--cost <C>", default.cost.to_string()),
                ("--nu <V>", default.nu.to_string()),
                ("--epsilon <V>", default.epsilon.to_string()),
                ("--threads <N>", default.threads.to_string()),
                ("--locking <LOCKING>", default.locking.to_string()),
                ("--delay-us <D>", Delayed::default().delay_us().to_string()),
                ("--step-rule <STEP_RULE>", Delayed::default().rule().to_string()),
                ("--seed <N>", default.seed.to_string()),
                ("--kind <KIND>", default.kind.name().into()),
                ("--loss <LOSS>", default.loss.name().into()),
                ("--time-limit <S>", "no limit".into()),
                ("--max-epochs <N>", "no limit".into()),
            ];
            for (option, value) in quoted {
                assert_eq!(quoted_default(&text, option), Some(value.as_str()), "{option} of {name}");
            }
        }
    }

    #[test]
    fn help_names_every_topology() {
        for name in Topology::NAMES {
            assert!(GRAPH_EXAMPLES.split_whitespace().any(|word| word == *name), "{name}");
        }
    }
}
