//! From what a problem file says to the library's terms: one `match` a table.

use anyhow::{Context, bail};
use equipoise::separable::{Bounds, ElasticNet, L1, L1Bounds, NonNegative, SeparableTerm, Values, Zero};
use equipoise::smooth::loss::{HuberLoss, LogisticLoss, ScalarLoss, Squared, SquaredHingeLoss};
use equipoise::smooth::{Distance, Linear, LossOfProduct, Quadratic, SmoothTerm, Sum};
use equipoise::{BlockChoice, Coupling, DenseMatrix, Matrix, SparseMatrix};
use equipoise_formats::MatrixData;
use equipoise_formats::problem_file::{
    BlocksSpec, CouplingSpec, LossSpec, NumberOrList, SeparableSpec, SmoothSpec,
};

use crate::samples::streamed;

/// f, of any kind but `synthetic`, which brings a coupling and is made elsewhere.
///
/// Batches of samples that stay in their file take part of `memory_budget` bytes.
pub(crate) fn smooth(spec: SmoothSpec, memory_budget: usize) -> anyhow::Result<Box<dyn SmoothTerm>> {
    Ok(match spec {
        SmoothSpec::Quadratic { matrix: Some(data), linear, .. } => {
            let matrix = matrix(data)?;
            let linear = linear.unwrap_or_else(|| vec![0.0; matrix.columns()]);
            Box::new(Quadratic::new(matrix, linear)?)
        }
        SmoothSpec::Quadratic { factor: Some(data), linear, .. } => {
            let factor = matrix(data)?;
            let linear = linear.unwrap_or_else(|| vec![0.0; factor.columns()]);
            Box::new(Quadratic::from_factor(factor, linear)?)
        }
        SmoothSpec::Quadratic { .. } => bail!("a quadratic needs `matrix` or `factor`"),
        SmoothSpec::LeastSquares { matrix, target, weights } => loss(matrix, target, weights, Squared)?,
        SmoothSpec::Logistic { matrix, target, weights } => loss(matrix, target, weights, LogisticLoss)?,
        SmoothSpec::SquaredHinge { matrix, target, weights } => {
            loss(matrix, target, weights, SquaredHingeLoss)?
        }
        SmoothSpec::Huber { matrix, target, weights, delta } => {
            loss(matrix, target, weights, HuberLoss::new(delta)?)?
        }
        SmoothSpec::Streamed { loss, rows, target, weights } => match loss {
            LossSpec::LeastSquares => streamed(rows, target, weights, Squared, memory_budget)?,
            LossSpec::Logistic => streamed(rows, target, weights, LogisticLoss, memory_budget)?,
            LossSpec::SquaredHinge => streamed(rows, target, weights, SquaredHingeLoss, memory_budget)?,
            LossSpec::Huber { delta } => {
                streamed(rows, target, weights, HuberLoss::new(delta)?, memory_budget)?
            }
            other => bail!("this version cannot solve {other:?}"),
        },
        SmoothSpec::Distance { target, weight } => Box::new(Distance::new(target, values(weight))?),
        SmoothSpec::Linear { linear } => Box::new(Linear::new(linear)?),
        SmoothSpec::Sum { terms } => {
            let term = |(k, spec)| smooth(spec, memory_budget).with_context(|| format!("terms[{k}]"));
            Box::new(Sum::new(terms.into_iter().enumerate().map(term).collect::<anyhow::Result<_>>()?)?)
        }
        SmoothSpec::Synthetic { .. } => {
            bail!("`synthetic` brings its own coupling and cannot be part of a sum")
        }
        other => bail!("this version cannot solve {other:?}"),
    })
}

fn loss<L: ScalarLoss + 'static>(
    data: MatrixData,
    target: Vec<f64>,
    weights: Option<Vec<f64>>,
    loss: L,
) -> anyhow::Result<Box<dyn SmoothTerm>> {
    let weights = weights.map_or(Values::Uniform(1.0), Values::Each);
    Ok(Box::new(LossOfProduct::weighted(matrix(data)?, target, loss, weights)?))
}

/// h over coordinates; `group-l2` needs to know the blocks and is made elsewhere.
pub(crate) fn separable(spec: SeparableSpec) -> anyhow::Result<Box<dyn SeparableTerm>> {
    Ok(match spec {
        SeparableSpec::Zero => Box::new(Zero),
        SeparableSpec::NonNegative => Box::new(NonNegative),
        SeparableSpec::Box { lower, upper } => Box::new(Bounds::new(below(lower), above(upper))?),
        SeparableSpec::L1 { weight } => Box::new(L1::new(values(weight))?),
        SeparableSpec::ElasticNet { l1, l2 } => Box::new(ElasticNet::new(values(l1), values(l2))?),
        SeparableSpec::L1Box { weight, lower, upper } => {
            Box::new(L1Bounds::new(values(weight), below(lower), above(upper))?)
        }
        other => bail!("this version cannot solve {other:?}"),
    })
}

/// A x = b.
pub(crate) fn coupling(spec: CouplingSpec) -> anyhow::Result<Coupling> {
    Ok(match spec {
        CouplingSpec::None => Coupling::none(),
        CouplingSpec::Sum { rhs: NumberOrList::Number(rhs) } => Coupling::sum(rhs)?,
        CouplingSpec::Sum { rhs: NumberOrList::List(rhs) } => Coupling::block_sum(rhs)?,
        CouplingSpec::Row { weights, rhs } => Coupling::row(weights, rhs)?,
        CouplingSpec::Rows { matrix: data, rhs } => Coupling::rows_of(matrix(data)?, rhs)?,
        other => bail!("this version cannot solve {other:?}"),
    })
}

/// The blocks asked for.
pub(crate) fn blocks(spec: BlocksSpec, dimension: usize) -> anyhow::Result<BlockChoice> {
    Ok(match spec {
        BlocksSpec::Auto => BlockChoice::Automatic,
        BlocksSpec::Size(size) => BlockChoice::Size(size),
        BlocksSpec::Boundaries(list) => BlockChoice::Boundaries(with_ends(list, dimension)),
        other => bail!("this version cannot use {other:?}"),
    })
}

/// Boundaries with the ends 0 and n, which a file may leave out; the library judges the rest.
fn with_ends(mut list: Vec<usize>, dimension: usize) -> Vec<usize> {
    if list.first() != Some(&0) {
        list.insert(0, 0);
    }
    if list.last().is_some_and(|&last| last < dimension) {
        list.push(dimension);
    }
    list
}

/// One number for all, or one for each.
pub(crate) fn values(numbers: NumberOrList) -> Values {
    match numbers {
        NumberOrList::Number(number) => Values::Uniform(number),
        NumberOrList::List(list) => Values::Each(list),
    }
}

fn below(lower: Option<NumberOrList>) -> Values {
    lower.map_or(Values::Uniform(f64::NEG_INFINITY), values)
}

fn above(upper: Option<NumberOrList>) -> Values {
    upper.map_or(Values::Uniform(f64::INFINITY), values)
}

fn matrix(data: MatrixData) -> equipoise::Result<Matrix> {
    Ok(match data {
        MatrixData::Dense { rows, columns, values } => {
            DenseMatrix::from_columns(rows, columns, values)?.into()
        }
        MatrixData::Sparse { rows, columns, column_starts, row_indices, values } => {
            SparseMatrix::from_columns(rows, columns, column_starts, row_indices, values)?.into()
        }
    })
}
