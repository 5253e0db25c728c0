//! Rows of a file, a batch at a time: the same as the whole, whatever the batches; faults name their row.

use std::fs;
use std::path::Path;

use equipoise::matrix::ByRow;
use equipoise::smooth::SampleBatch;
use equipoise::{Control, Matrix};
use equipoise_formats::problem_file::{Entry, Loading, ProblemFile, SolveSpec};
use equipoise_formats::row_stream::{RowPass, RowStream};
use equipoise_formats::{Error, libsvm};

use super::npy::npy;
use super::{assert_good_words, file, read_matrix, scratch};

fn open(path: impl AsRef<Path>) -> Result<RowStream, Error> {
    RowStream::open(path, &Control::unlimited())
}

type Gathered = (Vec<Vec<f64>>, Vec<f64>);

/// All rows of a pass as dense rows, and their labels; also checks the limit.
fn gather(stream: &RowStream, most_bytes: usize) -> Result<Gathered, Box<(usize, Error)>> {
    let mut pass = stream.pass().map_err(|error| Box::new((0, error)))?;
    let (mut rows, mut labels, mut used) = (Vec::new(), Vec::new(), None);
    while let Some(batch) = next(&mut pass, most_bytes, used)? {
        assert_eq!(batch.first, rows.len());
        let taken = match &batch.rows {
            ByRow::Dense { values, .. } => 8 * values.len(),
            ByRow::Sparse(rows) => 12 * rows.entries(),
        };
        for i in 0..batch.rows.len() {
            rows.push((0..stream.columns()).map(|c| batch.rows.entry(i, c)).collect());
        }
        assert!(batch.rows.len() == 1 || taken <= most_bytes, "{taken} bytes of {most_bytes}");
        labels.extend_from_slice(&batch.target);
        used = Some(batch);
    }
    assert_eq!(pass.row(), stream.rows());
    Ok((rows, labels))
}

fn next(
    pass: &mut RowPass,
    most: usize,
    used: Option<SampleBatch>,
) -> Result<Option<SampleBatch>, Box<(usize, Error)>> {
    pass.next(most, used).map_err(|error| Box::new((pass.row(), error)))
}

/// The file gives these rows for every size of batch.
fn agrees(path: &Path, matrix: &Matrix, labels: &[f64]) {
    let stream = open(path).expect("readable");
    assert_eq!((stream.rows(), stream.columns()), (matrix.rows(), matrix.columns()));
    let row = |r| (0..matrix.columns()).map(|c| matrix.entry(r, c)).collect();
    let expected: Vec<Vec<f64>> = (0..matrix.rows()).map(row).collect();
    for most_bytes in [0, 1, 50, 100, 333, 1 << 20] {
        let (rows, found) = gather(&stream, most_bytes).expect("finite");
        assert_eq!((&rows, &found[..]), (&expected, labels), "{most_bytes}");
    }
}

fn values(count: usize) -> Vec<f64> {
    (0..count).map(|k| (k * k % 17) as f64 / 4.0 - 1.0).collect()
}

#[test]
fn npy_in_both_orders_and_other_types() {
    let bytes: Vec<u8> = values(21).into_iter().flat_map(f64::to_le_bytes).collect();
    for fortran in [false, true] {
        let content = npy("'<f8'", fortran, "(7, 3)", &bytes);
        let path = file(&format!("rows-npy-{fortran}"), "m.npy", content);
        agrees(&path, &read_matrix(&path).expect("readable"), &[]);
        assert_eq!(open(&path).expect("readable").memory(), 8 * 21);
    }
    let narrow: Vec<u8> = values(12).into_iter().flat_map(|v| (v as f32).to_be_bytes()).collect();
    let path = file("rows-npy-f4", "m.npy", npy("'>f4'", false, "(3, 4)", &narrow));
    agrees(&path, &read_matrix(&path).expect("readable"), &[]);
    let path = file("rows-npy-column", "m.npy", npy("'|i1'", false, "(5,)", &[1, 2, 255, 4, 5]));
    agrees(&path, &read_matrix(&path).expect("readable"), &[]);
}

#[test]
fn csv_as_the_reader_of_whole_files_takes_it() {
    let text = "\u{feff}1, 2,3\r\n\r\n-4,5e-1,6\n\n  \n7,8,9\n10,11,12\n0,0,0.125";
    let path = file("rows-csv", "m.csv", text);
    agrees(&path, &read_matrix(&path).expect("readable"), &[]);
}

#[test]
fn labelled_rows_have_a_column_for_every_feature() {
    let text = "+1 3:0.5 7:1\n# nothing\n-1 1:1 2:-2 3:0\n\n0.5\n+1 7:4 1:2\n";
    let path = file("rows-svm", "m.svm", text);
    let (matrix, labels) = libsvm::read_labelled_matrix(&path, &Control::unlimited()).expect("readable");
    let mut stored = 0;
    matrix.for_each(|_, _, _| stored += 1);
    assert_eq!((matrix.rows(), matrix.columns(), stored), (4, 7, 6));
    assert_eq!((matrix.entry(0, 6), matrix.entry(1, 1), matrix.entry(3, 0)), (1.0, -2.0, 2.0));
    agrees(&path, &matrix, &labels);
    assert_eq!(labels, [1.0, -1.0, 0.5, 1.0]);
    let stream = open(&path).expect("readable");
    assert_eq!((stream.memory(), stream.is_labelled()), (12 * 6, true));
    // Enough rows for several chunks of text.
    let row = |k: usize| format!("{} {}:1 40:{k}.5", k % 2, 1 + k % 39);
    let long = (0..20_000).map(row).collect::<Vec<_>>().join(
        "
",
    );
    let path = file("rows-svm-long", "m.libsvm", long);
    let (rows, labels) = gather(&open(&path).expect("readable"), 4096).expect("well-formed");
    assert_eq!((rows.len(), labels.len(), rows[19_999][39]), (20_000, 20_000, 19_999.5));
}

/// The row and the words of the fault that a pass meets.
#[track_caller]
fn fault(stream: &RowStream, row: usize, words: &str) {
    for most_bytes in [0, 64, 1 << 20] {
        let (found, error) = *gather(stream, most_bytes).expect_err("a fault");
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(found, row, "{error}");
        assert_good_words(&error);
    }
}

#[test]
fn what_is_not_finite_is_named_by_its_row() {
    let mut numbers = values(12);
    numbers[7] = f64::NAN;
    let bytes: Vec<u8> = numbers.iter().copied().flat_map(f64::to_le_bytes).collect();
    let path = file("rows-nan-npy", "m.npy", npy("'<f8'", false, "(4, 3)", &bytes));
    fault(&open(path).expect("readable"), 2, "m.npy: row 2, column 1 is NaN");
    let path = file("rows-nan-fortran", "m.npy", npy("'<f8'", true, "(4, 3)", &bytes));
    fault(&open(path).expect("readable"), 3, "m.npy: row 3, column 1 is NaN");
    let path = file("rows-nan-csv", "m.csv", "1,2\n\n3,4\n5,-inf\n");
    fault(&open(path).expect("readable"), 2, "m.csv: row 2, column 1 is -inf");
}

#[test]
fn malformed_rows_are_named_by_their_line() {
    let path = file("rows-ragged", "m.csv", "1,2\n\n3,4\n5,6,7\n");
    fault(&open(path).expect("readable"), 2, "m.csv: line 4: found 3 fields");
    let path = file("rows-word", "m.csv", "1,2\n3,x\n");
    fault(&open(path).expect("readable"), 1, "m.csv: line 2, field 2: found \"x\"");
    let path = file("rows-bytes", "m.csv", b"1,2\n3,\xff\n");
    fault(&open(path).expect("readable"), 1, "m.csv: line 2: found bytes that are not UTF-8");
    for (name, content) in [("m.csv", "\n\n"), ("m.svm", "# none\n")] {
        let error = open(file("rows-none", name, content)).expect_err("no rows");
        assert!(error.to_string().contains("found no"), "{error}");
    }
    let path = file("rows-bad-svm", "m.svm", "1 1:1\n-1 2:nan\n");
    let error = open(path).expect_err("malformed");
    assert!(error.to_string().contains("m.svm: line 2, column 6"), "{error}");
}

#[test]
fn a_file_that_changes_is_noticed() {
    let bytes = [1.0_f64; 8].map(f64::to_le_bytes).concat();
    let path = file("rows-cut-npy", "m.npy", npy("'<f8'", false, "(4, 2)", &bytes));
    let stream = open(&path).expect("readable");
    let mut pass = stream.pass().expect("readable");
    assert!(pass.next(32, None).is_ok());
    fs::write(&path, &fs::read(&path).expect("readable")[..100]).expect("writable");
    assert!(pass.next(1 << 20, None).is_err());
    assert!(matches!(stream.pass(), Err(Error::EntryCount { .. })));
    fs::write(&path, npy("'<f8'", false, "(2, 4)", &bytes)).expect("writable");
    assert!(matches!(stream.pass(), Err(Error::Changed { .. })));

    let path = file("rows-cut-csv", "m.csv", "1\n2\n3\n");
    let stream = open(&path).expect("readable");
    fs::write(&path, "1\n2\n").expect("writable");
    fault(&stream, 2, "m.csv: row 2: found the end of the file, expected 3 rows");
    fs::write(&path, "1\n2\n3\n4\n").expect("writable");
    fault(&stream, 3, "m.csv: row 3: found one more row, expected 3 rows");

    let path = file("rows-cut-svm", "m.svm", "1 1:1\n1 2:1\n1 1:1\n");
    let stream = open(&path).expect("readable");
    fs::write(&path, "1 1:1\n").expect("writable");
    fault(&stream, 1, "found the end of the file");
    fs::write(&path, "1 1:1\n1 3:1\n1 1:1\n").expect("writable");
    fault(&stream, 1, "m.svm: row 1: found feature 3, expected features up to 2");
    fs::write(&path, "1 1:1\n1 2:1\n1 1:x\n").expect("writable");
    fault(&stream, 2, "m.svm: line 3, column 5");
}

#[test]
fn matrix_market_files_and_unknown_endings_are_refused() {
    let text = "%%MatrixMarket matrix array real general\n1 1\n1\n";
    let error = open(file("rows-mtx", "m.mtx", text)).expect_err("by columns");
    assert!(error.to_string().contains("order of columns") && error.to_string().contains("convert it"));
    assert_good_words(&error);
    assert!(matches!(open("m.txt"), Err(Error::UnknownExtension { .. })));
}

#[test]
fn a_problem_file_loads_what_is_allowed_and_leaves_the_rest() {
    let folder = scratch("rows-problem");
    fs::write(folder.join("m.csv"), "1,2\n3,4\n5,6\n").expect("writable");
    fs::write(folder.join("m.svm"), "+1 2:1\n-1 1:2 3:1\n").expect("writable");
    let problem = |text: &str, most: Option<u64>| {
        let path = folder.join("p.toml");
        fs::write(&path, text).expect("writable");
        let most = |solve: &SolveSpec| Loading {
            most_bytes: solve.memory_budget.or(most),
            control: Control::unlimited(),
        };
        ProblemFile::read_within(&path, &Control::unlimited(), most).map(|problem| problem.smooth)
    };
    let loaded = |text: &str, most| {
        problem(text, most).is_ok_and(|term| matches!(term.get("matrix"), Some(Entry::Matrix(_))))
    };
    let csv = "[smooth]\nkind = \"huber\"\ndelta = 2\nmatrix = \"m.csv\"\ntarget = [1, 2, 3]\nweights = [1, 1, 2]\n";
    assert!(loaded(csv, None) && loaded(csv, Some(48)));
    let left = problem(csv, Some(47)).expect("readable");
    let Some(Entry::Rows(rows)) = left.get("matrix") else { panic!("{left:?}") };
    assert_eq!((left.kind(), rows.rows(), rows.columns()), ("huber", 3, 2));
    let list = |list: &[f64]| Entry::List(list.to_vec());
    assert_eq!(left.get("target"), Some(&list(&[1.0, 2.0, 3.0])));
    assert_eq!((left.get("weights"), left.get("delta")), (Some(&list(&[1.0, 1.0, 2.0])), Some(&2.0.into())));
    let budget = csv.to_owned() + "[solve]\nmemory_budget = 47\n";
    assert!(!loaded(&budget, None));

    let svm = "[smooth]\nkind = \"logistic\"\nmatrix = \"m.svm\"\n";
    let whole = problem(svm, None).expect("readable");
    let Some(Entry::Matrix(matrix)) = whole.get("matrix") else { panic!("not loaded") };
    assert_eq!((matrix.columns(), whole.get("target")), (3, Some(&list(&[1.0, -1.0]))));
    let left = problem(svm, Some(35)).expect("readable");
    assert!(matches!(left.get("matrix"), Some(Entry::Rows(_))) && left.get("target").is_none());
    let given = problem(&(svm.to_owned() + "target = [1, 1]\n"), Some(35)).expect("readable");
    assert!(matches!(given.get("matrix"), Some(Entry::Rows(_))) && given.get("target").is_some());
    let missing = problem(&csv.replace("target", "weights").replacen("weights = [1, 1, 2]\n", "", 1), None);
    assert!(missing.is_err());
}
