//! The covariance by its factor, `S = (1 - delta) C'C / (T - 1) + delta mu I`; no n x n matrix is made of it.
//!
//! - Given: centred returns C of T days, delta or the wish to have it chosen. Returns: delta, mu, the variances.
//! - Must not know: weights.
//!
//! mu is the mean variance of the assets. Chosen delta are those of Ledoit and Wolf (2004): with `S0 = C'C/T` and its mean
//! diagonal entry mu0,
//!
//! ```text
//! delta = min(1, b^2 / d^2),   d^2 = ||S0 - mu0 I||^2,   b^2 = 1/T^2 sum_t ||c_t c_t' - S0||^2 = 1/T^2 sum_t ||c_t||^4 - ||S0||^2 / T ,
//! ```
//!
//! and `||S0||` is that of `C C'/T` or of `C'C/T`, whichever is smaller.

use equipoise::matrix::dot;
use equipoise::{Control, Pass, Team};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use crate::passes::squared_norms;
use crate::{Error, Result, Returns};

/// Rows or columns of a tile.
const TILE: usize = 64;

/// How much the covariance is drawn towards a multiple of the identity.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Shrinkage {
    /// delta, from 0 to 1.
    Fixed(f64),
    /// delta of Ledoit and Wolf.
    Auto,
}

impl Default for Shrinkage {
    fn default() -> Self {
        Self::Fixed(0.0)
    }
}

/// S but for C.
#[derive(Debug, Clone, PartialEq)]
pub struct Covariance {
    /// delta, from 0 to 1.
    pub(crate) shrinkage: f64,
    /// `delta mu`, as computed; at least 0, which bounds rely on.
    pub(crate) ridge: f64,
    /// `||c_j||^2`, as computed.
    pub(crate) squares: Vec<f64>,
    /// T - 1.
    pub(crate) divisor: f64,
}

impl Covariance {
    /// Computes what there is to compute.
    pub fn new(returns: &Returns, shrinkage: Shrinkage, threads: usize, control: &Control) -> Result<Self> {
        let (days, assets) = (returns.days(), returns.assets());
        let team = Team::for_work(threads, days * assets);
        let squares = squared_norms(returns.centred(), &team, control)?;
        let divisor = (days - 1) as f64;
        let mean_variance = squares.iter().sum::<f64>() / divisor / assets as f64;
        let delta = match shrinkage {
            Shrinkage::Auto => ledoit_wolf(returns, &squares, &team, control)?,
            Shrinkage::Fixed(delta) if (0.0..=1.0).contains(&delta) => delta,
            Shrinkage::Fixed(found) => {
                return Err(Error::BadSetting { name: "shrinkage", found, expected: "a number from 0 to 1" });
            }
        };
        Ok(Self { shrinkage: delta, ridge: delta * mean_variance, squares, divisor })
    }

    /// delta.
    pub fn shrinkage(&self) -> f64 {
        self.shrinkage
    }

    /// `delta mu`, as computed.
    pub fn ridge(&self) -> f64 {
        self.ridge
    }

    /// Whether returns have as many assets and days as those that it was made of.
    pub(crate) fn check_shape(&self, returns: &Returns) -> Result<()> {
        let (assets, days) = (self.squares.len(), self.divisor as usize + 1);
        for (what, found, expected) in [
            ("assets of the covariance", assets, returns.assets()),
            ("days of the covariance", days, returns.days()),
        ] {
            if found != expected {
                return Err(Error::Length { what, found, expected });
            }
        }
        Ok(())
    }

    /// Whether it was made of these very returns: one pass over them.
    pub(crate) fn check_made_of(&self, returns: &Returns, team: &Team, control: &Control) -> Result<()> {
        let squares = squared_norms(returns.centred(), team, control)?;
        let differs = |(j, (own, squares)): (usize, (&f64, &f64))| (own != squares).then_some(j);
        match self.squares.iter().zip(&squares).enumerate().find_map(differs) {
            Some(j) => Err(Error::OtherReturns { asset: returns.names()[j].clone() }),
            None => Ok(()),
        }
    }

    /// `(1 - delta) / (T - 1)`, rounded.
    pub(crate) fn share(&self) -> f64 {
        (1.0 - self.shrinkage) / self.divisor
    }

    /// The variance of one asset, rounded.
    pub fn variance_of(&self, asset: usize) -> f64 {
        self.share() * self.squares[asset] + self.ridge
    }

    /// The mean variance of the assets, 1 where that is 0.
    pub fn mean_variance(&self) -> f64 {
        let assets = self.squares.len();
        let mean = (0..assets).map(|j| self.variance_of(j)).sum::<f64>() / assets as f64;
        if mean > 0.0 { mean } else { 1.0 }
    }
}

fn ledoit_wolf(returns: &Returns, squares: &[f64], team: &Team, control: &Control) -> Pass<f64> {
    let (days, assets) = (returns.days() as f64, returns.assets() as f64);
    let mut of_days = vec![0.0; returns.days()];
    for j in 0..returns.assets() {
        of_days.iter_mut().zip(returns.centred().column(j)).for_each(|(sum, c)| *sum += c * c);
    }
    control.check()?;
    let norm = squared_product(returns, team, control)? / (days * days);
    let middle = squares.iter().sum::<f64>() / days / assets;
    let distance = norm - assets * middle * middle;
    let noise = dot(&of_days, &of_days) / (days * days) - norm / days;
    Ok(if distance > 0.0 { (noise / distance).clamp(0.0, 1.0) } else { 1.0 })
}

/// `||C'C||^2`, the sum of squares, by whichever of `C'C` and `C C'` is smaller.
fn squared_product(returns: &Returns, team: &Team, control: &Control) -> Pass<f64> {
    let (days, assets) = (returns.days(), returns.assets());
    let whole = MatRef::from_column_major_slice(returns.centred().values(), days, assets);
    let (left, size) = if assets <= days { (whole.transpose(), assets) } else { (whole, days) };
    let starts = || (0..size).step_by(TILE).map(|at| (at, (size - at).min(TILE)));
    let tiles = starts().flat_map(|a| starts().filter(move |b| b.0 <= a.0).map(move |b| (a, b)));
    let sums = team.map(tiles, |((at, height), (other, width))| {
        control.check().map(|()| {
            let mut tile = vec![0.0; height * width];
            let out = MatMut::from_column_major_slice_mut(&mut tile, height, width);
            let (a, b) = (left.subrows(at, height), left.subrows(other, width));
            matmul(out, Accum::Replace, a, b.transpose(), 1.0, Par::Seq);
            let sum = dot(&tile, &tile);
            if at == other { sum } else { 2.0 * sum }
        })
    });
    sums.into_iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::random_returns;

    /// From the definition, with every matrix formed.
    fn by_definition(returns: &Returns) -> f64 {
        let (days, n) = (returns.days(), returns.assets());
        let c = |t: usize, j: usize| returns.centred().column(j)[t];
        let s: Vec<f64> = (0..n * n)
            .map(|at| (0..days).map(|t| c(t, at / n) * c(t, at % n)).sum::<f64>() / days as f64)
            .collect();
        let middle = (0..n).map(|j| s[j * n + j]).sum::<f64>() / n as f64;
        let far = |at: usize, of: f64| (of - if at / n == at % n { middle } else { 0.0 }).powi(2);
        let distance: f64 = (0..n * n).map(|at| far(at, s[at])).sum();
        let noise: f64 = (0..days)
            .map(|t| (0..n * n).map(|at| (c(t, at / n) * c(t, at % n) - s[at]).powi(2)).sum::<f64>())
            .sum::<f64>()
            / (days * days) as f64;
        (noise / distance).min(1.0)
    }

    #[test]
    fn shrinkage_is_that_of_the_definition() {
        for (assets, days) in [(4, 30), (30, 12), (70, 80), (3, 2)] {
            let returns = random_returns(assets, days, 5);
            let found =
                Covariance::new(&returns, Shrinkage::Auto, 1, &Control::unlimited()).expect("computed");
            let expected = by_definition(&returns);
            assert!((found.shrinkage - expected).abs() < 1e-10, "{} {expected}", found.shrinkage);
            assert!(
                (found.ridge
                    - found.shrinkage * (found.squares.iter().sum::<f64>() / found.divisor / assets as f64))
                    .abs()
                    < 1e-18
            );
        }
    }

    #[test]
    fn a_shrinkage_beyond_1_is_refused() {
        let refused =
            Covariance::new(&random_returns(3, 5, 1), Shrinkage::Fixed(1.5), 1, &Control::unlimited());
        assert!(refused.is_err_and(|error| error.to_string().contains("from 0 to 1")));
    }
}
