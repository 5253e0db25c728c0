//! A linear or quadratic program as a file has it, and as a problem in words.
//!
//! A row that is no equation gets a variable of its own, `a_i x - s_i = 0` with `low_i <= s_i <= high_i`: bounds stay the
//! numbers of the file. A constant `c0` is the cost of a variable that is fixed at 1. These variables come after those of the
//! file: first the s of rows, in their order, then the one of the constant. Of an objective that is to be large the negative is
//! made small.

use equipoise::SparseMatrix;

use crate::Result;
use crate::problem_file::{ProblemFile, Term};

/// A row `low <= a x <= high`.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramRow {
    /// Its name.
    pub name: String,
    /// What `a x` is at least.
    pub low: f64,
    /// What `a x` is at most.
    pub high: f64,
}

/// A program: minimise, or maximise, `1/2 x'Qx + c'x + c0` over rows and bounds.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Program {
    /// What the file calls it.
    pub name: String,
    /// The name of every variable.
    pub variables: Vec<String>,
    /// The rows; some may be open on both sides.
    pub rows: Vec<ProgramRow>,
    /// The entries (row, variable, value) of the rows.
    pub entries: Vec<(usize, usize, f64)>,
    /// Whether the objective is to be large.
    pub is_maximised: bool,
    /// c.
    pub linear: Vec<f64>,
    /// c0.
    pub constant: f64,
    /// The entries of Q, both of a mirrored pair.
    pub quadratic: Vec<(usize, usize, f64)>,
    /// The least value of every variable.
    pub lower: Vec<f64>,
    /// The largest.
    pub upper: Vec<f64>,
}

impl Program {
    /// The problem in words; its [`ProblemFile::names`] are those of the variables.
    pub fn into_problem(self) -> Result<ProblemFile<'static>> {
        let Self {
            variables,
            rows,
            mut entries,
            is_maximised,
            mut linear,
            mut constant,
            mut quadratic,
            mut lower,
            mut upper,
            ..
        } = self;
        if is_maximised {
            // 0 stays 0 without a sign.
            linear.iter_mut().chain([&mut constant]).for_each(|c| *c = 0.0 - *c);
            quadratic.iter_mut().for_each(|(_, _, q)| *q = 0.0 - *q);
        }
        let (mut rhs, mut place) = (Vec::new(), vec![None; rows.len()]);
        let mut own = Vec::new();
        for (i, row) in rows.iter().enumerate() {
            if row.low == f64::NEG_INFINITY && row.high == f64::INFINITY {
                continue;
            }
            place[i] = Some(rhs.len());
            if row.low == row.high {
                rhs.push(row.low);
            } else {
                own.push((rhs.len(), lower.len(), -1.0));
                rhs.push(0.0);
                lower.push(row.low);
                upper.push(row.high);
                linear.push(0.0);
            }
        }
        if constant != 0.0 {
            lower.push(1.0);
            upper.push(1.0);
            linear.push(constant);
        }
        entries.retain_mut(|(row, _, _)| place[*row].map(|at| *row = at).is_some());
        entries.extend(own);
        let n = linear.len();
        let smooth = if quadratic.is_empty() {
            Term::new("linear").with("linear", linear)
        } else {
            let matrix = SparseMatrix::from_triplets(n, n, &quadratic)?;
            Term::new("quadratic").with("matrix", equipoise::Matrix::from(matrix)).with("linear", linear)
        };
        let mut file = ProblemFile::new(smooth);
        file.separable = Term::new("box").with("lower", lower).with("upper", upper);
        if !rhs.is_empty() {
            let matrix = SparseMatrix::from_triplets(rhs.len(), n, &entries)?;
            file.coupling =
                Term::new("rows").with("matrix", equipoise::Matrix::from(matrix)).with("rhs", rhs);
        }
        file.names = variables;
        file.is_negated = is_maximised;
        Ok(file)
    }
}
