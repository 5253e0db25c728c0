//! Linear and quadratic programs in their usual exchange formats, MPS and QPS.
//!
//! ```text
//! minimise or maximise  1/2 x'Qx + c'x + c0   subject to   low_i <= a_i x <= high_i ,   lower <= x <= upper
//! ```
//!
//! - Given: a file, packed or not, in free or in fixed columns. Returns: a [`Program`], and of it, by
//!   [`Program::into_problem`], a problem in words.
//! - Must not know: how anything is solved, what makes a problem valid (convexity, lengths).
//!
//! | section | holds |
//! |---|---|
//! | `OBJSENSE` | `MIN` or `MAX` |
//! | `ROWS` | `N` (the first is the objective, further ones are passed over), `E`, `L`, `G` |
//! | `COLUMNS` | column, row, value, and perhaps a second row and value |
//! | `RHS` | right-hand sides; that of the objective is `-c0` |
//! | `RANGES` | how wide a row is: `L` and `G` on their open side, `E` upwards or, if negative, downwards |
//! | `BOUNDS` | `LO`, `UP`, `FX`, `FR`, `MI`, `PL`; without any, x is at least 0; a negative `UP` alone takes that 0 away |
//! | `QUADOBJ`, `QSECTION` | Q, one entry for a mirrored pair |
//! | `QMATRIX` | Q, all entries |
//!
//! Bounds and ranges of 1e20 and more are infinite. Integer variables, cones and constraints that are not linear are refused. References: IBM, "Mathematical Programming System/360" (1967); Maros and Meszaros, "A repository of convex
//! quadratic programming problems" (1999).

mod fields;
mod program;
mod sections;

use std::path::Path;

use equipoise::Control;

pub use program::{Program, ProgramRow};

use crate::numbers::{extension, read_bytes, text};
use crate::{Error, Result};

/// The endings of such files, and the packed ones that may follow.
const ENDINGS: [&str; 2] = ["mps", "qps"];
const PACKED: [&str; 4] = ["gz", "bz2", "xz", "zst"];

/// Whether the name of a file says that it holds a program.
pub fn is_program(path: &Path) -> bool {
    let ending = extension(path);
    if PACKED.contains(&ending.as_str()) {
        return path.file_stem().is_some_and(|stem| ENDINGS.contains(&extension(Path::new(stem)).as_str()));
    }
    ENDINGS.contains(&ending.as_str())
}

/// Whether a text without a name begins as a program does: with the word of a section, which no key of a table is.
pub fn is_program_text(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.starts_with('*') && !line.trim().is_empty());
    let mut words = lines.next().unwrap_or("").split_ascii_whitespace();
    let is_section = words.next().is_some_and(|word| ["NAME", "ROWS", "OBJSENSE"].contains(&word));
    is_section && !words.next().is_some_and(|word| word.starts_with('='))
}

/// Reads a program.
pub fn read_program(path: impl AsRef<Path>, control: &Control) -> Result<Program> {
    let path = path.as_ref();
    let bytes = crate::libsvm::unpacked(read_bytes(path, control)?, path, control)?;
    parse_program(text(&bytes, path)?, path, control)
}

/// The same from its text; `path` is for messages.
///
/// Fields between blanks are tried first; where they make no sense, the columns of a punched card, which allow blanks in names.
pub fn parse_program(text: &str, path: &Path, control: &Control) -> Result<Program> {
    match sections::parse(text, fields::Layout::Free, path, control) {
        Err(error) if !matches!(error, Error::Halted { .. } | Error::Unsupported { .. }) => {
            sections::parse(text, fields::Layout::Fixed, path, control).map_err(|_| error)
        }
        other => other,
    }
}
