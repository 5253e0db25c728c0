//! What [`write_problem`] writes reads back to an equal problem.

use std::fs;

use equipoise_formats::problem_file::{
    BlocksSpec, CouplingSpec, GraphSpec, NumberOrList, ProbabilitiesSpec, SeparableSpec, SmoothSpec,
    SolveSpec,
};
use equipoise_formats::{MatrixData, ProblemFile, write_problem};

use super::{dense, scratch};

fn round_trip(test: &str, problem: &ProblemFile) {
    let path = write_problem(scratch("round-trip").join(test), "PROBLEM", problem).expect("written");
    let text = fs::read_to_string(&path).expect("there");
    assert_eq!(
        &ProblemFile::read(&path).unwrap_or_else(|error| panic!("{error}\n{text}")),
        problem,
        "{text}"
    );
}

fn long() -> Vec<f64> {
    (0..50).map(|k| f64::from(k) / 7.0 - 3.0).collect()
}

fn sparse() -> MatrixData {
    MatrixData::Sparse {
        rows: 2,
        columns: 3,
        column_starts: vec![0, 1, 1, 3],
        row_indices: vec![1, 0, 1],
        values: vec![0.1, -2.0, 1e-300],
    }
}

fn smooth_terms() -> Vec<SmoothSpec> {
    let (matrix, target) = (dense(2, 3, &[1.0, 2.0, 1.0 / 3.0, 4.0, 5.0, 6.0]), vec![1.0, -1.0]);
    let weights = Some(vec![0.5, 1e21]);
    vec![
        SmoothSpec::Quadratic { matrix: Some(sparse()), factor: None, linear: None },
        SmoothSpec::Quadratic { matrix: None, factor: Some(matrix.clone()), linear: Some(long()) },
        SmoothSpec::LeastSquares { matrix: sparse(), target: target.clone(), weights: None },
        SmoothSpec::Logistic { matrix: matrix.clone(), target: target.clone(), weights: weights.clone() },
        SmoothSpec::SquaredHinge { matrix: matrix.clone(), target: target.clone(), weights: weights.clone() },
        SmoothSpec::Huber { matrix, target, weights, delta: 1e-7 },
        SmoothSpec::Distance { target: long(), weight: NumberOrList::Number(2.0) },
        SmoothSpec::Distance { target: vec![], weight: NumberOrList::List(long()) },
        SmoothSpec::Linear { linear: vec![-0.5; 20] },
        SmoothSpec::Synthetic { nodes: 10, block: 5, rows: 2, seed: u64::MAX },
    ]
}

#[test]
fn smooth_kinds() {
    for (index, term) in smooth_terms().into_iter().enumerate() {
        round_trip(&format!("smooth-{index}"), &ProblemFile::new(term));
    }
    let nested = SmoothSpec::Sum { terms: vec![SmoothSpec::Sum { terms: smooth_terms() }; 2] };
    let mut terms = smooth_terms();
    terms.insert(1, nested);
    round_trip("smooth-sum", &ProblemFile::new(SmoothSpec::Sum { terms }));
}

#[test]
fn separable_and_coupling_kinds() {
    let number = NumberOrList::Number;
    let separable = [
        SeparableSpec::Zero,
        SeparableSpec::Box {
            lower: Some(number(f64::NEG_INFINITY)),
            upper: Some(NumberOrList::List(long())),
        },
        SeparableSpec::NonNegative,
        SeparableSpec::L1 { weight: number(0.1) },
        SeparableSpec::ElasticNet { l1: number(1.0), l2: NumberOrList::List(vec![1.0, 2.0]) },
        SeparableSpec::L1Box { weight: number(1.0), lower: None, upper: Some(number(f64::INFINITY)) },
        SeparableSpec::GroupL2 { weight: number(3.0) },
    ];
    let coupling = [
        CouplingSpec::None,
        CouplingSpec::Sum { rhs: number(-1.0) },
        CouplingSpec::Sum { rhs: NumberOrList::List(vec![1.0]) },
        CouplingSpec::Row { weights: long(), rhs: 0.25 },
        CouplingSpec::Rows { matrix: sparse(), rhs: vec![0.0, 1.0] },
    ];
    for (index, separable) in separable.into_iter().enumerate() {
        for (other, coupling) in coupling.iter().enumerate() {
            let mut problem = ProblemFile::new(SmoothSpec::Linear { linear: vec![1.0] });
            (problem.separable, problem.coupling) = (separable.clone(), coupling.clone());
            round_trip(&format!("terms-{index}-{other}"), &problem);
        }
    }
}

#[test]
fn blocks_graph_and_solve() {
    let mut problem = ProblemFile::new(SmoothSpec::Linear { linear: vec![1.0] });
    problem.blocks = BlocksSpec::Size(3);
    problem.graph.topology = Some("erdos-renyi \"odd\"".into());
    problem.graph.probabilities = ProbabilitiesSpec::Lipschitz;
    problem.solve = SolveSpec {
        tolerance: Some(1e-9),
        time_limit: Some(60.0),
        max_epochs: Some(u64::MAX),
        max_updates: Some(7),
        method: Some("pairs".into()),
        seed: Some(0),
        memory_budget: Some(12_345),
        threads: Some(8),
        locking: Some("single".into()),
        delay_us: Some(50),
        step_rule: Some("sharp".into()),
        deterministic: Some(false),
        schedule: Some("two-thirds".into()),
        batch: Some(32),
        step_size: Some(0.1),
    };
    round_trip("structure-1", &problem);
    problem.graph.probabilities = ProbabilitiesSpec::Equalised;
    round_trip("structure-equalised", &problem);
    problem.blocks = BlocksSpec::Boundaries(vec![0, 1, 4]);
    problem.graph = GraphSpec {
        topology: None,
        edges: Some((0..30).map(|k| (k, k + 1)).collect()),
        probabilities: ProbabilitiesSpec::Weights((1..=30).map(f64::from).collect()),
    };
    round_trip("structure-2", &problem);
    problem.blocks = BlocksSpec::Boundaries((0..40).collect());
    problem.graph.edges = Some(vec![(0, 1), (5, 2)]);
    problem.graph.probabilities = ProbabilitiesSpec::Uniform;
    round_trip("structure-3", &problem);
}
