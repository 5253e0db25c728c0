//! Where the weights may be: `l <= w <= u`, and `sum w = s` or `A w = b`.
//!
//! - Given: bounds and rows. Returns: whether they can be met, a point that meets them, the bounds that they imply.
//! - Must not know: data.

use equipoise::Matrix;
use equipoise::enclosure::{Enclosure, Sum};

use super::{Error, Result};

/// What ties the weights together.
#[derive(Debug, Clone, PartialEq)]
pub enum Rows {
    /// Nothing.
    None,
    /// Their sum.
    Sum(f64),
    /// `A w = b`.
    Equations {
        /// A.
        matrix: Matrix<'static>,
        /// b.
        rhs: Vec<f64>,
    },
}

/// Where the weights may be.
#[derive(Debug, Clone, PartialEq)]
pub struct Region {
    /// l, one a column; may be `-inf`.
    pub lower: Vec<f64>,
    /// u, one a column; may be `inf`.
    pub upper: Vec<f64>,
    /// What ties them together.
    pub rows: Rows,
}

impl Region {
    /// `w >= 0`, `sum w = s`.
    pub fn simplex(columns: usize, sum: f64) -> Self {
        Self { lower: vec![0.0; columns], upper: vec![f64::INFINITY; columns], rows: Rows::Sum(sum) }
    }

    /// `l <= w <= u`.
    pub fn bounds(lower: Vec<f64>, upper: Vec<f64>) -> Self {
        Self { lower, upper, rows: Rows::None }
    }

    /// The sum, where there is one.
    pub(super) fn sum(&self) -> Option<f64> {
        if let Rows::Sum(sum) = self.rows { Some(sum) } else { None }
    }

    /// Whether the way of the active set has a bound for it: every weight has a bound of its own, or bends.
    pub(super) fn is_bounded_enough(&self, ridge: f64) -> bool {
        ridge > 0.0 || self.lower.iter().zip(&self.upper).all(|(l, u)| l.is_finite() || u.is_finite())
    }

    pub(super) fn check(&self, columns: usize) -> Result<()> {
        for (what, list) in [("lower bounds", &self.lower), ("upper bounds", &self.upper)] {
            if list.len() != columns {
                return Err(Error::Length { what, found: list.len(), expected: columns, unit: "column" });
            }
        }
        for (k, (&lower, &upper)) in self.lower.iter().zip(&self.upper).enumerate() {
            if lower.is_nan() || lower == f64::INFINITY {
                let expected = "a number or -inf";
                return Err(Error::BadNumber { what: "lower bound", place: k + 1, found: lower, expected });
            }
            if upper.is_nan() || upper == f64::NEG_INFINITY {
                let expected = "a number or inf";
                return Err(Error::BadNumber { what: "upper bound", place: k + 1, found: upper, expected });
            }
            if lower > upper {
                return Err(Error::Crossed { column: k + 1, lower, upper });
            }
        }
        match &self.rows {
            Rows::None => Ok(()),
            Rows::Sum(sum) => self.check_sum(*sum),
            Rows::Equations { matrix, rhs } => check_equations(matrix, rhs, columns),
        }
    }

    fn check_sum(&self, sum: f64) -> Result<()> {
        if !sum.is_finite() {
            return Err(Error::BadSetting { name: "sum", found: sum, expected: "a finite number" });
        }
        let (least, most) = (total(&self.lower), total(&self.upper));
        // What rounding alone could have brought about is let pass.
        let size = |list: &[f64]| list.iter().map(|value| value.abs()).sum::<f64>() + sum.abs();
        let slack = |list: &[f64]| if list.iter().all(|v| v.is_finite()) { 1e-13 * size(list) } else { 0.0 };
        if least > sum + slack(&self.lower) || most < sum - slack(&self.upper) {
            return Err(Error::OutOfReach { sum, least, most });
        }
        Ok(())
    }

    /// The bounds that hold for every point of the region: its own, and what the sum leaves where all others are at theirs.
    pub(super) fn implied(&self) -> (Vec<f64>, Vec<f64>) {
        let Some(sum) = self.sum() else { return (self.lower.clone(), self.upper.clone()) };
        let rest = |own: &[f64]| {
            let mut left = Sum::default();
            left.add(sum);
            own.iter().for_each(|bound| left.add(-bound));
            own.iter().all(|bound| bound.is_finite()).then(|| left.value())
        };
        let (of_lower, of_upper) = (rest(&self.lower), rest(&self.upper));
        let plus = |left: Enclosure, own: f64| left + Enclosure::from(own);
        let upper = self.upper.iter().zip(&self.lower).map(|(&u, &l)| match of_lower {
            Some(left) => u.min(plus(left, l).upper()),
            None => u,
        });
        let lower = self.lower.iter().zip(&self.upper).map(|(&l, &u)| match of_upper {
            Some(left) => l.max(plus(left, u).lower()),
            None => l,
        });
        let (lower, upper): (Vec<f64>, Vec<f64>) = (lower.collect(), upper.collect());
        // Rounded outwards, they may not cross.
        let upper = upper.iter().zip(&lower).map(|(&u, &l)| u.max(l)).collect();
        (lower, upper)
    }

    /// A point in the middle of the region, where to ask first which columns matter.
    pub(super) fn middle(&self) -> Vec<f64> {
        let clip = |value: f64, k: usize| value.clamp(self.lower[k], self.upper[k]);
        let columns = self.lower.len();
        let Some(sum) = self.sum() else { return (0..columns).map(|k| clip(0.0, k)).collect() };
        let mut point: Vec<f64> = (0..columns).map(|k| clip(sum / columns as f64, k)).collect();
        self.restore_sum(&mut point);
        point
    }

    /// Moves a point within its bounds so that its sum is right, everywhere by the same share of the room there is.
    pub(super) fn restore_sum(&self, point: &mut [f64]) {
        point.iter_mut().enumerate().for_each(|(k, w)| *w = w.clamp(self.lower[k], self.upper[k]));
        let Some(sum) = self.sum() else { return };
        for _ in 0..4 {
            let lack = lack_of(point, sum);
            if lack == 0.0 {
                return;
            }
            let room = |k: usize, w: f64| if lack > 0.0 { self.upper[k] - w } else { w - self.lower[k] };
            let rooms: Vec<f64> = point.iter().enumerate().map(|(k, &w)| room(k, w)).collect();
            let endless = rooms.iter().filter(|room| room.is_infinite()).count();
            let whole: f64 = rooms.iter().sum();
            for (k, w) in point.iter_mut().enumerate() {
                let share = match endless {
                    0 if whole > 0.0 => (rooms[k] / whole * lack.abs()).min(rooms[k]),
                    0 => 0.0,
                    several if rooms[k].is_infinite() => lack.abs() / several as f64,
                    _ => 0.0,
                };
                *w = (*w + share.copysign(lack)).clamp(self.lower[k], self.upper[k]);
            }
        }
    }

    /// Puts what rounding left of the sum where there is room for it.
    pub(super) fn settle_sum(&self, point: &mut [f64]) {
        let Some(sum) = self.sum() else { return };
        for _ in 0..3 {
            let lack = lack_of(point, sum);
            if lack == 0.0 {
                return;
            }
            let room = |k: usize, w: f64| (self.upper[k] - w).min(w - self.lower[k]);
            let best = (0..point.len()).max_by(|&a, &b| room(a, point[a]).total_cmp(&room(b, point[b])));
            let Some(k) = best else { return };
            let moved = point[k] + lack;
            point[k] = moved.clamp(self.lower[k], self.upper[k]);
        }
    }
}

/// `s - sum w`, in one rounding.
fn lack_of(point: &[f64], sum: f64) -> f64 {
    let mut left = Sum::default();
    left.add(sum);
    point.iter().for_each(|w| left.add(-w));
    left.value().centre()
}

fn total(list: &[f64]) -> f64 {
    if let Some(endless) = list.iter().find(|value| value.is_infinite()) {
        return *endless;
    }
    let mut sum = Sum::default();
    list.iter().for_each(|value| sum.add(*value));
    sum.value().centre()
}

fn check_equations(matrix: &Matrix, rhs: &[f64], columns: usize) -> Result<()> {
    if matrix.columns() != columns {
        let (found, expected) = (matrix.columns(), columns);
        return Err(Error::Length { what: "equality row", found, expected, unit: "column" });
    }
    if matrix.rows() > columns {
        return Err(Error::TooManyRows { rows: matrix.rows(), columns });
    }
    if rhs.len() != matrix.rows() {
        let (found, expected) = (rhs.len(), matrix.rows());
        return Err(Error::Length {
            what: "right-hand side of the equality rows",
            found,
            expected,
            unit: "row",
        });
    }
    Ok(())
}
