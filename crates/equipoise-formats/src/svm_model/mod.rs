//! Model files of linear support vector machines: what `equipoise svm train --model` writes.
//!
//! A model is one or several decision functions `w_k . x + b_k`. With two labels there is one, positive for the
//! larger; with several there is one a label, and the largest wins.
//!
//! | format | file |
//! |---|---|
//! | [`Format::Equipoise`] | versioned JSON, the numbers bit for bit: see `json.rs` |
//! | [`Format::Liblinear`] | the text of LIBLINEAR's `train`, which its `predict` accepts: see `liblinear.rs` |
//!
//! [`read`] tells them apart by their first line. Weights are kept one a column, beside the number of the feature
//! that the column stands for; files count features from 1. Must not know how a model was found.

use std::path::Path;

use equipoise::Control;
use equipoise_models::svm::LinearModel;

use crate::numbers::{read_bytes, text};
use crate::whole_file::write_whole;
use crate::{Error, Result, Standing};

mod context;
mod json;
mod liblinear;
mod liblinear_read;
#[cfg(test)]
mod tests;
mod words;

pub use context::ModelContext;
pub use words::Format;

/// A model, and what its columns stand for. What a file does not say has the default of a training.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelFile {
    /// The model.
    pub model: LinearModel,
    /// The feature of every column, ascending, from 1.
    pub features: Vec<u32>,
}

impl ModelFile {
    /// The number of decision functions that the labels ask for.
    pub fn functions(&self) -> usize {
        if self.model.labels.len() > 2 { self.model.labels.len() } else { 1 }
    }

    /// Every list as long as it must be, every number finite; else the field, what was found and what is allowed.
    fn fault(&self) -> Option<Fault> {
        let fault = |field: String, found: String, expected: String| Some(Fault { field, found, expected });
        let (labels, functions) = (self.model.labels.len(), self.functions());
        let (least, most) = words::labels(self.model.kind);
        if labels < least || labels > most {
            let expected = match (least, most) {
                (0, _) => format!("none for the kind {}", self.model.kind.name()),
                (2, 2) => "two".into(),
                _ => "two or more".into(),
            };
            return fault("labels".into(), format!("{labels} labels"), expected);
        }
        for (name, length) in [("weights", self.model.weights.len()), ("bias", self.model.bias.len())] {
            if length != functions {
                let expected = format!("{functions}, one a decision function");
                return fault(name.into(), format!("{length} entries"), expected);
            }
        }
        if let Some(place) = self.features.windows(2).position(|pair| pair[0] >= pair[1]) {
            let (found, expected) = (self.features[place + 1].to_string(), "numbers that ascend".into());
            return fault(format!("features[{}]", place + 1), found, expected);
        }
        if self.features.first() == Some(&0) {
            return fault("features[0]".into(), "0".into(), "numbers from 1 on".into());
        }
        if let Some(k) = self.model.weights.iter().position(|weights| weights.len() != self.features.len()) {
            let (found, features) = (self.model.weights[k].len(), self.features.len());
            return fault(format!("weights[{k}]"), format!("{found} numbers"), format!("{features}"));
        }
        if let Some((field, found)) = self.not_finite() {
            return fault(field, found.to_string(), "a finite number".into());
        }
        let place = self.model.labels.windows(2).position(|pair| pair[0] >= pair[1])?;
        let expected = "labels that ascend".into();
        fault(format!("labels[{}]", place + 1), self.model.labels[place + 1].to_string(), expected)
    }

    /// The first number that is not finite, and where it is.
    fn not_finite(&self) -> Option<(String, f64)> {
        let single = [("cost", self.model.cost), ("nu", self.model.nu), ("epsilon", self.model.epsilon)];
        if let Some((name, found)) = single.into_iter().find(|(_, value)| !value.is_finite()) {
            return Some((name.to_owned(), found));
        }
        let first = |name: String, list: &[f64]| {
            let place = list.iter().position(|value| !value.is_finite())?;
            Some((format!("{name}[{place}]"), list[place]))
        };
        let weights = || {
            let mut lists = self.model.weights.iter().enumerate();
            lists.find_map(|(k, list)| first(format!("weights[{k}]"), list))
        };
        let class_weights: Vec<f64> =
            self.model.class_weights.iter().flat_map(|(label, weight)| [*label, *weight]).collect();
        first("labels".into(), &self.model.labels)
            .or_else(|| first("class_weights".into(), &class_weights))
            .or_else(|| first("bias".into(), &self.model.bias))
            .or_else(weights)
    }
}

/// A field that does not say what it should.
#[derive(Debug)]
struct Fault {
    field: String,
    found: String,
    expected: String,
}

impl Fault {
    fn at(self, path: &Path) -> Error {
        let Self { field, found, expected } = self;
        Error::BadField { path: path.into(), field, found, expected }
    }
}

/// Reads a model file of either format; the model is for rows as they are, also where it was trained on scaled ones.
pub fn read(path: impl AsRef<Path>, control: &Control) -> Result<ModelFile> {
    read_with_format(path, control).map(|(file, _)| file)
}

/// A model as it was trained, what goes with it, and in which format the file is.
///
/// Where the context has a scaling, weights and bias are for scaled rows; [`read`] gives the model for rows as they are.
pub fn read_with_context(
    path: impl AsRef<Path>,
    control: &Control,
) -> Result<(ModelFile, ModelContext, Format)> {
    let path = path.as_ref();
    let bytes = read_bytes(path, control)?;
    control.check()?;
    parse_with_context(&bytes, path)
}

/// [`read`], and in which format the file is: one of LIBLINEAR does not say what it was trained with.
pub fn read_with_format(path: impl AsRef<Path>, control: &Control) -> Result<(ModelFile, Format)> {
    let path = path.as_ref();
    let bytes = read_bytes(path, control)?;
    control.check()?;
    parse_with_format(&bytes, path)
}

/// How far the training came that a model file is of; `None` where the file is no model. One that does not say, such as
/// those of LIBLINEAR, counts as converged: nobody knows that it is not.
pub fn read_standing(path: impl AsRef<Path>, control: &Control) -> Result<Option<Standing>> {
    let path = path.as_ref();
    let bytes = read_bytes(path, control)?;
    let Ok(text) = text(&bytes, path) else { return Ok(None) };
    let unsaid = Standing { converged: true, measure: f64::INFINITY };
    Ok(if liblinear_read::is_liblinear(text) { Some(unsaid) } else { json::standing(text, unsaid) })
}

/// [`read`] from bytes; the path stands in messages.
pub fn parse(bytes: &[u8], path: impl AsRef<Path>) -> Result<ModelFile> {
    parse_with_format(bytes, path.as_ref()).map(|(file, _)| file)
}

fn parse_with_format(bytes: &[u8], path: &Path) -> Result<(ModelFile, Format)> {
    let (mut file, context, format) = parse_with_context(bytes, path)?;
    if let Some(scaling) = &context.scaling {
        scaling.fold(&mut file.model);
        file.fault().map_or(Ok(()), |fault| Err(fault.at(path)))?;
    }
    Ok((file, format))
}

fn parse_with_context(bytes: &[u8], path: &Path) -> Result<(ModelFile, ModelContext, Format)> {
    let text = text(bytes, path)?;
    if liblinear_read::is_liblinear(text) {
        Ok((liblinear_read::parse(text, path)?, ModelContext::default(), Format::Liblinear))
    } else {
        let (file, context) = json::parse(text, path)?;
        Ok((file, context, Format::Equipoise))
    }
}

/// Writes a model file.
pub fn write(path: impl AsRef<Path>, model: &ModelFile, format: Format) -> Result<()> {
    write_standing(path, model, format, None)
}

/// The same; the file says how far its training came, where the format has a place for it.
pub fn write_standing(
    path: impl AsRef<Path>,
    model: &ModelFile,
    format: Format,
    standing: Option<Standing>,
) -> Result<()> {
    write_with_context(path, model, &ModelContext::default(), format, standing)
}

/// The same, with what goes with the model. The text of LIBLINEAR has no place for it: a scaling becomes part of the weights
/// and the bias, names and sigmoids are left out.
pub fn write_with_context(
    path: impl AsRef<Path>,
    model: &ModelFile,
    context: &ModelContext,
    format: Format,
    standing: Option<Standing>,
) -> Result<()> {
    let path = path.as_ref();
    if let Some(fault) = model.fault().or_else(|| context.fault(model)) {
        return Err(fault.at(path));
    }
    match format {
        Format::Equipoise => write_whole(path, |out| json::write(out, model, context, standing)),
        Format::Liblinear => {
            check_liblinear(path, &model.model.labels, &model.features)?;
            let mut folded = model.clone();
            if let Some(scaling) = &context.scaling {
                scaling.fold(&mut folded.model);
            }
            write_whole(path, |out| liblinear::write(out, &folded))
        }
    }
}

/// Refuses labels and features that LIBLINEAR's text cannot hold; to be asked before a long training.
pub fn check_liblinear(path: impl AsRef<Path>, labels: &[f64], features: &[u32]) -> Result<()> {
    liblinear::fault(labels, features).map_or(Ok(()), |fault| Err(fault.at(path.as_ref())))
}
