//! No certificate is false, not by one unit in the last place: exact rational arithmetic judges them.
//!
//! Random and adversarial problems (scales from 1e-310 to 1e150, cancelling sums, subnormal numbers) are solved for a
//! while; whatever the certificate of the point says is then compared with the exact objective of that point, the exact
//! residual of its rows, and the exact objectives of exactly feasible points near it and far from it.

use dashu::float::FBig;
use dashu::float::round::mode::HalfEven;
use dashu::rational::RBig;
use equipoise::separable::{AsymmetricL1, Bounds, ElasticNet, L1, SeparableTerm, Zero};
use equipoise::smooth::loss::{HuberLoss, LogisticLoss, PoissonLoss, ScalarLoss, Squared, SquaredHingeLoss};
use equipoise::smooth::{Distance, Linear, LossOfProduct, Quadratic, SmoothTerm, Sum};
use equipoise::{Coupling, Matrix, Settings, certificate, solve};

use crate::adaptor::composite;

const CASES: u64 = 3000;

/// Random numbers by splitmix64.
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, most: u64) -> u64 {
        self.next() % most
    }

    /// Between -1 and 1; often a short number, so that sums cancel exactly or nearly so.
    pub(crate) fn number(&mut self) -> f64 {
        let fine = (self.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
        match self.below(4) {
            0 => (fine * 4.0).round() / 4.0,
            1 => fine * 1e-9 + 1.0,
            _ => fine,
        }
    }

    pub(crate) fn vector(&mut self, n: usize, scale: f64) -> Vec<f64> {
        (0..n).map(|_| self.number() * scale).collect()
    }

    /// 1 mostly, else a power of ten.
    pub(crate) fn scale(&mut self) -> f64 {
        match self.below(6) {
            0 => {
                let exponent = self.below(461) as i32 - 310;
                // The smallest are no reciprocals of numbers.
                if exponent < -150 { 1e-160 * 10f64.powi(exponent + 160) } else { 10f64.powi(exponent) }
            }
            1 => 10f64.powi(self.below(21) as i32 - 10),
            _ => 1.0,
        }
    }
}

type Precise = FBig<HalfEven, 2>;

pub(crate) fn exact(value: f64) -> RBig {
    RBig::try_from(value).expect("finite")
}

pub(crate) fn zero() -> RBig {
    exact(0.0)
}

fn positive(value: RBig) -> RBig {
    value.max(zero())
}

/// A function of a rational number to 250 bits.
fn precisely(value: &RBig, of: impl Fn(Precise) -> Precise) -> RBig {
    // The functions of 0 itself are exact, of no precision, and refused by the next one.
    let value = if *value == zero() { exact(1e-200) } else { value.clone() };
    let near: Precise = value.to_float(250).value().with_precision(250).value();
    RBig::try_from(of(near)).expect("finite")
}

#[derive(Debug, Clone)]
pub(crate) enum Loss {
    Squared,
    Huber(f64),
    SquaredHinge,
    Logistic,
    Poisson(f64),
}

impl Loss {
    fn value(&self, z: &RBig, y: &RBig) -> RBig {
        let half = exact(0.5);
        match self {
            Self::Squared => (z - y) * (z - y) * half,
            Self::Huber(delta) => {
                let (r, delta) = (z - y, exact(*delta));
                let size = if r < zero() { -r } else { r };
                if size <= delta { &size * &size * half } else { &delta * (size - &delta * half) }
            }
            Self::SquaredHinge => {
                let slack = positive(exact(1.0) - y * z);
                &slack * &slack
            }
            Self::Logistic => {
                let margin = y * z;
                let size = if margin < zero() { -margin.clone() } else { margin.clone() };
                // Far out nothing is left of the exponential that matters.
                let tail = if size > exact(3000.0) {
                    zero()
                } else {
                    precisely(&size, |size| (-size).exp().ln_1p())
                };
                positive(-margin) + tail
            }
            Self::Poisson(limit) => {
                let limit = exact(*limit);
                if *z <= exact(-3000.0) {
                    return -(y * z);
                }
                if *z <= limit {
                    return precisely(z, |z| z.exp()) - y * z;
                }
                let beyond = z - &limit;
                precisely(&limit, |limit| limit.exp()) * (exact(1.0) + &beyond + &beyond * &beyond * half)
                    - y * z
            }
        }
    }

    fn term(&self, matrix: Matrix<'static>, y: Vec<f64>, weights: Vec<f64>) -> Box<dyn SmoothTerm> {
        fn of<L>(m: Matrix<'static>, y: Vec<f64>, loss: L, w: Vec<f64>) -> Box<dyn SmoothTerm>
        where
            L: ScalarLoss + 'static,
        {
            Box::new(LossOfProduct::weighted(m, y, loss, w).expect("valid"))
        }
        match self {
            Self::Squared => of(matrix, y, Squared, weights),
            Self::Huber(delta) => of(matrix, y, HuberLoss::new(*delta).expect("positive"), weights),
            Self::SquaredHinge => of(matrix, y, SquaredHingeLoss, weights),
            Self::Logistic => of(matrix, y, LogisticLoss, weights),
            Self::Poisson(limit) => of(matrix, y, PoissonLoss::new(*limit).expect("finite"), weights),
        }
    }
}

/// f, as numbers.
#[derive(Debug, Clone)]
pub(crate) enum F {
    Loss { loss: Loss, rows: Vec<Vec<f64>>, y: Vec<f64>, weights: Vec<f64> },
    Quadratic { q: Vec<Vec<f64>>, c: Vec<f64> },
    Distance { target: Vec<f64>, weights: Vec<f64> },
    LossAndDistance { rows: Vec<Vec<f64>>, y: Vec<f64>, target: Vec<f64>, weights: Vec<f64>, c: Vec<f64> },
}

pub(crate) fn dot(a: &[f64], x: &[RBig]) -> RBig {
    a.iter().zip(x).fold(zero(), |sum, (a, x)| sum + exact(*a) * x)
}

impl F {
    pub(crate) fn draw(draw: &mut Draw, n: usize) -> Self {
        let (scale, m) = (draw.scale(), 1 + draw.below(6) as usize);
        let rows: Vec<Vec<f64>> = (0..m).map(|_| draw.vector(n, scale)).collect();
        let size = draw.scale();
        let weights: Vec<f64> =
            (0..m).map(|_| if draw.below(5) == 0 { 0.0 } else { draw.number().abs() + 1e-3 }).collect();
        match draw.below(8) {
            0 => Self::Distance {
                target: draw.vector(n, size),
                weights: draw.vector(n, scale).iter().map(|w| w.abs()).collect(),
            },
            1 => {
                // M'M of short numbers is exact, and singular where M has few rows.
                let short: Vec<Vec<f64>> =
                    (0..m).map(|_| (0..n).map(|_| (draw.number() * 4.0).round()).collect()).collect();
                let entry = |i: usize, j: usize| short.iter().map(|row| row[i] * row[j]).sum::<f64>();
                let q = (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect();
                // In the range of Q mostly, so that there is an optimum.
                let t: Vec<f64> = (0..n).map(|_| (draw.number() * 4.0).round()).collect();
                let c = (0..n).map(|i| (0..n).map(|j| entry(i, j) * t[j]).sum()).collect();
                Self::Quadratic { q, c }
            }
            2 => {
                let noise = draw.vector(m * n, 1.0);
                let entry =
                    |i: usize, j: usize| (0..m).map(|k| noise[k * n + i] * noise[k * n + j]).sum::<f64>();
                let q = (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect();
                Self::Quadratic { q, c: draw.vector(n, 1.0) }
            }
            3 => {
                let (target, c) = (draw.vector(n, 1.0), draw.vector(n, 1.0));
                let own: Vec<f64> = draw.vector(n, 1.0).iter().map(|w| w.abs()).collect();
                Self::LossAndDistance { y: draw.vector(m, size), rows, target, weights: own, c }
            }
            kind => {
                let labels: Vec<f64> = (0..m).map(|_| if draw.below(2) == 0 { -1.0 } else { 1.0 }).collect();
                let (loss, y) = match kind {
                    4 => (Loss::Huber(size * (0.1 + draw.number().abs())), draw.vector(m, size)),
                    5 => (Loss::SquaredHinge, labels),
                    6 if scale <= 1e3 => (Loss::Logistic, labels),
                    7 if scale <= 10.0 => {
                        (Loss::Poisson(2.0), (0..m).map(|_| (draw.number().abs() * 5.0).round()).collect())
                    }
                    _ => (Loss::Squared, draw.vector(m, size)),
                };
                Self::Loss { loss, rows, y, weights }
            }
        }
    }

    pub(crate) fn value(&self, x: &[RBig]) -> RBig {
        let squares = |target: &[f64], weights: &[f64]| {
            x.iter().zip(target).zip(weights).fold(zero(), |sum, ((x, t), w)| {
                let r = x - exact(*t);
                sum + exact(*w) * &r * &r
            })
        };
        match self {
            Self::Loss { loss, rows, y, weights } => {
                rows.iter().zip(y).zip(weights).fold(zero(), |sum, ((row, y), w)| {
                    if *w == 0.0 { sum } else { sum + exact(*w) * loss.value(&dot(row, x), &exact(*y)) }
                })
            }
            Self::Quadratic { q, c } => {
                q.iter().zip(x).fold(dot(c, x), |sum, (row, x_i)| sum + dot(row, x) * x_i * exact(0.5))
            }
            Self::Distance { target, weights } => squares(target, weights),
            Self::LossAndDistance { rows, y, target, weights, c } => {
                let losses = rows
                    .iter()
                    .zip(y)
                    .fold(zero(), |sum, (row, y)| sum + Loss::Squared.value(&dot(row, x), &exact(*y)));
                losses + squares(target, weights) + dot(c, x)
            }
        }
    }

    pub(crate) fn term(&self) -> Option<Box<dyn SmoothTerm>> {
        let matrix = |rows: &[Vec<f64>]| Matrix::from_rows(rows).expect("rectangular");
        Some(match self {
            Self::Loss { loss, rows, y, weights } => loss.term(matrix(rows), y.clone(), weights.clone()),
            // What is not convex is refused.
            Self::Quadratic { q, c } => Box::new(Quadratic::new(matrix(q), c.clone()).ok()?),
            Self::Distance { target, weights } => {
                Box::new(Distance::new(target.clone(), weights.clone()).expect("valid"))
            }
            Self::LossAndDistance { rows, y, target, weights, c } => {
                let ones = vec![1.0; y.len()];
                let parts: Vec<Box<dyn SmoothTerm>> = vec![
                    Loss::Squared.term(matrix(rows), y.clone(), ones),
                    Box::new(Distance::new(target.clone(), weights.clone()).expect("valid")),
                    Box::new(Linear::new(c.clone()).expect("finite")),
                ];
                Box::new(Sum::new(parts).expect("of one length"))
            }
        })
    }
}

/// h, as numbers: `rise`, `fall` and `l2` of every coordinate, on an interval.
#[derive(Debug, Clone)]
pub(crate) struct H {
    rise: Vec<f64>,
    fall: Vec<f64>,
    l2: Vec<f64>,
    pub(crate) bounds: (f64, f64),
    kind: u64,
}

impl H {
    pub(crate) fn draw(draw: &mut Draw, n: usize) -> Self {
        let (kind, none) = (draw.below(6), vec![0.0; n]);
        let scale = draw.scale();
        let mut weights = |zeros: u64| -> Vec<f64> {
            (0..n).map(|_| if draw.below(4) < zeros { 0.0 } else { draw.number().abs() * scale }).collect()
        };
        let free = (f64::NEG_INFINITY, f64::INFINITY);
        let base = Self { rise: none.clone(), fall: none.clone(), l2: none.clone(), bounds: free, kind };
        match kind {
            0 => base,
            1 => {
                let l1 = weights(1);
                Self { rise: l1.clone(), fall: l1, ..base }
            }
            2 => {
                let (l1, l2) = (weights(1), weights(2));
                Self { rise: l1.clone(), fall: l1, l2, ..base }
            }
            3 => Self { bounds: (-1.5, 2.0), ..base },
            4 => Self { bounds: (0.0, f64::INFINITY), ..base },
            _ => Self { rise: weights(1), fall: weights(1), ..base },
        }
    }

    pub(crate) fn value(&self, x: &[RBig]) -> RBig {
        x.iter().enumerate().fold(zero(), |sum, (c, x)| {
            let linear = if *x < zero() { -x * exact(self.fall[c]) } else { x * exact(self.rise[c]) };
            sum + linear + exact(self.l2[c]) * x * x * exact(0.5)
        })
    }

    pub(crate) fn holds(&self, x: &[RBig]) -> bool {
        let (lo, hi) = self.bounds;
        x.iter().all(|x| (lo.is_infinite() || *x >= exact(lo)) && (hi.is_infinite() || *x <= exact(hi)))
    }

    pub(crate) fn term(&self) -> Box<dyn SeparableTerm> {
        match self.kind {
            0 => Box::new(Zero),
            1 => Box::new(L1::new(self.rise.clone()).expect("valid")),
            2 => Box::new(ElasticNet::new(self.rise.clone(), self.l2.clone()).expect("valid")),
            3 | 4 => Box::new(Bounds::new(self.bounds.0, self.bounds.1).expect("ordered")),
            _ => Box::new(AsymmetricL1::new(self.rise.clone(), self.fall.clone()).expect("valid")),
        }
    }
}

struct Case {
    f: F,
    h: H,
    row: Option<(Vec<f64>, f64)>,
    n: usize,
}

impl Case {
    fn draw(seed: u64) -> Self {
        let mut draw = Draw(seed);
        let n = 1 + draw.below(5) as usize;
        let f = F::draw(&mut draw, n);
        let h = H::draw(&mut draw, n);
        let row = (draw.below(3) > 0).then(|| {
            let scale = draw.scale();
            let positive = draw.vector(n, scale).iter().map(|a| a.abs() + 1e-3 * scale).collect::<Vec<_>>();
            let signed = draw.vector(n, scale);
            let weights = if h.kind >= 3 { positive } else { signed };
            let rhs = if h.kind >= 3 { weights.iter().sum::<f64>() * 0.5 } else { draw.number() * scale };
            (weights, rhs)
        });
        Self { f, h, row, n }
    }

    fn objective(&self, x: &[RBig]) -> RBig {
        self.f.value(x) + self.h.value(x)
    }

    /// The point moved along one coordinate so that the row holds exactly; `None` where it leaves the domain.
    fn feasible(&self, mut x: Vec<RBig>, along: usize) -> Option<Vec<RBig>> {
        if let Some((weights, rhs)) = &self.row {
            let a = exact(weights[along]);
            if a == zero() {
                return None;
            }
            let missing = exact(*rhs) - dot(weights, &x);
            x[along] = &x[along] + missing / a;
        }
        self.h.holds(&x).then_some(x)
    }

    /// What a certificate says that is not true; `tally` counts problems, proven bounds and those that hold everywhere.
    fn false_claims(&self, seed: u64, tally: &mut [u64; 4]) -> Option<String> {
        let coupling = match &self.row {
            None => Coupling::none(),
            Some((weights, rhs)) => Coupling::row(weights.clone(), *rhs).expect("finite"),
        };
        let problem = composite(self.f.term()?, self.h.term()).coupling(coupling).build().ok()?;
        let mut draw = Draw(!seed);
        let updates = [1, 10, 2000][draw.below(3) as usize];
        let settings = Settings { max_updates: Some(updates), tolerance: 1e-9, ..Settings::default() };
        let solution = solve(&problem, &settings).ok()?;
        let found = certificate::check(&problem, &solution.x).expect("a point");
        tally[0] += 1;
        tally[1] += u64::from(found.is_proven && found.lower_bound.is_some());
        tally[2] += u64::from(found.is_proven && found.lower_bound.is_some() && found.holds_within.is_none());
        tally[3] += u64::from(found.is_proven && found.meets(1e-6));
        let x: Vec<RBig> = solution.x.iter().map(|x| exact(*x)).collect();
        let fault = |what: &str, truth: RBig, claim: f64| {
            Some(format!(
                "seed {seed}: {what} is {:e}, claimed {claim:e}: {found:?} {:?} {:?} {:?}",
                truth.to_f64().value(),
                self.f,
                self.h,
                self.row
            ))
        };
        for claims in [&found, &solution.certificate].into_iter().filter(|claims| claims.is_proven) {
            let objective = self.objective(&x);
            if objective > exact(claims.objective) {
                return fault("the objective", objective, claims.objective);
            }
            if let Some((weights, rhs)) = &self.row {
                let miss = dot(weights, &x) - exact(*rhs);
                let miss = if miss < zero() { -miss } else { miss };
                if miss > exact(claims.infeasibility) {
                    return fault("the infeasibility", miss, claims.infeasibility);
                }
            }
            let Some(bound) = claims.lower_bound else { continue };
            for attempt in 0..12 {
                // x itself, points near it, points far from it.
                let step = [0.0, 1e-12, 1e-6, 1e-3, 1.0, 1e3][attempt / 2];
                let size = solution.x.iter().fold(1e-3, |most: f64, x| most.max(x.abs()));
                let moved = x.iter().map(|x| x + exact(draw.number() * step * size)).collect();
                let Some(point) = self.feasible(moved, attempt % self.n) else { continue };
                let reaches = |most: f64| point.iter().any(|x| *x > exact(most) || -x > exact(most));
                if claims.holds_within.is_some_and(reaches) {
                    continue;
                }
                let objective = self.objective(&point);
                if objective < exact(bound) {
                    return fault("the objective of a feasible point", objective, bound);
                }
            }
        }
        None
    }
}

/// Panics where a certificate of the problem with this seed is false; 1 where there was one.
pub(crate) fn certificate_holds(seed: u64) -> u64 {
    let mut tally = [0; 4];
    if let Some(claim) = Case::draw(seed).false_claims(seed, &mut tally) {
        panic!("{claim}");
    }
    tally[0]
}

#[test]
fn no_certificate_is_false() {
    let mut tally = [0; 4];
    let claims: Vec<String> =
        (0..CASES).filter_map(|seed| Case::draw(seed).false_claims(seed, &mut tally)).collect();
    let [solved, proven, everywhere, sharp] = tally;
    println!("{solved} solved, {proven} bounds proven, {everywhere} of them everywhere, {sharp} sharp");
    assert!(claims.is_empty(), "{} of {CASES} are false:\n{}", claims.len(), claims.join("\n"));
    // A test of nothing would pass as well.
    assert!(2 * solved > CASES && 4 * proven > 3 * solved && 2 * everywhere > solved && 3 * sharp > solved);
}
