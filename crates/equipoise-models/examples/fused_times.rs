//! Times of the generalised lasso on generated data: `cargo run --release -p equipoise-models --example fused_times [THREADS]`.
//!
//! Prints, for each job, seconds to solve, seconds to certify, the relative gap and `gap / ||y||^2`.

use equipoise::{Control, DenseMatrix, Matrix};
use equipoise_models::fused::{Design, FitSettings, Penalty, Signal, fit};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

struct Draw(Xoshiro256PlusPlus);

impl Draw {
    fn normal(&mut self) -> f64 {
        let (a, b) = (self.0.random::<f64>(), self.0.random::<f64>());
        (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }

    fn steps(&mut self, n: usize, length: usize) -> Vec<f64> {
        let mut level = 0.0;
        (0..n)
            .map(|i| {
                if i % length == 0 {
                    level = 4.0 * self.normal();
                }
                level
            })
            .collect()
    }
}

fn report(job: &str, signal: Signal<'_>, lambda: f64, threads: usize) {
    let settings = FitSettings { lambda, threads, ..FitSettings::default() };
    for _ in 0..2 {
        let found = fit(signal, &settings, &Control::unlimited()).expect("a fit");
        let square: f64 = signal.y.iter().map(|y| y * y).sum();
        println!(
            "{job:28} lambda {lambda:<8} {:8.1} ms + {:7.1} ms  {} rounds {}, relative gap {:.1e}, of ||y||^2 {:.1e}, segments {:?}",
            1e3 * found.seconds_solve,
            1e3 * found.seconds_certify,
            found.status,
            found.rounds,
            found.relative_gap,
            (found.objective - found.bound) / square,
            found.segments,
        );
    }
}

fn main() {
    let threads = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut draw = Draw(Xoshiro256PlusPlus::seed_from_u64(0));
    let n = 1_000_000;
    let y: Vec<f64> = draw.steps(n, 1000).into_iter().map(|level| level + draw.normal()).collect();
    for lambda in [0.5, 5.0, 50.0, 1000.0] {
        report(
            "chain 10^6",
            Signal { y: &y, design: Design::Identity, penalty: &Penalty::Chain },
            lambda,
            threads,
        );
    }
    let side = 512;
    let image: Vec<f64> = (0..side * side)
        .map(|k| {
            let (r, c) = (k / side, k % side);
            let disc = (r as f64 - 200.0).hypot(c as f64 - 250.0) < 120.0;
            let square = (300..420).contains(&r) && (300..450).contains(&c);
            f64::from(u8::from(disc)) - 0.5 * f64::from(u8::from(square)) + 0.2 * draw.normal()
        })
        .collect();
    for lambda in [0.05, 0.2, 1.0] {
        let penalty = Penalty::Grid { rows: side, columns: side };
        report(
            "grid 512 x 512",
            Signal { y: &image, design: Design::Identity, penalty: &penalty },
            lambda,
            threads,
        );
    }
    let n = 100_000;
    let y: Vec<f64> = (0..n)
        .map(|i| {
            let t = f64::from(i % 20_000) / 20_000.0;
            10.0 * (t - 0.5).abs() + draw.normal()
        })
        .collect();
    for lambda in [10.0, 1000.0] {
        for penalty in [Penalty::Trend1, Penalty::Trend2] {
            let job = format!("{} 10^5", penalty.name());
            report(&job, Signal { y: &y, design: Design::Identity, penalty: &penalty }, lambda, threads);
        }
    }
    let (rows, columns) = (1000, 5000);
    let values = (0..rows * columns).map(|_| draw.normal()).collect();
    let x: Matrix = DenseMatrix::from_columns(rows, columns, values).expect("values").into();
    let b = draw.steps(columns, 250);
    let mut y = vec![0.0; rows];
    x.multiply(&b, &mut y);
    y.iter_mut().for_each(|y| *y += draw.normal());
    for lambda in [5000.0, 500.0] {
        report(
            "chain, X 1000 x 5000",
            Signal { y: &y, design: Design::Matrix(&x), penalty: &Penalty::Chain },
            lambda,
            threads,
        );
    }
}
