//! Hands an instance of the testkit to the solver; checks every solution independently.

use equipoise::problem::ProblemBuilder;
use equipoise::separable::{Nonsmooth, SeparableTerm, Zero};
use equipoise::smooth::{Distance, Linear, Quadratic, SmoothTerm, Sum};
use equipoise::{
    BlockChoice, Control, Coupling, DenseMatrix, Error, Matrix, Problem, Settings, Solution, SparseMatrix,
    Status, certificate,
};
use equipoise_formats::problem_file::Term;
use equipoise_testkit as kit;

/// What keeps words from becoming a problem.
pub(crate) type Failure = Box<dyn std::error::Error>;
pub(crate) type AnyProblem = Problem<Box<dyn SmoothTerm>, Box<dyn SeparableTerm>>;
pub(crate) type AnyBuilder = ProblemBuilder<Box<dyn SmoothTerm>, Box<dyn SeparableTerm>>;

/// The builder of a problem with this f and this h. Its terms are boxed, so that the solver is compiled once for all
/// tests and not for every f and h: that alone would take minutes.
pub(crate) fn composite(f: impl SmoothTerm + 'static, h: impl SeparableTerm + 'static) -> AnyBuilder {
    let f: Box<dyn SmoothTerm> = Box::new(f);
    Problem::builder(f).nonsmooth(term(h))
}

/// The same with h = 0.
pub(crate) fn builder(f: impl SmoothTerm + 'static) -> AnyBuilder {
    composite(f, Zero)
}

/// A penalty on each coordinate, boxed.
pub(crate) fn term(h: impl SeparableTerm + 'static) -> Nonsmooth<Box<dyn SeparableTerm>> {
    Nonsmooth::Coordinates(Box::new(h))
}

/// A dense matrix from its rows.
pub(crate) fn matrix_of(rows: &[&[f64]]) -> Matrix<'static> {
    Matrix::from_rows(rows).expect("rows of one length")
}

pub(crate) fn matrix(dense: &kit::Dense) -> Matrix<'static> {
    if dense.sparse {
        let entries = (0..dense.rows).flat_map(|r| (0..dense.cols).map(move |c| (r, c)));
        let triplets: Vec<_> =
            entries.map(|(r, c)| (r, c, dense.get(r, c))).filter(|(_, _, v)| *v != 0.0).collect();
        SparseMatrix::from_triplets(dense.rows, dense.cols, &triplets).expect("within the matrix").into()
    } else {
        let values = (0..dense.cols).flat_map(|c| (0..dense.rows).map(move |r| dense.get(r, c))).collect();
        DenseMatrix::from_columns(dense.rows, dense.cols, values).expect("right size").into()
    }
}

pub(crate) fn smooth(spec: &kit::Smooth) -> Result<Box<dyn SmoothTerm>, Failure> {
    Ok(match spec {
        kit::Smooth::Quadratic { q, c } => Box::new(Quadratic::new(matrix(q), c.clone())?),
        kit::Smooth::Factor { m, c } => Box::new(Quadratic::from_factor(matrix(m), c.clone())?),
        kit::Smooth::Loss { loss, m, y, weights } => {
            let mut words = Term::new(loss.kind()).with("matrix", matrix(m)).with("target", y.clone());
            for (key, number) in loss.parameters() {
                words = words.with(key, number);
            }
            if let Some(weights) = weights {
                words = words.with("weights", weights.clone());
            }
            words.into_smooth(&Control::unlimited())?
        }
        kit::Smooth::Distance { target, weights } => {
            Box::new(Distance::new(target.clone(), weights.clone())?)
        }
        kit::Smooth::Linear { c } => Box::new(Linear::new(c.clone())?),
        kit::Smooth::Sum(terms) => Box::new(Sum::new(terms.iter().map(smooth).collect::<Result<_, _>>()?)?),
    })
}

/// Through the words of a problem file, so that every kind is read from them, too.
pub(crate) fn separable(spec: &kit::Separable) -> Result<Nonsmooth<Box<dyn SeparableTerm>>, Failure> {
    let words = Term::new(spec.kind());
    let words =
        spec.parameters().into_iter().fold(words, |words, (key, list)| words.with(key, list.to_vec()));
    Ok(words.into_separable()?)
}

fn coupling(spec: &kit::Coupling) -> Result<Coupling, Error> {
    match spec {
        kit::Coupling::None => Ok(Coupling::none()),
        kit::Coupling::Sum(rhs) => Coupling::sum(*rhs),
        kit::Coupling::BlockSum(rhs) => Coupling::block_sum(rhs.clone()),
        kit::Coupling::Row { weights, rhs } => Coupling::row(weights.clone(), *rhs),
        kit::Coupling::Rows { matrix: rows, rhs } => Coupling::rows_of(matrix(rows), rhs.clone()),
    }
}

pub(crate) fn problem(instance: &kit::Instance) -> Result<AnyProblem, Failure> {
    let blocks = match &instance.blocks {
        kit::Blocks::Auto => BlockChoice::Automatic,
        kit::Blocks::Size(size) => BlockChoice::Size(*size),
        kit::Blocks::Boundaries(list) => BlockChoice::Boundaries(list.clone()),
    };
    let builder = Problem::builder(smooth(&instance.smooth)?).nonsmooth(separable(&instance.separable)?);
    Ok(builder.coupling(coupling(&instance.coupling)?).blocks(blocks).build()?)
}

/// Solves, recomputes the certificate, and fails where what was reported is not what is recomputed.
pub(crate) fn solve_checked(problem: &AnyProblem, settings: &Settings) -> Solution {
    let solution = equipoise::solve(problem, settings).expect("a valid problem");
    let again = certificate::check(problem, &solution.x).expect("x of the right length");
    assert!(
        (again.objective - solution.certificate.objective).abs() <= 1e-12 * (1.0 + again.objective.abs())
    );
    if solution.certificate.is_proven {
        assert_eq!(again.infeasibility, solution.certificate.infeasibility);
    }
    if solution.status == Status::Converged {
        assert!(again.meets(settings.tolerance), "reported converged, recomputed {again:?}");
    }
    solution
}
