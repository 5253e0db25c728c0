//! Problem files that say something.

use std::fs;

use equipoise_formats::ProblemFile;
use equipoise_formats::problem_file::{
    BlocksSpec, CouplingSpec, GraphSpec, NumberOrList, ProbabilitiesSpec, SeparableSpec, SmoothSpec,
    SolveSpec,
};

use super::{dense, scratch};

const LINEAR: &str = "[smooth]\nkind = \"linear\"\nlinear = [1]\n";

fn parse(text: &str) -> ProblemFile {
    ProblemFile::from_toml_str(text, "p.toml").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn smooth(body: &str) -> SmoothSpec {
    parse(&format!("[smooth]\n{body}")).smooth
}

fn with(body: &str) -> ProblemFile {
    parse(&format!("{LINEAR}{body}"))
}

#[test]
fn only_the_smooth_term_is_required() {
    let expected = ProblemFile::new(SmoothSpec::Linear { linear: vec![1.0] });
    assert_eq!(parse(LINEAR), expected);
    let tables = "[separable]\n[coupling]\n[blocks]\n[graph]\n[solve]\n";
    assert_eq!(with(tables), expected);
    assert_eq!(
        with("[separable]\nkind = \"zero\"\n[coupling]\nkind = \"none\"\n[blocks]\nauto = true\n"),
        expected
    );
}

#[test]
fn smooth_kinds() {
    let matrix = dense(2, 2, &[1.0, 3.0, 2.0, 4.0]);
    assert_eq!(
        smooth("kind = \"quadratic\"\nmatrix = [[1, 2], [3, 4]]"),
        SmoothSpec::Quadratic { matrix: Some(matrix.clone()), factor: None, linear: None }
    );
    assert_eq!(
        smooth("kind = \"quadratic\"\nfactor = [[1, 2], [3, 4]]\nlinear = [5, 6.5]"),
        SmoothSpec::Quadratic { matrix: None, factor: Some(matrix.clone()), linear: Some(vec![5.0, 6.5]) }
    );
    let rows = "matrix = [[1, 2], [3, 4]]\ntarget = [1, -1]\n";
    let target = vec![1.0, -1.0];
    assert_eq!(
        smooth(&format!("kind = \"least-squares\"\n{rows}")),
        SmoothSpec::LeastSquares { matrix: matrix.clone(), target: target.clone(), weights: None }
    );
    let weights = Some(vec![0.5, 2.0]);
    let weighted = format!("{rows}weights = [0.5, 2]\n");
    assert_eq!(
        smooth(&format!("kind = \"logistic\"\n{weighted}")),
        SmoothSpec::Logistic { matrix: matrix.clone(), target: target.clone(), weights: weights.clone() }
    );
    assert_eq!(
        smooth(&format!("kind = \"squared-hinge\"\n{weighted}")),
        SmoothSpec::SquaredHinge { matrix: matrix.clone(), target: target.clone(), weights: weights.clone() }
    );
    assert_eq!(
        smooth(&format!("kind = \"huber\"\ndelta = 2\n{weighted}")),
        SmoothSpec::Huber { matrix, target, weights, delta: 2.0 }
    );
    assert_eq!(
        smooth("kind = \"synthetic\"\nnodes = 1e3\nblock = 50\nrows = 10\nseed = 7"),
        SmoothSpec::Synthetic { nodes: 1000, block: 50, rows: 10, seed: 7 }
    );
}

#[test]
fn distances_and_sums() {
    let target = vec![1.0, 2.0];
    let one = SmoothSpec::Distance { target: target.clone(), weight: NumberOrList::Number(1.0) };
    assert_eq!(smooth("kind = \"distance\"\ntarget = [1, 2]"), one);
    let many = SmoothSpec::Distance { target, weight: NumberOrList::List(vec![3.0, 4.0]) };
    assert_eq!(smooth("kind = \"distance\"\ntarget = [1, 2]\nweight = [3, 4]"), many);
    let inline = "kind = \"sum\"\nterms = [{kind = \"distance\", target = [1, 2]}, \
                  {kind = \"sum\", terms = [{kind = \"linear\", linear = [1]}]}]";
    let inner = SmoothSpec::Sum { terms: vec![SmoothSpec::Linear { linear: vec![1.0] }] };
    assert_eq!(smooth(inline), SmoothSpec::Sum { terms: vec![one.clone(), inner] });
    let tables = "kind = \"sum\"\n[[smooth.terms]]\nkind = \"distance\"\ntarget = [1, 2]\n";
    assert_eq!(smooth(tables), SmoothSpec::Sum { terms: vec![one] });
}

#[test]
fn separable_kinds() {
    let number = NumberOrList::Number;
    let list = |items: &[f64]| NumberOrList::List(items.to_vec());
    for (body, expected) in [
        ("kind = \"non-negative\"", SeparableSpec::NonNegative),
        ("kind = \"box\"", SeparableSpec::Box { lower: None, upper: None }),
        (
            "kind = \"box\"\nlower = -inf\nupper = [1, inf]",
            SeparableSpec::Box {
                lower: Some(number(f64::NEG_INFINITY)),
                upper: Some(list(&[1.0, f64::INFINITY])),
            },
        ),
        (
            "kind = \"box\"\nlower = \"-inf\"\nupper = [\"inf\", 2]",
            SeparableSpec::Box {
                lower: Some(number(f64::NEG_INFINITY)),
                upper: Some(list(&[f64::INFINITY, 2.0])),
            },
        ),
        ("kind = \"l1\"\nweight = 2", SeparableSpec::L1 { weight: number(2.0) }),
        (
            "kind = \"elastic-net\"\nl1 = 1\nl2 = [0.5, 2]",
            SeparableSpec::ElasticNet { l1: number(1.0), l2: list(&[0.5, 2.0]) },
        ),
        (
            "kind = \"l1-box\"\nweight = 1\nlower = 0",
            SeparableSpec::L1Box { weight: number(1.0), lower: Some(number(0.0)), upper: None },
        ),
        ("kind = \"group-l2\"\nweight = [1, 2]", SeparableSpec::GroupL2 { weight: list(&[1.0, 2.0]) }),
    ] {
        assert_eq!(with(&format!("[separable]\n{body}")).separable, expected);
    }
}

#[test]
fn coupling_kinds() {
    let matrix = dense(1, 2, &[1.0, 2.0]);
    for (body, expected) in [
        ("kind = \"sum\"\nrhs = 1", CouplingSpec::Sum { rhs: NumberOrList::Number(1.0) }),
        ("kind = \"sum\"\nrhs = [1, 2]", CouplingSpec::Sum { rhs: NumberOrList::List(vec![1.0, 2.0]) }),
        (
            "kind = \"row\"\nweights = [1, 2]\nrhs = 3",
            CouplingSpec::Row { weights: vec![1.0, 2.0], rhs: 3.0 },
        ),
        ("kind = \"row\"\nweights = [1]\nrhs = [3]", CouplingSpec::Row { weights: vec![1.0], rhs: 3.0 }),
        (
            "kind = \"rows\"\nmatrix = [[1, 2]]\nrhs = [3]",
            CouplingSpec::Rows { matrix: matrix.clone(), rhs: vec![3.0] },
        ),
        ("kind = \"rows\"\nmatrix = [[1, 2]]\nrhs = 3", CouplingSpec::Rows { matrix, rhs: vec![3.0] }),
    ] {
        assert_eq!(with(&format!("[coupling]\n{body}")).coupling, expected);
    }
}

#[test]
fn blocks_and_graphs() {
    assert_eq!(with("[blocks]\nsize = 3\nauto = false").blocks, BlocksSpec::Size(3));
    assert_eq!(with("[blocks]\nboundaries = [0, 2, 5.0]").blocks, BlocksSpec::Boundaries(vec![0, 2, 5]));
    let graph = with("[graph]\ntopology = \"ring\"\nprobabilities = \"lipschitz\"").graph;
    let expected =
        GraphSpec { topology: Some("ring".into()), edges: None, probabilities: ProbabilitiesSpec::Lipschitz };
    assert_eq!(graph, expected);
    assert_eq!(with("[graph]\nprobabilities = \"uniform\"").graph, GraphSpec::default());
    let equalised = with("[graph]\nprobabilities = \"equalised\"").graph.probabilities;
    assert_eq!(equalised, ProbabilitiesSpec::Equalised);
    let graph = with("[graph]\nedges = [[0, 1], [1, 2]]\nprobabilities = [1, 3]").graph;
    assert_eq!(graph.edges, Some(vec![(0, 1), (1, 2)]));
    assert_eq!(graph.probabilities, ProbabilitiesSpec::Weights(vec![1.0, 3.0]));
    let weighted = with("[graph]\nedges = [[0, 1, 1], [1, 2, 3]]").graph;
    assert_eq!(weighted, graph);
}

#[test]
fn solve_takes_dashes_and_underscores() {
    let expected = SolveSpec {
        tolerance: Some(1e-6),
        time_limit: Some(2.0),
        max_epochs: Some(100),
        max_updates: Some(10_000_000),
        method: Some("pairs".into()),
        seed: Some(3),
        memory_budget: Some(64 << 20),
        threads: Some(4),
        locking: Some("double".into()),
        delay_us: Some(50),
        step_rule: Some("paper".into()),
        deterministic: Some(true),
        schedule: Some("horizon".into()),
        batch: Some(16),
        step_size: Some(0.5),
    };
    let dashed = "[solve]\ntolerance = 1e-6\ntime-limit = 2\nmax-epochs = 100\nmax-updates = 1e7\n\
                  method = \"pairs\"\nseed = 3\nmemory-budget = \"64 MiB\"\nthreads = 4\nlocking = \"double\"\ndelay-us = 50\n\
                  step-rule = \"paper\"\ndeterministic = true\nschedule = \"horizon\"\nbatch = 16\n\
                  step-size = 0.5\n";
    assert_eq!(with(dashed).solve, expected);
    let underscored = ["x-", "e-l", "y-u", "p-r", "p-s"]
        .iter()
        .fold(dashed.to_owned(), |text, dash| text.replace(dash, &dash.replace('-', "_")));
    assert_eq!(with(&underscored).solve, expected);
}

#[test]
fn files_are_relative_to_the_problem() {
    let folder = scratch("problem-files");
    fs::create_dir(folder.join("data")).expect("made");
    for (name, content) in [
        ("data/m.csv", "1,2\n3,4\n"),
        ("data/y.csv", "5,6\n"),
        ("data/b.mtx", "%%MatrixMarket matrix array real general\n2 1\n-inf\n0\n"),
        ("data/e.csv", "0,1,0.25\n1,2,0.75\n"),
        (
            "p.toml",
            "[smooth]\nkind = \"least-squares\"\nmatrix = \"data/m.csv\"\ntarget = \"data/y.csv\"\n\
             [separable]\nkind = \"box\"\nlower = \"data/b.mtx\"\n[graph]\nedges = \"data/e.csv\"\n",
        ),
    ] {
        fs::write(folder.join(name), content).expect("written");
    }
    let problem = ProblemFile::read(folder.join("p.toml")).expect("valid");
    let matrix = dense(2, 2, &[1.0, 3.0, 2.0, 4.0]);
    assert_eq!(problem.smooth, SmoothSpec::LeastSquares { matrix, target: vec![5.0, 6.0], weights: None });
    let lower = Some(NumberOrList::List(vec![f64::NEG_INFINITY, 0.0]));
    assert_eq!(problem.separable, SeparableSpec::Box { lower, upper: None });
    assert_eq!(problem.graph.probabilities, ProbabilitiesSpec::Weights(vec![0.25, 0.75]));
}
