//! `equipoise lab`: the experiments of the paper, run, recorded and shown on one page.

use std::fmt::Write;
use std::time::Duration;

use anyhow::Result;
use equipoise_experiments::{Cell, Experiment, Plan, Scale, Store, Summary, Watcher, run as run_plan};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::{LabArguments, LabExperiment, LabScale};
use crate::exit::{self, Outcome};
use crate::interrupt::Interrupt;

pub(crate) fn run(args: &LabArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let experiments = match args.experiment {
        LabExperiment::Topologies => vec![Experiment::Topologies],
        LabExperiment::Concurrency => vec![Experiment::Concurrency],
        LabExperiment::Svm => vec![Experiment::Svm],
        LabExperiment::Theory => vec![Experiment::Theory],
        LabExperiment::Methods => vec![Experiment::Methods],
        LabExperiment::Cluster => vec![Experiment::Cluster],
        LabExperiment::All => Experiment::ALL.to_vec(),
    };
    let scale = match args.scale {
        LabScale::Quick => Scale::Quick,
        LabScale::Paper => Scale::Paper,
    };
    let plan = Plan::new(experiments, scale, args.threads.clone(), args.seeds, args.data.clone())?;
    let store = Store::open(&args.out, crate::version::commit())?;
    let mut bar = Bar { line: None, quiet: args.quiet };
    let summary = run_plan(&plan, &store, &mut bar, &interrupt.control);
    bar.clear();
    let summary = summary?;
    if !args.quiet {
        exit::print(&words(&summary))?;
    }
    Ok(Outcome::Met)
}

fn words(summary: &Summary) -> String {
    let widest = summary.claims.iter().map(|claim| claim.name.len()).max().unwrap_or(0);
    let mut text = String::from("Claims of the paper\n");
    for claim in &summary.claims {
        let found = claim.found.replace("**", "");
        let _ = writeln!(text, "  {:widest$}  {:<15}  {found}", claim.name, claim.verdict.words());
    }
    text + &format!(
        "\n{} cells run now, {} found in records\npage     {}\nfigures  {} in {}\n",
        summary.ran,
        summary.found,
        summary.page.display(),
        summary.figures,
        summary.page.with_file_name("figures").display()
    )
}

/// How far, what, and how long it will still take.
struct Bar {
    line: Option<ProgressBar>,
    quiet: bool,
}

impl Bar {
    fn clear(&mut self) {
        if let Some(line) = self.line.take() {
            line.finish_and_clear();
        }
    }
}

impl Watcher for Bar {
    fn begin(&mut self, cells: usize, found: usize, weight: u64) {
        if self.quiet {
            return;
        }
        if found > 0 {
            exit::note(format_args!("{found} of {cells} cells are recorded already"));
        }
        let line = ProgressBar::with_draw_target(Some(weight), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template(
            "{spinner} [{bar:30}] {percent:>3} %  {elapsed} gone, {eta} to go  {wide_msg}",
        ) {
            line.set_style(style.progress_chars("=> "));
        }
        line.enable_steady_tick(Duration::from_millis(100));
        self.line = Some(line);
    }

    fn cell(&mut self, cell: &Cell) {
        if let Some(line) = &self.line {
            let settings: Vec<&str> = cell
                .settings
                .iter()
                .filter(|(name, _)| *name != "scale")
                .map(|(_, value)| value.as_str())
                .collect();
            line.set_message(format!("{}: {}, seed {}", cell.experiment, settings.join(", "), cell.seed));
        }
    }

    fn done(&mut self, cell: &Cell) {
        if let Some(line) = &self.line {
            line.inc(cell.weight);
        }
    }
}
