//! Hands an instance of the testkit to the solver; checks every solution independently.

use equipoise::problem::ProblemBuilder;
use equipoise::separable::{
    Bounds, ElasticNet, GroupL2, L1, L1Bounds, NonNegative, Nonsmooth, SeparableTerm, Values, Zero,
};
use equipoise::smooth::loss::{HuberLoss, LogisticLoss, Squared, SquaredHingeLoss};
use equipoise::smooth::{Distance, Linear, LossOfProduct, Quadratic, SmoothTerm, Sum};
use equipoise::{
    BlockChoice, Coupling, DenseMatrix, Error, Matrix, Problem, Settings, Solution, SparseMatrix, Status,
    certificate,
};
use equipoise_testkit as kit;

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
pub(crate) fn matrix_of(rows: &[&[f64]]) -> Matrix {
    Matrix::from_rows(rows).expect("rows of one length")
}

pub(crate) fn matrix(dense: &kit::Dense) -> Matrix {
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

fn weights(weights: Option<&Vec<f64>>) -> Values {
    weights.map_or(Values::Uniform(1.0), |list| Values::Each(list.clone()))
}

pub(crate) fn smooth(spec: &kit::Smooth) -> Result<Box<dyn SmoothTerm>, Error> {
    Ok(match spec {
        kit::Smooth::Quadratic { q, c } => Box::new(Quadratic::new(matrix(q), c.clone())?),
        kit::Smooth::Factor { m, c } => Box::new(Quadratic::from_factor(matrix(m), c.clone())?),
        kit::Smooth::Loss { loss, m, y, weights: w } => {
            let (m, y, w) = (matrix(m), y.clone(), weights(w.as_ref()));
            match *loss {
                kit::Loss::LeastSquares => Box::new(LossOfProduct::weighted(m, y, Squared, w)?),
                kit::Loss::Logistic => Box::new(LossOfProduct::weighted(m, y, LogisticLoss, w)?),
                kit::Loss::SquaredHinge => Box::new(LossOfProduct::weighted(m, y, SquaredHingeLoss, w)?),
                kit::Loss::Huber { delta } => {
                    Box::new(LossOfProduct::weighted(m, y, HuberLoss::new(delta)?, w)?)
                }
            }
        }
        kit::Smooth::Distance { target, weights } => {
            Box::new(Distance::new(target.clone(), weights.clone())?)
        }
        kit::Smooth::Linear { c } => Box::new(Linear::new(c.clone())?),
        kit::Smooth::Sum(terms) => Box::new(Sum::new(terms.iter().map(smooth).collect::<Result<_, _>>()?)?),
    })
}

fn separable(spec: &kit::Separable) -> Result<Nonsmooth<Box<dyn SeparableTerm>>, Error> {
    let term: Box<dyn SeparableTerm> = match spec {
        kit::Separable::Zero => Box::new(Zero),
        kit::Separable::Box { lower, upper } => Box::new(Bounds::new(lower.clone(), upper.clone())?),
        kit::Separable::NonNegative => Box::new(NonNegative),
        kit::Separable::L1 { weights } => Box::new(L1::new(weights.clone())?),
        kit::Separable::ElasticNet { l1, l2 } => Box::new(ElasticNet::new(l1.clone(), l2.clone())?),
        kit::Separable::L1Box { weights, lower, upper } => {
            Box::new(L1Bounds::new(weights.clone(), lower.clone(), upper.clone())?)
        }
        kit::Separable::GroupL2 { weights } => return Ok(Nonsmooth::Groups(GroupL2::new(weights.clone())?)),
    };
    Ok(Nonsmooth::Coordinates(term))
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

pub(crate) fn problem(instance: &kit::Instance) -> Result<AnyProblem, Error> {
    let blocks = match &instance.blocks {
        kit::Blocks::Auto => BlockChoice::Automatic,
        kit::Blocks::Size(size) => BlockChoice::Size(*size),
        kit::Blocks::Boundaries(list) => BlockChoice::Boundaries(list.clone()),
    };
    Problem::builder(smooth(&instance.smooth)?)
        .nonsmooth(separable(&instance.separable)?)
        .coupling(coupling(&instance.coupling)?)
        .blocks(blocks)
        .build()
}

/// Solves, recomputes the certificate, and fails where what was reported is not what is recomputed.
pub(crate) fn solve_checked(problem: &AnyProblem, settings: &Settings) -> Solution {
    let solution = equipoise::solve(problem, settings).expect("a valid problem");
    let again = certificate::check(problem, &solution.x).expect("x of the right length");
    assert!(
        (again.objective - solution.certificate.objective).abs() <= 1e-12 * (1.0 + again.objective.abs())
    );
    assert_eq!(again.infeasibility, solution.certificate.infeasibility);
    if solution.status == Status::Converged {
        assert!(again.meets(settings.tolerance), "reported converged, recomputed {again:?}");
    }
    solution
}
