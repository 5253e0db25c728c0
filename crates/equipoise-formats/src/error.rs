//! Everything that can be wrong with a file, with the evidence.
//!
//! Messages are lower-case, without a full stop, and say what, where, what was found and what is
//! allowed. Lines, fields and columns of text count from 1, as editors do.

use std::io;
use std::path::Path;

use equipoise::Halt;

mod words;

pub use words::Reason;
use words::{asked, hint, reading};

/// What every fallible function of this crate returns.
pub type Result<T> = std::result::Result<T, Error>;

/// A file that cannot be read or written, or that does not say what it should.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("cannot {action} {}{}: {reason}", path.display(), asked(asked_by.as_deref()))]
    Io {
        /// `"read"` or `"write"`.
        action: &'static str,
        /// The file.
        path: Box<Path>,
        /// The key of the problem file that named it, such as `` `matrix` in [smooth] of P.toml ``.
        asked_by: Option<String>,
        /// The kind of refusal.
        kind: io::ErrorKind,
        /// The system's words.
        reason: String,
    },
    /// A file that is no checkpoint, or not a whole one.
    #[error("{}: found {found}, expected a checkpoint; name another file, or remove it and begin again", path.display())]
    BadCheckpoint {
        /// The file.
        path: Box<Path>,
        /// What was found.
        found: String,
    },
    /// A file name that tells no format.
    #[error(
        "cannot tell the format of {}{}: expected a name ending in .csv, .mtx or .npy",
        path.display(), asked(asked_by.as_deref())
    )]
    UnknownExtension {
        /// The file.
        path: Box<Path>,
        /// The key of the problem file that named it.
        asked_by: Option<String>,
    },
    /// Bytes that are no text in a text file.
    #[error("{}: line {line}: found bytes that are not UTF-8, expected text", path.display())]
    NotText {
        /// The file.
        path: Box<Path>,
        /// The line, from 1.
        line: usize,
    },
    /// A field that is no number, such as a header.
    #[error("{}: line {line}, field {field}: found {found}, expected a number", path.display())]
    NotANumber {
        /// The file.
        path: Box<Path>,
        /// The line, from 1.
        line: usize,
        /// The field within the line, from 1.
        field: usize,
        /// The text found, in quotes, or `an empty field`.
        found: String,
    },
    /// A cell of a table that holds no finite number.
    #[error("{}: line {line}: row {row}, column `{column}`: found {found}, expected a finite number", path.display())]
    BadCell {
        /// The file.
        path: Box<Path>,
        /// The line, from 1; of a file without lines, the row.
        line: usize,
        /// The row below the header, from 1.
        row: usize,
        /// The name of the column.
        column: String,
        /// The text found, in quotes.
        found: String,
    },
    /// A cell of a table without a number, where none may be missing.
    #[error(
        "{}: line {line}: row {row}, column `{column}`: missing value (found {found}), expected a finite number; \
         fill it in, or remove the row or the column",
        path.display()
    )]
    MissingCell {
        /// The file.
        path: Box<Path>,
        /// The line, from 1; of a file without lines, the row.
        line: usize,
        /// The row below the header, from 1.
        row: usize,
        /// The name of the column.
        column: String,
        /// The text found, in quotes, or `an empty field`.
        found: String,
    },
    /// A column that a table does not have.
    #[error("{}: no column `{found}`{}; columns: {known}", path.display(), hint(suggestion.as_deref()))]
    UnknownColumn {
        /// The file.
        path: Box<Path>,
        /// The name found.
        found: String,
        /// The name most like it.
        suggestion: Option<Box<str>>,
        /// The first of the names there are.
        known: String,
    },
    /// Numbers or names that do not fit a table.
    #[error("{}: found {found}, expected {expected}", path.display())]
    TableShape {
        /// The file.
        path: Box<Path>,
        /// What is there.
        found: String,
        /// What is allowed.
        expected: String,
    },
    /// A row longer or shorter than those above it.
    #[error("{}: line {line}: found {found} fields, expected {expected} as in the rows above", path.display())]
    RaggedRow {
        /// The file.
        path: Box<Path>,
        /// The line, from 1.
        line: usize,
        /// Fields found.
        found: usize,
        /// Fields of the first row.
        expected: usize,
    },
    /// A file without a single number.
    #[error("{}: found no numbers, expected at least one", path.display())]
    NoNumbers {
        /// The file.
        path: Box<Path>,
    },
    /// A line that the format does not allow.
    #[error("{}: line {line}: found {found}, expected {expected}", path.display())]
    Malformed {
        /// The file.
        path: Box<Path>,
        /// The line, from 1.
        line: usize,
        /// What stands there.
        found: String,
        /// What the format asks for.
        expected: String,
    },
    /// An entry outside the matrix.
    #[error("{}: line {line}: {axis} {found} is outside the matrix, allowed: 1 to {allowed}", path.display())]
    IndexOutOfRange {
        /// The file.
        path: Box<Path>,
        /// The line, from 1.
        line: usize,
        /// `"row"` or `"column"`.
        axis: &'static str,
        /// The index found.
        found: usize,
        /// The largest index allowed.
        allowed: usize,
    },
    /// More or fewer entries than the header claims.
    #[error("{}: found {found} {unit}, but its header claims {expected}", path.display())]
    EntryCount {
        /// The file.
        path: Box<Path>,
        /// What is counted.
        unit: &'static str,
        /// The count found.
        found: usize,
        /// The count claimed.
        expected: usize,
    },
    /// A valid file of a sort that is not read here, such as complex numbers.
    #[error("{}: {found} is not supported, allowed: {allowed}", path.display())]
    Unsupported {
        /// The file.
        path: Box<Path>,
        /// What it holds.
        found: String,
        /// What is read.
        allowed: &'static str,
    },
    /// A header whose shape is out of all proportion to the file.
    #[error("{}: its header claims {rows} x {columns}, too large for a file of {bytes} bytes", path.display())]
    ClaimTooLarge {
        /// The file.
        path: Box<Path>,
        /// Rows claimed.
        rows: usize,
        /// Columns claimed.
        columns: usize,
        /// Size of the file.
        bytes: usize,
    },
    /// A header of an `.npy` file that cannot be understood.
    #[error("{}: not a readable npy file: {reason}", path.display())]
    BadNpy {
        /// The file.
        path: Box<Path>,
        /// What is wrong with it.
        reason: String,
    },
    /// A matrix where a vector is needed.
    #[error("{}: found a {rows} x {columns} matrix, expected a vector: one row or one column", path.display())]
    NotAVector {
        /// The file.
        path: Box<Path>,
        /// Rows found.
        rows: usize,
        /// Columns found.
        columns: usize,
    },
    /// Text that is not TOML.
    #[error("{}: line {line}, column {column}: {message}", path.display())]
    TomlSyntax {
        /// The file.
        path: Box<Path>,
        /// The line, from 1.
        line: usize,
        /// The character within the line, from 1.
        column: usize,
        /// The parser's words.
        message: String,
    },
    /// A table that a problem file does not have.
    #[error("{}: unknown table [{found}]{}; known: {}", path.display(), hint(suggestion.as_deref()), known.join(", "))]
    UnknownTable {
        /// The problem file.
        path: Box<Path>,
        /// The name found.
        found: String,
        /// The known name most like it.
        suggestion: Option<String>,
        /// All known names.
        known: Vec<String>,
    },
    /// A key that its table does not have.
    #[error(
        "{}: unknown key `{key}` in [{table}]{}; known: {}",
        path.display(), hint(suggestion.as_deref()), known.join(", ")
    )]
    UnknownKey {
        /// The problem file.
        path: Box<Path>,
        /// The table, such as `smooth` or `smooth.terms[0]`.
        table: String,
        /// The key found.
        key: String,
        /// The known key most like it.
        suggestion: Option<String>,
        /// All keys of this table, given its kind.
        known: Vec<String>,
    },
    /// A word for `kind` that does not exist.
    #[error(
        "{}: unknown kind \"{found}\" in [{table}]{}; known: {}",
        path.display(), hint(suggestion.as_deref()), known.join(", ")
    )]
    UnknownKind {
        /// The problem file.
        path: Box<Path>,
        /// The table.
        table: String,
        /// The kind found.
        found: String,
        /// The known kind most like it.
        suggestion: Option<String>,
        /// All kinds of this table.
        known: Vec<String>,
    },
    /// A required key that is not there.
    #[error("{}: missing key `{key}` in [{table}]", path.display())]
    MissingKey {
        /// The problem file.
        path: Box<Path>,
        /// The table.
        table: String,
        /// The key, or several joined by "or" where one of them is needed.
        key: String,
    },
    /// A required table that is not there.
    #[error("{}: missing table [{table}]", path.display())]
    MissingTable {
        /// The problem file.
        path: Box<Path>,
        /// The table.
        table: String,
    },
    /// A value of the wrong type or outside the allowed values.
    #[error("{}: `{key}` in [{table}]: found {found}, expected {expected}", path.display())]
    WrongType {
        /// The problem file.
        path: Box<Path>,
        /// The table.
        table: String,
        /// The key, with the position inside an array where that helps.
        key: String,
        /// What stands there.
        found: String,
        /// What is allowed.
        expected: String,
    },
    /// Two keys that exclude each other.
    #[error("{}: `{first}` and `{second}` in [{table}] exclude each other: give one of them", path.display())]
    ConflictingKeys {
        /// The problem file.
        path: Box<Path>,
        /// The table.
        table: String,
        /// One key.
        first: String,
        /// The other.
        second: String,
    },
    /// A solution file that is not the JSON it should be.
    #[error("{}: line {line}, column {column}: {message}", path.display())]
    Json {
        /// The file.
        path: Box<Path>,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The parser's words.
        message: String,
    },
    /// A field of a model file that does not say what it should.
    #[error("{}: `{field}`: found {found}, expected {expected}", path.display())]
    BadField {
        /// The file.
        path: Box<Path>,
        /// The field, with its index for a list, such as `bias[3]`.
        field: String,
        /// What stands there.
        found: String,
        /// What is allowed.
        expected: String,
    },
    /// A place in rows of labels and features that the format does not allow.
    #[error(
        "{}: line {line}, column {column}: found {found}, allowed: {allowed}; {advice}",
        path.display()
    )]
    BadRow {
        /// The file.
        path: Box<Path>,
        /// The line, from 1.
        line: usize,
        /// The byte within the line, from 1.
        column: usize,
        /// What stands there.
        found: String,
        /// What the format asks for.
        allowed: &'static str,
        /// What to do about it.
        advice: &'static str,
    },
    /// A NaN or an infinity where rows of finite numbers are read.
    #[error("{}: row {row}, column {column} is {found}; every entry must be finite", path.display())]
    NonFiniteEntry {
        /// The file.
        path: Box<Path>,
        /// The row, from 0.
        row: usize,
        /// The column, from 0.
        column: usize,
        /// The value.
        found: f64,
    },
    /// A file that is read again and again and is no longer what it was.
    #[error(
        "{}: row {row}: found {found}, expected {expected} as when the file was first read; leave it alone while \
         it is in use",
        path.display()
    )]
    Changed {
        /// The file.
        path: Box<Path>,
        /// The row, from 0.
        row: usize,
        /// What is there now.
        found: String,
        /// What was there.
        expected: String,
    },
    /// A file without a single row.
    #[error(
        "{}: found no rows, expected at least one such as `+1 3:0.5 7:1`; check that this is the right file",
        path.display()
    )]
    NoRows {
        /// The file.
        path: Box<Path>,
    },
    /// A line that does not end.
    #[error(
        "{}: line {line}: found more than {allowed} bytes without a line break, allowed: {allowed}; \
         check that this is the right file, with one row a line",
        path.display()
    )]
    LineTooLong {
        /// The file.
        path: Box<Path>,
        /// The line, from 1.
        line: usize,
        /// The longest line that is read, in bytes.
        allowed: usize,
    },
    /// Compressed data that cannot be unpacked.
    #[error(
        "cannot unpack {}: found {format} data that are damaged, cut short or of an unknown sort ({reason}), \
         allowed: whole .gz, .bz2 or .xz streams; fetch the file again, or unpack it first",
        path.display()
    )]
    Damaged {
        /// The file.
        path: Box<Path>,
        /// `"gzip"`, `"bzip2"` or `"xz"`.
        format: &'static str,
        /// The decoder's words.
        reason: String,
    },
    /// A list of features to be read that is not in order.
    #[error(
        "the features to read must ascend from 1: found {found} after {before} at position {position} \
         of the list; sort it and remove repetitions"
    )]
    FeatureOrder {
        /// Where, from 1.
        position: usize,
        /// The feature found.
        found: u32,
        /// The one before it, or 0.
        before: u32,
    },
    /// Reading was ended before it was done.
    #[error("{halt}{}", reading(path.as_deref()))]
    Halted {
        /// Why.
        halt: Halt,
        /// The file at hand.
        path: Option<Box<Path>>,
    },
    /// A text that names nothing known.
    #[error("{}: [{table}]: {words}", path.display())]
    UnknownName {
        /// The file.
        path: Box<Path>,
        /// The table.
        table: String,
        /// What was found and what is known, with a suggestion where there is one.
        words: String,
    },
    /// What the library says to a problem; see [`Error::Refused`] for where it stands.
    #[error(transparent)]
    Library(Box<equipoise::Error>),
    /// A problem that is well written but cannot be.
    #[error("{place}{reason}")]
    Refused {
        /// The file and the table, with a colon behind each.
        place: String,
        /// What the library, or this crate, has against it.
        reason: Reason,
    },
    /// A number that JSON cannot hold.
    #[error("cannot write `{field}` as JSON: found {found}, expected a finite number")]
    NonFinite {
        /// The field, with its index for a list, such as `x[3]`.
        field: String,
        /// The value.
        found: f64,
    },
}

// Results are returned by value everywhere; clippy draws the line at 128 bytes.
const _: () = assert!(size_of::<Error>() < 128);
