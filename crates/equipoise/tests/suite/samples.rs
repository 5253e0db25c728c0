//! One small problem for every way in which a pair is solved, with fixed data.

use crate::adaptor::AnyProblem;
pub(crate) use crate::adaptor::term;
use crate::numbers::Numbers;
use equipoise::graph::Topology;
use equipoise::separable::{
    Bounds, ElasticNet, GroupL2, L1, L1Bounds, NonNegative, Nonsmooth, SeparableTerm, Zero,
};
use equipoise::smooth::loss::{LogisticLoss, Squared};
use equipoise::smooth::{LossOfProduct, SmoothTerm};
use equipoise::{BlockChoice, Coupling, Error, Matrix, ProbabilityChoice, Problem};

/// The number of variables of every sample.
pub(crate) const N: usize = 24;

/// What a sample is made of; the rest are the defaults.
pub(crate) struct Sample {
    pub(crate) name: &'static str,
    pub(crate) smooth: Box<dyn SmoothTerm>,
    pub(crate) separable: Nonsmooth<Box<dyn SeparableTerm>>,
    pub(crate) coupling: Coupling,
    pub(crate) blocks: BlockChoice,
    pub(crate) graph: Topology,
    pub(crate) probabilities: ProbabilityChoice,
}

impl Sample {
    pub(crate) fn build(self) -> Result<AnyProblem, Error> {
        let builder = Problem::builder(self.smooth).nonsmooth(self.separable).coupling(self.coupling);
        builder.blocks(self.blocks).graph(self.graph).probabilities(self.probabilities).build()
    }

    pub(crate) fn problem(self) -> AnyProblem {
        self.build().expect("samples are valid")
    }
}

/// Least squares with more rows than variables: one minimiser.
pub(crate) fn least_squares(n: usize) -> Box<dyn SmoothTerm> {
    let mut numbers = Numbers::new(3);
    let (matrix, target) = (numbers.dense(n + 6, n), numbers.vector(n + 6, 2.0));
    Box::new(LossOfProduct::new(matrix, target, Squared).expect("valid"))
}

fn logistic(n: usize) -> Box<dyn SmoothTerm> {
    let mut numbers = Numbers::new(5);
    let (matrix, target) = (numbers.sparse(3 * n, n), numbers.labels(3 * n));
    Box::new(LossOfProduct::new(matrix, target, LogisticLoss).expect("valid"))
}

/// Dense rows with a right-hand side that small x meet.
pub(crate) fn rows(m: usize, n: usize) -> Coupling {
    let mut numbers = Numbers::new(7);
    let matrix: Matrix = numbers.dense(m, n);
    let mut rhs = vec![0.0; m];
    matrix.multiply(&vec![0.125; n], &mut rhs);
    Coupling::rows_of(matrix, rhs).expect("finite")
}

pub(crate) fn groups(weight: f64) -> Nonsmooth<Box<dyn SeparableTerm>> {
    Nonsmooth::Groups(GroupL2::new(weight).expect("valid"))
}

pub(crate) fn l1() -> L1 {
    L1::new(0.5).expect("valid")
}

fn unit_box() -> Bounds {
    Bounds::new(-0.5, 1.0).expect("valid")
}

/// Least squares with this h, this coupling and these blocks.
pub(crate) fn sample(
    name: &'static str,
    separable: Nonsmooth<Box<dyn SeparableTerm>>,
    coupling: Coupling,
    blocks: BlockChoice,
) -> Sample {
    let (smooth, graph, probabilities) = (least_squares(N), Topology::Clique, ProbabilityChoice::Uniform);
    Sample { name, smooth, separable, coupling, blocks, graph, probabilities }
}

/// One sample for every kernel of the pair update.
pub(crate) fn kernels() -> Vec<Sample> {
    let sum = || Coupling::sum(3.0).expect("finite");
    let block_sum = || Coupling::block_sum(vec![0.5, 1.0, 0.0]).expect("finite");
    let (auto, four) = (BlockChoice::Automatic, BlockChoice::Size(4));
    let elastic = ElasticNet::new(0.5, 0.25).expect("valid");
    let narrow = L1Bounds::new(0.25, -0.25, 0.75).expect("valid");
    vec![
        sample("no rows, l1", term(l1()), Coupling::none(), auto.clone()),
        sample("scalar row, zero", term(Zero), sum(), auto.clone()),
        sample("scalar row, l1", term(l1()), sum(), auto.clone()),
        sample("scalar row, box", term(unit_box()), sum(), auto.clone()),
        Sample { smooth: logistic(N), ..sample("scalar row, logistic", term(elastic), sum(), auto.clone()) },
        sample("block row, l1 + box", term(narrow), sum(), four.clone()),
        sample("block sum, non-negative", term(NonNegative), block_sum(), auto.clone()),
        sample("smooth rows", term(Zero), rows(3, N), auto.clone()),
        sample("smooth rows, ranges", term(Zero), rows(3, N), four.clone()),
        sample("newton, l1", term(l1()), rows(3, N), auto.clone()),
        sample("newton, box", term(unit_box()), rows(2, N), four.clone()),
        sample("groups, no rows", groups(0.75), Coupling::none(), four.clone()),
        sample("groups, one row", groups(0.75), sum(), four.clone()),
        sample("groups, three rows", groups(0.75), rows(3, N), four),
    ]
}
