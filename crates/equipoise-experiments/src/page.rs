//! Everything on one page: the claims with their verdicts first, then the experiments.

use equipoise_report::{Page, Section, Verdict};

use crate::capabilities::table_1;
use crate::cell::Record;
use crate::claims::{self, Claim};
use crate::plan::Plan;
use crate::store::Store;

/// The page of these records, and its claims.
pub fn page(plan: &Plan, records: &[Record], store: &Store) -> (Page, Vec<Claim>) {
    let of = |name: &str| -> Vec<&Record> {
        records.iter().filter(|record| record.cell.experiment == name).collect()
    };
    let mut all = Vec::new();
    let mut sections = Vec::new();
    for experiment in &plan.experiments {
        let own = of(experiment.name());
        if !own.is_empty() {
            all.extend(experiment.claims(plan, &own));
            sections.push(experiment.section(plan, &own));
        }
    }
    if plan.experiments.len() > 1 {
        all.push(table_1(records));
    }
    let count = |verdict: Verdict| all.iter().filter(|claim| claim.verdict == verdict).count();
    let words = format!(
        "{} reproduced, {} not reproduced, {} beyond the paper, {} that this run cannot decide.",
        count(Verdict::Reproduced),
        count(Verdict::NotReproduced),
        count(Verdict::Beyond),
        count(Verdict::Untested)
    );
    let seconds: f64 = records.iter().map(|record| record.seconds).sum();
    let page = Page::new("The paper's experiments, run again")
        .lead(
            "Large-scale randomized-coordinate descent methods with non-separable linear constraints (UAI 2015): its figures made \
             on this machine, its claims beside what was found, and what equipoise adds.",
        )
        .fact("machine", store.machine())
        .fact("version", store.version())
        .fact("scale", format!("{}, {} seed{}", plan.scale.name(), plan.seeds, if plan.seeds == 1 { "" } else { "s" }))
        .fact("cells", format!("{}, {seconds:.0} s in all", records.len()));
    let claims = Section::new("Claims").text(words).table(claims::table(&all));
    let page = sections.into_iter().fold(page.section(claims), Page::section);
    (page, all)
}
