//! What can be wrong with the data or the choices of a fit, with the evidence.
//!
//! Messages are those of [`equipoise::Error`] in style: lower-case, without a full stop; what, where, what was found
//! and what is allowed.

/// The caller's mistake, with the evidence that proves it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A weight of the penalty that is not a positive number.
    #[error("{input} is {found}; allowed: a finite number above 0")]
    NotPositive {
        /// Which choice it is.
        input: &'static str,
        /// The value found.
        found: f64,
    },
    /// A weight of the l1 term that is below 0 or no number.
    #[error("{input} is {found}; allowed: a finite number of at least 0")]
    Negative {
        /// Which choice it is.
        input: &'static str,
        /// The value found.
        found: f64,
    },
    /// Fewer coefficients than one row of the penalty has entries.
    #[error("{penalty} needs at least {least} coefficients, found {found}")]
    TooShort {
        /// The penalty.
        penalty: &'static str,
        /// How many it needs.
        least: usize,
        /// How many there are.
        found: usize,
    },
    /// An edge to a node that is not there.
    #[error("edge {edge}: node {node} is not there; nodes are 0 to {last}")]
    NoSuchNode {
        /// The edge, from 0.
        edge: usize,
        /// The node named.
        node: usize,
        /// The last node that there is.
        last: usize,
    },
    /// An edge from a node to itself.
    #[error("edge {edge} leads from node {node} to itself; an edge needs two different nodes")]
    Loop {
        /// The edge, from 0.
        edge: usize,
        /// The node.
        node: usize,
    },
    /// An edge with a weight that is not a positive number.
    #[error("edge {edge}: its weight is {found}; allowed: a finite number above 0")]
    EdgeWeight {
        /// The edge, from 0.
        edge: usize,
        /// The weight found.
        found: f64,
    },
    /// Nothing says what some direction should be: neither the data nor the penalty sees it.
    #[error(
        "neither the data nor the penalty determines the coefficients: a direction that both of them ignore goes through \
         coefficient {coefficient}; observe it, tie it to others, or penalise it by itself"
    )]
    Undetermined {
        /// A coefficient on such a direction, from 0.
        coefficient: usize,
    },
    /// A method that cannot do what is asked of it.
    #[error("method {method} cannot do this: {reason}")]
    Method {
        /// The method.
        method: &'static str,
        /// What is missing.
        reason: &'static str,
    },
    /// What any problem may have wrong: lengths, numbers out of range, settings.
    #[error(transparent)]
    Equipoise(#[from] equipoise::Error),
}

impl From<equipoise::Halt> for Error {
    fn from(halt: equipoise::Halt) -> Self {
        Self::Equipoise(halt.into())
    }
}

/// Shorthand for results of this model.
pub type Result<T> = std::result::Result<T, Error>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_names_its_evidence() {
        let samples: [(Error, &[&str]); 9] = [
            (Error::NotPositive { input: "lambda", found: -1.5 }, &["lambda is -1.5", "above 0"]),
            (Error::Negative { input: "sparse", found: -2.5 }, &["sparse is -2.5", "at least 0"]),
            (Error::TooShort { penalty: "trend1", least: 3, found: 2 }, &["trend1", "at least 3", "found 2"]),
            (Error::NoSuchNode { edge: 4, node: 9, last: 7 }, &["edge 4", "node 9", "0 to 7"]),
            (Error::Loop { edge: 4, node: 9 }, &["edge 4", "node 9", "itself"]),
            (Error::EdgeWeight { edge: 4, found: -1.5 }, &["edge 4", "-1.5", "above 0"]),
            (Error::Undetermined { coefficient: 6 }, &["coefficient 6", "observe"]),
            (Error::Method { method: "chain", reason: "there is a design" }, &["chain", "there is a design"]),
            (Error::Equipoise(equipoise::Error::EmptyProblem), &["no variables"]),
        ];
        for (error, evidence) in samples {
            let message = error.to_string();
            assert!(!message.contains('\n') && !message.ends_with('.'), "{message:?}");
            assert!(!message.starts_with(char::is_uppercase), "{message:?}");
            for name in evidence {
                assert!(message.contains(name), "{message:?} does not name {name:?}");
            }
        }
    }
}
