//! `[smooth]`: f, kind by kind. Losses are sums, not means.
//!
//! | `kind` | keys |
//! |---|---|
//! | `quadratic` | `matrix` Q or `factor` M (Q = M'M), `linear` c: 1/2 x'Qx + c'x |
//! | `least-squares` | `matrix`, `target`, `weights`: 1/2 ‖Mx − y‖² |
//! | `logistic` | `matrix`, `target` ±1, `weights`: Σ log(1 + exp(−y Mx)) |
//! | `squared-hinge` | `matrix`, `target` ±1, `weights`: Σ max(0, 1 − y Mx)² |
//! | `huber` | `matrix`, `target`, `weights`, `delta` |
//! | `poisson` | `matrix`, `target` ≥ 0, `weights`, `limit`: Σ exp(Mx) − y Mx, exact up to Mx = limit |
//! | `distance` | `target`, `weight` (default 1): Σ w ‖x − t‖² |
//! | `linear` | `linear` c: c'x |
//! | `synthetic` | `nodes`, `block`, `rows`, `seed`: the paper's problem, coupling included |
//! | `sum` | `terms`, an array of tables like this one |
//!
//! A new kind is an entry of `KINDS` and a row of this table; a new loss says its name, the keys beyond those of all
//! losses, and the [`ScalarLoss`] that they make, for matrices in memory and in their file alike.

use std::ops::Range;
use std::sync::Arc;

use equipoise::collective::Accord;
use equipoise::separable::Values;
use equipoise::smooth::loss::{HuberLoss, LogisticLoss, PoissonLoss, ScalarLoss, Squared, SquaredHingeLoss};
use equipoise::smooth::{Distance, Linear, LossOfProduct, Quadratic, Sharded, SmoothTerm, Streamed, Sum};
use equipoise::{Control, Matrix};
use equipoise_models::Synthetic;

use super::keys::{Keys, Place};
use super::kinds::{self, Key, Kind, Takes, may, need};
use super::term::{Samples, Term, Words};
use crate::{Error, FileSamples, Result};

/// Every kind, in the order in which messages name them.
const KINDS: &[SmoothKind] = &[
    term(
        "quadratic",
        &[may("matrix", Takes::Matrix), may("factor", Takes::Matrix), may("linear", Takes::List)],
        quadratic,
    ),
    loss("least-squares", &[], |_| boxed(Squared)),
    loss("logistic", &[], |_| boxed(LogisticLoss)),
    loss("squared-hinge", &[], |_| boxed(SquaredHingeLoss)),
    loss("huber", &[need("delta", Takes::Number)], |words| boxed(HuberLoss::new(words.number("delta")?)?)),
    loss("poisson", &[need("limit", Takes::Number)], |words| {
        boxed(PoissonLoss::new(words.number("limit")?)?)
    }),
    term("distance", &[need("target", Takes::List), may("weight", Takes::Values)], |words, _| {
        Ok(Box::new(Distance::new(words.list("target")?, words.values_or("weight", 1.0)?)?))
    }),
    term("linear", &[need("linear", Takes::List)], |words, _| {
        Ok(Box::new(Linear::new(words.list("linear")?)?))
    }),
    SmoothKind { name: SYNTHETIC, keys: SYNTHETIC_KEYS, makes: Makes::Problem },
    SmoothKind { name: "sum", keys: &[need("terms", Takes::Terms)], makes: Makes::Sum },
];

const SYNTHETIC: &str = "synthetic";
const SYNTHETIC_KEYS: &[Key] = &[
    need("nodes", Takes::Count),
    need("block", Takes::Count),
    need("rows", Takes::Count),
    need("seed", Takes::Count),
];

/// The keys of every loss.
const LOSS: &[Key] =
    &[need("matrix", Takes::Samples), need("target", Takes::Targets), may("weights", Takes::List)];

/// A kind of f.
struct SmoothKind {
    name: &'static str,
    /// Its keys; those of a loss, beyond the ones that all losses have.
    keys: &'static [Key],
    makes: Makes,
}

type MakeTerm = for<'a> fn(&mut Words<'_, 'a>, &Control) -> Result<Box<dyn SmoothTerm + 'a>>;

/// What comes of the words of a kind.
enum Makes {
    Term(MakeTerm),
    Loss(fn(&mut Words<'_, '_>) -> Result<Box<dyn AnyLoss>>),
    Sum,
    /// A term that brings its coupling.
    Problem,
}

const fn term(name: &'static str, keys: &'static [Key], make: MakeTerm) -> SmoothKind {
    SmoothKind { name, keys, makes: Makes::Term(make) }
}

const fn loss(
    name: &'static str,
    keys: &'static [Key],
    make: fn(&mut Words<'_, '_>) -> Result<Box<dyn AnyLoss>>,
) -> SmoothKind {
    SmoothKind { name, keys, makes: Makes::Loss(make) }
}

impl Kind for SmoothKind {
    fn name(&self) -> &'static str {
        self.name
    }
    fn keys(&self) -> Vec<Key> {
        match self.makes {
            Makes::Loss(_) => [LOSS, self.keys].concat(),
            _ => self.keys.to_vec(),
        }
    }
    fn one_of(&self) -> Option<[&'static str; 2]> {
        (self.name == "quadratic").then_some(["matrix", "factor"])
    }
}

/// A loss of a kind chosen at run time: the sum over its rows is compiled for it.
trait AnyLoss {
    fn of_matrix<'a>(
        self: Box<Self>,
        matrix: Matrix<'a>,
        target: Vec<f64>,
        weights: Values,
        control: &Control,
    ) -> Result<Box<dyn SmoothTerm + 'a>>;
    fn of_file(self: Box<Self>, samples: FileSamples, control: &Control) -> Result<Box<dyn SmoothTerm>>;
}

impl<L: ScalarLoss + 'static> AnyLoss for L {
    fn of_matrix<'a>(
        self: Box<Self>,
        matrix: Matrix<'a>,
        target: Vec<f64>,
        weights: Values,
        control: &Control,
    ) -> Result<Box<dyn SmoothTerm + 'a>> {
        Ok(Box::new(LossOfProduct::weighted_within(matrix, target, *self, weights, control)?))
    }
    fn of_file(self: Box<Self>, samples: FileSamples, control: &Control) -> Result<Box<dyn SmoothTerm>> {
        Ok(Box::new(Streamed::within(Box::new(samples), *self, control)?))
    }
}

#[expect(clippy::unnecessary_wraps, reason = "the entries of `KINDS` read the same")]
fn boxed<L: ScalarLoss + 'static>(loss: L) -> Result<Box<dyn AnyLoss>> {
    Ok(Box::new(loss))
}

/// Reads f from its table.
pub(super) fn read(keys: Keys<'_>) -> Result<Term<'static>> {
    kinds::read(keys, KINDS, None)
}

/// What a term needs to know beyond its words.
#[derive(Debug, Clone, Copy)]
pub(super) struct Means<'a> {
    /// Bytes that batches of samples in their file take part of.
    pub(super) memory_budget: usize,
    /// Ranks among which the rows of losses are dealt.
    pub(super) ranks: Option<&'a Arc<Accord>>,
    pub(super) control: &'a Control,
}

/// f, of any kind but the one that [`synthetic`] makes.
pub(super) fn build<'a>(term: Term<'a>, place: &Place, means: Means<'_>) -> Result<Box<dyn SmoothTerm + 'a>> {
    means.control.check()?;
    kinds::build_by(term, place, KINDS, |kind, words| match kind.makes {
        Makes::Term(make) => make(words, means.control),
        Makes::Loss(make) => loss_of_rows(make(words)?, words, means),
        Makes::Sum => sum(words.terms("terms")?, place, means),
        Makes::Problem => {
            Err(Error::refused("`synthetic` brings its own coupling and cannot be part of a sum"))
        }
    })
}

/// The paper's problem, if that is what a term is.
pub(super) fn synthetic(term: &Term, place: &Place) -> Result<Option<Synthetic>> {
    if term.kind() != SYNTHETIC {
        return Ok(None);
    }
    let mut words = Words::new(place, term.clone());
    let paper = Synthetic {
        nodes: words.size("nodes")?,
        block: words.size("block")?,
        rows: words.size("rows")?,
        seed: words.count("seed")?,
    };
    Ok(Some(paper))
}

fn quadratic<'a>(words: &mut Words<'_, 'a>, control: &Control) -> Result<Box<dyn SmoothTerm + 'a>> {
    let linear = words.given_list("linear")?;
    let zeros = |matrix: &Matrix| vec![0.0; matrix.columns()];
    Ok(match (words.given_matrix("matrix")?, words.given_matrix("factor")?) {
        (Some(_), Some(_)) => return Err(words.place().conflict("matrix", "factor")),
        (Some(matrix), None) => {
            let linear = linear.unwrap_or_else(|| zeros(&matrix));
            Box::new(Quadratic::new_within(matrix, linear, control)?)
        }
        (None, Some(factor)) => {
            let linear = linear.unwrap_or_else(|| zeros(&factor));
            Box::new(Quadratic::from_factor_within(factor, linear, control)?)
        }
        (None, None) => return Err(words.place().missing("matrix or factor")),
    })
}

fn loss_of_rows<'a>(
    loss: Box<dyn AnyLoss>,
    words: &mut Words<'_, 'a>,
    means: Means<'_>,
) -> Result<Box<dyn SmoothTerm + 'a>> {
    let samples = words.samples("matrix")?;
    let target = words.given_list("target")?;
    let weights = words.given_list("weights")?.map_or(Values::Uniform(1.0), Values::Each);
    match samples {
        Samples::Loaded(matrix) => {
            let target = target.ok_or_else(|| words.place().missing("target"))?;
            let Some(accord) = means.ranks else {
                return loss.of_matrix(matrix, target, weights, means.control);
            };
            let own = share(accord, matrix.rows(), target.len(), &weights)?;
            let weights = match weights {
                Values::Each(list) => Values::Each(list[own.clone()].to_vec()),
                same @ Values::Uniform(_) => same,
            };
            let (matrix, target) = (matrix.part_of_rows(own.clone()), target[own].to_vec());
            spread(loss.of_matrix(matrix, target, weights, means.control), accord)
        }
        Samples::Unloaded(rows) => {
            let count = rows.rows();
            let samples = FileSamples::new(rows, target, weights, means.memory_budget)?;
            let Some(accord) = means.ranks else { return loss.of_file(samples, means.control) };
            let own = share(accord, count, count, &Values::Uniform(1.0))?;
            spread(loss.of_file(samples.part(own), means.control), accord)
        }
    }
}

/// The rows of this rank: runs of almost equal length, of rows that fit together.
fn share(accord: &Accord, rows: usize, targets: usize, weights: &Values) -> Result<Range<usize>> {
    for (input, found) in [("target", Some(targets)), ("weights", weights.len())] {
        if let Some(found) = found.filter(|found| *found != rows) {
            let (input, unit) = (input.into(), "entries");
            return Err(equipoise::Error::ShapeMismatch { input, unit, found, expected: rows }.into());
        }
    }
    let (rank, ranks) = accord.place();
    Ok(rank * rows / ranks..(rank + 1) * rows / ranks)
}

/// The sum over ranks, where each of them has a term: no rank waits for one whose rows are faulty.
fn spread<'a>(
    own: Result<Box<dyn SmoothTerm + 'a>>,
    accord: &Arc<Accord>,
) -> Result<Box<dyn SmoothTerm + 'a>> {
    let complaint = own.as_ref().err().map(ToString::to_string);
    accord.agree(complaint.as_deref())?;
    Ok(Box::new(Sharded::new(own?, accord)?))
}

fn sum<'a>(terms: Vec<Term<'a>>, place: &Place, means: Means<'_>) -> Result<Box<dyn SmoothTerm + 'a>> {
    let term = |(k, term)| {
        build(term, &place.inner("terms", k), means).map_err(|error| error.within(&format!("terms[{k}]")))
    };
    Ok(Box::new(Sum::new(terms.into_iter().enumerate().map(term).collect::<Result<_>>()?)?))
}
