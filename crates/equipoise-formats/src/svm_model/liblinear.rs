//! The text that LIBLINEAR's `predict` accepts, written.
//!
//! ```text
//! solver_type L2R_L1LOSS_SVC_DUAL      also L2R_L2LOSS_SVC_DUAL, L2R_L1LOSS_SVR_DUAL, ONECLASS_SVM
//! nr_class 2                           2 where there are no labels
//! label 1 -1                           with two labels, w.x > 0 means the first
//! nr_feature 3                         the largest feature
//! bias 1                               a feature of this value behind the others; -1: none
//! rho 0.5                              one-class only: w.x > rho is inside
//! w
//! 0.5                                  a line a feature, a number a decision function; last the bias
//! ```
//!
//! A model with nu is written as its classifier: the decision functions are of one form. LIBLINEAR's labels are
//! 32-bit integers and its features signed ones.

use std::io::{self, Write};

use equipoise_models::svm::{Kind, LinearModel, Loss};

use super::{Fault, ModelFile};

/// The largest feature: the bias needs one more.
const LARGEST: u32 = i32::MAX as u32 - 1;

/// The name of the solver whose models have this form.
fn solver(model: &LinearModel) -> &'static str {
    match (model.kind, model.loss) {
        (Kind::Svc | Kind::NuSvc, Loss::Hinge) => "L2R_L1LOSS_SVC_DUAL",
        (Kind::Svc | Kind::NuSvc, Loss::SquaredHinge) => "L2R_L2LOSS_SVC_DUAL",
        (Kind::Svr, _) => "L2R_L1LOSS_SVR_DUAL",
        (Kind::OneClass, _) => "ONECLASS_SVM",
    }
}

/// What LIBLINEAR's text cannot hold.
pub(super) fn fault(labels: &[f64], features: &[u32]) -> Option<Fault> {
    let integer = |label: f64| label.fract() == 0.0 && label.abs() <= f64::from(i32::MAX);
    if let Some(place) = labels.iter().position(|&label| !integer(label)) {
        return Some(Fault {
            field: format!("labels[{place}]"),
            found: labels[place].to_string(),
            expected: "an integer of 32 bits, as LIBLINEAR needs; use --format equipoise".into(),
        });
    }
    let largest = features.last().copied().unwrap_or(0);
    (largest > LARGEST).then(|| Fault {
        field: "features".into(),
        found: format!("feature {largest}"),
        expected: format!("at most {LARGEST}, as LIBLINEAR needs; use --format equipoise"),
    })
}

/// Writes a model, checked before.
pub(super) fn write(out: &mut impl Write, file: &ModelFile) -> io::Result<()> {
    let ModelFile { model, features } = file;
    writeln!(out, "solver_type {}", solver(model))?;
    writeln!(out, "nr_class {}", model.labels.len().max(2))?;
    if !model.labels.is_empty() {
        let mut labels: Vec<String> = model.labels.iter().map(f64::to_string).collect();
        if labels.len() == 2 {
            labels.reverse();
        }
        writeln!(out, "label {}", labels.join(" "))?;
    }
    writeln!(out, "nr_feature {}", features.last().copied().unwrap_or(0))?;
    let one_class = model.kind == Kind::OneClass;
    if one_class {
        writeln!(out, "bias -1\nrho {:?}", -model.bias[0])?;
    } else {
        writeln!(out, "bias 1")?;
    }
    writeln!(out, "w")?;
    let zeros = "0 ".repeat(model.weights.len());
    let mut next = 1;
    for (column, &feature) in features.iter().enumerate() {
        for _ in next..feature {
            writeln!(out, "{zeros}")?;
        }
        next = feature + 1;
        line(out, model.weights.iter().map(|weights| weights[column]))?;
    }
    if one_class { Ok(()) } else { line(out, model.bias.iter().copied()) }
}

/// Numbers that come back bit for bit, each with a blank behind it, as LIBLINEAR writes them.
fn line(out: &mut impl Write, numbers: impl Iterator<Item = f64>) -> io::Result<()> {
    for number in numbers {
        write!(out, "{number:?} ")?;
    }
    writeln!(out)
}
