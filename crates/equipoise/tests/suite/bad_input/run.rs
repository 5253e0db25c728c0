//! Settings out of range, and problems without a minimum.

use super::{refused, valid};
use crate::adaptor::{builder, composite};
use equipoise::separable::{L1, NonNegative};
use equipoise::smooth::{Linear, Quadratic};
use equipoise::{Coupling, Error, Matrix, Method, Settings, solve};

#[track_caller]
fn is_invalid(settings: &Settings, setting: &str, value: f64) {
    let problem = valid().build().expect("valid");
    let error = refused(solve(&problem, settings), &[setting, &value.to_string()]);
    let Error::InvalidSetting { name, found, .. } = error else { panic!("{error:?}") };
    assert_eq!((name, found.to_bits()), (setting, value.to_bits()));
}

#[test]
fn settings_out_of_range() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        is_invalid(&Settings { tolerance: bad, ..Settings::default() }, "tolerance", bad);
        is_invalid(&Settings { max_epochs: Some(bad), ..Settings::default() }, "max-epochs", bad);
        is_invalid(&Settings { time_limit: Some(bad), ..Settings::default() }, "time-limit", bad);
    }
    for bad in [0.0, 2.0, -1.0, f64::NAN, f64::INFINITY] {
        is_invalid(&Settings { step_size: bad, ..Settings::default() }, "step-size", bad);
    }
    is_invalid(&Settings { max_updates: Some(0), ..Settings::default() }, "max-updates", 0.0);
}

#[test]
fn a_linear_objective_on_a_plane_has_no_minimum() {
    for method in [Method::Auto, Method::Pairs] {
        let f = Linear::new(vec![1.0, 1.0, 0.0, 1.0]).expect("finite");
        let problem = builder(f).coupling(Coupling::sum(1.0).expect("finite")).build().expect("valid");
        let settings = Settings { method, time_limit: Some(5.0), ..Settings::default() };
        let error = refused(solve(&problem, &settings), &["unbounded", "coordinates"]);
        let Error::Unbounded { coordinates } = error else { panic!("{error:?}") };
        assert!(coordinates.contains(&2), "coordinate 2 is the cheap one: {coordinates:?}");
    }
}

#[test]
fn a_penalty_weaker_than_the_slope_has_no_minimum() {
    let f = Linear::new(vec![3.0, 0.0, 0.0]).expect("finite");
    let lasso = composite(f, L1::new(1.0).expect("valid"));
    let problem = lasso.coupling(Coupling::sum(0.0).expect("finite")).build().expect("valid");
    let error = refused(solve(&problem, &Settings::default()), &["unbounded"]);
    assert!(matches!(error, Error::Unbounded { .. }));
}

#[test]
fn a_flat_direction_that_falls_has_no_minimum() {
    let singular = Matrix::from_rows(&[[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]).expect("3 x 3");
    let f = Quadratic::new(singular, vec![0.0, 0.0, -1.0]).expect("convex");
    let problem = composite(f, NonNegative).build().expect("valid");
    let settings = Settings { time_limit: Some(5.0), ..Settings::default() };
    let error = refused(solve(&problem, &settings), &["unbounded", "[2]"]);
    assert_eq!(error, Error::Unbounded { coordinates: vec![2] });
}
