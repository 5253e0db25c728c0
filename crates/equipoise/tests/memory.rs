//! A million scalar variables on one row, every pair allowed: the solver needs at most 100 bytes a variable beyond
//! the data. Measured as the growth of the peak resident memory, so this test has a binary of its own.

use equipoise::separable::{Bounds, NonNegative, SeparableTerm};
use equipoise::smooth::Distance;
use equipoise::{Coupling, Problem, Settings, Status, certificate, solve};

const VARIABLES: usize = 1_000_000;
const BYTES_A_VARIABLE: usize = 100;

/// A field of /proc/self/status in bytes; `None` where there is no such file.
fn resident(field: &str) -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(field))?;
    line.split_whitespace().nth(1)?.parse::<usize>().ok().map(|kilobytes| kilobytes * 1024)
}

fn peak_beyond_data<H: SeparableTerm>(name: &str, h: H) {
    let target: Vec<f64> = (0..VARIABLES).map(|c| ((c * 7919) % 1009) as f64 / 1009.0 - 0.4).collect();
    let f = Distance::new(target, 0.5).expect("finite targets");
    // Forget earlier peaks; where the kernel does not allow it the test is only harder.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let Some(before) = resident("VmRSS:") else {
        println!("skipped: no /proc/self/status here");
        return;
    };
    let coupling = Coupling::sum(VARIABLES as f64 / 8.0).expect("finite");
    let problem = Problem::builder(f).separable(h).coupling(coupling).build().expect("feasible");
    let settings = Settings { tolerance: 1e-6, max_epochs: Some(30.0), ..Settings::default() };
    let solution = solve(&problem, &settings).expect("a bounded problem");
    let peak = resident("VmHWM:").expect("it was there before");
    let bytes = (peak - before) / VARIABLES;
    println!("{name}: {bytes} bytes a variable, {} after {} updates", solution.status, solution.updates);
    assert!(bytes <= BYTES_A_VARIABLE, "{name}: {bytes} bytes a variable");
    assert_eq!(solution.status, Status::Converged);
    assert!(certificate::check(&problem, &solution.x).expect("right length").meets(1e-6));
}

#[test]
fn a_million_variables_take_at_most_a_hundred_bytes_each() {
    peak_beyond_data("bounds", Bounds::new(0.0, 1.0).expect("ordered"));
    peak_beyond_data("non-negative", NonNegative);
}
