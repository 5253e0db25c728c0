//! numpy's `.npy`: one array of numbers, by way of the crate `npyz`.
//!
//! `npyz` trusts its input: it allocates what the header's length claims and multiplies the
//! shape unchecked. So the header is looked over here first ([`check_header`]); `npyz` then
//! parses it and decodes the data.

use std::io;
use std::path::Path;

use equipoise::{Control, Matrix};
use npyz::{DType, NpyFile, Order, TypeChar, TypeRead, WriteOptions, WriterBuilder};

use super::assemble::from_column_major;
use super::{check_claim, from_row_major};
use crate::whole_file::write_whole;
use crate::{Error, Result};

const ALLOWED: &str = "one- or two-dimensional arrays of b1, i1 to i8, u1 to u8, f4 or f8";

/// Numbers decoded between two looks at the wish to stop.
const PIECE: usize = 1 << 16;

/// Reads a dense matrix; a one-dimensional array is one column.
pub(super) fn parse(bytes: &[u8], path: &Path, control: &Control) -> Result<Matrix<'static>> {
    let layout = Layout::of(bytes, bytes.len() as u64, path)?;
    let (rows, columns) = (layout.rows, layout.columns);
    let mut values = Vec::with_capacity(rows * columns);
    for piece in bytes[layout.start..].chunks(layout.width.max(1) * PIECE) {
        control.check()?;
        layout.decode(piece, &mut values, path)?;
    }
    if layout.by_rows {
        from_row_major(rows, columns, values, control)
    } else {
        from_column_major(rows, columns, values)
    }
}

/// What the header of a file says, checked against the size of the file.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// Whether the entries stand row after row; else column after column.
    pub(super) by_rows: bool,
    /// Where the data start.
    pub(super) start: usize,
    /// Bytes of an entry.
    pub(super) width: usize,
    kind: DType,
    read: fn(&DType, &[u8], &mut Vec<f64>) -> io::Result<()>,
}

impl Layout {
    /// From the beginning of a file, its header included, and the size of the file in bytes.
    pub(super) fn of(head: &[u8], size: u64, path: &Path) -> Result<Self> {
        let bad = |reason: String| Error::BadNpy { path: path.into(), reason };
        let start = check_header(head).map_err(|reason| bad(reason.into()))?;
        let file = NpyFile::new(&head[..start]).map_err(|error| bad(error.to_string()))?;
        let unsupported = |found| Error::Unsupported { path: path.into(), found, allowed: ALLOWED };
        let (rows, columns) = match *file.shape() {
            [length] => (length as usize, 1),
            [rows, columns] => (rows as usize, columns as usize),
            ref shape => return Err(unsupported(format!("an npy array of shape {shape:?}"))),
        };
        check_claim(path, rows, columns, size as usize)?;
        let kind = file.dtype();
        let DType::Plain(scalar) = &kind else {
            return Err(unsupported("an npy array of records".into()));
        };
        let width = scalar.size_field() as usize;
        let read = match (scalar.type_char(), width) {
            (TypeChar::Float, 8) => decode::<f64>,
            (TypeChar::Float, 4) => decode::<f32>,
            (TypeChar::Int, 8) => decode::<i64>,
            (TypeChar::Int, 4) => decode::<i32>,
            (TypeChar::Int, 2) => decode::<i16>,
            (TypeChar::Int, 1) => decode::<i8>,
            (TypeChar::Uint, 8) => decode::<u64>,
            (TypeChar::Uint, 4) => decode::<u32>,
            (TypeChar::Uint, 2) => decode::<u16>,
            (TypeChar::Uint, 1) => decode::<u8>,
            (TypeChar::Bool, 1) => decode::<bool>,
            _ => return Err(unsupported(format!("an npy array of type {scalar}"))),
        };
        let (found, expected) =
            ((size as usize).saturating_sub(start), (rows * columns).saturating_mul(width));
        if found != expected {
            return Err(Error::EntryCount { path: path.into(), unit: "bytes of data", found, expected });
        }
        let by_rows = file.order() == Order::C;
        Ok(Self { rows, columns, by_rows, start, width, kind, read })
    }

    /// Appends the numbers that these bytes hold.
    pub(super) fn decode(&self, bytes: &[u8], out: &mut Vec<f64>, path: &Path) -> Result<()> {
        (self.read)(&self.kind, bytes, out)
            .map_err(|error| Error::BadNpy { path: path.into(), reason: error.to_string() })
    }
}

/// Appends all values, read as one type and widened.
fn decode<T: npyz::Deserialize + Number>(
    kind: &DType,
    mut bytes: &[u8],
    out: &mut Vec<f64>,
) -> io::Result<()> {
    let reader = T::reader(kind).map_err(io::Error::other)?;
    while !bytes.is_empty() {
        out.push(reader.read_one(&mut bytes)?.widen());
    }
    Ok(())
}

/// A number of a file as `f64`; integers beyond 2^53 are rounded.
trait Number {
    fn widen(self) -> f64;
}

macro_rules! widen_by_cast {
    ($($kind:ty)*) => { $(impl Number for $kind {
        #[allow(clippy::cast_lossless, reason = "one body for wide and narrow types")]
        fn widen(self) -> f64 {
            self as f64
        }
    })* };
}
widen_by_cast!(f64 f32 i64 i32 i16 i8 u64 u32 u16 u8);

impl Number for bool {
    fn widen(self) -> f64 {
        f64::from(u8::from(self))
    }
}

/// Looks over the header before `npyz` does; returns where the data starts.
///
/// Refused are headers longer than the file, nested deeper than any array of numbers needs (the time of
/// `npyz` doubles with every bracket that is open), and integers (the shape's) whose product overflows.
fn check_header(bytes: &[u8]) -> std::result::Result<usize, &'static str> {
    const TRUNCATED: &str = "the file ends within its header";
    /// Brackets of a header, and how many of them may be open at once.
    const MOST_BRACKETS: usize = 100;
    const MOST_OPEN: usize = 6;
    if !bytes.starts_with(b"\x93NUMPY") {
        return Err("the file does not start with \\x93NUMPY");
    }
    let (start, length) = match *bytes.get(6..).ok_or(TRUNCATED)? {
        [1, _, low, high, ..] => (10, usize::from(u16::from_le_bytes([low, high]))),
        [2 | 3, _, a, b, c, d, ..] => (12, u32::from_le_bytes([a, b, c, d]) as usize),
        [] | [1..=3, ..] => return Err(TRUNCATED),
        _ => return Err("unknown version of the format, allowed: 1 to 3"),
    };
    let end = start + length;
    let header = bytes.get(start..end).ok_or(TRUNCATED)?;
    let header = std::str::from_utf8(header).map_err(|_| "the header is not text")?;
    if header.contains(['\\', '"']) || header.contains("'''") {
        return Err("the header holds escapes or unusual quotes");
    }
    // Without escapes, every second piece between quotes lies outside of strings.
    let (mut brackets, mut depth, mut product) = (0, 0_usize, 1_u64);
    for piece in header.split('\'').step_by(2) {
        for letter in piece.chars() {
            match letter {
                '(' | '[' | '{' => (brackets, depth) = (brackets + 1, depth + 1),
                ')' | ']' | '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if brackets > MOST_BRACKETS || depth > MOST_OPEN {
                return Err("the header is nested too deeply");
            }
        }
        let words = piece.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        for word in words.filter(|word| word.starts_with(|letter: char| letter.is_ascii_digit())) {
            let factor: u64 = word.parse().map_err(|_| "the header holds an odd number")?;
            product = product.checked_mul(factor.max(1)).ok_or("the shape is too large")?;
        }
    }
    Ok(end)
}

/// Writes a vector as a one-dimensional array of `f8`.
pub fn write_vector_npy(path: impl AsRef<Path>, vector: &[f64]) -> Result<()> {
    write(path.as_ref(), &[vector.len() as u64], vector.iter().copied())
}

/// Writes every entry of a matrix as a two-dimensional array of `f8`, in Fortran order.
pub fn write_matrix_npy(path: impl AsRef<Path>, matrix: &Matrix) -> Result<()> {
    let (rows, columns) = (matrix.rows(), matrix.columns());
    let shape = [rows as u64, columns as u64];
    match matrix {
        Matrix::Dense(dense) => write(path.as_ref(), &shape, dense.values().iter().copied()),
        Matrix::Sparse(_) => {
            let places = (0..columns).flat_map(|column| (0..rows).map(move |row| (row, column)));
            write(path.as_ref(), &shape, places.map(|(row, column)| matrix.entry(row, column)))
        }
    }
}

fn write(path: &Path, shape: &[u64], values: impl Iterator<Item = f64>) -> Result<()> {
    write_whole(path, |out| {
        let options = WriteOptions::new().default_dtype().shape(shape).order(Order::Fortran);
        let mut array = options.writer(out).begin_nd()?;
        array.extend(values)?;
        array.finish()
    })
}
