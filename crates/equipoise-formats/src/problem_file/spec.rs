//! What a problem file says, as plain data. The module above tells the keys and formulas.

use crate::{MatrixData, RowStream};

/// A problem file with all its arrays loaded.
#[derive(Debug, Clone, PartialEq)]
pub struct ProblemFile {
    /// f.
    pub smooth: SmoothSpec,
    /// h.
    pub separable: SeparableSpec,
    /// A and b.
    pub coupling: CouplingSpec,
    /// How x falls into blocks.
    pub blocks: BlocksSpec,
    /// Which pairs of blocks move together, and how often.
    pub graph: GraphSpec,
    /// Limits and choices for the solver.
    pub solve: SolveSpec,
}

impl ProblemFile {
    /// A problem of f alone; everything else takes its default.
    pub fn new(smooth: SmoothSpec) -> Self {
        Self {
            smooth,
            separable: SeparableSpec::default(),
            coupling: CouplingSpec::default(),
            blocks: BlocksSpec::default(),
            graph: GraphSpec::default(),
            solve: SolveSpec::default(),
        }
    }
}

/// One number for all, or one for each.
#[derive(Debug, Clone, PartialEq)]
pub enum NumberOrList {
    /// The same for all.
    Number(f64),
    /// One for each.
    List(Vec<f64>),
}

/// The smooth term f. A `target` y or t, `weights` w per row, a `matrix` M or Q.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SmoothSpec {
    /// `1/2 x'Qx + c'x`; exactly one of Q and M (Q = M'M) is given.
    Quadratic {
        /// Q.
        matrix: Option<MatrixData>,
        /// M, with Q = M'M.
        factor: Option<MatrixData>,
        /// c.
        linear: Option<Vec<f64>>,
    },
    /// `1/2 sum w (Mx - y)^2`.
    LeastSquares {
        /// M.
        matrix: MatrixData,
        /// y.
        target: Vec<f64>,
        /// w, one per row.
        weights: Option<Vec<f64>>,
    },
    /// `sum w log(1 + exp(-y Mx))`.
    Logistic {
        /// M.
        matrix: MatrixData,
        /// y, each 1 or -1.
        target: Vec<f64>,
        /// w, one per row.
        weights: Option<Vec<f64>>,
    },
    /// `sum w max(0, 1 - y Mx)^2`.
    SquaredHinge {
        /// M.
        matrix: MatrixData,
        /// y, each 1 or -1.
        target: Vec<f64>,
        /// w, one per row.
        weights: Option<Vec<f64>>,
    },
    /// `sum w huber(Mx - y)`: quadratic up to δ, linear beyond.
    Huber {
        /// M.
        matrix: MatrixData,
        /// y.
        target: Vec<f64>,
        /// w, one per row.
        weights: Option<Vec<f64>>,
        /// δ.
        delta: f64,
    },
    /// A loss of a matrix that is too large to be loaded and stays in its file.
    Streamed {
        /// Which loss.
        loss: LossSpec,
        /// The rows of M.
        rows: RowStream,
        /// y; `None`: the labels of the file.
        target: Option<Vec<f64>>,
        /// w, one per row.
        weights: Option<Vec<f64>>,
    },
    /// `sum w (x - t)^2`.
    Distance {
        /// t.
        target: Vec<f64>,
        /// w; 1 when the file gives none.
        weight: NumberOrList,
    },
    /// `c'x`.
    Linear {
        /// c.
        linear: Vec<f64>,
    },
    /// The paper's synthetic problem, coupling included.
    Synthetic {
        /// Number of blocks N.
        nodes: usize,
        /// Size of a block.
        block: usize,
        /// Number of coupling rows m.
        rows: usize,
        /// Seed of its random numbers.
        seed: u64,
    },
    /// The sum of other terms.
    Sum {
        /// The terms, at least one.
        terms: Vec<SmoothSpec>,
    },
}

/// A loss of the rows of a matrix, without them.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum LossSpec {
    /// `1/2 (z - y)^2`.
    LeastSquares,
    /// `log(1 + exp(-y z))`.
    Logistic,
    /// `max(0, 1 - y z)^2`.
    SquaredHinge,
    /// Quadratic up to δ, linear beyond.
    Huber {
        /// δ.
        delta: f64,
    },
}

/// The separable term h. A missing bound is infinite.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub enum SeparableSpec {
    /// 0.
    #[default]
    Zero,
    /// `lower <= x <= upper`.
    Box {
        /// Lower bounds.
        lower: Option<NumberOrList>,
        /// Upper bounds.
        upper: Option<NumberOrList>,
    },
    /// `x >= 0`.
    NonNegative,
    /// `sum weight |x|`.
    L1 {
        /// The weight.
        weight: NumberOrList,
    },
    /// `sum l1 |x| + 1/2 l2 x^2`.
    ElasticNet {
        /// Weight of |x|.
        l1: NumberOrList,
        /// Weight of 1/2 x^2.
        l2: NumberOrList,
    },
    /// `sum weight |x|` with `lower <= x <= upper`.
    L1Box {
        /// The weight.
        weight: NumberOrList,
        /// Lower bounds.
        lower: Option<NumberOrList>,
        /// Upper bounds.
        upper: Option<NumberOrList>,
    },
    /// `sum weight ||x_block||_2`.
    GroupL2 {
        /// The weight.
        weight: NumberOrList,
    },
}

/// The rows `A x = b`.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub enum CouplingSpec {
    /// No rows.
    #[default]
    None,
    /// A number: one row of ones over all coordinates. A list of p: the sum over blocks of size p.
    Sum {
        /// b.
        rhs: NumberOrList,
    },
    /// One weighted row.
    Row {
        /// The row of A.
        weights: Vec<f64>,
        /// b.
        rhs: f64,
    },
    /// Several rows.
    Rows {
        /// A.
        matrix: MatrixData,
        /// b.
        rhs: Vec<f64>,
    },
}

/// How x falls into blocks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum BlocksSpec {
    /// Chosen by the solver.
    #[default]
    Auto,
    /// All of one size.
    Size(usize),
    /// Where blocks start and end, as given.
    Boundaries(Vec<usize>),
}

/// Which pairs of blocks move together. At most one of `topology` and `edges` is given.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GraphSpec {
    /// The name of a topology; `clique` when neither it nor `edges` is given.
    pub topology: Option<String>,
    /// Pairs of nodes, from 0.
    pub edges: Option<Vec<(usize, usize)>>,
    /// How often each edge is drawn.
    pub probabilities: ProbabilitiesSpec,
}

/// How often each edge is drawn.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub enum ProbabilitiesSpec {
    /// All alike.
    #[default]
    Uniform,
    /// In proportion to the Lipschitz constants.
    Lipschitz,
    /// So that every edge has the same effective resistance over its curvature.
    Equalised,
    /// In proportion to these weights, one per edge.
    Weights(Vec<f64>),
}

/// Limits and choices for the solver; what is `None` takes the solver's default.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SolveSpec {
    /// Tolerance on the certificate.
    pub tolerance: Option<f64>,
    /// Seconds.
    pub time_limit: Option<f64>,
    /// Passes over the blocks.
    pub max_epochs: Option<u64>,
    /// Pair updates.
    pub max_updates: Option<u64>,
    /// The name of a method.
    pub method: Option<String>,
    /// Seed of the random numbers.
    pub seed: Option<u64>,
    /// Bytes that may be taken beside the problem's vectors.
    pub memory_budget: Option<u64>,
    /// Threads that work on the run.
    pub threads: Option<u64>,
    /// The name of what a pair update locks.
    pub locking: Option<String>,
    /// Microseconds of artificial delay.
    pub delay_us: Option<u64>,
    /// The name of a rule for steps.
    pub step_rule: Option<String>,
    /// Whether one seed and thread count give one result.
    pub deterministic: Option<bool>,
    /// The name of how the steps of the stochastic method shrink.
    pub schedule: Option<String>,
    /// Samples an update.
    pub batch: Option<u64>,
    /// The paper's alpha.
    pub step_size: Option<f64>,
}
