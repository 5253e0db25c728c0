//! Objectives and biases of public data sets against LIBSVM at its tightest and against reference optima.
//!
//! Needs the folder `EQUIPOISE_DATA`.
//!
//! LIBSVM is libsvm-official 3.37.0 with `-t 0 -e 1e-9 -h 0`; it keeps its matrix in single precision, so that its
//! objective is good to about 1e-5 whatever the tolerance. The optima marked exact are Clarabel's 0.11.1,
//! of the primal, with tolerances of 1e-11; primal and dual agree to all digits given.

use crate::Data;
use crate::judge::certified;
use crate::ranks::certified_on;
use equipoise_models::svm::{Kind, Loss, TrainSettings};
use equipoise_testkit::public_data;

pub(crate) fn read(file: &str) -> Data {
    let path = public_data::path(&format!("classification/{file}"));
    let text = std::fs::read_to_string(path).expect("a readable file");
    let (mut rows, mut labels, mut columns) = (Vec::new(), Vec::new(), 0);
    for line in text.lines() {
        let mut fields = line.split_whitespace();
        labels.push(fields.next().and_then(|field| field.parse().ok()).expect("a label"));
        let entry = |field: &str| {
            let (index, value) = field.split_once(':').expect("index:value");
            let index: u32 = index.parse().expect("an index from 1");
            (index - 1, value.parse().expect("a number"))
        };
        let row: Vec<(u32, f64)> = fields.map(entry).collect();
        columns = row.iter().fold(columns, |most, (k, _)| most.max(*k as usize + 1));
        rows.push(row);
    }
    Data::new(columns, rows, labels)
}

/// One optimum: setting (C or nu), objective and bias, each with what it may be off (relative, absolute).
struct Optimum {
    setting: f64,
    primal: (f64, f64),
    bias: (f64, f64),
}

fn exact(setting: f64, primal: f64, bias: f64) -> Optimum {
    Optimum { setting, primal: (primal, 1e-8), bias: (bias, 2e-6 * (1.0 + bias.abs())) }
}

fn libsvm(setting: f64, primal: f64, bias: f64) -> Optimum {
    Optimum { setting, primal: (primal, 5e-5), bias: (bias, 2e-4) }
}

fn check(file: &str, settings: &TrainSettings, optima: &[Optimum]) {
    let data = read(file);
    for optimum in optima {
        let settings = match settings.kind {
            Kind::Svc | Kind::Svr => TrainSettings { cost: optimum.setting, ..settings.clone() },
            Kind::NuSvc | Kind::OneClass => TrainSettings { nu: optimum.setting, ..settings.clone() },
        };
        let trained = certified(&data, &settings);
        let class = &trained.report.classes[0];
        println!("{file}, {}: {:.3} s", optimum.setting, trained.report.seconds);
        let (primal, off) = optimum.primal;
        assert!((class.primal - primal).abs() <= off * primal.abs(), "{file}: {class:?}, not {primal}");
        let (bias, off) = optimum.bias;
        assert!((class.bias - bias).abs() <= off, "{file}, {}: {class:?}, not {bias}", optimum.setting);
    }
}

fn settings(kind: Kind, gap: f64) -> TrainSettings {
    TrainSettings { kind, gap, time_limit: Some(120.0), ..TrainSettings::default() }
}

#[test]
#[ignore = "needs EQUIPOISE_DATA, the public data sets"]
fn heart_scale_of_every_cost() {
    let optima = [
        exact(0.01, 1.44686772584, 0.119778948),
        exact(0.1, 10.4290169394, 0.452346474),
        exact(1.0, 92.4733746202, 1.04909691),
        exact(10.0, 901.284324008, 1.37970621),
        exact(100.0, 8987.15998912, 1.37970621),
        libsvm(0.01, 1.446868, 0.119779),
        libsvm(0.1, 10.429017, 0.452347),
        libsvm(1.0, 92.473359, 1.049098),
        libsvm(10.0, 901.283065, 1.379696),
        libsvm(100.0, 8987.037792, 1.379599),
    ];
    check("heart_scale", &settings(Kind::Svc, 1e-9), &optima);
}

#[test]
#[ignore = "needs EQUIPOISE_DATA, the public data sets"]
fn heart_scale_of_every_cost_with_the_squared_hinge() {
    let optima = [
        exact(0.01, 1.42057142139, 0.191010563),
        exact(0.1, 11.9648949384, 0.503156528),
        exact(1.0, 114.914455017, 0.680803092),
        exact(10.0, 1143.11053549, 0.709723974),
        exact(100.0, 11424.8575836, 0.712955103),
    ];
    check("heart_scale", &TrainSettings { loss: Loss::SquaredHinge, ..settings(Kind::Svc, 1e-12) }, &optima);
}

#[test]
#[ignore = "needs EQUIPOISE_DATA, the public data sets"]
fn heart_scale_of_the_other_kinds() {
    let tube = [
        exact(0.1, 11.1917510919, 0.119608731),
        exact(1.0, 109.344337821, 0.132948325),
        libsvm(0.1, 11.191751, 0.119609),
        libsvm(1.0, 109.344322, 0.132953),
    ];
    check("heart_scale", &settings(Kind::Svr, 1e-9), &tube);
    let one = [
        exact(0.2, -569.605594688, -31.3662107),
        exact(0.4, -4434.90353651, -121.97614),
        libsvm(0.2, -569.605592, -31.366211),
        libsvm(0.4, -4434.903531, -121.976140),
    ];
    check("heart_scale", &settings(Kind::OneClass, 1e-9), &one);
    // LIBSVM's own objective is that of the model divided by rho: 1.072052 times rho^2 is 46.04275.
    let nu = [
        exact(0.4, -46.0427528755, 0.66001601),
        exact(0.5, -511.212705208, 0.217044192),
        libsvm(0.4, -46.04275, 0.660016),
    ];
    check("heart_scale", &settings(Kind::NuSvc, 1e-9), &nu);
}

#[test]
#[ignore = "needs EQUIPOISE_DATA, the public data sets"]
fn german_numer_scale_of_every_cost() {
    let optima = [
        exact(0.01, 5.81547107079, -0.604831318),
        exact(0.1, 53.2584037353, -0.376508485),
        exact(1.0, 519.051012124, -0.50092952),
        exact(10.0, 5173.82532208, -0.51289537),
        exact(100.0, 51721.2980059, -0.514806175),
        libsvm(0.01, 5.815471, -0.604831),
        libsvm(0.1, 53.258402, -0.376510),
        libsvm(1.0, 519.050831, -0.500946),
        libsvm(10.0, 5173.806720, -0.512903),
        libsvm(100.0, 51719.433134, -0.514726),
    ];
    check("german.numer_scale", &settings(Kind::Svc, 1e-9), &optima);
}

#[test]
#[ignore = "needs EQUIPOISE_DATA, the public data sets"]
fn german_numer_scale_of_every_cost_with_the_squared_hinge() {
    let optima = [
        exact(0.01, 6.45335753516, -0.209925962),
        exact(0.1, 62.3058792439, -0.204468719),
        exact(1.0, 620.03750112, -0.208313894),
        exact(10.0, 6197.22096069, -0.208778328),
        exact(100.0, 61969.0412784, -0.208825781),
    ];
    let settings = TrainSettings { loss: Loss::SquaredHinge, ..settings(Kind::Svc, 1e-12) };
    check("german.numer_scale", &settings, &optima);
}

#[test]
#[ignore = "needs EQUIPOISE_DATA, the public data sets"]
fn german_numer_scale_of_the_other_kinds() {
    let tube = [
        exact(0.1, 52.7553776288, -0.525676932),
        exact(1.0, 526.914168279, -0.456183719),
        libsvm(0.1, 52.755378, -0.525679),
        libsvm(1.0, 526.914178, -0.456188),
    ];
    check("german.numer_scale", &settings(Kind::Svr, 1e-9), &tube);
    let one = [exact(0.2, -73799.11364, -891.899179), exact(0.4, -395329.166353, -2409.85232)];
    check("german.numer_scale", &settings(Kind::OneClass, 1e-9), &one);
}

#[test]
#[ignore = "needs EQUIPOISE_DATA, the public data sets"]
fn a7a_of_every_cost() {
    let optima = [
        exact(0.1, 575.959192524, -1.61653122),
        exact(1.0, 5699.25426585, -1.78097418),
        exact(10.0, 56875.5987621, -1.80074878),
    ];
    check("a7a", &settings(Kind::Svc, 1e-10), &optima);
}

#[test]
#[ignore = "needs EQUIPOISE_DATA, the public data sets"]
fn w8a_of_every_cost() {
    let optima = [exact(1.0, 1486.82059451, -1.03435117), exact(10.0, 14169.0292595, -1.02343674)];
    check("w8a", &settings(Kind::Svc, 1e-10), &optima);
}

#[test]
#[ignore = "needs EQUIPOISE_DATA, the public data sets"]
fn the_ends_of_the_range_of_costs() {
    for file in ["a7a", "w8a"] {
        let data = read(file);
        for (cost, gap) in [(0.01, 1e-8), (100.0, 1e-6)] {
            let trained = certified(&data, &TrainSettings { cost, ..settings(Kind::Svc, gap) });
            println!("{file}, {cost}: {:.3} s", trained.report.seconds);
        }
    }
}

#[test]
#[ignore = "needs EQUIPOISE_DATA, the public data sets"]
fn heart_scale_and_a7a_on_ranks() {
    for (file, ranks, optimum) in [
        ("heart_scale", &[1, 2, 3, 4][..], exact(1.0, 92.4733746202, 1.04909691)),
        ("a7a", &[2, 4], exact(1.0, 5699.25426585, -1.78097418)),
    ] {
        let (data, (primal, off)) = (read(file), optimum.primal);
        for &ranks in ranks {
            let trained = certified_on(&data, &settings(Kind::Svc, 1e-6), ranks);
            let found = trained.report.classes[0].primal;
            assert!((found - primal).abs() <= (off + 1e-6) * primal, "{file} on {ranks} ranks: {found}");
        }
    }
}
