//! Samples of four times the memory budget: product, value, gradient, a Hessian product and the dual side need the
//! budget, vectors and nothing more. Measured as the growth of the peak resident memory, so this test has a binary of
//! its own.

use equipoise::Control;
use equipoise::matrix::ByRow;
use equipoise::separable::Values;
use equipoise::smooth::loss::Squared;
use equipoise::smooth::{SampleBatch, SampleFault, SampleReader, SampleSource, SmoothTerm, Streamed};

const BUDGET: usize = 8 << 20;
const COLUMNS: usize = 512;
const SAMPLES: usize = 4 * BUDGET / (8 * COLUMNS);
/// Pages of code and of the allocator that are touched for the first time.
const SLACK: usize = 2 << 20;

/// A field of /proc/self/status in bytes; `None` where there is no such file.
fn resident(field: &str) -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(field))?;
    line.split_whitespace().nth(1)?.parse::<usize>().ok().map(|kilobytes| kilobytes * 1024)
}

/// Entry c of sample l: whole numbers, so that sums do not depend on their order.
fn entry(l: usize, c: usize) -> f64 {
    ((l * 31 + c * 17) % 11) as f64 - 5.0
}

/// Samples that are computed when they are read.
#[derive(Debug)]
struct Computed;

impl SampleSource for Computed {
    fn samples(&self) -> usize {
        SAMPLES
    }
    fn columns(&self) -> usize {
        COLUMNS
    }
    fn memory_budget(&self) -> usize {
        BUDGET
    }
    fn open(&self) -> Result<Box<dyn SampleReader + '_>, SampleFault> {
        Ok(Box::new(Pass { next: 0 }))
    }
}

struct Pass {
    next: usize,
}

impl SampleReader for Pass {
    fn next(&mut self, used: Option<SampleBatch>) -> Result<Option<SampleBatch>, SampleFault> {
        let count = (SAMPLES - self.next).min(BUDGET / (8 * COLUMNS + 8));
        if count == 0 {
            return Ok(None);
        }
        let (mut values, mut target) = match used.map(|used| (used.rows, used.target)) {
            Some((ByRow::Dense { values, .. }, target)) => (values, target),
            _ => (Vec::with_capacity(count * COLUMNS), Vec::with_capacity(count)),
        };
        values.clear();
        target.clear();
        let first = self.next;
        for l in first..first + count {
            values.extend((0..COLUMNS).map(|c| entry(l, c)));
            target.push((l % 3) as f64);
        }
        self.next += count;
        let rows = ByRow::Dense { columns: COLUMNS, values };
        Ok(Some(SampleBatch { first, rows, target, weights: Values::Uniform(1.0) }))
    }
}

#[test]
fn samples_of_four_times_the_budget_pass_through_the_budget() {
    // Forget earlier peaks; where the kernel does not allow it the test is only harder.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let Some(before) = resident("VmRSS:") else {
        println!("skipped: no /proc/self/status here");
        return;
    };
    let f = Streamed::new(Box::new(Computed), Squared).expect("finite samples");
    let x: Vec<f64> = (0..COLUMNS).map(|c| (c % 4) as f64 - 1.0).collect();
    let mut product = vec![0.0; SAMPLES];
    let free = Control::unlimited();
    f.fill_product(&x, &mut product, &free).expect("readable");
    let value = f.value(&x, &product);
    let (mut gradient, mut curved) = (vec![0.0; COLUMNS], vec![0.0; COLUMNS]);
    f.gradient(&x, &product, &mut gradient, &free).expect("readable");
    assert_eq!(f.hessian_product(&x, &product, &x, &mut curved, &free), Ok(true));
    let (dual, mut u) = (f.dual().expect("a dual side"), vec![0.0; SAMPLES]);
    dual.dual_point(&x, &product, &mut u);
    dual.add_dual_step(&x, &product, &x, &mut u, &free).expect("readable");
    let conjugate = dual.conjugate(&u, &free).expect("readable");
    let peak = resident("VmHWM:").expect("it was there before");

    let vectors = 8 * (6 * SAMPLES + 8 * COLUMNS);
    let (grown, allowed) = (peak.saturating_sub(before), BUDGET + vectors + SLACK);
    println!("{SAMPLES} x {COLUMNS} samples: the peak grew by {} KiB", grown >> 10);
    assert!(grown <= allowed, "the peak grew by {grown} bytes, allowed {allowed}");
    assert!(conjugate.is_finite());
    // The same from the definition.
    let predicted = |l: usize| (0..COLUMNS).map(|c| entry(l, c) * x[c]).sum::<f64>();
    let errors: Vec<f64> = (0..SAMPLES).map(|l| predicted(l) - (l % 3) as f64).collect();
    assert_eq!(value, 0.5 * errors.iter().map(|e| e * e).sum::<f64>());
    for c in [0, 7, COLUMNS - 1] {
        assert_eq!(gradient[c], errors.iter().enumerate().map(|(l, e)| e * entry(l, c)).sum::<f64>());
    }
}
