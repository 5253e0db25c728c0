//! The problem: shards of rows, and what is to be minimised over all of them.
//!
//! ```text
//! ridge     1/2 ||A x - b||^2 + S/2 ||x||^2
//! logistic  sum_k ln(1 + exp(-y_k a_k.x)) + S/2 ||x||^2
//! lasso     1/2 ||A x - b||^2 + G ||x||_1 + S/2 ||x||^2
//! hinge     1/2 ||w||^2 + C sum_k max(0, 1 - y_k (w.a_k + bias))
//! ```
//!
//! The penalty counts once, not once a shard: node i of N holds the N-th part of it. A bias is a last column of ones
//! without a penalty.
//!
//! - Given: shards and a [`Model`]. Returns: a checked [`Problem`]. Must not know: graphs, methods.

use std::ops::Range;

use equipoise::collective::Collective;
use equipoise::matrix::Rows;

use crate::Error;

/// What is summed over the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Loss {
    /// Half the squared residual, with a ridge.
    Ridge,
    /// Logistic regression, with a ridge.
    Logistic,
    /// Half the squared residual, with an l1 norm and perhaps a ridge.
    Lasso,
    /// The hinge loss of a support vector machine.
    Hinge,
}

equipoise::named!(
    Loss, "loss": "ridge" => Loss::Ridge, "logistic" => Loss::Logistic, "lasso" => Loss::Lasso, "hinge" => Loss::Hinge
);

/// A loss with its parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Model {
    /// The loss.
    pub loss: Loss,
    /// S: above 0 for ridge and logistic, at least 0 for lasso; not used by hinge.
    pub ridge: f64,
    /// G: above 0 for lasso; not used by the others.
    pub l1: f64,
    /// C: above 0 for hinge; not used by the others.
    pub cost: f64,
    /// Whether a hinge has a bias without a penalty.
    pub bias: bool,
}

impl Model {
    /// A loss with the usual parameters: S = 1 (lasso: 0), G = 1, C = 1, no bias.
    pub fn new(loss: Loss) -> Self {
        let ridge = if loss == Loss::Lasso { 0.0 } else { 1.0 };
        Self { loss, ridge, l1: 1.0, cost: 1.0, bias: false }
    }

    fn check(&self) -> Result<(), Error> {
        let bad = |name, found, expected| Err(Error::BadSetting { name, found, expected });
        let above = |value: f64| value > 0.0 && value.is_finite();
        match self.loss {
            Loss::Ridge | Loss::Logistic if !above(self.ridge) => {
                bad("ridge", self.ridge, "a finite number above 0")
            }
            Loss::Lasso if !(self.ridge >= 0.0 && self.ridge.is_finite()) => {
                bad("ridge", self.ridge, "a finite number, at least 0")
            }
            Loss::Lasso if !above(self.l1) => bad("l1", self.l1, "a finite number above 0"),
            Loss::Hinge if !above(self.cost) => bad("cost", self.cost, "a finite number above 0"),
            _ => Ok(()),
        }
    }

    /// Whether the loss has two labels.
    pub fn is_classification(&self) -> bool {
        matches!(self.loss, Loss::Logistic | Loss::Hinge)
    }
}

/// The rows of one node.
#[derive(Debug, Clone)]
pub struct Shard {
    /// One a sample.
    pub rows: Rows<'static>,
    /// One a row: a number, or one of two labels.
    pub targets: Vec<f64>,
}

/// How rows of one table are given to nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Split {
    /// Row k goes to node k mod N.
    #[default]
    Deal,
    /// Node after node, runs of rows of almost equal length.
    Blocks,
}

equipoise::named!(Split, "split": "deal" => Split::Deal, "blocks" => Split::Blocks);

impl Shard {
    /// Splits one shard into several.
    pub fn split(&self, shards: usize, how: Split) -> Result<Vec<Self>, Error> {
        let rows = self.rows.len();
        if shards > rows {
            return Err(Error::TooManyShards { shards, rows });
        }
        if shards == 0 {
            return Err(Error::NoShards);
        }
        let part = |k: usize| -> Vec<usize> {
            match how {
                Split::Deal => (k..rows).step_by(shards).collect(),
                Split::Blocks => (k * rows / shards..(k + 1) * rows / shards).collect(),
            }
        };
        (0..shards).map(|k| self.chosen(&part(k))).collect()
    }

    fn chosen(&self, numbers: &[usize]) -> Result<Self, Error> {
        let targets = numbers.iter().map(|&row| self.targets[row]).collect();
        Ok(Self {
            rows: copied(numbers.iter().map(|&row| (&self.rows, row)), self.rows.columns(), false)?,
            targets,
        })
    }

    /// All shards as one.
    fn joined(shards: &[Self]) -> Result<Self, Error> {
        let columns = shards[0].rows.columns();
        let all = shards.iter().flat_map(|shard| (0..shard.rows.len()).map(|row| (&shard.rows, row)));
        let targets = shards.iter().flat_map(|shard| shard.targets.iter().copied()).collect();
        Ok(Self { rows: copied(all, columns, false)?, targets })
    }
}

/// Rows copied, perhaps with a last column of ones.
fn copied<'a>(
    of: impl Iterator<Item = (&'a Rows<'static>, usize)>,
    columns: usize,
    with_ones: bool,
) -> Result<Rows<'static>, equipoise::Error> {
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for (rows, row) in of {
        rows.for_each(row, |column, value| {
            indices.push(column as u32);
            values.push(value);
        });
        if with_ones {
            indices.push(columns as u32);
            values.push(1.0);
        }
        starts.push(indices.len());
    }
    Rows::new(columns + usize::from(with_ones), starts, indices, Some(values))
}

/// Shards and a model that fit together; of several ranks, the shards of this one.
#[derive(Debug, Clone)]
pub struct Problem {
    pub(crate) model: Model,
    /// With the column of ones where there is a bias, and labels of -1 and 1 where there are labels.
    pub(crate) shards: Vec<Shard>,
    /// The node of the first of them, how many nodes there are, and rows.
    first: usize,
    nodes: usize,
    rows: usize,
}

impl Problem {
    /// Checks shards and model; of two labels the larger becomes 1 and the other -1.
    pub fn new(shards: Vec<Shard>, model: Model) -> Result<Self, Error> {
        check(&shards, &model)?;
        let labels = labels_of(&shards, &model);
        let (nodes, rows) = (shards.len(), shards.iter().map(|shard| shard.rows.len()).sum());
        Self::of_labels(shards, model, &labels, Place { first: 0, nodes, rows })
    }

    /// The same where every rank of a world has shards of its own: those of the first rank are those of the first nodes. Every rank
    /// calls this, and where one of them has shards that will not do, all are told.
    pub fn across(shards: Vec<Shard>, model: Model, world: &dyn Collective) -> Result<Self, Error> {
        let fault = check(&shards, &model).err().map(|error| error.to_string());
        world.agree(fault.as_deref())?;
        let columns = shards[0].rows.columns();
        let own: usize = shards.iter().map(|shard| shard.rows.len()).sum();
        let all = world.lists(&[shards.len() as f64, own as f64, columns as f64])?;
        let expected = all[0][2] as usize;
        if let Some(rank) = all.iter().position(|rank| rank[2] as usize != expected) {
            let found = all[rank][2];
            let what = format!("its shards have {found} columns, expected {expected} as on rank 0");
            return Err(equipoise::Error::Rank { rank, what }.into());
        }
        let sum = |of: usize, ranks: usize| all[..ranks].iter().map(|rank| rank[of] as usize).sum();
        let place = Place { first: sum(0, world.rank()), nodes: sum(0, all.len()), rows: sum(1, all.len()) };
        // Labels that are too many are too many wherever they are.
        let mut labels = labels_of(&shards, &model);
        labels.truncate(MANY_LABELS);
        let labels = distinct(world.lists(&labels)?.concat());
        Self::of_labels(shards, model, &labels, place)
    }

    fn of_labels(mut shards: Vec<Shard>, model: Model, labels: &[f64], place: Place) -> Result<Self, Error> {
        if model.is_classification() {
            let high = two_labels(labels, model.loss)?;
            for target in shards.iter_mut().flat_map(|shard| &mut shard.targets) {
                *target = if *target == high { 1.0 } else { -1.0 };
            }
        }
        if model.loss == Loss::Hinge && model.bias {
            for shard in &mut shards {
                let all = (0..shard.rows.len()).map(|row| (&shard.rows, row));
                shard.rows = copied(all, shard.rows.columns(), true)?;
            }
        }
        let Place { first, nodes, rows } = place;
        Ok(Self { model, shards, first, nodes, rows })
    }

    /// The same problem with all rows at one node.
    pub(crate) fn joined(&self) -> Result<Self, Error> {
        let shards = vec![Shard::joined(&self.shards)?];
        Ok(Self { model: self.model, shards, first: 0, nodes: 1, rows: self.rows })
    }

    /// Its model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The number of shards of all ranks.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// The number of rows of all shards.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The nodes whose shards are here.
    pub(crate) fn own_nodes(&self) -> Range<usize> {
        self.first..self.first + self.shards.len()
    }

    /// The shard of a node of this rank.
    pub(crate) fn shard(&self, node: usize) -> &Shard {
        &self.shards[node - self.first]
    }

    /// The number of entries of x, the bias included.
    pub fn columns(&self) -> usize {
        self.shards[0].rows.columns()
    }

    /// The weight of `x_j^2 / 2` in the penalty.
    pub(crate) fn square_weight(&self, column: usize) -> f64 {
        match self.model.loss {
            Loss::Hinge => f64::from(!(self.model.bias && column + 1 == self.columns())),
            _ => self.model.ridge,
        }
    }

    /// The weight of `|x_j|` in the penalty.
    pub(crate) fn l1(&self) -> f64 {
        if self.model.loss == Loss::Lasso { self.model.l1 } else { 0.0 }
    }
}

/// Where the shards of a rank are among all.
#[derive(Clone, Copy)]
struct Place {
    first: usize,
    nodes: usize,
    rows: usize,
}

fn check(shards: &[Shard], model: &Model) -> Result<(), Error> {
    model.check()?;
    let Some(first) = shards.first() else { return Err(Error::NoShards) };
    let columns = first.rows.columns();
    if columns == 0 {
        return Err(Error::NoColumns);
    }
    for (k, shard) in shards.iter().enumerate() {
        let (found, rows) = (shard.rows.columns(), shard.rows.len());
        if found != columns {
            return Err(Error::Width { shard: k, found, expected: columns });
        }
        if rows == 0 {
            return Err(Error::EmptyShard { shard: k });
        }
        if shard.targets.len() != rows {
            return Err(Error::Targets { shard: k, found: shard.targets.len(), expected: rows });
        }
        if let Some(row) = shard.targets.iter().position(|target| !target.is_finite()) {
            return Err(Error::BadTarget { shard: k, row: row + 1, found: shard.targets[row] });
        }
    }
    Ok(())
}

/// Labels of a rank that are told to the others at most: a classification has two.
const MANY_LABELS: usize = 100;

/// The labels of a classification, ascending.
fn labels_of(shards: &[Shard], model: &Model) -> Vec<f64> {
    if !model.is_classification() {
        return Vec::new();
    }
    distinct(shards.iter().flat_map(|shard| shard.targets.iter().copied()).collect())
}

fn distinct(mut labels: Vec<f64>) -> Vec<f64> {
    labels.sort_unstable_by(f64::total_cmp);
    labels.dedup();
    labels
}

/// The larger of exactly two labels.
fn two_labels(found: &[f64], loss: Loss) -> Result<f64, Error> {
    const NAMED: usize = 5;
    if let [_, high] = found[..] {
        return Ok(high);
    }
    let named: Vec<String> = found.iter().take(NAMED).map(f64::to_string).collect();
    let more = if found.len() > NAMED { ", ..." } else { "" };
    Err(Error::Labels { loss: loss.name(), found: found.len(), named: named.join(", ") + more })
}
