//! Any text as a case of MATPOWER: no panic; a case that is read has generators with costs of finite numbers.
#![no_main]

use std::path::Path;

use equipoise_formats::matpower::{CaseCost, parse_case};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match parse_case(text, Path::new("case.m")) {
        Ok(case) => {
            for (k, generator) in case.generators.iter().enumerate() {
                assert_eq!(generator.number, k + 1);
                assert!(match &generator.cost {
                    CaseCost::Polynomial(numbers) => !numbers.is_empty() && numbers.iter().all(|c| c.is_finite()),
                    CaseCost::Piecewise(points) => points.iter().all(|(x, y)| x.is_finite() && y.is_finite()),
                });
            }
        }
        Err(error) => assert!(error.to_string().contains("case.m"), "{error}"),
    }
});
