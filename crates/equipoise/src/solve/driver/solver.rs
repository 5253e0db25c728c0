//! The way in: a problem, settings, perhaps a warm start, an observer, a way to stop.

use std::sync::Arc;
use std::time::Instant;

use crate::certificate::{Effort, Proposal, certify};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::separable::SeparableTerm;
use crate::smooth::SmoothTerm;
use crate::solve::driver::across::Across;
use crate::solve::driver::checkpoints::Checkpoints;
use crate::solve::driver::choice::Choice;
use crate::solve::driver::limits::Limits;
use crate::solve::driver::run::{self, Ended, Plan};
use crate::solve::judge::{Judge, Verdict};
use crate::solve::observer::Observer;
use crate::solve::{Experiment, Keeper, Method, Settings, Snapshot, Solution, Status};
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
    dual: Option<(Vec<f64>, Vec<f64>)>,
    observer: Option<&'a mut dyn Observer>,
    control: Control,
    team: Option<Arc<Team>>,
    experiment: Option<&'a dyn Experiment>,
    keeper: Option<&'a mut dyn Keeper>,
    resumed: Option<&'a Snapshot>,
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
        Self {
            problem,
            settings,
            start: None,
            dual: None,
            observer: None,
            control,
            team: None,
            experiment: None,
            keeper: None,
            resumed: None,
        }
    }

    /// Begins at x, which must be feasible (see [`Problem::nearest_feasible`]).
    #[must_use]
    pub fn warm_start(mut self, x: Vec<f64>) -> Self {
        self.start = Some(x);
        self
    }

    /// Knows the dual point that goes with the x of [`warm_start`](Self::warm_start), and multipliers of the rows: for
    /// `f(x) = 1/2 |Z x|_W^2 + ...` a vector near `W Z x` at the optimum, which may be nearer to it than that of x. The method
    /// `violating` begins there where every coordinate has curvature of its own; whether that is any good the first step finds.
    /// Where rows are redundant, or for any other method, it is not looked at.
    #[must_use]
    pub fn warm_dual(mut self, dual: Vec<f64>, multipliers: Vec<f64>) -> Self {
        self.dual = Some((dual, multipliers));
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

    /// Works with threads that are there already; otherwise as many as the settings allow and the work is worth. Where the team is
    /// one of a world ([`Team::across`]) the problem is this rank's share of a larger one: its coordinates, its columns, and rows
    /// whose right-hand sides add up to those of the whole; only [`Solver::run_judged`] runs then.
    #[must_use]
    pub fn team(mut self, team: Arc<Team>) -> Self {
        self.team = Some(team);
        self
    }

    /// Changes what several threads do, for the sake of an experiment.
    #[must_use]
    pub fn experiment(mut self, experiment: &'a dyn Experiment) -> Self {
        self.experiment = Some(experiment);
        self
    }

    /// Hands out snapshots, from which the run can go on another time.
    #[must_use]
    pub fn keeper(mut self, keeper: &'a mut dyn Keeper) -> Self {
        self.keeper = Some(keeper);
        self
    }

    /// Goes on with an earlier run on the same problem with the same settings (limits on time aside), which handed out this
    /// snapshot. Where that is [exact](Snapshot::is_exact) the result has the same bits, and a warm start is not looked at;
    /// otherwise the run begins anew at its x.
    #[must_use]
    pub fn resume(mut self, snapshot: &'a Snapshot) -> Self {
        self.resumed = Some(snapshot);
        self
    }

    /// Runs until the certificate is met, a limit is reached or nothing moves.
    pub fn run(self) -> Result<Solution> {
        if self.team.as_ref().is_some_and(|team| team.is_spread()) {
            let (what, with, advice) = ("a run on ranks", "a certificate by tolerance", "bring a judge");
            return Err(Error::Unsupported { what, with, advice });
        }
        let (problem, settings, began) = (self.problem, self.settings, Instant::now());
        let Ran { ended, seed, choice } = match self.ran(None) {
            Err(overflow @ Error::NonFiniteIterate { .. }) => {
                return at_the_start(problem, settings, overflow, began.elapsed().as_secs_f64());
            }
            ran => ran?,
        };
        let view = problem.view();
        let certificate = match ended.finding.certificate.clone() {
            Some(certificate) => certificate,
            None => certify(view, &ended.x, Effort::Quick, &Proposal::NONE, &Control::unlimited())?,
        };
        Ok(solution(ended, certificate, seed, choice))
    }

    /// The same, but a judge who knows the problem better decides that a point is good enough.
    pub fn run_judged(self, judge: &dyn Judge) -> Result<Solution<Verdict>> {
        if let Some(team) = self.team.as_ref().filter(|team| team.is_spread()) {
            self.settings.validate()?;
            let observer = self.observer.map(|observer| -> &mut dyn Observer { observer });
            let (team, control, settings) = (Arc::clone(team), self.control, self.settings);
            let start = self.start.unwrap_or_else(|| self.problem.start().to_vec());
            let keeper = self.keeper.map(|keeper| -> &mut dyn Keeper { keeper });
            let across = Across { settings, team, control, observer, judge, keeper, resumed: self.resumed };
            return across.run(self.problem, start);
        }
        let Ran { ended, seed, choice } = self.ran(Some(judge))?;
        let verdict = ended.finding.verdict.clone();
        Ok(solution(ended, verdict, seed, choice))
    }

    fn ran(self, judge: Option<&dyn Judge>) -> Result<Ran> {
        let problem = self.problem;
        self.settings.validate()?;
        let mut choice = Choice::of(problem, self.settings)?;
        // What runs sees the method that was chosen.
        let chosen = Settings { method: choice.method, ..self.settings.clone() };
        let by_columns = Settings { method: Method::Auto, ..chosen.clone() };
        let warm = self.start.is_some() || self.resumed.is_some();
        let start = match (self.resumed, self.start) {
            (Some(snapshot), _) => {
                if snapshot.x.len() != problem.dimension() {
                    return Err(Error::BadSnapshot { what: "it has another number of variables" });
                }
                // An iterate that a run goes on with is as feasible as it was.
                if !snapshot.exact {
                    problem.check_start(&snapshot.x, &self.control)?;
                }
                snapshot.x.clone()
            }
            (None, Some(x)) => {
                problem.check_start(&x, &self.control)?;
                x
            }
            (None, None) => problem.start().to_vec(),
        };
        let blocks = problem.blocks().len();
        // An epoch touches as many blocks as there are.
        let updates_per_epoch = if blocks == 1 { 1.0 } else { blocks as f64 / 2.0 };
        let limits = Limits::new(&chosen, updates_per_epoch, self.control);
        let observer = self.observer.map(|observer| -> &mut dyn Observer { observer });
        let checkpoints = Checkpoints::new(problem.view(), &chosen, limits, observer, judge);
        let next = choice.may_hand_over.then_some(&by_columns);
        let plan = Plan {
            problem,
            settings: &chosen,
            next,
            updates_per_epoch,
            warm,
            dual: self.dual.as_ref(),
            may_go_inside: self.settings.method == Method::Auto
                && self.settings.step_size == Settings::default().step_size,
            team: self.team,
            experiment: self.experiment,
            keeper: self.keeper.map(|keeper| -> &mut dyn Keeper { keeper }),
            resumed: self.resumed.filter(|snapshot| snapshot.exact),
        };
        let ended = run::run(plan, checkpoints, start)?;
        if ended.handed_over {
            choice.reason.push_str("; then second-order steps, as they became slow");
        }
        Ok(Ran { ended, seed: chosen.seed, choice })
    }
}

/// Numbers beyond the largest prove nothing: the run ends where it began, and says why. What is no number there either is
/// the fault of a term.
fn at_the_start<F: SmoothTerm, H: SeparableTerm>(
    problem: &Problem<F, H>,
    settings: &Settings,
    overflow: Error,
    seconds: f64,
) -> Result<Solution> {
    let Error::NonFiniteIterate { what, found, updates } = overflow else { return Err(overflow) };
    let x = problem.start().to_vec();
    let certificate = certify(problem.view(), &x, Effort::Quick, &Proposal::NONE, &Control::unlimited())?;
    if certificate.objective.is_nan() {
        return Err(overflow);
    }
    let Choice { method, reason, .. } = Choice::of(problem, settings)?;
    let comma = if reason.is_empty() { "" } else { "; " };
    Ok(Solution {
        status: Status::Stalled,
        x,
        certificate,
        updates,
        epochs: 0.0,
        seconds,
        preparation_seconds: 0.0,
        threads: 1,
        seed: settings.seed,
        method,
        reason: format!(
            "{reason}{comma}{what} became {found} after {updates} updates: numbers of this size are beyond double \
             precision, and x is the start"
        ),
        candidates: Vec::new(),
    })
}

/// A run that is over.
struct Ran {
    ended: Ended,
    seed: u64,
    choice: Choice,
}

fn solution<C>(ended: Ended, certificate: C, seed: u64, choice: Choice) -> Solution<C> {
    Solution {
        status: ended.status,
        x: ended.x,
        certificate,
        updates: ended.spent.updates,
        epochs: ended.spent.epochs,
        seconds: ended.seconds,
        preparation_seconds: ended.spent.preparation,
        threads: ended.spent.threads.max(1),
        seed,
        method: choice.method,
        reason: choice.reason,
        candidates: ended.candidates,
    }
}
