//! The metric D of the steps: how strongly the model of f bends along each coordinate.
//!
//! `D_c = factor_i * curvature_c / alpha` for c in block i, with `factor_i >= 1` the smallest number known for which
//! `factor_i diag(curvature)` dominates the majorant of f on the block. A pair of blocks that f couples needs
//! twice that (`x'Hx <= 2 x_i'H_ii x_i + 2 x_j'H_jj x_j`); blocks that f does not couple do not. With several threads
//! a block may be damped: its factor grows with the number of updates that meet there.
//! Group norms need one number a block: the largest of these.

use crate::archive::Archive;
use crate::error::Result;
use crate::problem::View;
use crate::separable::Nonsmooth;
use crate::smooth::PairTerm;

/// No curvature counts as this share of the largest: a linear coordinate still gets a finite step.
const SHARE_OF_LINEAR: f64 = 1e-9;
/// Blocks up to this size are bounded by their own matrix, larger ones by their size.
const LARGEST_EXAMINED: usize = 128;

/// The metric of every coordinate.
#[derive(Debug, Clone)]
pub(crate) struct Metric {
    /// Factor of every block; empty when all are 1.
    factors: Vec<f64>,
    floor: f64,
    /// Metric of every block for group norms; empty otherwise.
    isotropic: Vec<f64>,
    /// Factor for two blocks that move together.
    pair: f64,
    inverse_step: f64,
    /// The curvature of every coordinate, where it is one number and h is no group norm.
    plain: Option<f64>,
}

impl Metric {
    pub(crate) fn new(view: View<'_>, step_size: f64) -> Self {
        Self::standing_in(view, view.smooth(), step_size)
    }

    /// For coordinates that move one by one or in pairs, whatever the blocks.
    pub(crate) fn of_scalars(view: View<'_>, step_size: f64) -> Self {
        Self::with_blocks(view, view.smooth(), step_size, false)
    }

    /// For an f that stands in for that of the problem.
    pub(crate) fn standing_in(view: View<'_>, f: &(impl PairTerm + ?Sized), step_size: f64) -> Self {
        Self::with_blocks(view, f, step_size, !view.blocks().are_scalars())
    }

    fn with_blocks(view: View<'_>, f: &(impl PairTerm + ?Sized), step_size: f64, has_blocks: bool) -> Self {
        let blocks = view.blocks();
        let largest = (0..f.dimension()).map(|c| f.curvature(c)).fold(0.0, f64::max);
        let floor = if largest > 0.0 { SHARE_OF_LINEAR * largest } else { 1e-6 };
        let apart = f.is_decomposable();
        let factors: Vec<f64> = if apart || !has_blocks {
            Vec::new()
        } else {
            (0..blocks.len())
                .map(|i| block_factor(f, &blocks.coordinates(i).collect::<Vec<_>>(), floor))
                .collect()
        };
        let mut metric = Self {
            factors,
            floor,
            isotropic: Vec::new(),
            pair: if apart { 1.0 } else { 2.0 },
            inverse_step: 1.0 / step_size,
            plain: None,
        };
        match view.separable() {
            Nonsmooth::Coordinates(_) => {
                let first = metric.diagonal(f, 0);
                let alike = (1..f.dimension()).all(|c| metric.diagonal(f, c) == first);
                metric.plain = alike.then_some(first);
            }
            Nonsmooth::Groups(_) => {
                let strongest = |i: usize| {
                    or_floor(blocks.coordinates(i).map(|c| f.curvature(c)).fold(0.0, f64::max), floor)
                };
                metric.isotropic = (0..blocks.len()).map(|i| metric.factor(i) * strongest(i)).collect();
            }
        }
        metric
    }

    /// Multiplies the metric of every block by its damping.
    pub(crate) fn damp(&mut self, blocks: usize, damping: impl Fn(usize) -> f64) {
        self.factors.resize(blocks, 1.0);
        self.factors.iter_mut().enumerate().for_each(|(i, factor)| *factor *= damping(i));
        self.isotropic.iter_mut().enumerate().for_each(|(i, metric)| *metric *= damping(i));
    }

    /// Changes the step size.
    pub(crate) fn set_step(&mut self, step_size: f64) {
        self.inverse_step = 1.0 / step_size;
    }

    /// Shows an archive the step size, which is all that changes.
    pub(crate) fn carry(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.number(&mut self.inverse_step)
    }

    #[inline]
    pub(crate) fn factor(&self, i: usize) -> f64 {
        if self.factors.is_empty() { 1.0 } else { self.factors[i] }
    }

    /// The metric of coordinate c in block i when that block moves alone.
    #[inline]
    pub(crate) fn at<F: PairTerm + ?Sized>(&self, f: &F, c: usize, i: usize) -> f64 {
        self.inverse_step * self.at_full_step(f, c, i)
    }

    /// The same for step size 1.
    #[inline]
    pub(crate) fn at_full_step<F: PairTerm + ?Sized>(&self, f: &F, c: usize, i: usize) -> f64 {
        if self.isotropic.is_empty() { self.factor(i) * self.diagonal(f, c) } else { self.isotropic[i] }
    }

    /// The metric of every coordinate of block i for step size 1, where all are alike.
    #[inline]
    pub(crate) fn of_block_at_full_step(&self, i: usize) -> Option<f64> {
        self.plain.map(|curvature| self.factor(i) * curvature)
    }

    /// The same where it is one number for all blocks.
    pub(crate) fn uniform_at_full_step(&self) -> Option<f64> {
        self.plain.filter(|_| self.factors.is_empty())
    }

    /// By how much it grows when two blocks move together.
    #[inline]
    pub(crate) fn pair_factor(&self) -> f64 {
        self.pair
    }

    /// The step size.
    #[inline]
    pub(crate) fn step(&self) -> f64 {
        1.0 / self.inverse_step
    }

    /// One over the step size.
    #[inline]
    pub(crate) fn inverse_step(&self) -> f64 {
        self.inverse_step
    }

    /// The curvature along coordinate c, or the stand-in for none.
    #[inline]
    pub(crate) fn diagonal<F: PairTerm + ?Sized>(&self, f: &F, c: usize) -> f64 {
        or_floor(f.curvature(c), self.floor)
    }
}

/// A curvature, or the floor where there is none.
#[inline]
fn or_floor(curvature: f64, floor: f64) -> f64 {
    if curvature > 0.0 { curvature } else { floor }
}

/// A number t with `t diag(curvature)` above the majorant on these coordinates.
///
/// For the scaled matrix K (unit diagonal) the spectral radius of |K| is at most `max_i (|K| v)_i / v_i` for every
/// positive v (Collatz and Wielandt); a few power steps make v good.
fn block_factor(f: &(impl PairTerm + ?Sized), coordinates: &[usize], floor: f64) -> f64 {
    let size = coordinates.len();
    let unexamined = size as f64;
    if size <= 1 {
        return 1.0;
    }
    if size > LARGEST_EXAMINED {
        return unexamined;
    }
    let root: Vec<f64> = coordinates.iter().map(|&c| or_floor(f.curvature(c), floor).sqrt()).collect();
    let mut scaled = vec![0.0; size * size];
    for a in 0..size {
        scaled[a * size + a] = 1.0;
        for b in 0..a {
            let Some(value) = f.interaction(coordinates[a], coordinates[b]) else { return unexamined };
            let value = value.abs() / (root[a] * root[b]);
            scaled[a * size + b] = value;
            scaled[b * size + a] = value;
        }
    }
    let mut v = vec![1.0; size];
    let mut bound = unexamined;
    for _ in 0..12 {
        let image: Vec<f64> =
            (0..size).map(|a| crate::matrix::dot(&scaled[a * size..(a + 1) * size], &v)).collect();
        bound = image.iter().zip(&v).map(|(image, v)| image / v).fold(0.0, f64::max).min(bound);
        let largest = crate::matrix::max_abs(&image);
        v.iter_mut().zip(&image).for_each(|(v, image)| *v = (image / largest).max(1e-6));
    }
    bound.max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;
    use crate::smooth::Quadratic;

    #[test]
    fn the_factor_dominates_and_is_sharp_for_equal_signs() {
        let ones = Matrix::from_rows(&[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]).expect("square");
        let f = Quadratic::new(ones, vec![0.0; 3]).expect("convex");
        assert!((block_factor(&f, &[0, 1, 2], 1e-12) - 3.0).abs() < 1e-12);
        let diagonal = Matrix::from_rows(&[[4.0, 0.0], [0.0, 1.0]]).expect("square");
        let f = Quadratic::new(diagonal, vec![0.0; 2]).expect("convex");
        assert!((block_factor(&f, &[0, 1], 1e-12) - 1.0).abs() < 1e-12);
    }
}
