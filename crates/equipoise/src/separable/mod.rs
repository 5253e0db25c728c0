//! The separable term h of `f(x) + h(x)`: one trait, one file per penalty.
//!
//! Given a coordinate c, a term answers for the scalar function `h_c`: value, domain, prox,
//! subdifferential, conjugate. h is a sum over coordinates ([`SeparableTerm`]) or over blocks
//! ([`GroupL2`]). It knows nothing of f, of A or of who asks.
//!
//! Adding a penalty whose scalar function is `l1 |z| + l2/2 z^2` on an interval takes one file
//! that implements [`PieceTerm`]; anything else implements [`SeparableTerm`] itself.

mod asymmetric_l1;
mod bounds;
mod closed_form;
mod elastic_net;
mod group_l2;
mod l1;
mod l1_bounds;
mod piece;
mod values;
mod zero;

pub use asymmetric_l1::AsymmetricL1;
pub use bounds::{Bounds, NonNegative};
pub(crate) use closed_form::ClosedForm;
pub use elastic_net::ElasticNet;
pub use group_l2::GroupL2;
pub(crate) use group_l2::norm;
pub use l1::L1;
pub use l1_bounds::L1Bounds;
pub use piece::Piece;
pub use values::Values;
pub use zero::Zero;

use std::fmt::Debug;

use crate::enclosure::Enclosure;
use crate::forward::forward;
use crate::problem::Blocks;

/// h(x) = sum over coordinates c of `h_c(x_c)`, each `h_c` convex and closed.
///
/// ```
/// use equipoise::separable::{L1, SeparableTerm};
/// let h = L1::new(2.0)?;
/// assert_eq!(h.value(0, -3.0), 6.0);
/// assert_eq!(h.prox(0, 5.0, 1.0), 3.0); // soft threshold
/// assert_eq!(h.subdifferential(0, 0.0), (-2.0, 2.0));
/// # Ok::<(), equipoise::Error>(())
/// ```
pub trait SeparableTerm: Debug + Send + Sync {
    /// The number of coordinates it was made for; `None` fits any number.
    fn dimension(&self) -> Option<usize> {
        None
    }

    /// `h_c(z)`; infinite outside the domain.
    fn value(&self, c: usize, z: f64) -> f64;

    /// h(x): the values of all coordinates, added up in their order.
    fn total(&self, x: &[f64]) -> f64 {
        x.iter().enumerate().map(|(c, &z)| self.value(c, z)).sum()
    }

    /// The interval on which `h_c` is finite.
    fn domain(&self, _c: usize) -> (f64, f64) {
        (f64::NEG_INFINITY, f64::INFINITY)
    }

    /// The minimiser over z of `h_c(z) + d/2 (z - v)^2`, for d > 0.
    fn prox(&self, c: usize, v: f64, d: f64) -> f64;

    /// An element of the derivative of [`prox`](Self::prox) in v, within 0..=1.
    fn prox_slope(&self, c: usize, v: f64, d: f64) -> f64 {
        let step = 1e-7 * (1.0 + v.abs());
        let rise = self.prox(c, v + step, d) - self.prox(c, v - step, d);
        (rise / (2.0 * step)).clamp(0.0, 1.0)
    }

    /// The subdifferential of `h_c` at a point z of the domain, as an interval.
    fn subdifferential(&self, c: usize, z: f64) -> (f64, f64);

    /// The conjugate `h_c*(s) = sup_z s z - h_c(z)`, infinite where the supremum is;
    /// `None` when the term has no formula for it (then no duality gap is reported).
    fn conjugate(&self, _c: usize, _s: f64) -> Option<f64> {
        None
    }

    /// The interval of s on which the conjugate is finite.
    fn dual_domain(&self, _c: usize) -> (f64, f64) {
        (f64::NEG_INFINITY, f64::INFINITY)
    }

    /// Whether the term has enclosures, over n coordinates.
    fn is_enclosed(&self, n: usize) -> bool {
        (0..n).all(|c| self.piece(c).is_some())
    }

    /// `h_c(z)` with its error, infinite or unknown where nothing can be said; nothing is then proven of a solution.
    fn enclose_value(&self, c: usize, z: f64) -> Enclosure {
        self.piece(c).map_or(Enclosure::UNKNOWN, |piece| piece.enclose_value(z))
    }

    /// An interval that holds every z with `h_c(z) <= level`, where `h_c` is proven never to fall below 0.
    fn level_set(&self, c: usize, level: f64) -> (f64, f64) {
        self.piece(c).map_or((f64::NEG_INFINITY, f64::INFINITY), |piece| piece.level_set(level))
    }

    /// Whether no `h_c` ever falls below 0.
    fn is_non_negative(&self, n: usize) -> bool {
        (0..n).all(|c| self.piece(c).is_some())
    }

    /// A number that `sup s z - h_c(z)` over z in `[within.0, within.1]` does not exceed, infinite where nothing can be said.
    fn conjugate_above(&self, c: usize, s: Enclosure, within: (f64, f64)) -> f64 {
        self.piece(c).map_or(f64::INFINITY, |piece| piece.within(within).conjugate_above(s))
    }

    /// The closed form of `h_c`, where it is one; the exact pair steps are then closed forms too.
    fn piece(&self, _c: usize) -> Option<Piece> {
        None
    }

    /// Whether `h_c` is zero everywhere for every c.
    fn is_zero(&self) -> bool {
        false
    }
}

/// A term whose every coordinate is a [`Piece`]; all of [`SeparableTerm`] follows from it.
pub trait PieceTerm: Debug + Send + Sync {
    /// The number of coordinates it was made for; `None` fits any number.
    fn dimension(&self) -> Option<usize>;
    /// The closed form of coordinate c.
    fn piece(&self, c: usize) -> Piece;
    /// Whether every piece is zero everywhere.
    fn is_zero(&self) -> bool {
        false
    }
}

impl<T: PieceTerm> SeparableTerm for T {
    fn dimension(&self) -> Option<usize> {
        PieceTerm::dimension(self)
    }
    #[inline]
    fn value(&self, c: usize, z: f64) -> f64 {
        PieceTerm::piece(self, c).value(z)
    }
    fn total(&self, x: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (c, &z) in x.iter().enumerate() {
            let piece = PieceTerm::piece(self, c);
            // Within bounds alone there is nothing to wait for.
            if piece.l1 != 0.0 || piece.l2 != 0.0 || !(piece.lower <= z && z <= piece.upper) {
                sum += piece.value(z);
            }
        }
        sum
    }
    #[inline]
    fn domain(&self, c: usize) -> (f64, f64) {
        let piece = PieceTerm::piece(self, c);
        (piece.lower, piece.upper)
    }
    #[inline]
    fn prox(&self, c: usize, v: f64, d: f64) -> f64 {
        PieceTerm::piece(self, c).prox(v, d)
    }
    #[inline]
    fn prox_slope(&self, c: usize, v: f64, d: f64) -> f64 {
        PieceTerm::piece(self, c).prox_slope(v, d)
    }
    #[inline]
    fn subdifferential(&self, c: usize, z: f64) -> (f64, f64) {
        PieceTerm::piece(self, c).subdifferential(z)
    }
    fn conjugate(&self, c: usize, s: f64) -> Option<f64> {
        Some(PieceTerm::piece(self, c).conjugate(s))
    }
    fn dual_domain(&self, c: usize) -> (f64, f64) {
        PieceTerm::piece(self, c).dual_domain()
    }
    #[inline]
    fn piece(&self, c: usize) -> Option<Piece> {
        Some(PieceTerm::piece(self, c))
    }
    #[inline]
    fn is_zero(&self) -> bool {
        PieceTerm::is_zero(self)
    }
}

impl SeparableTerm for Box<dyn SeparableTerm> {
    forward! {
        fn dimension(&self) -> Option<usize>;
        fn value(&self, c: usize, z: f64) -> f64;
        fn total(&self, x: &[f64]) -> f64;
        fn domain(&self, c: usize) -> (f64, f64);
        fn prox(&self, c: usize, v: f64, d: f64) -> f64;
        fn prox_slope(&self, c: usize, v: f64, d: f64) -> f64;
        fn subdifferential(&self, c: usize, z: f64) -> (f64, f64);
        fn conjugate(&self, c: usize, s: f64) -> Option<f64>;
        fn dual_domain(&self, c: usize) -> (f64, f64);
        fn is_enclosed(&self, n: usize) -> bool;
        fn enclose_value(&self, c: usize, z: f64) -> Enclosure;
        fn level_set(&self, c: usize, level: f64) -> (f64, f64);
        fn is_non_negative(&self, n: usize) -> bool;
        fn conjugate_above(&self, c: usize, s: Enclosure, within: (f64, f64)) -> f64;
        fn piece(&self, c: usize) -> Option<Piece>;
        fn is_zero(&self) -> bool;
    }
}

/// h as a problem holds it: a sum over coordinates, or a norm of each block.
#[derive(Debug, Clone, Copy)]
pub enum Nonsmooth<H, G = GroupL2> {
    /// A sum over coordinates.
    Coordinates(H),
    /// A sum over blocks of weighted Euclidean norms.
    Groups(G),
}

impl<H> Nonsmooth<H> {
    /// The term by reference.
    #[inline]
    pub fn as_ref(&self) -> Nonsmooth<&H, &GroupL2> {
        match self {
            Self::Coordinates(h) => Nonsmooth::Coordinates(h),
            Self::Groups(h) => Nonsmooth::Groups(h),
        }
    }

    /// The term without its type.
    pub fn as_dyn(&self) -> Nonsmooth<&dyn SeparableTerm, &GroupL2>
    where
        H: SeparableTerm,
    {
        match self {
            Self::Coordinates(h) => Nonsmooth::Coordinates(h),
            Self::Groups(h) => Nonsmooth::Groups(h),
        }
    }
}

impl<H: SeparableTerm + ?Sized> Nonsmooth<&H, &GroupL2> {
    /// h(x), with x in these blocks.
    pub(crate) fn value(self, blocks: &Blocks, x: &[f64]) -> f64 {
        match self {
            Self::Coordinates(h) if h.is_zero() => 0.0,
            Self::Coordinates(h) => h.total(x),
            Self::Groups(h) => {
                let norm = |i: usize| blocks.coordinates(i).map(|c| x[c] * x[c]).sum::<f64>().sqrt();
                (0..blocks.len()).map(|i| h.weight(i) * norm(i)).sum()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums of pieces leave out what is 0, and nothing else.
    #[test]
    fn a_total_is_the_sum_of_the_values() {
        let x = [-2.5, -1.0, 0.0, 0.25, 1.0, 3.0];
        let each = |values: [f64; 6]| Values::Each(values.to_vec());
        let terms: [Box<dyn SeparableTerm>; 9] = [
            Box::new(Zero),
            Box::new(NonNegative),
            Box::new(Bounds::new(-3.0, 3.0).expect("ordered")),
            Box::new(Bounds::new(-1.0, 1.0).expect("ordered")),
            Box::new(L1::new(each([0.0, 0.5, 1.0, 0.0, 2.0, 3.0])).expect("weights")),
            Box::new(ElasticNet::new(0.3, each([0.0, 1.0, 0.0, 2.0, 0.0, 4.0])).expect("weights")),
            Box::new(L1Bounds::new(0.7, -4.0, 4.0).expect("ordered")),
            Box::new(L1Bounds::new(0.7, each([-9.0, -1.0, 0.0, 0.5, 0.0, 0.0]), 3.0).expect("ordered")),
            Box::new(AsymmetricL1::new(0.2, 1.5).expect("weights")),
        ];
        let mut infinite = 0;
        for term in &terms {
            let sum: f64 = x.iter().enumerate().map(|(c, z)| term.value(c, *z)).sum();
            assert_eq!(term.total(&x), sum, "{term:?}");
            infinite += u32::from(sum == f64::INFINITY);
        }
        assert_eq!(infinite, 3, "three of them have a bound between these numbers");
        assert!(terms[2].total(&[0.0, f64::NAN]).is_nan() == terms[2].value(1, f64::NAN).is_nan());
    }
}
