//! Features in units that nobody chose with care: columns over many decades, and far from 0. What is asked is that a training
//! converges, in the user's units, within a number of passes that does not grow with them.

use crate::judge::certified;
use crate::numbers::Numbers;
use crate::{Data, classes, targets};
use equipoise_models::svm::{Kind, TrainSettings};

/// The same rows, every column in another unit and moved.
fn in_units(data: &Data, units: &[f64], origin: &[f64]) -> Data {
    let changed = |row: &Vec<(u32, f64)>| {
        let one = |&(c, value): &(u32, f64)| (c, units[c as usize] * value + origin[c as usize]);
        row.iter().map(one).collect()
    };
    Data::new(units.len(), data.plain.iter().map(changed).collect(), data.labels.clone())
}

fn passes(name: &str, data: &Data, settings: &TrainSettings) -> f64 {
    let trained = certified(data, settings);
    let class = &trained.report.classes[0];
    println!("{name}: {} epochs, gap {:.1e}, {:?}", class.epochs, class.relative_gap, class.doubt);
    class.epochs
}

const MOST_PASSES: f64 = 3000.0;

#[test]
fn columns_over_nine_decades_converge() {
    let mut numbers = Numbers::new(71);
    let units = [1e-3, 1e6, 1.0, 1e3, 10.0, 1e5, 0.1, 1e4];
    let plane = in_units(&targets(&mut numbers, 1500, 8, 1.0), &units, &[0.0; 8]);
    let sides = in_units(&classes(&mut numbers, 1500, 8, 1.0), &units, &[0.0; 8]);
    for cost in [1e-2, 1.0, 1e2, 1e4] {
        let settings = TrainSettings { cost, ..TrainSettings::default() };
        let of_plane = TrainSettings { kind: Kind::Svr, ..settings.clone() };
        for (name, data, settings) in [("svr", &plane, of_plane), ("svc", &sides, settings)] {
            let name = format!("{name}, C {cost:e}");
            assert!(passes(&name, data, &settings) <= MOST_PASSES, "{name}");
        }
    }
}

#[test]
fn features_far_from_0_converge() {
    let mut numbers = Numbers::new(72);
    let plane = in_units(&targets(&mut numbers, 1500, 6, 1.0), &[1.0; 6], &[1e6; 6]);
    let sides = in_units(&classes(&mut numbers, 1500, 6, 1.0), &[1.0; 6], &[1e6; 6]);
    let settings = TrainSettings::default();
    let of_plane = TrainSettings { kind: Kind::Svr, ..settings.clone() };
    for (name, data, settings) in [("svr", &plane, of_plane), ("svc", &sides, settings)] {
        assert!(passes(name, data, &settings) <= MOST_PASSES, "{name}");
    }
}
