//! What can be wrong with the shards, the model or the graph, with the evidence.
//!
//! Messages are those of [`equipoise::Error`] in style: lower-case, without a full stop; what, where, what was found and
//! what is allowed. Nodes and shards count from 0, as in graphs; rows from 1.

/// The caller's mistake, with the evidence that proves it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No shard at all.
    #[error("no shards: expected at least one")]
    NoShards,
    /// A shard without rows.
    #[error("shard {shard}: found no rows, expected at least one; leave the shard out, or give it some")]
    EmptyShard {
        /// The shard, from 0.
        shard: usize,
    },
    /// Shards that do not have the same columns.
    #[error(
        "shard {shard}: found {found} columns, expected {expected} as in shard 0; every shard must have the same columns"
    )]
    Width {
        /// The shard, from 0.
        shard: usize,
        /// Its columns.
        found: usize,
        /// Those of shard 0.
        expected: usize,
    },
    /// Data without a column.
    #[error("the shards have no columns; expected at least one")]
    NoColumns,
    /// A shard with more or fewer targets than rows.
    #[error("shard {shard}: found {found} targets, expected {expected}, one a row")]
    Targets {
        /// The shard, from 0.
        shard: usize,
        /// Its targets.
        found: usize,
        /// Its rows.
        expected: usize,
    },
    /// A target that is no number.
    #[error("shard {shard}: target {row}: found {found}, expected a finite number")]
    BadTarget {
        /// The shard, from 0.
        shard: usize,
        /// The row, from 1.
        row: usize,
        /// The target.
        found: f64,
    },
    /// A classification with other than two labels.
    #[error("{loss} needs labels of exactly two values over all shards; found {found}: {named}")]
    Labels {
        /// The loss.
        loss: &'static str,
        /// How many values there are.
        found: usize,
        /// The first of them.
        named: String,
    },
    /// More shards asked for than there are rows.
    #[error("{shards} shards of {rows} rows: expected at most one shard a row")]
    TooManyShards {
        /// Shards asked for.
        shards: usize,
        /// Rows there are.
        rows: usize,
    },
    /// A graph on another number of nodes.
    #[error("the graph has {found} nodes, expected {expected}, one a shard")]
    GraphSize {
        /// Its nodes.
        found: usize,
        /// The shards.
        expected: usize,
    },
    /// A graph in parts.
    #[error(
        "the graph is disconnected: no path joins node {from} to node {to} ({unreached} of {nodes} nodes cannot be reached); \
         add an edge between the two parts"
    )]
    Disconnected {
        /// A node of the one part.
        from: usize,
        /// A node of the other.
        to: usize,
        /// How many nodes `from` cannot reach.
        unreached: usize,
        /// How many nodes there are.
        nodes: usize,
    },
    /// A method that is not for this loss.
    #[error("method tree is for ridge, logistic and hinge; found {loss}: use method pairs")]
    NotAlongTree {
        /// The loss.
        loss: &'static str,
    },
    /// A method whose nodes wait for each other, where they are on several ranks.
    #[error("method tree is for one process, where no node waits for a machine; use method pairs")]
    NotOnRanks,
    /// A setting outside its range.
    #[error("{name}: found {found}, expected {expected}")]
    BadSetting {
        /// The setting.
        name: &'static str,
        /// What was found.
        found: f64,
        /// What is allowed.
        expected: &'static str,
    },
    /// A point of the wrong length, or with an entry that is no number.
    #[error("x: found {found}, expected {expected}")]
    Point {
        /// What was found.
        found: String,
        /// What is allowed.
        expected: String,
    },
    /// What the library says: a run that was ended before it began, ...
    #[error(transparent)]
    Equipoise(#[from] equipoise::Error),
}

impl From<equipoise::Halt> for Error {
    fn from(halt: equipoise::Halt) -> Self {
        Self::Equipoise(halt.into())
    }
}
