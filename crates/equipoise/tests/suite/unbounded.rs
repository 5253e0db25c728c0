//! Problems that are unbounded by construction: the objective falls along a ray for ever, and `auto` says so.

use crate::adaptor::composite;
use crate::numbers::Numbers;
use equipoise::matrix::DenseMatrix;
use equipoise::separable::{Bounds, L1, NonNegative, SeparableTerm};
use equipoise::smooth::loss::{HuberLoss, Squared};
use equipoise::smooth::{Linear, LossOfProduct, SmoothTerm, Sum};
use equipoise::{Coupling, Error, Settings, solve};

/// Numbers that differ by seed.
struct Case {
    numbers: Numbers,
    n: usize,
    /// The ray, at least 0 everywhere.
    ray: Vec<f64>,
}

impl Case {
    fn new(seed: u64) -> Self {
        let mut numbers = Numbers::new(seed);
        let n = 4 + (seed % 17) as usize;
        let ray = (0..n).map(|c| if c % 3 == 2 { 0.0 } else { numbers.next().abs() + 0.1 }).collect();
        Self { numbers, n, ray }
    }

    /// So many rows that vanish along the ray.
    fn rows(&mut self, count: usize) -> Vec<Vec<f64>> {
        let square: f64 = self.ray.iter().map(|r| r * r).sum();
        (0..count)
            .map(|_| {
                let row: Vec<f64> = (0..self.n).map(|_| self.numbers.next()).collect();
                let along: f64 = row.iter().zip(&self.ray).map(|(a, r)| a * r).sum::<f64>() / square;
                row.iter().zip(&self.ray).map(|(a, r)| a - along * r).collect()
            })
            .collect()
    }

    fn matrix(&mut self, rows: usize) -> DenseMatrix<'static> {
        let rows = self.rows(rows);
        let columns = (0..self.n).flat_map(|c| rows.iter().map(move |row| row[c])).collect();
        DenseMatrix::from_columns(rows.len(), self.n, columns).expect("finite")
    }

    /// Slopes that fall by 0.3 along the ray, a penalty of w on every coordinate included.
    fn linear(&mut self, w: f64) -> Linear {
        let c: Vec<f64> = (0..self.n).map(|_| self.numbers.next()).collect();
        let (square, along) = self
            .ray
            .iter()
            .zip(&c)
            .fold((0.0, 0.3), |(square, along), (r, c)| (square + r * r, along + r * (c + w)));
        Linear::new(c.iter().zip(&self.ray).map(|(c, r)| c - along / square * r).collect()).expect("finite")
    }

    /// A sum of squares or of Huber's losses, and slopes.
    fn smooth(&mut self, is_huber: bool, w: f64) -> Sum<'static> {
        let rows = 1 + self.n / 3;
        let target: Vec<f64> = (0..rows).map(|_| self.numbers.next()).collect();
        let matrix = self.matrix(rows);
        let loss: Box<dyn SmoothTerm> = if is_huber {
            Box::new(
                LossOfProduct::new(matrix, target, HuberLoss::new(0.5).expect("positive")).expect("valid"),
            )
        } else {
            Box::new(LossOfProduct::new(matrix, target, Squared).expect("valid"))
        };
        Sum::new(vec![loss, Box::new(self.linear(w))]).expect("of one dimension")
    }

    fn refused(&mut self, h: impl SeparableTerm + 'static, is_huber: bool, w: f64) -> bool {
        let f = self.smooth(is_huber, w);
        let a = self.matrix(1 + self.n % 3);
        let mut rhs = vec![0.0; a.rows()];
        // A point within all bounds.
        for c in 0..self.n {
            rhs.iter_mut().zip(a.column(c)).for_each(|(rhs, a)| *rhs += 0.5 * a);
        }
        let coupling = Coupling::rows_of(a, rhs).expect("finite");
        let problem = composite(f, h).coupling(coupling).build().expect("feasible");
        let settings = Settings { time_limit: Some(20.0), ..Settings::default() };
        matches!(solve(&problem, &settings), Err(Error::Unbounded { .. }))
    }
}

#[test]
fn problems_that_fall_for_ever_are_recognised() {
    let mut missed = Vec::new();
    for seed in 0..24 {
        for is_huber in [false, true] {
            let n = Case::new(seed).n;
            let bounds = Bounds::new(vec![-1.0; n], vec![f64::INFINITY; n]).expect("in order");
            let found = [
                Case::new(seed).refused(L1::new(0.3).expect("positive"), is_huber, 0.3),
                Case::new(seed).refused(NonNegative, is_huber, 0.0),
                Case::new(seed).refused(bounds, is_huber, 0.0),
            ];
            if found != [true; 3] {
                missed.push((seed, is_huber, found));
            }
        }
    }
    assert!(missed.is_empty(), "of 144: {missed:?}");
}

/// A sum of losses that falls for very long is bounded all the same.
#[test]
fn a_long_way_down_is_not_endless() {
    for size in [1e3, 1e6, 1e8, 1e9, 1e12] {
        let matrix = DenseMatrix::from_columns(3, 2, vec![1.0, 1.0, 0.5, 1.0, -1.0, 0.25]).expect("finite");
        let target = vec![2.0 * size, size, 3.0 * size];
        let f = LossOfProduct::new(matrix, target, HuberLoss::new(1.0).expect("positive")).expect("valid");
        let problem = crate::adaptor::builder(f).build().expect("feasible");
        let settings = Settings { time_limit: Some(20.0), ..Settings::default() };
        let solution = solve(&problem, &settings).unwrap_or_else(|error| panic!("size {size}: {error}"));
        assert!(solution.certificate.objective >= 0.0, "size {size}: {:?}", solution.status);
    }
}
