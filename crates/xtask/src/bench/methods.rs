//! The benchmark of the methods against each other.

use anyhow::Result;

use super::lab::Benchmark;

const METHODS: Benchmark = Benchmark {
    name: "methods",
    usage: "usage: cargo xtask bench methods [--quick] [--record FOLDER] [--parts accelerated,...] \
            [--repeats N] [--time-limit SECONDS] [--seeds 1,2,3]",
    parts: &["accelerated", "samples", "columns", "slopes"],
    passed: &["--repeats", "--time-limit", "--seeds"],
    needs_data: false,
};

pub(super) fn run(arguments: &[String]) -> Result<()> {
    METHODS.run(METHODS.parse(arguments)?)
}

#[cfg(test)]
mod tests {
    use super::super::lab::parse;
    use super::*;
    use crate::check::root;

    #[test]
    fn options_are_understood_or_passed_on() {
        let line = "--quick --record runs/x --repeats 5 --seeds 1,2 --parts slopes,columns";
        let options = parse(&METHODS, line).expect("known options");
        assert!(options.quick);
        assert_eq!(options.record, Some(root().join("runs/x")));
        assert_eq!(options.passed, ["--repeats", "5", "--seeds", "1,2"]);
        assert_eq!(options.parts, ["slopes", "columns"]);
        assert_eq!(parse(&METHODS, "").expect("no options").parts, METHODS.parts);
    }

    #[test]
    fn unknown_options_are_refused() {
        for line in ["--fast", "--data sets", "--repeats", "--parts sweep", "slopes"] {
            assert!(parse(&METHODS, line).is_err(), "{line}");
        }
    }
}
