//! A problem as plain numbers, judged without the library.

use dashu::rational::RBig;
use equipoise::{Control, DenseMatrix, Matrix, SparseMatrix};
use equipoise_models::fused::{Design, Edge, Error, Fit, FitSettings, Penalty, Signal, fit};
use equipoise_testkit::instance::{Blocks, Coupling, Dense, Instance, Loss, Separable, Smooth};
use equipoise_testkit::oracle;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Random numbers with a seed.
pub(crate) struct Draw(Xoshiro256PlusPlus);

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// In -1 to 1.
    pub(crate) fn next(&mut self) -> f64 {
        2.0 * self.0.random::<f64>() - 1.0
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.0.random::<u64>() % n as u64) as usize
    }

    /// Steps and noise.
    pub(crate) fn signal(&mut self, n: usize) -> Vec<f64> {
        let mut level = 0.0;
        (0..n)
            .map(|_| {
                if self.below(5) == 0 {
                    level = 4.0 * self.next();
                }
                level + self.next()
            })
            .collect()
    }
}

/// How coefficients are seen.
#[derive(Debug, Clone)]
pub(crate) enum Seen {
    All,
    Some(Vec<usize>),
    Rows(Vec<Vec<f64>>),
    /// The same, given to the library as a sparse matrix.
    SparseRows(Vec<Vec<f64>>),
}

/// A problem.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) y: Vec<f64>,
    pub(crate) n: usize,
    pub(crate) seen: Seen,
    pub(crate) penalty: Penalty,
    pub(crate) lambda: f64,
    pub(crate) sparse: f64,
}

fn exact(value: f64) -> RBig {
    RBig::try_from(value).expect("finite")
}

fn size(value: RBig) -> RBig {
    if value < RBig::ZERO { -value } else { value }
}

fn sum(a: &[f64], b: &[f64]) -> RBig {
    a.iter().zip(b).fold(RBig::ZERO, |sum, (a, b)| sum + exact(*a) * exact(*b))
}

impl Case {
    /// D from its definition.
    pub(crate) fn d(&self) -> Vec<Vec<f64>> {
        let stencil = |row: &[f64]| {
            let place = |r: usize| {
                let mut out = vec![0.0; self.n];
                out[r..r + row.len()].copy_from_slice(row);
                out
            };
            (0..(self.n + 1).saturating_sub(row.len())).map(place).collect()
        };
        let pair = |u: usize, v: usize, w: f64| {
            let mut out = vec![0.0; self.n];
            (out[u], out[v]) = (-w, w);
            out
        };
        match &self.penalty {
            Penalty::Chain => stencil(&[-1.0, 1.0]),
            Penalty::Trend1 => stencil(&[1.0, -2.0, 1.0]),
            Penalty::Trend2 => stencil(&[-1.0, 3.0, -3.0, 1.0]),
            Penalty::Grid { rows, columns } => {
                let mut out = Vec::new();
                for r in 0..*rows {
                    for c in 0..*columns {
                        let here = r * columns + c;
                        if c + 1 < *columns {
                            out.push(pair(here, here + 1, 1.0));
                        }
                        if r + 1 < *rows {
                            out.push(pair(here, here + columns, 1.0));
                        }
                    }
                }
                out
            }
            Penalty::Graph(edges) => {
                edges.iter().map(|Edge { from, to, weight }| pair(*from, *to, *weight)).collect()
            }
            Penalty::Matrix(d) => {
                let mut out = vec![vec![0.0; self.n]; d.rows()];
                (0..self.n).for_each(|c| d.column(c).for_each(|(r, value)| out[r][c] = value));
                out
            }
        }
    }

    /// X, written out.
    pub(crate) fn x(&self) -> Vec<Vec<f64>> {
        let unit = |c: usize| {
            let mut row = vec![0.0; self.n];
            row[c] = 1.0;
            row
        };
        match &self.seen {
            Seen::All => (0..self.n).map(unit).collect(),
            Seen::Some(indices) => indices.iter().map(|c| unit(*c)).collect(),
            Seen::Rows(rows) | Seen::SparseRows(rows) => rows.clone(),
        }
    }

    /// The objective in rational numbers.
    pub(crate) fn objective(&self, b: &[f64]) -> RBig {
        let misses = self.x().into_iter().zip(&self.y).map(|(row, y)| exact(*y) - sum(&row, b));
        let loss = misses.fold(RBig::ZERO, |sum, miss| sum + &miss * &miss) * exact(0.5);
        let variation = self.d().iter().fold(RBig::ZERO, |total, row| total + size(sum(row, b)));
        let sizes = b.iter().fold(RBig::ZERO, |total, b| total + size(exact(*b)));
        loss + variation * exact(self.lambda) + sizes * exact(self.sparse)
    }

    /// The oracle's optimum: b and `g = D b` with an l1 norm each.
    pub(crate) fn optimum(&self, name: &str) -> f64 {
        let (d, x) = (self.d(), self.x());
        let dimension = self.n + d.len();
        let wide = |row: &Vec<f64>| row.iter().copied().chain(vec![0.0; d.len()]).collect::<Vec<f64>>();
        let mut ties: Vec<Vec<f64>> = d.iter().map(wide).collect();
        ties.iter_mut().enumerate().for_each(|(r, row)| row[self.n + r] = -1.0);
        let mut weights = vec![self.sparse; self.n];
        weights.resize(dimension, self.lambda);
        let m = Dense::from_rows(&x.iter().map(wide).collect::<Vec<_>>());
        let smooth = Smooth::Loss { loss: Loss::LeastSquares, m, y: self.y.clone(), weights: None };
        let coupling = match d.len() {
            0 => Coupling::None,
            rows => Coupling::Rows { matrix: Dense::from_rows(&ties), rhs: vec![0.0; rows] },
        };
        let separable = Separable::L1 { weights };
        let instance =
            Instance { name: name.into(), smooth, separable, coupling, blocks: Blocks::Auto, dimension };
        oracle::solve(&instance).unwrap_or_else(|failure| panic!("{failure}")).objective
    }

    /// What the library finds.
    pub(crate) fn fit(&self, settings: &FitSettings, control: &Control) -> Result<Fit, Error> {
        let settings = FitSettings { lambda: self.lambda, sparse: self.sparse, ..settings.clone() };
        let matrix = self.matrix();
        fit(self.signal(matrix.as_ref()), &settings, control)
    }

    pub(crate) fn matrix(&self) -> Option<Matrix<'static>> {
        match &self.seen {
            Seen::All | Seen::Some(_) => None,
            Seen::Rows(rows) => Some(DenseMatrix::from_rows(rows).expect("rows").into()),
            Seen::SparseRows(rows) => {
                let mut triplets = Vec::new();
                for (r, row) in rows.iter().enumerate() {
                    for (c, value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                        triplets.push((r, c, *value));
                    }
                }
                Some(SparseMatrix::from_triplets(rows.len(), self.n, &triplets).expect("triplets").into())
            }
        }
    }

    pub(crate) fn signal<'a>(&'a self, matrix: Option<&'a Matrix>) -> Signal<'a> {
        let design = match (&self.seen, matrix) {
            (Seen::Some(indices), _) => Design::Observed { indices, coefficients: self.n },
            (_, Some(matrix)) => Design::Matrix(matrix),
            _ => Design::Identity,
        };
        Signal { y: &self.y, design, penalty: &self.penalty }
    }

    /// Fails where a bound is false in rational numbers, or where coefficients are less good than is said.
    pub(crate) fn judge(&self, found: &Fit) {
        let objective = self.objective(&found.x);
        assert!(
            found.objective.is_finite() && objective <= exact(found.objective),
            "{self:?}: objective {found:?}"
        );
        if found.bound.is_finite() {
            assert!(
                exact(found.bound) <= objective,
                "{self:?}: the bound is above this very point: {found:?}"
            );
        }
    }
}
