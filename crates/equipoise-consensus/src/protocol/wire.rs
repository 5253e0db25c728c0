//! Messages between nodes as letters between ranks.
//!
//! ```text
//! letter   from, to, kind, sequence or wave, numbers ...      32 bytes and 8 a number: 16 d + 64 bytes a pair of request and reply
//! ```
//!
//! Given: a message, or the numbers of a letter and how many entries x has. Returns: the other. Must not know: who carries it.

use super::{Message, Order};
use crate::curvature::Curvature;

/// Numbers before those of a message.
pub(super) const HEAD: usize = 4;
/// What a letter is.
const REQUEST: f64 = 0.0;
const REQUEST_WITH_DIAGONAL: f64 = 1.0;
const REQUEST_WITH_MATRIX: f64 = 2.0;
const REPLY: f64 = 3.0;
const UP: f64 = 4.0;
/// Orders follow.
const DOWN: f64 = 5.0;
const ORDERS: [Order; 7] =
    [Order::Believe, Order::Evaluate, Order::Keep, Order::Centre, Order::Predict, Order::Aim, Order::Advance];
/// A rank has nothing more to ask in a phase; its only other number says whether it was told to end.
const DONE: f64 = 100.0;

/// What a letter says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Letter {
    /// A message between two nodes.
    Between { from: usize, to: usize, message: Message },
    /// The rank that sent it begins nothing more in this phase; where it was told to end, nobody should.
    Done { phase: u64, is_ended: bool },
}

impl Letter {
    /// The numbers that travel.
    pub(crate) fn numbers(self) -> Vec<f64> {
        let (from, to, message) = match self {
            Self::Done { phase, is_ended } => {
                return vec![f64::from(u8::from(is_ended)), 0.0, DONE, phase as f64];
            }
            Self::Between { from, to, message } => (from, to, message),
        };
        let mut numbers = Vec::with_capacity(HEAD + message.numbers());
        let mut head = |kind: f64, count: u64| {
            numbers.extend([from as f64, to as f64, kind, count as f64]);
        };
        match message {
            Message::Request { sequence, x, curvature } => {
                head(
                    match &curvature {
                        None => REQUEST,
                        Some(Curvature::Diagonal(_)) => REQUEST_WITH_DIAGONAL,
                        Some(Curvature::Full(_)) => REQUEST_WITH_MATRIX,
                    },
                    sequence,
                );
                numbers.extend(x);
                if let Some(Curvature::Diagonal(list) | Curvature::Full(list)) = curvature {
                    numbers.extend(list);
                }
            }
            Message::Reply { sequence, delta } => {
                head(REPLY, sequence);
                numbers.extend(delta);
            }
            Message::Up { wave, numbers: sums } => {
                head(UP, wave);
                numbers.extend(sums);
            }
            Message::Down { wave, order, numbers: told } => {
                let place = ORDERS.iter().position(|known| *known == order).unwrap_or(0);
                head(DOWN + place as f64, wave);
                numbers.extend(told);
            }
        }
        numbers
    }

    /// What numbers say, x having so many entries; none where they are no letter.
    pub(crate) fn of(numbers: &[f64], columns: usize) -> Option<Self> {
        let (head, rest) = numbers.split_at_checked(HEAD)?;
        let (from, to, kind, count) = (head[0] as usize, head[1] as usize, head[2], head[3] as u64);
        let request = |curvature: Option<fn(Vec<f64>) -> Curvature>| {
            let (x, bends) = rest.split_at_checked(columns)?;
            let curvature = curvature.map(|curvature| curvature(bends.to_vec()));
            Some(Message::Request { sequence: count, x: x.to_vec(), curvature })
        };
        let message = if kind == DONE {
            return Some(Self::Done { phase: count, is_ended: head[0] > 0.0 });
        } else if kind == REQUEST {
            request(None)?
        } else if kind == REQUEST_WITH_DIAGONAL {
            request(Some(Curvature::Diagonal))?
        } else if kind == REQUEST_WITH_MATRIX {
            request(Some(Curvature::Full))?
        } else if kind == REPLY {
            Message::Reply { sequence: count, delta: rest.to_vec() }
        } else if kind == UP {
            Message::Up { wave: count, numbers: rest.to_vec() }
        } else {
            let order = *ORDERS.get((kind - DOWN) as usize)?;
            Message::Down { wave: count, order, numbers: rest.to_vec() }
        };
        Some(Self::Between { from, to, message })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_what_arrives() {
        let x = vec![0.1, -2.5, 1e-300];
        let mut messages = vec![
            Message::Request { sequence: 1, x: x.clone(), curvature: None },
            Message::Request {
                sequence: 1 << 50,
                x: x.clone(),
                curvature: Some(Curvature::Diagonal(x.clone())),
            },
            Message::Request { sequence: 7, x: x.clone(), curvature: Some(Curvature::Full(vec![0.5; 6])) },
            Message::Reply { sequence: 3, delta: x.clone() },
            Message::Up { wave: 9, numbers: Vec::new() },
        ];
        messages.extend(ORDERS.map(|order| Message::Down { wave: 2, order, numbers: x.clone() }));
        for message in messages {
            let bytes = message.bytes_of_letter();
            let letter = Letter::Between { from: 12, to: 9_999, message };
            assert_eq!(8 * letter.clone().numbers().len(), bytes);
            assert_eq!(Letter::of(&letter.clone().numbers(), 3), Some(letter));
        }
        for is_ended in [false, true] {
            let letter = Letter::Done { phase: 5, is_ended };
            assert_eq!(Letter::of(&letter.clone().numbers(), 3), Some(letter));
        }
        assert_eq!(Letter::of(&[1.0, 2.0], 3), None);
        assert_eq!(Letter::of(&[1.0, 2.0, REQUEST, 1.0, 0.5], 3), None);
    }

    /// As docs/cluster.md says it.
    #[test]
    fn a_pair_takes_16_d_and_64_bytes() {
        let d = 50;
        let numbers = vec![0.5; d];
        let request = Message::Request { sequence: 1, x: numbers.clone(), curvature: None };
        let reply = Message::Reply { sequence: 1, delta: numbers };
        let bytes = |message| 8 * Letter::Between { from: 0, to: 1, message }.numbers().len();
        assert_eq!(bytes(request) + bytes(reply), 16 * d + 64);
    }
}
