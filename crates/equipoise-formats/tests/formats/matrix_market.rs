//! `.mtx`.

use equipoise::Matrix;
use equipoise_formats::Error;
use equipoise_formats::numbers::write_matrix_market;

use super::{assert_good_words, dense, file, read_matrix, read_vector, scratch};

fn read(test: &str, text: &str) -> Result<Matrix<'static>, Error> {
    read_matrix(file(&format!("mtx-{test}"), "data.mtx", text))
}

fn refused(test: &str, text: &str) -> Error {
    let error = read(test, text).expect_err("malformed");
    assert_good_words(&error);
    error
}

const COORDINATE: &str = "%%MatrixMarket matrix coordinate real general\n";

#[test]
fn coordinates_are_sorted_and_summed() {
    let text = format!("{COORDINATE}% a comment\n\n3 4 4\n3 4 1.5\n1 2 -1\n% more\n3 4 0.5\n\n2 2 inf\n");
    let expected = super::sparse(3, 4, &[0, 0, 2, 2, 3], &[0, 1, 2], &[-1.0, f64::INFINITY, 2.0]);
    assert_eq!(read("coordinate", &text), Ok(expected));
}

#[test]
fn triangles_are_unfolded() {
    let text = "%%matrixmarket MATRIX Coordinate Integer Symmetric\n2 2 2\n1 1 3\n2 1 4\n";
    let matrix = read("symmetric", text).expect("valid");
    assert_eq!(
        [matrix.entry(0, 0), matrix.entry(0, 1), matrix.entry(1, 0), matrix.entry(1, 1)],
        [3.0, 4.0, 4.0, 0.0]
    );
    let text = "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 4\n";
    let matrix = read("skew", text).expect("valid");
    assert_eq!([matrix.entry(0, 1), matrix.entry(1, 0)], [-4.0, 4.0]);
    let text = "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n";
    assert_eq!(read("pattern", text).map(|matrix| matrix.entry(0, 1)), Ok(1.0));
}

#[test]
fn arrays_are_dense() {
    let general = "%%MatrixMarket matrix array real general\n% c\n2 3\n1\n2\n3 4\n5\n6\n";
    assert_eq!(read("array", general), Ok(dense(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])));
    let symmetric = "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n";
    assert_eq!(read("array-symmetric", symmetric), Ok(dense(2, 2, &[1.0, 2.0, 2.0, 3.0])));
    let skew = "%%MatrixMarket matrix array integer skew-symmetric\n3 3\n1\n2\n3\n";
    let expected = dense(3, 3, &[0.0, 1.0, 2.0, -1.0, 0.0, 3.0, -2.0, -3.0, 0.0]);
    assert_eq!(read("array-skew", skew), Ok(expected));
}

#[test]
fn vectors_are_one_row_or_one_column() {
    let column = format!("{COORDINATE}4 1 2\n3 1 7\n1 1 2\n");
    assert_eq!(read_vector(file("mtx-column", "v.mtx", column)), Ok(vec![2.0, 0.0, 7.0, 0.0]));
    let row = "%%MatrixMarket matrix array real general\n1 2\n5\n6\n";
    assert_eq!(read_vector(file("mtx-row", "v.mtx", row)), Ok(vec![5.0, 6.0]));
    let square = format!("{COORDINATE}2 2 0\n");
    let error = read_vector(file("mtx-square", "v.mtx", square)).expect_err("a matrix");
    assert!(matches!(error, Error::NotAVector { rows: 2, columns: 2, .. }), "{error}");
}

#[test]
fn other_sorts_are_refused_in_words() {
    for (test, header) in [
        ("complex", "matrix coordinate complex general"),
        ("hermitian", "matrix coordinate real hermitian"),
        ("vector", "vector coordinate real general"),
        ("format", "matrix elemental real general"),
        ("pattern-array", "matrix array pattern general"),
        ("pattern-skew", "matrix coordinate pattern skew-symmetric"),
    ] {
        let error = refused(test, &format!("%%MatrixMarket {header}\n1 1 1\n1 1 1\n"));
        assert!(matches!(error, Error::Unsupported { .. }), "{test}: {error}");
    }
    let error = refused("complex", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n");
    assert!(error.to_string().contains("\"complex\" is not supported, allowed: real, integer, pattern"));
}

#[test]
fn malformed_lines_are_refused_with_their_number() {
    let body = |text: &str| format!("{COORDINATE}{text}");
    for (test, text, expected_line) in [
        ("nothing", String::new(), 1),
        ("no-banner", "1 1 1\n1 1 1\n".into(), 1),
        ("short-banner", "%%MatrixMarket matrix coordinate real\n".into(), 1),
        ("no-size", body("% only comments\n"), 2),
        ("short-size", body("3 3\n"), 2),
        ("negative-size", body("-3 3 1\n"), 2),
        ("huge-size", body("99999999999999999999999 3 1\n"), 2),
        ("text-value", body("2 2 1\n1 1 one\n"), 3),
        ("text-index", body("2 2 1\nx 1 1\n"), 3),
        ("no-value", body("2 2 1\n1 1\n"), 3),
        ("extra-value", body("2 2 1\n1 1 1 1\n"), 3),
        ("not-square", "%%MatrixMarket matrix array real symmetric\n2 3\n".into(), 2),
        ("upper", "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n".into(), 3),
        ("diagonal", "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 1\n".into(), 3),
        ("fraction", "%%MatrixMarket matrix array integer general\n1 1\n0.5\n".into(), 3),
    ] {
        let error = refused(test, &text);
        assert!(matches!(error, Error::Malformed { line, .. } if line == expected_line), "{test}: {error}");
    }
}

#[test]
fn indices_outside_are_refused() {
    let error = refused("row-0", &format!("{COORDINATE}2 3 1\n0 1 1\n"));
    assert!(matches!(error, Error::IndexOutOfRange { line: 3, axis: "row", found: 0, allowed: 2, .. }));
    let error = refused("column-4", &format!("{COORDINATE}2 3 1\n1 4 1\n"));
    assert!(matches!(error, Error::IndexOutOfRange { line: 3, axis: "column", found: 4, allowed: 3, .. }));
}

#[test]
fn counts_must_be_as_claimed() {
    let error = refused("truncated", &format!("{COORDINATE}2 2 3\n1 1 1\n2 2 1\n"));
    assert!(matches!(error, Error::EntryCount { found: 2, expected: 3, .. }), "{error}");
    let error = refused("surplus", &format!("{COORDINATE}2 2 1\n1 1 1\n2 2 1\n"));
    assert!(matches!(error, Error::EntryCount { found: 2, expected: 1, .. }), "{error}");
    let error = refused("array-short", "%%MatrixMarket matrix array real general\n2 2\n1\n");
    assert!(matches!(error, Error::EntryCount { found: 1, expected: 4, .. }), "{error}");
}

#[test]
fn claims_alone_allocate_nothing() {
    let error = refused("claim-entries", &format!("{COORDINATE}2 2 18446744073709551615\n1 1 1\n"));
    assert!(matches!(error, Error::EntryCount { found: 1, .. }), "{error}");
    let error = refused("claim-columns", &format!("{COORDINATE}2 1000000000000 1\n1 1 1\n"));
    assert!(matches!(error, Error::ClaimTooLarge { columns: 1_000_000_000_000, .. }), "{error}");
    let error = refused("claim-array", "%%MatrixMarket matrix array real symmetric\n9000000 9000000\n1\n");
    assert!(matches!(error, Error::EntryCount { found: 1, .. }), "{error}");
}

#[test]
fn what_is_written_reads_back() {
    let folder = scratch("mtx-write");
    let sparse = super::sparse(3, 4, &[0, 2, 2, 3, 3], &[0, 2, 1], &[1.0 / 3.0, -1e300, 0.0]);
    for matrix in [sparse, dense(2, 2, &[0.1, f64::INFINITY, 3.0, 4.0]), dense(0, 5, &[])] {
        write_matrix_market(folder.join("m.mtx"), &matrix).expect("written");
        assert_eq!(read_matrix(folder.join("m.mtx")), Ok(matrix));
    }
}
