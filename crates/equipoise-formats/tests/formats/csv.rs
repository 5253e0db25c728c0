//! `.csv`.

use equipoise::Matrix;
use equipoise_formats::Error;
use equipoise_formats::numbers::{write_matrix_csv, write_vector_csv};

use super::{assert_good_words, dense, file, read_matrix, read_vector, scratch};

fn read(test: &str, text: &str) -> Result<Matrix<'static>, Error> {
    read_matrix(file(&format!("csv-{test}"), "data.csv", text))
}

#[test]
fn a_matrix_is_read_by_rows() {
    let matrix = read("rows", "1, 2,3\r\n\n 4,5e-1 ,-6\n   \n").expect("valid");
    assert_eq!(matrix, dense(2, 3, &[1.0, 4.0, 2.0, 0.5, 3.0, -6.0]));
}

#[test]
fn infinities_and_nan_pass_through() {
    let values = read_vector(file("csv-inf", "b.csv", "inf\n-inf\nNaN\n")).expect("valid");
    assert_eq!(values[..2], [f64::INFINITY, f64::NEG_INFINITY]);
    assert!(values[2].is_nan());
}

#[test]
fn a_vector_is_a_row_or_a_column() {
    for (test, text) in [("row", "1,2,3"), ("column", "1\n2\n3\n"), ("mark", "\u{feff}1,2,3\n")] {
        assert_eq!(read_vector(file(&format!("csv-vector-{test}"), "v.csv", text)), Ok(vec![1.0, 2.0, 3.0]));
    }
    let error = read_vector(file("csv-vector-square", "v.CSV", "1,2\n3,4\n")).expect_err("a matrix");
    assert!(matches!(error, Error::NotAVector { rows: 2, columns: 2, .. }), "{error}");
}

#[test]
fn text_is_refused_with_its_place() {
    let error = read("text", "1,2\n\n3,four\n").expect_err("text");
    assert!(matches!(&error, Error::NotANumber { line: 3, field: 2, found, .. } if found == "\"four\""));
    assert!(error.to_string().ends_with("data.csv: line 3, field 2: found \"four\", expected a number"));
    let error = read("header", "a,b\n1,2\n").expect_err("a header");
    assert!(matches!(error, Error::NotANumber { line: 1, field: 1, .. }), "{error}");
    let error = read("blank", "1,,2\n").expect_err("an empty field");
    assert!(matches!(&error, Error::NotANumber { field: 2, found, .. } if found == "an empty field"));
    assert_good_words(&error);
}

#[test]
fn ragged_rows_are_refused_with_counts() {
    let error = read("ragged", "1,2,3\n4,5\n").expect_err("ragged");
    assert!(matches!(error, Error::RaggedRow { line: 2, found: 2, expected: 3, .. }), "{error}");
}

#[test]
fn files_without_numbers_or_text_are_refused() {
    assert!(matches!(read("empty", "\n \n"), Err(Error::NoNumbers { .. })));
    let binary = file("csv-binary", "b.csv", b"1,2\n3,\xff\n");
    assert!(matches!(read_matrix(binary), Err(Error::NotText { line: 2, .. })));
    let missing = read_matrix(scratch("csv-missing").join("no.csv")).expect_err("missing");
    assert!(matches!(missing, Error::Io { action: "read", kind: std::io::ErrorKind::NotFound, .. }));
    let odd = read_matrix("data.txt").expect_err("unknown ending");
    assert!(matches!(odd, Error::UnknownExtension { .. }), "{odd}");
}

#[test]
fn what_is_written_reads_back_bit_for_bit() {
    let folder = scratch("csv-write");
    let values = [0.1, 1.0 / 3.0, -0.0, 1e-310, f64::MAX, f64::NEG_INFINITY];
    write_vector_csv(folder.join("v.csv"), &values).expect("written");
    let back = read_vector(folder.join("v.csv")).expect("valid");
    assert_eq!(back.map_bits(), values.to_vec().map_bits());
    let matrix = dense(2, 3, &values);
    write_matrix_csv(folder.join("m.csv"), &matrix).expect("written");
    assert_eq!(read_matrix(folder.join("m.csv")), Ok(matrix));
}

/// Bits, so that -0 and 0 differ.
trait Bits {
    fn map_bits(self) -> Vec<u64>;
}

impl Bits for Vec<f64> {
    fn map_bits(self) -> Vec<u64> {
        self.into_iter().map(f64::to_bits).collect()
    }
}

#[test]
fn a_raised_flag_ends_the_reading() {
    let path = file("csv-interrupt", "long.csv", "0.25,0.5\n".repeat(200_000));
    let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let error =
        equipoise_formats::numbers::read_matrix(&path, &equipoise::Control::on(flag)).expect_err("ended");
    assert!(matches!(error, Error::Halted { .. }), "{error}");
    assert_eq!(read_matrix(path).expect("valid").rows(), 200_000);
}
