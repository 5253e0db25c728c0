//! `f(x) = f_0(x) + f_1(x) + ... + f_(P-1)(x)`: a sum over ranks, each of which has one of the terms and all of x.
//!
//! ```text
//! value, gradient, Hessian products      of this rank's rows, then added up over the ranks in their order
//! product                                of this rank's rows alone:  M x = (M_0 x, M_1 x, ...)
//! dual                                   u = (u_0, u_1, ...),  K'u = sum_r K_r'u_r,  f*(u) = sum_r f_r*(u_r)
//! ```
//!
//! So the rows of M may be spread over ranks, while every rank runs the same solver and the same certificate on the same x.
//! A partial derivative costs as much to agree upon as a gradient: [`SmoothTerm::is_spread`] says so, and the solver then moves all
//! blocks at once.
//!
//! - Given: the term of this rank, an [`Accord`]. Returns: f, with the same bits on every rank.
//! - Must not know: what the terms are, who carries numbers.

use std::ops::Range;
use std::sync::Arc;

use super::{DualSide, PairTerm, Reads, SmoothTerm};
use crate::collective::Accord;
use crate::control::{Control, Halt, Pass};
use crate::enclosure::{Enclosure, Sum, above};
use crate::error::{Error, Result};

/// A term whose rows are spread over ranks.
///
/// ```
/// use equipoise::collective::{Accord, Threads};
/// use equipoise::smooth::{LeastSquares, Sharded, loss::Squared};
/// use equipoise::{Control, Coupling, Matrix, Problem, Settings, Solver, separable::NonNegative};
/// // The point of the simplex nearest to (0.6, 0.9, -0.3), one row a rank.
/// let found = Threads::run(3, |world| {
///     let (rank, target) = (world.rank(), [0.6, 0.9, -0.3]);
///     let row: Vec<f64> = (0..3).map(|c| f64::from(u8::from(c == rank))).collect();
///     let own = LeastSquares::new(Matrix::from_rows(&[row])?, vec![target[rank]], Squared)?;
///     let accord = Accord::new(world, Control::unlimited());
///     let problem = Problem::builder(Sharded::new(own, &accord)?)
///         .separable(NonNegative)
///         .coupling(Coupling::sum(1.0)?)
///         .build()?;
///     Solver::new(&problem, &Settings::default()).control(accord.control()).run()
/// });
/// for solution in found {
///     let x = solution?.x;
///     assert!((x[0] - 0.35).abs() < 1e-5 && (x[1] - 0.65).abs() < 1e-5 && x[2] == 0.0);
/// }
/// # Ok::<(), equipoise::Error>(())
/// ```
#[derive(Debug)]
pub struct Sharded<F> {
    inner: F,
    accord: Arc<Accord>,
    /// Diagonals of the majorant, over all ranks.
    curvature: Vec<f64>,
    own_curvature: Vec<f64>,
    /// What the terms of all ranks are at least; that of this one.
    least: Vec<f64>,
    rank: usize,
    /// What holds of the terms of all ranks.
    has_dual: bool,
    is_enclosed: bool,
    is_convex: bool,
}

impl<F: SmoothTerm> Sharded<F> {
    /// Around the term of this rank; every rank calls this, with a term of the same variables.
    pub fn new(inner: F, accord: &Arc<Accord>) -> Result<Self> {
        let n = inner.dimension();
        let is_convex = inner.dual().is_none_or(DualSide::is_convex);
        let flags = [inner.dual().is_some(), inner.is_enclosed(), is_convex];
        let mut words = vec![n as f64, inner.least_value()];
        words.extend(flags.map(|holds| f64::from(u8::from(holds))));
        let all = accord.lists(&words)?;
        if let Some(rank) = all.iter().position(|list| list[0] != all[0][0]) {
            let (found, expected) = (all[rank][0], all[0][0]);
            let what = format!("its term has {found} variables, expected {expected} as on rank 0");
            return Err(Error::Rank { rank, what });
        }
        let mut curvature: Vec<f64> = (0..n).map(|c| inner.curvature(c)).collect();
        curvature.extend((0..n).map(|c| inner.own_curvature(c)));
        accord.total(&mut curvature, Ok(()))?;
        let own_curvature = curvature.split_off(n);
        let by_all = |flag: usize| all.iter().all(|list| list[2 + flag] > 0.0);
        Ok(Self {
            inner,
            accord: Arc::clone(accord),
            curvature,
            own_curvature,
            least: all.iter().map(|list| list[1]).collect(),
            rank: accord.place().0,
            has_dual: by_all(0),
            is_enclosed: by_all(1),
            is_convex: by_all(2),
        })
    }

    /// Numbers that this rank has, added up; and the look at the control that all ranks make here.
    fn total(&self, numbers: &mut [f64], own: Pass, control: &Control) -> Pass {
        self.accord.total(numbers, own)?;
        control.check()
    }

    /// What all ranks but this one are at least.
    fn least_of_others(&self) -> f64 {
        let mut sum = Sum::default();
        self.least
            .iter()
            .enumerate()
            .filter(|(rank, _)| *rank != self.rank)
            .for_each(|(_, least)| sum.add(*least));
        sum.value().lower()
    }
}

/// A pair step has no way to say that ranks have come apart: what it asks for is then no number, and the run, which finds none, asks
/// for the product, which says why.
impl<F: SmoothTerm> PairTerm for Sharded<F> {
    fn dimension(&self) -> usize {
        self.inner.dimension()
    }
    fn partial(&self, c: usize, x: &[f64], product: &[f64]) -> f64 {
        self.accord.total_of(self.inner.partial(c, x, product))
    }
    fn curvature(&self, c: usize) -> f64 {
        self.curvature[c]
    }
    fn own_curvature(&self, c: usize) -> f64 {
        self.own_curvature[c]
    }
    fn reads(&self, _c: usize) -> Reads<'_> {
        Reads::Everything
    }
    fn product_len(&self) -> usize {
        self.inner.product_len()
    }
    fn add_to_product(&self, c: usize, delta: f64, product: &mut [f64]) {
        self.inner.add_to_product(c, delta, product);
    }
    fn partials(&self, coordinates: &[usize], x: &[f64], product: &[f64], out: &mut [f64]) {
        self.inner.partials(coordinates, x, product, out);
        if self.accord.total(out, Ok(())).is_err() {
            out.fill(f64::NAN);
        }
    }
    fn range_partials(&self, range: Range<usize>, x: &[f64], product: &[f64], out: &mut [f64]) {
        self.inner.range_partials(range, x, product, out);
        if self.accord.total(out, Ok(())).is_err() {
            out.fill(f64::NAN);
        }
    }
    fn add_all_to_product(&self, coordinates: &[usize], deltas: &[f64], product: &mut [f64]) {
        self.inner.add_all_to_product(coordinates, deltas, product);
    }
}

/// Passes over a rank's own data look at no control: where one rank ends one, the others wait for it.
impl<F: SmoothTerm> SmoothTerm for Sharded<F> {
    fn is_spread(&self) -> bool {
        true
    }
    fn value(&self, x: &[f64], product: &[f64]) -> f64 {
        self.accord.total_of(self.inner.value(x, product))
    }
    fn fill_product(&self, x: &[f64], product: &mut [f64], control: &Control) -> Pass {
        self.accord.witness(x);
        let own = self.inner.fill_product(x, product, &Control::unlimited());
        self.total(&mut [], own, control)
    }
    fn gradient(&self, x: &[f64], product: &[f64], out: &mut [f64], control: &Control) -> Pass {
        let own = self.inner.gradient(x, product, out, &Control::unlimited());
        self.total(out, own, control)
    }
    fn hessian_product(
        &self,
        x: &[f64],
        product: &[f64],
        v: &[f64],
        out: &mut [f64],
        control: &Control,
    ) -> Pass<bool> {
        let own = self.inner.hessian_product(x, product, v, out, &Control::unlimited());
        let mut numbers = out.to_vec();
        numbers.push(f64::from(u8::from(own == Ok(false))));
        self.total(&mut numbers, own.map(|_| ()), control)?;
        let without = numbers.pop().unwrap_or(1.0);
        out.copy_from_slice(&numbers);
        Ok(without == 0.0)
    }
    fn dual(&self) -> Option<&dyn DualSide> {
        self.has_dual.then_some(self)
    }
    fn is_enclosed(&self) -> bool {
        self.is_enclosed
    }
    fn enclose_value(&self, x: &[f64], control: &Control) -> Pass<Enclosure> {
        let mut sum = [Sum::default()];
        let own = self.inner.enclose_value(x, &Control::unlimited());
        let own = own.map(|value| sum[0].add_enclosure(value));
        self.accord.merge(&mut sum, own)?;
        control.check()?;
        Ok(sum[0].value())
    }
    fn least_value(&self) -> f64 {
        let mut sum = Sum::default();
        self.least.iter().for_each(|least| sum.add(*least));
        sum.value().lower()
    }
    /// By the rows of every rank: what the others are at least is not left for it.
    fn narrow(&self, level: f64, within: &mut [(f64, f64)], control: &Control) -> Pass {
        let mut left = Sum::default();
        left.add(level);
        left.add(-self.least_of_others());
        let left = left.value().upper();
        let own =
            if left.is_finite() { self.inner.narrow(left, within, &Control::unlimited()) } else { Ok(()) };
        self.total(&mut [], own, control)?;
        let ends: Vec<f64> = within.iter().flat_map(|(low, high)| [*low, *high]).collect();
        for list in self.accord.lists(&ends)? {
            for ((low, high), ends) in within.iter_mut().zip(list.chunks_exact(2)) {
                (*low, *high) = (low.max(ends[0]), high.min(ends[1]));
            }
        }
        Ok(())
    }
}

impl<F: SmoothTerm> Sharded<F> {
    /// The dual side of this rank's term, where there is one; the solver asks where all ranks have one.
    fn side(&self) -> Pass<&dyn DualSide> {
        self.inner.dual().ok_or(Halt::Interrupted)
    }
}

/// u is that of this rank's rows.
impl<F: SmoothTerm> DualSide for Sharded<F> {
    fn dual_len(&self) -> usize {
        self.inner.dual().map_or(0, DualSide::dual_len)
    }
    fn dual_point(&self, x: &[f64], product: &[f64], u: &mut [f64]) {
        if let Some(side) = self.inner.dual() {
            side.dual_point(x, product, u);
        }
    }
    fn add_dual_step(&self, x: &[f64], product: &[f64], y: &[f64], u: &mut [f64], control: &Control) -> Pass {
        let unlimited = Control::unlimited();
        let own = self.side().and_then(|side| side.add_dual_step(x, product, y, u, &unlimited));
        self.total(&mut [], own, control)
    }
    fn add_dual_gradient(&self, u: &[f64], out: &mut [f64], control: &Control) -> Pass {
        let mut sum = vec![0.0; out.len()];
        let own = self.side().and_then(|side| side.add_dual_gradient(u, &mut sum, &Control::unlimited()));
        self.total(&mut sum, own, control)?;
        out.iter_mut().zip(&sum).for_each(|(out, sum)| *out += sum);
        Ok(())
    }
    fn add_dual_magnitude(&self, u: &[f64], out: &mut [f64], control: &Control) -> Pass {
        let mut sum = vec![0.0; out.len()];
        let own = self.side().and_then(|side| side.add_dual_magnitude(u, &mut sum, &Control::unlimited()));
        self.total(&mut sum, own, control)?;
        out.iter_mut().zip(&sum).for_each(|(out, sum)| *out += sum);
        Ok(())
    }
    fn conjugate(&self, u: &[f64], control: &Control) -> Pass<f64> {
        let own = self.side().and_then(|side| side.conjugate(u, &Control::unlimited()));
        let mut sum = [*own.as_ref().unwrap_or(&0.0)];
        self.total(&mut sum, own.map(|_| ()), control)?;
        Ok(sum[0])
    }
    fn settle(&self, u: &mut [f64]) {
        if let Some(side) = self.inner.dual() {
            side.settle(u);
        }
    }
    fn enclose_conjugate(&self, u: &[f64], control: &Control) -> Pass<Enclosure> {
        let mut sum = [Sum::default()];
        let own = self.side().and_then(|side| side.enclose_conjugate(u, &Control::unlimited()));
        let own = own.map(|conjugate| sum[0].add_enclosure(conjugate));
        self.accord.merge(&mut sum, own)?;
        control.check()?;
        Ok(sum[0].value())
    }
    fn enclose_dual_gradient(&self, u: &[f64], out: &mut [Enclosure], control: &Control) -> Pass {
        let mut entries = vec![Enclosure::from(0.0); out.len()];
        let own =
            self.side().and_then(|side| side.enclose_dual_gradient(u, &mut entries, &Control::unlimited()));
        let mut sums = vec![Sum::default(); out.len()];
        sums.iter_mut().zip(entries).for_each(|(sum, entry)| sum.add_enclosure(entry));
        self.accord.merge(&mut sums, own)?;
        control.check()?;
        out.iter_mut().zip(sums).for_each(|(out, sum)| *out += sum.value());
        Ok(())
    }
    fn is_convex(&self) -> bool {
        self.is_convex
    }
    fn concavity(&self, u: &[f64], within: &[(f64, f64)]) -> f64 {
        let own = self.inner.dual().map_or(0.0, |side| side.concavity(u, within));
        above(self.accord.total_of(own))
    }
}
