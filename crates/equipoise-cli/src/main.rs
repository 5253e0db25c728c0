//! The program `equipoise`: its arguments, handed on.

use std::process::ExitCode;

fn main() -> ExitCode {
    equipoise_cli::run(std::env::args_os())
}
