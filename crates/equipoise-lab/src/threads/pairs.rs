//! The paper's experiment with support vector machines: random pairs of the dual, on a clique.
//!
//! Notation: `x_i` is a row, `y_i` its label, C the cost, `beta_i = y_i alpha_i`. The dual as a minimisation:
//!
//! ```text
//! minimise  1/2 |X'beta|^2 - y'beta   subject to   sum beta = 0,  beta_i between 0 and y_i C
//! ```

use anyhow::{Context, Result};
use equipoise::graph::Topology;
use equipoise::separable::{Bounds, Values};
use equipoise::smooth::Gram;
use equipoise::{Coupling, Problem};
use equipoise_models::svm::{TrainSettings, Watch, train};

use super::Arguments;
use super::data::Data;
use super::measure::Experiment;
use super::record::Record;

const COST: f64 = 1.0;
/// The share of the dual optimum that a run has to reach.
const SHARE: f64 = 0.9999;
/// Sets and their dual optima at C = 1.
const SETS: [(&str, f64); 2] = [("a7a", 5699.254266), ("w8a", 1486.820595)];

/// Measures every set.
pub(super) fn run(arguments: &Arguments, record: &mut Record) -> Result<()> {
    if arguments.quick {
        let data = Data::generated(500, 100)?;
        let settings = TrainSettings { cost: COST, gap: 1e-8, ..TrainSettings::default() };
        let optimum = train(data.samples(), &settings, None, Watch::default())?.report.dual();
        return measure(arguments, "generated", &data, optimum, record);
    }
    for (name, optimum) in SETS {
        if Arguments::wants(arguments.sets.as_deref(), name) {
            let folder = arguments.data.as_deref().context("this part needs --data FOLDER")?;
            measure(arguments, name, &Data::read(folder, name)?, optimum, record)?;
        }
    }
    Ok(())
}

fn measure(arguments: &Arguments, name: &str, data: &Data, optimum: f64, record: &mut Record) -> Result<()> {
    let problem = dual(data)?;
    let experiment = Experiment {
        part: "svm-pairs",
        name: name.to_owned(),
        topology: "clique",
        problem: &problem,
        target: -SHARE * optimum,
        time_limit: arguments.limit(),
    };
    experiment.rounds(&arguments.selection().pairs(), record)
}

/// The dual of the hinge loss.
fn dual(data: &Data) -> Result<Problem<Gram<'_>, Bounds>> {
    let each = |value: fn(f64) -> f64| Values::Each(data.labels.iter().map(|y| value(*y)).collect());
    let f = Gram::new(&data.rows, 0.0, each(|y| -y))?;
    let h = Bounds::new(each(|y| (COST * y).min(0.0)), each(|y| (COST * y).max(0.0)))?;
    let start = vec![0.0; data.labels.len()];
    let builder = Problem::builder(f).separable(h).coupling(Coupling::sum(0.0)?);
    Ok(builder.graph(Topology::Clique).start(start).build()?)
}

#[cfg(test)]
mod tests {
    use equipoise::{Settings, solve};

    use super::*;

    #[test]
    fn the_dual_is_that_of_training() {
        let data = Data::generated(60, 30).expect("valid");
        let settings = TrainSettings { cost: COST, gap: 1e-9, ..TrainSettings::default() };
        let trained = train(data.samples(), &settings, None, Watch::default()).expect("a model");
        let problem = dual(&data).expect("valid");
        let settings = Settings { tolerance: 1e-10, ..Settings::default() };
        let solution = solve(&problem, &settings).expect("a run");
        let (ours, theirs) = (-solution.certificate.objective, trained.report.dual());
        assert!((ours - theirs).abs() < 1e-7 * theirs, "{ours} {theirs}");
        assert!((data.primal(&trained.model) - theirs).abs() < 1e-7 * theirs);
    }
}
