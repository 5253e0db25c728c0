//! The two-block subproblem, solved exactly:
//!
//! ```text
//! minimise over z   sum_k  g_k (z_k - x_k) + D_k/2 (z_k - x_k)^2 + h_c(k)(z_k)
//! subject to        A (z - x) = shift          (shift = 0 in a pair step)
//! ```
//!
//! | symbol | name here | meaning |
//! |---|---|---|
//! | x, z | `x`, `z` | the values now and the new values, both blocks in one list |
//! | g | `gradient` | gradient of f at x on these coordinates |
//! | D | `metric` | curvature of the model, one positive number a coordinate |
//! | c(k) | `coordinates` | index of local coordinate k in the whole problem, for h |
//! | A, `a_k` | `columns` | the m coupling rows on these coordinates; column k |
//! | lambda | `multiplier` | one a row: `z = prox_{h/D}(x - (g + A'lambda)/D)` |
//!
//! | case | file |
//! |---|---|
//! | no rows | [`free`] |
//! | two scalars, one row | [`scalar`] (closed form) |
//! | one row | [`one_row`] (piecewise linear or monotone root) |
//! | h = 0 | [`smooth_rows`] (one factored solve) |
//! | several rows | [`newton`] (semismooth Newton on the dual) |
//! | group norms | [`group`] (the same Newton) |
//!
//! Everything here is a pure function of numbers. It returns new values z, not differences, so that a
//! value at a bound is that bound bitwise and a value at the kink of l1 is 0. Workspaces grow to the largest
//! problem seen and then no call allocates. Must not know: random numbers, threads, which pair it is.
//!
//! Derivations: docs/pair-step.md.

mod ascent;
mod columns;
mod dual;
mod factor;
pub(crate) mod free;
pub(crate) mod group;
mod kernels;
pub(crate) mod newton;
pub(crate) mod one_row;
mod prox_root;
mod ramps;
pub(crate) mod scalar;
pub(crate) mod smooth_rows;
#[cfg(test)]
mod tests;
mod wide;

pub(crate) use columns::Columns;
pub(crate) use dual::Workspace as DualWorkspace;
pub(crate) use factor::Factor;

/// The separable model of f on the coordinates that may move; all four lists have the same length.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Model<'a> {
    /// Index of each local coordinate in the whole problem (what h is asked with).
    pub(crate) coordinates: &'a [usize],
    /// The values now.
    pub(crate) x: &'a [f64],
    /// The gradient of f at x.
    pub(crate) gradient: &'a [f64],
    /// The curvature D > 0 of the model.
    pub(crate) metric: &'a [f64],
}

impl Model<'_> {
    /// The number of coordinates.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.x.len()
    }

    /// The point `x - (g + slope)/D` of coordinate k, where `slope = a_k'lambda`: what the prox is taken of.
    #[inline]
    fn target(&self, k: usize, slope: f64) -> f64 {
        self.x[k] - (self.gradient[k] + slope) / self.metric[k]
    }

    /// The smooth part of the model at coordinate k moved by d, relative to not moving.
    #[inline]
    fn smooth_change(&self, k: usize, d: f64) -> f64 {
        d * (self.gradient[k] + 0.5 * self.metric[k] * d)
    }
}

/// Several coupling rows with what they must add up to: `A (z - x) = shift`.
#[derive(Debug)]
pub(crate) struct Rows<'a, C: ?Sized> {
    /// The columns of A.
    pub(crate) columns: &'a C,
    /// What `A (z - x)` must be, a number a row; zeros in a pair step.
    pub(crate) shift: &'a [f64],
}

impl<C: ?Sized> Clone for Rows<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: ?Sized> Copy for Rows<'_, C> {}
