//! A point beside the data, trusting nobody: its objective, and a bound that is found anew from all rows at once.
//!
//! Given: a problem and x, wherever it comes from. Returns: both, proven. Must not know: who found x, over which graph.

use equipoise::graph::Graph;
use equipoise::{Control, Status, Team};

use crate::error::Error;
use crate::fit::{Keeper, Watch, check_point};
use crate::problem::{Loss, Problem};
use crate::proof;
use crate::settings::Settings;
use crate::{pairs, tree};

/// What was found about a point.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Checked {
    /// Whether the gap is as small as asked for.
    pub is_met: bool,
    /// F(x) from above.
    pub objective: f64,
    /// What no point gets below.
    pub bound: f64,
    /// `(objective - bound) / |objective|`, from above.
    pub relative_gap: f64,
}

/// Checks a point against all rows; `gap` is what is allowed.
pub fn verify(problem: &Problem, x: &[f64], gap: f64, control: &Control) -> Result<Checked, Error> {
    let settings = Settings { gap: 0.1 * gap, ..Settings::default() };
    Settings { gap, ..Settings::default() }.check()?;
    check_point(problem, x)?;
    let all = problem.joined()?;
    let (team, watch) = (Team::of(1), Watch { observer: None, control: control.clone() });
    let mut keeper = Keeper::new(&all, &settings, watch, &team);
    let ended = if problem.model.loss == Loss::Hinge && tree::suits(&all) {
        tree::run(&all, &Graph::single(), None, &mut keeper)?
    } else {
        pairs::run(&all, &Graph::single(), Some(x), None, &mut keeper)?
    };
    let Some(duals) = keeper.duals() else {
        control.check()?;
        return Err(equipoise::Error::from(equipoise::Halt::TimeLimit).into());
    };
    if matches!(ended.status, Status::Interrupted | Status::TimeLimit) {
        control.check()?;
    }
    let bounds = proof::prove(&all, x, &duals, &team, control)?;
    let relative_gap = bounds.relative_gap();
    Ok(Checked {
        is_met: relative_gap <= gap,
        objective: bounds.objective,
        bound: bounds.bound,
        relative_gap,
    })
}
