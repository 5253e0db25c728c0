//! The calls of a training on other data, from those of one that was seen.
//!
//! ```text
//! length of a call     D (D + 1) / 2 + c   the lower triangle of a Newton system     D = columns + rows of A
//!                      k columns + c       products, k small                         else the same whatever the data
//! ```
//!
//! - Given: the calls of a training on data of so many columns, its passes over the rows. Returns: the calls of one with other
//!   columns and rows, as often.
//! - Must not know: machines, seconds.
//!
//! How often a call is made is taken over, and does depend on the data: what comes out is as good as that is.

use super::bulk::{Bulk, bytes_of_rank};
use super::noted::{Call, Kind};

/// Bytes of an entry of a row: a number and its column.
const ENTRY: f64 = 12.0;
/// How far a length may be from a multiple of the columns, and the largest multiple.
const NEAR: isize = 16;
const MULTIPLES: isize = 8;

/// How large data are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Size {
    pub(crate) rows: f64,
    pub(crate) columns: usize,
    /// Entries of a row.
    pub(crate) entries: f64,
}

/// How the length of a call goes with the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Shape {
    Same(usize),
    Multiple(isize, isize),
    /// Of the columns and so many more, and so many numbers behind it.
    Triangle(usize, usize),
}

impl Shape {
    fn of(length: usize, columns: usize) -> Self {
        for more in 0..=1 {
            let dimension = columns + more;
            if let Some(behind) = length.checked_sub(dimension * (dimension + 1) / 2)
                && behind <= 2
                && columns > 2
            {
                return Self::Triangle(more, behind);
            }
        }
        let (signed, columns) = (length.cast_signed(), columns.cast_signed());
        let multiple = (signed + columns / 2) / columns.max(1);
        let rest = signed - multiple * columns;
        if (1..=MULTIPLES).contains(&multiple) && rest.abs() <= NEAR.min(columns / 2 - 1) {
            return Self::Multiple(multiple, rest);
        }
        Self::Same(length)
    }

    fn length(self, columns: usize) -> usize {
        match self {
            Self::Same(length) => length,
            Self::Multiple(multiple, rest) => (multiple * columns.cast_signed() + rest).max(0) as usize,
            Self::Triangle(more, behind) => {
                let dimension = columns + more;
                dimension * (dimension + 1) / 2 + behind
            }
        }
    }
}

/// The calls of a training.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fit {
    /// Kind, length, how often.
    groups: Vec<(Kind, Shape, f64)>,
    /// Passes over all rows.
    passes: f64,
}

impl Fit {
    /// That of a training on so many columns, with so many passes.
    pub(crate) fn of(calls: &[Call], columns: usize, passes: f64) -> Self {
        let mut groups: Vec<(Kind, Shape, f64)> = Vec::new();
        for call in calls {
            let shape = Shape::of(call.length, columns);
            match groups.iter_mut().find(|group| (group.0, group.1) == (call.kind, shape)) {
                Some(group) => group.2 += 1.0,
                None => groups.push((call.kind, shape, 1.0)),
            }
        }
        Self { groups, passes }
    }

    /// Newton steps: systems that were factored.
    pub(crate) fn factored(&self) -> f64 {
        self.groups.iter().filter(|group| matches!(group.1, Shape::Triangle(..))).map(|group| group.2).sum()
    }

    /// How often sums of about the columns were made.
    pub(crate) fn products(&self) -> f64 {
        self.groups.iter().filter(|group| matches!(group.1, Shape::Multiple(..))).map(|group| group.2).sum()
    }

    /// Passes over all rows.
    pub(crate) fn passes(&self) -> f64 {
        self.passes
    }

    /// All calls.
    pub(crate) fn calls(&self) -> f64 {
        self.groups.iter().map(|group| group.2).sum()
    }

    /// Bytes that a rank sends.
    pub(crate) fn bytes_of_rank(&self, columns: usize, rank: usize, ranks: usize) -> f64 {
        let one = |(kind, shape, times): &(Kind, Shape, f64)| {
            times * bytes_of_rank(*kind, shape.length(columns), rank, ranks) as f64
        };
        self.groups.iter().map(one).sum()
    }

    /// The calls on data of this size on so many ranks, with the work between them: passes are spread evenly over the calls that
    /// carry products, what is added up is read and written three times, and the first rank factors.
    pub(crate) fn on(&self, size: Size, ranks: usize) -> Vec<Bulk> {
        let is_long = |shape: &Shape| !matches!(shape, Shape::Same(_));
        let long: f64 = self.groups.iter().filter(|group| is_long(&group.1)).map(|group| group.2).sum();
        let passes = self.passes * size.rows * size.entries * ENTRY / ranks as f64;
        let is_led = |kind: Kind, shape: &Shape| kind == Kind::Lead && is_long(shape);
        let led: f64 =
            self.groups.iter().filter(|group| is_led(group.0, &group.1)).map(|group| group.2).sum();
        // A factor may serve several directions.
        let factors = if led > 0.0 { self.factored() / led } else { 0.0 };
        let one = |&(kind, shape, times): &(Kind, Shape, f64)| {
            let length = shape.length(size.columns);
            let own = if is_long(&shape) { passes / long } else { 0.0 };
            let led = if is_led(kind, &shape) { factors * (size.columns as f64).powi(3) / 3.0 } else { 0.0 };
            Bulk { kind, length, times, read: own + 24.0 * length as f64, led }
        };
        self.groups.iter().map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_go_with_the_columns() {
        for (length, of_300, of_1000) in [
            (1, Shape::Same(1), 1),
            (2048, Shape::Same(2048), 2048),
            (305, Shape::Multiple(1, 5), 1005),
            (1500, Shape::Multiple(5, 0), 5000),
            (301 * 302 / 2 + 2, Shape::Triangle(1, 2), 1001 * 1002 / 2 + 2),
            (300 * 301 / 2, Shape::Triangle(0, 0), 1000 * 1001 / 2),
        ] {
            assert_eq!(Shape::of(length, 300), of_300);
            assert_eq!(of_300.length(1000), of_1000);
            assert_eq!(of_300.length(300), length);
        }
    }
}
