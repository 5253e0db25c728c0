//! Steps beyond pairs: over all blocks at once, where pairs do too little.
//!
//! | step | for whom |
//! |---|---|
//! | proximal step over all blocks | pairs that stall |
//! | the same, second-order steps on the free variables, proximal Newton steps | `auto`, after every round |
//! | a step from the interior | `auto`: first where there are many rows, elsewhere once as much was done as it costs, and at the end |
//! | second-order steps on a copy, only to see whether the objective falls for ever | everyone else, now and then |
//! | the ray from 0 through x, to see the same | everyone whose x is far out |
//!
//! None of them raises the objective. Must not know: when they are taken, gears.

use crate::archive::Archive;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::problem::{Problem, View};
use crate::separable::SeparableTerm;
use crate::smooth::SmoothTerm;
use crate::solve::Metric;
use crate::solve::gain;
use crate::solve::gears::Attempt;
use crate::solve::steps::free_step::FreeStep;
use crate::solve::steps::full_step::FullStep;
use crate::solve::steps::interior_step::InteriorStep;
use crate::solve::steps::proximal_newton::{Outcome, ProximalNewton};
use crate::solve::steps::ray;
use crate::state::State;

/// Hessian products of second-order steps, from the epochs so far: at least, and at most.
const PRODUCTS: (f64, f64) = (20.0, 400.0);
/// The same of a sounding.
const PRODUCTS_OF_SOUNDING: usize = 20;

/// What moves all blocks at once.
pub(crate) struct Beyond<'r, H> {
    view: View<'r>,
    /// Made when it is first needed, unless the pairs have one.
    metric: Option<Metric>,
    full_step: FullStep,
    second_order: Option<SecondOrder<'r, H>>,
    pub(crate) interior: Option<InteriorStep>,
}

/// What `auto` has beside.
struct SecondOrder<'r, H> {
    newton: Option<ProximalNewton<'r, H>>,
}

impl<'r, H: SeparableTerm> Beyond<'r, H> {
    pub(crate) fn new<F: SmoothTerm>(
        problem: &'r Problem<F, H>,
        metric: Option<Metric>,
        second_order: bool,
        inside: bool,
    ) -> Self {
        let second_order = second_order.then(|| SecondOrder { newton: ProximalNewton::new(problem) });
        let view = problem.view();
        let interior = if inside { InteriorStep::new(view) } else { None };
        Self { view, metric, full_step: FullStep::new(), second_order, interior }
    }

    /// Whether second-order steps are taken.
    pub(crate) fn has_second_order(&self) -> bool {
        self.second_order.is_some()
    }

    /// Shows an archive what steps to come depend on.
    pub(crate) fn carry(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        self.full_step.carry(self.view.independent_coupling().rows(), archive)?;
        if let Some(interior) = &mut self.interior {
            interior.carry(archive)?;
        }
        match &mut self.second_order {
            Some(SecondOrder { newton: Some(newton) }) => newton.carry(archive),
            _ => Ok(()),
        }
    }

    /// A proximal step; returns by how much the objective fell.
    pub(crate) fn full_step(&mut self, state: &mut State, control: &Control) -> Attempt<f64> {
        let metric = self.metric.get_or_insert_with(|| Metric::new(self.view, 1.0));
        Ok(self.full_step.take(self.view, metric, state, control)?)
    }

    /// A proximal step, then second-order ones until they know the gap to be small enough, find nothing, or have reached
    /// the target.
    pub(crate) fn second_order(
        &mut self,
        state: &mut State,
        lambda: &[f64],
        epochs: f64,
        wanted_gap: f64,
        target: Option<f64>,
        control: &Control,
    ) -> Attempt<()> {
        let view = self.view;
        let at_target =
            |state: &State| target.is_some_and(|target| view.value(&state.x, &state.product) <= target);
        self.full_step(state, control)?;
        if at_target(state) {
            return Ok(());
        }
        let metric = self.metric.get_or_insert_with(|| Metric::new(view, 1.0));
        let products = epochs.clamp(PRODUCTS.0, PRODUCTS.1) as usize;
        FreeStep { view, metric, control }.take(state, products)??;
        let Some(SecondOrder { newton: Some(newton) }) = &mut self.second_order else { return Ok(()) };
        if at_target(state) {
            return Ok(());
        }
        newton.restart(lambda);
        let (start, before) = (state.x.clone(), view.value(&state.x, &state.product));
        loop {
            let outcome = newton.step(&mut state.x, control);
            if !matches!(outcome, Outcome::Moved { .. }) || outcome.seems_within(wanted_gap) {
                break;
            }
        }
        state.refresh(view.smooth(), control)?;
        // They keep products of their own: what turns out to have raised the objective is taken back.
        if gain::rose(before, view.value(&state.x, &state.product)) {
            state.x = start;
            state.refresh(view.smooth(), control)?;
        }
        Ok(())
    }

    /// Looks whether an iterate that is far out is on a ray along which the objective falls for ever: that is an error.
    pub(crate) fn look_along(&mut self, nearby: &[f64], state: &State, control: &Control) -> Attempt<()> {
        if self.view.has_floor() {
            return Ok(());
        }
        let metric = self.metric.get_or_insert_with(|| Metric::new(self.view, 1.0));
        match ray::endless(self.view, metric, nearby, state, control)? {
            Some(coordinates) => Err(Error::Unbounded { coordinates }.into()),
            None => Ok(()),
        }
    }

    /// Looks, on a copy, whether the objective falls for ever: that is an error.
    pub(crate) fn sound(&mut self, mut copy: State, control: &Control) -> Attempt<()> {
        if self.view.has_floor() {
            return Ok(());
        }
        let metric = self.metric.get_or_insert_with(|| Metric::new(self.view, 1.0));
        FreeStep { view: self.view, metric, control }.take(&mut copy, PRODUCTS_OF_SOUNDING)??;
        Ok(())
    }
}
