//! `equipoise svm`: training, predicting, model files, walks and folds, on data small enough to check.

mod choosing;
mod models;
mod public_data;
mod ranks;
mod refused;
mod tables;
mod train;
mod verify;

use std::path::Path;

use serde_json::Value;

use crate::{Finished, equipoise, write};

/// Four points on a line, -2 and -1 against 1 and 2: w = 1, b = 0, objective 1/2.
const LINE: &str = "-1 1:-2\n-1 1:-1\n1 1:1\n1 1:2\n";

/// Overlapping points of two labels, with features 1 to 3 of which the last is rare.
fn overlapping(folder: &Path, name: &str, rows: u32) -> String {
    let row = |i: u32| {
        let (a, b) = (f64::from(i * 37 % 100) / 50.0 - 1.0, f64::from(i * 61 % 100) / 50.0 - 1.0);
        let label = if (a + 0.5 * b > 0.1) == i.is_multiple_of(11) { "-1" } else { "+1" };
        let rare = if i.is_multiple_of(7) { " 9:1" } else { "" };
        format!("{label} 2:{a} 5:{b}{rare}\n")
    };
    write(folder, name, &(0..rows).map(row).collect::<String>())
}

/// Three labels in three corners, one row in ten elsewhere.
fn corners(folder: &Path, name: &str) -> String {
    let row = |i: u32| {
        let label = if i % 10 == 9 { (i + 1) % 3 } else { i % 3 };
        let noise = |k: u32| f64::from(i * k % 17) / 17.0;
        let (a, b) = ([(0.0, 0.0), (2.0, 0.0), (0.0, 2.0)])[(i % 3) as usize];
        format!("{} 1:{} 2:{}\n", 3 * label + 1, a + noise(5), b + noise(7))
    };
    write(folder, name, &(0..90).map(row).collect::<String>())
}

/// Points near the line y = 3 a - 1.
fn sloped(folder: &Path, name: &str) -> String {
    let row = |i: u32| {
        let (a, noise) = (f64::from(i) / 20.0, f64::from(i * 13 % 7) / 35.0 - 0.1);
        format!("{} 1:{a}\n", 3.0 * a - 1.0 + noise)
    };
    write(folder, name, &(0..60).map(row).collect::<String>())
}

/// `svm` with these arguments.
fn svm(args: &[&str]) -> Finished {
    equipoise(&[&["svm"], args].concat())
}

#[track_caller]
fn number(json: &Value, field: &str) -> f64 {
    json[field].as_f64().unwrap_or_else(|| panic!("no number {field} in {json}"))
}
