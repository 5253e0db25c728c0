//! `f(x) = 1/2 x'Qx + c'x` with Q given, symmetric and positive semidefinite, dense or sparse.
//!
//! The maintained product is `Q x`. A quadratic given by a factor, `Q = M'M`, is least squares with
//! target 0 plus a linear term: [`Quadratic::from_factor`].

use super::loss::Squared;
use super::{Bend, DualSide, Linear, LossOfProduct, PairTerm, Reads, SmoothTerm, Sum};
use crate::control::{Control, Pass};
use crate::enclosure::{Enclosure, Sum as EnclosedSum, above};
use crate::error::{Error, Result};
use crate::matrix::{
    LeastCurvature, Matrix, axpy, check_convex, check_finite_vector, check_length, dot, least_curvature,
};

/// Largest relative difference of mirrored entries that still counts as symmetric.
const SYMMETRY_TOLERANCE: f64 = 1e-10;

/// A convex quadratic with an explicit matrix.
#[derive(Debug, Clone)]
pub struct Quadratic<'a> {
    matrix: Matrix<'a>,
    linear: Vec<f64>,
    /// How convex f is, proven; a little below 0 where Q is singular up to rounding.
    curvature: LeastCurvature,
    /// Whether mirrored entries are the same to the last bit.
    is_symmetric: bool,
}

impl<'a> Quadratic<'a> {
    /// From Q and c. Q must be square, symmetric and positive semidefinite; eigenvalues down to
    /// `-1e-10 ||Q||` count as zero, and certificates are charged for them.
    pub fn new(matrix: impl Into<Matrix<'a>>, linear: Vec<f64>) -> Result<Self> {
        Self::new_within(matrix, linear, &Control::unlimited())
    }

    /// The same under a control: the test that Q is convex takes the longest.
    pub fn new_within(matrix: impl Into<Matrix<'a>>, linear: Vec<f64>, control: &Control) -> Result<Self> {
        let matrix = matrix.into();
        check_length("quadratic matrix", "rows", matrix.rows(), matrix.columns())?;
        check_length("quadratic linear", "entries", linear.len(), matrix.columns())?;
        matrix.check_finite("quadratic matrix", control)?;
        check_finite_vector("quadratic linear", &linear)?;
        check_symmetric(&matrix)?;
        check_convex("quadratic matrix", &matrix, control)?;
        let curvature = least_curvature(&matrix, control)?;
        let mut is_symmetric = true;
        matrix.for_each(|r, c, value| is_symmetric &= r == c || matrix.entry(c, r) == value);
        Ok(Self { matrix, linear, curvature, is_symmetric })
    }

    /// `1/2 ||M x||^2 + c'x`, the quadratic with `Q = M'M`, without forming Q.
    pub fn from_factor(factor: impl Into<Matrix<'a>>, linear: Vec<f64>) -> Result<Sum<'a>> {
        Self::from_factor_within(factor, linear, &Control::unlimited())
    }

    /// The same under a control.
    pub fn from_factor_within(
        factor: impl Into<Matrix<'a>>,
        linear: Vec<f64>,
        control: &Control,
    ) -> Result<Sum<'a>> {
        let factor = factor.into();
        let rows = factor.rows();
        let square = LossOfProduct::weighted_within(factor, vec![0.0; rows], Squared, 1.0, control)?;
        check_length("quadratic linear", "entries", linear.len(), square.dimension())?;
        Sum::new(vec![Box::new(square), Box::new(Linear::new(linear)?)])
    }
}

fn check_symmetric(matrix: &Matrix) -> Result<()> {
    let mut largest: f64 = 0.0;
    matrix.for_each(|_, _, value| largest = largest.max(value.abs()));
    let mut bad = None;
    matrix.for_each(|row, column, found| {
        let mirrored = matrix.entry(column, row);
        if (found - mirrored).abs() > SYMMETRY_TOLERANCE * largest && bad.is_none() {
            let input = "quadratic matrix".into();
            bad = Some(Error::NotSymmetric { input, row, column, found, mirrored });
        }
    });
    bad.map_or(Ok(()), Err)
}

impl PairTerm for Quadratic<'_> {
    fn dimension(&self) -> usize {
        self.linear.len()
    }
    #[inline]
    fn partial(&self, c: usize, _x: &[f64], product: &[f64]) -> f64 {
        product[c] + self.linear[c]
    }
    #[inline]
    fn curvature(&self, c: usize) -> f64 {
        self.matrix.entry(c, c).max(0.0)
    }
    #[inline]
    fn interaction(&self, i: usize, j: usize) -> Option<f64> {
        Some(self.matrix.entry(i, j))
    }
    fn reads(&self, c: usize) -> Reads<'_> {
        match &self.matrix {
            // The partial derivative reads entry c: a column without it says too little.
            Matrix::Sparse(matrix) if matrix.column_rows(c).contains(&(c as u32)) => {
                Reads::Entries(matrix.column_rows(c))
            }
            _ => Reads::Product,
        }
    }
    fn product_len(&self) -> usize {
        self.linear.len()
    }
    #[inline]
    fn add_to_product(&self, c: usize, delta: f64, product: &mut [f64]) {
        self.matrix.add_column(c, delta, product);
    }
}

impl SmoothTerm for Quadratic<'_> {
    fn value(&self, x: &[f64], product: &[f64]) -> f64 {
        0.5 * dot(x, product) + dot(&self.linear, x)
    }
    fn fill_product(&self, x: &[f64], product: &mut [f64], control: &Control) -> Pass {
        self.matrix.multiply_within(x, product, control)
    }
    fn gradient(&self, _x: &[f64], product: &[f64], out: &mut [f64], _control: &Control) -> Pass {
        out.iter_mut().zip(product).zip(&self.linear).for_each(|((out, p), c)| *out = p + c);
        Ok(())
    }
    fn hessian_product(
        &self,
        _x: &[f64],
        _product: &[f64],
        v: &[f64],
        out: &mut [f64],
        control: &Control,
    ) -> Pass<bool> {
        self.matrix.multiply_within(v, out, control)?;
        Ok(true)
    }
    fn bends(&self, _x: &[f64], _product: &[f64]) -> Option<Vec<Bend<'_>>> {
        Some(vec![Bend::Matrix(&self.matrix)])
    }
    fn dual(&self) -> Option<&dyn DualSide> {
        Some(self)
    }
    fn least_value(&self) -> f64 {
        let is_zero = self.linear.iter().all(|c| *c == 0.0);
        if self.curvature.least >= 0.0 && is_zero { 0.0 } else { f64::NEG_INFINITY }
    }
    /// `mu/2 |y|^2 - |c/sqrt(d)| |y| <= level` for `y = sqrt(d) x`.
    fn narrow(&self, level: f64, within: &mut [(f64, f64)], _control: &Control) -> Pass {
        let LeastCurvature { least, weight } = &self.curvature;
        // Where a coordinate has a slope and no curvature f has no least value, and bounds nothing.
        let is_bounded = self.linear.iter().zip(weight).all(|(c, weight)| *weight > 0.0 || *c == 0.0);
        if *least > 0.0 && is_bounded {
            let mut squares = EnclosedSum::default();
            for (c, weight) in self.linear.iter().zip(weight).filter(|(_, weight)| **weight > 0.0) {
                squares.add_enclosure(Enclosure::product(*c, *c).over((*weight).into()));
            }
            let pull = squares.value().sqrt();
            let root = (squares.value() + Enclosure::product(2.0 * least, level.max(0.0))).sqrt();
            let most = (pull + root).over((*least).into());
            for (within, weight) in within.iter_mut().zip(weight).filter(|(_, weight)| **weight > 0.0) {
                let most = most.over(Enclosure::from(*weight).sqrt()).upper();
                *within = (within.0.max(-most), within.1.min(most));
            }
        }
        Ok(())
    }
    fn is_enclosed(&self) -> bool {
        true
    }
    fn enclose_value(&self, x: &[f64], control: &Control) -> Pass<Enclosure> {
        let mut sum = EnclosedSum::default();
        self.matrix.enclose_product(x, control, |k, image| {
            sum.add_enclosure((image.half() + self.linear[k].into()) * x[k].into());
        })?;
        Ok(sum.value())
    }
}

/// K = Q, u = x and `f*(u) = 1/2 u'Qu`.
impl DualSide for Quadratic<'_> {
    fn dual_len(&self) -> usize {
        self.linear.len()
    }
    fn dual_point(&self, x: &[f64], _product: &[f64], u: &mut [f64]) {
        u.copy_from_slice(x);
    }
    fn add_dual_step(
        &self,
        _x: &[f64],
        _product: &[f64],
        y: &[f64],
        u: &mut [f64],
        _control: &Control,
    ) -> Pass {
        axpy(1.0, y, u);
        Ok(())
    }
    fn add_dual_gradient(&self, u: &[f64], out: &mut [f64], control: &Control) -> Pass {
        axpy(1.0, &self.linear, out);
        self.matrix.add_product(u, out, control)
    }
    fn add_dual_magnitude(&self, u: &[f64], out: &mut [f64], control: &Control) -> Pass {
        out.iter_mut().zip(&self.linear).for_each(|(out, c)| *out += c.abs());
        self.matrix.add_magnitudes(u, out, control)
    }
    fn conjugate(&self, u: &[f64], control: &Control) -> Pass<f64> {
        let mut image = vec![0.0; u.len()];
        self.matrix.multiply_within(u, &mut image, control)?;
        Ok(0.5 * dot(u, &image))
    }
    fn enclose_conjugate(&self, u: &[f64], control: &Control) -> Pass<Enclosure> {
        let mut sum = EnclosedSum::default();
        self.matrix.enclose_product(u, control, |k, image| sum.add_enclosure(image.half() * u[k].into()))?;
        Ok(sum.value())
    }
    /// f is the quadratic of `(Q + Q')/2`.
    fn enclose_dual_entry(&self, c: usize, u: &[f64]) -> Option<Enclosure> {
        let column = self.matrix.enclose_column_dot(c, u);
        let image = if self.is_symmetric {
            column
        } else {
            let mut row = EnclosedSum::default();
            u.iter().enumerate().for_each(|(j, &u)| row.add_product(self.matrix.entry(c, j), u));
            (column + row.value()).half()
        };
        Some(image + self.linear[c].into())
    }
    fn is_convex(&self) -> bool {
        self.curvature.least >= 0.0
    }
    /// `1/2 (x - u)'Q(x - u) >= mu/2 sum_c d_c (x_c - u_c)^2`, where mu may be a little below 0.
    fn concavity(&self, u: &[f64], within: &[(f64, f64)]) -> f64 {
        let LeastCurvature { least, weight } = &self.curvature;
        if *least >= 0.0 {
            return 0.0;
        }
        let mut squares = EnclosedSum::default();
        for ((u, (lo, hi)), weight) in u.iter().zip(within).zip(weight) {
            let far = above((hi - u).abs().max((u - lo).abs()));
            squares.add_enclosure(Enclosure::product(far, far) * (*weight).into());
        }
        (squares.value() * (-0.5 * least).into()).upper()
    }
}
