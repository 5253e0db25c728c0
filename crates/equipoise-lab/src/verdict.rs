//! What was wanted, beside what was reached.

use std::fmt::Write;

use crate::table::figure;

/// One line of the table.
#[derive(Debug, PartialEq)]
pub(crate) struct Verdict {
    pub(crate) what: String,
    pub(crate) wanted: String,
    pub(crate) reached: String,
    /// Nothing where it was not measured.
    pub(crate) met: Option<bool>,
}

/// Runs of a case, and how many of them reached their target.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tally {
    pub(crate) runs: usize,
    pub(crate) reached: usize,
}

impl Verdict {
    pub(crate) fn new(what: String, wanted: String, reached: Option<String>, met: Option<bool>) -> Self {
        Self { what, wanted, reached: reached.unwrap_or_else(|| "not measured".into()), met }
    }

    /// "N times" or more.
    pub(crate) fn times(what: String, least: f64, reached: Option<f64>) -> Self {
        let text = reached.map(|times| format!("{}x", figure(times)));
        Self::new(what, format!("at least {least}x"), text, reached.map(|times| times >= least))
    }

    /// A median says nothing of the runs that missed their target: one such run and nothing is met.
    pub(crate) fn of(mut self, tally: Option<Tally>) -> Self {
        if let Some(Tally { runs, reached }) = tally.filter(|tally| tally.reached < tally.runs) {
            let missed = format!("{} of {runs} runs missed the target", runs - reached);
            self.reached = format!("{} ({missed})", self.reached);
            self.met = Some(false);
        }
        self
    }
}

/// The lines as a table.
pub(crate) fn table(out: &mut String, lines: &[Verdict]) {
    out.push_str("\n## Wanted and reached\n\n| what | wanted | reached | met |\n|---|---|---|---|\n");
    for line in lines {
        let met = line.met.map_or("-", |met| if met { "yes" } else { "**no**" });
        let _ = writeln!(out, "| {} | {} | {} | {met} |", line.what, line.wanted, line.reached);
    }
}
