//! How a fit is run: the method, how far, how messages travel.

use crate::Error;
use crate::protocol::Faults;

/// Who exchanges with whom, in which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Method {
    /// `tree` for ridge, logistic and hinge of up to a thousand columns, `pairs` for the others.
    #[default]
    Auto,
    /// Transfers along a spanning tree of the graph, from the leaves to the root and back. Not for lasso.
    Tree,
    /// The three-step protocol over all edges of the graph.
    Pairs,
}

equipoise::named!(Method, "method": "auto" => Method::Auto, "tree" => Method::Tree, "pairs" => Method::Pairs);

/// Everything that can be set about a fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The method.
    pub method: Method,
    /// The gap allowed between objective and bound, relative to the objective.
    pub gap: f64,
    /// Most messages; none: no limit.
    pub max_messages: Option<u64>,
    /// One thread a node, instead of one exchange after the other. `tree` is not taken unasked then, as its nodes wait for each
    /// other.
    pub asynchronous: bool,
    /// Requests that a node waits for at a time, where nodes act at the same time; steps are damped by as much, since full ones overshoot
    /// what the others do meanwhile.
    pub outstanding: usize,
    /// Exchanges go to the neighbour with the largest expected gain, rather than to one drawn at random.
    pub greedy: bool,
    /// Seed of the schedule.
    pub seed: u64,
    /// What happens to messages on their way, for tests of what is promised about it.
    pub faults: Faults,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            method: Method::Auto,
            gap: 1e-6,
            max_messages: None,
            asynchronous: false,
            outstanding: 1,
            greedy: false,
            seed: 0,
            faults: Faults::default(),
        }
    }
}

impl Settings {
    pub(crate) fn check(&self) -> Result<(), Error> {
        if !(self.gap > 0.0 && self.gap.is_finite()) {
            return Err(Error::BadSetting {
                name: "gap",
                found: self.gap,
                expected: "a finite number above 0",
            });
        }
        if self.outstanding == 0 {
            return Err(Error::BadSetting { name: "outstanding", found: 0.0, expected: "at least 1" });
        }
        if !(0.0..1.0).contains(&self.faults.loss) {
            return Err(Error::BadSetting {
                name: "loss of messages",
                found: self.faults.loss,
                expected: "a probability below 1",
            });
        }
        Ok(())
    }
}
