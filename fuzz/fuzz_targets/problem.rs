//! Any text as a problem file that names no other file: no panic; what is read can be built or is refused by an error that names
//! the file, and a problem that was built has a start of its own dimension.
#![no_main]

use std::path::Path;

use equipoise::Control;
use equipoise_formats::ProblemFile;
use equipoise_formats::problem_file::{Building, Pairs};
use libfuzzer_sys::fuzz_target;

/// Seconds that building may take: a few words ask for much.
const PATIENCE: f64 = 0.5;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let path = Path::new("problem.toml");
    // A name might be that of a device, which never ends.
    if !ProblemFile::named_in(text, path).is_empty() {
        return;
    }
    let problem = match ProblemFile::from_toml_str(text, path) {
        Ok(problem) => problem,
        Err(error) => return assert!(error.to_string().contains("problem.toml"), "{error}"),
    };
    let control = Control::unlimited().within(PATIENCE);
    if let Ok(built) = problem.build(&Building::new(path, Pairs::Every, &control)) {
        assert_eq!(built.start().len(), built.dimension());
        assert!(built.start().iter().all(|x| x.is_finite()));
    }
});
