//! Labelled rows that are refused, with line, column and words.

use std::io::{self, Read};
use std::path::Path;

use equipoise::Control;
use equipoise_formats::Error;
use equipoise_formats::libsvm::{ReadOptions, parse, read, read_path, read_with_features};

use super::{assert_good_words, scratch};

const OPTIONS: ReadOptions = ReadOptions { threads: 2 };

fn error(text: &[u8]) -> Error {
    let error = parse(text, "train.txt", OPTIONS).expect_err("a fault");
    assert_good_words(&error);
    assert!(error.to_string().contains("train.txt"), "{error}");
    error
}

#[test]
fn faults_are_told_with_line_and_column() {
    for (text, place, found, advice) in [
        ("1 1:1\n-1 0:1\n", (2, 4), "feature number 0", "add 1 to every feature number"),
        ("1 1:2 0:1\n", (1, 7), "feature number 0", "add 1"),
        ("1 1:1\n\n# c\n1  4294967296:1", (4, 4), "feature number 4294967296", "number the features"),
        ("1 99999999999999999999999:1", (1, 3), "feature number 99999999999999999999999", "number"),
        ("1 1:1 2:nan\n", (1, 9), "\"nan\"", "leave the entry out"),
        ("1 1:-inf\n", (1, 5), "\"-inf\"", "leave the entry out"),
        ("1 1:1e999\n", (1, 5), "\"1e999\"", "below 1.8e308"),
        ("1 1:1 2:\n", (1, 9), "no value", "without blanks"),
        ("1 1: 5\n", (1, 5), "no value", "without blanks"),
        ("1 1:abc\n", (1, 5), "\"abc\"", "replace the value"),
        ("1 1:1:1\n", (1, 5), "\"1:1\"", "replace the value"),
        ("1 1:0x10\n", (1, 5), "\"0x10\"", "replace the value"),
        ("1 1:1_0\n", (1, 5), "\"1_0\"", "replace the value"),
        ("1 1:--1\n", (1, 5), "\"--1\"", "replace the value"),
        ("1 1:1 5\n", (1, 7), "\"5\"", "a colon and its value"),
        ("1 -3:1\n", (1, 3), "\"-3\"", "by its number"),
        ("1 +3:1\n", (1, 3), "\"+3\"", "by its number"),
        ("1 1.5:1\n", (1, 3), "\"1.5\"", "by its number"),
        ("1 :1\n", (1, 3), "\"\"", "by its number"),
        ("1 word:1\n", (1, 3), "\"word\"", "by its number"),
        ("1 1:1 qid:3 2:1\n", (1, 7), "\"qid:3\"", "behind the label"),
        ("1 qid:x 2:1\n", (1, 3), "\"qid:x\"", "behind the label"),
        ("1 qid:1 qid:2 2:1\n", (1, 9), "\"qid:2\"", "behind the label"),
        ("1,2 3:4\n", (1, 1), "\"1,2\"", "several labels"),
        ("1 1:1\n 3:4 5:6\n", (2, 2), "\"3:4\"", "begin the row with its label"),
        ("spam 3:4\n", (1, 1), "\"spam\"", "name classes by numbers"),
        ("nan 3:4\n", (1, 1), "\"nan\"", "finite number"),
        ("-inf 3:4\n", (1, 1), "\"-inf\"", "finite number"),
        ("1 3:1 4:1 3:1\n", (1, 11), "feature 3 a second time in this row", "remove one"),
        ("1 3:1 3:1\n", (1, 7), "feature 3 a second time in this row", "remove one"),
        ("1 3:2 9:1 3:0\n", (1, 11), "feature 3 a second time in this row", "remove one"),
        ("1 qid:3 3:2 9:1 03:1#\n", (1, 17), "feature 3 a second time in this row", "remove one"),
    ] {
        let error = error(text.as_bytes());
        let words = error.to_string();
        let Error::BadRow { line, column, found: seen, .. } = error else { panic!("{text:?}: {words}") };
        assert_eq!(((line, column), seen.as_str()), (place, found), "{text:?}");
        assert!(words.contains(advice) && words.contains("allowed: "), "{words}");
    }
}

#[test]
fn words_of_one_fault() {
    assert_eq!(
        error(b"1 1:1\n-1 0:1\n").to_string(),
        "train.txt: line 2, column 4: found feature number 0, allowed: a whole number from 1 to 4294967295 \
         before the colon; add 1 to every feature number of the file"
    );
}

#[test]
fn files_without_rows_are_refused() {
    for text in ["", "\n\n", "# only a comment", "  \r\n\t\n"] {
        assert!(matches!(error(text.as_bytes()), Error::NoRows { .. }), "{text:?}");
    }
}

#[test]
fn what_is_no_text_is_refused() {
    for bytes in [&b"\x7fELF\x02\x01\x01\0\0\0\n"[..], b"\xff\xfe1\0 \0", b"\0", b"1 \x80:1\n"] {
        assert!(matches!(error(bytes), Error::BadRow { line: 1, .. }), "{bytes:?}");
    }
    let long = format!("1 1:1\n{}", "x".repeat(100_000));
    assert!(error(long.as_bytes()).to_string().len() < 300);
}

#[test]
fn other_packings_are_refused_in_words() {
    assert!(matches!(error(b"PK\x03\x04aaaa"), Error::Unsupported { .. }));
    for bytes in
        [&b"\x1f\x8b"[..], b"\x1f\x8bgarbage", b"BZh9garbage", b"\xfd7zXZ\0garbage", b"\x28\xb5\x2f\xfdaaaa"]
    {
        assert!(matches!(error(bytes), Error::Damaged { .. }), "{bytes:?}");
    }
}

#[test]
fn an_endless_line_is_refused() {
    let endless = io::repeat(b' ').take(300 << 20);
    let error =
        read(endless, "train.txt", ReadOptions { threads: 1 }, &Control::unlimited()).expect_err("endless");
    assert_eq!(
        error,
        Error::LineTooLong { path: Path::new("train.txt").into(), line: 1, allowed: 256 << 20 }
    );
    assert_good_words(&error);
}

/// Some text, and then a failing disk.
struct Failing(&'static [u8]);

impl Read for Failing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() { Err(io::Error::from_raw_os_error(5)) } else { self.0.read(buffer) }
    }
}

#[test]
fn what_the_system_refuses_is_told_as_such() {
    let missing = read_path(scratch("libsvm-missing").join("none.txt"), OPTIONS, &Control::unlimited())
        .expect_err("no file");
    assert!(matches!(missing, Error::Io { kind: io::ErrorKind::NotFound, .. }));
    for text in [&b"1 1:1\n1 2:1"[..], b"\x1f\x8b\x08\0\0\0\0\0\0"] {
        assert!(
            matches!(read(Failing(text), "t", OPTIONS, &Control::unlimited()), Err(Error::Io { .. })),
            "{text:?}"
        );
    }
}

#[test]
fn lists_of_features_must_ascend() {
    for (features, place) in [(&[0, 1][..], 1), (&[1, 2, 2], 3), (&[5, 4], 2)] {
        let error = read_with_features(&b"1 1:1\n"[..], "t", features, OPTIONS, &Control::unlimited())
            .expect_err("out of order");
        assert!(matches!(error, Error::FeatureOrder { position, .. } if position == place), "{error:?}");
        assert_good_words(&error);
    }
}
