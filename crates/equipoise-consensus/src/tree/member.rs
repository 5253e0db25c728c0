//! One node of a tree: it hands orders on to its children, works, sums what they answer, and answers its parent.
//!
//! ```text
//! Down { wave, order }   parent -> children, at once;  then its own part of the work
//! Up   { wave, sums }    to the parent, once all children have answered and its own part is done
//! ```
//!
//! lambda moves in one kind of wave: a node keeps what it is told to keep and hands the rest, with what its children handed
//! it, to its parent, in whole units: `sum lambda + what is in flight = 0` at every moment.
//!
//! - Given: messages. Returns: messages. Must not know: who carries them, what the sums are good for.

use equipoise::{Control, Pass};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::barrier::Barrier;
use crate::ledger::{Ledger, Unit};
use crate::local::Local;
use crate::protocol::{Message, Order, Outbox, Peer};
use crate::traffic::Traffic;

/// A child, and whether it has answered the order that is under way.
#[derive(Debug)]
struct Child {
    id: usize,
    has_answered: bool,
}

/// One node of a tree.
#[derive(Debug)]
pub(crate) struct Member<'a> {
    id: usize,
    nodes: f64,
    parent: Option<usize>,
    children: Vec<Child>,
    local: Local<'a>,
    /// The x of the last order with one.
    x: Vec<f64>,
    barrier: Barrier,
    ledger: Ledger,
    /// What it keeps of lambda, in units.
    keeps: Vec<i128>,
    /// The number of the last order.
    wave: u64,
    order: Order,
    numbers: Vec<f64>,
    /// Whether its own part is still to be done.
    is_due: bool,
    /// Its own answer with those of its children so far; nothing in it where work was ended.
    sums: Option<Vec<f64>>,
    /// What it has answered to the last order.
    answer: Option<Vec<f64>>,
    /// An order that the root is to give.
    next: Option<(Order, Vec<f64>)>,
    sent: u64,
    repeats: u32,
    pub(crate) traffic: Traffic,
    control: Control,
}

impl<'a> Member<'a> {
    pub(crate) fn new(
        id: usize,
        local: Local<'a>,
        unit: Unit,
        parents: &[Option<usize>],
        control: &Control,
    ) -> Self {
        let columns = local.x().len();
        let children = (0..parents.len()).filter(|&child| parents[child] == Some(id));
        Self {
            id,
            nodes: parents.len() as f64,
            parent: parents[id],
            children: children.map(|id| Child { id, has_answered: true }).collect(),
            x: vec![0.0; columns],
            barrier: Barrier::default(),
            ledger: Ledger::new(unit, columns),
            keeps: vec![0; columns],
            wave: 0,
            order: Order::Believe,
            numbers: Vec::new(),
            is_due: false,
            sums: None,
            answer: None,
            next: None,
            sent: 0,
            repeats: 0,
            traffic: Traffic::default(),
            control: control.clone(),
            local,
        }
    }

    pub(crate) fn local(&self) -> &Local<'a> {
        &self.local
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Of the root: what it says to all, once it begins.
    pub(crate) fn queue(&mut self, order: Order, numbers: Vec<f64>) {
        self.next = Some((order, numbers));
        self.answer = None;
    }

    /// Of the root: the answer of all; none while there is none, or where work was ended.
    pub(crate) fn answer(&mut self) -> Option<Vec<f64>> {
        self.answer.take().filter(|answer| !answer.is_empty())
    }

    /// What this node has handed to its parent, which has not taken it yet.
    #[cfg(test)]
    pub(crate) fn in_flight(&self, all: &[Self]) -> Option<&[f64]> {
        let parent = &all[self.parent?];
        let child = parent.children.iter().find(|child| child.id == self.id)?;
        let is_under_way = self.order == Order::Keep && parent.wave == self.wave && !child.has_answered;
        self.answer.as_deref().filter(|_| is_under_way)
    }

    fn start(&mut self, order: Order, numbers: Vec<f64>, out: &mut Outbox) {
        for child in &mut self.children {
            child.has_answered = false;
            let message = Message::Down { wave: self.wave, order, numbers: numbers.clone() };
            self.traffic.count(self.id, child.id, message.numbers());
            out.push((child.id, message));
        }
        (self.order, self.numbers, self.is_due) = (order, numbers, true);
        (self.sums, self.answer, self.repeats, self.sent) = (None, None, 0, 0);
    }

    /// What a child has answered; of lambda, what it has handed over.
    fn add(&mut self, numbers: Vec<f64>) {
        if self.order == Order::Keep {
            self.ledger.transfer(&numbers, true);
            return;
        }
        let Some(sums) = &mut self.sums else {
            self.sums = Some(numbers);
            return;
        };
        if sums.len() != numbers.len() {
            // Somebody's work was ended.
            sums.clear();
            return;
        }
        let summed = sums.len().saturating_sub(self.order.least());
        for (k, (sum, number)) in sums.iter_mut().zip(numbers).enumerate() {
            *sum = if k < summed { *sum + number } else { sum.min(number) };
        }
    }

    /// Answers the parent, where everything is there.
    fn finish(&mut self, out: &mut Outbox) {
        if self.is_due || self.answer.is_some() || self.children.iter().any(|child| !child.has_answered) {
            return;
        }
        let answer =
            if self.order == Order::Keep { self.surplus() } else { self.sums.take().unwrap_or_default() };
        if let Some(parent) = self.parent {
            let message = Message::Up { wave: self.wave, numbers: answer.clone() };
            self.traffic.count(self.id, parent, message.numbers());
            out.push((parent, message));
        }
        self.answer = Some(answer);
    }

    /// The lambda that this node does not keep, as numbers without error; what those cannot hold stays here.
    fn surplus(&mut self) -> Vec<f64> {
        if self.parent.is_none() {
            return vec![0.0];
        }
        let unit = self.ledger.unit();
        let rest = self.ledger.units().iter().zip(&self.keeps).map(|(has, keeps)| has - keeps);
        let surplus: Vec<f64> = rest.map(|units| unit.rounded(unit.value(units))).collect();
        self.ledger.transfer(&surplus, false);
        surplus
    }

    /// This node's part of an order.
    fn part(&mut self, order: Order, numbers: &[f64]) -> Pass<Vec<f64>> {
        let (d, control) = (self.x.len(), self.control.clone());
        match order {
            Order::Believe => {
                let rows = self.local.rows().len();
                let mut answer = vec![0.0; d];
                if rows >= 2 * d {
                    // A gradient of a thousandth of the curvature.
                    let error = 1e-3 * self.local.natural_mean() / self.local.strength();
                    self.local.solve(&answer, error, &control)?;
                    answer.copy_from_slice(self.local.x());
                }
                answer.push(rows as f64);
                Ok(answer)
            }
            Order::Evaluate => {
                self.x.copy_from_slice(numbers);
                let mut answer = self.local.gradient(&self.x, &control)?;
                answer.push(self.local.value(&self.x));
                Ok(answer)
            }
            Order::Keep => {
                let (left, rest) = numbers.split_at(d);
                if rest.len() > 1 {
                    self.x.copy_from_slice(&rest[1..]);
                }
                self.keep(left, rest[0])
            }
            Order::Centre => {
                self.x.copy_from_slice(&numbers[..d]);
                self.barrier.centre(&self.local, &self.x, numbers[d]);
                self.barrier.sense(&self.local, &control)
            }
            Order::Predict => Ok(self.barrier.predict(&self.local, numbers)),
            Order::Aim => Ok(self.barrier.aim(&self.local, &numbers[..d], numbers[d])),
            Order::Advance => {
                self.barrier.advance(&self.local, numbers[0], &mut self.x);
                self.barrier.sense(&self.local, &control)
            }
        }
    }

    /// What this node would keep at x, without a transfer.
    pub(super) fn show(&mut self, x: &[f64], left: &[f64], open: f64) -> Pass {
        let kept = self.kept(x, left)?;
        self.believe(x, &kept, open)
    }

    fn kept(&self, x: &[f64], left: &[f64]) -> Pass<Vec<f64>> {
        let gradient = if self.barrier.is_there() {
            self.barrier.gradient(&self.local, x)
        } else {
            self.local.gradient(x, &self.control)?
        };
        Ok(gradient.iter().zip(left).map(|(own, left)| own - left / self.nodes).collect())
    }

    fn believe(&mut self, x: &[f64], kept: &[f64], open: f64) -> Pass {
        if self.barrier.is_there() {
            self.barrier.believe(&self.local, kept, x);
            return Ok(());
        }
        self.local.set_x(x);
        let error = (open / self.local.strength()).sqrt();
        self.local.solve(kept, error, &self.control)
    }

    /// What this node is to keep where `left` is what all gradients sum to, and what it believes then.
    fn keep(&mut self, left: &[f64], open: f64) -> Pass<Vec<f64>> {
        let x = self.x.clone();
        let kept = self.kept(&x, left)?;
        let unit = self.ledger.unit();
        self.keeps = kept.iter().map(|kept| unit.units(*kept)).collect();
        self.believe(&x, &kept, open)?;
        Ok(vec![0.0])
    }

    /// What this node believes, and its dual point.
    pub(super) fn belief(&self) -> (&[f64], Vec<f64>) {
        if self.barrier.is_there() {
            (self.barrier.belief(), self.barrier.dual(self.local.targets()))
        } else {
            (self.local.x(), self.local.dual())
        }
    }
}

impl Peer for Member<'_> {
    fn shares(&self) -> usize {
        usize::from(self.parent.is_none())
    }

    fn begin(&mut self, _is_greedy: bool, now: u64, _rng: &mut Xoshiro256PlusPlus, out: &mut Outbox) {
        if let Some((order, numbers)) = self.next.take() {
            self.wave += 1;
            self.start(order, numbers, out);
            self.sent = now;
        }
    }

    fn receive(&mut self, from: usize, message: Message, out: &mut Outbox) {
        match message {
            Message::Down { wave, order, numbers } if Some(from) == self.parent => {
                if wave > self.wave {
                    self.wave = wave;
                    self.start(order, numbers, out);
                } else if let (true, Some(answer)) = (wave == self.wave, &self.answer) {
                    let message = Message::Up { wave, numbers: answer.clone() };
                    self.traffic.count(self.id, from, message.numbers());
                    out.push((from, message));
                }
            }
            Message::Up { wave, numbers } if wave == self.wave => {
                let Some(child) = self.children.iter_mut().find(|child| child.id == from) else { return };
                if !child.has_answered {
                    child.has_answered = true;
                    self.add(numbers);
                    self.finish(out);
                }
            }
            // Of an earlier wave, or not of this protocol.
            _ => {}
        }
    }

    fn work(&mut self, out: &mut Outbox) {
        if self.is_due {
            self.is_due = false;
            let numbers = std::mem::take(&mut self.numbers);
            // Work that is being ended answers, but with nothing.
            let own = self.part(self.order, &numbers).unwrap_or_default();
            self.numbers = numbers;
            if self.order != Order::Keep {
                self.add(own);
            }
            self.finish(out);
        }
    }

    fn repeat(&mut self, now: u64, after: u64) -> Outbox {
        let mut again = Outbox::new();
        // Who waits for others may be long; each time it is given twice as long.
        if now.saturating_sub(self.sent) >= after.saturating_mul(1 << self.repeats.min(20)) {
            for child in self.children.iter().filter(|child| !child.has_answered) {
                let message =
                    Message::Down { wave: self.wave, order: self.order, numbers: self.numbers.clone() };
                self.traffic.count(self.id, child.id, message.numbers());
                again.push((child.id, message));
            }
            self.sent = now;
            self.repeats += u32::from(!again.is_empty());
        }
        again
    }

    fn open(&self) -> usize {
        self.children.iter().filter(|child| !child.has_answered).count()
    }
}
