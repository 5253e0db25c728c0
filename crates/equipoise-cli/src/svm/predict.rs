//! `equipoise svm predict`: a model, rows, and how well the one knows the other.
//!
//! With `--decision-values` or `--probabilities` the file of `--out` is a CSV with a header: `prediction`, then
//! `decision_LABEL` for every decision function, then `probability_LABEL` for every label.

use std::fmt::Write as _;
use std::io::Write as _;

use anyhow::{Result, bail};
use equipoise_formats::svm_model::{self, ModelContext};
use equipoise_formats::write_whole;
use equipoise_models::svm::{Kind, LinearModel, TrainSettings};

use super::data::{Columns, Data, Reading, label_word};
use super::score::{Said, Score};
use crate::args::PredictArguments;
use crate::exit::{self, Outcome};
use crate::interrupt::Interrupt;
use crate::outputs;
use crate::report::number;

pub(crate) fn run(args: &PredictArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let threads = args.threads.unwrap_or_else(|| TrainSettings::default().threads);
    TrainSettings { threads, ..TrainSettings::default() }.validate()?;
    outputs::check(&[args.out.as_deref()], &[Some(args.data.as_path()), Some(args.model.as_path())])?;
    if args.data.as_os_str() == "-" && args.model.as_os_str() == "-" {
        bail!("DATA and --model are both `-`, and standard input can be read only once; name a file for one");
    }
    let (file, context, _) = svm_model::read_with_context(&args.model, &interrupt.control)?;
    let (mut model, features) = (file.model, file.features);
    if let Some(scaling) = &context.scaling {
        scaling.fold(&mut model);
    }
    if args.probabilities && context.curves.is_none() {
        bail!(
            "{}: the model has no probabilities; train it with `svm train --probabilities`, and as JSON",
            args.model.display()
        );
    }
    let reading = Reading {
        threads,
        quiet: args.quiet,
        control: &interrupt.control,
        table: &args.table,
        needs_labels: false,
        scale: None,
    };
    let data = Data::read_for(&args.data, &Columns::of(&features, &context), reading)?;
    let control = &interrupt.control;
    let decisions = model.decisions_within(&data.rows, control).map_err(equipoise::Error::from)?;
    let predictions = model.predict_within(&data.rows, control).map_err(equipoise::Error::from)?;
    let functions = model.weights.len();
    let of_row =
        |row: &[f64]| context.curves.as_ref().map_or_else(Vec::new, |curves| curves.probabilities(row));
    let probable: Vec<f64> = decisions.chunks(functions).flat_map(of_row).collect();
    let said =
        Said { model: &model, predictions: &predictions, decisions: &decisions, probabilities: &probable };
    let names = data.label_names.as_deref().or(context.label_names.as_deref());
    let score = Score::of(said, data.has_labels.then_some(data.labels.as_slice()), names);
    if let Some(path) = &args.out {
        let table = Predictions { args, said, context: &context };
        write_whole(path, |out| out.write_all(table.text().as_bytes()))?;
    }
    let text = match (args.json, args.quiet) {
        (true, _) => serde_json::to_string(&score.json(names))? + "\n",
        (false, true) => String::new(),
        (false, false) => score.words(names),
    };
    exit::print(&text)?;
    Ok(Outcome::Met)
}

/// What is written a row.
struct Predictions<'a> {
    args: &'a PredictArguments,
    said: Said<'a>,
    context: &'a ModelContext,
}

impl Predictions<'_> {
    fn text(&self) -> String {
        let Said { model, predictions, decisions, probabilities } = self.said;
        let names = self.context.label_names.as_deref();
        let of_labels = |label: f64| match model.kind {
            Kind::Svc | Kind::NuSvc => label_word(label, names),
            // A value of a regression in full.
            Kind::Svr | Kind::OneClass => number(label),
        };
        let is_table = self.args.decision_values || self.args.probabilities;
        let mut text = if is_table { self.header(model, names) } else { String::new() };
        let (functions, labels) = (model.weights.len(), model.labels.len());
        for (i, prediction) in predictions.iter().enumerate() {
            let word = of_labels(*prediction);
            text += &if is_table { quoted(&word) } else { word };
            if self.args.decision_values {
                for value in &decisions[i * functions..(i + 1) * functions] {
                    let _ = write!(text, ",{value:?}");
                }
            }
            if self.args.probabilities {
                for value in &probabilities[i * labels..(i + 1) * labels] {
                    let _ = write!(text, ",{value:?}");
                }
            }
            text.push('\n');
        }
        text
    }

    fn header(&self, model: &LinearModel, names: Option<&[String]>) -> String {
        let mut columns = vec!["prediction".to_owned()];
        let words: Vec<String> = model.labels.iter().map(|label| label_word(*label, names)).collect();
        if self.args.decision_values {
            match (model.weights.len(), words.last()) {
                (1, Some(larger)) => columns.push(format!("decision_{larger}")),
                (1, None) => columns.push("decision".into()),
                _ => columns.extend(words.iter().map(|word| format!("decision_{word}"))),
            }
        }
        if self.args.probabilities {
            columns.extend(words.iter().map(|word| format!("probability_{word}")));
        }
        let columns: Vec<String> = columns.iter().map(|column| quoted(column)).collect();
        columns.join(",") + "\n"
    }
}

/// A field of a CSV.
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', ';']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.into()
    }
}
