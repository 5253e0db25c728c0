//! `equipoise completions SHELL`: the completion script of a shell, on stdout.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Arguments;
use crate::exit::{self, Outcome};

pub(crate) fn run(shell: Shell) -> anyhow::Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "equipoise", &mut script);
    exit::print(&String::from_utf8_lossy(&script))?;
    Ok(Outcome::Met)
}
