//! Seconds that portfolios of generated assets take: `portfolio_times ASSETS DAYS POINTS [SHRINKAGE] [long-short]`.

use std::time::Instant;

use equipoise::Control;
use equipoise_portfolio::{
    Constraints, Covariance, Error, Returns, Settings, Shrinkage, Watch, frontier, solve,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn normal(draw: &mut Xoshiro256PlusPlus) -> f64 {
    let (a, b): (f64, f64) = (draw.random(), draw.random());
    (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

fn main() -> Result<(), Error> {
    let typed: Vec<String> = std::env::args().collect();
    let number =
        |at: usize, default: f64| typed.get(at).and_then(|word| word.parse().ok()).unwrap_or(default);
    let (assets, days) = (number(1, 1000.0) as usize, number(2, 250.0) as usize);
    let (points, shrinkage) = (number(3, 50.0) as usize, number(4, 0.0));
    let mut draw = Xoshiro256PlusPlus::seed_from_u64(1);
    let factors: Vec<Vec<f64>> =
        (0..5).map(|_| (0..days).map(|_| 0.008 * normal(&mut draw)).collect()).collect();
    let mut values = Vec::with_capacity(assets * days);
    for _ in 0..assets {
        let loads: Vec<f64> = (0..5)
            .map(|k| if k == 0 { 0.5 + draw.random::<f64>() } else { 0.4 * normal(&mut draw) })
            .collect();
        let (own, drift) = (0.008 + 0.02 * draw.random::<f64>(), 0.0003 + 0.0004 * normal(&mut draw));
        for t in 0..days {
            let common: f64 = factors.iter().zip(&loads).map(|(factor, load)| factor[t] * load).sum();
            values.push(common + drift + own * normal(&mut draw));
        }
    }
    let names = (0..assets).map(|j| format!("A{j}")).collect();
    let returns = Returns::new(names, days, values)?;
    let control = Control::unlimited();
    let covariance = Covariance::new(&returns, Shrinkage::Fixed(shrinkage), 1, &control)?;
    let mut limits = Constraints::long_only(assets);
    if typed.iter().any(|word| word == "long-short") {
        limits = Constraints::long_short(assets);
    }
    if typed.iter().any(|word| word == "box") {
        limits.upper = vec![0.02; assets];
        limits.lower.iter_mut().for_each(|lower| *lower = lower.max(-0.02));
    }
    let settings = Settings::default();
    let begun = Instant::now();
    let mut tell = |round: &equipoise_portfolio::Round| {
        if typed.iter().any(|word| word == "rounds") {
            println!("{round:?}");
        }
    };
    let watch = Watch { observer: Some(&mut tell), control: control.clone() };
    let one = solve(&returns, &covariance, &limits, &settings, None, watch)?;
    let held = one.weights.iter().filter(|w| **w != 0.0).count();
    println!(
        "one: {:.4} s, {:?}, variance {:.6e}, gap {:.1e}, {held} held, {} rounds",
        begun.elapsed().as_secs_f64(),
        one.status,
        one.variance,
        one.relative_gap,
        one.rounds
    );
    let begun = Instant::now();
    let all = frontier(&returns, &covariance, &limits, &settings, points, None, Watch::default())?;
    let worst = all.points.iter().map(|point| point.relative_gap).fold(0.0, f64::max);
    println!(
        "frontier of {}: {:.4} s, {:?}, largest gap {worst:.1e}, {} rounds",
        all.points.len(),
        begun.elapsed().as_secs_f64(),
        all.status,
        all.points.last().map_or(0, |point| point.rounds)
    );
    Ok(())
}
