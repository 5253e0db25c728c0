//! A claim of the paper, in words, with the statistic that tests it and what became of it.

use equipoise_report::{Cell, Table, Verdict};
use serde::Serialize;

/// One claim.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Claim {
    /// A name for it.
    pub name: String,
    /// What the paper says.
    pub says: String,
    /// The statistic that tests it, and when it counts as reproduced.
    pub test: String,
    /// The numbers of this run.
    pub found: String,
    /// What became of it.
    #[serde(serialize_with = "as_words")]
    pub verdict: Verdict,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn as_words<S: serde::Serializer>(verdict: &Verdict, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(verdict.words())
}

impl Claim {
    /// A claim that nothing is known of yet.
    pub fn new(name: &str, says: &str, test: &str) -> Self {
        let [name, says, test] = [name, says, test].map(str::to_owned);
        Self { name, says, test, found: "its cells were not run".into(), verdict: Verdict::Untested }
    }

    /// With numbers; reproduced where the condition holds.
    #[must_use]
    pub fn judged(self, holds: bool, found: String) -> Self {
        self.with(if holds { Verdict::Reproduced } else { Verdict::NotReproduced }, found)
    }

    /// With numbers and a verdict.
    #[must_use]
    pub fn with(self, verdict: Verdict, found: String) -> Self {
        Self { found, verdict, ..self }
    }
}

/// All of them under one another.
pub(crate) fn table(claims: &[Claim]) -> Table {
    let columns = ["what the paper says", "what tests it", "what was found", "verdict"];
    claims.iter().fold(Table::new("", columns).of_sentences(), |table, claim| {
        table.row([
            Cell::from(claim.says.as_str()),
            Cell::from(claim.test.as_str()),
            Cell::from(claim.found.as_str()),
            Cell::Verdict(claim.verdict),
        ])
    })
}
