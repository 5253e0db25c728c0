//! Comparative genomic hybridisation, as published; ignored unless the data are at hand.

use std::path::Path;

use super::{fused, number};
use crate::text;

/// A file of the folder.
fn public(file: &str) -> String {
    let folder = std::env::var_os("EQUIPOISE_DATA");
    let folder = folder.expect("EQUIPOISE_DATA is not set: it names the folder of the public data sets");
    let path = Path::new(&folder).join(file);
    assert!(path.is_file(), "EQUIPOISE_DATA has no {file}: there is no {}", path.display());
    text(&path)
}

#[test]
#[ignore = "needs EQUIPOISE_DATA, the public data sets"]
fn glioblastoma_has_two_amplified_regions() {
    let data = public("signal/CGH_GBM_y.csv");
    let json = fused(&["fit", &data, "--lambda", "3", "--json"]).expect(0).json();
    assert!(number(&json, "relative_gap") < 1e-10);
    let segments = number(&json, "segments");
    assert!((5.0..60.0).contains(&segments), "{segments}");
    fused(&["fit", &data, "--lambda", "3", "--sparse", "0.1", "--json"]).expect(0);
}

#[test]
#[ignore = "needs EQUIPOISE_DATA, the public data sets"]
fn arrays_with_missing_probes_are_fitted_when_asked() {
    let data = public("signal/CGH_arrays.csv");
    fused(&["fit", &data, "--column", "disease2", "--lambda", "1"])
        .expect(2)
        .complains(&["disease2", "--skip-missing"]);
    for penalty in ["chain", "trend1"] {
        let args = [
            "fit",
            &data,
            "--column",
            "disease2",
            "--lambda",
            "1",
            "--skip-missing",
            "--penalty",
            penalty,
            "--json",
        ];
        let json = fused(&args).expect(0).json();
        assert_eq!(json["status"], "converged", "{penalty}");
    }
}
