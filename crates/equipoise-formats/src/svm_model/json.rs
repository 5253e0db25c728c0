//! The JSON of a model file.
//!
//! ```text
//! {"format": "equipoise-svm", "version": 1, "kind": "svc", "loss": "hinge", "labels": [-1, 1], "cost": 1,
//!  "nu": 0.5, "epsilon": 0.1, "bias": [-0.25], "weights": [[0.5, 0, 2]]}
//! ```
//!
//! - `weights`: a list a decision function; its entry j - 1 is the weight of feature j, up to the largest feature.
//! - `converged`, `relative_gap`: how far the training came, where the file says so; the gap is null where none is known.
//! - `class_weights`: only where there are some; a list of pairs `[label, weight]`.
//! - what goes with the model, where there is something: see `context.rs`. A file with a `scaling` has version 2.
//! - `features`: only where such a list would be mostly zeros; then the weights stand in its order.
//!
//! Numbers come back bit for bit. Fields that are not known are skipped, so that later versions may append some.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;

use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use equipoise::Named;
use equipoise_models::svm::{Curves, Isotonic, Kind, LinearModel, Loss, Sigmoid, TrainSettings};

use super::context::{ModelContext, StoredScaling};
use super::{Fault, ModelFile};
use crate::{Error, Result, Standing};

const FORMAT: &str = "equipoise-svm";
const VERSION: u64 = 1;
/// Of files whose weights are for scaled rows.
const SCALED: u64 = 2;
/// A dense list may be this many times as long as there are features, and ...
const WASTE: u64 = 10;
/// ... this much longer.
const SPARE: u64 = 1_000_000;

/// Whether to name the features: a dense list would be wasteful.
fn is_sparse(features: &[u32]) -> bool {
    let largest = features.last().map_or(0, |&last| u64::from(last));
    largest > WASTE * features.len() as u64 + SPARE
}

/// Writes a model, checked before, and a line end.
pub(super) fn write(
    out: &mut impl Write,
    model: &ModelFile,
    context: &ModelContext,
    standing: Option<Standing>,
) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &Writing { model, context, standing })?;
    writeln!(out)
}

/// The object, without a copy of the weights.
struct Writing<'a> {
    model: &'a ModelFile,
    context: &'a ModelContext,
    standing: Option<Standing>,
}

impl Serialize for Writing<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let ModelFile { model, features } = self.model;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("format", FORMAT)?;
        let version = if self.context.scaling.is_some() { SCALED } else { VERSION };
        map.serialize_entry("version", &version)?;
        map.serialize_entry("kind", model.kind.name())?;
        map.serialize_entry("loss", model.loss.name())?;
        map.serialize_entry("labels", &model.labels)?;
        map.serialize_entry("cost", &model.cost)?;
        map.serialize_entry("nu", &model.nu)?;
        map.serialize_entry("epsilon", &model.epsilon)?;
        if !model.class_weights.is_empty() {
            map.serialize_entry("class_weights", &model.class_weights)?;
        }
        map.serialize_entry("bias", &model.bias)?;
        if let Some(Standing { converged, measure }) = self.standing {
            map.serialize_entry("converged", &converged)?;
            // An infinite one is null.
            map.serialize_entry("relative_gap", &measure)?;
        }
        let ModelContext { feature_names, target, label_names, scaling, curves } = self.context;
        if let Some(target) = target {
            map.serialize_entry("target", target)?;
        }
        if let Some(names) = label_names {
            map.serialize_entry("label_names", names)?;
        }
        if let Some(names) = feature_names {
            map.serialize_entry("feature_names", names)?;
        }
        if let Some(scaling) = scaling {
            let laid_out =
                |list: &[f64]| if is_sparse(features) { list.to_vec() } else { dense(features, list) };
            map.serialize_entry("scaling", &StoredScaling::new(scaling, laid_out))?;
        }
        match curves {
            None => {}
            Some(Curves::Sigmoids(list)) => {
                let pairs: Vec<[f64; 2]> = list.iter().map(|sigmoid| [sigmoid.a, sigmoid.b]).collect();
                map.serialize_entry("sigmoids", &pairs)?;
            }
            Some(Curves::Isotonic(list)) => {
                let knots: Vec<&Vec<(f64, f64)>> = list.iter().map(|one| &one.knots).collect();
                map.serialize_entry("isotonic", &knots)?;
            }
        }
        if is_sparse(features) {
            map.serialize_entry("features", features)?;
            map.serialize_entry("weights", &model.weights)?;
        } else {
            let dense = |weights| Dense { features, weights };
            let lists: Vec<Dense<'_>> = model.weights.iter().map(|weights| dense(weights)).collect();
            map.serialize_entry("weights", &lists)?;
        }
        map.end()
    }
}

/// Numbers by feature, zeros between them.
fn dense(features: &[u32], list: &[f64]) -> Vec<f64> {
    let mut all = vec![0.0; features.last().map_or(0, |&last| last as usize)];
    features.iter().zip(list).for_each(|(&feature, &number)| all[feature as usize - 1] = number);
    all
}

/// Weights by feature, zeros between them.
struct Dense<'a> {
    features: &'a [u32],
    weights: &'a [f64],
}

impl Serialize for Dense<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut next = 1;
        let pairs = self.features.iter().zip(self.weights);
        serializer.collect_seq(pairs.flat_map(|(&feature, &weight)| {
            let zeros = (feature - next) as usize;
            next = feature.wrapping_add(1);
            std::iter::repeat_n(0.0, zeros).chain([weight])
        }))
    }
}

/// What a file may say.
#[derive(Default)]
struct Stored {
    format: Option<String>,
    version: Option<u64>,
    kind: Option<String>,
    loss: Option<String>,
    labels: Option<Vec<f64>>,
    cost: Option<f64>,
    nu: Option<f64>,
    epsilon: Option<f64>,
    class_weights: Option<Vec<(f64, f64)>>,
    bias: Option<Vec<f64>>,
    features: Option<Vec<u32>>,
    weights: Option<Vec<Vec<f64>>>,
    target: Option<String>,
    label_names: Option<Vec<String>>,
    feature_names: Option<Vec<String>>,
    scaling: Option<StoredScaling>,
    sigmoids: Option<Vec<[f64; 2]>>,
    isotonic: Option<Vec<Vec<(f64, f64)>>>,
}

impl<'de> Deserialize<'de> for Stored {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_map(StoredVisitor)
    }
}

struct StoredVisitor;

impl<'de> Visitor<'de> for StoredVisitor {
    type Value = Stored;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the object of a model file")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Stored, A::Error> {
        let mut stored = Stored::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "format" => stored.format = field(&key, &mut map)?,
                "version" => stored.version = field(&key, &mut map)?,
                "kind" => stored.kind = field(&key, &mut map)?,
                "loss" => stored.loss = field(&key, &mut map)?,
                "labels" => stored.labels = field(&key, &mut map)?,
                "cost" => stored.cost = field(&key, &mut map)?,
                "nu" => stored.nu = field(&key, &mut map)?,
                "epsilon" => stored.epsilon = field(&key, &mut map)?,
                "class_weights" => stored.class_weights = field(&key, &mut map)?,
                "bias" => stored.bias = field(&key, &mut map)?,
                "features" => stored.features = field(&key, &mut map)?,
                "weights" => stored.weights = field(&key, &mut map)?,
                "target" => stored.target = field(&key, &mut map)?,
                "label_names" => stored.label_names = field(&key, &mut map)?,
                "feature_names" => stored.feature_names = field(&key, &mut map)?,
                "scaling" => stored.scaling = field(&key, &mut map)?,
                "sigmoids" => stored.sigmoids = field(&key, &mut map)?,
                "isotonic" => stored.isotonic = field(&key, &mut map)?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(stored)
    }
}

/// The value of a field, its name in front of any complaint.
fn field<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    name: &str,
    map: &mut A,
) -> std::result::Result<T, A::Error> {
    map.next_value().map_err(|error| A::Error::custom(format_args!("`{name}`: {error}")))
}

/// How far the training came that a text is of; `None` where it is no model.
pub(super) fn standing(text: &str, unsaid: Standing) -> Option<Standing> {
    #[derive(Deserialize)]
    struct Said {
        format: String,
        converged: Option<bool>,
        relative_gap: Option<f64>,
    }
    let said: Said = serde_json::from_str(text).ok()?;
    (said.format == FORMAT).then_some(match said.converged {
        Some(converged) => Standing { converged, measure: said.relative_gap.unwrap_or(f64::INFINITY) },
        None => unsaid,
    })
}

/// Reads a model.
pub(super) fn parse(text: &str, path: &Path) -> Result<(ModelFile, ModelContext)> {
    let stored: Stored = serde_json::from_str(text).map_err(|error| syntax(path, &error))?;
    let checked = |(file, context): (ModelFile, ModelContext)| {
        let fault = file.fault().or_else(|| context.fault(&file));
        fault.map_or(Ok((file, context)), Err)
    };
    stored.into_model().and_then(checked).map_err(|fault| fault.at(path))
}

impl Stored {
    fn into_model(self) -> std::result::Result<(ModelFile, ModelContext), Fault> {
        if self.format.as_deref() != Some(FORMAT) {
            let found = self.format.map_or_else(nothing, |format| format!("{format:?}"));
            return Err(fault("format", found, format!("{FORMAT:?}, or a model file of LIBLINEAR")));
        }
        match self.version {
            Some(VERSION) if self.scaling.is_none() => {}
            Some(SCALED) if self.scaling.is_some() => {}
            Some(SCALED) => {
                return Err(fault("scaling", nothing(), "an object, in a file of version 2".into()));
            }
            Some(newer) if newer > SCALED => {
                let expected = format!("{SCALED}; a newer equipoise wrote this file, use that one");
                return Err(fault("version", newer.to_string(), expected));
            }
            other => {
                let found = other.map_or_else(nothing, |version| version.to_string());
                return Err(fault("version", found, VERSION.to_string()));
            }
        }
        let kind = word::<Kind>("kind", self.kind)?;
        let loss = self.loss.map_or(Ok(Loss::Hinge), |loss| word("loss", Some(loss)))?;
        let weights = required("weights", self.weights)?;
        let columns = weights.first().map_or(0, Vec::len);
        let features =
            self.features.unwrap_or_else(|| (1..=u32::try_from(columns).unwrap_or(u32::MAX)).collect());
        let default = TrainSettings::default();
        let model = LinearModel {
            kind,
            loss,
            labels: self.labels.unwrap_or_default(),
            cost: self.cost.unwrap_or(default.cost),
            nu: self.nu.unwrap_or(default.nu),
            epsilon: self.epsilon.unwrap_or(default.epsilon),
            class_weights: self.class_weights.unwrap_or_default(),
            weights,
            bias: required("bias", self.bias)?,
        };
        let curves = match (self.sigmoids, self.isotonic) {
            (Some(_), Some(_)) => {
                return Err(fault("isotonic", "some, beside `sigmoids`".into(), "one of the two".into()));
            }
            (Some(pairs), None) if !pairs.is_empty() => {
                Some(Curves::Sigmoids(pairs.into_iter().map(|[a, b]| Sigmoid { a, b }).collect()))
            }
            (None, Some(lists)) if !lists.is_empty() => {
                Some(Curves::Isotonic(lists.into_iter().map(|knots| Isotonic { knots }).collect()))
            }
            _ => None,
        };
        let context = ModelContext {
            feature_names: self.feature_names,
            target: self.target,
            label_names: self.label_names,
            scaling: self.scaling.map(StoredScaling::into_scaling).transpose()?,
            curves,
        };
        Ok((ModelFile { model, features }, context))
    }
}

fn nothing() -> String {
    "nothing".into()
}

fn fault(field: &str, found: String, expected: String) -> Fault {
    Fault { field: field.into(), found, expected }
}

fn required<T>(name: &str, value: Option<T>) -> std::result::Result<T, Fault> {
    value.ok_or_else(|| fault(name, nothing(), "a list".into()))
}

fn word<T: Named>(field: &str, found: Option<String>) -> std::result::Result<T, Fault> {
    let name = found.as_deref().unwrap_or_default();
    T::of_name(name).map_err(|unknown| {
        let found = found.map_or_else(nothing, |name| format!("{name:?}"));
        fault(field, found, format!("one of {}", unknown.known.join(", ")))
    })
}

fn syntax(path: &Path, error: &serde_json::Error) -> Error {
    let (line, column) = (error.line(), error.column());
    // The parser repeats the place at the end of its message.
    let text = error.to_string();
    let message = text.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&text).to_owned();
    let message =
        format!("{message}; expected a model that `equipoise svm train --model` or LIBLINEAR wrote");
    Error::Json { path: path.into(), line, column, message }
}
