//! `minimise 1/2 v'Pv + q'v + constant` with affine expressions of v in cones, handed to Clarabel.
//!
//! Every column of v carries a scale: Clarabel sees `v / scale`, rows of largest entry 1 where the
//! cone allows it, and an objective divided by its largest coefficient. It must not know instances.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};

/// `sum coefficient * v[column] + constant`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Affine {
    pub(crate) terms: Vec<(usize, f64)>,
    pub(crate) constant: f64,
}

impl Affine {
    pub(crate) fn new(terms: Vec<(usize, f64)>, constant: f64) -> Self {
        Self { terms, constant }
    }

    fn multiply(&mut self, factor: f64) {
        self.terms.iter_mut().for_each(|(_, coefficient)| *coefficient *= factor);
        self.constant *= factor;
    }

    fn largest(&self) -> f64 {
        self.terms.iter().fold(0.0, |top: f64, (_, coefficient)| top.max(coefficient.abs()))
    }
}

/// A cone program under construction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    magnitude: f64,
    scale: Vec<f64>,
    quadratic: Vec<(usize, usize, f64)>,
    linear: Vec<f64>,
    constant: f64,
    zero: Vec<Affine>,
    non_negative: Vec<Affine>,
    second_order: Vec<Vec<Affine>>,
    exponential: Vec<[Affine; 3]>,
}

/// What is asked of Clarabel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accuracy {
    /// Of gap and residuals.
    pub(crate) tolerance: f64,
    /// Added to the diagonal of its linear systems, and refined away.
    pub(crate) regularization: f64,
}

/// What Clarabel returned, in the program's own units.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) status: SolverStatus,
    pub(crate) point: Vec<f64>,
    pub(crate) dual: f64,
    /// Clarabel's relative residual of dual feasibility; without it `dual` bounds nothing.
    pub(crate) dual_residual: f64,
}

impl Program {
    /// A program all of whose columns are `magnitude` times their typical size.
    pub(crate) fn new(magnitude: f64) -> Self {
        Self { magnitude, ..Self::default() }
    }

    /// A new column of typical size `scale`; returns its index.
    pub(crate) fn column(&mut self, scale: f64) -> usize {
        self.scale.push(scale * self.magnitude);
        self.linear.push(0.0);
        self.scale.len() - 1
    }

    /// Adds `coefficient` to `P_ij = P_ji` of `1/2 v'Pv`. Give each pair i <= j once.
    pub(crate) fn add_quadratic(&mut self, i: usize, j: usize, coefficient: f64) {
        self.quadratic.push((i.min(j), i.max(j), coefficient));
    }

    pub(crate) fn add_linear(&mut self, column: usize, coefficient: f64) {
        self.linear[column] += coefficient;
    }

    pub(crate) fn add_constant(&mut self, constant: f64) {
        self.constant += constant;
    }

    pub(crate) fn zero(&mut self, expression: Affine) {
        self.zero.push(expression);
    }

    pub(crate) fn non_negative(&mut self, expression: Affine) {
        self.non_negative.push(expression);
    }

    /// The first expression bounds the Euclidean norm of the others.
    pub(crate) fn second_order(&mut self, expressions: Vec<Affine>) {
        self.second_order.push(expressions);
    }

    /// `exp(first) <= third` when the second is 1.
    pub(crate) fn exponential(&mut self, expressions: [Affine; 3]) {
        self.exponential.push(expressions);
    }

    /// Runs Clarabel.
    pub(crate) fn solve(mut self, accuracy: Accuracy) -> Outcome {
        let objective_scale = self.apply_scales();
        let n = self.scale.len();
        let p = csc(n, n, std::mem::take(&mut self.quadratic));
        let (a, b, cones) = self.constraints();
        let mut solver = DefaultSolver::new(&p, &self.linear, &a, &b, &cones, settings(accuracy))
            .expect("dimensions agree by construction");
        solver.solve();
        let solution = solver.solution;
        Outcome {
            status: solution.status,
            point: solution.x.iter().zip(&self.scale).map(|(v, scale)| v * scale).collect(),
            dual: solution.obj_val_dual * objective_scale + self.constant,
            dual_residual: solution.r_dual,
        }
    }

    /// Rewrites everything in scaled columns and rows; returns what the objective was divided by.
    fn apply_scales(&mut self) -> f64 {
        let scale = &self.scale;
        for (i, j, coefficient) in &mut self.quadratic {
            *coefficient *= scale[*i] * scale[*j];
        }
        self.linear.iter_mut().zip(scale).for_each(|(coefficient, scale)| *coefficient *= scale);
        let cones = self.second_order.iter_mut().flatten().chain(self.exponential.iter_mut().flatten());
        for row in self.zero.iter_mut().chain(&mut self.non_negative).chain(cones) {
            row.terms.iter_mut().for_each(|(column, coefficient)| *coefficient *= scale[*column]);
        }
        for row in self.zero.iter_mut().chain(&mut self.non_negative) {
            row.multiply(reciprocal(row.largest()));
        }
        for cone in &mut self.second_order {
            let factor = reciprocal(cone.iter().map(Affine::largest).fold(0.0, f64::max));
            for row in cone {
                row.multiply(factor);
            }
        }
        self.scale_objective()
    }

    fn scale_objective(&mut self) -> f64 {
        let quadratic = self.quadratic.iter().map(|entry| entry.2.abs());
        let largest = quadratic.chain(self.linear.iter().map(|c| c.abs())).fold(0.0, f64::max);
        let factor = reciprocal(largest);
        self.quadratic.iter_mut().for_each(|entry| entry.2 *= factor);
        self.linear.iter_mut().for_each(|coefficient| *coefficient *= factor);
        1.0 / factor
    }

    /// Clarabel's form `A v + s = b`, s in the cones: `s = expression` means A = -terms, b = constant.
    fn constraints(&self) -> (CscMatrix<f64>, Vec<f64>, Vec<SupportedConeT<f64>>) {
        let mut cones = Vec::new();
        let mut rows: Vec<&Affine> = self.zero.iter().chain(&self.non_negative).collect();
        if !self.zero.is_empty() {
            cones.push(SupportedConeT::ZeroConeT(self.zero.len()));
        }
        if !self.non_negative.is_empty() {
            cones.push(SupportedConeT::NonnegativeConeT(self.non_negative.len()));
        }
        for cone in &self.second_order {
            cones.push(SupportedConeT::SecondOrderConeT(cone.len()));
            rows.extend(cone);
        }
        for cone in &self.exponential {
            cones.push(SupportedConeT::ExponentialConeT());
            rows.extend(cone);
        }
        let entries = rows.iter().enumerate();
        let entries = entries.flat_map(|(r, row)| row.terms.iter().map(move |(c, v)| (r, *c, -v)));
        let a = csc(rows.len(), self.scale.len(), entries.collect());
        (a, rows.iter().map(|row| row.constant).collect(), cones)
    }
}

fn reciprocal(largest: f64) -> f64 {
    if largest > 0.0 { 1.0 / largest } else { 1.0 }
}

fn csc(rows: usize, cols: usize, entries: Vec<(usize, usize, f64)>) -> CscMatrix<f64> {
    let entries: Vec<_> = entries.into_iter().filter(|entry| entry.2 != 0.0).collect();
    let row_indices = entries.iter().map(|entry| entry.0).collect();
    let col_indices = entries.iter().map(|entry| entry.1).collect();
    let values = entries.iter().map(|entry| entry.2).collect();
    CscMatrix::new_from_triplets(rows, cols, row_indices, col_indices, values)
}

fn settings(Accuracy { tolerance, regularization }: Accuracy) -> DefaultSettings<f64> {
    DefaultSettings {
        verbose: false,
        max_threads: 1,
        tol_gap_abs: tolerance,
        tol_gap_rel: tolerance,
        tol_feas: tolerance,
        reduced_tol_gap_abs: 100.0 * tolerance,
        reduced_tol_gap_rel: 100.0 * tolerance,
        reduced_tol_feas: 100.0 * tolerance,
        static_regularization_constant: regularization,
        ..DefaultSettings::default()
    }
}
