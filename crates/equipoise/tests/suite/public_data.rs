//! Certified optima of public data sets: the dual of the linear SVM with bias, as a quadratic given by its factor.
//!
//! Needs the folder `EQUIPOISE_DATA`.

use crate::adaptor::composite;
use equipoise::separable::Bounds;
use equipoise::smooth::Quadratic;
use equipoise::{Coupling, Settings, SparseMatrix, Status, certificate, solve};
use equipoise_testkit::public_data;

/// Points as columns and labels +-1, from LIBSVM text.
fn read(file: &str) -> (SparseMatrix<'static>, Vec<f64>) {
    let path = public_data::path(&format!("classification/{file}"));
    let text = std::fs::read_to_string(path).expect("a readable file");
    let (mut triplets, mut labels, mut features) = (Vec::new(), Vec::new(), 0);
    for line in text.lines() {
        let mut fields = line.split_whitespace();
        let label: f64 = fields.next().and_then(|field| field.parse().ok()).expect("a label");
        for field in fields {
            let (index, value) = field.split_once(':').expect("index:value");
            let index: usize = index.parse().expect("an index from 1");
            features = features.max(index);
            triplets.push((index - 1, labels.len(), value.parse().expect("a number")));
        }
        labels.push(label.signum());
    }
    (SparseMatrix::from_triplets(features, labels.len(), &triplets).expect("within the matrix"), labels)
}

/// The optimum D* of the dual and the bias b* for a cost C.
fn check(file: &str, optima: &[(f64, f64, f64)]) {
    let (points, labels) = read(file);
    for &(cost, dual, bias) in optima {
        let ends = |sign: f64| labels.iter().map(move |y| if *y == sign { sign * cost } else { 0.0 });
        let linear = labels.iter().map(|y| -y).collect();
        let problem = composite(
            Quadratic::from_factor(points.clone(), linear).expect("valid"),
            Bounds::new(ends(-1.0).collect::<Vec<_>>(), ends(1.0).collect::<Vec<_>>()).expect("ordered"),
        )
        .coupling(Coupling::sum(0.0).expect("finite"))
        .build()
        .expect("feasible");
        let settings = Settings { tolerance: 1e-9, time_limit: Some(120.0), ..Settings::default() };
        let solution = solve(&problem, &settings).expect("bounded");
        assert_eq!(
            solution.status,
            Status::Converged,
            "{file}, C = {cost}: {:?}",
            solution.certificate.duality_gap
        );
        assert!(certificate::check(&problem, &solution.x).expect("right length").meets(1e-9));
        let found = -solution.certificate.objective;
        assert!((found - dual).abs() <= 1e-8 * dual, "{file}, C = {cost}: {found}, not {dual}");
        // The multiplier of the sum is the bias: F_i + lambda = 0 at free points, b = -F_i.
        let multiplier = solution.certificate.multipliers[0];
        assert!((multiplier - bias).abs() < 1e-4, "{file}, C = {cost}: bias {multiplier}, not {bias}");
    }
}

#[test]
#[ignore = "needs EQUIPOISE_DATA, the public data sets"]
fn the_svm_dual_of_heart_scale() {
    let optima =
        [(0.1, 10.42901694, 0.4523464751), (1.0, 92.47337462, 1.049096906), (10.0, 901.2843240, 1.379706207)];
    check("heart_scale", &optima);
}

#[test]
#[ignore = "needs EQUIPOISE_DATA, the public data sets"]
fn the_svm_dual_of_german_numer_scale() {
    let optima = [
        (0.1, 53.25840374, -0.3765084847),
        (1.0, 519.0510121, -0.5009295196),
        (10.0, 5173.825322, -0.5128953701),
    ];
    check("german.numer_scale", &optima);
}
