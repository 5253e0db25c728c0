//! The model over any set of coordinates, handed to the pair step that fits it.
//!
//! Pairs of blocks and the full proximal step pose the same subproblem; this is the one place that chooses
//! between its closed forms and the Newton solvers by the number of rows and the form of h.

use crate::pair_step::group::{self, Group, Groups};
use crate::pair_step::{Columns, DualWorkspace, Model, Rows, free, newton, one_row};
use crate::separable::{GroupL2, Nonsmooth, SeparableTerm};

/// Memory and multipliers that are used again from step to step.
#[derive(Debug, Default)]
pub(crate) struct Subproblem {
    one_row: one_row::Workspace,
    dual: DualWorkspace,
    row: Vec<f64>,
    shift: Vec<f64>,
    /// Multipliers of the last solve: the next one begins there.
    pub(crate) lambda: Vec<f64>,
}

impl Subproblem {
    /// With the multipliers to begin at.
    pub(crate) fn beginning_at(lambda: Vec<f64>) -> Self {
        Self { lambda, ..Self::default() }
    }

    /// The minimiser of the model with `A (z - x) = 0`, into `z`; `groups` says which block lies where, for
    /// group norms. False when no minimiser was found (then z = x).
    pub(crate) fn solve<C: Columns, H: SeparableTerm + ?Sized>(
        &mut self,
        model: &Model<'_>,
        columns: &C,
        separable: Nonsmooth<&H, &GroupL2>,
        groups: &[Group],
        z: &mut [f64],
        stop: &dyn Fn() -> bool,
    ) -> bool {
        let m = columns.rows();
        self.lambda.resize(m, 0.0);
        self.shift.clear();
        self.shift.resize(m, 0.0);
        let rows = Rows { columns, shift: &self.shift };
        match separable {
            Nonsmooth::Groups(term) if m == 0 => {
                group::solve_free(model, Groups { term, list: groups }, z, &mut self.dual);
                true
            }
            Nonsmooth::Groups(term) => {
                let norms = Groups { term, list: groups };
                group::solve(model, rows, norms, &mut self.lambda, &mut self.dual, z, stop).converged
            }
            Nonsmooth::Coordinates(h) if m == 0 => {
                free::solve(model, h, z);
                true
            }
            Nonsmooth::Coordinates(h) if m == 1 => {
                self.row.clear();
                self.row.extend((0..columns.len()).map(|k| columns.dot(k, &[1.0])));
                let row = one_row::Row { coefficients: &self.row, shift: 0.0 };
                let outcome = one_row::solve(model, row, h, self.lambda[0], &mut self.one_row, z);
                self.lambda[0] = outcome.multiplier;
                if !outcome.found {
                    z.copy_from_slice(model.x);
                }
                outcome.found
            }
            Nonsmooth::Coordinates(h) => {
                newton::solve(model, rows, h, &mut self.lambda, &mut self.dual, z, stop).converged
            }
        }
    }
}
