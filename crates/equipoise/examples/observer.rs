//! Watching a run: the certificate at every checkpoint, and a graph that changes the pace but not the optimum.

use equipoise::graph::Topology;
use equipoise::smooth::Distance;
use equipoise::{Coupling, Error, History, Method, Problem, Settings, Solver, Status};

/// Squared distances on `nodes` nodes that only neighbours may balance.
fn run(topology: Topology, nodes: usize) -> Result<History, Error> {
    let wishes = (0..nodes).map(|c| (c * c % 17) as f64).collect();
    let problem = Problem::builder(Distance::new(wishes, 0.5)?)
        .coupling(Coupling::sum(0.0)?)
        .graph(topology)
        .build()?;
    let settings = Settings { method: Method::Pairs, ..Settings::default() };
    let mut history = History::default();
    let solution = Solver::new(&problem, &settings).observer(&mut history).run()?;
    assert_eq!(solution.status, Status::Converged);
    Ok(history)
}

fn main() -> Result<(), Error> {
    for topology in [Topology::Clique, Topology::Ring] {
        println!("{topology}:");
        println!("{:>8} {:>8} {:>14} {:>10} {:>10}", "update", "epoch", "objective", "max|Ax-b|", "gap");
        let history = run(topology, 24)?;
        for progress in &history.checkpoints {
            let verdict = &progress.verdict;
            let gap = verdict.gap.map_or_else(|| "none".into(), |gap| format!("{gap:.1e}"));
            println!(
                "{:8} {:8.1} {:14.8} {:10.1e} {gap:>10}",
                progress.update, progress.epoch, verdict.objective, verdict.infeasibility
            );
        }
        let objectives: Vec<f64> = history.checkpoints.iter().map(|p| p.verdict.objective).collect();
        assert!(
            objectives.windows(2).all(|pair| pair[1] <= pair[0] + 1e-12 * pair[0].abs()),
            "it never rises"
        );
    }
    Ok(())
}
