//! What neighbours say to each other.

use super::wire::HEAD;
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
    /// From parent to child: what every node of the subtree is to do.
    Down {
        /// One more for every wave; from 1.
        wave: u64,
        /// What is to be done.
        order: Order,
        /// What for.
        numbers: Vec<f64>,
    },
    /// From child to parent: what the subtree answers, summed. Nothing where work is being ended.
    Up {
        /// That of the order.
        wave: u64,
        /// The sums.
        numbers: Vec<f64>,
    },
}

/// What a wave along a tree is for. d is the number of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Nothing down; up: what each believes alone.
    Believe,
    /// Down: x; up: the gradient of `f_i` there, and its value.
    Evaluate,
    /// Down: what is left of the gradient, the precision of local solves, x where it is not the last; up: the lambda that
    /// the subtree does not keep.
    Keep,
    /// Hinge. Down: x and the weight of the barrier; up: as `Advance`.
    Centre,
    /// Hinge. Down: the direction without the barrier; up: what its step is corrected by, and how long it may be.
    Predict,
    /// Hinge. Down: the direction and the weight of the barrier; up: how long the step may be.
    Aim,
    /// Hinge. Down: the length of the step; up: the curvature there, gradients, and how good the point is.
    Advance,
}

impl Order {
    /// How many of the last numbers of an answer are the least of all rather than their sum.
    pub(crate) fn least(self) -> usize {
        usize::from(matches!(self, Self::Predict | Self::Aim))
    }
}

impl Message {
    /// How many numbers travel beside the header.
    pub fn numbers(&self) -> usize {
        match self {
            Self::Request { x, curvature, .. } => x.len() + curvature.as_ref().map_or(0, Curvature::numbers),
            Self::Reply { delta, .. } => delta.len(),
            Self::Down { numbers, .. } | Self::Up { numbers, .. } => numbers.len(),
        }
    }

    /// Bytes of the letter that carries it between ranks.
    pub fn bytes_of_letter(&self) -> usize {
        8 * (HEAD + self.numbers())
    }
}
