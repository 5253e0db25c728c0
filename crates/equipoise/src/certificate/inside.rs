//! Multipliers by way of the interior: those of the second-order model at x.
//!
//! Where many rows meet many bounds the least squares of `multipliers.rs` find no multipliers, or take long to: at a degenerate
//! vertex many fit the gradient, and few of them prove anything. A method that follows a path to the optimum of the model
//! (`interior/`) ends with multipliers that do. What it makes of x is not looked at.
//!
//! Given: a problem and a point. Returns: multipliers, to be judged by what they prove. Must not know: the solver.

use crate::control::{Control, Pass};
use crate::interior::{self, Sought};
use crate::problem::View;

/// Rows from which on they are sought first.
pub(super) const MANY_ROWS: usize = 20;
/// Products of two numbers that a factor may cost where there are fewer: verifying a large problem is not to become solving it.
const FEW_PRODUCTS: f64 = 1e8;
/// The gap that the path is followed to.
const GAP: f64 = 1e-11;

/// Multipliers of the independent rows; none where the terms are not of the kind that has such a model.
pub(super) fn multipliers(view: View<'_>, x: &[f64], control: &Control) -> Pass<Vec<Vec<f64>>> {
    if !view.has_model() {
        return Ok(Vec::new());
    }
    let f = view.smooth();
    let mut product = vec![0.0; f.product_len()];
    f.fill_product(x, &mut product, control)?;
    let Some(model) = view.model(x, &product, control)? else { return Ok(Vec::new()) };
    let is_many = view.independent_coupling().rows() >= MANY_ROWS;
    let products = if is_many { interior::MOST_PRODUCTS } else { FEW_PRODUCTS };
    // What is read many times over is beyond it before anything is factored.
    if interior::FACTORS * interior::stored(&model.program) as f64 > products {
        return Ok(Vec::new());
    }
    let found = interior::solve(&model.program, Sought::Multipliers, GAP, products, control)?;
    Ok(found.map_or_else(Vec::new, |found| found.multipliers()))
}
