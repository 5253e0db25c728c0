//! Files for equipoise: text and bytes in, the library's types out, and back.
//!
//! equipoise solves `minimise f(x) + h(x) subject to A x = b`. This crate reads and writes what
//! such a problem is made of, straight into the library's types; it starts no solver and prints nothing.
//! A problem in words becomes a checked one here, for the command line and whoever else has words.
//!
//! | module | files |
//! |---|---|
//! | [`numbers`] | vectors and matrices: `.csv` (no header), `.mtx` (`MatrixMarket`), `.npy` |
//! | [`libsvm`] | rows of a label and `feature:value` pairs, plain or compressed |
//! | [`row_stream`] | the rows of an `.npy`, `.csv` or LIBSVM file, a batch at a time |
//! | [`problem_file`] | `PROBLEM.toml`: f, h, A and b, blocks, graph, limits; and the problem it describes |
//! | [`solution_file`] | the JSON object of `equipoise solve --json` and `--out` |
//! | [`svm_model`] | models of `equipoise svm train`, and those of LIBLINEAR |
//! | [`table`] | named columns of numbers: CSV with a header, matrices |
//! | [`fit_file`] | the JSON object of a fitted model |
//! | [`mps`] | linear and quadratic programs: MPS and QPS |
//! | [`matpower`] | power systems: generators, their costs, demand |
//! | [`history`] | the CSV of `equipoise solve --history` |
//!
//! Every file that is written appears whole or not at all: [`whole_file`].
//!
//! Every function returns [`Error`] on bad input, naming the file, the line (from 1) or the key,
//! what was found and what is allowed. Malformed input never panics, and never makes the reader
//! allocate in proportion to a number that a header merely claims. Infinities and NaN pass
//! through: bounds may be infinite, and whoever needs finite numbers checks for them.
//!
//! ```
//! use std::path::Path;
//!
//! use equipoise::Control;
//! use equipoise_formats::problem_file::{Building, Pairs, ProblemFile};
//!
//! let text = r#"
//!     [smooth]
//!     kind = "distance"
//!     target = [1.0, 2.0, 3.0]
//!
//!     [separable]
//!     kind = "non-negative"
//! "#;
//! let file = ProblemFile::from_toml_str(text, "PROBLEM.toml")?;
//! assert_eq!((file.smooth.kind(), file.separable.kind()), ("distance", "non-negative"));
//! let control = Control::unlimited();
//! let problem = file.build(&Building::new(Path::new("PROBLEM.toml"), Pairs::Every, &control))?;
//! assert_eq!(problem.dimension(), 3);
//!
//! let typo = text.replace("target", "targt");
//! let error = ProblemFile::from_toml_str(&typo, "PROBLEM.toml").unwrap_err();
//! assert!(error.to_string().contains("did you mean `target`?"));
//! # Ok::<(), equipoise_formats::Error>(())
//! ```

pub mod checkpoint_file;
mod error;
pub mod fit_file;
pub mod history;
pub mod libsvm;
pub mod matpower;
pub mod mps;
pub mod numbers;
mod numeral;
pub mod problem_file;
pub mod row_stream;
mod samples;
pub mod solution_file;
mod standing;
pub mod suggest;
pub mod svm_model;
pub mod table;
pub mod whole_file;

pub use error::{Error, Reason, Result};
pub use libsvm::LabelledRows;
pub use numbers::{read_matrix, read_text, read_unpacked, read_vector};
pub use numeral::{numeral, with_short_numerals};
pub use problem_file::{ProblemFile, write_problem};
pub use row_stream::RowStream;
pub use samples::FileSamples;
pub use solution_file::{
    Claims, SolutionFile, StoredSolution, parse_solution, read_solution, write_iterate, write_solution,
};
pub use standing::{PointStanding, Standing};
pub use svm_model::ModelFile;
pub use whole_file::{check_writable, write_whole};
