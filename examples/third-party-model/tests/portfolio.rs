//! Portfolios with known answers, what is refused, and how a search is ended.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use equipoise::{Control, Status};
use minimum_variance::{Choices, Error, Portfolio, Returns, least_variance};

/// Numbers that look random, between -1 and 1.
fn numbers(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// Assets that share a market, each with noise of its own.
fn market(seed: u64, assets: usize, periods: usize) -> Returns {
    let mut number = numbers(seed);
    let common: Vec<f64> = (0..periods).map(|_| 0.01 * number()).collect();
    let mut asset = || {
        let (share, noise) = (1.0 + number(), 0.02 * (1.2 + number()));
        common.iter().map(|r| share * r + noise * number()).collect()
    };
    Returns::new(&(0..assets).map(|_| asset()).collect::<Vec<_>>()).expect("valid")
}

fn solved(returns: &Returns, choices: &Choices) -> Portfolio {
    let found = least_variance(returns, choices, &Control::unlimited()).expect("valid");
    assert_eq!(found.status, Status::Converged);
    assert!((found.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    assert!(found.weights.iter().all(|w| (0.0..=choices.cap).contains(w)), "{found:?}");
    assert!(found.volatility - found.lowest <= choices.accuracy * found.volatility);
    found
}

/// Assets without correlation: weights in proportion to 1 / variance.
fn uncorrelated() -> Returns {
    let signs = [[1.0, 1.0, -1.0, -1.0], [1.0, -1.0, 1.0, -1.0], [1.0, -1.0, -1.0, 1.0]];
    let assets: Vec<Vec<f64>> =
        signs.iter().zip([1.0, 2.0, 4.0]).map(|(signs, size)| signs.map(|s| 0.01 * s * size).to_vec()).collect();
    Returns::new(&assets).expect("valid")
}

#[test]
fn uncorrelated_assets_are_held_by_inverse_variance() {
    let found = solved(&uncorrelated(), &Choices::default().with_accuracy(1e-10));
    for (weight, expected) in found.weights.iter().zip([16.0 / 21.0, 4.0 / 21.0, 1.0 / 21.0]) {
        assert!((weight - expected).abs() < 1e-5, "{found:?}");
    }
}

#[test]
fn a_cap_binds_exactly() {
    let found = solved(&uncorrelated(), &Choices::default().with_cap(0.5).with_accuracy(1e-10));
    assert_eq!(found.weights[0], 0.5);
    // The rest by inverse variance again.
    assert!((found.weights[1] - 0.4).abs() < 1e-5 && (found.weights[2] - 0.1).abs() < 1e-5, "{found:?}");
}

#[test]
fn the_lower_bound_holds_for_every_other_portfolio() {
    let returns = market(1, 30, 120);
    let found = solved(&returns, &Choices::default());
    let sharp = solved(&returns, &Choices::default().with_accuracy(1e-9));
    assert!(sharp.volatility >= found.lowest && sharp.volatility <= found.volatility * (1.0 + 1e-12));
    assert!((0..30).all(|asset| returns.volatility(asset) >= found.lowest));
}

#[test]
fn threads_change_nothing_that_counts() {
    let returns = market(2, 2500, 500);
    let choices = Choices::default().with_accuracy(1e-6);
    let (one, two) = (solved(&returns, &choices), solved(&returns, &choices.clone().with_threads(2)));
    assert!((one.volatility / two.volatility - 1.0).abs() < 2e-6, "{} {}", one.volatility, two.volatility);
}

#[test]
fn who_wants_it_stopped_gets_a_portfolio() {
    let returns = market(3, 50, 100);
    let control = Control::on(Arc::new(AtomicBool::new(true)));
    let found = least_variance(&returns, &Choices::default().with_accuracy(1e-12), &control).expect("a portfolio");
    assert_eq!(found.status, Status::Interrupted);
    assert!((found.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    assert!(found.lowest <= found.volatility);
}

#[test]
fn what_is_refused() {
    let refused = |choices: &Choices| least_variance(&uncorrelated(), choices, &Control::unlimited()).expect_err("refused");
    assert_eq!(refused(&Choices::default().with_cap(0.3)), Error::CapTooSmall { cap: 0.3, assets: 3 });
    assert!(matches!(refused(&Choices::default().with_cap(1.5)), Error::Choice { name: "cap", .. }));
    assert!(matches!(refused(&Choices::default().with_accuracy(0.0)), Error::Choice { name: "accuracy", .. }));
    let threads = refused(&Choices::default().with_threads(0));
    assert!(matches!(threads, Error::Equipoise(equipoise::Error::InvalidSetting { .. })), "{threads}");
    let made = |assets: &[Vec<f64>]| Returns::new(assets).expect_err("refused");
    assert_eq!(made(&[]), Error::TooFewReturns { assets: 0, periods: 0 });
    assert_eq!(made(&[vec![0.1; 3], vec![0.1; 2]]), Error::Ragged { asset: 1, found: 2, expected: 3 });
    let returns = Returns::new(&[vec![0.1, f64::NAN]]).expect("not looked at yet");
    let error = least_variance(&returns, &Choices::default(), &Control::unlimited()).expect_err("refused");
    assert!(matches!(error, Error::Equipoise(equipoise::Error::NonFinite { .. })), "{error}");
}
