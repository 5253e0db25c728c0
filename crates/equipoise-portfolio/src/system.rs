//! G, and systems with its part that belongs to the free assets, `H = G_FF + r I`.
//!
//! - Given: a Gram matrix, or its factor C. Returns: products and solutions. Must not know: what is solved for.
//!
//! Two ways. With few free assets, `L L' = H` is kept ([`Factor`]). With more free assets than days it is `M = r I + C_F C_F'`, of
//! the size of a day's row, and `H^-1 = (I - C_F'M^-1 C_F)/r` ([`Wide`]). Both are used through half a solution: `half(v)` is a vector in
//! which `inner(half(a), half(b)) = a'H^-1 b`, and `whole(half(v)) = H^-1 v`; both maps are linear.

use equipoise::matrix::{axpy, dot};
use equipoise::{Control, DenseMatrix};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use crate::factor::Factor;

/// G without what is added to its diagonal.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Curvature<'a> {
    /// 0.
    None,
    /// Its entries, column after column.
    Gram { entries: &'a [f64], stride: usize },
    /// `C'C`, by C.
    Factored(&'a DenseMatrix<'a>),
}

impl Curvature<'_> {
    /// Adds `G_(:,which) by` to a vector.
    pub(crate) fn add_product(&self, which: &[usize], by: &[f64], to: &mut [f64]) {
        let pairs = || which.iter().zip(by).filter(|(_, by)| **by != 0.0);
        match self {
            Self::None => {}
            Self::Gram { entries, stride } => {
                pairs().for_each(|(&j, by)| axpy(*by, &entries[j * stride..j * stride + to.len()], to));
            }
            Self::Factored(columns) => {
                let mut theta = vec![0.0; columns.rows()];
                pairs().for_each(|(&j, by)| axpy(*by, columns.column(j), &mut theta));
                to.iter_mut().enumerate().for_each(|(j, to)| *to += dot(columns.column(j), &theta));
            }
        }
    }

    fn entry(&self, i: usize, j: usize) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Gram { entries, stride } => entries[j * stride + i],
            Self::Factored(columns) => dot(columns.column(i), columns.column(j)),
        }
    }
}

/// Systems with H.
#[derive(Debug)]
pub(crate) enum System<'a> {
    /// G is 0; the root of r.
    Diagonal(f64),
    Narrow {
        curvature: Curvature<'a>,
        ridge: f64,
        factor: Factor,
    },
    Wide(Wide<'a>),
}

/// H by `L L' = r I + C_F C_F'`.
#[derive(Debug)]
pub(crate) struct Wide<'a> {
    columns: &'a DenseMatrix<'a>,
    ridge: f64,
    free: Vec<usize>,
    factor: Factor,
}

impl<'a> System<'a> {
    /// For these assets. Where the control says so it is given up half made; whoever goes on asks the control first.
    pub(crate) fn new(curvature: Curvature<'a>, ridge: f64, free: &[usize], control: &Control) -> Self {
        if let Curvature::Factored(columns) = curvature {
            return Self::Wide(Wide::new(columns, ridge, free, control));
        }
        if let Curvature::None = curvature {
            return Self::Diagonal(ridge.sqrt());
        }
        let mut factor = Factor::default();
        for (k, &j) in free.iter().enumerate() {
            let entries = free[..k].iter().map(|&i| curvature.entry(i, j)).collect();
            factor.push(entries, ridge + curvature.entry(j, j));
        }
        Self::Narrow { curvature, ridge, factor }
    }

    /// Takes another asset beside those that are free.
    pub(crate) fn push(&mut self, free: &[usize], j: usize) {
        match self {
            Self::Diagonal(_) => {}
            Self::Narrow { curvature, ridge, factor } => {
                let entries = free.iter().map(|&i| curvature.entry(i, j)).collect();
                factor.push(entries, *ridge + curvature.entry(j, j));
            }
            Self::Wide(wide) => {
                wide.free.push(j);
                wide.factor.update(wide.columns.column(j).to_vec());
            }
        }
    }

    /// Gives an asset up, by its place; false where the system has to be made anew.
    pub(crate) fn remove(&mut self, place: usize) -> bool {
        match self {
            Self::Diagonal(_) => true,
            Self::Narrow { factor, .. } => {
                factor.remove(place);
                true
            }
            Self::Wide(wide) => {
                let j = wide.free.remove(place);
                wide.factor.downdate(wide.columns.column(j))
            }
        }
    }

    pub(crate) fn half(&self, x: &mut Vec<f64>) {
        match self {
            Self::Diagonal(root) => x.iter_mut().for_each(|x| *x /= root),
            Self::Narrow { factor, .. } => factor.forward(x),
            Self::Wide(wide) => {
                let mut below = vec![0.0; wide.columns.rows()];
                wide.free.iter().zip(&*x).for_each(|(&j, x)| axpy(*x, wide.columns.column(j), &mut below));
                wide.factor.forward(&mut below);
                x.extend(below);
            }
        }
    }

    pub(crate) fn inner(&self, a: &[f64], b: &[f64]) -> f64 {
        match self {
            Self::Diagonal(_) | Self::Narrow { .. } => dot(a, b),
            Self::Wide(wide) => {
                let n = wide.free.len();
                (dot(&a[..n], &b[..n]) - dot(&a[n..], &b[n..])) / wide.ridge
            }
        }
    }

    pub(crate) fn whole(&self, x: &mut Vec<f64>) {
        match self {
            Self::Diagonal(root) => x.iter_mut().for_each(|x| *x /= root),
            Self::Narrow { factor, .. } => factor.backward(x),
            Self::Wide(wide) => {
                let mut below = x.split_off(wide.free.len());
                wide.factor.backward(&mut below);
                for (x, &j) in x.iter_mut().zip(&wide.free) {
                    *x = (*x - dot(wide.columns.column(j), &below)) / wide.ridge;
                }
            }
        }
    }
}

impl<'a> Wide<'a> {
    fn new(columns: &'a DenseMatrix<'a>, ridge: f64, free: &[usize], control: &Control) -> Self {
        /// Assets of a tile.
        const TILE: usize = 256;
        let days = columns.rows();
        let mut sum = vec![0.0; days * days];
        let mut tile = Vec::with_capacity(TILE * days);
        for part in free.chunks(TILE) {
            if control.halted().is_some() {
                break;
            }
            tile.clear();
            part.iter().for_each(|&j| tile.extend_from_slice(columns.column(j)));
            let some = MatRef::from_column_major_slice(&tile, days, part.len());
            let out = MatMut::from_column_major_slice_mut(&mut sum, days, days);
            matmul(out, Accum::Add, some, some.transpose(), 1.0, Par::Seq);
        }
        let mut factor = Factor::default();
        for t in 0..days {
            factor.push(sum[t * days..t * days + t].to_vec(), ridge + sum[t * days + t]);
        }
        Self { columns, ridge, free: free.to_vec(), factor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::random_returns;

    #[test]
    fn both_ways_solve_the_same_system() {
        let returns = random_returns(12, 5, 9);
        let columns = returns.centred();
        let entries: Vec<f64> =
            (0..144).map(|at| dot(columns.column(at / 12), columns.column(at % 12))).collect();
        let (gram, factored) =
            (Curvature::Gram { entries: &entries, stride: 12 }, Curvature::Factored(columns));
        let (a, b): (Vec<f64>, Vec<f64>) = (0..8).map(|k| (f64::from(k).sin(), f64::from(k).cos())).unzip();
        let solve = |curvature: Curvature<'_>| {
            let mut free: Vec<usize> = (0..9).collect();
            let mut system = System::new(curvature, 1e-4, &free, &Control::unlimited());
            assert!(system.remove(3));
            free.remove(3);
            system.push(&free, 10);
            free.push(10);
            assert!(system.remove(0));
            free.remove(0);
            let (mut left, mut right) = (a.clone(), b.clone());
            system.half(&mut left);
            system.half(&mut right);
            let inner = system.inner(&left, &right);
            system.whole(&mut right);
            let mut product = vec![0.0; 12];
            curvature.add_product(&free, &right, &mut product);
            (inner, right, product)
        };
        let (one, other) = (solve(gram), solve(factored));
        let near = |a: &f64, b: &f64| (a - b).abs() <= 1e-8 * (1.0 + a.abs());
        assert!(
            near(&one.0, &other.0) && one.1.iter().zip(&other.1).all(|(a, b)| near(a, b)),
            "{one:?} {other:?}"
        );
        assert!(one.2.iter().zip(&other.2).all(|(a, b)| near(a, b)));
        assert!((one.0 - dot(&a, &one.1)).abs() < 1e-8 * one.0.abs());
    }
}
