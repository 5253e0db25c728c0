//! Tables: headers, names of rows, separators, quotes, turned over; missing and bad cells named by row and column.

use std::io::Write;

use equipoise::Control;
use equipoise_formats::fit_file::{read_fit, read_standing, write_fit};
use equipoise_formats::table::{Header, Missing, RowNames, Table, TableOptions, read_column, read_table};
use equipoise_formats::{Error, Standing};

use super::{file, scratch};

fn read(test: &str, name: &str, text: &str, options: &TableOptions) -> Result<Table, Error> {
    read_table(file(test, name, text), options, &Control::unlimited())
}

fn plain(test: &str, text: &str) -> Result<Table, Error> {
    read(test, "data.csv", text, &TableOptions::default())
}

#[test]
fn a_header_names_the_columns() {
    let table =
        plain("table_header", "a,\"b, c\",d\n1,2,3\r\n\n -4 , 5e-3,123456789012345678\n").expect("a table");
    assert_eq!(table.names, ["a", "b, c", "d"]);
    assert_eq!((table.rows, table.columns(), table.row_names.as_ref()), (2, 3, None));
    assert_eq!(table.values, [1.0, -4.0, 2.0, 5e-3, 3.0, 123456789012345678.0]);
    assert_eq!(table.column(1), [2.0, 5e-3]);
}

#[test]
fn a_first_line_of_numbers_is_no_header_unless_told_so() {
    let text = "1,2\n3,4\n";
    let table = plain("table_numbers", text).expect("a table");
    assert_eq!((table.names.join(" "), table.rows), ("1 2".into(), 2));
    let told = TableOptions { header: Header::Yes, ..TableOptions::default() };
    let table = read("table_told", "data.csv", text, &told).expect("a table");
    assert_eq!((table.names.join(" "), table.values), ("1 2".into(), vec![3.0, 4.0]));
    let none = TableOptions { header: Header::No, ..TableOptions::default() };
    let error = read("table_none", "data.csv", "x,y\n1,2\n", &none).expect_err("refused");
    assert!(matches!(&error, Error::BadCell { row: 1, column, .. } if column == "1"), "{error}");
    let table = plain("table_mark", "\u{feff}1\n2").expect("a mark before the first number");
    assert_eq!(table.values, [1.0, 2.0]);
}

#[test]
fn semicolons_tabs_and_packed_files_are_read() {
    for text in ["a;b\n1;2\n3;4\n", "a\tb\n1\t2\n3\t 4\n"] {
        let table = plain("table_separators", text).expect("a table");
        assert_eq!((table.names.join(" "), table.values), ("a b".into(), vec![1.0, 3.0, 2.0, 4.0]));
    }
    let path = scratch("table_packed").join("data.csv.gz");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(b"a,b\n1,2\n").expect("in memory");
    std::fs::write(&path, packed.finish().expect("in memory")).expect("written");
    let table = read_table(&path, &TableOptions::default(), &Control::unlimited()).expect("a table");
    assert_eq!(table.values, [1.0, 2.0]);
}

#[test]
fn names_of_rows_are_recognised_or_asked_for() {
    for text in [",a,b\ns1,1,2\ns2,3,4\n", "a,b\ns1,1,2\ns2,3,4\n"] {
        let table = plain("table_rows", text).expect("a table");
        assert_eq!(table.row_names.as_deref(), Some(&["s1".to_owned(), "s2".to_owned()][..]));
        assert_eq!((table.names.join(" "), table.values), ("a b".into(), vec![1.0, 3.0, 2.0, 4.0]));
    }
    let dates = "Date,a\n2020-01-01,1\n2020-01-02,2\n";
    let error = plain("table_dates", dates).expect_err("refused").to_string();
    assert!(error.contains("line 2: row 1, column `Date`: found \"2020-01-01\""), "{error}");
    let asked = TableOptions { row_names: RowNames::Yes, ..TableOptions::default() };
    let table = read("table_asked", "data.csv", dates, &asked).expect("a table");
    assert_eq!((table.names.join(" "), table.values), ("a".into(), vec![1.0, 2.0]));
    let dropped = TableOptions { drop: vec!["Date".into()], ..TableOptions::default() };
    let table = read("table_dropped", "data.csv", dates, &dropped).expect("a table");
    assert_eq!((table.names.join(" "), table.row_names, table.values), ("a".into(), None, vec![1.0, 2.0]));
}

#[test]
fn a_table_is_turned_over_with_names_from_a_file() {
    let names = file("table_names", "names.csv", "OTU_1, Bacteria, A\nOTU_2, Bacteria, B\n");
    let options = TableOptions { transpose: true, names: Some(names), ..TableOptions::default() };
    let table = read("table_over", "data.csv", "1,2,3\n4,5,6\n", &options).expect("a table");
    assert_eq!((table.names.join(" "), table.rows), ("A B".into(), 3));
    assert_eq!(table.values, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let options = TableOptions { transpose: true, ..TableOptions::default() };
    let table =
        read("table_over", "data.csv", "genus,s1,s2,s3\nA,1,2,3\nB,4,5,6\n", &options).expect("a table");
    assert_eq!(
        (table.names.join(" "), table.row_names),
        ("A B".into(), Some(vec!["s1".into(), "s2".into(), "s3".into()]))
    );
    assert_eq!(table.values, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
}

#[test]
fn names_that_do_not_fit_are_refused() {
    let error = plain("table_twice", "a,b,a\n1,2,3\n").expect_err("refused").to_string();
    assert!(error.ends_with("found the name `a` for columns 1 and 3, expected names that differ"), "{error}");
    let names = file("table_names_short", "names.txt", "a\n");
    let options = TableOptions { names: Some(names), ..TableOptions::default() };
    let error = read("table_short", "data.csv", "1,2\n", &options).expect_err("refused").to_string();
    assert!(error.contains("found 1 names, expected 2, one a column of"), "{error}");
}

#[test]
fn what_is_missing_is_named_by_row_and_column_or_kept() {
    for word in ["", "NA", "nan", "null", "\"\""] {
        let text = format!("a,b,c\n1,2,3\n4,{word},6\n");
        let error = plain("table_missing", &text).expect_err("refused");
        assert!(
            matches!(&error, Error::MissingCell { line: 3, row: 2, column, .. } if column == "b"),
            "{word:?}: {error}"
        );
        let kept = TableOptions { missing: Missing::Keep, ..TableOptions::default() };
        let table = read("table_kept", "data.csv", &text, &kept).expect("a table");
        assert!(table.values[3].is_nan() && table.values.iter().filter(|value| value.is_nan()).count() == 1);
    }
    let error = plain("table_last", "a,b\n1,\n").expect_err("refused");
    assert!(matches!(&error, Error::MissingCell { row: 1, column, .. } if column == "b"), "{error}");
}

#[test]
fn bad_cells_ragged_rows_and_empty_files_are_refused() {
    for (cell, found) in [("x", "\"x\""), ("inf", "\"inf\""), ("1.2.3", "\"1.2.3\""), ("1e999", "\"1e999\"")]
    {
        let error = plain("table_bad", &format!("a,b\n1,2\n3,{cell}\n")).expect_err("refused").to_string();
        assert!(
            error.ends_with(&format!("line 3: row 2, column `b`: found {found}, expected a finite number")),
            "{error}"
        );
    }
    for text in ["a,b\n1,2\n3\n", "a,b\n1,2\n3,4,5\n", "a,b\n1,2\n3,4,\n"] {
        assert!(
            matches!(plain("table_ragged", text), Err(Error::RaggedRow { line: 3, expected: 2, .. })),
            "{text}"
        );
    }
    assert!(matches!(plain("table_head", "a,b,c\n1,2\n"), Err(Error::RaggedRow { .. })));
    for text in ["", "\n\n", "a,b\n"] {
        assert!(matches!(plain("table_empty", text), Err(Error::NoNumbers { .. })), "{text:?}");
    }
    assert!(matches!(plain("table_quote", "a,\"b\n1,2\n"), Err(Error::Malformed { line: 1, .. })));
    let bytes = file("table_bytes", "data.csv", b"a,b\n1,\xff\n");
    let error = read_table(bytes, &TableOptions::default(), &Control::unlimited()).expect_err("refused");
    assert!(matches!(error, Error::NotText { line: 2, .. }), "{error}");
    let ended = Control::unlimited().within(0.0);
    let path = file("table_ended", "data.csv", "a\n1\n");
    assert!(read_table(path, &TableOptions::default(), &ended).expect_err("refused").is_halt());
}

#[test]
fn columns_are_taken_by_name_or_read_from_a_file() {
    let text = "age,height,weight\n1,2,3\n4,5,6\n";
    let mut table = plain("table_take", text).expect("a table");
    let error = table.take("heigth").expect_err("refused").to_string();
    assert!(
        error.contains("no column `heigth`, did you mean `height`?; columns: age, height, weight"),
        "{error}"
    );
    let control = Control::unlimited();
    let target = table.take_or_read("height", &control).expect("a column");
    assert_eq!((target.name.as_str(), target.values, target.file), ("height", vec![2.0, 5.0], None));
    assert_eq!((table.names.join(" "), &table.values), ("age weight".into(), &vec![1.0, 4.0, 3.0, 6.0]));
    let path = file("table_target", "bmi.csv", "7\n8\n");
    let target = table.take_or_read(path.to_str().expect("text"), &control).expect("a file");
    assert_eq!((target.name.as_str(), target.values), ("bmi", vec![7.0, 8.0]));
    let path = file("table_target_long", "bmi.csv", "x\n7\n8\n9\n");
    assert_eq!(read_column(&path, &control).expect("a column").name, "x");
    let error = table.take_or_read(path.to_str().expect("text"), &control).expect_err("refused").to_string();
    assert!(error.contains("found 3 numbers, expected 2, one a row of"), "{error}");
    let matrix = table.into_matrix().expect("finite");
    assert_eq!((matrix.rows(), matrix.columns(), matrix.entry(1, 1)), (2, 2, 6.0));
}

#[test]
fn matrices_are_tables_with_numbers_for_names() {
    let text = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 5\n2 1 7\n";
    let table = read("table_matrix", "data.mtx", text, &TableOptions::default()).expect("a table");
    assert_eq!((table.names.join(" "), table.values), ("1 2".into(), vec![5.0, 7.0, 0.0, 0.0]));
}

#[test]
fn a_fit_has_the_standing_of_its_status_and_gap() {
    let path = scratch("fit").join("fit.json");
    let control = Control::unlimited();
    write_fit(&path, &serde_json::json!({"status": "time_limit", "relative_gap": 1e-3, "x": [0.1]}))
        .expect("written");
    let standing = read_standing(&path, &control).expect("read");
    assert_eq!(standing, Some(Standing { converged: false, measure: 1e-3 }));
    let back: serde_json::Value = read_fit(&path, &control).expect("read");
    assert_eq!(back["x"][0], 0.1);
    write_fit(&path, &serde_json::json!({"status": "converged", "relative_gap": f64::NAN})).expect("written");
    let standing = read_standing(&path, &control).expect("read");
    assert_eq!(standing, Some(Standing { converged: true, measure: f64::INFINITY }));
    // Of many points it is how many are missing that counts.
    let left = |missing: usize| {
        let fit = serde_json::json!({"status": "interrupted", "relative_gap": 0.5, "missing": missing});
        write_fit(&path, &fit).expect("written");
        read_standing(&path, &control).expect("read").expect("a fit")
    };
    let (more, fewer) = (left(7), left(3));
    assert_eq!((more.measure, fewer.measure), (7.0, 3.0));
    assert!(fewer.may_replace(more) && !more.may_replace(fewer));
    std::fs::write(&path, "not json").expect("written");
    assert_eq!(read_standing(&path, &control).expect("read"), None);
}
