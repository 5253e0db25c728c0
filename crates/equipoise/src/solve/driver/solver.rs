//! The way in: a problem, settings, perhaps a warm start, an observer, a way to stop.

use std::sync::Arc;

use crate::control::Control;
use crate::error::Result;
use crate::problem::Problem;
use crate::separable::SeparableTerm;
use crate::smooth::SmoothTerm;
use crate::solve::driver::budget::Budget;
use crate::solve::driver::checkpoints::Checkpoints;
use crate::solve::driver::choice::Choice;
use crate::solve::driver::sequential;
use crate::solve::gears::sampled::Outcome;
use crate::solve::gears::{sampled, violating};
use crate::solve::judge::Judge;
use crate::solve::observer::Observer;
use crate::solve::{Method, Settings, Solution};
use crate::team::Team;

/// Solves a problem with the given settings.
///
/// ```
/// use equipoise::{Coupling, Problem, Settings, Status, solve};
/// use equipoise::{separable::NonNegative, smooth::Distance};
/// // The point of the simplex nearest to (0.6, 0.9, -0.3).
/// let problem = Problem::builder(Distance::new(vec![0.6, 0.9, -0.3], 0.5)?)
///     .separable(NonNegative)
///     .coupling(Coupling::sum(1.0)?)
///     .build()?;
/// let solution = solve(&problem, &Settings::default())?;
/// assert_eq!(solution.status, Status::Converged);
/// assert!((solution.x[0] - 0.35).abs() < 1e-6 && solution.x[2] == 0.0);
/// # Ok::<(), equipoise::Error>(())
/// ```
pub fn solve<F: SmoothTerm, H: SeparableTerm>(
    problem: &Problem<F, H>,
    settings: &Settings,
) -> Result<Solution> {
    Solver::new(problem, settings).run()
}

/// A run with everything that may accompany it: a warm start, an observer, a way to stop it.
pub struct Solver<'a, F, H> {
    problem: &'a Problem<F, H>,
    settings: &'a Settings,
    start: Option<Vec<f64>>,
    observer: Option<&'a mut dyn Observer>,
    control: Control,
    judge: Option<&'a dyn Judge>,
    team: Option<Arc<Team>>,
}

impl<F, H> std::fmt::Debug for Solver<'_, F, H> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Solver").field("settings", self.settings).finish_non_exhaustive()
    }
}

impl<'a, F: SmoothTerm, H: SeparableTerm> Solver<'a, F, H> {
    /// A run on this problem with these settings.
    pub fn new(problem: &'a Problem<F, H>, settings: &'a Settings) -> Self {
        let control = Control::unlimited();
        Self { problem, settings, start: None, observer: None, control, judge: None, team: None }
    }

    /// Begins at x, which must be feasible (see [`Problem::nearest_feasible`]).
    #[must_use]
    pub fn warm_start(mut self, x: Vec<f64>) -> Self {
        self.start = Some(x);
        self
    }

    /// Is told of every checkpoint.
    #[must_use]
    pub fn observer(mut self, observer: &'a mut dyn Observer) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Stops, with the best iterate, soon after the control's flag is raised or its deadline has passed, also within
    /// passes over data.
    #[must_use]
    pub fn control(mut self, control: Control) -> Self {
        self.control = control;
        self
    }

    /// Leaves the decision that a point is good enough to someone who knows the problem better.
    #[must_use]
    pub fn judge(mut self, judge: &'a dyn Judge) -> Self {
        self.judge = Some(judge);
        self
    }

    /// Works with threads that are there already; otherwise as many as the settings allow and the work is worth.
    #[must_use]
    pub fn team(mut self, team: Arc<Team>) -> Self {
        self.team = Some(team);
        self
    }

    /// Runs until the certificate is met, a limit is reached or nothing moves.
    pub fn run(self) -> Result<Solution> {
        let problem = self.problem;
        self.settings.validate()?;
        let mut choice = Choice::of(problem, self.settings)?;
        // What runs sees the method that was chosen.
        let chosen = Settings { method: choice.method, ..self.settings.clone() };
        let by_columns = Settings { method: Method::Auto, ..chosen.clone() };
        let settings = &chosen;
        let warm = self.start.is_some();
        let start = match self.start {
            Some(x) => {
                problem.check_start(&x)?;
                x
            }
            None => problem.start().to_vec(),
        };
        let blocks = problem.blocks().len();
        // An epoch touches as many blocks as there are.
        let updates_per_epoch = if blocks == 1 { 1.0 } else { blocks as f64 / 2.0 };
        let budget = Budget::new(settings, updates_per_epoch, self.control);
        let observer = self.observer.map(|observer| -> &mut dyn Observer { observer });
        let checkpoints = Checkpoints::new(problem, settings, budget, observer, self.judge);
        let mut solution = match choice.method {
            Method::Violating => {
                let team = self.team.unwrap_or_else(|| Arc::new(violating::team(problem, settings)));
                violating::run(problem, settings, checkpoints, start, warm, &team)
            }
            Method::Stochastic | Method::Svrg | Method::Saga => {
                let may = choice.may_hand_over;
                match sampled::run(problem, settings, checkpoints, start, updates_per_epoch, may)? {
                    Outcome::Done(solution) => Ok(*solution),
                    Outcome::Slow { checkpoints, x, updates } => {
                        choice.reason.push_str("; then second-order steps, as they became slow");
                        sequential::run(problem, &by_columns, *checkpoints, x, updates_per_epoch, updates)
                    }
                }
            }
            _ => sequential::run(problem, settings, checkpoints, start, updates_per_epoch, 0),
        }?;
        solution.method = choice.method;
        solution.reason = choice.reason;
        Ok(solution)
    }
}
