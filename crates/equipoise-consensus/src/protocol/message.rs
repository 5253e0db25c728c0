//! What neighbours say to each other.

use crate::curvature::Curvature;

/// A message of the protocol.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// Step 1: what the sender believes, and how its function bends where the receiver does not know it.
    Request {
        /// One more for every new request on this edge in this direction; from 1.
        sequence: u64,
        /// `x_i`.
        x: Vec<f64>,
        /// None where the receiver knows it.
        curvature: Option<Curvature>,
    },
    /// Step 2, seen by the one who asked: what is to be added to its lambda.
    Reply {
        /// That of the request.
        sequence: u64,
        /// In whole units of lambda.
        delta: Vec<f64>,
    },
}

impl Message {
    /// How many numbers travel beside the header.
    pub fn numbers(&self) -> usize {
        match self {
            Self::Request { x, curvature, .. } => x.len() + curvature.as_ref().map_or(0, Curvature::numbers),
            Self::Reply { delta, .. } => delta.len(),
        }
    }
}
