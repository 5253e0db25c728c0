//! `(X'X + K'S K) v = r`: the systems of the interior method, S diagonal and positive.
//!
//! K is D with, where the coefficients themselves are penalised too, the identity below it. Three ways, by the pattern of
//! `X'X + K'K`:
//!
//! ```text
//! banded   entries near the diagonal alone (chains, trends): linear time
//! sparse   few entries: Cholesky's factorisation with a fill-reducing order, its pattern found once
//! dense    X dense
//! ```
//!
//! faer's factorisations cannot be told to stop: long ones are done aside (`aside.rs`).
//!
//! Must not know: what S means, bounds.

use equipoise::{Control, Matrix, Pass};
use faer::linalg::solvers::Solve;
use faer::sparse::linalg::solvers::{Llt as SparseLlt, SymbolicLlt};
use faer::sparse::{SparseColMat, Triplet};
use faer::{Mat, Side};

use super::aside::aside;
use super::band;
use super::design::{Design, for_each_in_column};
use super::error::{Error, Result};
use super::penalty::Differences;

/// The largest order of a dense system: two of them take 4 GB.
const LARGEST_DENSE: usize = 16_000;

/// Row, column, value.
type Entry = (usize, usize, f64);

/// A system with a fixed pattern.
#[derive(Debug)]
pub(super) struct System {
    n: usize,
    /// Whether the identity is below D.
    has_identity: bool,
    shape: Shape,
}

#[derive(Debug)]
enum Shape {
    Banded {
        base: Vec<f64>,
        width: usize,
        factor: Vec<f64>,
    },
    Sparse {
        matrix: SparseColMat<usize, f64>,
        base: Vec<f64>,
        places: Places,
        symbolic: SymbolicLlt<usize>,
        factor: Option<SparseLlt<usize, f64>>,
    },
    Dense {
        base: Mat<f64>,
        factor: Option<faer::linalg::solvers::Llt<f64>>,
    },
}

/// Where the products of a row's entries go, in the order in which they are visited; and the diagonal.
#[derive(Debug)]
struct Places {
    of_rows: Vec<usize>,
    diagonal: Vec<usize>,
}

impl System {
    pub(super) fn new(
        design: Design<'_>,
        d: &Differences,
        has_identity: bool,
        control: &Control,
    ) -> Result<Self> {
        let n = d.columns();
        let (gram, is_dense) = gram(design, n, control)?;
        if is_dense {
            return Self::dense(design, n, has_identity, control);
        }
        let mut width = 0;
        gram.iter().for_each(|(r, c, _)| width = width.max(r.abs_diff(*c)));
        d.for_each(|_, columns, _| {
            if let (Some(least), Some(most)) = (columns.iter().min(), columns.iter().max()) {
                width = width.max(most - least);
            }
        });
        if width <= band::WIDEST {
            let mut base = vec![0.0; n * (width + 1)];
            gram.iter().for_each(|(r, c, value)| base[r * (width + 1) + (r - c)] += value);
            let factor = base.clone();
            return Ok(Self { n, has_identity, shape: Shape::Banded { base, width, factor } });
        }
        let shape = sparse(n, &gram, d, control)?;
        Ok(Self { n, has_identity, shape })
    }

    fn dense(design: Design<'_>, n: usize, has_identity: bool, control: &Control) -> Result<Self> {
        if n > LARGEST_DENSE {
            let reason = "a dense design of more than 16000 columns with this penalty; use fewer columns or penalty chain";
            return Err(Error::Method { method: "interior", reason });
        }
        let mut base = Mat::<f64>::zeros(n, n);
        if let Design::Matrix(Matrix::Dense(x)) = design {
            // By stripes, so that it can be ended.
            const STRIPE: usize = 64;
            let x = faer::MatRef::from_column_major_slice(x.values(), x.rows(), n);
            for first in (0..n).step_by(STRIPE) {
                control.check()?;
                let columns = x.subcols(first, STRIPE.min(n - first));
                let stripe = x.transpose() * columns;
                base.as_mut().subcols_mut(first, stripe.ncols()).copy_from(&stripe);
            }
        } else if let Design::Matrix(x) = design {
            let mut column = vec![0.0; x.rows()];
            for c in 0..n {
                column.fill(0.0);
                for_each_in_column(x, c, |r, value| column[r] = value);
                (0..n).for_each(|k| base[(k, c)] = x.column_dot(k, &column));
                control.check()?;
            }
        }
        Ok(Self { n, has_identity, shape: Shape::Dense { base, factor: None } })
    }

    /// Factorises with this S: one number a row of D, then one a coefficient where the identity is below it. False where
    /// the matrix is not positive definite to rounding.
    pub(super) fn factorise(&mut self, d: &Differences, s: &[f64], control: &Control) -> Pass<bool> {
        let n = self.n;
        let own = |c: usize| if self.has_identity { s[d.rows() + c] } else { 0.0 };
        match &mut self.shape {
            Shape::Banded { base, width, factor } => {
                let stride = *width + 1;
                factor.copy_from_slice(base);
                d.for_each(|r, columns, values| {
                    for (i, c) in columns.iter().enumerate() {
                        for (k, value) in columns.iter().zip(values).take(i + 1) {
                            let (high, low) = (c.max(k), c.min(k));
                            factor[high * stride + high - low] += s[r] * values[i] * value;
                        }
                    }
                });
                (0..n).for_each(|c| factor[c * stride] += own(c));
                Ok(band::factorise(factor, *width))
            }
            Shape::Sparse { matrix, base, places, symbolic, factor } => {
                let values = matrix.val_mut();
                values.copy_from_slice(base);
                let mut next = places.of_rows.iter();
                d.for_each(|r, columns, entries| {
                    for i in 0..columns.len() {
                        for k in 0..=i {
                            let place = next.next().expect("one place a pair of entries");
                            values[*place] += s[r] * entries[i] * entries[k];
                        }
                    }
                });
                for (c, place) in places.diagonal.iter().enumerate() {
                    values[*place] += own(c);
                }
                let (matrix, symbolic) = (matrix.clone(), symbolic.clone());
                let work =
                    move || SparseLlt::try_new_with_symbolic(symbolic, matrix.as_ref(), Side::Lower).ok();
                *factor = aside(n, control, work)?;
                Ok(factor.is_some())
            }
            Shape::Dense { base, factor } => {
                let mut matrix = base.clone();
                d.for_each(|r, columns, values| {
                    for (c, value) in columns.iter().zip(values) {
                        for (k, other) in columns.iter().zip(values) {
                            matrix[(*c, *k)] += s[r] * value * other;
                        }
                    }
                });
                (0..n).for_each(|c| matrix[(c, c)] += own(c));
                *factor = aside(n, control, move || matrix.llt(Side::Lower).ok())?;
                Ok(factor.is_some())
            }
        }
    }

    /// Solves with the last factors.
    pub(super) fn solve(&self, r: &mut [f64]) {
        let in_place = |r: &mut [f64], solve: &dyn Fn(faer::MatMut<'_, f64>)| {
            let n = r.len();
            solve(faer::MatMut::from_column_major_slice_mut(r, n, 1));
        };
        match &self.shape {
            Shape::Banded { width, factor, .. } => band::solve(factor, *width, r),
            Shape::Sparse { factor: Some(factor), .. } => in_place(r, &|r| factor.solve_in_place(r)),
            Shape::Dense { factor: Some(factor), .. } => in_place(r, &|r| factor.solve_in_place(r)),
            _ => {}
        }
    }
}

/// The lower triangle of `X'X` as entries; or that it is not worth listing them.
fn gram(design: Design<'_>, n: usize, control: &Control) -> Result<(Vec<Entry>, bool)> {
    /// Entries a coefficient from which a dense factorisation is the better one.
    const MANY: usize = 64;
    match design {
        Design::Identity => Ok(((0..n).map(|c| (c, c, 1.0)).collect(), false)),
        Design::Observed { indices, .. } => Ok((indices.iter().map(|c| (*c, *c, 1.0)).collect(), false)),
        Design::Matrix(Matrix::Dense(_)) => Ok((Vec::new(), true)),
        Design::Matrix(Matrix::Sparse(x)) => {
            let mut by_row: Vec<Vec<(usize, f64)>> = vec![Vec::new(); x.rows()];
            for c in 0..n {
                x.column(c).for_each(|(r, value)| by_row[r].push((c, value)));
            }
            let pairs: usize = by_row.iter().map(|row| row.len() * row.len()).sum();
            if pairs > MANY * n && n <= LARGEST_DENSE {
                return Ok((Vec::new(), true));
            }
            let mut entries = Vec::with_capacity(pairs / 2 + n);
            for row in &by_row {
                for (i, (c, value)) in row.iter().enumerate() {
                    entries.extend(row[..=i].iter().map(|(k, other)| (*c, *k, value * other)));
                }
                control.check()?;
            }
            Ok((entries, false))
        }
    }
}

fn sparse(n: usize, gram: &[Entry], d: &Differences, control: &Control) -> Result<Shape> {
    let mut triplets: Vec<Triplet<usize, usize, f64>> =
        gram.iter().map(|(r, c, value)| Triplet::new(*r, *c, *value)).collect();
    triplets.extend((0..n).map(|c| Triplet::new(c, c, 0.0)));
    d.for_each(|_, columns, _| {
        for (i, c) in columns.iter().enumerate() {
            triplets.extend(columns[..=i].iter().map(|k| Triplet::new(*c.max(k), *c.min(k), 0.0)));
        }
    });
    let made = aside(n, control, move || {
        let matrix = SparseColMat::<usize, f64>::try_new_from_triplets(n, n, &triplets).ok()?;
        let symbolic = SymbolicLlt::try_new(matrix.symbolic(), Side::Lower).ok()?;
        Some((matrix, symbolic))
    })?;
    let too_large = Error::Method { method: "interior", reason: "the system does not fit into memory" };
    let (matrix, symbolic) = made.ok_or(too_large)?;
    let (starts, rows) = (matrix.symbolic().col_ptr().to_vec(), matrix.symbolic().row_idx().to_vec());
    let place = |r: usize, c: usize| {
        let column = &rows[starts[c]..starts[c + 1]];
        starts[c] + column.binary_search(&r).expect("the pattern holds every pair of entries")
    };
    let mut of_rows = Vec::new();
    d.for_each(|_, columns, _| {
        for (i, c) in columns.iter().enumerate() {
            of_rows.extend(columns[..=i].iter().map(|k| place(*c.max(k), *c.min(k))));
        }
    });
    let places = Places { of_rows, diagonal: (0..n).map(|c| place(c, c)).collect() };
    let base = matrix.val().to_vec();
    Ok(Shape::Sparse { matrix, base, places, symbolic, factor: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fused::penalty::Penalty;
    use equipoise::SparseMatrix;

    /// `(X'X + K'S K) v` with everything written out.
    fn times(x: Option<&Matrix>, d: &Differences, s: &[f64], has_identity: bool, v: &[f64]) -> Vec<f64> {
        let mut out = match x {
            None => v.to_vec(),
            Some(x) => {
                let (mut product, mut out) = (vec![0.0; x.rows()], vec![0.0; v.len()]);
                x.multiply(v, &mut product);
                x.add_transposed(&product, &mut out);
                out
            }
        };
        let scaled: Vec<f64> = d.apply(v).iter().zip(s).map(|(difference, s)| s * difference).collect();
        d.add_transposed(1.0, &scaled, &mut out);
        if has_identity {
            (0..v.len()).for_each(|c| out[c] += s[d.rows() + c] * v[c]);
        }
        out
    }

    #[test]
    fn every_shape_solves_its_system() {
        let n = 24;
        let full = Matrix::from_rows(
            &(0..10)
                .map(|r| (0..n).map(|c| f64::from((r * 7 + c * 5) % 11) - 5.0).collect())
                .collect::<Vec<Vec<f64>>>(),
        )
        .expect("it works");
        let few: Vec<_> = (0..n as usize).map(|c| (c, (c * 7) % n as usize, 1.0 + c as f64)).collect();
        let few: Matrix = SparseMatrix::from_triplets(n as usize, n as usize, &few).expect("it works").into();
        let n = n as usize;
        for penalty in
            [Penalty::Chain, Penalty::Trend1, Penalty::Trend2, Penalty::Grid { rows: 2, columns: 12 }]
        {
            let d = penalty.differences(n).expect("it works");
            for x in [None, Some(&full), Some(&few)] {
                for has_identity in [false, true] {
                    let design = x.map_or(Design::Identity, Design::Matrix);
                    let control = Control::unlimited();
                    let mut system = System::new(design, &d, has_identity, &control).expect("it works");
                    let s: Vec<f64> = (0..d.rows() + n).map(|k| 0.5 + (k % 5) as f64).collect();
                    assert!(system.factorise(&d, &s, &control).expect("it works"));
                    let v: Vec<f64> = (0..n).map(|c| (c as f64).sin()).collect();
                    let mut found = times(x, &d, &s, has_identity, &v);
                    system.solve(&mut found);
                    let off = v.iter().zip(&found).map(|(v, found)| (v - found).abs()).fold(0.0, f64::max);
                    assert!(off < 1e-9, "{} {off}", penalty.name());
                }
            }
        }
    }
}
