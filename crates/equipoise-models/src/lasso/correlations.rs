//! Inner products of all columns with u, evaluated only where they can matter: safe screening.
//!
//! ```text
//! |x_j'u|  <=  |x_j'u_then| + ||x_j|| ||u - u_then||
//! ```
//!
//! An earlier product and the distance that u has moved since bound the product now. A column whose bound is below its limit
//! needs no evaluation, and that is proven, not guessed. Bounds hold in exact arithmetic: norms, distances and products are
//! rounded up.
//!
//! - Given: u, limits, multipliers. Returns: an upper bound of `|x_j'u + C_j'mu|` for every column.
//! - Must not know: losses, how u was found.

use equipoise::enclosure::above;
use equipoise::{Control, Pass};

use super::constraints::Constraints;
use super::design::{Design, distance_above, norm_above};

/// How many earlier u are remembered.
const REMEMBERED: usize = 24;
/// A bound below this share of the limit settles a column.
const SETTLED: f64 = 1.0 - 1e-7;

/// What is known of every column's product.
#[derive(Debug)]
pub(super) struct Correlations {
    /// `x_j'u_then`.
    values: Vec<f64>,
    /// Which u that was.
    then: Vec<u32>,
    remembered: Vec<Remembered>,
    room: Vec<f64>,
    /// How many products were taken.
    pub(super) evaluated: u64,
}

#[derive(Debug)]
struct Remembered {
    u: Vec<f64>,
    norm: f64,
    /// From the u of now.
    distance: f64,
}

impl Correlations {
    /// Nothing is known yet.
    pub(super) fn new(columns: usize) -> Self {
        Self {
            values: vec![0.0; columns],
            then: vec![0; columns],
            remembered: Vec::new(),
            room: Vec::new(),
            evaluated: 0,
        }
    }

    /// The product as last seen.
    pub(super) fn value(&self, j: usize) -> f64 {
        self.values[j]
    }

    /// Moves on to another u. Where that is ended every bound still holds.
    pub(super) fn move_to(&mut self, u: &[f64], design: &Design<'_>, control: &Control) -> Pass {
        if self.remembered.is_empty() {
            let all: Vec<usize> = (0..design.columns()).collect();
            let found = design.map_list(&all, |j| design.dot(j, u), control)?;
            self.remembered.push(Remembered { u: u.to_vec(), norm: norm_above(u), distance: 0.0 });
            self.keep(&all, &found);
            return Ok(());
        }
        let room = &mut self.room;
        for old in &mut self.remembered {
            old.distance = distance_above(u, &old.u, room);
        }
        if self.remembered.len() >= REMEMBERED {
            self.forget_some(u, design, control)?;
        }
        self.remembered.push(Remembered { u: u.to_vec(), norm: norm_above(u), distance: 0.0 });
        Ok(())
    }

    /// Evaluates the columns of the older half of what is remembered, and forgets it.
    fn forget_some(&mut self, u: &[f64], design: &Design<'_>, control: &Control) -> Pass {
        let gone = REMEMBERED / 2;
        let old: Vec<usize> = (0..self.then.len()).filter(|&j| (self.then[j] as usize) < gone).collect();
        let newest = self.remembered.len() - 1;
        // Those that were seen at the one that is overwritten are seen anew, too.
        let at_newest = (0..self.then.len()).filter(|&j| self.then[j] as usize == newest);
        let list: Vec<usize> = old.into_iter().chain(at_newest).collect();
        let found = design.map_list(&list, |j| design.dot(j, u), control)?;
        self.remembered[newest] = Remembered { u: u.to_vec(), norm: norm_above(u), distance: 0.0 };
        self.keep(&list, &found);
        self.remembered.drain(..gone);
        self.then.iter_mut().for_each(|then| *then -= gone as u32);
        Ok(())
    }

    /// Takes the products of some columns with the newest u.
    fn evaluate(&mut self, list: &[usize], u: &[f64], design: &Design<'_>, control: &Control) -> Pass {
        let found = design.map_list(list, |j| design.dot(j, u), control)?;
        self.keep(list, &found);
        Ok(())
    }

    /// The products of some columns with the newest u are these.
    fn keep(&mut self, list: &[usize], found: &[f64]) {
        let newest = (self.remembered.len() - 1) as u32;
        for (&j, value) in list.iter().zip(found) {
            (self.values[j], self.then[j]) = (*value, newest);
        }
        self.evaluated += list.len() as u64;
    }

    /// At least `|x_j'u + C_j'mu|`.
    pub(super) fn bound(&self, j: usize, design: &Design<'_>, constraints: &Constraints, mu: &[f64]) -> f64 {
        let then = &self.remembered[self.then[j] as usize];
        let (c, mut held, mut size) = (constraints.column(j), 0.0, self.values[j].abs());
        for (c, mu) in c.iter().zip(mu) {
            held += c * mu;
            size += (c * mu).abs();
        }
        let rounding = (c.len() + 2) as f64 * f64::EPSILON * size + design.dot_error(j, then.norm);
        above((self.values[j] + held).abs() + design.norm(j) * then.distance + rounding)
    }

    /// Makes every bound tell: evaluates the columns whose bound is not below their limit.
    pub(super) fn settle(
        &mut self,
        l1: &[f64],
        design: &Design<'_>,
        constraints: &Constraints,
        mu: &[f64],
        control: &Control,
    ) -> Pass {
        let newest = self.remembered.len() - 1;
        let open: Vec<usize> = (0..l1.len())
            .filter(|&j| self.then[j] as usize != newest)
            .filter(|&j| self.bound(j, design, constraints, mu) >= SETTLED * l1[j])
            .collect();
        let u = std::mem::take(&mut self.remembered[newest].u);
        let done = self.evaluate(&open, &u, design, control);
        self.remembered[newest].u = u;
        done
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use super::*;
    use equipoise::Matrix;

    #[test]
    fn bounds_hold_however_far_u_moves_and_however_little_is_evaluated() {
        let entry = |i: usize, j: usize| ((i * 37 + j * 101) % 17) as f64 / 7.0 - 1.0;
        let rows: Vec<Vec<f64>> = (0..20).map(|i| (0..60).map(|j| entry(i, j)).collect()).collect();
        let x = Matrix::from_rows(&rows).expect("finite");
        let control = Control::unlimited();
        let design = Design::new(&x, true, 1, &control).expect("unlimited");
        let mut known = Correlations::new(61);
        let l1: Vec<f64> = (0..61).map(|j| 5.0 + 20.0 * f64::from(u8::from(j % 3 == 0))).collect();
        for step in 0..100_usize {
            let size = if step % 9 == 0 { 5.0 } else { 0.02 };
            let u: Vec<f64> =
                (0..20).map(|i| ((i * 7 + step / 9) % 5) as f64 + size * ((i * step) % 3) as f64).collect();
            known.move_to(&u, &design, &control).expect("unlimited");
            known.settle(&l1, &design, &Constraints::none(), &[], &control).expect("unlimited");
            for j in 0..61 {
                let exact = design.dot(j, &u);
                let bound = known.bound(j, &design, &Constraints::none(), &[]);
                assert!(bound >= exact.abs(), "step {step}, column {j}: {bound} for {exact}");
                assert!(
                    bound <= l1[j] || bound <= exact.abs() + 1e-9,
                    "step {step}, column {j} is not settled"
                );
            }
        }
        assert!(known.evaluated < 61 * 60, "{}", known.evaluated);
    }

    /// A wish to stop may come while old products are forgotten, the one place that reads columns on the way to another u.
    #[test]
    fn bounds_hold_after_a_move_that_was_ended() {
        let entry = |i: usize, j: usize| ((i * 37 + j * 101) % 17) as f64 / 7.0 - 1.0;
        let (rows, columns) = (300, 1000);
        let rows: Vec<Vec<f64>> = (0..rows).map(|i| (0..columns).map(|j| entry(i, j)).collect()).collect();
        let x = Matrix::from_rows(&rows).expect("finite");
        let control = Control::unlimited();
        let design = Design::new(&x, false, 1, &control).expect("unlimited");
        let mut known = Correlations::new(columns);
        let u = |step: usize| -> Vec<f64> { (0..300).map(|i| ((i * step) % 11) as f64 - 3.0).collect() };
        for step in 0..REMEMBERED {
            known.move_to(&u(step), &design, &control).expect("unlimited");
            // Every column is seen at some u, a few of them at the newest.
            known.evaluate(&[step, step + 500], &u(step), &design, &control).expect("unlimited");
        }
        let (last, ended) = (u(REMEMBERED), Control::on(Arc::new(AtomicBool::new(true))));
        assert_eq!(known.move_to(&last, &design, &ended), Err(equipoise::Halt::Interrupted));
        for j in 0..columns {
            let (bound, exact) = (known.bound(j, &design, &Constraints::none(), &[]), design.dot(j, &last));
            assert!(bound >= exact.abs(), "column {j}: {bound} for {exact}");
        }
    }
}
