//! The exchange between two neighbours, in three steps, and who carries its messages.
//!
//! ```text
//! 1  node i  -> j   Request { sequence, x_i, how f_i bends where j does not know it }
//! 2  node j         delta from its own x_j as it is now;  lambda_j -= delta at once;  Reply { sequence, delta } -> i
//! 3  node i         lambda_i += delta, whatever happened to x_i in between
//! ```
//!
//! So `sum lambda + what is in flight = 0` at every moment, whatever is delayed, reordered or lost, and exactly so, because lambda is
//! in fixed point. A request without a reply is sent again, with its sequence; who has answered it answers with the
//! same delta and applies nothing twice. An edge has at most one open request in each direction. Replies never wait for
//! anything, so nobody waits for a stalled node but those who asked it.
//!
//! Waves along a spanning tree (`tree/`) go the same way: an order from the root to the leaves, sums from the leaves to the root.
//! A node hands on an order before it works, sums what its children say, and says the sum to its parent; an order without an
//! answer is sent again, with its number, and who has answered it says the same again.
//!
//! Nodes of several ranks exchange letters ([`Post`](equipoise::collective::Post)): the same messages, as numbers.
//!
//! - [`Transport`]: sends to a node, receives with a limit on the time; [`Channels`] within a process, [`Faulty`] with delay and loss.
//! - Must not know: what `f_i` is. `node.rs` asks its `Local` for x.

mod message;
mod network;
mod node;
mod peer;
mod ranks;
mod threads;
mod transport;
mod wire;

pub use message::{Message, Order};
#[cfg(test)]
pub(crate) use network::Network;
pub(crate) use network::run_in_turn;
pub(crate) use node::Node;
pub(crate) use peer::{Outbox, Peer};
pub(crate) use ranks::{Carrier, Share};
pub(crate) use threads::run_in_threads;
pub use transport::{Channels, Faults, Faulty, Stall, Transport};
