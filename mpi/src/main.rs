//! The program `equipoise-mpi`: the commands of `equipoise`, on rows and nodes that are spread over MPI ranks.
//!
//! MPI is called by the thread that began, and by no other: it lets numbers travel and hears whether the others are still there,
//! while the command runs on a thread of its own.

mod mail;
mod pulse;
mod server;
mod world;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;

use equipoise::collective::{Alone, Collective};
use mpi::Threading;
use mpi::traits::Communicator;

use mail::{Mail, MpiPost};
use server::Server;
use world::Mpi;

/// What the command may need of its stack, as the first thread of a program has it.
const STACK: usize = 8 << 20;

fn main() -> ExitCode {
    let Some((universe, level)) = mpi::initialize_with_threading(Threading::Funneled) else {
        eprintln!("error: MPI does not start");
        return ExitCode::from(2);
    };
    let comm = universe.world();
    let (rank, ranks) = (world::index(comm.rank()), world::index(comm.size()));
    if ranks == 1 {
        let alone: Arc<dyn Collective> = Arc::new(Alone::default());
        return equipoise_cli::run_across(std::env::args_os(), &alone);
    }
    if level < Threading::Funneled {
        eprintln!("error: rank {rank}: this MPI does not allow a program to have threads");
        comm.abort(2);
    }
    let (sender, requests) = mpsc::channel();
    let (arrived, inbox) = mpsc::channel();
    let command = move || {
        let mut post = MpiPost::new(sender.clone(), inbox);
        let world: Arc<dyn Collective> = Arc::new(Mpi::new(rank, ranks, sender));
        equipoise_cli::run_with_post(std::env::args_os(), &world, Some(&mut post))
    };
    let worker = match thread::Builder::new().name("command".into()).stack_size(STACK).spawn(command) {
        Ok(worker) => worker,
        Err(error) => {
            eprintln!("error: rank {rank}: no thread could be started: {error}");
            comm.abort(2);
        }
    };
    let mut server = Server::new(&comm, Mail::new(&comm, arrived));
    server.serve(&requests);
    let Ok(status) = worker.join() else {
        // The panic has said what there is to say.
        eprintln!("error: rank {rank} panicked");
        comm.abort(2);
    };
    server.wait_for_the_others();
    status
}
