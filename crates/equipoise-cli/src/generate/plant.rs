//! The kinds of problems, each with its optimum planted.
//!
//! The conditions to hold at x*, with multipliers lambda and s in the subdifferential of h:
//!
//! ```text
//! grad f(x*) + A'lambda + s = 0        A x* = b
//! ```

use anyhow::{Result, bail};
use equipoise::Error;
use equipoise::{DenseMatrix, Matrix};
use equipoise_formats::problem_file::{ProblemFile, Term};

use super::Planted;
use super::columns::Columns;
use super::source::Source;
use crate::args::{Data, Size};

/// Weight of the l1 penalties.
const L1_WEIGHT: f64 = 1.0;
/// One in so many coordinates of a sparse optimum is not 0.
const SPARSITY: usize = 10;
/// How far inside its interval a subgradient at a kink stays, as a share.
const INSIDE: f64 = 0.9;

/// The sizes of a problem, checked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) variables: usize,
    pub(crate) samples: usize,
    pub(crate) rows: usize,
    pub(crate) density: f64,
}

impl Shape {
    pub(super) fn new(data: &Data, rows: usize) -> Result<Self> {
        let variables = Self::check(data.size)?;
        let samples = data.samples.unwrap_or(2 * variables);
        if samples == 0 {
            bail!("--samples is 0; allowed: at least 1");
        }
        let density = data.density;
        if !(density > 0.0 && density <= 1.0) {
            bail!("--density is {density}; allowed: above 0, up to 1");
        }
        if rows >= variables && variables > 1 {
            bail!("--rows is {rows}; allowed: fewer than the {variables} variables");
        }
        Ok(Self { variables, samples, rows, density })
    }

    pub(super) fn check(size: Size) -> Result<usize> {
        match size.variables {
            0 => bail!(Error::EmptyProblem),
            variables => Ok(variables),
        }
    }

    fn matrix(&self, source: &mut Source) -> Columns {
        Columns::random(source, self.samples, self.variables, self.density)
    }
}

/// 1/2 ||Mx - y||^2 + ||x||_1 with sum(x) = 0.
pub(crate) fn lasso(shape: &Shape, seed: u64) -> Planted {
    let mut source = Source::new(seed);
    let mut optimum = sparse(&mut source, shape.variables);
    balance(&mut optimum);
    let (multiplier, slopes) = (source.between(-0.5, 0.5), l1_slopes(&mut source, &optimum));
    let wanted: Vec<f64> = slopes.iter().map(|slope| -slope - multiplier).collect();
    let smooth = least_squares_term(&mut source, shape, &optimum, &wanted);
    let mut file = ProblemFile::new(smooth);
    file.separable = Term::new("l1").with("weight", L1_WEIGHT);
    file.coupling = Term::new("sum").with("rhs", 0.0);
    Planted { file, optimum }
}

/// 1/2 ||Mx - y||^2 with A x = b.
pub(super) fn least_squares(shape: &Shape, seed: u64) -> Planted {
    let mut source = Source::new(seed);
    let optimum = source.normals(shape.variables);
    let (coupling, pull) = coupling(&mut source, shape.rows, &optimum);
    let wanted: Vec<f64> = pull.iter().map(|pull| -pull).collect();
    let mut file = ProblemFile::new(least_squares_term(&mut source, shape, &optimum, &wanted));
    file.coupling = coupling;
    Planted { file, optimum }
}

/// 1/2 ||Mx||^2 + c'x with 0 <= x <= 1 and A x = b.
pub(super) fn box_qp(shape: &Shape, seed: u64) -> Planted {
    let mut source = Source::new(seed);
    let (mut optimum, mut slopes) = (vec![0.0; shape.variables], vec![0.0; shape.variables]);
    for (c, (x, slope)) in optimum.iter_mut().zip(&mut slopes).enumerate() {
        (*x, *slope) = match c % 3 {
            0 => (0.0, source.between(-1.0, 0.0)),
            1 => (source.between(0.1, 0.9), 0.0),
            _ => (1.0, source.between(0.0, 1.0)),
        };
    }
    let (coupling, pull) = coupling(&mut source, shape.rows, &optimum);
    let factor = shape.matrix(&mut source);
    let gradient = factor.multiply_transposed(&factor.multiply(&optimum));
    let linear = opposite(&[&gradient, &pull, &slopes]);
    let quadratic = Term::new("quadratic").with("factor", factor.into_matrix()).with("linear", linear);
    let mut file = ProblemFile::new(quadratic);
    file.separable = Term::new("box").with("lower", 0.0).with("upper", 1.0);
    file.coupling = coupling;
    Planted { file, optimum }
}

/// 1/2 ||x - t||^2 with x >= 0 and sum(x) = 1.
pub(super) fn simplex(variables: usize, seed: u64) -> Planted {
    let mut source = Source::new(seed);
    let mut optimum = vec![0.0; variables];
    for c in source.choose(variables.div_ceil(3), variables) {
        optimum[c] = source.between(0.1, 1.0);
    }
    let sum: f64 = optimum.iter().sum();
    for x in &mut optimum {
        *x /= sum;
    }
    let multiplier = source.between(-0.5, 0.5);
    let below = |x: f64, source: &mut Source| if x > 0.0 { 0.0 } else { source.between(0.0, 1.0) };
    let target: Vec<f64> = optimum.iter().map(|&x| x + multiplier - below(x, &mut source)).collect();
    let mut file = ProblemFile::new(Term::new("distance").with("target", target).with("weight", 0.5));
    file.separable = Term::new("non-negative");
    file.coupling = Term::new("sum").with("rhs", 1.0);
    Planted { file, optimum }
}

/// sum log(1 + exp(-y Mx)) + c'x + ||x||_1 with A x = b.
pub(super) fn logistic(shape: &Shape, seed: u64) -> Planted {
    let mut source = Source::new(seed);
    let optimum = sparse(&mut source, shape.variables);
    let (coupling, pull) = coupling(&mut source, shape.rows, &optimum);
    let matrix = shape.matrix(&mut source);
    let product = matrix.multiply(&optimum);
    let target: Vec<f64> = product.iter().map(|z| (z + source.normal()).signum()).collect();
    let steepness: Vec<f64> = product.iter().zip(&target).map(|(z, y)| -y / (1.0 + (y * z).exp())).collect();
    let gradient = matrix.multiply_transposed(&steepness);
    let slopes = l1_slopes(&mut source, &optimum);
    let linear = opposite(&[&gradient, &pull, &slopes]);
    let loss = Term::new("logistic").with("matrix", matrix.into_matrix()).with("target", target);
    let terms = vec![loss, Term::new("linear").with("linear", linear)];
    let mut file = ProblemFile::new(Term::new("sum").with("terms", terms));
    file.separable = Term::new("l1").with("weight", L1_WEIGHT);
    file.coupling = coupling;
    Planted { file, optimum }
}

/// Least squares whose gradient at x is as wanted: the residual is drawn, the matrix bent to it.
fn least_squares_term(source: &mut Source, shape: &Shape, x: &[f64], wanted: &[f64]) -> Term<'static> {
    let mut matrix = shape.matrix(source);
    let residual: Vec<f64> = (0..shape.samples).map(|_| source.sign() * source.between(0.5, 1.5)).collect();
    matrix.bend(&residual, wanted);
    let target: Vec<f64> = matrix.multiply(x).iter().zip(&residual).map(|(product, r)| product - r).collect();
    Term::new("least-squares").with("matrix", matrix.into_matrix()).with("target", target)
}

/// Random coupling rows through x, and A'lambda for random multipliers.
fn coupling(source: &mut Source, rows: usize, x: &[f64]) -> (Term<'static>, Vec<f64>) {
    let columns = x.len();
    if rows == 0 {
        return (Term::new("none"), vec![0.0; columns]);
    }
    let (values, multipliers) = (source.normals(rows * columns), source.normals(rows));
    let mut rhs = vec![0.0; rows];
    let mut pull = vec![0.0; columns];
    for (c, column) in values.chunks_exact(rows).enumerate() {
        for (row, value) in column.iter().enumerate() {
            rhs[row] += value * x[c];
            pull[c] += value * multipliers[row];
        }
    }
    let term = if rows == 1 {
        Term::new("row").with("weights", values).with("rhs", rhs[0])
    } else {
        let matrix: Matrix =
            DenseMatrix::from_columns(rows, columns, values).expect("as many as drawn").into();
        Term::new("rows").with("matrix", matrix).with("rhs", rhs)
    };
    (term, pull)
}

/// A point with few entries that are not 0, none of them small.
fn sparse(source: &mut Source, variables: usize) -> Vec<f64> {
    let mut x = vec![0.0; variables];
    let count = variables.div_ceil(SPARSITY).max(2);
    for c in source.choose(count, variables) {
        x[c] = source.sign() * source.between(0.5, 2.0);
    }
    x
}

/// Makes the entries sum to 0 by shifting the last one that is not 0.
fn balance(x: &mut [f64]) {
    if let Some(last) = x.iter().rposition(|&value| value != 0.0) {
        x[last] = 0.0;
        x[last] = -x.iter().sum::<f64>();
    }
}

/// A subgradient of the l1 penalty at x.
fn l1_slopes(source: &mut Source, x: &[f64]) -> Vec<f64> {
    let mut slope = |&x: &f64| if x == 0.0 { source.between(-INSIDE, INSIDE) } else { x.signum() };
    x.iter().map(|x| L1_WEIGHT * slope(x)).collect()
}

/// Minus the sum of vectors.
fn opposite(parts: &[&[f64]]) -> Vec<f64> {
    (0..parts[0].len()).map(|c| -parts.iter().map(|part| part[c]).sum::<f64>()).collect()
}
