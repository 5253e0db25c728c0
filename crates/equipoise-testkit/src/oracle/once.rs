//! Answers that are kept: each instance is solved once in a process, however many tests and threads ask for it.
//!
//! Given an instance and a way to solve it; returns the first answer, always. Two instances of one name are told apart
//! by their data.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::{Oracle, OracleFailure};
use crate::instance::Instance;

type Answer = Result<Oracle, OracleFailure>;

/// Answers by the name of the instance.
#[derive(Default)]
pub(super) struct Answers(Mutex<HashMap<String, Vec<Kept>>>);

struct Kept {
    instance: Instance,
    /// Filled outside the lock: others wait for this answer, and for no other.
    answer: Arc<OnceLock<Answer>>,
}

impl Answers {
    pub(super) fn get(&self, instance: &Instance, solve: impl FnOnce(&Instance) -> Answer) -> Answer {
        self.place(instance).get_or_init(|| solve(instance)).clone()
    }

    fn place(&self, instance: &Instance) -> Arc<OnceLock<Answer>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let same_name = all.entry(instance.name.clone()).or_default();
        if let Some(known) = same_name.iter().find(|kept| kept.instance == *instance) {
            return Arc::clone(&known.answer);
        }
        let answer = Arc::default();
        same_name.push(Kept { instance: instance.clone(), answer: Arc::clone(&answer) });
        answer
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::known::consensus;

    #[test]
    fn an_instance_is_solved_once_and_its_namesake_by_itself() {
        let (answers, solved) = (Answers::default(), Cell::new(0));
        let first = consensus().instance;
        let mut namesake = first.clone();
        namesake.dimension += 1;
        let ask = |instance: &Instance| {
            let answer = answers.get(instance, |instance| {
                solved.set(solved.get() + 1);
                Ok(Oracle { objective: instance.dimension as f64, x: Vec::new(), gap: 0.0 })
            });
            (answer.expect("made up above").objective, solved.get())
        };
        assert_eq!([ask(&first), ask(&first), ask(&first)], [(3.0, 1); 3]);
        assert_eq!([ask(&namesake), ask(&first), ask(&namesake)], [(4.0, 2), (3.0, 2), (4.0, 2)]);
    }
}
