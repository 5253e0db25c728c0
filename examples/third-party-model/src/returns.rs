//! Returns of assets, as the factor R of their covariance `S = R'R`: centred, divided by `sqrt(T - 1)`.

use equipoise::DenseMatrix;

use crate::error::{Error, Result};

/// Returns of n assets over T periods.
#[derive(Debug, Clone)]
pub struct Returns {
    factor: DenseMatrix<'static>,
}

impl Returns {
    /// From the returns of every asset, each over the same periods.
    pub fn new(assets: &[Vec<f64>]) -> Result<Self> {
        let periods = assets.first().map_or(0, Vec::len);
        if assets.is_empty() || periods < 2 {
            return Err(Error::TooFewReturns { assets: assets.len(), periods });
        }
        let mut values = Vec::with_capacity(assets.len() * periods);
        for (asset, returns) in assets.iter().enumerate() {
            if returns.len() != periods {
                return Err(Error::Ragged { asset, found: returns.len(), expected: periods });
            }
            let mean = returns.iter().sum::<f64>() / periods as f64;
            let scale = ((periods - 1) as f64).sqrt();
            values.extend(returns.iter().map(|r| (r - mean) / scale));
        }
        Ok(Self { factor: DenseMatrix::from_columns(periods, assets.len(), values)? })
    }

    /// n.
    pub fn assets(&self) -> usize {
        self.factor.columns()
    }

    /// T.
    pub fn periods(&self) -> usize {
        self.factor.rows()
    }

    /// The volatility of one asset.
    pub fn volatility(&self, asset: usize) -> f64 {
        let column = self.factor.column(asset);
        equipoise::matrix::dot(column, column).sqrt()
    }

    pub(crate) fn factor(&self) -> &DenseMatrix<'_> {
        &self.factor
    }
}
