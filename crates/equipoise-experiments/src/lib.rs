//! The experiments of the paper, and what our methods add: run, recorded, found again, judged and shown.
//!
//! ```text
//! a plan -> cells (experiment, settings, seed) -> records (CSV and JSON, written whole) -> claims with verdicts, a page
//! ```
//!
//! - Given: which experiments, at which scale, with which thread counts and how many seeds; a folder.
//! - Returns: records in that folder, a page with figures and the table of claims. A cell that is recorded already, by this
//!   version on this machine, is not run again, so a run that was ended goes on where it was.
//! - Must not know: the command line, how progress is shown.
//!
//! | file | what |
//! |---|---|
//! | `cell.rs`, `store.rs` | one run, and its record on disk: also those of the benchmarks in `equipoise-lab` |
//! | `experiments/` | which cells an experiment has, how one is run, what is shown of them and which claims they test |
//! | `capabilities.rs` | the claim that needs the runs of all experiments: Table 1 |
//! | `claims.rs` | a claim of the paper, the statistic that tests it, the verdict |
//! | `page.rs` | everything on one page |
//! | `cluster/` | ranks and nodes on machines that are not there, simulated |
//! | `optimum.rs`, `rate.rs`, `late.rs` | exact optimum, rate of pairs and late reads of the paper's problems |
//! | `recorded.rs` | runs on several threads that were recorded earlier |
//! | `pairs.rs` | one run of random pairs to a target, judged by raw data |
//! | `stats.rs` | means and medians |

mod capabilities;
mod cell;
mod claims;
mod cluster;
mod experiments;
mod late;
mod optimum;
mod page;
mod pairs;
mod plan;
mod rate;
mod recorded;
mod run;
pub mod stats;
mod store;

pub use cell::{Cell, Outcome, Record};
pub use claims::Claim;
pub use experiments::Experiment;
pub use optimum::synthetic_optimum;
pub use page::page;
pub use pairs::PairRun;
pub use plan::{Plan, Scale};
pub use recorded::{Recorded, claims_of, recorded};
pub use run::{Ended, Summary, Watcher, run};
pub use store::{Store, machine};
