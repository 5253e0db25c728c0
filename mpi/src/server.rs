//! Lets numbers travel for the command, and keeps the pulse meanwhile.

use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use mpi::request::{Request as Pending, Scope};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Root};

use crate::mail::Mail;
use crate::pulse::{BEAT, Pulse};
use crate::world::{Load, Request, Travel};

/// Time for which what travels is looked at again and again, before the thread sleeps between two looks; and how long it does. Who
/// sleeps is let on a busy processor sooner than who yields.
const EAGER: Duration = Duration::from_micros(100);
const NAP: Duration = Duration::from_micros(20);
/// Time after a letter for which others are looked for between any two naps.
const CORRESPONDENCE: Duration = Duration::from_secs(1);

/// The thread that calls MPI.
pub(crate) struct Server<'c> {
    comm: &'c SimpleCommunicator,
    pulse: Pulse<'c>,
    mail: Mail<'c>,
}

impl<'c> Server<'c> {
    pub(crate) fn new(comm: &'c SimpleCommunicator, mail: Mail<'c>) -> Self {
        Self { comm, pulse: Pulse::new(comm), mail }
    }

    /// Until the command has ended.
    pub(crate) fn serve(&mut self, requests: &Receiver<Request>) {
        let mut last_letter: Option<Instant> = None;
        let mut put_back = None;
        loop {
            self.pulse.beat(true);
            if self.mail.take() {
                last_letter = Some(Instant::now());
            }
            let waits = match last_letter {
                Some(last) if last.elapsed() < CORRESPONDENCE => NAP,
                _ => BEAT,
            };
            match put_back.take().map_or_else(|| requests.recv_timeout(waits), Ok) {
                Ok(Request::Together { travel, mut load, answer }) => {
                    self.travel(&travel, &mut load);
                    // The command waits for it, unless it panicked.
                    let _ = answer.send(load);
                }
                Ok(Request::Letter { rank, numbers }) => {
                    last_letter = Some(Instant::now());
                    let mut letters = vec![(rank, numbers)];
                    loop {
                        match requests.try_recv() {
                            Ok(Request::Letter { rank, numbers }) => letters.push((rank, numbers)),
                            Ok(other) => {
                                put_back = Some(other);
                                break;
                            }
                            Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
                        }
                    }
                    let pulse = &mut self.pulse;
                    self.mail.send(&letters, || pulse.beat(true));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Until every rank has come to its end.
    pub(crate) fn wait_for_the_others(&mut self) {
        let barrier = self.comm.immediate_barrier();
        self.wait(barrier, false, Instant::now());
    }

    fn travel(&mut self, travel: &Travel, load: &mut Load) {
        let (comm, since) = (self.comm, Instant::now());
        let Load { sent, arrived } = load;
        mpi::request::scope(|scope| match travel {
            Travel::Gather => {
                let pending = comm.immediate_all_gather_into(scope, &sent[..], &mut arrived[..]);
                self.wait(pending, true, since);
            }
            Travel::Deal => {
                let pending = comm.immediate_all_to_all_into(scope, &sent[..], &mut arrived[..]);
                self.wait(pending, true, since);
            }
            Travel::Broadcast => {
                arrived.copy_from_slice(sent);
                let pending = comm.process_at_rank(0).immediate_broadcast_into(scope, &mut arrived[..]);
                self.wait(pending, true, since);
            }
        });
    }

    /// Until something has arrived.
    fn wait<'a, D: ?Sized, S: Scope<'a>>(
        &mut self,
        mut pending: Pending<'a, D, S>,
        is_at_work: bool,
        since: Instant,
    ) {
        loop {
            pending = match pending.test() {
                Ok(_) => return,
                Err(pending) => pending,
            };
            self.pulse.beat(is_at_work);
            self.mail.take();
            self.pulse.waits_since(since);
            if since.elapsed() < EAGER {
                std::hint::spin_loop();
            } else {
                thread::sleep(NAP);
            }
        }
    }
}
