//! Every bound that is reported holds in exact arithmetic: rational numbers judge quadratic and piecewise linear costs, at
//! hostile scales; precise logarithms judge the others.
//!
//! The exact objective of x is at most the one reported; the exact dual value of the prices is at least the bound reported;
//! no row is missed by more than is said.

use dashu::float::DBig;
use dashu::rational::RBig;
use equipoise_allocation::{Allocation, Sense, Settings, Watch, allocate};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::spec::{Draw, Kind, Spec, User, draw};

fn exact(value: f64) -> RBig {
    RBig::try_from(value).expect("finite")
}

fn size(value: RBig) -> RBig {
    if value < RBig::ZERO { -value } else { value }
}

/// The exact cost of a user.
fn cost(user: &User, x: &RBig) -> RBig {
    match &user.kind {
        Kind::Quadratic(c2, c1, c0) => (exact(*c2) * x + exact(*c1)) * x + exact(*c0),
        Kind::Piecewise(points) => {
            let pieces = points.windows(2).map(|pair| {
                let (a, b) = (pair[0], pair[1]);
                let slope = (exact(b.1) - exact(a.1)) / (exact(b.0) - exact(a.0));
                exact(a.1) + slope * (x - exact(a.0))
            });
            pieces.max().expect("at least one piece")
        }
        _ => unreachable!("rational costs only"),
    }
}

/// The limits of a user as far as each row alone lets it go, the others being anywhere within theirs.
fn narrowed(spec: &Spec, which: usize) -> (RBig, RBig) {
    let own = &spec.users[which];
    let (mut lower, mut upper) = (exact(own.lower), exact(own.upper));
    for (k, (sense, value)) in spec.rows.iter().enumerate() {
        let (mut least, mut most) = (RBig::ZERO, RBig::ZERO);
        for (_, user) in spec.users.iter().enumerate().filter(|(i, _)| *i != which) {
            let ends = [exact(user.a[k]) * exact(user.lower), exact(user.a[k]) * exact(user.upper)];
            least += ends.iter().min().expect("two").clone();
            most += ends.iter().max().expect("two").clone();
        }
        let a = exact(own.a[k]);
        if a == RBig::ZERO {
            continue;
        }
        // a x <= value - least, a x >= value - most.
        let (low, high) = ((exact(*value) - most) / &a, (exact(*value) - least) / &a);
        let (is_below, is_above) = (*sense != Sense::AtLeast, *sense != Sense::AtMost);
        let (low, high, has_low, has_high) =
            if a > RBig::ZERO { (low, high, is_above, is_below) } else { (high, low, is_below, is_above) };
        lower = if has_low { lower.max(low) } else { lower };
        upper = if has_high { upper.min(high) } else { upper };
    }
    (lower, upper)
}

/// The exact least value of `f(x) - s x` within the limits.
fn least(user: &User, s: &RBig, (lower, upper): (RBig, RBig)) -> RBig {
    let mut places = vec![lower.clone(), upper.clone()];
    match &user.kind {
        Kind::Quadratic(c2, c1, _) if *c2 > 0.0 => {
            let turn = (s - exact(*c1)) / (exact(2.0) * exact(*c2));
            if turn > lower && turn < upper {
                places.push(turn);
            }
        }
        Kind::Piecewise(points) => {
            let inside = points.iter().map(|point| exact(point.0)).filter(|x| *x > lower && *x < upper);
            places.extend(inside);
        }
        _ => {}
    }
    places.into_iter().map(|x| cost(user, &x) - s * x).min().expect("two limits")
}

fn judge(spec: &Spec, found: &Allocation, what: &str) {
    let x: Vec<RBig> = found.x.iter().map(|x| exact(*x)).collect();
    let total = spec.users.iter().zip(&x).fold(RBig::ZERO, |sum, (user, x)| sum + cost(user, x));
    assert!(total <= exact(found.objective), "{what}: the objective is more than {}", found.objective);
    for (k, (sense, value)) in spec.rows.iter().enumerate() {
        let given = spec.users.iter().zip(&x).fold(RBig::ZERO, |sum, (user, x)| sum + exact(user.a[k]) * x);
        let beyond = given - exact(*value);
        let miss = match sense {
            Sense::Equal => size(beyond),
            Sense::AtLeast => (-beyond).max(RBig::ZERO),
            Sense::AtMost => beyond.max(RBig::ZERO),
        };
        assert!(
            miss <= exact(found.infeasibility),
            "{what}: row {k} is missed by more than {}",
            found.infeasibility
        );
    }
    if !found.bound.is_finite() {
        return;
    }
    let prices: Vec<RBig> = found.prices.iter().map(|price| exact(*price)).collect();
    let mut dual = RBig::ZERO;
    for (price, (sense, value)) in prices.iter().zip(&spec.rows) {
        let is_allowed = match sense {
            Sense::Equal => true,
            Sense::AtLeast => *price >= RBig::ZERO,
            Sense::AtMost => *price <= RBig::ZERO,
        };
        assert!(is_allowed, "{what}: a price of the wrong sign");
        dual += price * exact(*value);
    }
    for (which, user) in spec.users.iter().enumerate() {
        let s = user.a.iter().zip(&prices).fold(RBig::ZERO, |sum, (a, price)| sum + exact(*a) * price);
        dual += least(user, &s, narrowed(spec, which));
    }
    assert!(dual >= exact(found.bound), "{what}: the bound {} is not proven", found.bound);
}

#[test]
fn no_bound_is_false() {
    for seed in 0..300 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let kinds = [Draw::Quadratic, Draw::Straight][(seed % 2) as usize];
        let rows = 1 + (seed / 2 % 3) as usize;
        let mut spec = draw(&mut random, 3 + (seed % 9) as usize, rows, kinds, seed % 5 == 4);
        // Hostile scales: costs, what is given, and coefficients each by powers of two of their own; some numbers cancel.
        let scale =
            |random: &mut Xoshiro256PlusPlus, most: i32| 2_f64.powi(random.random_range(-most..=most));
        let (cost_scale, give_scale) = (scale(&mut random, 90), scale(&mut random, 60));
        let row_scales: Vec<f64> = (0..rows).map(|_| scale(&mut random, 40)).collect();
        for user in &mut spec.users {
            let own = if seed % 3 == 0 { scale(&mut random, 20) } else { 1.0 };
            user.lower *= give_scale;
            user.upper *= give_scale;
            user.a.iter_mut().zip(&row_scales).for_each(|(a, scale)| *a *= scale);
            match &mut user.kind {
                Kind::Quadratic(c2, c1, c0) => {
                    *c2 *= own * cost_scale / give_scale / give_scale;
                    *c1 *= own * cost_scale / give_scale;
                    *c0 = cost_scale * if seed % 7 == 0 { 1e12 } else { *c0 };
                }
                Kind::Piecewise(points) => points.iter_mut().for_each(|point| {
                    *point = (point.0 * give_scale, point.1 * own * cost_scale);
                }),
                _ => unreachable!("drawn above"),
            }
        }
        spec.rows.iter_mut().zip(&row_scales).for_each(|(row, scale)| row.1 *= scale * give_scale);
        let Ok(problem) = spec.try_problem() else { continue };
        let found = allocate(&problem, &Settings::default(), None, Watch::default());
        let Ok(found) = found else { continue };
        judge(&spec, &found, &format!("seed {seed}"));
    }
}

/// With sixty digits.
fn precise(value: f64) -> DBig {
    exact(value).to_float(60).value()
}

/// The precise cost of a user of a smooth kind.
fn precise_cost(user: &User, x: f64) -> DBig {
    let (at, straight) = (precise(x), |c1: f64| precise(c1) * precise(x));
    match &user.kind {
        Kind::Quadratic(c2, c1, c0) => (precise(*c2) * &at + precise(*c1)) * &at + precise(*c0),
        Kind::Entropy(weight, reference, c1) if x > 0.0 => {
            precise(*weight) * &at * (precise(x) / precise(*reference)).ln() + straight(*c1)
        }
        Kind::Entropy(_, _, c1) => straight(*c1),
        Kind::Log(weight, offset, c1) => -precise(*weight) * (at + precise(*offset)).ln() + straight(*c1),
        Kind::Power(_, p, c1) if x == 0.0 && *p > 0.0 => straight(*c1),
        Kind::Power(weight, p, c1) => {
            precise(*weight) * (precise(x).ln() * precise(*p)).exp() + straight(*c1)
        }
        Kind::Piecewise(_) => unreachable!("smooth costs only"),
    }
}

/// The objective is from above, also where it takes logarithms and powers; and no feasible point costs less than the bound.
#[test]
fn smooth_costs_are_bounded_from_above_and_below() {
    for seed in 0..60 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let spec = draw(&mut random, 6, 1, Draw::Smooth, false);
        let problem = spec.problem();
        let found = allocate(&problem, &Settings::default(), None, Watch::default()).expect("a result");
        let total = |x: &[f64]| {
            spec.users.iter().zip(x).fold(precise(0.0), |sum, (user, x)| sum + precise_cost(user, *x))
        };
        let own = total(&found.x);
        assert!(own <= precise(found.objective), "seed {seed}: {own} is above {}", found.objective);
        let slack = precise(1e-12 * (1.0 + found.objective.abs()));
        assert!(
            precise(found.objective) - &own <= slack,
            "seed {seed}: {} is far above {own}",
            found.objective
        );
        // Two users change places along the row: still feasible, up to a rounding that the price makes up for.
        for _ in 0..20 {
            let (i, j) = (random.random_range(0..6), random.random_range(0..6));
            let step = random.random_range(-1.0..1.0) * 2_f64.powi(-random.random_range(0..30));
            let mut x = found.x.clone();
            x[i] += step;
            x[j] -= step * spec.users[i].a[0] / spec.users[j].a[0];
            let is_inside = |k: usize| x[k] > spec.users[k].lower && x[k] < spec.users[k].upper;
            if i == j || !is_inside(i) || !is_inside(j) {
                continue;
            }
            let given = spec
                .users
                .iter()
                .zip(&x)
                .fold(precise(0.0), |sum, (user, x)| sum + precise(user.a[0]) * precise(*x));
            let beyond = (given - precise(spec.rows[0].1)) * precise(found.prices[0]);
            assert!(total(&x) - beyond >= precise(found.bound), "seed {seed}: a point below the bound");
        }
    }
}
