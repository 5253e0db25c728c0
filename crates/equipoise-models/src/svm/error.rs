//! What can be wrong with the data or the choices of a training run, with the evidence.
//!
//! Messages are those of [`equipoise::Error`] in style: lower-case, without a full stop; what, where, what was found
//! and what is allowed.

/// The caller's mistake, with the evidence that proves it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Labels of one class only, where a classifier needs two.
    #[error(
        "all {rows} labels are {label}; a classifier needs at least two different ones (or train kind one-class)"
    )]
    OneClassOnly {
        /// How many labels there are.
        rows: usize,
        /// The label found everywhere.
        label: f64,
    },
    /// More classes than the kind of model allows.
    #[error("{kind} needs two classes, found {found}; use svc, which trains one against the rest")]
    TooManyClasses {
        /// The kind of model.
        kind: &'static str,
        /// How many classes there are.
        found: usize,
    },
    /// A class weight for a label that does not occur.
    #[error("class-weight: no row has the label {label}; the labels are {known:?}")]
    UnknownLabel {
        /// The label named.
        label: f64,
        /// The labels that occur (the first few).
        known: Vec<f64>,
    },
    /// A model of other labels than the data have.
    #[error("the labels of the model, {model:?}, are not those of the data, {data:?}")]
    OtherLabels {
        /// Those of the model.
        model: Vec<f64>,
        /// Those of the data.
        data: Vec<f64>,
    },
    /// nu is larger than the classes allow.
    #[error(
        "nu is {found}; with these classes it can be at most {most} (twice the share of the smaller class)"
    )]
    NuTooLarge {
        /// The value found.
        found: f64,
        /// The largest feasible value.
        most: f64,
    },
    /// What any problem may have wrong: lengths, numbers out of range, settings.
    #[error(transparent)]
    Equipoise(#[from] equipoise::Error),
}

/// Shorthand for results of this model.
pub type Result<T> = std::result::Result<T, Error>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_names_its_evidence() {
        let samples: [(Error, &[&str]); 6] = [
            (Error::OneClassOnly { rows: 12, label: 3.5 }, &["all 12", "3.5", "two", "one-class"]),
            (Error::TooManyClasses { kind: "nu-svc", found: 4 }, &["nu-svc", "found 4", "svc"]),
            (
                Error::UnknownLabel { label: 2.5, known: vec![0.0, 1.0] },
                &["class-weight", "2.5", "[0.0, 1.0]"],
            ),
            (Error::OtherLabels { model: vec![1.5], data: vec![2.5] }, &["model, [1.5]", "data, [2.5]"]),
            (Error::NuTooLarge { found: 0.75, most: 0.5 }, &["nu is 0.75", "at most 0.5"]),
            (Error::Equipoise(equipoise::Error::EmptyProblem), &["no variables"]),
        ];
        for (error, evidence) in samples {
            let message = error.to_string();
            assert!(!message.contains('\n') && !message.ends_with('.'), "{message:?}");
            assert!(!message.starts_with(char::is_uppercase), "{message:?}");
            for name in evidence {
                assert!(message.contains(name), "{message:?} does not name {name:?}");
            }
        }
    }
}
