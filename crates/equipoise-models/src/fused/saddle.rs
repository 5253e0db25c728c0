//! An image as a saddle: primal steps along columns, dual steps along rows.
//!
//! ```text
//! min over x, max over s   1/2 ||x - y||^2 + lambda ||C x||_1 + x's      s = R'z, |z| <= lambda
//!
//! s <- p - sigma * chains along rows (p / sigma; lambda / sigma)                      p = s + sigma x_ahead
//! x <- chains along columns ((x + tau (y - s)) / (1 + tau); lambda tau / (1 + tau))
//! theta = 1 / sqrt(1 + 2 tau),   tau <- theta tau,   sigma <- sigma / theta,   x_ahead = x + theta (x - x before)
//! ```
//!
//! The first term in x is strongly convex with modulus 1, so that the steps of Chambolle and Pock (2011, algorithm 2) may grow
//! and shrink as above, and the distance to the optimum falls as the square of the rounds; Kolmogorov, Pock and Rolinek (2016)
//! use it for images. tau has no unit: scaling y and lambda changes nothing.
//!
//! - Given: y, lambda, a first x and s. Returns: the next ones.
//! - Must not know: gaps, when to stop.

use equipoise::{Control, Pass};

use super::image::Image;
use super::proof::Task;

/// The first tau. Images of rectangles and discs with noise, lambda from a fifth to ten times the noise: 1, 3 and 10 take about as many
/// rounds; 0.3 takes twice as many.
const FIRST_STEP: f64 = 3.0;

/// x and its steps; s is the caller's.
pub(super) struct Saddle {
    /// x now and before, turned.
    x: Vec<f64>,
    before: Vec<f64>,
    /// By row.
    ahead: Vec<f64>,
    tau: f64,
    sigma: f64,
}

impl Saddle {
    /// From an image by row.
    pub(super) fn new(image: &Image, x: &[f64]) -> Self {
        let turned = image.turned(x);
        Self {
            before: turned.clone(),
            x: turned,
            ahead: x.to_vec(),
            tau: FIRST_STEP,
            sigma: 1.0 / FIRST_STEP,
        }
    }

    /// One step of s, which is by row, then one of x.
    pub(super) fn round(&mut self, image: &Image, task: &Task<'_>, s: &mut [f64], control: &Control) -> Pass {
        let Self { x, before, ahead, tau, sigma } = self;
        let (y, lambda, step, up) = (task.y, task.lambda, *tau, *sigma);
        let down = 1.0 / up;
        image.along_rows(
            lambda * down,
            |at, s| s * down + ahead[at],
            s,
            |line, b| up * (line - b),
            control,
        )?;
        std::mem::swap(x, before);
        let share = 1.0 / (1.0 + step);
        let sample = |at: usize, turned: usize| (before[turned] + step * (y[at] - s[at])) * share;
        image.along_columns(lambda * step * share, sample, x, control)?;
        let theta = 1.0 / (1.0 + 2.0 * step).sqrt();
        (*tau, *sigma) = (step * theta, up / theta);
        image.by_row(ahead, |_, turned| x[turned] + theta * (x[turned] - before[turned]));
        Ok(())
    }

    /// x by row.
    pub(super) fn image_by_row(&self, image: &Image) -> Vec<f64> {
        let mut all = vec![0.0; self.x.len()];
        image.by_row(&mut all, |_, turned| self.x[turned]);
        all
    }
}
