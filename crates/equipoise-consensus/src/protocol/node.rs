//! One node: its lambda, its belief x, its neighbours, and what it does with a message.
//!
//! - Given: messages, and when it is its turn to ask. Returns: messages to be sent.
//! - Must not know: who carries them, what time is (a number of ticks), what others do.

use equipoise::matrix::dot;
use equipoise::{Control, Pass};
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Message, Outbox, Peer};
use crate::curvature::{Curvature, PairMetric};
use crate::ledger::{Ledger, Unit};
use crate::local::Local;
use crate::traffic::Traffic;

/// How exact x is, relative to how far neighbours were away when last seen.
const EXACTNESS: f64 = 0.1;
/// How exact x is before anybody was seen.
const FIRST_ERROR: f64 = 1e-3;

/// One neighbour.
#[derive(Debug)]
struct Link {
    to: usize,
    /// What it said of its curvature, and the step that follows from it.
    theirs: Option<Curvature>,
    metric: Option<PairMetric>,
    /// The version of our curvature that it has.
    knows: Option<u64>,
    sequence: u64,
    open: Option<Open>,
    /// The last request of it that was answered, and how.
    answered: Option<(u64, Vec<f64>)>,
    /// Where it was when last seen, and how far we were apart.
    seen: Option<Vec<f64>>,
}

/// A request without a reply.
#[derive(Debug)]
struct Open {
    message: Message,
    version: u64,
    sent: u64,
}

/// One node of the protocol.
#[derive(Debug)]
pub(crate) struct Node<'a> {
    id: usize,
    local: Local<'a>,
    ledger: Ledger,
    /// c of the proximal term.
    centre: Vec<f64>,
    links: Vec<Link>,
    curvature: Curvature,
    version: u64,
    /// What steps are multiplied by.
    pub(crate) damping: f64,
    /// Whether x does not go with lambda.
    is_stale: bool,
    /// How far a neighbour was away when last seen.
    apart: f64,
    pub(crate) traffic: Traffic,
    /// Exchanges that this node began and that are done.
    pub(crate) done: u64,
    control: Control,
}

impl<'a> Node<'a> {
    /// A node at lambda = 0; neighbours ascending.
    pub(crate) fn new(
        id: usize,
        local: Local<'a>,
        unit: Unit,
        neighbours: &[usize],
        control: &Control,
    ) -> Self {
        let columns = local.x().len();
        let link = |&to| Link {
            to,
            theirs: None,
            metric: None,
            knows: None,
            sequence: 0,
            open: None,
            answered: None,
            seen: None,
        };
        Self {
            id,
            ledger: Ledger::new(unit, columns),
            centre: local.x().to_vec(),
            links: neighbours.iter().map(link).collect(),
            curvature: Curvature::Diagonal(Vec::new()),
            version: 0,
            damping: 1.0,
            is_stale: true,
            apart: f64::INFINITY,
            traffic: Traffic::default(),
            done: 0,
            local,
            control: control.clone(),
        }
    }

    pub(crate) fn local(&self) -> &Local<'a> {
        &self.local
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    pub(crate) fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// Puts an earlier lambda back; nothing may be in flight.
    pub(crate) fn restore(&mut self, ledger: &Ledger) {
        self.ledger = ledger.clone();
        self.is_stale = true;
    }

    /// Moves the centre of the proximal term.
    pub(crate) fn recentre(&mut self, centre: &[f64]) {
        self.centre.copy_from_slice(centre);
        self.is_stale = true;
    }

    /// Multiplies the weights of the proximal term; how `f_i` bends is said anew.
    pub(crate) fn scale_prox(&mut self, by: f64) {
        let scaled = self.local.prox().iter().map(|prox| (by * prox).max(f64::MIN_POSITIVE)).collect();
        self.local.set_prox(scaled);
        self.curvature = Curvature::Diagonal(Vec::new());
        self.is_stale = true;
    }

    /// Says how `f_i` bends, where that has changed by more than some part of it since it was last said.
    pub(crate) fn renew_curvature(&mut self) -> Pass {
        const CHANGE: f64 = 0.2;
        let now = self.local.curvature(&self.control)?;
        let is_new = match (&self.curvature, &now) {
            (Curvature::Diagonal(old), Curvature::Diagonal(new))
            | (Curvature::Full(old), Curvature::Full(new))
                if old.len() == new.len() =>
            {
                let change: f64 = old.iter().zip(new).map(|(a, b)| (a - b) * (a - b)).sum();
                let size: f64 = old.iter().map(|a| a * a).sum();
                change > CHANGE * CHANGE * size
            }
            _ => true,
        };
        if is_new {
            self.curvature = now;
            self.version += 1;
            self.links.iter_mut().for_each(|link| link.metric = None);
        }
        Ok(())
    }

    /// x that goes with lambda, up to an error.
    pub(crate) fn refine(&mut self, error: f64) -> Pass {
        let mut tilt = self.ledger.values();
        let centre = self.local.prox().iter().zip(&self.centre);
        tilt.iter_mut().zip(centre).for_each(|(t, (prox, c))| *t += prox * c);
        self.local.solve(&tilt, error, &self.control)?;
        self.is_stale = false;
        Ok(())
    }

    fn refresh(&mut self) -> Pass {
        if self.is_stale {
            let error = if self.apart.is_finite() { EXACTNESS * self.apart } else { FIRST_ERROR };
            self.refine(error)?;
        }
        Ok(())
    }

    /// What a neighbour has applied for a request of ours and we have not: in flight.
    #[cfg(test)]
    pub(crate) fn in_flight_to(&self, master: &Node<'_>) -> Option<&[f64]> {
        let (sequence, delta) = self.link(master.id)?.answered.as_ref()?;
        let open = master.link(self.id)?.open.as_ref()?;
        let Message::Request { sequence: asked, .. } = &open.message else { return None };
        (asked == sequence).then_some(delta.as_slice())
    }

    #[cfg(test)]
    fn link(&self, to: usize) -> Option<&Link> {
        self.links.iter().find(|link| link.to == to)
    }

    /// Begins an exchange, with a neighbour at random or with the one that promises most.
    pub(crate) fn ask(
        &mut self,
        is_greedy: bool,
        now: u64,
        rng: &mut Xoshiro256PlusPlus,
    ) -> Option<(usize, Message)> {
        /// Of so many exchanges one goes to a neighbour at random all the same, so that none is forgotten.
        const RANDOM_ONE_IN: u32 = 4;
        let free: Vec<usize> = (0..self.links.len()).filter(|&k| self.links[k].open.is_none()).collect();
        if free.is_empty() || self.refresh().is_err() {
            return None;
        }
        let at_random = free[rng.random_range(0..free.len())];
        let unseen = free.iter().copied().find(|&k| self.links[k].seen.is_none());
        let place = if !is_greedy || rng.random_range(0..RANDOM_ONE_IN) == 0 {
            at_random
        } else if let Some(unseen) = unseen {
            unseen
        } else {
            let gain: Vec<f64> = free.iter().map(|&k| self.promise(k)).collect();
            let best = (0..free.len()).max_by(|&a, &b| gain[a].total_cmp(&gain[b]));
            best.map_or(at_random, |best| free[best])
        };
        let link = &mut self.links[place];
        link.sequence += 1;
        let curvature = (link.knows != Some(self.version)).then(|| self.curvature.clone());
        let message = Message::Request { sequence: link.sequence, x: self.local.x().to_vec(), curvature };
        link.open = Some(Open { message: message.clone(), version: self.version, sent: now });
        let to = link.to;
        self.traffic.count(self.id, to, message.numbers());
        Some((to, message))
    }

    /// By how much an exchange with a neighbour would lower the dual, twice, by where it was when last seen: the exact step's
    /// `delta.(x_j - x_i)`, or what follows from how much every `f_i` bends at least.
    pub(crate) fn promise(&self, place: usize) -> f64 {
        let link = &self.links[place];
        let Some(seen) = &link.seen else { return 0.0 };
        let apart: Vec<f64> = seen.iter().zip(self.local.x()).map(|(theirs, own)| theirs - own).collect();
        match &link.metric {
            Some(metric) => dot(&metric.times(&apart), &apart),
            None => 0.5 * self.local.strength() * dot(&apart, &apart),
        }
    }

    /// Requests that have waited so long, to be sent again.
    pub(crate) fn ask_again(&mut self, now: u64, after: u64) -> Vec<(usize, Message)> {
        let mut again = Vec::new();
        for link in &mut self.links {
            if let Some(open) = &mut link.open
                && now.saturating_sub(open.sent) >= after
            {
                open.sent = now;
                self.traffic.count(self.id, link.to, open.message.numbers());
                again.push((link.to, open.message.clone()));
            }
        }
        again
    }

    /// Takes a message; a request has an answer.
    pub(crate) fn take(&mut self, from: usize, message: Message) -> Option<(usize, Message)> {
        let place = self.links.iter().position(|link| link.to == from)?;
        match message {
            Message::Request { sequence, x, curvature } => {
                let delta = self.answer(place, sequence, x, curvature)?;
                let reply = Message::Reply { sequence, delta };
                self.traffic.count(self.id, from, reply.numbers());
                Some((from, reply))
            }
            // Not of this protocol.
            Message::Down { .. } | Message::Up { .. } => None,
            Message::Reply { sequence, delta } => {
                let link = &mut self.links[place];
                let open = link.open.take_if(
                    |open| matches!(open.message, Message::Request { sequence: asked, .. } if asked == sequence),
                )?;
                link.knows = Some(open.version);
                self.ledger.transfer(&delta, true);
                self.is_stale = true;
                self.done += 1;
                None
            }
        }
    }

    /// Step 2; the same delta where the request was answered before, none where it is older than that.
    fn answer(
        &mut self,
        place: usize,
        sequence: u64,
        x: Vec<f64>,
        curvature: Option<Curvature>,
    ) -> Option<Vec<f64>> {
        if let Some((last, delta)) = &self.links[place].answered {
            if sequence == *last {
                return Some(delta.clone());
            }
            if sequence < *last {
                return None;
            }
        }
        // Work that is being ended transfers nothing, but answers.
        let is_fresh = self.refresh().is_ok();
        let link = &mut self.links[place];
        if let Some(curvature) = curvature {
            link.theirs = Some(curvature);
            link.metric = None;
        }
        if link.metric.is_none() {
            let theirs = link.theirs.as_ref()?;
            link.metric = PairMetric::new(&self.curvature, theirs, x.len());
        }
        let unit = self.ledger.unit();
        let own = self.local.x();
        let delta: Vec<f64> = match &link.metric {
            Some(metric) if is_fresh => {
                let apart: Vec<f64> = own.iter().zip(&x).map(|(own, theirs)| own - theirs).collect();
                metric.times(&apart).iter().map(|v| unit.rounded(self.damping * v)).collect()
            }
            _ => vec![0.0; x.len()],
        };
        self.apart = distance(own, &x);
        link.seen = Some(x);
        link.answered = Some((sequence, delta.clone()));
        self.ledger.transfer(&delta, false);
        self.is_stale = true;
        Some(delta)
    }
}

impl Peer for Node<'_> {
    fn shares(&self) -> usize {
        self.links.len()
    }

    fn begin(&mut self, is_greedy: bool, now: u64, rng: &mut Xoshiro256PlusPlus, out: &mut Outbox) {
        out.extend(self.ask(is_greedy, now, rng));
    }

    fn receive(&mut self, from: usize, message: Message, out: &mut Outbox) {
        out.extend(self.take(from, message));
    }

    fn repeat(&mut self, now: u64, after: u64) -> Outbox {
        self.ask_again(now, after)
    }

    fn open(&self) -> usize {
        self.links.iter().filter(|link| link.open.is_some()).count()
    }
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}
