//! The second-order model of a problem at a point,
//!
//! ```text
//! grad f(x)'(z - x) + 1/2 (z - x)'(Hessian at x)(z - x) + h(z)   subject to   A z = b ,
//! ```
//!
//! as a program for `interior/`. At an optimal x it has the optimum and the multipliers of the problem itself.
//!
//! Given: a view, x with its product. Returns: the program, `None` where f does not say how it bends or h has no closed form,
//! and no model at all where it would take more memory than the run itself.
//! Must not know: who solves it, what for.

use super::View;
use crate::control::{Control, Pass};
use crate::interior::Program;
use crate::separable::{Nonsmooth, Piece};

/// Variables for each row beyond which a model, some hundred bytes a variable, would be most of the memory of a run: under few
/// rows such problems are those that pairs do well on.
const MOST_VARIABLES_A_ROW: usize = 100_000;

/// A model and the gradient that it was made with.
#[derive(Debug)]
pub(crate) struct Model<'a> {
    pub(crate) program: Program<'a>,
    pub(crate) gradient: Vec<f64>,
}

impl<'a> View<'a> {
    /// Whether there is such a model; costs no pass over data that stay in their file.
    pub(crate) fn has_model(self) -> bool {
        let (f, n) = (self.smooth(), self.dimension());
        let Nonsmooth::Coordinates(h) = self.separable() else { return false };
        if n > MOST_VARIABLES_A_ROW.saturating_mul(self.independent_coupling().rows().max(1)) {
            return false;
        }
        // Where it bends does not matter here. Most terms without a model say so at once: they are asked first.
        f.bends(&vec![0.0; n], &vec![0.0; f.product_len()]).is_some() && (0..n).all(|c| h.piece(c).is_some())
    }

    /// The model at x.
    pub(crate) fn model(self, x: &[f64], product: &[f64], control: &Control) -> Pass<Option<Model<'a>>> {
        let f = self.smooth();
        let (Some(bends), Nonsmooth::Coordinates(h)) = (f.bends(x, product), self.separable()) else {
            return Ok(None);
        };
        let Some(pieces) = (0..x.len()).map(|c| h.piece(c)).collect::<Option<Vec<Piece>>>() else {
            return Ok(None);
        };
        let mut gradient = vec![0.0; x.len()];
        f.gradient(x, product, &mut gradient, control)?;
        let mut image = vec![0.0; x.len()];
        bends.iter().for_each(|part| part.add_product(x, &mut image));
        let linear = gradient.iter().zip(&image).map(|(g, image)| g - image).collect();
        let coupling = self.independent_coupling();
        Ok(Some(Model { program: Program { coupling, bends, linear, pieces }, gradient }))
    }
}
