//! A problem, checked: `minimise f(x) + h(x) subject to A x = b`, x in blocks joined by a graph.
//!
//! [`Problem::builder`] is the only way in. What it lets through is finite, of matching shapes, consistent,
//! and has a point in its domain; everything else is an error with its evidence, before the first iteration. Whether the
//! pairs of its graph can reach the optimum is known, too: methods that move nothing but pairs ask.

mod blocks;
mod bounded_least_squares;
mod builder;
mod draw_law;
mod free_columns;
mod model;
mod reach;
mod repair;
mod start;
mod view;

pub use blocks::{BlockChoice, Blocks};
pub use builder::{ProbabilityChoice, ProblemBuilder};
pub use draw_law::DrawLaw;
pub use view::{NonsmoothView, View};

pub(crate) use blocks::pivot_ratio;
pub(crate) use model::Model;
pub(crate) use start::project;

use crate::control::Control;
use crate::coupling::{Apart, Coupling, DroppedRow, RowUnits};
use crate::error::{Error, Result};
use crate::graph::{EdgeProbabilities, Graph};
use crate::separable::{Nonsmooth, SeparableTerm, Zero};
use crate::smooth::SmoothTerm;

/// `minimise f(x) + h(x) subject to A x = b`, validated.
#[derive(Debug)]
pub struct Problem<F, H = Zero> {
    smooth: F,
    separable: Nonsmooth<H>,
    coupling: Coupling,
    /// The coupling without redundant rows, where there were any, in even units.
    reduced: Option<Coupling>,
    /// The units of the independent rows.
    units: RowUnits,
    /// The independent rows one by one, where they share no coordinate.
    apart: Option<Apart>,
    kept_rows: Vec<usize>,
    dropped_rows: Vec<DroppedRow>,
    blocks: Blocks,
    graph: Graph,
    probabilities: EdgeProbabilities,
    /// Why the pairs of the graph cannot reach every feasible point, where they cannot.
    pairs_fail: Option<Error>,
    start: Vec<f64>,
}

impl<F: SmoothTerm> Problem<F, Zero> {
    /// Begins a problem with its smooth term; everything else has a default: no h, no coupling, automatic
    /// blocks, every pair allowed with equal probability.
    pub fn builder(smooth: F) -> ProblemBuilder<F, Zero> {
        ProblemBuilder::new(smooth)
    }
}

impl<F: SmoothTerm, H: SeparableTerm> Problem<F, H> {
    /// Whether the pairs of the graph alone can reach every feasible point; the error says why not. Methods that move
    /// nothing but pairs are refused then; `auto` is not.
    pub fn check_pairs(&self) -> Result<()> {
        self.pairs_fail.clone().map_or(Ok(()), Err)
    }

    /// The number n of variables.
    pub fn dimension(&self) -> usize {
        self.smooth.dimension()
    }

    /// f.
    pub fn smooth(&self) -> &F {
        &self.smooth
    }

    /// h.
    pub fn separable(&self) -> &Nonsmooth<H> {
        &self.separable
    }

    /// A x = b as it was given.
    pub fn coupling(&self) -> &Coupling {
        &self.coupling
    }

    /// The blocks of x.
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// The graph of pairs that may move together.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// How often each pair is drawn.
    pub fn probabilities(&self) -> &EdgeProbabilities {
        &self.probabilities
    }

    /// Rows of A that the others imply; they are kept out of the computation, with multiplier 0.
    pub fn dropped_rows(&self) -> &[DroppedRow] {
        &self.dropped_rows
    }

    /// A point of the domain with A x = b: the one given, or one that was found.
    pub fn start(&self) -> &[f64] {
        &self.start
    }

    /// The problem without the types of its terms.
    pub fn view(&self) -> View<'_> {
        View {
            smooth: &self.smooth,
            separable: self.separable.as_dyn(),
            coupling: &self.coupling,
            independent: self.independent_coupling(),
            kept_rows: &self.kept_rows,
            units: &self.units,
            blocks: &self.blocks,
        }
    }

    /// f(x) + h(x), from raw data; an error where x is of another length, or the data can no longer be read.
    ///
    /// ```
    /// use equipoise::{Coupling, Problem, smooth::Distance};
    /// let near = Distance::new(vec![3.0, 1.0], 1.0)?;
    /// let problem = Problem::builder(near).coupling(Coupling::sum(1.0)?).build()?;
    /// assert_eq!(problem.objective(&[1.0, 0.0])?, 5.0);
    /// assert!(problem.objective(&[1.0]).is_err());
    /// # Ok::<(), equipoise::Error>(())
    /// ```
    pub fn objective(&self, x: &[f64]) -> Result<f64> {
        crate::matrix::check_length("x", "entries", x.len(), self.dimension())?;
        Ok(self.view().objective(x, &Control::unlimited())?)
    }

    /// The feasible point nearest to `x` (in the Euclidean norm): a start for a warm run on changed data.
    pub fn nearest_feasible(&self, x: &[f64]) -> Result<Vec<f64>> {
        self.nearest_feasible_within(x, &Control::unlimited())
    }

    /// The same under a control; [`Error::StoppedEarly`] where it ended the search.
    pub fn nearest_feasible_within(&self, x: &[f64], control: &Control) -> Result<Vec<f64>> {
        crate::matrix::check_length("start", "entries", x.len(), self.dimension())?;
        crate::matrix::check_finite_vector("start", x)?;
        project(self.independent_coupling(), self.separable.as_dyn(), x, control)
            .map_err(|error| self.units.error_given(error))
    }

    /// Checks a start of the caller's: in the domain, and feasible.
    pub(crate) fn check_start(&self, x: &[f64], control: &Control) -> Result<()> {
        start::check(&self.coupling, self.separable.as_dyn(), x, self.dimension(), control)
    }

    /// The coupling by independent rows; those of very small or very large numbers in a unit of their own, a power of two.
    pub fn independent_coupling(&self) -> &Coupling {
        self.reduced.as_ref().unwrap_or(&self.coupling)
    }

    /// The independent rows one by one, where there are several and they share no coordinate.
    pub(crate) fn apart(&self) -> Option<&Apart> {
        self.apart.as_ref()
    }

    /// Multipliers of the independent rows, from those of all rows given; zeros where none are.
    pub(crate) fn reduce_multipliers(&self, all: Option<&[f64]>) -> Vec<f64> {
        match all {
            Some(all) => {
                let own = |(k, &row): (usize, &usize)| self.units.multiplier_own(k, all[row]);
                // One that was beyond the largest number in the caller's unit is not known any more.
                let known = |own: f64| if own.is_finite() { own } else { 0.0 };
                self.kept_rows.iter().enumerate().map(own).map(known).collect()
            }
            None => vec![0.0; self.kept_rows.len()],
        }
    }
}
