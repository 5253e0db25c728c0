//! Random labelled rows: written as text and read back, and numbers against the standard library.

use std::collections::BTreeMap;
use std::fmt::Write;

use equipoise_formats::libsvm::{ReadOptions, parse, parse_in_chunks};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

use super::libsvm::listed;

fn config(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..Config::default() }
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(1.0),
        (-99999..99999_i32).prop_map(|whole| f64::from(whole) / 1e5),
        (-300..300_i32).prop_map(f64::from),
        proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL,
    ]
}

fn feature() -> impl Strategy<Value = u32> {
    prop_oneof![1..50_u32, 1..2_000_000_u32, 1..=u32::MAX]
}

/// Text that looks like a number, most of the time.
fn numeral() -> impl Strategy<Value = String> {
    let digits = || proptest::collection::vec(0..10_u8, 0..21);
    let exponent = proptest::option::of((-330..330_i32, any::<bool>()));
    (0..3_usize, digits(), proptest::option::of(digits()), exponent).prop_map(
        |(sign, whole, part, exponent)| {
            let mut text = String::from(["", "-", "+"][sign]);
            whole.iter().for_each(|digit| text.push(char::from(b'0' + digit)));
            if let Some(part) = part {
                text.push('.');
                part.iter().for_each(|digit| text.push(char::from(b'0' + digit)));
            }
            if let Some((power, upper)) = exponent {
                let _ = write!(text, "{}{power}", if upper { 'E' } else { 'e' });
            }
            text
        },
    )
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn rows_come_back_as_they_were_written(
        rows in proptest::collection::vec(
            (number(), proptest::collection::btree_map(feature(), number(), 0..20), any::<bool>()),
            1..30,
        ),
        chunk_bytes in 1..400_usize,
        threads in 1..4_usize,
    ) {
        let mut text = String::new();
        for (label, entries, backwards) in &rows {
            let _ = write!(text, "{label:?}");
            let mut entries: Vec<_> = entries.iter().collect();
            if *backwards {
                entries.reverse();
            }
            entries.iter().for_each(|(feature, value)| { let _ = write!(text, " {feature}:{value}"); });
            text.push('\n');
        }
        let found = parse_in_chunks(text.as_bytes(), "t", ReadOptions { threads }, chunk_bytes).expect("well-formed");
        let kept = |entries: &BTreeMap<u32, f64>| -> Vec<(u32, f64)> {
            entries.iter().filter(|entry| *entry.1 != 0.0).map(|(&feature, &value)| (feature, value)).collect()
        };
        let expected: Vec<_> = rows.iter().map(|(label, entries, _)| (*label, kept(entries))).collect();
        prop_assert_eq!(listed(&found), expected);
        prop_assert!(found.features.is_sorted());
        let largest = rows.iter().filter_map(|(_, entries, _)| entries.keys().last()).max();
        prop_assert_eq!(found.largest_feature, largest.copied().unwrap_or(0));
    }

    #[test]
    fn text_never_panics(
        text in "([-+]?[0-9.e]{1,4}|qid:[0-9]?|#|[0-9]{1,11}:[-+0-9.e]{0,12}|[ \t\r\n]|\n){0,60}",
        chunk_bytes in 1..40_usize,
    ) {
        let one = parse(text.as_bytes(), "t", ReadOptions { threads: 1 });
        let other = parse_in_chunks(text.as_bytes(), "t", ReadOptions { threads: 2 }, chunk_bytes);
        prop_assert_eq!(one, other);
    }
}

proptest! {
    #![proptest_config(config(20_000))]

    #[test]
    fn numbers_have_the_bits_of_the_standard_library(text in numeral(), end in 0..3_usize) {
        let end = ["\n", " \n", " 4:1\n"][end];
        let read = |line: String| parse(line.as_bytes(), "t", ReadOptions { threads: 1 });
        let expected = text.parse::<f64>().ok().filter(|value| value.is_finite()).map(f64::to_bits);
        let label = read(format!("{text}{end}")).map(|rows| rows.labels[0].to_bits());
        prop_assert_eq!(label.ok(), expected, "as a label");
        // The second entry makes sure that values are stored.
        let value = read(format!("1 2:{text} 3:7{end}")).map(|rows| rows.values.expect("stored")[0].to_bits());
        let dropped = expected.is_some_and(|bits| f64::from_bits(bits) == 0.0);
        prop_assert_eq!(value.ok(), if dropped { Some(7_f64.to_bits()) } else { expected }, "as a value");
    }
}
