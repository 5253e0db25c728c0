//! Enclosures hold the exact number, which rational arithmetic knows.

use dashu::float::FBig;
use dashu::rational::RBig;
use proptest::prelude::*;

use super::*;

fn exact(value: f64) -> RBig {
    RBig::try_from(value).expect("finite")
}

/// Whether the exact number lies between the ends.
fn holds(found: Enclosure, truth: &RBig) -> bool {
    let above_low = !found.lower().is_finite() || exact(found.lower()) <= *truth;
    let below_high = !found.upper().is_finite() || *truth <= exact(found.upper());
    above_low && below_high
}

/// Numbers of all sizes, with many that cancel.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        -10.0..10.0_f64,
        (-1.0..1.0_f64, -150..150_i32).prop_map(|(m, e)| m * 10f64.powi(e)),
        (-1.0..1.0_f64, -320..-290_i32).prop_map(|(m, e)| m * 10f64.powi(e)),
        Just(0.0),
        Just(f64::MIN_POSITIVE),
        Just(5e-324),
        Just(1.0),
        Just(-1.0),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn expressions_hold_the_exact_number(a in number(), b in number(), c in number(), d in number()) {
        let [x, y, z, w] = [a, b, c, d].map(Enclosure::from);
        let [p, q, r, s] = [a, b, c, d].map(exact);
        let found = (x * y - z) * (w + x) + y.square().half();
        let truth = (&p * &q - &r) * (&s + &p) + (&q * &q) / exact(2.0);
        prop_assert!(holds(found, &truth), "{found:?}");
        prop_assert!(holds(found.positive_part(), &truth.clone().max(exact(0.0))));
        let size = if truth < exact(0.0) { -truth.clone() } else { truth.clone() };
        prop_assert!(holds(found.abs(), &size));
        if d != 0.0 {
            prop_assert!(holds(found.over(w), &(truth / &s)), "{:?}", found.over(w));
        }
    }

    #[test]
    fn sums_hold_the_exact_number(terms in prop::collection::vec((number(), number()), 0..200)) {
        let mut sum = Sum::default();
        let mut truth = exact(0.0);
        for &(a, b) in &terms {
            sum.add_product(a, b);
            sum.add(a);
            truth = truth + exact(a) * exact(b) + exact(a);
        }
        prop_assert!(holds(sum.value(), &truth), "{:?}", sum.value());
        // Half of it elsewhere, and back as numbers.
        let mut halves = [Sum::default(); 2];
        for (k, &(a, b)) in terms.iter().enumerate() {
            halves[k % 2].add_product(a, b);
            halves[k % 2].add(a);
        }
        let [mut here, there] = halves;
        Sum::merge_packed(std::slice::from_mut(&mut here), &Sum::packed(&[there]));
        prop_assert!(holds(here.value(), &truth), "{:?}", here.value());
        let (a, b): (Vec<f64>, Vec<f64>) = terms.iter().copied().unzip();
        let product = terms.iter().fold(exact(0.0), |sum, (a, b)| sum + exact(*a) * exact(*b));
        prop_assert!(holds(dot(&a, &b), &product), "{:?}", dot(&a, &b));
        let indices: Vec<u32> = (0..a.len() as u32).rev().collect();
        let reversed: Vec<f64> = b.iter().rev().copied().collect();
        prop_assert!(holds(gather_dot(&indices, Some(&reversed), &a), &product));
        let plain = a.iter().fold(exact(0.0), |sum, a| sum + exact(*a));
        prop_assert!(holds(gather_dot(&indices, None, &a), &plain));
    }

    #[test]
    fn elementary_functions_hold_the_exact_number(
        z in prop_oneof![-1.0..1.0_f64, -40.0..40.0_f64, -720.0..720.0_f64],
        v in number(),
    ) {
        prop_assert!(near(Enclosure::from(z).exp(), |precise| precise.exp(), z, 3e-15));
        if v > 0.0 {
            prop_assert!(near(Enclosure::from(v).ln(), |precise| precise.ln(), v, 3e-15));
        }
        let t = z.abs().fract();
        prop_assert!(near(Enclosure::from(t).ln_1p(), |precise| precise.ln_1p(), t, 4e-15));
        let entropy = |p: Precise| if t > 0.0 { p.clone() * p.ln() } else { p };
        let from_point = near(Enclosure::from(t).entropy(), entropy, t, 3e-15);
        prop_assert!(from_point);
        let wide = Enclosure::between(t * 0.9, t * 1.1);
        prop_assert!(near(wide.exp(), |precise| precise.exp(), t, 1.0));
        let from_wide = near(wide.entropy(), entropy, t, f64::INFINITY);
        prop_assert!(from_wide);
        let root = Enclosure::from(t).sqrt();
        let low = root.lower().max(0.0);
        prop_assert!(exact(low) * exact(low) <= exact(t));
        prop_assert!(exact(root.upper()) * exact(root.upper()) >= exact(t));
    }
}

type Precise = FBig<dashu::float::round::mode::HalfEven, 2>;

/// Whether an enclosure holds a function of a point, computed with 200 bits, and is no wider than it may be.
fn near(found: Enclosure, of: impl Fn(Precise) -> Precise, at: f64, width: f64) -> bool {
    let precise = Precise::try_from(at).expect("finite").with_precision(200).value();
    let Ok(truth) = RBig::try_from(of(precise)) else { return false };
    if !found.is_known() {
        return at > 709.0;
    }
    let narrow = width.is_infinite() || found.upper() - found.lower() <= width * found.magnitude() + 1e-300;
    narrow && holds(found, &truth)
}

#[test]
fn what_overflows_is_not_known() {
    let large = Enclosure::from(1e200);
    for found in [
        large * large,
        Enclosure::from(f64::NAN),
        Enclosure::from(f64::INFINITY),
        Enclosure::product(1e300, 1e300),
    ] {
        assert_eq!((found.lower(), found.upper()), (f64::NEG_INFINITY, f64::INFINITY));
        assert!(!found.is_known() && !(found + large).is_known() && !(found * 0.0.into()).is_known());
    }
    let mut sum = Sum::default();
    sum.add_product(1e200, 1e200);
    sum.add(1.0);
    assert!(!sum.value().is_known());
    assert!(!dot(&[1e200; 9], &[1e200; 9]).is_known());
}

#[test]
fn exact_numbers_stay_exact() {
    let two = Enclosure::from(1.0) + Enclosure::from(1.0);
    assert_eq!((two.lower(), two.upper()), (2.0, 2.0));
    let tenth = Enclosure::difference(1.0, 0.9);
    assert_eq!(tenth.lower(), tenth.upper());
}
