//! Labelled rows that are well-formed: spellings, columns, compression, chunks and threads.

use std::io::Write;

use equipoise::Control;
use equipoise_formats::libsvm::{
    LabelledRows, ReadOptions, parse, parse_in_chunks, read, read_path, read_path_with_features,
    read_with_features,
};
use equipoise_formats::{Error, Result};

use super::file;

const ONE: ReadOptions = ReadOptions { threads: 1 };

fn rows(text: &str) -> LabelledRows {
    parse(text.as_bytes(), "t", ONE).unwrap_or_else(|error| panic!("{error}: {text:?}"))
}

/// Each row as its label and `(feature, value)` pairs.
pub(super) fn listed(rows: &LabelledRows) -> Vec<(f64, Vec<(u32, f64)>)> {
    let entry = |at: usize| {
        let value = rows.values.as_ref().map_or(1.0, |values| values[at]);
        (rows.features[rows.indices[at] as usize], value)
    };
    let row = |row: usize| (rows.labels[row], (rows.starts[row]..rows.starts[row + 1]).map(entry).collect());
    (0..rows.labels.len()).map(row).collect()
}

#[test]
fn columns_are_the_features_that_occur() {
    let found = rows("+1 3:0.5 70:1\n-1 3:-2e3\n0.5\n1e3 9:1.5\n");
    assert_eq!(found.labels, [1.0, -1.0, 0.5, 1000.0]);
    assert_eq!(found.starts, [0, 2, 3, 3, 4]);
    assert_eq!(found.indices, [0, 2, 0, 1]);
    assert_eq!(found.values, Some(vec![0.5, 1.0, -2000.0, 1.5]));
    assert_eq!(found.features, [3, 9, 70]);
    assert_eq!(found.largest_feature, 70);
    assert!(found.notes.is_empty());
}

#[test]
fn ones_are_not_stored() {
    assert_eq!(rows("1 1:1 2:1.0 3:+1 4:1e0 5:10e-1\n-1 12345678:1\n").values, None);
    assert_eq!(rows("1 1:1 2:1\n-1 1:1 2:2 3:1\n1 4:1\n").values, Some(vec![1.0, 1.0, 1.0, 2.0, 1.0, 1.0]));
    // A zero is dropped; it does not fill the ones in.
    assert_eq!(rows("1 1:1 2:0 3:1\n").values, None);
}

#[test]
fn zeros_are_dropped_but_count_for_the_largest_feature() {
    let found = rows("1 1:0.5 2:0 3:-0.0 4:0e5 9:0\n1 7:0.25 5:0.0\n-1 1:0\n");
    assert_eq!(listed(&found), [(1.0, vec![(1, 0.5)]), (1.0, vec![(7, 0.25)]), (-1.0, vec![])]);
    assert_eq!((found.features, found.largest_feature), (vec![1, 7], 9));
}

#[test]
fn spellings_that_mean_the_same() {
    let plain = rows("1 1:0.5 3:2\n-1 2:1\n");
    for text in [
        "1 1:0.5 3:2\n-1 2:1",
        "1 1:0.5 3:2 \n-1 2:1 \n",
        "1 1:0.5 3:2\r\n-1 2:1\r\n",
        "1\t1:0.5\t\t3:2\n-1  2:1\n",
        "  +1 1:.5 3:2.\n-1.0 2:1\n",
        "\n\n1 1:5e-1 3:2 # a comment: 7:8\n# another\n   \n-1 2:1#\n\n",
        "1 qid:7 1:0.5 3:2\n-1 \t qid:0 2:1\n",
        "1 3:2 1:0.5\n-1 2:1\n",
        "01 0001:0.500000000000000000000 00000000003:2\n-1e0 2:1\n",
        "\u{feff}1 1:0.5 3:2\n-1 2:1\n",
        "1 1:0.5 3:2 2:0\n-1 2:1 # non-ASCII: \u{e9}\n",
        "1 1:0.5 3:2\n-1 2:0.00001e5\n",
    ] {
        assert_eq!(rows(text), plain, "{text:?}");
    }
}

#[test]
fn unsorted_rows_are_sorted() {
    let found = rows("1 9:1 3:1 5:1\n2 7:3 1:0.5 4:2\n");
    assert_eq!(
        listed(&found),
        [(1.0, vec![(3, 1.0), (5, 1.0), (9, 1.0)]), (2.0, vec![(1, 0.5), (4, 2.0), (7, 3.0)])]
    );
    let found = rows("1 9:1 3:1\n-1 4:1\n");
    assert_eq!((found.indices, found.values), (vec![0, 2, 1], None));
}

#[test]
fn the_largest_feature_costs_nothing() {
    let found = rows("1 1:1 4294967295:1\n-1 4294967294:0.5 70000:2\n");
    assert_eq!(found.features, [1, 70000, 4294967294, 4294967295]);
    assert_eq!(found.indices, [0, 3, 1, 2]);
    assert_eq!(found.largest_feature, u32::MAX);
    let found = rows("1 4294967295:0\n");
    assert_eq!((found.features, found.largest_feature), (vec![], u32::MAX));
}

#[test]
fn many_scattered_features_are_renumbered_in_order() {
    // More distinct features than one block of the search, far apart and in no order.
    let feature = |at: u32| at.wrapping_mul(2_654_435_761) | 1;
    let mut text = String::new();
    for row in 0..2000 {
        text.push('1');
        for entry in 0..100 {
            text += &[" ", &feature(row * 100 + entry).to_string(), ":0.5"].concat();
        }
        text.push('\n');
    }
    for threads in [1, 3] {
        let found = parse(text.as_bytes(), "t", ReadOptions { threads }).expect("well-formed");
        let mut expected: Vec<u32> = (0..200_000).map(feature).collect();
        expected.sort_unstable();
        expected.dedup();
        assert_eq!(found.features, expected);
        for (row, (_, entries)) in listed(&found).into_iter().enumerate() {
            let mut features: Vec<u32> = (0..100).map(|entry| feature(row as u32 * 100 + entry)).collect();
            features.sort_unstable();
            assert!(entries.iter().map(|&(feature, _)| feature).eq(features));
        }
    }
}

#[test]
fn compressed_data_are_recognised_by_their_bytes() -> Result<()> {
    let text = "+1 3:0.5 70:1\n-1 3:2\n".repeat(500);
    let plain = rows(&text);
    let (first, second) = text.as_bytes().split_at(5001);
    for (name, pack) in [("gz", gzip as fn(&[u8]) -> Vec<u8>), ("bz2", bzip2), ("xz", xz)] {
        let whole = pack(text.as_bytes());
        // Several members one after the other, as parallel compressors make them.
        let members = [pack(first), pack(second)].concat();
        for bytes in [&whole, &members] {
            assert_eq!(parse(bytes, name, ONE)?, plain);
            assert_eq!(
                read(bytes.as_slice(), name, ReadOptions { threads: 2 }, &Control::unlimited())?,
                plain
            );
            assert_eq!(
                read_path(file("libsvm-packed", "no-ending", bytes), ONE, &Control::unlimited())?,
                plain
            );
        }
        for cut in [whole.len() / 2, whole.len() - 1] {
            let error = parse(&whole[..cut], name, ONE).expect_err("cut short");
            assert!(matches!(error, Error::Damaged { .. }), "{error:?}");
        }
    }
    Ok(())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(bytes).and_then(|()| packer.finish()).expect("memory takes everything")
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut packer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    packer.write_all(bytes).and_then(|()| packer.finish()).expect("memory takes everything")
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::with_preset(1);
    let mut packer = lzma_rust2::XzWriter::new(Vec::new(), options).expect("a known preset");
    packer.write_all(bytes).and_then(|()| packer.finish()).expect("memory takes everything")
}

#[test]
fn a_packed_flood_of_newlines_needs_no_memory() {
    // 64 MiB of newlines in some 64 KiB.
    let bomb = gzip(&vec![b'\n'; 64 << 20]);
    assert!(matches!(parse(&bomb, "bomb.gz", ONE), Err(Error::NoRows { .. })));
}

#[test]
fn chunks_and_threads_change_nothing() {
    let mut text = String::from("# head\n");
    for row in 0..300_u32 {
        let values = ["1", "1", "0.25", "-3e-05", "0", "1.0"];
        text.push_str(["1", "-1", "+0.5"][row as usize % 3]);
        // Ones only at first.
        let kinds = if row < 150 { 2 } else { 6 };
        for entry in 0..row % 7 {
            let feature = (row * 31 + entry * 17) % 101 + 1;
            text += &[" ", &feature.to_string(), ":", values[((row + entry) % kinds) as usize]].concat();
        }
        text.push_str([" \n", "\n", "\r\n", " # x\n\n"][row as usize % 4]);
    }
    let plain = rows(&text);
    assert!(plain.values.is_some() && plain.labels.len() == 300);
    let broken = format!("{text}1 5:x\n{text}1 6:y\n");
    let error = parse(broken.as_bytes(), "t", ONE).expect_err("a fault");
    for threads in [0, 1, 2, 7] {
        for chunk_bytes in [1, 16, 61, 256, 1000, 100_000] {
            let options = ReadOptions { threads };
            assert_eq!(parse_in_chunks(text.as_bytes(), "t", options, chunk_bytes).as_ref(), Ok(&plain));
            assert_eq!(parse_in_chunks(broken.as_bytes(), "t", options, chunk_bytes).as_ref(), Err(&error));
        }
    }
}

#[test]
fn given_features_are_kept_and_others_dropped() -> Result<()> {
    let path = file("libsvm-given", "test.txt", "1 2:0.5 3:1 9:4\n-1 4294967295:2 1:3\n1 70:0\n");
    let found = read_path_with_features(&path, &[1, 3, 5, 9], ONE, &Control::unlimited())?;
    assert_eq!(found.labels, [1.0, -1.0, 1.0]);
    assert_eq!((found.starts, found.indices), (vec![0, 2, 3, 3], vec![1, 3, 0]));
    assert_eq!(found.values, Some(vec![1.0, 4.0, 3.0]));
    assert_eq!((found.features, found.largest_feature), (vec![1, 3, 5, 9], u32::MAX));
    assert_eq!(
        found.notes,
        ["left out 2 entries of features that are not among those asked for, such as feature 2"]
    );

    let found = read_path_with_features(&path, &[2, 4000000000, u32::MAX], ONE, &Control::unlimited())?;
    assert_eq!((found.starts, found.indices), (vec![0, 1, 2, 2], vec![0, 2]));

    let found = read_with_features(&b"1 3:1 4:1\n"[..], "t", &[3, 4], ONE, &Control::unlimited())?;
    assert_eq!((found.indices, found.values, found.notes), (vec![0, 1], None, vec![]));
    let found = read_with_features(&b"1 3:1 4:1\n"[..], "t", &[], ONE, &Control::unlimited())?;
    assert_eq!((found.starts, found.indices), (vec![0, 0], vec![]));
    Ok(())
}

#[test]
fn scales_far_apart_are_worth_a_note() {
    let found = rows("1 7:2300000 12:0.5\n-1 7:-3 12:-0.25 13:70000\n");
    assert_eq!(
        found.notes,
        [
            "feature 7 reaches 2.3e6 and feature 12 only 0.5: scale the features (svm-scale or a standardiser), \
          or expect slow convergence"
        ]
    );
    assert!(rows("1 7:9999 12:1.01\n").notes.is_empty());
    assert_eq!(rows("1 7:1e300 4294967295:5e-324\n").notes.len(), 1);
}
