//! `||D b||_1`: which differences of the coefficients are penalised.
//!
//! ```text
//! chain    (D b)_r = b_{r+1} - b_r
//! trend1   (D b)_r = b_r - 2 b_{r+1} + b_{r+2}                       bends
//! trend2   (D b)_r = -b_r + 3 b_{r+1} - 3 b_{r+2} + b_{r+3}          changes of bends
//! grid     differences of neighbours, along the rows of an image first, then along its columns
//! graph    (D b)_r = w_r (b_v - b_u) for every edge (u, v, w_r)
//! matrix   any sparse D
//! ```
//!
//! - Given: the penalty in the user's words and the number of coefficients.
//! - Returns: [`Differences`], D checked and row by row: products, transposed products, what they may be off by.
//! - Must not know: the data, lambda, how the problem is solved.

use equipoise::{Control, Pass, SparseMatrix};

use super::error::{Error, Result};

/// Rows between two looks at a control.
const ROWS_PER_LOOK: usize = 1 << 16;

/// Two nodes that should have similar coefficients, and how much that weighs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// One node, from 0.
    pub from: usize,
    /// The other node.
    pub to: usize,
    /// The factor of their difference.
    pub weight: f64,
}

/// Which differences are penalised.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Penalty {
    /// Neighbours on a chain: piecewise constant signals.
    #[default]
    Chain,
    /// Bends of a chain: piecewise linear signals.
    Trend1,
    /// Changes of bends: piecewise quadratic signals.
    Trend2,
    /// Neighbours in an image, whose coefficients come row by row.
    Grid {
        /// Rows of the image.
        rows: usize,
        /// Columns of the image.
        columns: usize,
    },
    /// Nodes of a graph.
    Graph(Vec<Edge>),
    /// Any D.
    Matrix(SparseMatrix<'static>),
}

impl Penalty {
    /// Its name in options and files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Chain => "chain",
            Self::Trend1 => "trend1",
            Self::Trend2 => "trend2",
            Self::Grid { .. } => "grid",
            Self::Graph(_) => "graph",
            Self::Matrix(_) => "matrix",
        }
    }

    /// How often neighbours are subtracted, where the coefficients form a chain.
    pub(super) fn chain_order(&self) -> Option<usize> {
        match self {
            Self::Chain => Some(1),
            Self::Trend1 => Some(2),
            Self::Trend2 => Some(3),
            _ => None,
        }
    }

    /// Whether every row is a difference of two coefficients.
    pub(super) fn is_graph(&self) -> bool {
        matches!(self, Self::Chain | Self::Grid { .. } | Self::Graph(_))
    }

    /// D for so many coefficients.
    pub(super) fn differences(&self, n: usize) -> Result<Differences> {
        if n == 0 {
            return Err(equipoise::Error::EmptyProblem.into());
        }
        let too_short = |least| Error::TooShort { penalty: self.name(), least, found: n };
        let kind = match self {
            Self::Chain => Kind::Chain,
            Self::Trend1 if n < 3 => return Err(too_short(3)),
            Self::Trend1 => Kind::Trend1,
            Self::Trend2 if n < 4 => return Err(too_short(4)),
            Self::Trend2 => Kind::Trend2,
            Self::Grid { rows, columns } => {
                let expected = rows.saturating_mul(*columns);
                if expected != n {
                    let (input, unit) = ("grid".into(), "pixels");
                    return Err(equipoise::Error::ShapeMismatch { input, unit, found: n, expected }.into());
                }
                Kind::Grid { rows: *rows, columns: *columns }
            }
            Self::Graph(edges) => Kind::Listed(Listed::of_edges(edges, n)?),
            Self::Matrix(matrix) => {
                if matrix.columns() != n {
                    let (input, unit) = ("matrix D".into(), "columns");
                    let found = matrix.columns();
                    return Err(equipoise::Error::ShapeMismatch { input, unit, found, expected: n }.into());
                }
                Kind::Listed(Listed::of_matrix(matrix))
            }
        };
        Ok(Differences { n, kind })
    }
}

/// D, row by row.
#[derive(Debug, Clone)]
pub(super) struct Differences {
    n: usize,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Chain,
    Trend1,
    Trend2,
    Grid { rows: usize, columns: usize },
    Listed(Listed),
}

/// Rows with their entries listed.
#[derive(Debug, Clone)]
struct Listed {
    starts: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
    /// The most entries of a row, and of a column.
    most: (usize, usize),
}

impl Listed {
    fn of_edges(edges: &[Edge], n: usize) -> Result<Self> {
        let (mut columns, mut values) =
            (Vec::with_capacity(2 * edges.len()), Vec::with_capacity(2 * edges.len()));
        for (k, edge) in edges.iter().enumerate() {
            if let Some(node) = [edge.from, edge.to].into_iter().find(|node| *node >= n) {
                return Err(Error::NoSuchNode { edge: k, node, last: n - 1 });
            }
            if edge.from == edge.to {
                return Err(Error::Loop { edge: k, node: edge.from });
            }
            if !(edge.weight > 0.0 && edge.weight.is_finite()) {
                return Err(Error::EdgeWeight { edge: k, found: edge.weight });
            }
            columns.extend([edge.from, edge.to]);
            values.extend([-edge.weight, edge.weight]);
        }
        let starts = (0..=edges.len()).map(|k| 2 * k).collect();
        Ok(Self::new(starts, columns, values, n))
    }

    fn of_matrix(matrix: &SparseMatrix) -> Self {
        let mut starts = vec![0; matrix.rows() + 1];
        for c in 0..matrix.columns() {
            matrix.column(c).for_each(|(r, _)| starts[r + 1] += 1);
        }
        (0..matrix.rows()).for_each(|r| starts[r + 1] += starts[r]);
        let stored = starts[matrix.rows()];
        let (mut columns, mut values, mut next) = (vec![0; stored], vec![0.0; stored], starts.clone());
        for c in 0..matrix.columns() {
            for (r, value) in matrix.column(c) {
                (columns[next[r]], values[next[r]]) = (c, value);
                next[r] += 1;
            }
        }
        Self::new(starts, columns, values, matrix.columns())
    }

    fn new(starts: Vec<usize>, columns: Vec<usize>, values: Vec<f64>, n: usize) -> Self {
        let mut of_column = vec![0; n];
        columns.iter().for_each(|c| of_column[*c] += 1);
        let in_row = starts.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
        let most = (in_row, of_column.into_iter().max().unwrap_or(0));
        Self { starts, columns, values, most }
    }
}

impl Differences {
    /// How many differences there are.
    pub(super) fn rows(&self) -> usize {
        match &self.kind {
            Kind::Chain => self.n - 1,
            Kind::Trend1 => self.n - 2,
            Kind::Trend2 => self.n - 3,
            Kind::Grid { rows, columns } => {
                rows * columns.saturating_sub(1) + rows.saturating_sub(1) * columns
            }
            Kind::Listed(listed) => listed.starts.len() - 1,
        }
    }

    /// How many coefficients there are.
    pub(super) fn columns(&self) -> usize {
        self.n
    }

    /// The most entries of a row, and of a column.
    pub(super) fn most_entries(&self) -> (usize, usize) {
        match &self.kind {
            Kind::Chain => (2, 2),
            Kind::Trend1 => (3, 3),
            Kind::Trend2 => (4, 4),
            Kind::Grid { .. } => (2, 4),
            Kind::Listed(listed) => listed.most,
        }
    }

    /// Every row: its number, its columns and their entries.
    #[inline]
    pub(super) fn for_each(&self, mut visit: impl FnMut(usize, &[usize], &[f64])) {
        match &self.kind {
            Kind::Chain => (0..self.rows()).for_each(|r| visit(r, &[r, r + 1], &[-1.0, 1.0])),
            Kind::Trend1 => {
                (0..self.rows()).for_each(|r| visit(r, &[r, r + 1, r + 2], &[1.0, -2.0, 1.0]));
            }
            Kind::Trend2 => {
                let row = [-1.0, 3.0, -3.0, 1.0];
                (0..self.rows()).for_each(|r| visit(r, &[r, r + 1, r + 2, r + 3], &row));
            }
            Kind::Grid { rows, columns } => {
                let mut number = 0;
                for start in (0..*rows).map(|r| r * columns) {
                    for c in start + 1..start + columns {
                        visit(number, &[c - 1, c], &[-1.0, 1.0]);
                        number += 1;
                    }
                }
                for c in 0..rows.saturating_sub(1) * columns {
                    visit(number + c, &[c, c + columns], &[-1.0, 1.0]);
                }
            }
            Kind::Listed(Listed { starts, columns, values, .. }) => {
                for (r, pair) in starts.windows(2).enumerate() {
                    visit(r, &columns[pair[0]..pair[1]], &values[pair[0]..pair[1]]);
                }
            }
        }
    }

    /// Every row in turn, as a pass that may be ended.
    pub(super) fn for_each_within(
        &self,
        control: &Control,
        mut visit: impl FnMut(usize, &[usize], &[f64]),
    ) -> Pass {
        let mut halt = None;
        self.for_each(|r, columns, values| {
            if r > 0 && r % ROWS_PER_LOOK == 0 && halt.is_none() {
                halt = control.halted();
            }
            if halt.is_none() {
                visit(r, columns, values);
            }
        });
        halt.map_or(Ok(()), Err)
    }

    /// `D b`.
    pub(super) fn apply(&self, b: &[f64]) -> Vec<f64> {
        let mut out = Vec::new();
        self.apply_to(b, &mut out);
        out
    }

    /// The same into memory that is used again.
    pub(super) fn apply_to(&self, b: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.reserve(self.rows());
        self.for_each(|_, columns, values| {
            out.push(columns.iter().zip(values).map(|(c, value)| value * b[*c]).sum());
        });
    }

    /// `out += t D'z`.
    pub(super) fn add_transposed(&self, t: f64, z: &[f64], out: &mut [f64]) {
        self.for_each(|r, columns, values| {
            columns.iter().zip(values).for_each(|(c, value)| out[*c] += t * value * z[r]);
        });
    }

    /// Which coefficients hang together: a number for each, from 0 in order of appearance, and how many there are. What comes from a
    /// shape is in one piece, which nobody has to walk.
    pub(super) fn all_components(&self, control: &Control) -> Pass<(Vec<usize>, usize)> {
        match self.kind {
            Kind::Chain | Kind::Trend1 | Kind::Trend2 | Kind::Grid { .. } => Ok((vec![0; self.n], 1)),
            Kind::Listed(_) => self.components_within(|_| true, control),
        }
    }

    /// The same by the rows for which `ties` holds.
    pub(super) fn components_within(
        &self,
        ties: impl Fn(usize) -> bool,
        control: &Control,
    ) -> Pass<(Vec<usize>, usize)> {
        let mut parent: Vec<usize> = (0..self.n).collect();
        self.for_each_within(control, |r, columns, _| {
            if ties(r) {
                join(&mut parent, columns);
            }
        })?;
        Ok(self.numbered(parent))
    }

    fn numbered(&self, mut parent: Vec<usize>) -> (Vec<usize>, usize) {
        let (mut number, mut count) = (vec![0; self.n], 0);
        for c in 0..self.n {
            let leader = root(&mut parent, c);
            number[c] = if leader == c { count } else { number[leader] };
            count += usize::from(leader == c);
        }
        (number, count)
    }
}

/// These hang together from now on.
fn join(parent: &mut [usize], columns: &[usize]) {
    for pair in columns.windows(2) {
        let (a, b) = (root(parent, pair[0]), root(parent, pair[1]));
        // The smaller one leads, so that numbers come in order of appearance.
        parent[a.max(b)] = a.min(b);
    }
}

/// The first of those that hang together.
fn root(parent: &mut [usize], mut c: usize) -> usize {
    while parent[c] != c {
        parent[c] = parent[parent[c]];
        c = parent[c];
    }
    c
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dense(penalty: &Penalty, n: usize) -> Vec<Vec<f64>> {
        let d = penalty.differences(n).expect("it works");
        let mut out = vec![vec![0.0; n]; d.rows()];
        d.for_each(|r, columns, values| columns.iter().zip(values).for_each(|(c, v)| out[r][*c] += v));
        out
    }

    #[test]
    fn every_penalty_by_hand() {
        assert_eq!(dense(&Penalty::Chain, 3), [[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]]);
        assert_eq!(dense(&Penalty::Chain, 1), Vec::<Vec<f64>>::new());
        assert_eq!(dense(&Penalty::Trend1, 3), [[1.0, -2.0, 1.0]]);
        assert_eq!(dense(&Penalty::Trend2, 4), [[-1.0, 3.0, -3.0, 1.0]]);
        let grid = dense(&Penalty::Grid { rows: 2, columns: 3 }, 6);
        let pairs: Vec<(usize, usize)> = grid
            .iter()
            .map(|row| {
                let find = |sought: f64| row.iter().position(|value| *value == sought).expect("it works");
                (find(-1.0), find(1.0))
            })
            .collect();
        assert_eq!(pairs, [(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)]);
        let edges = vec![Edge { from: 2, to: 0, weight: 2.0 }];
        assert_eq!(dense(&Penalty::Graph(edges), 3), [[2.0, 0.0, -2.0]]);
        let d =
            SparseMatrix::from_triplets(2, 3, &[(0, 0, 1.0), (0, 2, 5.0), (1, 1, -2.0)]).expect("it works");
        assert_eq!(dense(&Penalty::Matrix(d), 3), [[1.0, 0.0, 5.0], [0.0, -2.0, 0.0]]);
    }

    #[test]
    fn products_and_components() {
        let d = Penalty::Grid { rows: 2, columns: 2 }.differences(4).expect("it works");
        assert_eq!(d.apply(&[1.0, 2.0, 4.0, 8.0]), [1.0, 4.0, 3.0, 6.0]);
        let mut out = vec![0.0; 4];
        d.add_transposed(2.0, &[1.0, 10.0, 100.0, 1000.0], &mut out);
        assert_eq!(out, [-202.0, -1998.0, 180.0, 2020.0]);
        let control = Control::unlimited();
        let by = |ties: fn(usize) -> bool| d.components_within(ties, &control);
        assert_eq!(by(|r| r < 2), Ok((vec![0, 0, 1, 1], 2)));
        assert_eq!(by(|r| r == 3), Ok((vec![0, 1, 2, 1], 3)));
        for penalty in
            [Penalty::Chain, Penalty::Trend1, Penalty::Trend2, Penalty::Grid { rows: 2, columns: 3 }]
        {
            let d = penalty.differences(6).expect("it works");
            assert_eq!(d.all_components(&control), d.components_within(|_| true, &control));
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let edge = |from, to, weight| Penalty::Graph(vec![Edge { from, to, weight }]).differences(3);
        assert_eq!(edge(0, 3, 1.0).expect_err("refused"), Error::NoSuchNode { edge: 0, node: 3, last: 2 });
        assert_eq!(edge(1, 1, 1.0).expect_err("refused"), Error::Loop { edge: 0, node: 1 });
        assert_eq!(edge(0, 1, 0.0).expect_err("refused"), Error::EdgeWeight { edge: 0, found: 0.0 });
        let short = Penalty::Trend2.differences(3).expect_err("refused");
        assert_eq!(short, Error::TooShort { penalty: "trend2", least: 4, found: 3 });
        assert!(Penalty::Grid { rows: 2, columns: 2 }.differences(5).is_err());
        assert!(Penalty::Chain.differences(0).is_err());
    }
}
