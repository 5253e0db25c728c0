//! Which coordinates form block i.
//!
//! Blocks partition the coordinates 0..n. They are ranges of one size, ranges between boundaries, or
//! lists of coordinates (automatic blocks, where neighbours in the data need not be neighbours here).
//!
//! Automatic blocks are grown so that the columns `A_i` of every block have full row rank m and are well
//! conditioned: then every connected graph reaches the optimum of a smooth problem.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::control::{Control, Pass};
use crate::coupling::{Coupling, Shape};
use crate::error::{Error, Result};
use crate::matrix::axpy;

/// Smallest ratio of the extreme pivots of `A_i A_i'` (rows at unit length) for which growth stops early.
const WELL_CONDITIONED: f64 = 1e-2;
/// Smallest ratio that counts as full rank at all.
const FULL_RANK: f64 = 1e-10;

/// How the caller wants the variables to be grouped.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum BlockChoice {
    /// Scalars for none or one coupling row, the natural size for a block sum, otherwise grown until
    /// the columns of A in every block have full row rank.
    #[default]
    Automatic,
    /// Consecutive blocks of this size; the last may be smaller.
    Size(usize),
    /// Where each block begins, and the end: `[0, 3, 5]` makes blocks 0..3 and 3..5.
    Boundaries(Vec<usize>),
}

/// A partition of the coordinates 0..n.
#[derive(Debug, Clone, PartialEq)]
pub struct Blocks {
    dimension: usize,
    starts: Starts,
    /// Coordinates in the order of the blocks; empty when that order is 0..n.
    order: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq)]
enum Starts {
    Uniform(usize),
    At(Vec<usize>),
}

impl Blocks {
    /// The blocks asked for, over n coordinates tied by a coupling of independent rows.
    pub(crate) fn new(
        choice: &BlockChoice,
        n: usize,
        coupling: &Coupling,
        control: &Control,
    ) -> Result<Self> {
        match choice {
            BlockChoice::Size(0) => {
                let reason = "the size must be at least 1";
                Err(Error::InvalidBlocks { reason, index: 0, found: 0, dimension: n })
            }
            BlockChoice::Size(size) => Ok(Self::uniform(*size, n)),
            BlockChoice::Boundaries(list) => Self::between(list, n),
            BlockChoice::Automatic => Ok(match coupling.shape() {
                Shape::None | Shape::Row(_) => Self::uniform(1, n),
                Shape::BlockSum => Self::uniform(coupling.rows(), n),
                Shape::Rows(_) => Self::grown(n, coupling, control)?,
            }),
        }
    }

    fn uniform(size: usize, n: usize) -> Self {
        Self { dimension: n, starts: Starts::Uniform(size.min(n).max(1)), order: Vec::new() }
    }

    fn between(list: &[usize], n: usize) -> Result<Self> {
        let bad = |index: usize, reason| {
            let found = list.get(index).copied().unwrap_or(0);
            Err(Error::InvalidBlocks { reason, index, found, dimension: n })
        };
        if list.first() != Some(&0) {
            return bad(0, "boundaries must begin with 0");
        }
        if let Some(k) = list.windows(2).position(|pair| pair[0] >= pair[1]) {
            return bad(k + 1, "boundaries must increase");
        }
        if list.last() != Some(&n) {
            return bad(list.len() - 1, "boundaries must end with the number of variables");
        }
        Ok(Self { dimension: n, starts: Starts::At(list.to_vec()), order: Vec::new() })
    }

    /// Shuffled coordinates, cut wherever the columns so far have full row rank.
    fn grown(n: usize, coupling: &Coupling, control: &Control) -> Pass<Self> {
        let m = coupling.rows();
        if n < 2 * (m + 1) {
            // A block has more columns than there are rows: there is one.
            return Ok(Self::uniform(n, n));
        }
        let mut order: Vec<usize> = (0..n).collect();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(0x0e9u64);
        for k in (1..n).rev() {
            order.swap(k, (rng.next_u64() % (k as u64 + 1)) as usize);
        }
        let scale = coupling.row_norms_within(n, control)?;
        let mut gram = vec![0.0; m * m];
        let mut starts = vec![0];
        let check_every = (m / 4).max(1);
        for (k, &c) in order.iter().enumerate() {
            coupling.add_outer(c, 1.0, &mut gram);
            let size = k + 1 - starts[starts.len() - 1];
            if size <= m || !(size - m - 1).is_multiple_of(check_every) {
                continue;
            }
            control.check()?;
            let wanted = if size < 3 * m { WELL_CONDITIONED } else { FULL_RANK };
            if pivot_ratio(&gram, &scale) >= wanted {
                starts.push(k + 1);
                gram.fill(0.0);
            }
        }
        if starts[starts.len() - 1] != n {
            // What is left over joins the last whole block, or forms the only one.
            if starts.len() > 1 {
                starts.pop();
            }
            starts.push(n);
        }
        // Within a block the order of the data is kept: neighbours stay neighbours in memory.
        starts.windows(2).for_each(|w| order[w[0]..w[1]].sort_unstable());
        Ok(Self { dimension: n, starts: Starts::At(starts), order })
    }

    /// The number of blocks.
    pub fn len(&self) -> usize {
        match &self.starts {
            Starts::Uniform(size) => self.dimension.div_ceil(*size),
            Starts::At(starts) => starts.len() - 1,
        }
    }

    /// Whether there are no blocks.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of coordinates.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Positions of block i in the order of the blocks.
    #[inline]
    pub(crate) fn span(&self, i: usize) -> std::ops::Range<usize> {
        match &self.starts {
            Starts::Uniform(size) => i * size..((i + 1) * size).min(self.dimension),
            Starts::At(starts) => starts[i]..starts[i + 1],
        }
    }

    /// The coordinates of block i as a range, where they are one.
    #[inline]
    pub(crate) fn contiguous(&self, i: usize) -> Option<std::ops::Range<usize>> {
        self.order.is_empty().then(|| self.span(i))
    }

    /// Whether the blocks follow one another in the order of the coordinates.
    pub(crate) fn in_order(&self) -> bool {
        self.order.is_empty()
    }

    /// The coordinate at a position in the order of the blocks.
    #[inline]
    pub(crate) fn coordinate(&self, position: usize) -> usize {
        if self.order.is_empty() { position } else { self.order[position] }
    }

    /// The coordinates of block i.
    pub fn coordinates(&self, i: usize) -> impl Iterator<Item = usize> {
        self.span(i).map(|position| self.coordinate(position))
    }

    /// The size of block i.
    pub fn size(&self, i: usize) -> usize {
        self.span(i).len()
    }

    /// Whether every block is one coordinate, block i being coordinate i.
    pub fn are_scalars(&self) -> bool {
        self.starts == Starts::Uniform(1)
    }

    /// Whether every block has this size and coordinates are in their own order.
    pub(crate) fn are_uniform(&self, size: usize) -> bool {
        self.starts == Starts::Uniform(size) && self.dimension.is_multiple_of(size)
    }
}

/// The ratio of the smallest to the largest pivot in the elimination of a scaled Gram matrix (lower triangle,
/// column-major); 0 when it is singular.
pub(crate) fn pivot_ratio(gram: &[f64], scale: &[f64]) -> f64 {
    let m = scale.len();
    let mut a = gram.to_vec();
    for c in 0..m {
        for r in c..m {
            a[c * m + r] /= scale[r] * scale[c];
        }
    }
    let (mut largest, mut smallest) = (0.0_f64, f64::INFINITY);
    for k in 0..m {
        let (done, rest) = a.split_at_mut((k + 1) * m);
        let pivots = &done[k * m..];
        let value = pivots[k];
        if value.is_nan() || value <= 0.0 {
            return 0.0;
        }
        largest = largest.max(value);
        smallest = smallest.min(value);
        for (offset, column) in rest.chunks_exact_mut(m).enumerate() {
            let c = k + 1 + offset;
            axpy(-pivots[c] / value, &pivots[c..], &mut column[c..]);
        }
    }
    smallest / largest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{DenseMatrix, Matrix};

    fn coupling(m: usize, n: usize) -> Coupling {
        let values = (0..m * n).map(|k| ((k * 37 + 11) % 101) as f64 / 101.0 - 0.3).collect();
        let matrix: Matrix = DenseMatrix::from_columns(m, n, values).expect("right size").into();
        Coupling::rows_of(matrix, vec![0.0; m]).expect("valid")
    }

    #[test]
    fn grown_blocks_partition_and_have_full_row_rank() {
        let a = coupling(3, 40);
        let blocks = Blocks::new(&BlockChoice::Automatic, 40, &a, &Control::unlimited()).expect("valid");
        let mut seen: Vec<usize> =
            (0..blocks.len()).flat_map(|i| blocks.coordinates(i).collect::<Vec<_>>()).collect();
        assert!(blocks.len() >= 4);
        for i in 0..blocks.len() {
            let mut gram = vec![0.0; 9];
            blocks.coordinates(i).for_each(|c| a.add_outer(c, 1.0, &mut gram));
            assert!(pivot_ratio(&gram, &[1.0; 3]) > FULL_RANK);
        }
        seen.sort_unstable();
        assert_eq!(seen, (0..40).collect::<Vec<_>>());
    }

    #[test]
    fn growing_ends_between_two_blocks() {
        let a = coupling(3, 40);
        for looks in 0..4 {
            let cut = Blocks::new(&BlockChoice::Automatic, 40, &a, &Control::after_looks(looks));
            assert_eq!(cut.err(), Some(Error::StoppedEarly { by: "interrupted" }), "{looks}");
        }
    }

    #[test]
    fn bad_boundaries_are_named() {
        let none = Coupling::none();
        let make = |list: &[usize]| {
            Blocks::new(&BlockChoice::Boundaries(list.to_vec()), 5, &none, &Control::unlimited())
        };
        assert!(make(&[0, 2, 5]).is_ok());
        for (list, bad) in [(&[1, 5][..], 0), (&[0, 3, 3, 5], 2), (&[0, 4], 1), (&[], 0)] {
            assert!(
                matches!(make(list), Err(Error::InvalidBlocks { index, .. }) if index == bad || list.is_empty())
            );
        }
    }
}
