//! Any text as a program of an exchange format: no panic; what is read fits together, and is built or refused by an error in words.
#![no_main]

use std::path::Path;

use equipoise::Control;
use equipoise_formats::mps::parse_program;
use equipoise_formats::problem_file::{Building, Pairs};
use libfuzzer_sys::fuzz_target;

/// Seconds that building may take: a few words ask for much.
const PATIENCE: f64 = 0.5;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let path = Path::new("program.qps");
    let control = Control::unlimited().within(PATIENCE);
    let program = match parse_program(text, path, &control) {
        Ok(program) => program,
        Err(error) => return assert!(error.to_string().contains("program.qps"), "{error}"),
    };
    let n = program.variables.len();
    assert!([&program.linear, &program.lower, &program.upper].iter().all(|numbers| numbers.len() == n));
    assert!(program.entries.iter().all(|(row, column, _)| *row < program.rows.len() && *column < n));
    assert!(program.quadratic.iter().all(|(row, column, _)| *row < n && *column < n));
    let Ok(problem) = program.into_problem() else { return };
    if let Ok(built) = problem.build(&Building::new(path, Pairs::Every, &control)) {
        assert_eq!(built.start().len(), built.dimension());
        assert!(built.start().iter().all(|x| x.is_finite()));
    }
});
