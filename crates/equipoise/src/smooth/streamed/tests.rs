//! The same numbers as from memory, whatever the batches; and faults.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use super::*;
use crate::matrix::{ByRow, Matrix, Rows};
use crate::smooth::loss::{HuberLoss, LogisticLoss, Squared, SquaredHingeLoss};
use crate::smooth::{Distance, LossOfProduct, SampleReader, Sum};

const SAMPLES: usize = 11;
const COLUMNS: usize = 4;

/// Rows of a small matrix, a few at a time; damaged on request.
#[derive(Debug)]
struct Pieces {
    values: Vec<f64>,
    target: Vec<f64>,
    weights: Values,
    batch: usize,
    sparse: bool,
    damaged: &'static AtomicBool,
}

static SOUND: AtomicBool = AtomicBool::new(false);

/// Not random, not regular, with a zero here and there.
fn numbers(count: usize, salt: usize) -> Vec<f64> {
    let number = |k: usize| ((k * 7919 + salt * 104_729) % 23) as f64 / 4.0 - 2.5;
    (0..count).map(number).collect()
}

impl Pieces {
    fn new(batch: usize, sparse: bool) -> Self {
        let target = (0..SAMPLES).map(|l| if l % 3 == 1 { -1.0 } else { 1.0 }).collect();
        let weights = Values::Each((0..SAMPLES).map(|l| 0.5 * (l % 5) as f64).collect());
        let values = numbers(SAMPLES * COLUMNS, 1);
        Self { values, target, weights, batch, sparse, damaged: &SOUND }
    }

    fn matrix(&self) -> Matrix<'static> {
        let rows: Vec<&[f64]> = self.values.chunks(COLUMNS).collect();
        Matrix::from_rows(&rows).expect("rectangular")
    }

    fn rows(&self, range: std::ops::Range<usize>) -> ByRow {
        let mut values = self.values[range.start * COLUMNS..range.end * COLUMNS].to_vec();
        if self.damaged.load(Relaxed) && range.contains(&7) {
            values[(7 - range.start) * COLUMNS + 2] = f64::NAN;
        }
        if !self.sparse {
            return ByRow::Dense { columns: COLUMNS, values };
        }
        let (mut starts, mut indices, mut stored) = (vec![0], Vec::new(), Vec::new());
        for row in values.chunks(COLUMNS) {
            let entries = row.iter().enumerate().filter(|(_, value)| **value != 0.0);
            entries.for_each(|(c, value)| {
                indices.push(c as u32);
                stored.push(*value);
            });
            starts.push(indices.len());
        }
        ByRow::Sparse(Rows::new(COLUMNS, starts, indices, Some(stored)).expect("valid"))
    }
}

impl SampleSource for Pieces {
    fn samples(&self) -> usize {
        SAMPLES
    }
    fn columns(&self) -> usize {
        COLUMNS
    }
    fn memory_budget(&self) -> usize {
        8 * COLUMNS * self.batch
    }
    fn open(&self) -> Result<Box<dyn SampleReader + '_>, SampleFault> {
        Ok(Box::new(Pass { pieces: self, next: 0 }))
    }
}

struct Pass<'a> {
    pieces: &'a Pieces,
    next: usize,
}

impl SampleReader for Pass<'_> {
    fn next(&mut self, _used: Option<SampleBatch>) -> Result<Option<SampleBatch>, SampleFault> {
        let Pieces { batch, target, weights, .. } = self.pieces;
        let (first, end) = (self.next, (self.next + batch).min(SAMPLES));
        self.next = end;
        let weights = match weights {
            Values::Uniform(w) => Values::Uniform(*w),
            Values::Each(list) => Values::Each(list[first..end].to_vec()),
        };
        let (rows, target) = (self.pieces.rows(first..end), target[first..end].to_vec());
        Ok((first < end).then_some(SampleBatch { first, rows, target, weights }))
    }
}

fn close(a: &[f64], b: &[f64], what: &str) {
    assert_eq!(a.len(), b.len(), "{what}");
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= 1e-13 * (1.0 + a.abs() + b.abs()), "{what}: {a} and {b}");
    }
}

/// A vector filled by a method.
fn filled(length: usize, fill: impl FnOnce(&mut [f64])) -> Vec<f64> {
    let mut out = vec![0.25; length];
    fill(&mut out);
    out
}

/// The same by a pass that nothing ends.
fn passed(length: usize, fill: impl FnOnce(&mut [f64], &Control) -> crate::Pass) -> Vec<f64> {
    filled(length, |out| fill(out, &Control::unlimited()).expect("nothing ends it"))
}

fn agree(streamed: &dyn SmoothTerm, memory: &dyn SmoothTerm, what: &str) {
    let (x, v) = (numbers(COLUMNS, 3), numbers(COLUMNS, 5));
    let count = memory.product_len();
    assert_eq!((streamed.dimension(), streamed.product_len()), (memory.dimension(), count));
    let product = passed(count, |out, control| memory.fill_product(&x, out, control));
    let free = &Control::unlimited();
    let both = |name: &str, length, fill: &dyn Fn(&dyn SmoothTerm, &mut [f64])| {
        let (a, b) = (filled(length, |out| fill(streamed, out)), filled(length, |out| fill(memory, out)));
        close(&a, &b, &format!("{what}: {name}"));
    };
    both("product", count, &|f, out| f.fill_product(&x, out, free).expect("whole"));
    both("value", 1, &|f, out| out[0] = f.value(&x, &product));
    both("gradient", COLUMNS, &|f, out| f.gradient(&x, &product, out, free).expect("whole"));
    both("hessian", COLUMNS, &|f, out| assert_eq!(f.hessian_product(&x, &product, &v, out, free), Ok(true)));
    both("partials", 2, &|f, out| f.partials(&[3, 1], &x, &product, out));
    both("range", 2, &|f, out| f.range_partials(1..3, &x, &product, out));
    both("moved", count, &|f, out| f.add_all_to_product(&[0, 2], &[0.5, -1.0], out));
    for c in 0..COLUMNS {
        both("partial", 1, &|f, out| out[0] = f.partial(c, &x, &product));
        both("curvature", 1, &|f, out| out[0] = f.curvature(c));
        both("one move", count, &|f, out| f.add_to_product(c, 0.75, out));
    }
    let side = |f: &dyn SmoothTerm| f.dual().expect("a dual side").dual_len();
    let duals = side(memory);
    assert_eq!(side(streamed), duals);
    let u = filled(duals, |u| memory.dual().expect("a dual side").dual_point(&x, &product, u));
    let dual = |name: &str, length, fill: &dyn Fn(&dyn DualSide, &mut [f64])| {
        both(name, length, &|f, out| fill(f.dual().expect("a dual side"), out));
    };
    dual("dual point", duals, &|d, out| d.dual_point(&x, &product, out));
    dual("dual step", duals, &|d, out| {
        out.copy_from_slice(&u);
        d.add_dual_step(&x, &product, &v, out, free).expect("whole");
    });
    dual("dual gradient", COLUMNS, &|d, out| d.add_dual_gradient(&u, out, free).expect("whole"));
    dual("dual magnitude", COLUMNS, &|d, out| d.add_dual_magnitude(&u, out, free).expect("whole"));
    dual("conjugate", 1, &|d, out| out[0] = d.conjugate(&u, free).expect("whole"));
}

fn check<L: ScalarLoss + Clone + 'static>(loss: &L) {
    for batch in [1, 3, SAMPLES, 2 * SAMPLES] {
        for sparse in [false, true] {
            let pieces = Pieces::new(batch, sparse);
            let (matrix, target, weights) = (pieces.matrix(), pieces.target.clone(), pieces.weights.clone());
            let memory = LossOfProduct::weighted(matrix, target, loss.clone(), weights).expect("valid");
            let streamed = Streamed::new(Box::new(pieces), loss.clone()).expect("valid");
            agree(&streamed, &memory, &format!("{loss:?}, batches of {batch}"));
            let ridge = || Box::new(Distance::new(numbers(COLUMNS, 9), 0.5).expect("finite"));
            let streamed = Sum::new(vec![Box::new(streamed), ridge()]).expect("one dimension");
            let memory = Sum::new(vec![Box::new(memory), ridge()]).expect("one dimension");
            agree(&streamed, &memory, &format!("{loss:?} and a ridge, batches of {batch}"));
            let sum = streamed.finite_sum().expect("one term over samples");
            assert!(matches!(sum.data, SampleData::Stream(_)));
            assert_eq!((sum.data.len(), sum.rest.len()), (SAMPLES, 1));
        }
    }
}

#[test]
fn it_agrees_with_the_same_rows_in_memory() {
    check(&Squared);
    check(&LogisticLoss);
    check(&SquaredHingeLoss);
    check(&HuberLoss::new(0.75).expect("positive"));
}

#[test]
fn weights_stay_one_number_while_they_are_one() {
    let mut pieces = Pieces::new(2, false);
    pieces.weights = Values::Uniform(0.5);
    assert_eq!(Streamed::new(Box::new(pieces), Squared).expect("valid").rows.weights, Values::Uniform(0.5));
    let pieces = Pieces::new(2, false);
    let weights = pieces.weights.clone();
    assert_eq!(Streamed::new(Box::new(pieces), Squared).expect("valid").rows.weights, weights);
}

#[test]
fn rows_that_cannot_be_used_are_refused_by_number() {
    let mut pieces = Pieces::new(3, false);
    pieces.values[5 * COLUMNS + 1] = f64::INFINITY;
    let error = Streamed::new(Box::new(pieces), Squared).expect_err("not finite");
    assert_eq!(error.to_string(), "sample 5: column 1 is inf; every entry must be finite");
    let mut pieces = Pieces::new(3, true);
    pieces.target[8] = 0.5;
    let error = Streamed::new(Box::new(pieces), LogisticLoss).expect_err("no label");
    assert_eq!(error.to_string(), "target: entry 8 is 0.5; allowed: -1 or +1");
    let mut pieces = Pieces::new(3, true);
    pieces.weights = Values::Uniform(-1.0);
    let error = Streamed::new(Box::new(pieces), Squared).expect_err("negative");
    assert_eq!(error.to_string(), "sample 0: its weight is -1; it must be finite and at least 0");
}

#[test]
fn a_pass_answers_with_a_fault_that_comes_later() {
    static DAMAGED: AtomicBool = AtomicBool::new(false);
    let mut pieces = Pieces::new(3, false);
    pieces.damaged = &DAMAGED;
    let streamed: Box<dyn SmoothTerm> = Box::new(Streamed::new(Box::new(pieces), Squared).expect("sound"));
    let f: Box<dyn SmoothTerm> = Box::new(Sum::new(vec![streamed]).expect("one term"));
    let (x, free) = (numbers(COLUMNS, 3), Control::unlimited());
    let product = passed(SAMPLES, |out, control| f.fill_product(&x, out, control));
    let slope = f.partial(1, &x, &product);
    let mut out = vec![0.0; COLUMNS];
    DAMAGED.store(true, Relaxed);
    let reason = "column 2 is NaN; every entry must be finite".to_owned();
    let fault = Err(Halt::Fault(SampleFault { row: 7, reason }));
    assert_eq!(f.gradient(&x, &product, &mut out, &free), fault);
    DAMAGED.store(false, Relaxed);
    assert_eq!(f.gradient(&x, &product, &mut out, &free), Ok(()), "what can be read again can be used again");
    assert_eq!(f.partial(1, &x, &product), slope);
    // A pair step cannot answer: the next pass does, and so does every one after it.
    DAMAGED.store(true, Relaxed);
    assert_eq!(f.partial(1, &x, &product), 0.0);
    DAMAGED.store(false, Relaxed);
    for _ in 0..2 {
        assert_eq!(f.gradient(&x, &product, &mut out, &free), fault);
    }
}

/// Raises a flag after so many rows, and counts those that are read.
#[derive(Debug)]
struct Raising {
    pieces: Pieces,
    flag: Arc<AtomicBool>,
    seen: Arc<AtomicUsize>,
    at: Arc<AtomicUsize>,
}

struct RaisingPass<'a> {
    source: &'a Raising,
    pass: Pass<'a>,
}

impl SampleSource for Raising {
    fn samples(&self) -> usize {
        SAMPLES
    }
    fn columns(&self) -> usize {
        COLUMNS
    }
    fn memory_budget(&self) -> usize {
        self.pieces.memory_budget()
    }
    fn open(&self) -> Result<Box<dyn SampleReader + '_>, SampleFault> {
        Ok(Box::new(RaisingPass { source: self, pass: Pass { pieces: &self.pieces, next: 0 } }))
    }
}

impl SampleReader for RaisingPass<'_> {
    fn next(&mut self, used: Option<SampleBatch>) -> Result<Option<SampleBatch>, SampleFault> {
        let batch = self.pass.next(used)?;
        let Raising { flag, seen, at, .. } = self.source;
        let rows = batch.as_ref().map_or(0, |batch| batch.target.len());
        let seen = seen.fetch_add(rows, Relaxed) + rows;
        if seen >= at.load(Relaxed) {
            flag.store(true, Relaxed);
        }
        Ok(batch)
    }
}

/// A length, and a method that fills so many numbers by one pass.
type Filling<'a> = (usize, Box<dyn Fn(&mut [f64], &Control) -> crate::Pass + 'a>);

#[test]
fn a_flag_raised_during_a_pass_ends_it_after_the_batch() {
    let flag = Arc::new(AtomicBool::new(false));
    let (seen, at) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(usize::MAX)));
    let source = || {
        let (flag, seen, at) = (Arc::clone(&flag), Arc::clone(&seen), Arc::clone(&at));
        Box::new(Raising { pieces: Pieces::new(3, false), flag, seen, at })
    };
    let f = Streamed::new(source(), Squared).expect("sound");
    let x = numbers(COLUMNS, 3);
    let product = passed(SAMPLES, |out, control| f.fill_product(&x, out, control));
    let dual = f.dual().expect("a dual side");
    let passes: [Filling<'_>; 6] = [
        (SAMPLES, Box::new(|out, control| f.fill_product(&x, out, control))),
        (COLUMNS, Box::new(|out, control| f.gradient(&x, &product, out, control))),
        (COLUMNS, Box::new(|out, control| f.hessian_product(&x, &product, &x, out, control).map(|_| ()))),
        (SAMPLES, Box::new(|out, control| dual.add_dual_step(&x, &product, &x, out, control))),
        (COLUMNS, Box::new(|out, control| dual.add_dual_gradient(&product, out, control))),
        (COLUMNS, Box::new(|out, control| dual.add_dual_magnitude(&product, out, control))),
    ];
    let control = Control::on(Arc::clone(&flag));
    for (length, pass) in &passes {
        let whole = passed(*length, pass);
        for (stop_at, read) in [(1, 3), (4, 6), (9, 9), (10, SAMPLES)] {
            flag.store(false, Relaxed);
            seen.store(0, Relaxed);
            at.store(stop_at, Relaxed);
            let mut found = vec![0.25; *length];
            let outcome = pass(&mut found, &control);
            assert_eq!(seen.load(Relaxed), read, "a batch is read to its end");
            if read < SAMPLES {
                assert_eq!(outcome, Err(Halt::Interrupted));
            } else {
                // The last batch completes the pass, whatever is wished by then.
                assert_eq!((outcome, &found), (Ok(()), &whole));
            }
            // Nobody asked for half a pass.
            assert_eq!(passed(*length, pass), whole);
        }
    }
    flag.store(false, Relaxed);
    seen.store(0, Relaxed);
    at.store(4, Relaxed);
    let error = Streamed::within(source(), Squared, &control).expect_err("ended early");
    assert_eq!((error, seen.load(Relaxed)), (crate::Error::StoppedEarly { by: "interrupted" }, 6));
}
