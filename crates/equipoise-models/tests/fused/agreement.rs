//! Random problems of every kind: the oracle's optimum is reached, and bounds hold in rational numbers.

use equipoise::{Control, SparseMatrix, Status};
use equipoise_models::fused::{Edge, Fit, FitSettings, Method, Penalty};

use crate::judge::{Case, Draw, Seen};

/// Penalties with their numbers of coefficients.
fn penalties(draw: &mut Draw) -> Vec<(Penalty, usize)> {
    let n = 5 + draw.below(8);
    let edges = |draw: &mut Draw, n: usize| {
        let mut edges: Vec<Edge> =
            (1..n).map(|v| Edge { from: draw.below(v), to: v, weight: 0.5 + draw.next().abs() }).collect();
        for _ in 0..3 {
            let from = draw.below(n - 1);
            edges.push(Edge { from, to: from + 1 + draw.below(n - 1 - from), weight: 1.0 });
        }
        edges
    };
    let triplets: Vec<(usize, usize, f64)> = (0..n)
        .flat_map(|r| [(r, r % n, 1.0 + draw.next()), (r, (r + 1 + draw.below(n - 1)) % n, draw.next())])
        .collect();
    vec![
        (Penalty::Chain, n),
        (Penalty::Trend1, n),
        (Penalty::Trend2, n),
        (Penalty::Grid { rows: 3, columns: 4 }, 12),
        (Penalty::Graph(edges(draw, n)), n),
        (Penalty::Matrix(SparseMatrix::from_triplets(n, n, &triplets).expect("it works")), n),
    ]
}

fn rows(draw: &mut Draw, count: usize, n: usize, share: usize) -> Vec<Vec<f64>> {
    (0..count)
        .map(|_| (0..n).map(|_| if draw.below(share) == 0 { draw.next() } else { 0.0 }).collect())
        .collect()
}

/// Solves, and holds the answer against the oracle and against rational numbers.
fn check(name: &str, case: &Case, settings: &FitSettings) -> Fit {
    let found = case.fit(settings, &Control::unlimited()).unwrap_or_else(|error| panic!("{name}: {error}"));
    case.judge(&found);
    let optimum = case.optimum(name);
    let scale = optimum.max(1e-3);
    assert_eq!(found.status, Status::Converged, "{name}: {found:?} {optimum} {case:?}");
    assert!((found.objective - optimum).abs() <= 2e-6 * scale, "{name}: {found:?} {optimum}");
    assert!(found.bound <= optimum + 1e-7 * scale, "{name}: {found:?} {optimum}");
    assert_eq!(found.x.len(), case.n);
    found
}

#[test]
fn random_problems_agree_with_the_oracle_and_no_bound_is_false() {
    for seed in 0..12 {
        let mut draw = Draw::new(seed);
        for (penalty, n) in penalties(&mut draw) {
            let lambda = [0.05, 0.4, 1.5, 30.0][draw.below(4)];
            let signal = draw.signal(n);
            let observed: Vec<usize> = (0..n).filter(|c| *c < 4 || draw.below(3) > 0).collect();
            let wide = rows(&mut draw, n.max(6) - 2, n, 1);
            let tall = rows(&mut draw, n + 6, n, 2);
            let values = |count: usize, draw: &mut Draw| (0..count).map(|_| 2.0 * draw.next()).collect();
            let designs: Vec<(Seen, Vec<f64>)> = vec![
                (Seen::All, signal.clone()),
                (Seen::Some(observed.clone()), observed.iter().map(|c| signal[*c]).collect()),
                (Seen::Rows(wide.clone()), values(wide.len(), &mut draw)),
                (Seen::SparseRows(tall.clone()), values(tall.len(), &mut draw)),
            ];
            for (k, (seen, y)) in designs.into_iter().enumerate() {
                for sparse in [0.0, 0.2] {
                    let case = Case {
                        y: y.clone(),
                        n,
                        seen: seen.clone(),
                        penalty: penalty.clone(),
                        lambda,
                        sparse,
                    };
                    let name = format!("{} design {k} sparse {sparse} seed {seed}", case.penalty.name());
                    check(&name, &case, &FitSettings::default());
                }
            }
        }
    }
}

/// The same optimum by every method that can be asked for it.
#[test]
fn methods_agree() {
    let mut draw = Draw::new(77);
    for (penalty, n) in penalties(&mut draw) {
        let case = Case { y: draw.signal(n), n, seen: Seen::All, penalty, lambda: 0.7, sparse: 0.0 };
        let settings = FitSettings { method: Method::Interior, ..FitSettings::default() };
        let found = check(&format!("{} by the interior", case.penalty.name()), &case, &settings);
        assert_eq!(found.method, Method::Interior);
        // Pairs may be stuck for good with any D: what is claimed of where they are must hold all the same.
        let settings = FitSettings { method: Method::SlackPairs, ..FitSettings::default() };
        let by_pairs = case.fit(&settings, &Control::unlimited()).expect("it works");
        case.judge(&by_pairs);
        assert!(by_pairs.bound <= found.objective && by_pairs.objective >= found.bound, "{by_pairs:?}");
        assert!(
            !case.penalty.name().starts_with("chain") || by_pairs.status == Status::Converged,
            "{by_pairs:?}"
        );
    }
}

/// One scale is as good as another.
#[test]
fn units_and_offsets_do_not_matter() {
    let mut draw = Draw::new(5);
    for (penalty, n) in penalties(&mut draw) {
        let y = draw.signal(n);
        for (unit, offset) in [(1e-9, 0.0), (1e9, 0.0), (1.0, 1e6)] {
            let moved = y.iter().map(|y| unit * y + offset).collect();
            let case = Case {
                y: moved,
                n,
                seen: Seen::All,
                penalty: penalty.clone(),
                lambda: 0.7 * unit,
                sparse: 0.0,
            };
            let found = case.fit(&FitSettings::default(), &Control::unlimited()).expect("it works");
            case.judge(&found);
            // Any D but differences sees the offset, and most of the objective is then the penalty of it.
            assert_eq!(found.status, Status::Converged, "{case:?} {found:?}");
        }
    }
}

/// Long and constant pieces, many equal samples, tiny and huge lambda: the exact recursion stays exact.
#[test]
fn long_chains_are_proven_to_rounding() {
    let mut draw = Draw::new(9);
    for n in [2, 3, 100, 20_000] {
        let y = draw.signal(n);
        for lambda in [1e-9, 0.1, 3.0, 1e3, 1e9] {
            let case =
                Case { y: y.clone(), n, seen: Seen::All, penalty: Penalty::Chain, lambda, sparse: 0.0 };
            let found = case
                .fit(&FitSettings { gap: 1e-11, ..FitSettings::default() }, &Control::unlimited())
                .expect("it works");
            assert_eq!(found.status, Status::Converged, "{n} {lambda} {:e}", found.relative_gap);
        }
    }
}
