//! Sweeps over the coordinates that may move: each is looked at, and moved with a partner where it wants to. Where there are
//! several rows, none of which has a coordinate of another, each has its own partners and its own multiplier.

use super::Fit;
use crate::archive::Archive;
use crate::error::{Error, Result};
use crate::pair_step::scalar::{Unbounded, free_scalar};
use crate::problem::Problem;
use crate::selection::{Choice, Slopes, ViolatingPairs, Way};
use crate::separable::{ClosedForm, SeparableTerm, Values};
use crate::smooth::SmoothTerm;
use crate::solve::driver::limits::Limits;
use crate::solve::gears::Task;
use crate::solve::pairs::metric::Metric;
use crate::solve::pairs::{OnRow, PairUpdater};
use crate::solve::steps::proximal_newton::ProximalNewton;
use crate::solve::{Settings, Status};
use crate::state::{Iterate, State};

/// Coordinates whose slopes give the first multiplier.
const SAMPLE: usize = 256;
/// Coordinates between two looks at the clock.
const VISITS_PER_LOOK: u32 = 1024;

/// What every coordinate gives to its row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row<'r>(pub(super) &'r Values);

impl Row<'_> {
    #[inline]
    pub(super) fn at(self, c: usize) -> f64 {
        self.0.at(c)
    }
}

/// What was done, and what may be.
#[derive(Debug)]
pub(super) struct Tally {
    dimension: f64,
    /// Pair updates and steps on faces.
    pub(super) updates: u64,
    /// Coordinates looked at.
    pub(super) visits: u64,
    newton_steps: u64,
    passes: f64,
    most_updates: u64,
    most_visits: u64,
    most_epochs: f64,
}

impl Tally {
    pub(super) fn new(settings: &Settings, dimension: usize) -> Self {
        let most_epochs = settings.max_epochs.unwrap_or(f64::INFINITY);
        Self {
            dimension: dimension as f64,
            updates: 0,
            visits: 0,
            newton_steps: 0,
            passes: 0.0,
            most_updates: settings.max_updates.unwrap_or(u64::MAX),
            most_visits: (most_epochs * dimension as f64).ceil() as u64,
            most_epochs,
        }
    }

    /// Takes note of what Newton steps have spent.
    pub(super) fn count<H: SeparableTerm>(&mut self, newton: &ProximalNewton<'_, H>) {
        (self.newton_steps, self.passes) = (newton.newton_steps(), newton.passes());
    }

    /// Leaves Newton steps what is left.
    pub(super) fn limit<H: SeparableTerm>(&self, newton: &mut ProximalNewton<'_, H>) {
        newton.limit(self.most_updates.saturating_sub(self.updates), self.most_epochs - self.sweeps());
    }

    /// Shows an archive what was done.
    pub(super) fn carry(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        [&mut self.updates, &mut self.visits, &mut self.newton_steps]
            .into_iter()
            .try_for_each(|count| archive.work(count))?;
        archive.number(&mut self.passes)
    }

    /// Sweeps made.
    pub(super) fn sweeps(&self) -> f64 {
        self.visits as f64 / self.dimension
    }

    pub(super) fn epochs(&self) -> f64 {
        self.sweeps() + self.passes
    }

    pub(super) fn all_updates(&self) -> u64 {
        self.updates + self.newton_steps
    }

    /// Updates that may still be made.
    pub(super) fn updates_left(&self) -> usize {
        usize::try_from(self.most_updates.saturating_sub(self.all_updates())).unwrap_or(usize::MAX)
    }

    /// Whether no more may be done, whatever the clock says.
    #[inline]
    pub(super) fn is_used_up(&self) -> bool {
        self.visits >= self.most_visits || self.all_updates() >= self.most_updates
    }

    /// Why there should be no more, if so.
    pub(super) fn over(&self, limits: &Limits) -> Option<Status> {
        let used_up = self.all_updates() >= self.most_updates || self.epochs() >= self.most_epochs;
        limits.stop().or(used_up.then_some(Status::IterationLimit))
    }
}

/// Makes sweeps.
#[derive(Debug)]
pub(super) struct Sweeper<'r, F, H> {
    f: &'r F,
    row: Row<'r>,
    h: &'r H,
    pieces: ClosedForm<'r, H>,
    step_size: f64,
    /// One for every row.
    selections: Vec<ViolatingPairs>,
    pub(super) pairs: PairUpdater<'r, H>,
    /// Whether the objective is known never to fall for ever.
    has_floor: bool,
}

impl<'r, F: SmoothTerm, H: SeparableTerm> Sweeper<'r, F, H> {
    pub(super) fn new(
        problem: &'r Problem<F, H>,
        Fit { row, rows, h, pieces }: Fit<'r, H>,
        settings: &Settings,
    ) -> Self {
        let selection = |(k, members)| ViolatingPairs::new(members, settings.seed.wrapping_add(k as u64));
        Self {
            f: problem.smooth(),
            row,
            h,
            pieces,
            step_size: settings.step_size,
            selections: rows.into_iter().enumerate().map(selection).collect(),
            has_floor: problem.view().has_floor(),
            pairs: PairUpdater::with_metric(
                problem,
                settings,
                Metric::of_scalars(problem.view(), settings.step_size),
            ),
        }
    }

    /// For every row a multiplier at which about as many of its coordinates want to rise as to fall, from a sample of them.
    pub(super) fn first_multipliers(&mut self, state: &State) {
        for k in 0..self.selections.len() {
            let members = self.selections[k].members();
            let mut slopes = Vec::new();
            for c in members.iter().step_by((members.len() / SAMPLE).max(1)) {
                let a = self.row.at(c);
                if a != 0.0 {
                    let (_, Slopes { rise, fall }) = self.slopes(state, c, a);
                    slopes.extend([rise, fall].into_iter().filter(|slope| slope.is_finite()));
                }
            }
            if !slopes.is_empty() {
                let middle = slopes.len() / 2;
                let (_, &mut median, _) = slopes.select_nth_unstable_by(middle, f64::total_cmp);
                self.selections[k].multiplier = -median;
            }
        }
    }

    /// The multipliers of the rows.
    pub(super) fn multipliers(&self) -> Vec<f64> {
        self.selections.iter().map(|selection| selection.multiplier).collect()
    }

    /// Everyone comes back, at these multipliers: x was moved by someone else.
    pub(super) fn restart(&mut self, multipliers: &[f64]) {
        self.selections.iter_mut().zip(multipliers).for_each(|(row, multiplier)| row.restart(*multiplier));
    }

    /// Gives the memory of the active sets back until the next [`restart`](Self::restart).
    pub(super) fn rest(&mut self) {
        self.selections.iter_mut().for_each(ViolatingPairs::rest);
    }

    /// Leaves an evenly spaced sample of so many coordinates, until all come back.
    pub(super) fn thin_out(&mut self, most: usize) {
        let all: usize = self.selections.iter().map(|selection| selection.members().len()).sum();
        for selection in &mut self.selections {
            selection.thin_out((most * selection.members().len()).div_ceil(all));
        }
    }

    /// Shows an archive what sweeps to come depend on.
    pub(super) fn carry(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        self.selections.iter_mut().try_for_each(|selection| selection.carry(archive))?;
        self.pairs.carry(archive)
    }

    /// So many sweeps over the active set; why they were ended, if they were.
    pub(super) fn sweep(
        &mut self,
        state: &mut State,
        tally: &mut Tally,
        task: &mut Task<'_>,
        count: u32,
    ) -> Result<Option<Status>> {
        let before = tally.all_updates();
        for _ in 0..count {
            let mut look = VISITS_PER_LOOK;
            for row in 0..self.selections.len() {
                while let Some(i) = self.selections[row].next() {
                    self.visit(state, tally, row, i)?;
                    look -= 1;
                    if look == 0 || tally.is_used_up() {
                        look = VISITS_PER_LOOK;
                        if let Some(status) = tally.over(task.limits) {
                            return Ok(Some(status));
                        }
                    }
                }
            }
            if let Some(status) = tally.over(task.limits) {
                return Ok(Some(status));
            }
            (task.heartbeat)(tally.all_updates() - before, Some(tally.epochs()));
        }
        Ok(None)
    }

    /// Looks at coordinate i, and moves it with a partner where it wants to move and one is known.
    #[inline]
    fn visit(&mut self, state: &mut State, tally: &mut Tally, row: usize, i: usize) -> Result<()> {
        tally.visits += 1;
        let a = self.row.at(i);
        if a == 0.0 {
            return self.alone(state, i);
        }
        let (g, slopes) = self.slopes(state, i, a);
        if let Choice::Pair { way, partner } = self.selections[row].consider(i, slopes) {
            self.pair(state, tally, row, [i, partner], a, g, slopes, way)?;
        }
        Ok(())
    }

    /// Moves a coordinate that the row does not bind.
    fn alone(&mut self, state: &mut State, i: usize) -> Result<()> {
        let g = self.f.partial(i, &state.x, &state.product);
        let d = self.f.curvature(i) / self.step_size;
        match free_scalar(state.x[i], g, d, self.pieces.piece(i)) {
            Ok(z) => state.set(self.f, i, z),
            // Curvature that underflowed: nothing moves.
            Err(Unbounded) if self.has_floor => {}
            Err(Unbounded) => return Err(Error::Unbounded { coordinates: vec![i] }),
        }
        Ok(())
    }

    /// Moves a pair, if its slopes are still what the pool believed.
    #[inline]
    #[expect(clippy::too_many_arguments, reason = "what the visit knows already")]
    fn pair(
        &mut self,
        state: &mut State,
        tally: &mut Tally,
        row: usize,
        c: [usize; 2],
        a: f64,
        g: f64,
        slopes: Slopes,
        way: Way,
    ) -> Result<()> {
        let b = self.row.at(c[1]);
        let (partner_g, partner) = self.slopes(state, c[1], b);
        tally.visits += 1;
        let paired = match way {
            Way::Rise => [slopes.rise, partner.fall],
            Way::Fall => [slopes.fall, partner.rise],
        };
        let opposed = if way == Way::Rise { paired[0] < paired[1] } else { paired[0] > paired[1] };
        if !opposed {
            self.selections[row].settle(way, c[1], paired, false, None);
            return Ok(());
        }
        let on_row = OnRow { row, pair: c, c, a: [a, b] };
        let moved = self.pairs.pair_with_gradient(self.h, self.f, state, on_row, [g, partner_g])?;
        tally.updates += 1;
        // The partner's slope by its own curvature alone: cheap, and renewed before it is used.
        let (lo, hi) = self.h.subdifferential(c[1], state.x[c[1]]);
        let g_after = partner_g + self.f.curvature(c[1]) * moved[1];
        let falls = (way == Way::Rise) == (b > 0.0);
        let after = (g_after + if falls { lo } else { hi }) / b;
        self.selections[row].settle(way, c[1], paired, moved[1] != 0.0, after.is_finite().then_some(after));
        Ok(())
    }

    /// The partial derivative of f at coordinate c, and the slopes of the objective per unit of the row.
    #[inline]
    fn slopes(&self, state: &State, c: usize, a: f64) -> (f64, Slopes) {
        let g = self.f.partial(c, &state.x, &state.product);
        let (lo, hi) = self.h.subdifferential(c, state.x[c]);
        let slopes = if a > 0.0 {
            Slopes { rise: (g + hi) / a, fall: (g + lo) / a }
        } else {
            Slopes { rise: (g + lo) / a, fall: (g + hi) / a }
        };
        (g, slopes)
    }
}
