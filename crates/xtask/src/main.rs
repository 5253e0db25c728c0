//! Every check that a contributor or CI runs: `cargo xtask help` lists them.

mod api;
mod bench;
mod check;
mod data;
mod documents;
mod everything;
mod lab;
mod mpi;
mod python;
mod quick;
mod semver;
mod shared;
mod site;
mod soak;

use std::process::ExitCode;

use anyhow::Result;

const HELP: &str = "\
cargo xtask COMMAND

  quick             while writing: format, lints and unit tests of the crates with changes since `main`, nothing else
  test              everything CI runs: format, lints, lengths, tests, models, docs, examples, interface, Python, packaging
  format            rustfmt in check mode
  lint              clippy, warnings denied
  unit              unit, integration and property tests of all crates; those of public data where EQUIPOISE_DATA is set
  docs              documentation without warnings, and its examples
  examples          every example of the library
  lengths           no source file longer than 600 lines
  api               the public interface is what api/*.txt says; `api --write` renews these
  semver [REV]      cargo semver-checks against REV, else the newest tag, else `main`
  python            the Python package: pytest, examples in docstrings, type stubs, in an environment under target/;
                    `python --install` tries a source distribution and one wheel with every interpreter instead: a quarter
                    of an hour
  documents         every command that README.md and docs/ show, run and compared [PAGE...]; `documents --write` renews what they
                    show of outputs and pictures
  site              README.md, docs/, the Python guide and the help of every command as one site, under target/site
  lab               the paper's experiments at their quick scale, what they must find, their page in a browser
  mpi               training on 2 and 4 MPI ranks: known optima, the same bytes, ranks that are lost; skipped without an MPI
  package           dry run of packaging the published crates
  loom              models of the memory that threads share: every schedule up to a bound
  miri              its tests in Miri; needs a nightly toolchain, `nightly` or what EQUIPOISE_NIGHTLY names
  tsan              its tests under ThreadSanitizer; needs the same, and x86_64 Linux
  memory            these three
  stress            its tests of 10^8 moves; not part of `test`
  soak              the promises under random seeds, for an hour [--minutes M] [--seed N] [--only bounds,...]
                    [--record FOLDER]; not part of `test`
  bench pair_step   one update against the bare loop
  bench svm         time to an accuracy against the peers [--quick] [--only a7a,...] [--slice S]
  bench lasso       the lasso family and simplex regression against the peers [--quick] [--jobs grid,...] [--peers-only]
  bench allocation  allocation, portfolios and consensus against the peers [--quick] [--jobs dispatch,...] [--data FOLDER]
  bench threads     several threads against one [--quick] [--data FOLDER] [--threads-list 1,4,...] [--parts sweep,...]
  bench methods     the methods against each other [--quick] [--repeats N] [--seeds 1,2,3] [--parts samples,...]
                    [--record FOLDER] writes raw numbers and set-up into FOLDER
";

fn main() -> ExitCode {
    if let Some(status) = api::as_rustdoc() {
        return status;
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match command(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn command(arguments: &[String]) -> Result<()> {
    check::this_program()?;
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let one = |name: &str, check: fn() -> Result<()>| check::step(name, check).map(drop);
    match words[..] {
        ["quick"] => quick::run(),
        ["test"] => everything::run(),
        ["format"] => check::format(),
        ["lint"] => check::lint(),
        ["unit"] => check::unit().and_then(|()| one("public data", data::run)),
        ["docs"] => check::docs(),
        ["examples"] => check::examples(),
        ["lengths"] => check::lengths(),
        ["api"] => one("api", api::compare),
        ["api", "--write"] => one("api", api::write),
        ["semver"] => semver::run(None),
        ["semver", revision] => semver::run(Some(revision)),
        ["python"] => one("python", python::test),
        ["python", "--install"] => one("python", python::install),
        ["documents"] => one("documents", documents::test),
        ["documents", "--write", ref pages @ ..] => documents::run(true, pages),
        ["documents", ref pages @ ..] => documents::run(false, pages),
        ["site"] => one("site", site::test),
        ["lab"] => one("lab", lab::test),
        ["mpi"] => one("mpi", mpi::test),
        ["package"] => check::package(),
        ["loom"] => one("loom", shared::loom),
        ["miri"] => one("miri", shared::miri),
        ["tsan"] => one("tsan", shared::tsan),
        ["memory"] => shared::STEPS.into_iter().try_for_each(|(name, check)| one(name, check)),
        ["stress"] => one("stress", shared::stress),
        ["soak", ..] => soak::run(&arguments[1..]),
        ["bench", ..] => bench::run(&arguments[1..]),
        ["help" | "--help" | "-h"] | [] => {
            print!("{HELP}");
            Ok(())
        }
        _ => anyhow::bail!("unknown command `{}`; `cargo xtask help` lists them", words.join(" ")),
    }
}
