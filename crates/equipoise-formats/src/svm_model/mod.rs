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

use std::fs;
use std::path::Path;

use crate::numbers::{text, write_file};
use crate::{Error, Result};

mod json;
mod liblinear;
mod liblinear_read;
#[cfg(test)]
mod tests;
mod words;

pub use words::{Format, Kind, Loss};

/// A linear model as plain numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct SvmModel {
    /// What was learnt.
    pub kind: Kind,
    /// The loss it was learnt with.
    pub loss: Loss,
    /// The labels, ascending; empty for regression and one-class models.
    pub labels: Vec<f64>,
    /// C, where the file says it.
    pub cost: Option<f64>,
    /// nu, where the file says it.
    pub nu: Option<f64>,
    /// The half-width of the tube, where the file says it.
    pub epsilon: Option<f64>,
    /// The weights of every decision function, one number a column.
    pub weights: Vec<Vec<f64>>,
    /// The bias of every decision function.
    pub bias: Vec<f64>,
    /// The feature of every column, ascending, from 1.
    pub features: Vec<u32>,
}

impl SvmModel {
    /// The number of decision functions that the labels ask for.
    pub fn functions(&self) -> usize {
        if self.labels.len() > 2 { self.labels.len() } else { 1 }
    }

    /// Every list as long as it must be, every number finite; else the field, what was found and what is allowed.
    fn fault(&self) -> Option<Fault> {
        let fault = |field: String, found: String, expected: String| Some(Fault { field, found, expected });
        let (labels, functions) = (self.labels.len(), self.functions());
        let (least, most) = self.kind.labels();
        if labels < least || labels > most {
            let expected = match (least, most) {
                (0, _) => format!("none for the kind {}", self.kind.name()),
                (2, 2) => "two".into(),
                _ => "two or more".into(),
            };
            return fault("labels".into(), format!("{labels} labels"), expected);
        }
        for (name, length) in [("weights", self.weights.len()), ("bias", self.bias.len())] {
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
        if let Some(k) = self.weights.iter().position(|weights| weights.len() != self.features.len()) {
            let (found, features) = (self.weights[k].len(), self.features.len());
            return fault(format!("weights[{k}]"), format!("{found} numbers"), format!("{features}"));
        }
        if let Some((field, found)) = self.not_finite() {
            return fault(field, found.to_string(), "a finite number".into());
        }
        let place = self.labels.windows(2).position(|pair| pair[0] >= pair[1])?;
        let expected = "labels that ascend".into();
        fault(format!("labels[{}]", place + 1), self.labels[place + 1].to_string(), expected)
    }

    /// The first number that is not finite, and where it is.
    fn not_finite(&self) -> Option<(String, f64)> {
        let single = [("cost", self.cost), ("nu", self.nu), ("epsilon", self.epsilon)];
        let mut said = single.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        if let Some(found) = said.find(|(_, value)| !value.is_finite()) {
            return Some(found);
        }
        let first = |name: String, list: &[f64]| {
            let place = list.iter().position(|value| !value.is_finite())?;
            Some((format!("{name}[{place}]"), list[place]))
        };
        let weights = || {
            let mut lists = self.weights.iter().enumerate();
            lists.find_map(|(k, list)| first(format!("weights[{k}]"), list))
        };
        first("labels".into(), &self.labels).or_else(|| first("bias".into(), &self.bias)).or_else(weights)
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

/// Reads a model file of either format.
pub fn read(path: impl AsRef<Path>) -> Result<SvmModel> {
    let path = path.as_ref();
    let bytes = fs::read(path).map_err(|reason| Error::reading(path, &reason))?;
    parse(&bytes, path)
}

/// [`read`] from bytes; the path stands in messages.
pub fn parse(bytes: &[u8], path: impl AsRef<Path>) -> Result<SvmModel> {
    let path = path.as_ref();
    let text = text(bytes, path)?;
    if liblinear_read::is_liblinear(text) {
        liblinear_read::parse(text, path)
    } else {
        json::parse(text, path)
    }
}

/// Writes a model file.
pub fn write(path: impl AsRef<Path>, model: &SvmModel, format: Format) -> Result<()> {
    let path = path.as_ref();
    if let Some(fault) = model.fault() {
        return Err(fault.at(path));
    }
    match format {
        Format::Equipoise => write_file(path, |out| json::write(out, model)),
        Format::Liblinear => {
            check_liblinear(path, &model.labels, &model.features)?;
            write_file(path, |out| liblinear::write(out, model))
        }
    }
}

/// Refuses labels and features that LIBLINEAR's text cannot hold; to be asked before a long training.
pub fn check_liblinear(path: impl AsRef<Path>, labels: &[f64], features: &[u32]) -> Result<()> {
    liblinear::fault(labels, features).map_or(Ok(()), |fault| Err(fault.at(path.as_ref())))
}
