//! Files for equipoise: text and bytes in, plain data out, and back.
//!
//! equipoise solves `minimise f(x) + h(x) subject to A x = b`. This crate reads and writes what
//! such a problem is made of; it knows no solver, prints nothing, and depends on no other crate
//! of the workspace.
//!
//! | module | files |
//! |---|---|
//! | [`numbers`] | vectors and matrices: `.csv` (no header), `.mtx` (`MatrixMarket`), `.npy` |
//! | [`libsvm`] | rows of a label and `feature:value` pairs, plain or compressed |
//! | [`row_stream`] | the rows of an `.npy`, `.csv` or LIBSVM file, a batch at a time |
//! | [`problem_file`] | `PROBLEM.toml`: f, h, A and b, blocks, graph, limits |
//! | [`solution_file`] | the JSON object of `equipoise solve --json` and `--out` |
//! | [`svm_model`] | models of `equipoise svm train`, and those of LIBLINEAR |
//! | [`history`] | the CSV of `equipoise solve --history` |
//!
//! Every function returns [`Error`] on bad input, naming the file, the line (from 1) or the key,
//! what was found and what is allowed. Malformed input never panics, and never makes the reader
//! allocate in proportion to a number that a header merely claims. Infinities and NaN pass
//! through: bounds may be infinite, and whoever needs finite numbers checks for them.
//!
//! ```
//! use equipoise_formats::problem_file::{ProblemFile, SeparableSpec, SmoothSpec};
//!
//! let text = r#"
//!     [smooth]
//!     kind = "distance"
//!     target = [1.0, 2.0, 3.0]
//!
//!     [separable]
//!     kind = "non-negative"
//! "#;
//! let problem = ProblemFile::from_toml_str(text, "PROBLEM.toml")?;
//! assert_eq!(problem.separable, SeparableSpec::NonNegative);
//! assert!(matches!(problem.smooth, SmoothSpec::Distance { .. }));
//!
//! let typo = text.replace("target", "targt");
//! let error = ProblemFile::from_toml_str(&typo, "PROBLEM.toml").unwrap_err();
//! assert!(error.to_string().contains("did you mean `target`?"));
//! # Ok::<(), equipoise_formats::Error>(())
//! ```

mod error;
pub mod history;
pub mod libsvm;
pub mod numbers;
pub mod problem_file;
pub mod row_stream;
pub mod solution_file;
pub mod svm_model;

pub use error::{Error, Result};
pub use libsvm::LabelledRows;
pub use numbers::{MatrixData, read_matrix, read_vector};
pub use problem_file::{ProblemFile, write_problem};
pub use row_stream::RowStream;
pub use solution_file::{SolutionFile, StoredSolution, read_solution, write_iterate, write_solution};
pub use svm_model::SvmModel;
