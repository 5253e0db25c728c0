//! Everything that can be wrong with what the caller gave, with the evidence.
//!
//! An [`Error`] means that the input or the environment is at fault. Not converging is
//! no error: it is a status of the solution. Messages are lower-case, without a full stop,
//! and say what, where, what was found and what is allowed. Indices count from 0.

/// The caller's mistake, with the evidence that proves it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A NaN or an infinity where a finite number is needed.
    #[error("{input}: row {row}, column {column} is {found}; every entry must be finite")]
    NonFinite {
        /// Which input holds it.
        input: String,
        /// Its row, from 0.
        row: usize,
        /// Its column, from 0.
        column: usize,
        /// The value found.
        found: f64,
    },
    /// Two inputs disagree about a length.
    #[error("{input}: found {found} {unit}, expected {expected}")]
    ShapeMismatch {
        /// Which input has the wrong length.
        input: String,
        /// What is counted (`"rows"`, `"columns"`, `"entries"`).
        unit: &'static str,
        /// The count found.
        found: usize,
        /// The count that the rest of the problem implies.
        expected: usize,
    },
    /// No variables at all.
    #[error("the problem has no variables; at least one is needed")]
    EmptyProblem,
    /// A weight that must not be negative is.
    #[error("{input}: entry {index} is {found}; it must be at least 0")]
    NegativeWeight {
        /// Which input holds it.
        input: String,
        /// Its position, from 0.
        index: usize,
        /// The value found.
        found: f64,
    },
    /// A number outside its range.
    #[error("{input}: entry {index} is {found}; allowed: {allowed}")]
    OutOfRange {
        /// Which input holds it.
        input: String,
        /// Its position, from 0.
        index: usize,
        /// The value found.
        found: f64,
        /// What is allowed, in words.
        allowed: &'static str,
    },
    /// A lower bound above its upper bound.
    #[error("bounds of coordinate {index}: lower {lower} is above upper {upper}")]
    CrossedBounds {
        /// The coordinate, from 0.
        index: usize,
        /// Its lower bound.
        lower: f64,
        /// Its upper bound.
        upper: f64,
    },
    /// The matrix of a quadratic is not symmetric.
    #[error(
        "{input}: entry ({row}, {column}) is {found} but ({column}, {row}) is {mirrored}; the \
         matrix of a quadratic must be symmetric"
    )]
    NotSymmetric {
        /// Which input it is.
        input: String,
        /// Row of the entry, from 0.
        row: usize,
        /// Column of the entry, from 0.
        column: usize,
        /// The entry.
        found: f64,
        /// Its mirror image.
        mirrored: f64,
    },
    /// A quadratic with a negative eigenvalue.
    #[error(
        "{input}: not convex: it has an eigenvalue near {eigenvalue:.3e}; the smallest allowed is \
         {allowed:.3e}"
    )]
    NotConvex {
        /// Which input it is.
        input: String,
        /// The offending eigenvalue (or a Rayleigh quotient that proves one).
        eigenvalue: f64,
        /// The most negative value that still counts as zero.
        allowed: f64,
    },
    /// The rows of A contradict each other.
    #[error(
        "A x = b is inconsistent: row {row} is a combination of rows {rows:?}, which gives \
         {implied} on the right-hand side, but b[{row}] is {found}"
    )]
    InconsistentRows {
        /// The contradicting row, from 0.
        row: usize,
        /// The rows that it is a combination of.
        rows: Vec<usize>,
        /// The coefficients of that combination.
        coefficients: Vec<f64>,
        /// The right-hand side that the combination implies.
        implied: f64,
        /// The right-hand side found.
        found: f64,
    },
    /// No x in the domain of h satisfies A x = b.
    #[error(
        "no x within the bounds satisfies A x = b: with the row multipliers {witness:?} the rows \
         combine to at most {reachable} over the bounds, but the right-hand sides combine to {needed}"
    )]
    EmptyDomain {
        /// Multipliers y with sup over the domain of y'Ax below y'b.
        witness: Vec<f64>,
        /// That supremum.
        reachable: f64,
        /// y'b.
        needed: f64,
    },
    /// No feasible start was found, nor a proof that there is none.
    #[error(
        "no feasible start was found, nor a proof that there is none: the best point within the bounds misses a row of \
         A x = b by {missed:.3e} of that row's terms; allowed: {allowed:.3e}; give a start, or scale the rows"
    )]
    NoFeasibleStart {
        /// The largest share of its own terms that a row is missed by.
        missed: f64,
        /// The largest share allowed.
        allowed: f64,
    },
    /// The start given does not satisfy A x = b.
    #[error(
        "the start is not feasible: row {row} of A x - b is {found:.3e}; allowed: at most \
         {allowed:.3e} in size"
    )]
    InfeasibleStart {
        /// The worst row, from 0.
        row: usize,
        /// Its residual.
        found: f64,
        /// The largest residual allowed.
        allowed: f64,
    },
    /// The start given is outside the domain of h.
    #[error("the start is outside the domain: coordinate {index} is {found}; allowed: {lower} to {upper}")]
    StartOutsideDomain {
        /// The coordinate, from 0.
        index: usize,
        /// Its value.
        found: f64,
        /// Smallest value allowed.
        lower: f64,
        /// Largest value allowed.
        upper: f64,
    },
    /// The blocks do not partition the variables.
    #[error("blocks: {reason} (entry {index}, found {found}, {dimension} variables)")]
    InvalidBlocks {
        /// What is wrong, in words.
        reason: &'static str,
        /// Position in the list of sizes or boundaries.
        index: usize,
        /// The value found there.
        found: usize,
        /// Number of variables.
        dimension: usize,
    },
    /// Weights of a group norm by coordinate that differ within a block.
    #[error(
        "{input}: coordinates {first} and {second} lie in one block, but their weights are {found} and {other}; \
         give one weight a block"
    )]
    UnequalWeights {
        /// Which input holds them.
        input: String,
        /// A coordinate, from 0.
        first: usize,
        /// Another one of its block.
        second: usize,
        /// The weight of the one.
        found: f64,
        /// The weight of the other.
        other: f64,
    },
    /// Too few nodes for a topology.
    #[error("graph: {topology} needs at least {minimum} nodes; found {found}")]
    GraphTooSmall {
        /// Name of the topology.
        topology: &'static str,
        /// The number of nodes found.
        found: usize,
        /// The smallest number that works.
        minimum: usize,
    },
    /// A parameter of a topology outside its range.
    #[error("graph: {topology}: {name} is {found}; allowed: {allowed}")]
    GraphParameter {
        /// Name of the topology.
        topology: &'static str,
        /// The parameter.
        name: &'static str,
        /// The value found.
        found: f64,
        /// What is allowed, in words.
        allowed: &'static str,
    },
    /// An edge list that does not describe a graph on the blocks.
    #[error("graph: edge {edge} joins nodes {first} and {second}: {reason}")]
    InvalidEdge {
        /// Position of the edge in the list, from 0.
        edge: usize,
        /// One end.
        first: usize,
        /// The other end.
        second: usize,
        /// What is wrong, in words.
        reason: &'static str,
    },
    /// Nodes that no path joins.
    #[error(
        "graph: disconnected: no path joins node {from} to node {to} ({unreached} of {nodes} nodes \
         cannot be reached); add an edge between the two parts, or use method auto, which moves all blocks as well"
    )]
    GraphDisconnected {
        /// A node of the one part.
        from: usize,
        /// A node of the other.
        to: usize,
        /// How many nodes `from` cannot reach.
        unreached: usize,
        /// How many nodes there are.
        nodes: usize,
    },
    /// The pairs of the graph do not span the feasible directions.
    #[error(
        "graph: its pairs cannot reach the optimum: they span {spanned} of {needed} feasible \
         directions; the blocks {nodes:?} cannot move as they should; use larger blocks or more edges, or method auto, \
         which moves all blocks as well"
    )]
    GraphCannotMove {
        /// Blocks on which a feasible direction lives that no pair can make.
        nodes: Vec<usize>,
        /// Dimension that the pairs span.
        spanned: usize,
        /// Dimension of the kernel of A.
        needed: usize,
    },
    /// A setting outside its range.
    #[error("setting {name} is {found}; allowed: {allowed}")]
    InvalidSetting {
        /// Its name.
        name: &'static str,
        /// The value found.
        found: f64,
        /// What is allowed, in words.
        allowed: &'static str,
    },
    /// A method that does not fit the problem.
    #[error("method {method}: {why}; use method auto")]
    MethodNotApplicable {
        /// Its name.
        method: &'static str,
        /// What stands against it, in words.
        why: &'static str,
    },
    /// A request that would need more memory than allowed.
    #[error("{what} would need {needed} bytes; the most allowed is {allowed} bytes")]
    TooMuchMemory {
        /// What would need it.
        what: String,
        /// Bytes needed.
        needed: usize,
        /// Bytes allowed.
        allowed: usize,
    },
    /// The objective falls without end.
    #[error(
        "the problem is unbounded below: along coordinates {coordinates:?} the objective falls for \
         ever; add bounds or a penalty"
    )]
    Unbounded {
        /// Coordinates that take part in the direction (at most ten are named).
        coordinates: Vec<usize>,
    },
    /// A term returned a value that is no number.
    #[error("{what} became {found} after {updates} updates; check the scale of the data or the term's code")]
    NonFiniteIterate {
        /// What became non-finite.
        what: &'static str,
        /// The value.
        found: f64,
        /// How many updates had been made.
        updates: u64,
    },
    /// A sample that cannot be used, found before the run.
    #[error("sample {row}: {reason}")]
    UnusableSample {
        /// Its number, from 0.
        row: usize,
        /// What is wrong with it, with what was found.
        reason: String,
    },
    /// A sample that could be used before, and can no longer.
    #[error("sample {row}: {reason}; the iterate after {updates} updates is kept")]
    BadSample {
        /// Its number, from 0.
        row: usize,
        /// What is wrong with it, with what was found.
        reason: String,
        /// The last feasible iterate.
        iterate: Vec<f64>,
        /// How many updates had been made.
        updates: u64,
    },
    /// A wish to stop, or the time limit, came before there was anything to return: before all samples of a file had been
    /// read and a start certified, or before the resistances of a graph were known.
    #[error("stopped ({by}) before there was anything to return; allow more time")]
    StoppedEarly {
        /// What ended it: the name of a status.
        by: &'static str,
    },
    /// A snapshot that is damaged, or of another problem or other settings.
    #[error("the snapshot does not fit this run: {what}; begin again without it")]
    BadSnapshot {
        /// What does not fit.
        what: &'static str,
    },
    /// A thread that worked on the run panicked.
    #[error("a worker thread panicked: {message}; this is a fault in a term's code or in equipoise itself")]
    WorkerPanicked {
        /// What the panic said.
        message: String,
    },
    /// The system did not give a thread that was asked for.
    #[error("thread {number} of {wanted} could not be started: {reason}; ask for fewer threads")]
    NoThread {
        /// Which one, from 1.
        number: usize,
        /// How many were wanted.
        wanted: usize,
        /// What the system said.
        reason: String,
    },
    /// Ranks that work on one problem cannot go on together.
    #[error("rank {rank}: {what}")]
    Rank {
        /// The rank that is at fault, or differs from rank 0.
        rank: usize,
        /// What is wrong with it.
        what: String,
    },
    /// The combination asked for is not supported.
    #[error("{what} cannot be combined with {with}: {advice}")]
    Unsupported {
        /// The one part.
        what: &'static str,
        /// The other.
        with: &'static str,
        /// What to do instead.
        advice: &'static str,
    },
}

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// A sample that cannot be used: not a finite number, not there, not readable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("sample {row}: {reason}")]
pub struct SampleFault {
    /// Its number, from 0.
    pub row: usize,
    /// What is wrong with it, with what was found.
    pub reason: String,
}
