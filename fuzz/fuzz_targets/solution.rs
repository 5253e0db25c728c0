//! Any bytes as a solution file: no panic; what is read is finite, and its standing never takes its own place for better.
#![no_main]

use equipoise_formats::parse_solution;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(solution) = parse_solution(bytes, "solution") else { return };
    assert!(solution.x.iter().all(|x| x.is_finite()));
    let standing = solution.standing();
    // A result that is as good as another may replace it; nothing depends on how often it is asked.
    assert_eq!(standing.may_replace(standing), standing.may_replace(solution.standing()));
});
