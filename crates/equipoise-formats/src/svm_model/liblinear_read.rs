//! The text of a LIBLINEAR model, read.
//!
//! Words of the header may stand in any order before `w`. The numbers behind it are `nr_feature` times, and once
//! more for the bias if that is not negative, one for each decision function. The labels are put in ascending order;
//! with two labels, w is turned around if the first is the smaller. Where w.x + b is exactly 0 LIBLINEAR takes its
//! second label, and such a turned model still the smaller one.

use std::path::Path;
use std::str::FromStr;

use equipoise_models::svm::{Kind, LinearModel, Loss, TrainSettings};

use super::ModelFile;
use crate::{Error, Result};

const FIRST_WORD: &str = "solver_type";

/// Solvers whose models are read.
const SOLVERS: [(&str, Kind, Loss); 8] = [
    ("L2R_L1LOSS_SVC_DUAL", Kind::Svc, Loss::Hinge),
    ("L2R_L2LOSS_SVC_DUAL", Kind::Svc, Loss::SquaredHinge),
    ("L2R_L2LOSS_SVC", Kind::Svc, Loss::SquaredHinge),
    ("L1R_L2LOSS_SVC", Kind::Svc, Loss::SquaredHinge),
    ("L2R_L1LOSS_SVR_DUAL", Kind::Svr, Loss::Hinge),
    ("L2R_L2LOSS_SVR_DUAL", Kind::Svr, Loss::Hinge),
    ("L2R_L2LOSS_SVR", Kind::Svr, Loss::Hinge),
    ("ONECLASS_SVM", Kind::OneClass, Loss::Hinge),
];

/// Whether the first line is LIBLINEAR's.
pub(super) fn is_liblinear(text: &str) -> bool {
    text.split_whitespace().next() == Some(FIRST_WORD)
}

/// The lines of a file, with what a complaint needs.
struct Lines<'a> {
    path: &'a Path,
    rest: std::iter::Enumerate<std::str::Lines<'a>>,
    number: usize,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let (index, line) = self.rest.find(|(_, line)| !line.trim().is_empty())?;
        self.number = index + 1;
        Some(line)
    }

    fn malformed(&self, found: impl Into<String>, expected: impl Into<String>) -> Error {
        Error::Malformed {
            path: self.path.into(),
            line: self.number,
            found: found.into(),
            expected: expected.into(),
        }
    }

    fn number<T: FromStr>(&self, word: &str, expected: &str) -> Result<T> {
        word.parse().map_err(|_| self.malformed(format!("{word:?}"), expected))
    }

    fn finite(&self, word: &str) -> Result<f64> {
        let value: f64 = self.number(word, "a number")?;
        if value.is_finite() {
            Ok(value)
        } else {
            Err(self.malformed(format!("{word:?}"), "a finite number"))
        }
    }
}

/// What stands before the weights.
struct Header {
    solver: (Kind, Loss),
    classes: usize,
    labels: Vec<f64>,
    features: usize,
    bias: f64,
    rho: f64,
}

impl Header {
    fn read(lines: &mut Lines<'_>) -> Result<Self> {
        let mut header = Self {
            solver: (Kind::Svc, Loss::Hinge),
            classes: 0,
            labels: Vec::new(),
            features: 0,
            bias: -1.0,
            rho: 0.0,
        };
        loop {
            let Some(line) = lines.next() else {
                return Err(lines.malformed("the end of the file", "a line `w` and the weights"));
            };
            let mut words = line.split_whitespace();
            let key = words.next().unwrap_or_default();
            let value = words.next().unwrap_or_default();
            match key {
                FIRST_WORD => header.solver = solver(lines, value)?,
                "nr_class" => header.classes = lines.number(value, "a number of classes")?,
                "nr_feature" => header.features = lines.number(value, "a number of features")?,
                "bias" => header.bias = lines.finite(value)?,
                "rho" => header.rho = lines.finite(value)?,
                "label" => {
                    let list = line.split_whitespace().skip(1);
                    header.labels = list.map(|word| lines.finite(word)).collect::<Result<_>>()?;
                }
                "w" => break,
                other => {
                    let expected = "solver_type, nr_class, label, nr_feature, bias, rho or w";
                    return Err(lines.malformed(format!("{other:?}"), expected));
                }
            }
        }
        header.check(lines)?;
        Ok(header)
    }

    fn check(&self, lines: &Lines<'_>) -> Result<()> {
        let wanted = if self.solver.0 == Kind::Svc { self.classes } else { 0 };
        if self.classes < 2 {
            return Err(lines.malformed(format!("nr_class {}", self.classes), "nr_class 2 or more before w"));
        }
        if self.labels.len() != wanted {
            let found = format!("{} labels", self.labels.len());
            return Err(lines.malformed(found, format!("{wanted}, as nr_class and solver_type say")));
        }
        if u32::try_from(self.features).is_err() {
            return Err(lines.malformed(format!("nr_feature {}", self.features), "at most 4294967295"));
        }
        Ok(())
    }

    fn functions(&self) -> usize {
        if self.labels.len() > 2 { self.labels.len() } else { 1 }
    }
}

fn solver(lines: &Lines<'_>, word: &str) -> Result<(Kind, Loss)> {
    let found = SOLVERS.iter().find(|(name, ..)| *name == word);
    found.map(|&(_, kind, loss)| (kind, loss)).ok_or_else(|| {
        let known: Vec<&str> = SOLVERS.iter().map(|(name, ..)| *name).collect();
        lines.malformed(format!("solver_type {word:?}"), format!("one of {}", known.join(", ")))
    })
}

/// Reads a model.
pub(super) fn parse(text: &str, path: &Path) -> Result<ModelFile> {
    let mut lines = Lines { path, rest: text.lines().enumerate(), number: 1 };
    let header = Header::read(&mut lines)?;
    let functions = header.functions();
    let mut weights: Vec<Vec<f64>> = vec![Vec::new(); functions];
    for feature in 1..=header.features {
        let row = row(&mut lines, functions, feature)?;
        weights.iter_mut().zip(row).for_each(|(list, weight)| list.push(weight));
    }
    let mut bias = vec![-header.rho; functions];
    if header.bias >= 0.0 {
        let row = row(&mut lines, functions, header.features + 1)?;
        bias.iter_mut().zip(row).for_each(|(bias, weight)| *bias += weight * header.bias);
    }
    if let Some(line) = lines.next() {
        let found = line.trim().chars().take(20).collect::<String>();
        return Err(lines.malformed(format!("{found:?}"), "the end of the file after the weights"));
    }
    let (kind, loss) = header.solver;
    let features = (1..=u32::try_from(header.features).unwrap_or(u32::MAX)).collect();
    let TrainSettings { cost, nu, epsilon, .. } = TrainSettings::default();
    let (labels, class_weights) = (header.labels, Vec::new());
    let mut model = LinearModel { kind, loss, labels, cost, nu, epsilon, class_weights, weights, bias };
    put_in_order(&mut model);
    let file = ModelFile { model, features };
    file.fault().map_or(Ok(file), |fault| Err(fault.at(path)))
}

/// The numbers of one feature.
fn row(lines: &mut Lines<'_>, functions: usize, feature: usize) -> Result<Vec<f64>> {
    let Some(line) = lines.next() else {
        let expected = format!("line {feature} of the weights, as nr_feature and bias say");
        return Err(lines.malformed("the end of the file", expected));
    };
    let row: Vec<f64> = line.split_whitespace().map(|word| lines.finite(word)).collect::<Result<_>>()?;
    if row.len() == functions {
        return Ok(row);
    }
    Err(lines.malformed(format!("{} numbers", row.len()), format!("{functions}, one a decision function")))
}

/// Labels ascending; one decision function is positive for the larger.
fn put_in_order(model: &mut LinearModel) {
    let labels = std::mem::take(&mut model.labels);
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by(|&a, &b| labels[a].total_cmp(&labels[b]));
    model.labels = order.iter().map(|&k| labels[k]).collect();
    if labels.len() > 2 {
        model.bias = order.iter().map(|&k| model.bias[k]).collect();
        model.weights = order.iter().map(|&k| std::mem::take(&mut model.weights[k])).collect();
    } else if order.first() == Some(&0) {
        let numbers = model.weights[0].iter_mut().chain(&mut model.bias);
        numbers.for_each(|number| *number = -*number);
    }
}
