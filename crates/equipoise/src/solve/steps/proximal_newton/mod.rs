//! Proximal points, each found by Newton's method in the few dimensions of the product and of the rows.
//!
//! # Problem
//! `minimise f(x) + h(x) subject to A x = b` with `f(x) = 1/2 |Z x|_W^2 + 1/2 d'x^2 + l'x` ([`Factored`]).
//! # One step
//! From a feasible x, the proximal point `argmin f + h + 1/(2 sigma) |. - x|^2` on `A z = b`. Its dual is smooth, with
//! one unknown a row of Z and of A: for `g_c = l_c + Z_c.u + A_c.lambda` every coordinate answers
//!
//! ```text
//! z_c(u, lambda) = prox of h_c at (x_c / sigma - g_c) / (d_c + 1/sigma)
//! gradient: W^-1 u - Z z,  b - A z         Hessian: [W^-1 0; 0 0] + [Z_F; A_F] S_F [Z_F; A_F]'
//! ```
//!
//! F the coordinates that answer (off bounds and kinks), `S_c = slope_c / (d_c + 1/sigma)`. Semismooth Newton with an
//! exact line search needs a dozen steps; sigma grows from step to step, and the outer sequence converges faster than
//! any linear rate. Coordinates far from answering are left out of the inner loop and looked at after it.
//! # Ranks
//! Where the team is spread every rank has its coordinates of x, its columns of Z and A and its share of b; `u`, `lambda`, the product and
//! every decision are the same on all. Sums over coordinates are those of the team. A factor serves several directions where it can, and
//! a proximal point is found no better than what is aimed at needs: for g of the inner loop
//!
//! ```text
//! f(z) + h(z) - bound  =  sum_c ( h_c(z_c) + h_c*(-g_c) + g_c z_c )  +  1/2 |Z z - u/W|_W^2  +  lambda.(b - A z) ,
//! ```
//!
//! whose first sum has nothing of the coordinates left out: they rest where their g wants them.
//! # Guarantees
//! Every x is in the domain with `A x = b`, and the objective never rises: a step that would is not taken.
//! # Must not know
//! Pairs, graphs, random numbers, what the numbers mean.
//! # Reference
//! Rockafellar (1976) for the outer, Li, Sun and Toh (2018) for the inner method.

use std::sync::Arc;

mod begin;
mod border;
mod conjugate;
mod newton_system;
mod part;
mod restore_rows;
#[cfg(test)]
mod tests;
mod values;
mod working_set;

pub(crate) use newton_system::LARGEST;
use newton_system::{NewtonSystem, Right};
use part::Part;
use working_set::WorkingSet;

use crate::archive::Archive;
use crate::control::Control;
use crate::coupling::{ALLOWED_SHARE, Coupling};
use crate::error::{Error, Result};
use crate::matrix::max_abs;
use crate::problem::{Problem, View, project};
use crate::separable::{ClosedForm, Nonsmooth, SeparableTerm};
use crate::smooth::{Factored, SmoothTerm};
use crate::solve::steps::watched::Watched;
use crate::team::Team;

/// Products up to which a system is always worth it, and coordinates a product beyond which it is as well.
const SMALL: usize = 500;
const MANY: usize = 8;
/// Products from which on a system that is not formed pays: with fewer, conjugate gradients on the face of x were twice as fast on
/// generated rows (30,000 x 3500), and eight times as slow with 10,000 (100,000 rows).
const LARGE: usize = 8000;
/// Newton steps for one proximal point.
const MOST_NEWTON_STEPS: usize = 50;
/// Share of `|z - x|^2 / sigma` that the residual may cost where a proximal point is found well enough.
const ENOUGH: f64 = 0.03;
/// Share of the last proximal point's largest change of g within which coordinates are looked at in the next.
const BAND: f64 = 0.4;
/// A Newton step by the exact matrix lowers what is lacking to this share or further, where all but one of so many coordinates go
/// on answering; and to this share after so many steps. Where it does not a sample was too small: columns that reach far
/// beyond the others are missed by one.
const FALL: f64 = 0.01;
const SAME: usize = 50;
const SLOW: f64 = 0.1;
const LATE: usize = 8;
/// On ranks a factor serves on while no more than this share of those who answer have changed, steps by it lower what is lacking to
/// this share or further, and no more coordinates a dimension and rank are looked at: else a step is dearer than a factor.
const CHANGED: f64 = 0.15;
const FALL_AGAIN: f64 = 0.2;
const CHEAP: usize = 64;
/// Times what is aimed at from which on it may be met by the next proximal point, and from which on a judge may be content; the share of
/// it that the residual may cost that judge, who takes the product where the step has u.
const WITHIN_REACH: f64 = 1e3;
const ASKED: f64 = 2.4;
const KEEN: f64 = 0.2;
/// How much further than to what is aimed at sigma grows, whose square the gap falls by.
const FURTHER: f64 = 1.2;
const MOST_GROWTH: f64 = 10.0;
/// How much sigma grows after a proximal point that took few, some, many Newton steps.
const GROWTH: [(usize, f64); 3] = [(2, 10.0), (24, 3.0), (usize::MAX, 2.0)];
/// Rise of the objective, relative to its parts, that is rounding.
const ROUNDING: f64 = 4.0 * f64::EPSILON;
/// How much larger than in the end a product may have been on the way without being computed afresh.
const CANCELLATION: f64 = 1e4;
/// Halvings of a step that leads up.
const MOST_HALVINGS: u32 = 4;
/// Failures in a row after which the method gives up.
const PATIENCE: u32 = 3;

/// What a step achieved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Outcome {
    /// A lower objective, by this gain, and a bound on what is left; infinite where the step knows of none.
    Moved { gain: f64, gap: f64 },
    /// Nothing lower was found.
    Idle,
    /// Time is up or the caller wants to stop; x is as it was.
    Stopped,
}

/// The method on one problem, with its memory.
pub(crate) struct ProximalNewton<'a, H> {
    view: View<'a>,
    team: Arc<Team>,
    h: ClosedForm<'a, H>,
    factored: Watched<'a>,
    coupling: &'a Coupling,
    /// Whether the rows share no coordinate.
    is_apart: bool,
    /// Coordinates and right-hand sides, of all ranks.
    dimension: usize,
    rhs: Vec<f64>,
    system: NewtonSystem,
    sigma: f64,
    /// The dual point.
    u: Vec<f64>,
    pub(crate) lambda: Vec<f64>,
    /// `l_c + Z_c.u` for every coordinate, once it is known for this u.
    slopes: Vec<f64>,
    slopes_known: bool,
    /// `Z x` and the objective at the x that the last step left.
    product: Vec<f64>,
    objective: f64,
    /// What the last step knew to be left.
    gap: f64,
    /// The best bound of the optimum so far, and its u.
    best: (f64, Vec<f64>),
    /// How far (in g) a coordinate may be from answering to be looked at.
    band: f64,
    failures: u32,
    /// The dual point to begin with, where it is known; else empty.
    known: Vec<f64>,
    /// Memory of the last working set and of the last proximal point.
    parts: Vec<Part>,
    point: Vec<f64>,
    newton_steps: u64,
    passes: f64,
    /// Where Newton steps and passes must end.
    most_newton_steps: u64,
    most_passes: f64,
    /// On ranks, what may be left at a proximal point that need not be found any better; 0 for nothing.
    aim: f64,
}

impl Outcome {
    /// Whether x seems to be within `wanted` of the optimum: by the bound, or without one by a gain that small.
    pub(crate) fn seems_within(self, wanted: f64) -> bool {
        match self {
            Self::Moved { gain, gap } => gap <= wanted || (gap == f64::INFINITY && gain <= wanted),
            Self::Idle | Self::Stopped => false,
        }
    }
}

impl<H> std::fmt::Debug for ProximalNewton<'_, H> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ProximalNewton").field("sigma", &self.sigma).finish_non_exhaustive()
    }
}

impl<'a, H: SeparableTerm> ProximalNewton<'a, H> {
    /// `None` where f is no factored quadratic, h has no closed form, or a linear system would be too large.
    pub(crate) fn new<F: SmoothTerm>(problem: &'a Problem<F, H>) -> Option<Self> {
        Self::with(problem, NewtonSystem::new).filter(|method| method.pays(problem.dimension()))
    }

    /// The same where a system may also be too large to be formed: then its direction is found by conjugate gradients.
    pub(crate) fn of_any_size<F: SmoothTerm>(problem: &'a Problem<F, H>) -> Option<Self> {
        Self::with(problem, NewtonSystem::of_any_size).filter(|method| method.pays(problem.dimension()))
    }

    /// A system pays where it is small, or there are many more coordinates than products; one that is not formed where it is large, too.
    fn pays(&self, dimension: usize) -> bool {
        let rank = self.factored.rank();
        let is_formed = rank + self.coupling.rows() <= LARGEST;
        rank <= SMALL || (dimension >= MANY * rank && (is_formed || rank >= LARGE))
    }

    /// The same also where a system does not pay: on ranks nothing else is shared.
    pub(crate) fn across<F: SmoothTerm>(problem: &'a Problem<F, H>, team: Arc<Team>) -> Option<Self> {
        let method = Self::with(problem, NewtonSystem::of_any_size)?;
        let (dimension, mut rhs) = (team.count(method.dimension), method.rhs.clone());
        team.total(&mut rhs);
        Some(Self { team, dimension, rhs, ..method })
    }

    fn with<F: SmoothTerm>(
        problem: &'a Problem<F, H>,
        system: fn(usize, usize) -> Option<NewtonSystem>,
    ) -> Option<Self> {
        let n = problem.dimension();
        let h = match problem.separable() {
            Nonsmooth::Coordinates(h) => ClosedForm::of(h, n)?,
            Nonsmooth::Groups(_) => return None,
        };
        let factored = problem.smooth().factored()?;
        let coupling = problem.independent_coupling();
        let rank = factored.rank();
        let system = system(rank, coupling.rows())?;
        Some(Self {
            view: problem.view(),
            team: Arc::new(Team::of(1)),
            h,
            coupling,
            is_apart: problem.apart().is_some(),
            dimension: n,
            rhs: coupling.rhs().to_vec(),
            system,
            sigma: 0.0,
            u: Vec::new(),
            lambda: vec![0.0; coupling.rows()],
            slopes: Vec::new(),
            slopes_known: false,
            product: Vec::new(),
            objective: f64::INFINITY,
            gap: f64::INFINITY,
            best: (f64::NEG_INFINITY, Vec::new()),
            band: f64::INFINITY,
            failures: 0,
            known: Vec::new(),
            parts: Vec::new(),
            point: Vec::new(),
            newton_steps: 0,
            passes: 0.0,
            most_newton_steps: u64::MAX,
            most_passes: f64::INFINITY,
            aim: 0.0,
            factored: Watched::new(factored, n),
        })
    }

    /// The same with the work shared by a team.
    pub(crate) fn with_team(self, team: Arc<Team>) -> Self {
        Self { team, ..self }
    }

    /// The objective at the x that the last step left.
    pub(crate) fn objective(&self) -> f64 {
        self.objective
    }

    /// The dual point that proves the best bound so far; empty before the first step.
    pub(crate) fn dual_point(&self) -> &[f64] {
        &self.best.1
    }

    /// Newton steps so far.
    pub(crate) fn newton_steps(&self) -> u64 {
        self.newton_steps
    }

    /// Passes over the data so far.
    pub(crate) fn passes(&self) -> f64 {
        self.passes
    }

    /// Whether several steps in a row found nothing.
    pub(crate) fn has_given_up(&self) -> bool {
        self.failures >= PATIENCE
    }

    /// Sets where Newton steps and passes, counted from the first, must end.
    pub(crate) fn limit(&mut self, most_newton_steps: u64, most_passes: f64) {
        (self.most_newton_steps, self.most_passes) = (most_newton_steps, most_passes);
    }

    /// Sets what the next step may leave without looking any further; only on ranks it is looked at.
    pub(crate) fn aim(&mut self, left: f64) {
        self.aim = if left.is_finite() { left } else { 0.0 };
    }

    /// Whether what is aimed at may be met by the next proximal point.
    fn is_near(&self) -> bool {
        self.aim > 0.0 && self.gap <= WITHIN_REACH * self.aim
    }

    /// Shows an archive what steps to come depend on.
    pub(crate) fn carry(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        let (n, rank) = (self.view.dimension(), self.factored.rank());
        archive.list(&mut self.u, |length| length == 0 || length == rank)?;
        archive.list(&mut self.product, |length| length == 0 || length == rank)?;
        archive.list(&mut self.best.1, |length| length == 0 || length == rank)?;
        archive.list(&mut self.known, |length| length == 0 || length == rank)?;
        archive.numbers(&mut self.lambda)?;
        archive.list(&mut self.slopes, |length| length == 0 || length == n)?;
        archive.flag(&mut self.slopes_known)?;
        [
            &mut self.sigma,
            &mut self.objective,
            &mut self.gap,
            &mut self.best.0,
            &mut self.band,
            &mut self.passes,
            &mut self.most_passes,
        ]
        .into_iter()
        .try_for_each(|number| archive.number(number))?;
        archive.small(&mut self.failures)?;
        self.system.carry(archive)?;
        archive.work(&mut self.newton_steps)?;
        archive.word(&mut self.most_newton_steps)?;
        // A dual point has its product and its slopes.
        if !self.u.is_empty() && (self.product.len() != rank || self.slopes.len() != n) {
            return Err(Error::BadSnapshot { what: "a dual point lacks its slopes" });
        }
        Ok(())
    }

    /// The same, and with which dual point to begin.
    pub(crate) fn restart_at(&mut self, u: Vec<f64>, lambda: &[f64]) {
        self.restart(lambda);
        self.known = u;
    }

    /// Says that x was moved by someone else, and with which multipliers to go on.
    pub(crate) fn restart(&mut self, lambda: &[f64]) {
        self.known.clear();
        self.lambda.copy_from_slice(lambda);
        self.u.clear();
        self.gap = f64::INFINITY;
        self.failures = 0;
    }

    /// One proximal step from x, which is feasible and stays so.
    pub(crate) fn step(&mut self, x: &mut [f64], control: &Control) -> Outcome {
        let mut z = std::mem::take(&mut self.point);
        z.resize(x.len(), 0.0);
        let team = Arc::clone(&self.team);
        self.factored.begin(&team.patient(control));
        let mut outcome = team.inside(|| self.step_through(x, &mut z, control));
        if self.factored.was_cut() {
            // Nothing that was found since is of use.
            self.u.clear();
            outcome = Outcome::Stopped;
        }
        if !self.team.is_alone() {
            self.point = z;
        }
        outcome
    }

    fn step_through(&mut self, x: &mut [f64], z: &mut Vec<f64>, control: &Control) -> Outcome {
        if self.u.is_empty() {
            self.begin(x);
        }
        let mut product = self.product.clone();
        let dual = (self.u.clone(), self.lambda.clone());
        self.team.fill(z, |first, z| z.copy_from_slice(&x[first..first + z.len()]));
        let Some((steps, free)) = self.proximal_point(x, z, &mut product, control) else {
            return Outcome::Stopped;
        };
        self.restore_rows(&free, z, &mut product);
        let is_feasible =
            |z: &[f64]| self.coupling.miss_across(z, &self.team).relative <= 0.5 * ALLOWED_SHARE;
        let mut feasible = is_feasible(z);
        // With one row, or rows that share nothing, the nearest feasible point is found at once; else it may take long.
        if !feasible
            && (self.coupling.rows() == 1 || self.is_apart)
            && !self.team.is_spread()
            && let Ok(nearest) = project(self.coupling, self.view.separable(), z, control)
        {
            *z = nearest;
            self.product_of(z, &mut product);
            feasible = is_feasible(z);
        }
        let mut after = self.objective_at(z, &product);
        let bound = self.lower_bound();
        let gap = after - bound;
        // A bound holds wherever z is.
        if bound > self.best.0 && !self.factored.was_cut() {
            self.best.0 = bound;
            self.best.1.clone_from(&self.u);
        }
        // Near the end the objective is flat to rounding while the dual point still gets better.
        let flat = ROUNDING * (after.abs() + 0.5 * self.squares(&product));
        if feasible && after <= self.objective + flat && gap.max(0.0) < 0.5 * self.gap {
            return self.accept(x, z, product, after, gap, steps);
        }
        // An inexact proximal point may lie higher than x; then some point on the way to it lies lower.
        for _ in 0..MOST_HALVINGS {
            if after < self.objective || !feasible {
                break;
            }
            halve(x, z);
            halve(&self.product, &mut product);
            after = self.objective_at(z, &product);
        }
        if after < self.objective && feasible {
            let gap = after - self.lower_bound();
            return self.accept(x, z, product, after, gap, steps);
        }
        // Where the step led nowhere the dual point it ended at is no place to go on from.
        (self.u, self.lambda) = dual;
        self.slopes_known = false;
        self.failures += 1;
        self.sigma *= if self.failures % 2 == 1 { 0.1 } else { 100.0 };
        Outcome::Idle
    }

    /// Makes z the new x.
    fn accept(
        &mut self,
        x: &mut [f64],
        z: &[f64],
        product: Vec<f64>,
        after: f64,
        gap: f64,
        steps: usize,
    ) -> Outcome {
        if self.factored.was_cut() {
            return Outcome::Stopped;
        }
        self.team.fill(x, |first, x| x.copy_from_slice(&z[first..first + x.len()]));
        let gain = self.objective - after;
        (self.product, self.objective, self.gap) = (product, after, gap);
        self.failures = 0;
        let growth = GROWTH.iter().find(|(most, _)| steps <= *most).map_or(2.0, |(_, growth)| *growth);
        let to_aim = (FURTHER * (gap / self.aim).sqrt()).min(MOST_GROWTH);
        self.sigma *= if self.is_near() { growth.max(to_aim) } else { growth };
        Outcome::Moved { gain, gap }
    }

    /// `l_c + Z_c.u` for every coordinate.
    fn refresh_slopes(&mut self) {
        let (factored, u) = (&self.factored, &self.u);
        self.team.fill(&mut self.slopes, |first, slopes| {
            factored.consecutive_dots(first, u, slopes);
            for (k, slope) in slopes.iter_mut().enumerate() {
                *slope += factored.own_slope(first + k);
            }
        });
        self.slopes_known = true;
        self.passes += 1.0;
    }

    /// z becomes the proximal point of x, product its `Z z`; the number of Newton steps and the coordinates that
    /// answer, `None` when stopped.
    fn proximal_point(
        &mut self,
        x: &[f64],
        z: &mut [f64],
        product: &mut [f64],
        control: &Control,
    ) -> Option<(usize, Vec<u32>)> {
        let (mut steps, mut peak) = (0, 0.0);
        let mut free = Vec::new();
        if !self.slopes_known {
            self.refresh_slopes();
        }
        for _ in 0..6 {
            let memory = std::mem::take(&mut self.parts);
            let mut work = WorkingSet::gather(self, memory, x, z, product);
            let (mut last_energy, mut last_answering) = (f64::INFINITY, 0);
            // Whether the last factor may serve again, and did.
            let (mut serves, mut is_again) = (false, false);
            loop {
                let spent = self.newton_steps >= self.most_newton_steps || self.passes >= self.most_passes;
                // On ranks the wish to stop is agreed upon along with the answers.
                let is_halted = || !self.team.is_spread() && control.halted().is_some();
                if spent || is_halted() {
                    self.parts = work.into_memory();
                    return None;
                }
                work.answer(self, x, z, product, control);
                if work.is_halted {
                    self.parts = work.into_memory();
                    return None;
                }
                peak = max_abs(product).max(peak);
                let right = self.residual(product, &work.rows_now);
                let (energy, enough) = (self.energy(&right, &work), ENOUGH * work.moved_squared / self.sigma);
                // Where a judge will be asked, the product is to be that of u.
                let is_exact = energy * self.system.stiffness <= KEEN * self.aim;
                let is_asked = work.lacking <= ASKED * self.aim && energy <= 0.5 * last_energy;
                let is_found = energy <= enough && (is_exact || !is_asked);
                if is_found || steps >= MOST_NEWTON_STEPS {
                    break;
                }
                // What is lacking, the rows' share included, bounds the gap: all that is left out rests where it should.
                if steps > 0 && is_exact && work.lacking + energy <= self.aim {
                    break;
                }
                let has_fallen = last_energy.is_finite() && energy <= FALL_AGAIN * last_energy;
                let is_cheap = work.looked_at_by_all() <= CHEAP * self.system.dimension * self.team.place().1;
                let is_same_face = work.changed as f64 <= CHANGED * work.answering as f64;
                let may_serve = serves && has_fallen && is_cheap && is_same_face;
                let was_again =
                    std::mem::replace(&mut is_again, may_serve && self.system.again(&self.team, &right));
                if !is_again {
                    // The same answer as before, or a late one, and yet little was gained: the sample is to blame.
                    let is_same = work.answering.abs_diff(last_answering) * SAME < work.answering;
                    let is_slow = (is_same && energy > FALL * last_energy)
                        || (steps >= LATE && energy > SLOW * last_energy);
                    if is_slow && !was_again {
                        self.system.sample_finer(work.answering);
                    }
                    let (factored, coupling) = (&self.factored, self.coupling);
                    let (free, answering) = (work.free(), work.answering);
                    let found = self
                        .system
                        .direction(&self.team, factored, coupling, &free, answering, &right, control);
                    let Ok(solved) = found else {
                        self.parts = work.into_memory();
                        return None;
                    };
                    if !solved {
                        break;
                    }
                    if self.team.is_spread() {
                        serves = true;
                        work.remember_answers();
                    }
                }
                (last_energy, last_answering) = (energy, work.answering);
                let promise = self.system.promise(&right);
                if promise.is_nan() || promise <= 0.0 {
                    break;
                }
                steps += 1;
                self.newton_steps += 1;
                // Directions read the columns that answer, the line all that are looked at.
                let of_free = work.answering as f64 / self.dimension as f64;
                self.passes += work.share() + self.system.passes() as f64 * of_free;
                work.look_along(self);
                let t = work.line_search(self, product);
                self.move_dual(t);
                work.advance(&self.team, t);
            }
            let travelled = work.travelled(self, x);
            self.refresh_slopes();
            let missed = work.missed(self, x, z);
            self.band = if missed > 0 { 4.0 * self.band } else { BAND * travelled };
            free = work.take_free();
            let done = missed * 50 <= work.answering || steps >= MOST_NEWTON_STEPS;
            self.parts = work.into_memory();
            if done {
                break;
            }
        }
        // One thread gives its memory back: what follows needs some too, and a run must not need both at once.
        if self.team.is_alone() {
            self.parts = Vec::new();
        }
        // Increments that went through far larger numbers leave rounding behind.
        if peak > CANCELLATION * max_abs(product) {
            self.product_of(z, product);
        }
        Some((steps, free))
    }

    /// What the dual gradient lacks: `Z z - W^-1 u` and `A z - b`.
    fn residual(&self, product: &[f64], rows_now: &[f64]) -> Right {
        let of_product = product.iter().zip(&self.u).enumerate();
        let of_product = of_product.map(|(k, (p, u))| p - u / self.factored.weight(k)).collect();
        let of_rows = rows_now.iter().zip(&self.rhs).map(|(now, b)| now - b).collect();
        Right { of_product, of_rows }
    }

    /// What the residual costs in the objective, about: its squares, those of a row over what its free coordinates
    /// give way.
    fn energy(&self, right: &Right, work: &WorkingSet) -> f64 {
        let of_product = right.of_product.iter().enumerate().map(|(k, r)| self.factored.weight(k) * r * r);
        let of_rows = right.of_rows.iter().enumerate().map(|(row, r)| {
            let give = || work.give(self.coupling, row);
            if *r == 0.0 { 0.0 } else { r * r / give().max(f64::MIN_POSITIVE) }
        });
        of_product.sum::<f64>() + of_rows.sum::<f64>()
    }

    fn move_dual(&mut self, t: f64) {
        let (du, dlambda) = self.system.solution();
        self.u.iter_mut().zip(du).for_each(|(u, du)| *u += t * du);
        self.lambda.iter_mut().zip(dlambda).for_each(|(lambda, d)| *lambda += t * d);
        self.team.witness(&self.u);
        self.slopes_known = false;
    }
}

/// `z` moved half the way back to x.
fn halve(x: &[f64], z: &mut [f64]) {
    z.iter_mut().zip(x).for_each(|(z, x)| *z = 0.5 * (*z + x));
}
