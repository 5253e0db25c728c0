//! A cluster that is not there: what ranks, and nodes of a network, would do on more machines than we have.
//!
//! ```text
//! a message of b bytes takes  alpha + b / bandwidth  (+ delay, + retry where it is lost);  b bytes of memory take  gamma b
//! ```
//!
//! - Given: a [`Machine`]; the calls that ranks of a real training made ([`Noted`]), or a graph of nodes.
//! - Returns: bytes, exactly those that the same calls send; seconds, as far as the model goes, and what they went into.
//! - Must not know: how a training finds its numbers; of clocks only `here` does.
//!
//! | file | what |
//! |---|---|
//! | `machine.rs` | alpha, beta, gamma; stragglers, loss, delay |
//! | `noted.rs` | a world that writes down what is asked of it |
//! | `bulk.rs` | calls that all ranks make together: their messages, bytes and seconds |
//! | `clock.rs` | seconds that a thread had a processor |
//! | `here.rs` | this machine in the terms of the model, by trainings on other rows |
//! | `fit.rs` | the calls of a training on other data: more rows, more columns |
//! | `pairs.rs` | pairs of a graph that exchange what they have, each at its own pace |

mod bulk;
pub(crate) mod clock;
mod fit;
mod here;
mod machine;
mod noted;
mod pairs;

pub(crate) use bulk::{Bulk, Seconds, bytes_of_rank, seconds};
pub(crate) use fit::{Fit, Size};
pub(crate) use here::{Here, Seen};
pub(crate) use machine::Machine;
pub(crate) use noted::{Call, Kind, Noted};
pub(crate) use pairs::Exchange;
