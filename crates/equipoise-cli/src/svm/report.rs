//! Results in words, and as the objects of `--json`.

use equipoise::Status;
use equipoise_models::svm::{ClassReport, Report, TrainSettings, Trained};
use serde::Serialize;

use super::data::{Data, counted};
use super::memory;
use crate::report::{line, number, threads};
use crate::rounding;

/// The object of `train --json`.
#[derive(Debug, Serialize)]
pub(crate) struct TrainJson {
    status: &'static str,
    primal: f64,
    dual: f64,
    relative_gap: f64,
    /// Null where there are several decision functions.
    bias: Option<f64>,
    infeasibility: f64,
    support: usize,
    bounded_support: usize,
    updates: u64,
    epochs: f64,
    seconds_load: f64,
    seconds_solve: f64,
    peak_memory: Option<u64>,
    threads: usize,
    /// Of rows on several ranks: how many ranks, the bytes they sent, the share of the time in which a rank waited or sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    ranks: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_sent: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    communication: Option<f64>,
    kind: &'static str,
    /// Null for the kinds with nu.
    cost: Option<f64>,
    rows: usize,
    columns: usize,
    labels: Vec<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    classes: Vec<ClassJson>,
    /// Of a table: the words of the labels, the names of the columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    label_names: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    feature_names: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scale: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct ClassJson {
    label: f64,
    primal: f64,
    dual: f64,
    relative_gap: f64,
    bias: f64,
}

impl From<&ClassReport> for ClassJson {
    fn from(class: &ClassReport) -> Self {
        let ClassReport { label, primal, dual, relative_gap, bias, .. } = *class;
        Self { label, primal, dual, relative_gap, bias }
    }
}

/// Counts over all decision functions.
pub(crate) struct Totals {
    pub(crate) support: usize,
    pub(crate) bounded_support: usize,
    updates: u64,
    epochs: f64,
    infeasibility: f64,
}

impl Totals {
    pub(crate) fn of(report: &Report) -> Self {
        let classes = || report.classes.iter();
        Self {
            support: classes().map(|class| class.support).sum(),
            bounded_support: classes().map(|class| class.bounded_support).sum(),
            updates: classes().map(|class| class.updates).sum(),
            epochs: classes().map(|class| class.epochs).sum(),
            infeasibility: classes().map(|class| class.infeasibility).fold(0.0, f64::max),
        }
    }
}

/// The bias, where there is one only.
pub(crate) fn single_bias(report: &Report) -> Option<f64> {
    match report.classes.as_slice() {
        [only] => Some(only.bias),
        _ => None,
    }
}

impl TrainJson {
    pub(crate) fn new(trained: &Trained, settings: &TrainSettings, data: &Data) -> Self {
        let (report, totals) = (&trained.report, Totals::of(&trained.report));
        let several = report.classes.len() > 1;
        Self {
            status: report.status().name(),
            primal: report.primal(),
            dual: report.dual(),
            relative_gap: report.relative_gap(),
            bias: single_bias(report),
            infeasibility: totals.infeasibility,
            support: totals.support,
            bounded_support: totals.bounded_support,
            updates: totals.updates,
            epochs: totals.epochs,
            seconds_load: data.seconds,
            seconds_solve: report.seconds,
            peak_memory: memory::peak(),
            threads: settings.threads,
            ranks: data.across.map(|across| across.ranks),
            bytes_sent: data.across.map(|across| across.bytes_sent),
            communication: data.across.map(|across| across.communication),
            kind: settings.kind.name(),
            cost: has_cost(settings).then_some(settings.cost),
            rows: data.row_count(),
            columns: data.rows.columns(),
            labels: trained.model.labels.clone(),
            classes: if several { report.classes.iter().map(ClassJson::from).collect() } else { Vec::new() },
            label_names: data.label_names.clone(),
            feature_names: data.names.clone(),
            scale: data.scaling.as_ref().map(|scaling| scaling.kind.name()),
        }
    }
}

/// Whether the kind has a cost, rather than nu.
pub(crate) fn has_cost(settings: &TrainSettings) -> bool {
    use equipoise_models::svm::Kind;
    matches!(settings.kind, Kind::Svc | Kind::Svr)
}

/// A training for people.
pub(crate) fn words(trained: &Trained, settings: &TrainSettings, data: &Data) -> String {
    let (report, totals) = (&trained.report, Totals::of(&trained.report));
    let mut text = format!("{}\n", report.status());
    let columns = counted(data.rows.columns(), "column");
    line(&mut text, "data", &format!("{} x {columns}", counted(data.row_count(), "row")));
    if !trained.model.labels.is_empty() {
        line(&mut text, "labels", &data.label_words());
    }
    let classes = report.classes.len();
    if classes > 1 {
        line(
            &mut text,
            "models",
            &format!("{classes}, each label against the rest; sums and the worst gap follow"),
        );
    }
    if let Some(scaling) = &data.scaling {
        line(&mut text, "scale", &format!("{}; objective and bias are for scaled features", scaling.kind));
    }
    let (primal, dual) = (number(report.primal()), number(report.dual()));
    line(&mut text, "objective", &format!("{primal} (at least {dual})"));
    line(&mut text, "relative gap", &rounding::allowed(report.relative_gap(), settings.gap));
    if let Some(bias) = single_bias(report) {
        line(&mut text, "bias", &number(bias));
    }
    if let (Some(names), [weights]) = (&data.names, trained.model.weights.as_slice()) {
        line(&mut text, "weights", &largest(names, weights));
    }
    let of = if classes > 1 { counted(totals.support, "multiplier") } else { counted(totals.support, "row") };
    line(&mut text, "support", &format!("{of} ({} at the bound)", totals.bounded_support));
    let threads = threads(settings.threads);
    let work = format!("{} updates, {:.1} epochs{threads}", totals.updates, totals.epochs);
    line(&mut text, "work", &work);
    if let Some(across) = &data.across {
        let (ranks, sent, share) =
            (across.ranks, across.bytes_sent as f64 / 1e6, 100.0 * across.communication);
        line(
            &mut text,
            "ranks",
            &format!("{ranks}; {sent:.1} MB sent, {share:.0} % of the time waiting and sending"),
        );
    }
    line(&mut text, "time", &format!("{:.3} s to load, {:.3} s to solve", data.seconds, report.seconds));
    text
}

/// The features that weigh most, by name; on features of one scale they matter most, too.
fn largest(names: &[String], weights: &[f64]) -> String {
    const SHOWN: usize = 4;
    let mut order: Vec<usize> = (0..weights.len()).filter(|&j| weights[j] != 0.0).collect();
    order.sort_by(|&a, &b| weights[b].abs().total_cmp(&weights[a].abs()));
    let word = |&j: &usize| format!("{} {:.4}", names[j], weights[j]);
    let mut words: Vec<String> = order.iter().take(SHOWN).map(word).collect();
    if order.len() > SHOWN {
        words.push(format!("and {}", counted(order.len() - SHOWN, "other")));
    }
    if words.is_empty() { "all 0".into() } else { words.join(", ") }
}

/// Why a run that did not converge ended, and what to do about it, in one line.
pub(crate) fn not_converged(status: Status, gap: f64, allowed: f64, goes_on: &str) -> String {
    let advice = match status {
        Status::IterationLimit => "raise --max-epochs",
        Status::TimeLimit => "raise --time-limit",
        Status::Stalled => "no step makes progress any more; raise --gap",
        Status::TargetReached => "the target objective was reached first; run again",
        _ => "run again",
    };
    format!("not converged: {status}: {}; {advice}{goes_on}", rounding::relative_gap(gap, allowed))
}
