//! Numbers are never printed with hundreds of digits, however large or small they are.

use crate::{equipoise, scratch, text, write};

const TABLE: &str = "y,a,b\n1,2,3\n2,3,5\n3,1,1\n4,7,2\n5,3,4\n6,1,9\n";

/// More digits in a row than any number needs.
fn long(words: &str) -> Option<&str> {
    let is_digit = |letter: char| letter.is_ascii_digit() || letter == '.';
    words.split(|letter| !is_digit(letter)).find(|row| row.len() > 30)
}

#[test]
fn of_every_model_on_every_way_out() {
    let folder = scratch("numerals");
    let table = write(&folder, "table.csv", TABLE);
    let signal = write(&folder, "signal.csv", "1e-200\n3e-200\n-2e-200\n1e-200\n5e-200\n");
    let prices = write(&folder, "prices.csv", "A,B\n1,2\n1.1,2.1\n1.05,2.3\n1.2,2.2\n1.3,2.25\n");
    let users = write(&folder, "users.csv", "c2,c1,lower,upper\n1,1,0,5\n2,1,0,5\n");
    let lines = [
        "lasso fit TABLE --target y --lambda 1e-300 --history HISTORY",
        "lasso fit TABLE --target y --lambda 1e300 --history HISTORY",
        "lasso path TABLE --target y --lambdas 1e300,1e-250 --history HISTORY",
        "constrained fit TABLE --target y --sum 1e-300 --history HISTORY",
        "constrained fit TABLE --target y --sum 1e300 --history HISTORY",
        "fused fit SIGNAL --lambda 1e-201 --history HISTORY",
        "fused path SIGNAL --steps 3",
        "allocate USERS --demand 1e-300 --history HISTORY",
        "allocate USERS --demand 1e300",
        "portfolio PRICES --budget 1e-200",
        "portfolio PRICES --budget 1e200 --frontier-csv HISTORY --frontier 2",
        "consensus fit TABLE --shards 2 --loss ridge --ridge 1e-200 --target y --history HISTORY --max-messages 20",
        "consensus fit TABLE --shards 2 --loss ridge --ridge 1e200 --target y --history HISTORY",
        "svm path TABLE --target y --kind svr --costs 1e-300,1e200",
        "svm train TABLE --target y --kind svr --cost 1e250 --history HISTORY",
    ];
    for (k, line) in lines.iter().enumerate() {
        let history = folder.join(format!("{k}.csv"));
        let words = |word: &str| match word {
            "TABLE" => table.clone(),
            "SIGNAL" => signal.clone(),
            "PRICES" => prices.clone(),
            "USERS" => users.clone(),
            "HISTORY" => text(&history),
            other => other.to_owned(),
        };
        let args: Vec<String> = line.split(' ').map(words).collect();
        let ran = equipoise(&args.iter().map(String::as_str).collect::<Vec<_>>());
        let history = std::fs::read_to_string(&history).unwrap_or_default();
        assert!(!ran.stdout.is_empty() || !ran.stderr.is_empty(), "{line}");
        for out in [&ran.stdout, &ran.stderr, &history] {
            assert_eq!(long(out), None, "{line}: {out}");
        }
    }
}
