//! Conjugate gradients that keep the rows.
//!
//! On the coordinates F that may move, minimise
//!
//! ```text
//! -r'd + 1/2 d'H d   subject to   A_F d = 0
//! ```
//!
//! preconditioned by a diagonal D. With `y` such that `A_F D^-1 (r - A_F'y) = 0` every direction is made of `v = D^-1 (r - A_F'y)`,
//! so the rows are kept by every step. What the rows carry is taken out of r for good: it would drown the rest in rounding.
//! Reference: Gould, Hribar and Nocedal (2001).
//!
//! - Given: F, `D^-1`, r, and then `H p` for every direction p. Returns: the next direction.
//! - Must not know: f, h, where F comes from, how far along a direction one may go.

use crate::control::{Control, Pass};
use crate::coupling::{Coupling, Outers};
use crate::matrix::dot;
use crate::pair_step::Factor;

/// The residual and the direction on the coordinates that may move, side by side.
#[derive(Debug)]
pub(super) struct Projected<'a> {
    coupling: &'a Coupling,
    columns: Vec<u32>,
    /// `D^-1`; 0 for what is held.
    inverse: Vec<f64>,
    /// Of `A_F D^-1 A_F'`; none without rows.
    rows: Option<Factor>,
    /// Minus the slope of the model, less what the rows carry.
    r: Vec<f64>,
    /// `D^-1 r`.
    v: Vec<f64>,
    p: Vec<f64>,
    /// `r'D^-1 r`.
    fit: f64,
}

impl<'a> Projected<'a> {
    /// Begins at `d = 0` with the steepest direction.
    pub(super) fn begin(
        coupling: &'a Coupling,
        columns: Vec<u32>,
        inverse: Vec<f64>,
        r: Vec<f64>,
        control: &Control,
    ) -> Pass<Self> {
        let v = vec![0.0; r.len()];
        let mut own = Self { coupling, columns, inverse, rows: None, p: v.clone(), v, r, fit: 0.0 };
        own.begin_anew(control)?;
        Ok(own)
    }

    /// F.
    pub(super) fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// The direction, a number for each of F.
    pub(super) fn p(&self) -> &[f64] {
        &self.p
    }

    /// The preconditioned residual, squared.
    pub(super) fn fit(&self) -> f64 {
        self.fit
    }

    /// How fast the model falls along the direction, at first.
    pub(super) fn fall(&self) -> f64 {
        dot(&self.p, &self.r)
    }

    /// Forgets all directions: that of steepest descent from here.
    pub(super) fn begin_anew(&mut self, control: &Control) -> Pass {
        self.factor_rows(control)?;
        self.project(control)?;
        self.p.copy_from_slice(&self.v);
        Ok(())
    }

    /// After a step of length t along the direction, whose image is `H p`.
    pub(super) fn step(&mut self, t: f64, image: &[f64]) {
        self.r.iter_mut().zip(image).for_each(|(r, image)| *r -= t * image);
    }

    /// The next direction, conjugate to those before.
    pub(super) fn turn(&mut self, control: &Control) -> Pass {
        let before = self.fit;
        self.project(control)?;
        let ratio = self.fit / before;
        self.p.iter_mut().zip(&self.v).for_each(|(p, v)| *p = v + ratio * *p);
        Ok(())
    }

    /// Holds the k-th coordinate of F, whose place the last one takes; [`begin_anew`](Self::begin_anew) goes after it.
    pub(super) fn remove(&mut self, k: usize) {
        self.columns.swap_remove(k);
        for numbers in [&mut self.inverse, &mut self.r, &mut self.v, &mut self.p] {
            numbers.swap_remove(k);
        }
    }

    fn factor_rows(&mut self, control: &Control) -> Pass {
        let m = self.coupling.rows();
        if m == 0 {
            return Ok(());
        }
        let mut gram = vec![0.0; m * m];
        let mut outers = Outers::new(self.coupling, &mut gram);
        let each = self.coupling.numbers_per_column();
        control.in_parts(self.columns.len(), each * each, |part| {
            part.filter(|&k| self.inverse[k] != 0.0)
                .for_each(|k| outers.add(self.columns[k] as usize, self.inverse[k]));
        })?;
        outers.finish();
        self.rows = Some(Factor::from_gram(m, &gram));
        Ok(())
    }

    /// `r -= A_F'y` so that `v = D^-1 r` keeps the rows; `r'v`.
    fn project(&mut self, control: &Control) -> Pass {
        let Self { coupling, columns, inverse, rows, r, v, .. } = self;
        if let Some(factor) = rows {
            // Once more where columns differ: what rounding left of them in v.
            let rounds = if coupling.uniform_row().is_some() { 1 } else { 2 };
            let each = coupling.numbers_per_column();
            for _ in 0..rounds {
                let mut y = vec![0.0; coupling.rows()];
                if let Some(a) = coupling.uniform_row() {
                    y[0] = a * dot(r, inverse);
                } else {
                    control.in_parts(r.len(), each, |part| {
                        for k in part.filter(|&k| inverse[k] != 0.0) {
                            coupling.add_column(columns[k] as usize, inverse[k] * r[k], &mut y);
                        }
                    })?;
                }
                factor.solve(&mut y);
                if let Some(a) = coupling.uniform_row() {
                    r.iter_mut().for_each(|r| *r -= a * y[0]);
                } else {
                    control.in_parts(r.len(), each, |part| {
                        for k in part.filter(|&k| inverse[k] != 0.0) {
                            r[k] -= coupling.column_dot(columns[k] as usize, &y);
                        }
                    })?;
                }
            }
        }
        for k in 0..r.len() {
            v[k] = inverse[k] * r[k];
        }
        self.fit = dot(r, v);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;

    /// `H = diag(1, 2, 3, 4) + 1 1'`, rows that differ, one column held from the start: as many steps as F has directions.
    #[test]
    fn the_model_is_solved_within_the_rows() {
        let a = Matrix::from_rows(&[&[1.0, 2.0, -1.0, 0.5]]).expect("it is a matrix");
        let coupling = Coupling::rows_of(a, vec![0.0]).expect("it is a row");
        let control = Control::unlimited();
        let columns = vec![0, 1, 3];
        let diagonal = [2.0, 3.0, 5.0];
        let inverse = diagonal.iter().map(|d| 1.0 / d).collect();
        let slope = [1.0, -1.0, 0.5];
        let minus = slope.iter().map(|s| -s).collect();
        let mut gradients =
            Projected::begin(&coupling, columns, inverse, minus, &control).expect("nothing ends it");
        let image = |p: &[f64]| {
            let sum: f64 = p.iter().sum();
            p.iter().zip(diagonal).map(|(p, d)| (d - 1.0) * p + sum).collect::<Vec<f64>>()
        };
        let mut d = [0.0; 3];
        for _ in 0..2 {
            let p = gradients.p().to_vec();
            let image = image(&p);
            let t = gradients.fall() / dot(&p, &image);
            d.iter_mut().zip(&p).for_each(|(d, p)| *d += t * p);
            gradients.step(t, &image);
            gradients.turn(&control).expect("nothing ends it");
        }
        assert!(gradients.fit() < 1e-28, "{}", gradients.fit());
        assert!((d[0] + 2.0 * d[1] + 0.5 * d[2]).abs() < 1e-14, "{d:?}");
        // The slope at the end is a multiple of the row.
        let end: Vec<f64> = image(&d).iter().zip(slope).map(|(image, slope)| image + slope).collect();
        assert!((2.0 * end[0] - end[1]).abs() < 1e-13 && (0.5 * end[0] - end[2]).abs() < 1e-13, "{end:?}");
    }
}
