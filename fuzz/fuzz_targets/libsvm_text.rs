//! Any bytes as labelled rows: no panic, the same result for any threads and chunks, and rows that
//! are what they claim to be.
#![no_main]

use equipoise::Control;
use equipoise_formats::libsvm::{LabelledRows, ReadOptions, parse, parse_in_chunks, read_with_features};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let one = parse(bytes, "text", ReadOptions { threads: 1 });
    let chunk_bytes = 1 + bytes.first().map_or(0, |&byte| usize::from(byte) % 64);
    let two = parse_in_chunks(bytes, "text", ReadOptions { threads: 2 }, chunk_bytes);
    assert_eq!(one, two);
    match one {
        Ok(rows) => {
            check(&rows);
            // Asked for its own features, a text gives the same rows.
            let options = ReadOptions { threads: 1 };
            let again = read_with_features(bytes, "text", &rows.features, options, &Control::unlimited()).expect("read before");
            assert_eq!(
                (&again.starts, &again.indices, &again.values),
                (&rows.starts, &rows.indices, &rows.values)
            );
            assert!(again.notes.is_empty());
        }
        Err(error) => assert!(error.to_string().contains("text")),
    }
});

fn check(rows: &LabelledRows) {
    assert_eq!(rows.starts.len(), rows.labels.len() + 1);
    assert_eq!((rows.starts[0], rows.starts[rows.labels.len()]), (0, rows.indices.len()));
    assert!(rows.labels.iter().all(|label| label.is_finite()));
    assert!(rows.features.windows(2).all(|pair| pair[0] < pair[1]));
    assert!(rows.features.iter().all(|&feature| (1..=rows.largest_feature).contains(&feature)));
    for ends in rows.starts.windows(2) {
        assert!(rows.indices[ends[0]..ends[1]].windows(2).all(|pair| pair[0] < pair[1]));
    }
    let mut occurs = vec![false; rows.features.len()];
    rows.indices.iter().for_each(|&index| occurs[index as usize] = true);
    assert!(occurs.iter().all(|&found| found));
    if let Some(values) = &rows.values {
        assert_eq!(values.len(), rows.indices.len());
        assert!(values.iter().all(|value| value.is_finite() && *value != 0.0));
        assert!(values.iter().any(|&value| value != 1.0));
    }
}
