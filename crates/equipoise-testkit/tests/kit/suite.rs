//! The random suite covers what it promises, and is the same at every call.

use std::collections::{BTreeMap, BTreeSet};

use equipoise_testkit::{Instance, random};

#[test]
fn every_call_gives_the_same_suite() {
    assert_eq!(random::suite(), random::suite());
    let names: BTreeSet<_> = random::suite().into_iter().map(|instance| instance.name).collect();
    assert_eq!(names.len(), random::suite().len(), "names are unique");
    assert!(names.len() >= 330);
}

/// Counts how often each value of `key` occurs.
fn count<Key: Ord>(instances: &[Instance], key: impl Fn(&Instance) -> Key) -> BTreeMap<Key, usize> {
    let mut counts = BTreeMap::new();
    for instance in instances {
        *counts.entry(key(instance)).or_insert(0) += 1;
    }
    counts
}

#[test]
fn suite_covers_every_pair_of_kinds() {
    let suite = random::suite();
    println!("f: {:?}", count(&suite, |i| i.smooth.kind()));
    println!("h: {:?}", count(&suite, |i| i.separable.kind()));
    println!("A: {:?}", count(&suite, |i| i.coupling.kind()));
    println!("blocks: {:?}", count(&suite, |i| i.blocks.kind()));
    let random::Kinds { smooth: f, separable: h } = random::kinds();
    assert!(f >= 9 && h >= 7);
    let pairs = [
        // All but linear f with h = 0.
        (count(&suite, |i| (i.smooth.kind(), i.separable.kind())), f * h - 1),
        (count(&suite, |i| (i.separable.kind(), i.coupling.kind())), h * 6),
        (count(&suite, |i| (i.smooth.kind(), i.coupling.kind())), f * 6),
        (count(&suite, |i| (i.smooth.kind(), i.blocks.kind())), f * 3),
        // Groups need explicit blocks.
        (count(&suite, |i| (i.separable.kind(), i.blocks.kind())), h * 3 - 1),
        (count(&suite, |i| (i.coupling.kind(), i.blocks.kind())), 6 * 3),
    ];
    for (counts, expected) in pairs {
        assert_eq!(counts.len(), expected, "{counts:?}");
        assert!(counts.values().all(|number| *number >= 2), "{counts:?}");
    }
    let triples = count(&suite, |i| (i.smooth.kind(), i.separable.kind(), i.coupling.kind()));
    assert_eq!(triples.len(), (f * h - 1) * 6);
}

#[test]
fn every_combination_is_every_combination() {
    let list = random::every_combination();
    let kinds = |i: &Instance| (i.smooth.kind(), i.separable.kind(), i.coupling.kind(), i.blocks.kind());
    let counts = count(&list, kinds);
    let random::Kinds { smooth: f, separable: h } = random::kinds();
    assert_eq!(counts.len(), f * h * 6 * 3 - 6 * 3 - f * 6);
    assert_eq!(counts.len(), list.len());
}

#[test]
fn suite_covers_the_sizes() {
    let dimensions = count(&random::suite(), |i| i.dimension);
    println!("n: {dimensions:?}");
    assert!([1, 2, 40, 80].iter().all(|n| dimensions.contains_key(n)));
    let rows = count(&random::suite(), |i| i.coupling.equations(i.dimension).1.len());
    println!("m: {rows:?}");
    assert!((0..=5).all(|m| rows.contains_key(&m)));
}
