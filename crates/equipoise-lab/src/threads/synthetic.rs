//! The paper's synthetic problem: in full size on one graph, and smaller at every thread count.

use anyhow::Result;
use equipoise::graph::Topology;
use equipoise_experiments::synthetic_optimum;
use equipoise_models::Synthetic;

use super::Arguments;
use super::measure::Experiment;
use super::plan::Case;
use super::record::Record;

/// The share of the fall from the start to the optimum that a run has to make.
const SHARE: f64 = 0.99;
/// The problem of the paper's section 5.1.
const FULL: Synthetic = Synthetic { nodes: 10_000, block: 100, rows: 100, seed: 1 };
/// Small enough for every thread count at every level of locking.
const SMALLER: Synthetic = Synthetic { nodes: 2000, ..FULL };
/// To see that everything works.
const QUICK: Synthetic = Synthetic { nodes: 200, block: 20, rows: 10, seed: 1 };

/// The problem of a full run.
pub(super) fn full_problem(arguments: &Arguments) -> Synthetic {
    if arguments.quick { QUICK } else { FULL }
}

/// Its name in the record.
pub(super) fn name(problem: &Synthetic) -> String {
    format!("N={} block={} m={}", problem.nodes, problem.block, problem.rows)
}

/// The full size on one graph.
pub(super) fn full(
    arguments: &Arguments,
    part: &'static str,
    topology: &'static str,
    record: &mut Record,
) -> Result<()> {
    let cases = arguments.selection().full(part == "full-star");
    measure(arguments, part, topology, full_problem(arguments), &cases, record)
}

/// The smaller size on both graphs.
pub(super) fn sweep(arguments: &Arguments, record: &mut Record) -> Result<()> {
    let problem = if arguments.quick { QUICK } else { SMALLER };
    let cases = arguments.selection().sweep();
    for topology in ["tree+ring", "star+ring"] {
        if Arguments::wants(arguments.topologies.as_deref(), topology) {
            measure(arguments, "sweep", topology, problem, &cases, record)?;
        }
    }
    Ok(())
}

fn measure(
    arguments: &Arguments,
    part: &'static str,
    topology: &'static str,
    synthetic: Synthetic,
    cases: &[Case],
    record: &mut Record,
) -> Result<()> {
    let graph = Topology::parse(topology, synthetic.nodes, 0)?;
    let start = vec![0.0; synthetic.nodes * synthetic.block];
    let problem = synthetic.problem()?.graph(graph).start(start).build()?;
    let highest = problem.objective(problem.start())?;
    let lowest = problem.objective(&synthetic_optimum(&synthetic, problem.coupling())?)?;
    let target = highest - SHARE * (highest - lowest);
    eprintln!("{part}, {topology}: the objective starts at {highest}, its optimum is {lowest}");
    let experiment = Experiment {
        part,
        name: name(&synthetic),
        topology,
        problem: &problem,
        target,
        time_limit: arguments.limit(),
    };
    experiment.rounds(cases, record)
}
