//! What [`write_problem`] writes reads back to an equal problem.

use std::fs;
use std::sync::Arc;

use equipoise::graph::Topology;
use equipoise::{BlockChoice, Control, Locking, Matrix, Method, ProbabilityChoice, Schedule};
use equipoise_formats::problem_file::{GraphSpec, SolveSpec, Term};
use equipoise_formats::{ProblemFile, write_problem};
use equipoise_theory::Equalised;
use equipoise_theory::StepRule;

use super::{dense, scratch};

fn round_trip(test: &str, problem: &ProblemFile) {
    let path = write_problem(scratch(&format!("round-trip-{test}")), "PROBLEM", problem).expect("written");
    let text = fs::read_to_string(&path).expect("there");
    assert_eq!(
        &ProblemFile::read(&path, &Control::unlimited()).unwrap_or_else(|error| panic!("{error}\n{text}")),
        problem,
        "{text}"
    );
}

fn long() -> Vec<f64> {
    (0..50).map(|k| f64::from(k) / 7.0 - 3.0).collect()
}

fn sparse() -> Matrix<'static> {
    super::sparse(2, 3, &[0, 1, 1, 3], &[1, 0, 1], &[0.1, -2.0, 1e-300])
}

fn smooth_terms() -> Vec<Term<'static>> {
    let (matrix, target) = (dense(2, 3, &[1.0, 2.0, 1.0 / 3.0, 4.0, 5.0, 6.0]), vec![1.0, -1.0]);
    let loss = |kind: &str, matrix: Matrix<'static>| {
        Term::new(kind).with("matrix", matrix).with("target", target.clone())
    };
    let weighted = |kind: &str| loss(kind, matrix.clone()).with("weights", vec![0.5, 1e21]);
    let synthetic = Term::new("synthetic").with("nodes", 10_u64).with("block", 5_u64).with("rows", 2_u64);
    vec![
        Term::new("quadratic").with("matrix", sparse()),
        Term::new("quadratic").with("factor", matrix.clone()).with("linear", long()),
        loss("least-squares", sparse()),
        weighted("logistic"),
        weighted("squared-hinge"),
        weighted("huber").with("delta", 1e-7),
        Term::new("distance").with("target", long()).with("weight", 2.0),
        Term::new("distance").with("target", Vec::<f64>::new()).with("weight", long()),
        Term::new("linear").with("linear", vec![-0.5; 20]),
        synthetic.with("seed", u64::MAX),
    ]
}

#[test]
fn smooth_kinds() {
    for (index, term) in smooth_terms().into_iter().enumerate() {
        round_trip(&format!("smooth-{index}"), &ProblemFile::new(term));
    }
    let sum = |terms: Vec<Term<'static>>| Term::new("sum").with("terms", terms);
    let nested = sum(vec![sum(smooth_terms()); 2]);
    let mut terms = smooth_terms();
    terms.insert(1, nested);
    round_trip("smooth-sum", &ProblemFile::new(sum(terms)));
}

#[test]
fn separable_and_coupling_kinds() {
    let separable = [
        Term::new("zero"),
        Term::new("box").with("lower", f64::NEG_INFINITY).with("upper", long()),
        Term::new("non-negative"),
        Term::new("l1").with("weight", 0.1),
        Term::new("elastic-net").with("l1", 1.0).with("l2", vec![1.0, 2.0]),
        Term::new("l1-box").with("weight", 1.0).with("upper", f64::INFINITY),
        Term::new("group-l2").with("weight", 3.0),
    ];
    let coupling = [
        Term::new("none"),
        Term::new("sum").with("rhs", -1.0),
        Term::new("sum").with("rhs", vec![1.0]),
        Term::new("row").with("weights", long()).with("rhs", 0.25),
        Term::new("rows").with("matrix", sparse()).with("rhs", vec![0.0, 1.0]),
    ];
    for (index, separable) in separable.into_iter().enumerate() {
        for (other, coupling) in coupling.iter().enumerate() {
            let mut problem = ProblemFile::new(Term::new("linear").with("linear", vec![1.0]));
            (problem.separable, problem.coupling) = (separable.clone(), coupling.clone());
            round_trip(&format!("terms-{index}-{other}"), &problem);
        }
    }
}

#[test]
fn blocks_graph_and_solve() {
    let mut problem = ProblemFile::new(Term::new("linear").with("linear", vec![1.0]));
    problem.blocks = BlockChoice::Size(3);
    problem.graph.topology = "erdos-renyi:0.25".parse().expect("known");
    problem.graph.probabilities = ProbabilityChoice::Lipschitz;
    problem.solve = SolveSpec {
        tolerance: Some(1e-9),
        time_limit: Some(60.0),
        max_epochs: Some(u64::MAX),
        max_updates: Some(7),
        method: Some(Method::Pairs),
        seed: Some(0),
        memory_budget: Some(12_345),
        threads: Some(8),
        locking: Some(Locking::Single),
        delay_us: Some(50),
        step_rule: Some(StepRule::Sharp),
        deterministic: Some(false),
        schedule: Some(Schedule::TwoThirds),
        batch: Some(32),
        step_size: Some(0.1),
        misnamed: Vec::new(),
    };
    round_trip("structure-1", &problem);
    problem.graph.probabilities = ProbabilityChoice::Law(Arc::new(Equalised));
    round_trip("structure-equalised", &problem);
    problem.blocks = BlockChoice::Boundaries(vec![0, 1, 4]);
    problem.graph = GraphSpec {
        topology: Topology::Edges((0..30).map(|k| (k, k + 1)).collect()).into(),
        probabilities: ProbabilityChoice::Weighted((1..=30).map(f64::from).collect()),
    };
    round_trip("structure-2", &problem);
    problem.blocks = BlockChoice::Boundaries((0..40).collect());
    problem.graph.topology = Topology::Edges(vec![(0, 1), (5, 2)]).into();
    problem.graph.probabilities = ProbabilityChoice::Uniform;
    round_trip("structure-3", &problem);
    problem.graph.topology = "grid".parse().expect("known");
    round_trip("structure-4", &problem);
}
