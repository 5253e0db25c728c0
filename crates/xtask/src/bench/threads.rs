//! The benchmark of several threads.

use anyhow::Result;

use super::lab::Benchmark;
use crate::check::root;

const THREADS: Benchmark = Benchmark {
    name: "threads",
    usage: "usage: cargo xtask bench threads [--quick] [--record FOLDER] [--data FOLDER] \
            [--threads-list 1,4,8,15] [--parts full-tree,...]",
    parts: &["full-tree", "full-star", "sweep", "svm-pairs", "violating", "protocols"],
    passed: &["--threads-list"],
    needs_data: true,
};

pub(super) fn run(arguments: &[String]) -> Result<()> {
    let mut options = THREADS.parse(arguments)?;
    let data = || std::env::var_os("EQUIPOISE_DATA").map(|folder| root().join(folder));
    options.data = options.data.or_else(data);
    if options.data.is_none() && !options.quick && options.parts.iter().any(|part| part == "svm-pairs") {
        println!("!! no --data and no EQUIPOISE_DATA: svm-pairs is left out");
        options.parts.retain(|part| part != "svm-pairs");
    }
    THREADS.run(options)
}

#[cfg(test)]
mod tests {
    use super::super::lab::parse;
    use super::*;

    #[test]
    fn options_are_understood_or_passed_on() {
        let line = "--quick --record runs/x --data sets --threads-list 1,2 --parts sweep";
        let options = parse(&THREADS, line).expect("known options");
        assert!(options.quick);
        assert_eq!(options.record, Some(root().join("runs/x")));
        assert_eq!(options.data, Some(root().join("sets")));
        assert_eq!(options.passed, ["--threads-list", "1,2"]);
        assert_eq!(options.parts, ["sweep"]);
        assert_eq!(parse(&THREADS, "").expect("no options").parts, THREADS.parts);
    }

    #[test]
    fn unknown_options_are_refused() {
        for line in ["--fast", "--record", "--parts nothing", "sweep"] {
            assert!(parse(&THREADS, line).is_err(), "{line}");
        }
    }
}
