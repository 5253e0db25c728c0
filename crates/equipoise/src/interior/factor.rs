//! Two ways to solve with the matrix of a step, regularised:
//!
//! - **sparse**: `P K P' = L D L'`, in an order P that keeps L sparse; for whatever is sparse, or has entries of H off the diagonal;
//! - **dense**: where `H + D` is diagonal and the rows B below it are full, `S = B (H + D)^-1 B' + E` by Cholesky's method.
//!
//! Given: a lower triangle by columns, every diagonal entry first, the first n pivots above 0 and the others below. Returns:
//! solutions up to rounding. Must not know: what is being solved.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::ldlt::factor::LdltRegularization;
use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LdltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Accum, Conj, MatMut, MatRef, Par, Side, Spec};

use crate::control::{Control, Pass};
use crate::matrix::Cholesky;
use crate::team::Team;

/// Pivots below this, and what they become.
const TINY_PIVOT: f64 = 1e-13;
const NEW_PIVOT: f64 = 1e-7;
/// The share of the entries below a diagonal block from which on they count as all there.
const FULL: f64 = 0.3;

/// A symmetric matrix by the columns of its lower triangle.
#[derive(Clone, Copy)]
pub(super) struct Lower<'a> {
    pub(super) starts: &'a [usize],
    pub(super) indices: &'a [usize],
    pub(super) values: &'a [f64],
}

impl Lower<'_> {
    fn order(&self) -> usize {
        self.starts.len() - 1
    }
}

/// A factor and its memory.
pub(super) enum Factor {
    Sparse(Box<Sparse>),
    Dense(Dense),
}

impl Factor {
    /// The factor for a pattern whose first n pivots are above 0; `None` where it would cost more products than given.
    pub(super) fn new(pattern: Lower<'_>, n: usize, products: f64) -> Option<Self> {
        let order = pattern.order();
        let below = order - n;
        let is_diagonal =
            (0..n).all(|c| (pattern.starts[c] + 1..pattern.starts[c + 1]).all(|k| pattern.indices[k] >= n));
        let entries = pattern.starts[n] - n;
        if is_diagonal && below > 0 && entries as f64 >= FULL * (n * below) as f64 {
            let cost = (n * below) as f64 * below as f64;
            return (cost <= products).then(|| Self::Dense(Dense::new(n, below)));
        }
        Sparse::new(pattern, n, products).map(|sparse| Self::Sparse(Box::new(sparse)))
    }

    /// Factors; false where that fails.
    pub(super) fn factor(&mut self, matrix: Lower<'_>, control: &Control) -> Pass<bool> {
        control.check()?;
        match self {
            Self::Sparse(sparse) => Ok(sparse.factor(matrix)),
            Self::Dense(dense) => dense.factor(matrix, control),
        }
    }

    /// Solves in place.
    pub(super) fn solve(&mut self, right: &mut [f64]) {
        match self {
            Self::Sparse(sparse) => sparse.solve(right),
            Self::Dense(dense) => dense.solve(right),
        }
    }
}

pub(super) struct Sparse {
    signs: Vec<i8>,
    symbolic: SymbolicCholesky<usize>,
    values: Vec<f64>,
    memory: MemBuffer,
}

impl Sparse {
    fn new(pattern: Lower<'_>, n: usize, products: f64) -> Option<Self> {
        let order = pattern.order();
        let whole = SymbolicSparseColMatRef::new_checked(order, order, pattern.starts, None, pattern.indices);
        let parameters = CholeskySymbolicParams::default();
        let symbolic =
            factorize_symbolic_cholesky(whole, Side::Lower, SymmetricOrdering::Amd, parameters).ok()?;
        // L has its numbers in columns of about this length, each of which meets itself.
        let numbers = symbolic.len_val() as f64;
        if numbers * numbers / order as f64 > products {
            return None;
        }
        let needed =
            symbolic
                .factorize_numeric_ldlt_scratch::<f64>(Par::Seq, Spec::default())
                .or(symbolic.solve_in_place_scratch::<f64>(1, Par::Seq));
        let signs = (0..order).map(|k| if k < n { 1 } else { -1 }).collect();
        let values = vec![0.0; symbolic.len_val()];
        Some(Self { signs, symbolic, values, memory: MemBuffer::new(needed) })
    }

    fn factor(&mut self, matrix: Lower<'_>) -> bool {
        let order = matrix.order();
        let pattern = SymbolicSparseColMatRef::new_checked(order, order, matrix.starts, None, matrix.indices);
        let regularisation = LdltRegularization {
            dynamic_regularization_signs: Some(&self.signs),
            dynamic_regularization_delta: NEW_PIVOT,
            dynamic_regularization_epsilon: TINY_PIVOT,
        };
        let made = self.symbolic.factorize_numeric_ldlt(
            &mut self.values,
            SparseColMatRef::new(pattern, matrix.values),
            Side::Lower,
            regularisation,
            Par::Seq,
            MemStack::new(&mut self.memory),
            Spec::default(),
        );
        made.is_ok()
    }

    fn solve(&mut self, right: &mut [f64]) {
        let order = right.len();
        let factor = LdltRef::new(&self.symbolic, &self.values);
        let right = MatMut::from_column_major_slice_mut(right, order, 1);
        factor.solve_in_place_with_conj(Conj::No, right, Par::Seq, MemStack::new(&mut self.memory));
    }
}

pub(super) struct Dense {
    n: usize,
    below: usize,
    /// 1 over the first pivots.
    inverse: Vec<f64>,
    /// The rows B, a column for every one of the first pivots.
    rows: Vec<f64>,
    scaled: Vec<f64>,
    square: Vec<f64>,
    cholesky: Cholesky,
}

impl Dense {
    fn new(n: usize, below: usize) -> Self {
        Self {
            n,
            below,
            inverse: vec![0.0; n],
            rows: vec![0.0; n * below],
            scaled: vec![0.0; n * below],
            square: vec![0.0; below * below],
            cholesky: Cholesky::default(),
        }
    }

    fn factor(&mut self, matrix: Lower<'_>, control: &Control) -> Pass<bool> {
        let (n, below) = (self.n, self.below);
        for c in 0..n {
            let range = matrix.starts[c]..matrix.starts[c + 1];
            self.inverse[c] = 1.0 / matrix.values[range.start];
            let root = self.inverse[c].sqrt();
            let (rows, scaled) =
                (&mut self.rows[c * below..(c + 1) * below], &mut self.scaled[c * below..(c + 1) * below]);
            for k in range.skip(1) {
                let row = matrix.indices[k] - n;
                (rows[row], scaled[row]) = (matrix.values[k], root * matrix.values[k]);
            }
        }
        control.check()?;
        let scaled = MatRef::from_column_major_slice(&self.scaled, below, n);
        let square = MatMut::from_column_major_slice_mut(&mut self.square, below, below);
        let (lower, whole) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
        matmul(square, lower, Accum::Replace, scaled, whole, scaled.transpose(), whole, 1.0, Par::Seq);
        for k in 0..below {
            self.square[k * (below + 1)] -= matrix.values[matrix.starts[n + k]];
        }
        self.cholesky.factor(&Team::of(1), &self.square, below, control)
    }

    fn solve(&mut self, right: &mut [f64]) {
        let (n, below) = (self.n, self.below);
        let (top, bottom) = right.split_at_mut(n);
        // (B D^-1 B' + E) w = B D^-1 top - bottom, then D x = top - B'w.
        bottom.iter_mut().for_each(|b| *b = -*b);
        for c in 0..n {
            let column = &self.rows[c * below..(c + 1) * below];
            crate::matrix::axpy(top[c] * self.inverse[c], column, bottom);
        }
        self.cholesky.solve(bottom);
        for c in 0..n {
            let column = &self.rows[c * below..(c + 1) * below];
            top[c] = (top[c] - crate::matrix::dot(column, bottom)) * self.inverse[c];
        }
    }
}
