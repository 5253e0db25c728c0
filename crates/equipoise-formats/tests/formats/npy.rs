//! `.npy`.

use equipoise::Matrix;
use equipoise_formats::Error;
use equipoise_formats::numbers::{write_matrix_npy, write_vector_npy};

use super::{assert_good_words, dense, file, read_matrix, read_vector, scratch};

/// A file of version 1 with a header and data.
pub(super) fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    with_header(&format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n"), data)
}

fn with_header(header: &str, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(header.len()).expect("short").to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
}

fn read(test: &str, bytes: &[u8]) -> Result<Matrix<'static>, Error> {
    read_matrix(file(&format!("npy-{test}"), "data.npy", bytes))
}

#[test]
fn both_orders_give_the_same_matrix() {
    let bytes = |values: [f64; 6]| values.map(f64::to_le_bytes).concat();
    let expected = dense(2, 3, &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    let by_rows = npy("'<f8'", false, "(2, 3)", &bytes([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    assert_eq!(read("c", &by_rows), Ok(expected.clone()));
    let by_columns = npy("'<f8'", true, "(2, 3)", &bytes([1.0, 4.0, 2.0, 5.0, 3.0, 6.0]));
    assert_eq!(read("fortran", &by_columns), Ok(expected));
}

#[test]
fn every_number_type_is_widened() {
    let cases: [(&str, Vec<u8>); 12] = [
        ("'>f8'", [1.0_f64, 0.0].map(f64::to_be_bytes).concat()),
        ("'<f4'", [1.0_f32, 0.0].map(f32::to_le_bytes).concat()),
        ("'>f4'", [1.0_f32, 0.0].map(f32::to_be_bytes).concat()),
        ("'<i8'", [1_i64, 0].map(i64::to_le_bytes).concat()),
        ("'>i8'", [1_i64, 0].map(i64::to_be_bytes).concat()),
        ("'<i4'", [1_i32, 0].map(i32::to_le_bytes).concat()),
        ("'>i2'", [1_i16, 0].map(i16::to_be_bytes).concat()),
        ("'|i1'", vec![1, 0]),
        ("'<u8'", [1_u64, 0].map(u64::to_le_bytes).concat()),
        ("'<u2'", [1_u16, 0].map(u16::to_le_bytes).concat()),
        ("'|u1'", vec![1, 0]),
        ("'|b1'", vec![1, 0]),
    ];
    for (index, (descr, data)) in cases.iter().enumerate() {
        let path = file(&format!("npy-type-{index}"), "v.npy", npy(descr, false, "(2,)", data));
        assert_eq!(read_vector(path), Ok(vec![1.0, 0.0]), "{descr}");
    }
}

#[test]
fn shapes_of_vectors() {
    let data = [1.0_f64, 2.0].map(f64::to_le_bytes).concat();
    for (test, shape) in [("flat", "(2,)"), ("row", "(1, 2)"), ("column", "(2, 1)")] {
        let path = file(&format!("npy-{test}"), "v.npy", npy("'<f8'", false, shape, &data));
        assert_eq!(read_vector(path), Ok(vec![1.0, 2.0]), "{shape}");
    }
    assert_eq!(read("one-column", &npy("'<f8'", false, "(2,)", &data)), Ok(dense(2, 1, &[1.0, 2.0])));
}

#[test]
fn other_arrays_are_refused_in_words() {
    for (test, descr, shape) in [
        ("complex", "'<c16'", "(1,)"),
        ("text", "'<U2'", "(2,)"),
        ("half", "'<f2'", "(8,)"),
        ("pickle", "'|O'", "(1,)"),
        ("records", "[('a', '<f8'), ('b', '<f8')]", "(1,)"),
        ("cube", "'<f8'", "(1, 1, 2)"),
        ("scalar", "'<f8'", "()"),
    ] {
        let error = read(test, &npy(descr, false, shape, &[0; 16])).expect_err("unsupported");
        assert!(matches!(error, Error::Unsupported { .. }), "{test}: {error}");
        assert_good_words(&error);
    }
}

#[test]
fn damaged_headers_are_refused() {
    let huge = "(18446744073709551615, 18446744073709551615)";
    let nested = with_header(&format!("{{'descr': {}'<f8'", "(".repeat(60_000)), &[]);
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("empty", vec![]),
        ("magic", b"NUMPY nothing".to_vec()),
        ("cut", b"\x93NUMPY\x01\x00\x76".to_vec()),
        ("version", b"\x93NUMPY\x09\x00\x01\x00 ".to_vec()),
        ("long", b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}".to_vec()),
        ("overflow", npy("'<f8'", false, huge, &[])),
        ("overflow-by-zero", npy("'<f8'", false, "(0, 18446744073709551615, 4)", &[])),
        ("hex", npy("'<f8'", false, "(0xffffffffffffffff, 2)", &[])),
        ("negative", npy("'<f8'", false, "(-1,)", &[])),
        ("no-dict", with_header("[1, 2]", &[])),
        ("no-shape", with_header("{'descr': '<f8', 'fortran_order': False}", &[])),
        ("odd-type", npy("'<q9'", false, "(1,)", &[0; 8])),
        ("nested", nested),
        // Each brace may begin a dictionary or a set, which a parser that goes back tries in turn.
        ("braces", with_header(&format!("{{'descr': {}'<f8'", "{".repeat(60)), &[])),
    ];
    for (test, bytes) in cases {
        let error = read(&format!("bad-{test}"), &bytes).expect_err("damaged");
        assert!(matches!(error, Error::BadNpy { .. }), "{test}: {error}");
    }
}

#[test]
fn data_must_be_as_long_as_claimed() {
    let error = read("short", &npy("'<f8'", false, "(3,)", &[0; 16])).expect_err("short");
    assert!(matches!(error, Error::EntryCount { found: 16, expected: 24, .. }), "{error}");
    let error = read("long", &npy("'<f8'", false, "(1,)", &[0; 16])).expect_err("long");
    assert!(matches!(error, Error::EntryCount { found: 16, expected: 8, .. }), "{error}");
    let error = read("claim", &npy("'<f8'", false, "(100000000000, 0)", &[])).expect_err("claim");
    assert!(matches!(error, Error::ClaimTooLarge { .. }), "{error}");
}

#[test]
fn what_is_written_reads_back() {
    let folder = scratch("npy-write");
    let values = [0.1, 1.0 / 3.0, f64::INFINITY, -4.0, 1e-310, 6.0];
    write_vector_npy(folder.join("v.npy"), &values).expect("written");
    assert_eq!(read_vector(folder.join("v.npy")), Ok(values.to_vec()));
    for matrix in [dense(2, 3, &values), dense(0, 0, &[]), dense(6, 1, &values)] {
        write_matrix_npy(folder.join("m.npy"), &matrix).expect("written");
        assert_eq!(read_matrix(folder.join("m.npy")), Ok(matrix));
    }
    let sparse = super::sparse(2, 2, &[0, 1, 1], &[1], &[7.0]);
    write_matrix_npy(folder.join("m.npy"), &sparse).expect("written");
    assert_eq!(read_matrix(folder.join("m.npy")), Ok(dense(2, 2, &[0.0, 7.0, 0.0, 0.0])));
}
