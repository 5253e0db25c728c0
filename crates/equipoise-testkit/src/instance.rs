//! A problem `minimise f(x) + h(x) subject to A x = b` as plain data.
//!
//! The enums mirror the tables of PROBLEM.toml: [`Smooth`] is f, [`Separable`] is h, [`Coupling`]
//! is `A x = b`, [`Blocks`] the partition of the coordinates. Losses are sums, not means. Lists are
//! always spelled out (one number per coordinate, row or block).
//!
//! This module must not know any solver.

pub use crate::dense::Dense;
pub use crate::evaluate::{infeasibility, objective};
pub use crate::loss::Loss;
pub use crate::penalty::Separable;

/// The smooth part f.
#[derive(Clone, Debug, PartialEq)]
pub enum Smooth {
    /// `1/2 x'Qx + c'x`, Q symmetric positive semidefinite.
    Quadratic {
        /// Q, n x n.
        q: Dense,
        /// c, n numbers.
        c: Vec<f64>,
    },
    /// `1/2 ||Mx||^2 + c'x`: a quadratic with Q = M'M given by its factor.
    Factor {
        /// M, any number of rows.
        m: Dense,
        /// c, n numbers.
        c: Vec<f64>,
    },
    /// `sum_r w_r phi(m_r'x, y_r)`.
    Loss {
        /// phi.
        loss: Loss,
        /// M.
        m: Dense,
        /// One target per row.
        y: Vec<f64>,
        /// One weight per row; absent means 1.
        weights: Option<Vec<f64>>,
    },
    /// `sum_c w_c (x_c - t_c)^2`, without a half.
    Distance {
        /// One target per coordinate.
        target: Vec<f64>,
        /// One weight per coordinate.
        weights: Vec<f64>,
    },
    /// `c'x`.
    Linear {
        /// c, n numbers.
        c: Vec<f64>,
    },
    /// The sum of several terms.
    Sum(Vec<Smooth>),
}

/// The coupling `A x = b`.
#[derive(Clone, Debug, PartialEq)]
pub enum Coupling {
    /// No equations.
    None,
    /// The sum of all coordinates equals the number.
    Sum(f64),
    /// The sum over blocks of size p equals the list of p numbers: `sum_i x_{i p + k} = rhs_k`.
    BlockSum(Vec<f64>),
    /// `weights' x = rhs`.
    Row {
        /// One weight per coordinate.
        weights: Vec<f64>,
        /// The right-hand side.
        rhs: f64,
    },
    /// `matrix x = rhs`.
    Rows {
        /// A, m x n.
        matrix: Dense,
        /// b, m numbers.
        rhs: Vec<f64>,
    },
}

/// The partition of the coordinates into blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// The solver chooses.
    Auto,
    /// Blocks of one size, which divides the dimension.
    Size(usize),
    /// Block i is `boundaries[i]..boundaries[i + 1]`: the list starts with 0 and ends with n.
    Boundaries(Vec<usize>),
}

/// One problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// A readable name, unique in its collection: f/h/A/blocks/n/seed.
    pub name: String,
    /// f.
    pub smooth: Smooth,
    /// h.
    pub separable: Separable,
    /// `A x = b`.
    pub coupling: Coupling,
    /// The blocks.
    pub blocks: Blocks,
    /// n, the number of coordinates.
    pub dimension: usize,
}

impl Smooth {
    /// The kind, as PROBLEM.toml writes it (`factor` for a quadratic given by its factor).
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Quadratic { .. } => "quadratic",
            Self::Factor { .. } => "factor",
            Self::Loss { loss, .. } => loss.kind(),
            Self::Distance { .. } => "distance",
            Self::Linear { .. } => "linear",
            Self::Sum(_) => "sum",
        }
    }
}

impl Coupling {
    /// The kind: none, sum, block-sum, row, rows, sparse-rows.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Sum(_) => "sum",
            Self::BlockSum(_) => "block-sum",
            Self::Row { .. } => "row",
            Self::Rows { matrix, .. } if matrix.sparse => "sparse-rows",
            Self::Rows { .. } => "rows",
        }
    }

    /// A and b spelled out, for `dimension` coordinates.
    pub fn equations(&self, dimension: usize) -> (Dense, Vec<f64>) {
        match self {
            Self::None => (Dense::zeros(0, dimension), Vec::new()),
            Self::Sum(rhs) => (Dense::from_rows(&[vec![1.0; dimension]]), vec![*rhs]),
            Self::BlockSum(rhs) => {
                let mut matrix = Dense::zeros(rhs.len(), dimension);
                (0..dimension).for_each(|c| matrix.row_mut(c % rhs.len())[c] = 1.0);
                (matrix, rhs.clone())
            }
            Self::Row { weights, rhs } => (Dense::from_rows(&[weights]), vec![*rhs]),
            Self::Rows { matrix, rhs } => (matrix.clone(), rhs.clone()),
        }
    }
}

impl Blocks {
    /// The kind: auto, size, boundaries.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Size(_) => "size",
            Self::Boundaries(_) => "boundaries",
        }
    }

    /// The boundaries spelled out, 0 and n included; none when the solver chooses.
    pub fn boundaries(&self, dimension: usize) -> Option<Vec<usize>> {
        match self {
            Self::Auto => None,
            Self::Size(size) => Some((0..=dimension / size).map(|i| i * size).collect()),
            Self::Boundaries(list) => Some(list.clone()),
        }
    }
}
