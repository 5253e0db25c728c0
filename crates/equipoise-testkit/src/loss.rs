//! Scalar losses `phi(z, y)` of a product `z = m_r'x` against a target y: everything that the testkit knows of one.
//!
//! A new loss is a variant of [`Loss`] and of [`LossKind`], and an arm in each `match` of this file: its name, its value as
//! the definition reads, its cone model, its curvature, how targets are drawn. It must not know any solver.

use crate::instance::Dense;
use crate::oracle::conic::{Affine, Program};
use crate::random::draw::Draw;

/// A loss with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// `1/2 (z - y)^2`.
    LeastSquares,
    /// `log(1 + exp(-y z))`, labels +1 or -1.
    Logistic,
    /// `max(0, 1 - y z)^2`, labels +1 or -1.
    SquaredHinge,
    /// `H(z - y)`, `H(r) = r^2/2` for `|r| <= delta`, `delta (|r| - delta/2)` beyond.
    Huber {
        /// Where the loss turns linear, > 0.
        delta: f64,
    },
    /// `exp(z) - y z`, counts y >= 0; `exp` goes on as its second-order expansion beyond a limit on z.
    Poisson {
        /// The limit, above every z of an optimum: the cone model knows none.
        limit: f64,
    },
}

/// A loss whose parameters are still to be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LossKind {
    LeastSquares,
    Logistic,
    SquaredHinge,
    Huber,
    Poisson,
}

impl LossKind {
    pub(crate) const ALL: &[Self] =
        &[Self::LeastSquares, Self::Logistic, Self::SquaredHinge, Self::Huber, Self::Poisson];

    /// Whether the loss has no minimiser in z: a direction that lowers every row for ever must then be ruled out.
    pub(crate) fn falls_for_ever(self) -> bool {
        matches!(self, Self::Logistic)
    }

    /// Parameters, and a target for every row of m.
    pub(crate) fn draw(self, m: &Dense, draw: &mut Draw) -> (Loss, Vec<f64>) {
        match self {
            Self::LeastSquares => (Loss::LeastSquares, targets(m, 0.5, draw)),
            Self::Logistic => (Loss::Logistic, labels(m, draw)),
            Self::SquaredHinge => (Loss::SquaredHinge, labels(m, draw)),
            Self::Huber => {
                // One target in five lies far off.
                let mut y = targets(m, 0.3, draw);
                for target in &mut y {
                    if draw.chance(0.2) {
                        *target += 4.0 * draw.away_from_zero();
                    }
                }
                (Loss::Huber { delta: draw.uniform(0.3, 1.5) }, y)
            }
            // Counts of at least 1: the loss then has a minimiser in z.
            Self::Poisson => {
                let counts = targets(m, 0.3, draw).into_iter().map(|z| z.clamp(-2.0, 2.0).exp().ceil());
                (Loss::Poisson { limit: LIMIT }, counts.collect())
            }
        }
    }
}

impl Loss {
    /// One of each kind.
    pub fn samples() -> Vec<Self> {
        vec![
            Self::LeastSquares,
            Self::Logistic,
            Self::SquaredHinge,
            Self::Huber { delta: 0.75 },
            Self::Poisson { limit: 1.5 },
        ]
    }

    /// A target that the loss is made for, from a label +1 or -1.
    pub fn target(self, label: f64) -> f64 {
        match self {
            Self::LeastSquares | Self::Logistic | Self::SquaredHinge | Self::Huber { .. } => label,
            Self::Poisson { .. } => 1.0 + label,
        }
    }

    /// The kind, as PROBLEM.toml writes it.
    pub fn kind(self) -> &'static str {
        match self {
            Self::LeastSquares => "least-squares",
            Self::Logistic => "logistic",
            Self::SquaredHinge => "squared-hinge",
            Self::Huber { .. } => "huber",
            Self::Poisson { .. } => "poisson",
        }
    }

    /// Its parameters with their names, as PROBLEM.toml writes them.
    pub fn parameters(self) -> Vec<(&'static str, f64)> {
        match self {
            Self::LeastSquares | Self::Logistic | Self::SquaredHinge => Vec::new(),
            Self::Huber { delta } => vec![("delta", delta)],
            Self::Poisson { limit } => vec![("limit", limit)],
        }
    }

    /// phi(z, y), naively.
    pub fn value(self, z: f64, y: f64) -> f64 {
        match self {
            Self::LeastSquares => 0.5 * (z - y).powi(2),
            Self::Logistic => log_one_plus_exp(-y * z),
            Self::SquaredHinge => (1.0 - y * z).max(0.0).powi(2),
            Self::Huber { delta } => {
                let size = (z - y).abs();
                if size <= delta { 0.5 * size * size } else { delta * (size - 0.5 * delta) }
            }
            Self::Poisson { limit } => {
                let beyond = (z - limit).max(0.0);
                z.min(limit).exp() * (1.0 + beyond + 0.5 * beyond * beyond) - y * z
            }
        }
    }

    /// A typical second derivative in z.
    pub(crate) fn curvature(self) -> f64 {
        match self {
            Self::LeastSquares | Self::Huber { .. } | Self::Poisson { .. } => 1.0,
            Self::Logistic => 0.25,
            Self::SquaredHinge => 2.0,
        }
    }

    /// Whether it is at least 0 everywhere: 0 is then a bound that needs no dual point.
    pub(crate) fn is_non_negative(self) -> bool {
        match self {
            Self::LeastSquares | Self::Logistic | Self::SquaredHinge | Self::Huber { .. } => true,
            Self::Poisson { .. } => false,
        }
    }

    /// `weight phi(z, y)` as cones; `product(factor, constant)` is the expression `factor z + constant`.
    pub(crate) fn model(
        self,
        program: &mut Program,
        product: impl Fn(f64, f64) -> Affine,
        y: f64,
        weight: f64,
    ) {
        let root = weight.sqrt();
        match self {
            Self::LeastSquares => add_square(program, product(root, -root * y)),
            Self::Logistic => add_logistic(program, product(-y, 0.0), weight),
            Self::SquaredHinge => add_squared_hinge(program, &product(-root * y, root)),
            Self::Huber { delta } => add_huber(program, product(root, -root * y), delta * root),
            Self::Poisson { .. } => add_poisson(program, product(1.0, 0.0), y, weight),
        }
    }
}

/// Beyond every z of an optimum of the suite.
const LIMIT: f64 = 6.0;

/// `M` times a hidden point, plus noise.
fn targets(m: &Dense, noise: f64, draw: &mut Draw) -> Vec<f64> {
    let hidden = draw.normals(m.cols, 1.0);
    m.times(&hidden).into_iter().map(|product| product + noise * draw.normal()).collect()
}

/// The sign of `M` times a hidden point plus noise.
fn labels(m: &Dense, draw: &mut Draw) -> Vec<f64> {
    targets(m, 1.0, draw).into_iter().map(|value| if value < 0.0 { -1.0 } else { 1.0 }).collect()
}

fn log_one_plus_exp(v: f64) -> f64 {
    v.max(0.0) + (-v.abs()).exp().ln_1p()
}

/// `1/2 expression^2`.
pub(crate) fn add_square(program: &mut Program, mut expression: Affine) {
    let residual = program.column(1.0);
    program.add_quadratic(residual, residual, 1.0);
    expression.terms.push((residual, -1.0));
    program.zero(expression);
}

/// `max(0, expression)^2`.
fn add_squared_hinge(program: &mut Program, expression: &Affine) {
    let excess = program.column(1.0);
    program.add_quadratic(excess, excess, 2.0);
    let mut terms: Vec<_> = expression.terms.iter().map(|(column, v)| (*column, -v)).collect();
    terms.push((excess, 1.0));
    program.non_negative(Affine::new(terms, -expression.constant));
}

/// The least `1/2 u^2 + slope |v|` with `u + v = expression`.
fn add_huber(program: &mut Program, mut expression: Affine, slope: f64) {
    let square = program.column(1.0);
    program.add_quadratic(square, square, 1.0);
    expression.terms.push((square, -1.0));
    for sign in [-1.0, 1.0] {
        let beyond = program.column(1.0);
        program.add_linear(beyond, slope);
        program.non_negative(Affine::new(vec![(beyond, 1.0)], 0.0));
        expression.terms.push((beyond, sign));
    }
    program.zero(expression);
}

/// `weight log(1 + exp(expression))`: `exp(expression - t) <= a`, `exp(-t) <= b`, `a + b <= 1`, `weight t`.
fn add_logistic(program: &mut Program, mut expression: Affine, weight: f64) {
    let loss = program.column(1.0);
    let (first, second) = (program.column(1.0), program.column(1.0));
    program.add_linear(loss, weight);
    let one = Affine::new(Vec::new(), 1.0);
    expression.terms.push((loss, -1.0));
    program.exponential([expression, one.clone(), Affine::new(vec![(first, 1.0)], 0.0)]);
    let zero_minus_loss = Affine::new(vec![(loss, -1.0)], 0.0);
    program.exponential([zero_minus_loss, one, Affine::new(vec![(second, 1.0)], 0.0)]);
    program.non_negative(Affine::new(vec![(first, -1.0), (second, -1.0)], 1.0));
}

/// `weight (exp(expression) - y expression)`: `exp(expression) <= a`, `weight (a - y expression)`.
fn add_poisson(program: &mut Program, expression: Affine, y: f64, weight: f64) {
    let rate = program.column(1.0);
    program.add_linear(rate, weight);
    for (column, coefficient) in &expression.terms {
        program.add_linear(*column, -weight * y * coefficient);
    }
    let one = Affine::new(Vec::new(), 1.0);
    program.exponential([expression, one, Affine::new(vec![(rate, 1.0)], 0.0)]);
}
