//! Random regressions of every sort, and the same as the oracle's problems.

use equipoise::Matrix;
use equipoise_models::lasso::{Data, Loss, Settings};
use equipoise_testkit::{Blocks, Coupling, Dense, Instance, Loss as Stated, Separable, Smooth};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Numbers drawn from a seed.
#[derive(Debug)]
pub(crate) struct Draw(Xoshiro256PlusPlus);

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Between -1 and 1.
    pub(crate) fn next(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.0.next_u64() % end as u64) as usize
    }

    pub(crate) fn is(&mut self, chance: f64) -> bool {
        self.next() < 2.0 * chance - 1.0
    }
}

/// A regression with everything it owns.
#[derive(Debug, Clone)]
pub(crate) struct Regression {
    pub(crate) x: Vec<Vec<f64>>,
    pub(crate) y: Vec<f64>,
    pub(crate) weights: Option<Vec<f64>>,
    pub(crate) matrix: Matrix<'static>,
    pub(crate) rows: Vec<Vec<f64>>,
    pub(crate) settings: Settings,
}

impl Regression {
    pub(crate) fn data(&self) -> Data<'_> {
        Data { x: &self.matrix, y: &self.y, weights: self.weights.as_deref() }
    }

    /// Any sort: losses, shapes, doubled and zero columns, weights, covariates, constraints that overlap or repeat.
    pub(crate) fn draw(seed: u64) -> Self {
        let mut draw = Draw::new(seed);
        let (n, p) = (4 + draw.below(20), 2 + draw.below(25));
        let mut x: Vec<Vec<f64>> = (0..n).map(|_| (0..p).map(|_| draw.next()).collect()).collect();
        if draw.is(0.15) {
            x.iter_mut().for_each(|row| row[p - 1] = row[0]);
        }
        if draw.is(0.1) {
            x.iter_mut().for_each(|row| row[p / 2] = 0.0);
        }
        if draw.is(0.2) {
            // Columns with large means.
            x.iter_mut().for_each(|row| row[0] += 30.0);
        }
        let loss = match draw.below(5) {
            0 => Loss::Logistic,
            1 => Loss::Huber(0.05 + draw.next().abs()),
            _ => Loss::Squares,
        };
        let mut y: Vec<f64> = x.iter().map(|row| 2.0 * row[0] - row[p / 2] + draw.next()).collect();
        if loss == Loss::Logistic {
            let middle = y.iter().sum::<f64>() / n as f64;
            y = y.iter().map(|y| if *y > middle { 1.0 } else { -1.0 }).collect();
            // Overlap, so that what is not penalised has an optimum.
            let other = y.iter().position(|label| *label != y[0]).expect("a mean lies between");
            let first = x[0].clone();
            x[other] = first;
            let same = x[n - 2].clone();
            x[n - 1] = same;
            (y[n - 1], y[n - 2]) = (1.0, -1.0);
        }
        let intercept = draw.is(0.6);
        let weights = draw.is(0.3).then(|| (0..n).map(|_| 0.1 + draw.next().abs()).collect());
        let penalties: Option<Vec<f64>> = draw.is(0.4).then(|| {
            let mut factors: Vec<f64> = (0..p).map(|_| 0.2 + draw.next().abs()).collect();
            if p > 3 && loss != Loss::Logistic && draw.is(0.5) {
                factors[p / 3] = 0.0;
            }
            factors
        });
        let mut rows: Vec<Vec<f64>> = Vec::new();
        match draw.below(6) {
            0 => {}
            1 if p > 3 => {
                // Two sub-compositions.
                rows.push((0..p).map(|j| f64::from(u8::from(j < p / 2))).collect());
                rows.push((0..p).map(|j| f64::from(u8::from(j >= p / 2))).collect());
            }
            2 if p > 4 => {
                rows = (0..2).map(|_| (0..p).map(|_| draw.next()).collect()).collect();
                // A row that says nothing new.
                let sum = (0..p).map(|j| rows[0][j] - 2.0 * rows[1][j]).collect();
                rows.push(sum);
            }
            3 => rows.push((0..p).map(|_| draw.next()).collect()),
            _ => rows.push(vec![1.0; p]),
        }
        let constraints = (!rows.is_empty()).then(|| Matrix::from_rows(&rows).expect("finite"));
        let l1_ratio = if draw.is(0.25) { 0.3 } else { 1.0 };
        let settings =
            Settings { loss, intercept, l1_ratio, penalties, constraints, gap: 1e-9, ..Settings::default() };
        let matrix = Matrix::from_rows(&x).expect("finite");
        Self { x, y, weights, matrix, rows, settings }
    }

    fn factor(&self, j: usize) -> f64 {
        self.settings.penalties.as_ref().map_or(1.0, |factors| factors[j])
    }

    /// The oracle's problem at a lambda; the intercept is the last coordinate.
    pub(crate) fn stated(&self, lambda: f64, name: String) -> Instance {
        let p = self.matrix.columns();
        let ones = self.settings.intercept.then_some(1.0);
        let m: Vec<Vec<f64>> = self.x.iter().map(|row| row.iter().copied().chain(ones).collect()).collect();
        let loss = match self.settings.loss {
            Loss::Huber(delta) => Stated::Huber { delta },
            Loss::Logistic => Stated::Logistic,
            _ => Stated::LeastSquares,
        };
        let ratio = self.settings.l1_ratio;
        let of =
            |share: f64| (0..p).map(|j| lambda * share * self.factor(j)).chain(ones.map(|_| 0.0)).collect();
        let rows: Vec<Vec<f64>> = self
            .rows
            .iter()
            .take(2)
            .map(|row| row.iter().copied().chain(ones.map(|_| 0.0)).collect())
            .collect();
        let coupling = if rows.is_empty() {
            Coupling::None
        } else {
            Coupling::Rows { rhs: vec![0.0; rows.len()], matrix: Dense::from_rows(&rows) }
        };
        Instance {
            name,
            smooth: Smooth::Loss {
                loss,
                m: Dense::from_rows(&m),
                y: self.y.clone(),
                weights: self.weights.clone(),
            },
            separable: Separable::ElasticNet { l1: of(ratio), l2: of(1.0 - ratio) },
            coupling,
            blocks: Blocks::Auto,
            dimension: p + usize::from(self.settings.intercept),
        }
    }
}
