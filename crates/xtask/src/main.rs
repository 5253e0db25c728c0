//! Every check that a contributor or CI runs: `cargo xtask help` lists them.

mod bench;
mod check;
mod shared;

use std::process::ExitCode;

const HELP: &str = "\
cargo xtask COMMAND

  test              everything CI runs: format, lints, lengths, tests, models, docs, examples, packaging
  format            rustfmt in check mode
  lint              clippy, warnings denied
  unit              unit, integration and property tests of all crates
  docs              documentation without warnings, and its examples
  examples          every example of the library
  lengths           no source file longer than 600 lines
  package           dry run of packaging the published crates
  loom              models of the memory that threads share: every schedule up to a bound
  miri              its tests in Miri; needs a nightly toolchain, `nightly` or what EQUIPOISE_NIGHTLY names
  tsan              its tests under ThreadSanitizer; needs the same, and x86_64 Linux
  stress            its tests of 10^8 moves; not part of `test`
  bench pair_step   one update against the bare loop
  bench svm         time to an accuracy against the peers [--quick] [--sets a7a,...] [--peers libsvm,...]
  bench threads     several threads against one [--quick] [--data FOLDER] [--threads-list 1,4,...] [--parts sweep,...]
  bench methods     the methods against each other [--quick] [--repeats N] [--seeds 1,2,3] [--parts samples,...]
                    [--record FOLDER] writes raw numbers and set-up into FOLDER
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.first().map(String::as_str) {
        Some("test") => check::all(),
        Some("format") => check::format(),
        Some("lint") => check::lint(),
        Some("unit") => check::unit(),
        Some("docs") => check::docs(),
        Some("examples") => check::examples(),
        Some("lengths") => check::lengths(),
        Some("package") => check::package(),
        Some("loom") => check::step("loom", shared::loom).map(drop),
        Some("miri") => check::step("miri", shared::miri).map(drop),
        Some("tsan") => check::step("tsan", shared::tsan).map(drop),
        Some("stress") => check::step("stress", shared::stress).map(drop),
        Some("bench") => bench::run(&arguments[1..]),
        Some("help" | "--help" | "-h") | None => {
            print!("{HELP}");
            Ok(())
        }
        Some(other) => Err(anyhow::anyhow!("unknown command `{other}`; `cargo xtask help` lists them")),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
