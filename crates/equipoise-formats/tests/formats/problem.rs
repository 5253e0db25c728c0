//! Problem files that say something.

use std::fs;
use std::sync::Arc;

use equipoise::graph::{Topology, TopologyChoice};
use equipoise::{BlockChoice, Control, Locking, Method, ProbabilityChoice, Schedule};
use equipoise_formats::ProblemFile;
use equipoise_formats::problem_file::{GraphSpec, SolveSpec, Term};
use equipoise_theory::Equalised;
use equipoise_theory::StepRule;

use super::{dense, scratch};

const LINEAR: &str = "[smooth]\nkind = \"linear\"\nlinear = [1]\n";

fn parse(text: &str) -> ProblemFile<'static> {
    ProblemFile::from_toml_str(text, "p.toml").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn smooth(body: &str) -> Term<'static> {
    parse(&format!("[smooth]\n{body}")).smooth
}

fn with(body: &str) -> ProblemFile<'static> {
    parse(&format!("{LINEAR}{body}"))
}

#[test]
fn only_the_smooth_term_is_required() {
    let expected = ProblemFile::new(Term::new("linear").with("linear", vec![1.0]));
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
        Term::new("quadratic").with("matrix", matrix.clone())
    );
    assert_eq!(
        smooth("kind = \"quadratic\"\nfactor = [[1, 2], [3, 4]]\nlinear = [5, 6.5]"),
        Term::new("quadratic").with("factor", matrix.clone()).with("linear", vec![5.0, 6.5])
    );
    let rows = "matrix = [[1, 2], [3, 4]]\ntarget = [1, -1]\n";
    let target = vec![1.0, -1.0];
    let loss = |kind: &str| Term::new(kind).with("matrix", matrix.clone()).with("target", target.clone());
    assert_eq!(smooth(&format!("kind = \"least-squares\"\n{rows}")), loss("least-squares"));
    let weights = vec![0.5, 2.0];
    let weighted = format!("{rows}weights = [0.5, 2]\n");
    assert_eq!(
        smooth(&format!("kind = \"logistic\"\n{weighted}")),
        loss("logistic").with("weights", weights.clone())
    );
    assert_eq!(
        smooth(&format!("kind = \"squared-hinge\"\n{weighted}")),
        loss("squared-hinge").with("weights", weights.clone())
    );
    assert_eq!(
        smooth(&format!("kind = \"huber\"\ndelta = 2\n{weighted}")),
        loss("huber").with("weights", weights).with("delta", 2.0)
    );
    assert_eq!(
        smooth("kind = \"synthetic\"\nnodes = 1e3\nblock = 50\nrows = 10\nseed = 7"),
        Term::new("synthetic")
            .with("nodes", 1000_u64)
            .with("block", 50_u64)
            .with("rows", 10_u64)
            .with("seed", 7_u64)
    );
}

#[test]
fn distances_and_sums() {
    let target = vec![1.0, 2.0];
    let one = Term::new("distance").with("target", target);
    assert_eq!(smooth("kind = \"distance\"\ntarget = [1, 2]"), one);
    let many = one.clone().with("weight", vec![3.0, 4.0]);
    assert_eq!(smooth("kind = \"distance\"\ntarget = [1, 2]\nweight = [3, 4]"), many);
    let inline = "kind = \"sum\"\nterms = [{kind = \"distance\", target = [1, 2]}, \
                  {kind = \"sum\", terms = [{kind = \"linear\", linear = [1]}]}]";
    let sum = |terms: Vec<Term<'static>>| Term::new("sum").with("terms", terms);
    let inner = sum(vec![Term::new("linear").with("linear", vec![1.0])]);
    assert_eq!(smooth(inline), sum(vec![one.clone(), inner]));
    let tables = "kind = \"sum\"\n[[smooth.terms]]\nkind = \"distance\"\ntarget = [1, 2]\n";
    assert_eq!(smooth(tables), sum(vec![one]));
}

#[test]
fn separable_kinds() {
    let infinity = f64::INFINITY;
    for (body, expected) in [
        ("kind = \"non-negative\"", Term::new("non-negative")),
        ("kind = \"box\"", Term::new("box")),
        (
            "kind = \"box\"\nlower = -inf\nupper = [1, inf]",
            Term::new("box").with("lower", -infinity).with("upper", vec![1.0, infinity]),
        ),
        (
            "kind = \"box\"\nlower = \"-inf\"\nupper = [\"inf\", 2]",
            Term::new("box").with("lower", -infinity).with("upper", vec![infinity, 2.0]),
        ),
        ("kind = \"l1\"\nweight = 2", Term::new("l1").with("weight", 2.0)),
        (
            "kind = \"elastic-net\"\nl1 = 1\nl2 = [0.5, 2]",
            Term::new("elastic-net").with("l1", 1.0).with("l2", vec![0.5, 2.0]),
        ),
        (
            "kind = \"l1-box\"\nweight = 1\nlower = 0",
            Term::new("l1-box").with("weight", 1.0).with("lower", 0.0),
        ),
        ("kind = \"group-l2\"\nweight = [1, 2]", Term::new("group-l2").with("weight", vec![1.0, 2.0])),
    ] {
        assert_eq!(with(&format!("[separable]\n{body}")).separable, expected);
    }
}

#[test]
fn coupling_kinds() {
    let matrix = dense(1, 2, &[1.0, 2.0]);
    let rows = Term::new("rows").with("matrix", matrix).with("rhs", vec![3.0]);
    for (body, expected) in [
        ("kind = \"sum\"\nrhs = 1", Term::new("sum").with("rhs", 1.0)),
        ("kind = \"sum\"\nrhs = [1, 2]", Term::new("sum").with("rhs", vec![1.0, 2.0])),
        (
            "kind = \"row\"\nweights = [1, 2]\nrhs = 3",
            Term::new("row").with("weights", vec![1.0, 2.0]).with("rhs", 3.0),
        ),
        (
            "kind = \"row\"\nweights = [1]\nrhs = [3]",
            Term::new("row").with("weights", vec![1.0]).with("rhs", 3.0),
        ),
        ("kind = \"rows\"\nmatrix = [[1, 2]]\nrhs = [3]", rows.clone()),
        ("kind = \"rows\"\nmatrix = [[1, 2]]\nrhs = 3", rows),
    ] {
        assert_eq!(with(&format!("[coupling]\n{body}")).coupling, expected);
    }
}

#[test]
fn blocks_and_graphs() {
    assert_eq!(with("[blocks]\nsize = 3\nauto = false").blocks, BlockChoice::Size(3));
    assert_eq!(with("[blocks]\nboundaries = [0, 2, 5.0]").blocks, BlockChoice::Boundaries(vec![0, 2, 5]));
    let graph = with("[graph]\ntopology = \"ring\"\nprobabilities = \"lipschitz\"").graph;
    let (topology, probabilities) = (Topology::Ring.into(), ProbabilityChoice::Lipschitz);
    let expected = GraphSpec { topology, probabilities };
    assert_eq!(graph, expected);
    assert_eq!(with("[graph]\nprobabilities = \"uniform\"").graph, GraphSpec::default());
    let equalised = with("[graph]\nprobabilities = \"equalised\"").graph.probabilities;
    assert_eq!(equalised, ProbabilityChoice::Law(Arc::new(Equalised)));
    let graph = with("[graph]\nedges = [[0, 1], [1, 2]]\nprobabilities = [1, 3]").graph;
    assert_eq!(graph.topology, TopologyChoice::from(Topology::Edges(vec![(0, 1), (1, 2)])));
    assert_eq!(graph.probabilities, ProbabilityChoice::Weighted(vec![1.0, 3.0]));
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
        method: Some(Method::Pairs),
        seed: Some(3),
        memory_budget: Some(64 << 20),
        threads: Some(4),
        locking: Some(Locking::Double),
        delay_us: Some(50),
        step_rule: Some(StepRule::Paper),
        deterministic: Some(true),
        schedule: Some(Schedule::Horizon),
        batch: Some(16),
        step_size: Some(0.5),
        misnamed: Vec::new(),
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
    let problem = ProblemFile::read(folder.join("p.toml"), &Control::unlimited()).expect("valid");
    let matrix = dense(2, 2, &[1.0, 3.0, 2.0, 4.0]);
    let smooth = Term::new("least-squares").with("matrix", matrix).with("target", vec![5.0, 6.0]);
    assert_eq!(problem.smooth, smooth);
    assert_eq!(problem.separable, Term::new("box").with("lower", vec![f64::NEG_INFINITY, 0.0]));
    assert_eq!(problem.graph.probabilities, ProbabilityChoice::Weighted(vec![0.25, 0.75]));
}
