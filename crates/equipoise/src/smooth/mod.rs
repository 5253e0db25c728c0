//! The smooth term f of `f(x) + h(x)`: two traits, one file per term.
//!
//! A term gives its value, partial derivatives and an upper bound on its curvature, and may keep a
//! product such as `M x` in step with x, so that a partial derivative costs one column. It knows
//! nothing of h, of A, of blocks or of threads.
//!
//! [`PairTerm`] is what a pair step asks, many times a microsecond: it answers at once and cannot fail. [`SmoothTerm`]
//! is everything else: the value, and passes over all the data, which take a [`Control`] and answer
//! with a [`Pass`]. A pass that did not finish has no numbers to show.
//!
//! Curvature is stated through one fixed positive semidefinite *majorant* matrix that dominates the
//! Hessian everywhere; for quadratics it is the Hessian. Scalar losses (`loss/`) are three functions of
//! one number and see no matrix.

mod bend;
mod distance;
mod factored;
mod gram;
mod level_set;
mod linear;
pub mod loss;
mod loss_of_product;
mod quadratic;
mod row_losses;
mod samples;
mod sharded;
mod streamed;
mod sum;

pub use crate::error::SampleFault;
pub use bend::Bend;
pub use distance::Distance;
pub use factored::Factored;
pub use gram::Gram;
pub use linear::Linear;
pub use loss_of_product::LossOfProduct;
pub use quadratic::Quadratic;
pub use samples::{FiniteSum, SampleBatch, SampleData, SampleReader, SampleSource};
pub use sharded::Sharded;
pub use streamed::Streamed;
pub use sum::Sum;

use std::fmt::Debug;
use std::ops::Range;

use crate::control::{Control, Pass};
use crate::enclosure::Enclosure;
use crate::forward::forward;

/// Least squares `1/2 sum_k w_k (M_k x - y_k)^2`.
pub type LeastSquares<'a> = LossOfProduct<'a, loss::Squared>;
/// Logistic loss `sum_k w_k log(1 + exp(-y_k M_k x))`, labels +-1.
pub type Logistic<'a> = LossOfProduct<'a, loss::LogisticLoss>;
/// Squared hinge `sum_k w_k max(0, 1 - y_k M_k x)^2`, labels +-1.
pub type SquaredHinge<'a> = LossOfProduct<'a, loss::SquaredHingeLoss>;
/// Huber loss `sum_k w_k H(M_k x - y_k)`, quadratic near zero and linear beyond delta.
pub type Huber<'a> = LossOfProduct<'a, loss::HuberLoss>;

/// What a partial derivative is computed from, beside the coordinate itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads<'a> {
    /// These entries of the product, which are also all that a move of the coordinate changes.
    Entries(&'a [u32]),
    /// Any entry of the product.
    Product,
    /// Any entry of x and of the product.
    Everything,
}

/// What a pair step asks of f: convex, differentiable, with a gradient that changes no faster than a fixed matrix allows.
///
/// A user's own term needs the three required methods and [`SmoothTerm::value`]; see `examples/own_smooth_term.rs`.
pub trait PairTerm: Debug + Send + Sync {
    /// The number of coordinates of x.
    fn dimension(&self) -> usize;

    /// The partial derivative of f in coordinate c.
    fn partial(&self, c: usize, x: &[f64], product: &[f64]) -> f64;

    /// Diagonal entry c of the majorant: at least the second derivative along coordinate c, anywhere.
    fn curvature(&self, c: usize) -> f64;

    /// The part of [`curvature`](Self::curvature) that is the coordinate's own: no entry of the majorant off the
    /// diagonal can cancel it.
    fn own_curvature(&self, _c: usize) -> f64 {
        0.0
    }

    /// Entry (i, j), i != j, of the majorant; `None` when it is not known cheaply.
    fn interaction(&self, _i: usize, _j: usize) -> Option<f64> {
        None
    }

    /// Whether f is a sum of functions of single coordinates.
    fn is_decomposable(&self) -> bool {
        false
    }

    /// What [`partial`](Self::partial) of coordinate c reads: with several threads nothing else is up to date.
    fn reads(&self, _c: usize) -> Reads<'_> {
        if self.is_decomposable() { Reads::Entries(&[]) } else { Reads::Everything }
    }

    /// The length of the product that the solver keeps for this term; 0 for none.
    fn product_len(&self) -> usize {
        0
    }

    /// Brings the product up to date after coordinate c moved by delta.
    fn add_to_product(&self, _c: usize, _delta: f64, _product: &mut [f64]) {}

    /// The partial derivatives in these coordinates, into `out` (one call a block in the inner loop).
    #[inline]
    fn partials(&self, coordinates: &[usize], x: &[f64], product: &[f64], out: &mut [f64]) {
        for (out, &c) in out.iter_mut().zip(coordinates) {
            *out = self.partial(c, x, product);
        }
    }

    /// The same for consecutive coordinates.
    #[inline]
    fn range_partials(&self, range: Range<usize>, x: &[f64], product: &[f64], out: &mut [f64]) {
        for (out, c) in out.iter_mut().zip(range) {
            *out = self.partial(c, x, product);
        }
    }

    /// Brings the product up to date after these coordinates moved by these amounts.
    #[inline]
    fn add_all_to_product(&self, coordinates: &[usize], deltas: &[f64], product: &mut [f64]) {
        if self.product_len() == 0 {
            return;
        }
        for (&c, &delta) in coordinates.iter().zip(deltas) {
            if delta != 0.0 {
                self.add_to_product(c, delta, product);
            }
        }
    }
}

/// f as a whole: its value, passes over its data, and what it has beyond a [`PairTerm`].
///
/// A pass looks at its control every few hundred thousand numbers; one that is ended early says so, and what it had
/// written until then is nothing.
pub trait SmoothTerm: PairTerm {
    /// f(x), given x and the maintained product.
    fn value(&self, x: &[f64], product: &[f64]) -> f64;

    /// Computes the product from x afresh.
    fn fill_product(&self, _x: &[f64], _product: &mut [f64], _control: &Control) -> Pass {
        Ok(())
    }

    /// The whole gradient, into `out`.
    fn gradient(&self, x: &[f64], product: &[f64], out: &mut [f64], control: &Control) -> Pass {
        control.in_parts(out.len(), product.len(), |part| {
            self.range_partials(part.clone(), x, product, &mut out[part]);
        })
    }

    /// `out = (Hessian at x) v`, and true; or false when the term has no such product (the solver then
    /// does without second-order steps).
    fn hessian_product(
        &self,
        _x: &[f64],
        _product: &[f64],
        _v: &[f64],
        _out: &mut [f64],
        _control: &Control,
    ) -> Pass<bool> {
        Ok(false)
    }

    /// The term's dual description, where it has one; without it no duality gap is reported.
    fn dual(&self) -> Option<&dyn DualSide> {
        None
    }

    /// Whether the term has enclosures: of its value and of its dual side. Of a problem whose terms have none a certificate is
    /// computed in plain arithmetic and says so.
    fn is_enclosed(&self) -> bool {
        false
    }

    /// f(x) with its error, from raw data; unknown where nothing can be said.
    fn enclose_value(&self, _x: &[f64], _control: &Control) -> Pass<Enclosure> {
        Ok(Enclosure::UNKNOWN)
    }

    /// A number that f is proven never to fall below; minus infinity where there is none, or none is known.
    fn least_value(&self) -> f64 {
        f64::NEG_INFINITY
    }

    /// Narrows intervals that hold the coordinates of every point of interest, by what `f(x) <= level` proves of x.
    fn narrow(&self, _level: f64, _within: &mut [(f64, f64)], _control: &Control) -> Pass {
        Ok(())
    }

    /// The term as a quadratic by its factor, where it is one; proximal Newton steps need it.
    fn factored(&self) -> Option<Box<dyn Factored + '_>> {
        None
    }

    /// The term as a sum over samples, where it is one; stochastic methods need it.
    fn finite_sum(&self) -> Option<FiniteSum<'_>> {
        None
    }

    /// Whether its rows are spread over ranks: then a partial derivative is as dear as a gradient, and the solver asks for none.
    fn is_spread(&self) -> bool {
        false
    }

    /// The Hessian at x as matrices, where the term has them; steps from the interior need it.
    fn bends(&self, _x: &[f64], _product: &[f64]) -> Option<Vec<Bend<'_>>> {
        None
    }
}

/// The dual description of f: `f(x) = c'x + max over u of u'K x - f*(u)`.
///
/// The certificate builds a lower bound of the optimum from it. For `f(x) = phi(M x)`, K = M and f* is
/// the conjugate of phi; for `1/2 x'Qx`, K = Q and `f*(u) = 1/2 u'Qu`.
pub trait DualSide {
    /// The length of u.
    fn dual_len(&self) -> usize;
    /// The maximiser u at x, so that `c + K'u` is the gradient.
    fn dual_point(&self, x: &[f64], product: &[f64], u: &mut [f64]);
    /// Adds to `u` the change that moves `K'u` by `(Hessian at x) y`.
    fn add_dual_step(&self, x: &[f64], product: &[f64], y: &[f64], u: &mut [f64], control: &Control) -> Pass;
    /// `out += c + K'u`.
    fn add_dual_gradient(&self, u: &[f64], out: &mut [f64], control: &Control) -> Pass;
    /// `out += |c| + |K|'|u|`: the size of what is added up in [`add_dual_gradient`](Self::add_dual_gradient),
    /// which says how large its rounding may be.
    fn add_dual_magnitude(&self, u: &[f64], out: &mut [f64], control: &Control) -> Pass;
    /// `f*(u)`, infinite outside its domain.
    fn conjugate(&self, u: &[f64], control: &Control) -> Pass<f64>;
    /// Moves u into the domain of f*, exactly.
    fn settle(&self, _u: &mut [f64]) {}
    /// `f*(u)` with its error, for a u that was [settled](Self::settle).
    fn enclose_conjugate(&self, _u: &[f64], _control: &Control) -> Pass<Enclosure> {
        Ok(Enclosure::UNKNOWN)
    }
    /// Entry c of `c + K'u` with its error, where one costs about its share of all.
    fn enclose_dual_entry(&self, _c: usize, _u: &[f64]) -> Option<Enclosure> {
        None
    }
    /// `out += c + K'u` with its error.
    fn enclose_dual_gradient(&self, u: &[f64], out: &mut [Enclosure], control: &Control) -> Pass {
        let each = self.dual_len() + 1;
        control.in_parts(out.len(), each, |part| {
            part.for_each(|c| out[c] += self.enclose_dual_entry(c, u).unwrap_or(Enclosure::UNKNOWN));
        })
    }
    /// Whether f is proven convex.
    fn is_convex(&self) -> bool {
        true
    }
    /// What the description is off by at most, below f, at points within these intervals: 0 where f is proven convex.
    fn concavity(&self, _u: &[f64], _within: &[(f64, f64)]) -> f64 {
        0.0
    }
    /// What f* grows by where u is changed so that entry c of `c + K'u` grows by `by` and no other changes; `None` where
    /// coordinate c has no entry of u to itself.
    fn absorb(&self, _c: usize, _u: &[f64], _by: Enclosure) -> Option<Enclosure> {
        None
    }
}

impl<T: PairTerm + ?Sized> PairTerm for Box<T> {
    forward! {
        fn dimension(&self) -> usize;
        fn partial(&self, c: usize, x: &[f64], product: &[f64]) -> f64;
        fn curvature(&self, c: usize) -> f64;
        fn own_curvature(&self, c: usize) -> f64;
        fn interaction(&self, i: usize, j: usize) -> Option<f64>;
        fn is_decomposable(&self) -> bool;
        fn reads(&self, c: usize) -> Reads<'_>;
        fn product_len(&self) -> usize;
        fn add_to_product(&self, c: usize, delta: f64, product: &mut [f64]);
        fn partials(&self, coordinates: &[usize], x: &[f64], product: &[f64], out: &mut [f64]);
        fn range_partials(&self, range: Range<usize>, x: &[f64], product: &[f64], out: &mut [f64]);
        fn add_all_to_product(&self, coordinates: &[usize], deltas: &[f64], product: &mut [f64]);
    }
}

impl<T: SmoothTerm + ?Sized> SmoothTerm for Box<T> {
    forward! {
        fn value(&self, x: &[f64], product: &[f64]) -> f64;
        fn fill_product(&self, x: &[f64], product: &mut [f64], control: &Control) -> Pass;
        fn gradient(&self, x: &[f64], product: &[f64], out: &mut [f64], control: &Control) -> Pass;
        fn hessian_product(
            &self, x: &[f64], product: &[f64], v: &[f64], out: &mut [f64], control: &Control
        ) -> Pass<bool>;
        fn dual(&self) -> Option<&dyn DualSide>;
        fn is_enclosed(&self) -> bool;
        fn enclose_value(&self, x: &[f64], control: &Control) -> Pass<Enclosure>;
        fn least_value(&self) -> f64;
        fn narrow(&self, level: f64, within: &mut [(f64, f64)], control: &Control) -> Pass;
        fn factored(&self) -> Option<Box<dyn Factored + '_>>;
        fn finite_sum(&self) -> Option<FiniteSum<'_>>;
        fn is_spread(&self) -> bool;
        fn bends(&self, x: &[f64], product: &[f64]) -> Option<Vec<Bend<'_>>>;
    }
}
