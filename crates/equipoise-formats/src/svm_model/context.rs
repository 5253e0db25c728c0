//! What goes with a model: names, how its rows were scaled, how its values become probabilities.
//!
//! | field of the file | meaning |
//! |---|---|
//! | `feature_names` | the name of every column, in the order of the weights |
//! | `target` | the name of the column of labels |
//! | `label_names` | the word that each label stands for |
//! | `scaling` | `{"kind", "shift", "factor"}`: weights and bias are for `(x - shift) * factor` |
//! | `sigmoids` | a pair `[a, b]` a decision function f: the probability of its label is `1 / (1 + exp(a f + b))` |
//! | `isotonic` | in place of `sigmoids`: pairs `[f, p]` a decision function, f ascending; its probability is p there and a line between |
//!
//! A file with a scaling has version 2: whoever does not know of it must not use the weights. Must not know how a model was
//! found.

use equipoise_models::svm::{Curves, Isotonic, ScaleKind, Scaling};
use serde::{Deserialize, Serialize};

use super::{Fault, ModelFile};

/// What goes with a model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelContext {
    /// The name of every column.
    pub feature_names: Option<Vec<String>>,
    /// The name of the column of labels.
    pub target: Option<String>,
    /// The word of every label.
    pub label_names: Option<Vec<String>>,
    /// How rows are scaled before the model sees them.
    pub scaling: Option<Scaling>,
    /// How values become probabilities, one curve a decision function.
    pub curves: Option<Curves>,
}

/// A scaling as it is in a file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredScaling {
    kind: String,
    shift: Vec<f64>,
    factor: Vec<f64>,
}

impl StoredScaling {
    /// A scaling with the lists as the weights of a file have them.
    pub(super) fn new(scaling: &Scaling, laid_out: impl Fn(&[f64]) -> Vec<f64>) -> Self {
        let (shift, factor) = (laid_out(&scaling.shift), laid_out(&scaling.factor));
        Self { kind: scaling.kind.name().into(), shift, factor }
    }

    pub(super) fn into_scaling(self) -> Result<Scaling, Fault> {
        let Self { kind, shift, factor } = self;
        let kind: ScaleKind = kind.parse().map_err(|unknown: equipoise::UnknownName| Fault {
            field: "scaling.kind".into(),
            found: format!("{kind:?}"),
            expected: format!("one of {}", unknown.known.join(", ")),
        })?;
        Ok(Scaling { kind, shift, factor })
    }
}

impl ModelContext {
    /// Whether nothing goes with the model.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Every list as long as the model asks for, every number finite.
    pub(super) fn fault(&self, file: &ModelFile) -> Option<Fault> {
        let fault = |field: &str, found: String, expected: String| {
            Some(Fault { field: field.into(), found, expected })
        };
        let columns = file.features.len();
        let words = [
            ("feature_names", self.feature_names.as_ref().map(Vec::len), columns),
            ("label_names", self.label_names.as_ref().map(Vec::len), file.model.labels.len()),
            ("scaling.shift", self.scaling.as_ref().map(|scaling| scaling.shift.len()), columns),
            ("scaling.factor", self.scaling.as_ref().map(|scaling| scaling.factor.len()), columns),
            (self.field_of_curves(), self.curves.as_ref().map(Curves::count), file.functions()),
        ];
        for (field, found, expected) in words {
            if let Some(found) = found.filter(|found| *found != expected) {
                return fault(field, format!("{found} entries"), format!("{expected}"));
            }
        }
        let curves: Vec<f64> = match &self.curves {
            None => Vec::new(),
            Some(Curves::Sigmoids(list)) => list.iter().flat_map(|one| [one.a, one.b]).collect(),
            Some(Curves::Isotonic(list)) => {
                if list.iter().any(|one| !is_rising(one)) {
                    let expected = "pairs [f, p] with f ascending and p never falling, from 0 to 1";
                    return fault("isotonic", "others".into(), expected.into());
                }
                list.iter().flat_map(|one| &one.knots).flat_map(|&(f, p)| [f, p]).collect()
            }
        };
        let scaling =
            self.scaling.iter().flat_map(|scaling| scaling.shift.iter().chain(&scaling.factor).copied());
        let curves = curves.into_iter().map(|number| (self.field_of_curves(), number));
        let numbers = scaling.map(|number| ("scaling", number)).chain(curves);
        let (field, found) = numbers.into_iter().find(|(_, number)| !number.is_finite())?;
        fault(field, found.to_string(), "a finite number".into())
    }
    /// Where the curves are in a file.
    fn field_of_curves(&self) -> &'static str {
        if matches!(self.curves, Some(Curves::Isotonic(_))) { "isotonic" } else { "sigmoids" }
    }
}

/// Whether knots are there, in their order.
fn is_rising(curve: &Isotonic) -> bool {
    let ends = curve.knots.first().zip(curve.knots.last());
    ends.is_some_and(|(first, last)| first.1 >= 0.0 && last.1 <= 1.0)
        && curve.knots.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1)
}
