//! Passes over an image: chains along all its rows or columns, shared out to threads.
//!
//! Arrays are by row, `r * columns + c`, or turned, `c * rows + r`: each pass writes the order in which its lines are whole, and
//! what it reads across is taken up in bands, so that memory is read in whole lines of the cache.
//!
//! - Given: the samples of a line, one by one, as a function of their place. Returns: what the chains make of them.
//! - Must not know: what the lines stand for.

use equipoise::{Control, Pass, Team};

use super::chain::Chain;

/// Lines that are taken up together.
const BAND: usize = 8;

/// The shape of an image, and who works on it.
pub(super) struct Image {
    rows: usize,
    columns: usize,
    team: Team,
}

impl Image {
    pub(super) fn new((rows, columns): (usize, usize), threads: usize) -> Self {
        Self { rows, columns, team: Team::for_work(threads, 8 * rows * columns) }
    }

    /// Rows and columns.
    pub(super) fn shape(&self) -> (usize, usize) {
        (self.rows, self.columns)
    }

    /// Lines of so many samples in parts for the team, each with the number of its first line.
    fn parts<'a>(&self, lines: usize, samples: usize, all: &'a mut [f64]) -> Vec<(usize, &'a mut [f64])> {
        let a_part = lines.div_ceil(4 * self.team.threads()).next_multiple_of(BAND);
        let parts = all.chunks_mut(a_part * samples).enumerate();
        parts.map(|(k, part)| (k * a_part, part)).collect()
    }

    /// Chains along all rows. `sample` gives a sample from its place and what `all` has there; `all`, by row, gets what `made`
    /// makes of a sample and its value.
    pub(super) fn along_rows(
        &self,
        lambda: f64,
        sample: impl Fn(usize, f64) -> f64 + Sync,
        all: &mut [f64],
        made: impl Fn(f64, f64) -> f64 + Sync,
        control: &Control,
    ) -> Pass {
        let columns = self.columns;
        let results = self.team.map(self.parts(self.rows, columns, all).into_iter(), |(first, part)| {
            let (mut chain, mut line, mut b) = (Chain::default(), vec![0.0; columns], vec![0.0; columns]);
            for (k, out) in part.chunks_mut(columns).enumerate() {
                let at = (first + k) * columns;
                for (c, (line, out)) in line.iter_mut().zip(&*out).enumerate() {
                    *line = sample(at + c, *out);
                }
                chain.solve(&line, lambda, &mut b, control)?;
                for ((out, line), b) in out.iter_mut().zip(&line).zip(&b) {
                    *out = made(*line, *b);
                }
            }
            control.check()
        });
        results.into_iter().collect()
    }

    /// Chains along all columns. `sample` gives a sample from its place by row and its place turned; `turned` gets their values.
    pub(super) fn along_columns(
        &self,
        lambda: f64,
        sample: impl Fn(usize, usize) -> f64 + Sync,
        turned: &mut [f64],
        control: &Control,
    ) -> Pass {
        let (rows, columns) = (self.rows, self.columns);
        let results = self.team.map(self.parts(columns, rows, turned).into_iter(), |(first, part)| {
            let (mut chain, mut lines) = (Chain::default(), vec![0.0; BAND * rows]);
            for (k, out) in part.chunks_mut(BAND * rows).enumerate() {
                let (at, width) = (first + k * BAND, out.len() / rows);
                for r in 0..rows {
                    for c in 0..width {
                        lines[c * rows + r] = sample(r * columns + at + c, (at + c) * rows + r);
                    }
                }
                for (line, b) in lines.chunks(rows).zip(out.chunks_mut(rows)) {
                    chain.solve(line, lambda, b, control)?;
                }
            }
            control.check()
        });
        results.into_iter().collect()
    }

    /// Fills an array by row with what `value` gives from a place by row and that place turned.
    pub(super) fn by_row(&self, all: &mut [f64], value: impl Fn(usize, usize) -> f64 + Sync) {
        self.in_bands((self.rows, self.columns), all, value);
    }

    /// An array by row, turned.
    pub(super) fn turned(&self, by_row: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; by_row.len()];
        self.in_bands((self.columns, self.rows), &mut all, |_, at| by_row[at]);
        all
    }

    /// Fills an array of this shape with what `value` gives from a place in it and that place turned: bands of lines, for the memory
    /// that is read across them.
    fn in_bands(
        &self,
        (rows, columns): (usize, usize),
        all: &mut [f64],
        value: impl Fn(usize, usize) -> f64 + Sync,
    ) {
        self.team.map(self.parts(rows, columns, all).into_iter(), |(first, part)| {
            for (k, out) in part.chunks_mut(BAND * columns).enumerate() {
                let at = first + k * BAND;
                for c in 0..columns {
                    for (r, row) in out.chunks_mut(columns).enumerate() {
                        row[c] = value((at + r) * columns + c, c * rows + at + r);
                    }
                }
            }
        });
    }
}
