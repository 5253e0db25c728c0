//! Any bytes as a table of text: no panic; a table that is read has as many entries as rows and columns say, and names that
//! differ. The first byte chooses how it is read.
#![no_main]

use std::collections::HashSet;
use std::path::Path;

use equipoise::Control;
use equipoise_formats::table::{Header, Missing, RowNames, TableOptions, parse_table};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, rest)) = bytes.split_first() else { return };
    let says = |bit: u8| choice & (1 << bit) != 0;
    let options = TableOptions {
        header: if says(0) { Header::No } else { Header::default() },
        row_names: if says(1) { RowNames::No } else { RowNames::default() },
        transpose: says(2),
        missing: if says(3) { Missing::Keep } else { Missing::Refuse },
        infinite: says(4),
        ..TableOptions::default()
    };
    let Ok(table) = parse_table(rest.to_vec(), Path::new("table.csv"), &options, &Control::unlimited()) else { return };
    assert_eq!(table.values.len(), table.rows * table.columns());
    assert!(table.row_names.is_none_or(|names| names.len() == table.rows));
    assert_eq!(table.names.iter().collect::<HashSet<_>>().len(), table.names.len());
    let is_allowed = |value: &f64| {
        value.is_finite() || (value.is_nan() && says(3)) || (value.is_infinite() && says(4))
    };
    assert!(table.values.iter().all(is_allowed));
});
