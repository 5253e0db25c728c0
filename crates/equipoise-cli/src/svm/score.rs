//! How well rows are predicted, in words and as JSON; or why nothing can be said.
//!
//! - Given: a model's labels, predictions, decision values, probabilities, and the labels of the rows.
//! - Returns: lines, or an object that begins with the fields `accuracy` and `correct`, or `mse`.
//! - Must not know: where the rows come from.

use std::fmt::Write as _;

use equipoise_models::svm::{ClassScores, Kind, LinearModel, RegressionScores, auc, log_loss};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::data::{counted, label_word};
use crate::report::number;

/// The most labels whose confusion is printed.
const MOST_CONFUSED: usize = 12;

/// What a model said of rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Said<'a> {
    pub(crate) model: &'a LinearModel,
    pub(crate) predictions: &'a [f64],
    /// The values of all decision functions, row after row.
    pub(crate) decisions: &'a [f64],
    /// The probabilities of all labels, row after row; empty where there are none.
    pub(crate) probabilities: &'a [f64],
}

/// How well rows are predicted.
#[derive(Debug, PartialEq)]
pub(crate) enum Score {
    Classes {
        scores: ClassScores,
        /// For two labels.
        auc: Option<f64>,
        log_loss: Option<f64>,
        /// Rows whose label the model does not know.
        unknown: usize,
    },
    Regression(RegressionScores, usize),
    /// Nothing can be said of so many rows, and why.
    Nothing(usize, String),
}

impl Score {
    /// Compares with labels; `None` where the data have no labels.
    pub(crate) fn of(said: Said<'_>, labels: Option<&[f64]>, names: Option<&[String]>) -> Self {
        let rows = said.predictions.len();
        let Some(labels) = labels else { return Self::Nothing(rows, "the data have no labels".into()) };
        let first = labels.first().copied().unwrap_or(0.0);
        let all_equal = labels.iter().all(|label| *label == first);
        let is_known = |label: &f64| match said.model.kind {
            Kind::OneClass => label.abs() == 1.0,
            _ => said.model.labels.contains(label),
        };
        if said.model.kind == Kind::Svr {
            if all_equal && first == 0.0 && rows > 1 {
                return Self::Nothing(rows, "every target is 0, a placeholder by the look of it".into());
            }
            return Self::Regression(RegressionScores::of(said.predictions, labels), rows);
        }
        if !labels.iter().any(is_known) {
            let found = label_word(first, names);
            let why =
                if all_equal { format!("every label is {found}") } else { format!("labels such as {found}") };
            return Self::Nothing(
                rows,
                format!("{why}, which the model does not know: placeholders, by the look of it"),
            );
        }
        let unknown = labels.iter().filter(|label| !is_known(label)).count();
        let known: &[f64] = if said.model.kind == Kind::OneClass { &[-1.0, 1.0] } else { &said.model.labels };
        let scores = ClassScores::of(known, said.predictions, labels);
        let auc = (said.model.weights.len() == 1).then(|| {
            let has: Vec<bool> = labels.iter().map(|label| *label == known[1]).collect();
            auc(said.decisions, &has)
        });
        let log_loss = (!said.probabilities.is_empty() && unknown == 0).then(|| {
            let per_row = said.probabilities.chunks(known.len()).zip(labels);
            let of_truth =
                per_row.map(|(row, label)| known.iter().position(|k| k == label).map_or(0.0, |k| row[k]));
            log_loss(&of_truth.collect::<Vec<f64>>())
        });
        Self::Classes { scores, auc: auc.filter(|auc| !auc.is_nan()), log_loss, unknown }
    }

    /// The fields of `predict --json`.
    pub(crate) fn json(&self, names: Option<&[String]>) -> Value {
        let mut fields = Map::new();
        let mut put = |name: &str, value: Value| fields.insert(name.into(), value);
        match self {
            Self::Classes { scores, auc, log_loss, .. } => {
                let (correct, rows) = (scores.correct(), scores.rows());
                put("accuracy", json!(correct as f64 / rows.max(1) as f64));
                put("correct", json!(correct));
                put("rows", json!(rows));
                put("macro_f1", json!(scores.macro_f1()));
                let words: Vec<String> =
                    scores.labels.iter().map(|label| label_word(*label, names)).collect();
                let class = |k: usize| ClassJson {
                    label: words[k].clone(),
                    precision: scores.precision(k),
                    recall: scores.recall(k),
                    f1: scores.f1(k),
                    rows: scores.support(k),
                };
                put("classes", json!((0..words.len()).map(class).collect::<Vec<_>>()));
                put("confusion", json!(scores.confusion));
                for (name, value) in [("auc", auc), ("log_loss", log_loss)] {
                    if let Some(value) = value {
                        put(name, json!(value));
                    }
                }
            }
            Self::Regression(scores, rows) => {
                put("mse", json!(scores.mse));
                put("rows", json!(rows));
                put("mae", json!(scores.mae));
                // Null where the targets do not vary.
                put("r2", json!(scores.r2));
            }
            Self::Nothing(rows, why) => {
                put("rows", json!(rows));
                put("not_scored", json!(why));
            }
        }
        Value::Object(fields)
    }

    /// The same for people.
    pub(crate) fn words(&self, names: Option<&[String]>) -> String {
        match self {
            Self::Nothing(rows, why) => format!("{} predicted; not scored: {why}\n", counted(*rows, "row")),
            Self::Regression(scores, rows) => {
                let RegressionScores { mse, mae, r2, .. } = *scores;
                let (mse, mae, rows) = (number(mse), number(mae), counted(*rows, "row"));
                let r2 =
                    if r2.is_nan() { "no R2: targets do not vary".into() } else { format!("R2 {r2:.6}") };
                format!("mean squared error {mse} ({rows})\nmean absolute error {mae}, {r2}\n")
            }
            Self::Classes { scores, auc, log_loss, unknown } => {
                let (correct, rows) = (scores.correct(), scores.rows());
                let percent = 100.0 * correct as f64 / rows.max(1) as f64;
                let mut text = format!("accuracy {percent:.2} % ({correct} of {})\n", counted(rows, "row"));
                let mut others = vec![format!("macro F1 {:.4}", scores.macro_f1())];
                others.extend(auc.map(|auc| format!("AUC {auc:.4}")));
                others.extend(log_loss.map(|loss| format!("log loss {loss:.4}")));
                let _ = writeln!(text, "{}", others.join(", "));
                text += &confusion(scores, names);
                if *unknown > 0 {
                    let rows = counted(*unknown, "row");
                    let _ = writeln!(text, "{rows} with a label that the model does not know");
                }
                text
            }
        }
    }
}

#[derive(Debug, Serialize)]
struct ClassJson {
    label: String,
    /// Null where no row is predicted so.
    precision: f64,
    /// Null where no row has the label.
    recall: f64,
    f1: f64,
    rows: usize,
}

/// A line a label: precision, recall, F1, and how its rows were predicted.
fn confusion(scores: &ClassScores, names: Option<&[String]>) -> String {
    let words: Vec<String> = scores.labels.iter().map(|label| label_word(*label, names)).collect();
    let wide = words.iter().map(|word| word.chars().count()).max().unwrap_or(0).max(5);
    let most = scores.rows().to_string().len();
    let cell = words.iter().map(|word| word.chars().count()).max().unwrap_or(0).max(most);
    let is_shown = words.len() <= MOST_CONFUSED;
    let mut text = format!("{:>wide$}  precision  recall      F1", "label");
    if is_shown {
        text += "  predicted";
        for word in &words {
            let _ = write!(text, " {word:>cell$}");
        }
    }
    text.push('\n');
    let share = |value: f64| if value.is_nan() { "-".into() } else { format!("{value:.4}") };
    for (k, word) in words.iter().enumerate() {
        let (precision, recall, f1) =
            (share(scores.precision(k)), share(scores.recall(k)), share(scores.f1(k)));
        let _ = write!(text, "{word:>wide$}  {precision:>9}  {recall:>6}  {f1:>6}");
        if is_shown {
            text += "           ";
            for count in &scores.confusion[k] {
                let _ = write!(text, " {count:>cell$}");
            }
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use equipoise_models::svm::Loss;

    use super::*;

    fn model(kind: Kind) -> LinearModel {
        let labels = if kind == Kind::Svr { Vec::new() } else { vec![-1.0, 1.0] };
        let (weights, bias, class_weights) = (vec![vec![1.0]], vec![0.0], Vec::new());
        LinearModel {
            kind,
            loss: Loss::Hinge,
            labels,
            cost: 1.0,
            nu: 0.5,
            epsilon: 0.1,
            class_weights,
            weights,
            bias,
        }
    }

    fn score(kind: Kind, predictions: &[f64], labels: Option<&[f64]>) -> Score {
        let said = Said { model: &model(kind), predictions, decisions: predictions, probabilities: &[] };
        Score::of(said, labels, None)
    }

    #[test]
    fn scores_in_words() {
        let found = score(Kind::Svc, &[1.0, 1.0, -1.0], Some(&[1.0, -1.0, -1.0]));
        let text = "accuracy 66.67 % (2 of 3 rows)\nmacro F1 0.6667, AUC 0.7500\n\
                    label  precision  recall      F1  predicted -1  1\n   \
                    -1     1.0000  0.5000  0.6667             1  1\n    \
                    1     0.5000  1.0000  0.6667             0  1\n";
        assert_eq!(found.words(None), text);
        assert_eq!(found.json(None)["confusion"], json!([[1, 1], [0, 1]]));
        let found = score(Kind::Svr, &[1.0, 2.0], Some(&[1.0, 4.0])).words(None);
        assert_eq!(found, "mean squared error 2 (2 rows)\nmean absolute error 1, R2 0.111111\n");
    }

    #[test]
    fn placeholders_are_not_scored() {
        for (kind, labels) in [
            (Kind::Svc, Some([0.0, 0.0])),
            (Kind::Svc, Some([7.0, 8.0])),
            (Kind::Svr, Some([0.0, 0.0])),
            (Kind::Svc, None),
        ] {
            let found = score(kind, &[1.0, -1.0], labels.as_ref().map(<[f64; 2]>::as_slice));
            assert!(matches!(found, Score::Nothing(2, _)), "{found:?}");
            assert!(found.json(None).get("accuracy").is_none() && found.json(None)["rows"] == 2);
        }
        let partly = score(Kind::Svc, &[1.0, -1.0], Some(&[1.0, 7.0]));
        assert!(partly.words(None).contains("1 row with a label that the model does not know"), "{partly:?}");
        assert!(partly.words(None).starts_with("accuracy 50.00 % (1 of 2 rows)\n"));
    }
}
