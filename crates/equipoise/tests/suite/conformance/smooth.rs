//! Smooth terms: derivatives, products kept in step, the majorant, the dual description.

use super::{N, smooth_terms};
use crate::numbers::Numbers;
use equipoise::Control;
use equipoise::smooth::SmoothTerm;

const ROUNDING: f64 = 1e-11;
const POINTS: usize = 20;

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A point with its product.
struct At<'a> {
    f: &'a dyn SmoothTerm,
    x: Vec<f64>,
    product: Vec<f64>,
}

impl<'a> At<'a> {
    fn new(f: &'a dyn SmoothTerm, x: Vec<f64>) -> Self {
        let mut product = vec![f64::NAN; f.product_len()];
        f.fill_product(&x, &mut product, &Control::unlimited()).expect("in memory");
        Self { f, x, product }
    }
    fn value(&self) -> f64 {
        self.f.value(&self.x, &self.product)
    }
    fn gradient(&self) -> Vec<f64> {
        let mut gradient = vec![f64::NAN; N];
        self.f.gradient(&self.x, &self.product, &mut gradient, &Control::unlimited()).expect("in memory");
        gradient
    }
    fn hessian_times(&self, v: &[f64]) -> Vec<f64> {
        let mut out = vec![f64::NAN; N];
        let found = self.f.hessian_product(&self.x, &self.product, v, &mut out, &Control::unlimited());
        assert_eq!(found, Ok(true), "every term here has a Hessian");
        out
    }
    fn moved(&self, t: f64, v: &[f64]) -> Self {
        Self::new(self.f, self.x.iter().zip(v).map(|(x, v)| x + t * v).collect())
    }
}

/// Calls the check at random points of every term.
fn everywhere(mut check: impl FnMut(&str, &At<'_>, &mut Numbers)) {
    let mut numbers = Numbers::new(37);
    for (name, f) in smooth_terms() {
        assert_eq!(f.dimension(), N, "{name}");
        for k in 0..POINTS {
            let x = numbers.vector(N, if k == 0 { 0.0 } else { 2.0 });
            check(name, &At::new(&*f, x), &mut numbers);
        }
    }
}

#[track_caller]
fn near(name: &str, what: &str, found: f64, expected: f64, tolerance: f64) {
    let off = (found - expected).abs();
    assert!(
        off <= tolerance * (1.0 + expected.abs()),
        "{name}: {what}: {found} is not {expected} ({off:.1e})"
    );
}

#[test]
fn partial_derivatives_agree_with_differences_and_with_the_gradient() {
    everywhere(|name, at, _| {
        let gradient = at.gradient();
        let coordinates: Vec<usize> = (0..N).rev().collect();
        let mut partials = vec![f64::NAN; N];
        at.f.partials(&coordinates, &at.x, &at.product, &mut partials);
        for c in 0..N {
            let step = 1e-6;
            let unit: Vec<f64> = (0..N).map(|k| if k == c { 1.0 } else { 0.0 }).collect();
            let slope = (at.moved(step, &unit).value() - at.moved(-step, &unit).value()) / (2.0 * step);
            let partial = at.f.partial(c, &at.x, &at.product);
            near(name, "difference", slope, partial, 1e-7);
            near(name, "gradient", gradient[c], partial, ROUNDING);
            near(name, "partials", partials[N - 1 - c], partial, ROUNDING);
        }
    });
}

#[test]
fn products_stay_in_step() {
    everywhere(|name, at, numbers| {
        let mut product = at.product.clone();
        let mut x = at.x.clone();
        for _ in 0..50 {
            let (c, delta) = (numbers.below(N), numbers.next());
            x[c] += delta;
            at.f.add_to_product(c, delta, &mut product);
        }
        let coordinates = [4, 1, 2];
        let deltas = [0.5, 0.0, -0.25];
        coordinates.iter().zip(&deltas).for_each(|(&c, delta)| x[c] += delta);
        at.f.add_all_to_product(&coordinates, &deltas, &mut product);
        for (kept, fresh) in product.iter().zip(&At::new(at.f, x).product) {
            near(name, "product", *kept, *fresh, ROUNDING);
        }
    });
}

#[test]
fn the_hessian_agrees_with_differences_and_the_majorant_dominates_it() {
    everywhere(|name, at, numbers| {
        for k in 0..N + 5 {
            let unit: Vec<f64> = (0..N).map(|c| if c == k { 1.0 } else { 0.0 }).collect();
            let v = if k < N { unit } else { numbers.vector(N, 1.0) };
            let image = at.hessian_times(&v);
            // A kink of the derivative between the two points would be no fault of the term: none lies there.
            let step = 1e-6;
            let (above, below) = (at.moved(step, &v).gradient(), at.moved(-step, &v).gradient());
            for c in 0..N {
                near(name, "hessian", (above[c] - below[c]) / (2.0 * step), image[c], 1e-6);
            }
            let bend = dot(&v, &image);
            let mut bound: f64 = (0..N).map(|c| at.f.curvature(c) * v[c] * v[c]).sum();
            for (i, j) in (0..N).flat_map(|i| (0..N).map(move |j| (i, j))).filter(|(i, j)| i != j) {
                let interaction = at.f.interaction(i, j).expect("every term here knows its majorant");
                bound += interaction * v[i] * v[j];
                assert!(
                    !at.f.is_decomposable() || interaction == 0.0,
                    "{name}: separable terms do not interact"
                );
            }
            assert!(
                bend <= bound + ROUNDING * (1.0 + bound.abs()),
                "{name}: {bend} above the majorant's {bound}"
            );
            assert!(bend >= -1e-12, "{name}: convex");
        }
    });
}

#[test]
fn values_are_convex() {
    everywhere(|name, at, numbers| {
        let other = At::new(at.f, numbers.vector(N, 3.0));
        let step: Vec<f64> = other.x.iter().zip(&at.x).map(|(y, x)| y - x).collect();
        let tangent = at.value() + dot(&at.gradient(), &step);
        assert!(other.value() >= tangent - ROUNDING * (1.0 + tangent.abs()), "{name}: below its tangent");
    });
}

#[test]
fn the_dual_description_gives_gradient_and_value() {
    everywhere(|name, at, numbers| {
        let side = at.f.dual().expect("every term here has a dual description");
        let dual_point = |at: &At<'_>| {
            let mut u = vec![f64::NAN; side.dual_len()];
            side.dual_point(&at.x, &at.product, &mut u);
            u
        };
        let dual_gradient = |u: &[f64]| {
            let mut gradient = vec![0.0; N];
            side.add_dual_gradient(u, &mut gradient, &Control::unlimited()).expect("in memory");
            gradient
        };
        let u = dual_point(at);
        for (found, expected) in dual_gradient(&u).iter().zip(&at.gradient()) {
            near(name, "c + K'u", *found, *expected, ROUNDING);
        }
        // f(x) = (c + K'u)'x - f*(u) at the dual point of x, and at least that for every other u.
        let conjugate = |u: &[f64]| side.conjugate(u, &Control::unlimited()).expect("in memory");
        let lower = |u: &[f64]| dot(&dual_gradient(u), &at.x) - conjugate(u);
        near(name, "Fenchel-Young", lower(&u), at.value(), 1e-10);
        for _ in 0..10 {
            let elsewhere = dual_point(&At::new(at.f, numbers.vector(N, 3.0)));
            let anywhere = numbers.vector(side.dual_len(), 2.0);
            for u in [elsewhere, anywhere] {
                assert!(
                    lower(&u) <= at.value() + 1e-10 * (1.0 + at.value().abs()),
                    "{name}: {u:?} is no bound"
                );
            }
        }
        let mut magnitude = vec![0.0; N];
        side.add_dual_magnitude(&u, &mut magnitude, &Control::unlimited()).expect("in memory");
        let below = dual_gradient(&u).iter().zip(&magnitude).all(|(g, size)| g.abs() <= size * (1.0 + 1e-12));
        assert!(below, "{name}: a sum exceeds the sum of its sizes");
    });
}

#[test]
fn a_dual_step_moves_the_dual_gradient_by_the_hessian() {
    everywhere(|name, at, numbers| {
        let side = at.f.dual().expect("every term here has a dual description");
        let y = numbers.vector(N, 1e-4);
        let mut u = vec![0.0; side.dual_len()];
        side.dual_point(&at.x, &at.product, &mut u);
        side.add_dual_step(&at.x, &at.product, &y, &mut u, &Control::unlimited()).expect("in memory");
        assert!(
            side.conjugate(&u, &Control::unlimited()).is_ok_and(f64::is_finite),
            "{name}: a small step stays in the domain"
        );
        let mut moved = vec![0.0; N];
        side.add_dual_gradient(&u, &mut moved, &Control::unlimited()).expect("in memory");
        for ((moved, old), expected) in moved.iter().zip(&at.gradient()).zip(&at.hessian_times(&y)) {
            near(name, "K'du", moved - old, *expected, 1e-12);
        }
    });
}
