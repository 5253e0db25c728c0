//! One seed, one sequence of bits; other seeds, another path to the same optimum.

use super::{converged, same_optimum, settings};
use crate::adaptor::solve_checked;
use crate::samples::{kernels, rows, sample, term};
use equipoise::separable::Zero;
use equipoise::{BlockChoice, Method, Settings, Solution};

fn bits(solution: &Solution) -> Vec<u64> {
    solution.x.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    for sample in kernels() {
        let name = sample.name;
        let problem = sample.problem();
        for method in [Method::Auto, Method::Pairs] {
            for most in [100, 3000] {
                let settings = Settings { method, seed: 42, max_updates: Some(most), ..settings() };
                let (first, second) =
                    (solve_checked(&problem, &settings), solve_checked(&problem, &settings));
                assert_eq!(bits(&first), bits(&second), "{name} by {method:?}");
                assert_eq!((first.updates, first.status), (second.updates, second.status), "{name}");
                assert_eq!(first.certificate, second.certificate, "{name} by {method:?}");
            }
        }
    }
}

#[test]
fn a_problem_built_twice_gives_the_same_bits() {
    let settings = Settings { max_updates: Some(500), ..settings() };
    for (first, second) in kernels().into_iter().zip(kernels()) {
        let name = first.name;
        let solutions = [first, second].map(|sample| solve_checked(&sample.problem(), &settings));
        assert_eq!(bits(&solutions[0]), bits(&solutions[1]), "{name}");
    }
}

#[test]
fn another_seed_takes_another_path_to_the_same_optimum() {
    for sample in kernels() {
        let name = sample.name;
        let problem = sample.problem();
        let with = |seed, max_updates| Settings { seed, max_updates, ..settings() };
        let short = [1, 2]
            .map(|seed| solve_checked(&problem, &Settings { method: Method::Pairs, ..with(seed, Some(5)) }));
        assert_ne!(bits(&short[0]), bits(&short[1]), "{name}: the seed changes nothing");
        let [first, second] = [1, 2].map(|seed| converged(name, &problem, &with(seed, None)));
        assert_eq!((first.seed, second.seed), (1, 2));
        same_optimum(name, first.certificate.objective, second.certificate.objective);
    }
}

#[test]
fn factors_made_on_the_fly_change_nothing_but_rounding() {
    for blocks in [BlockChoice::Automatic, BlockChoice::Size(4)] {
        let problem = sample("smooth rows", term(Zero), rows(3, crate::samples::N), blocks).problem();
        let budgets = [Settings::default().memory_budget, 2000, 0];
        let runs = budgets.map(|memory_budget| {
            let limited =
                Settings { memory_budget, method: Method::Pairs, max_updates: Some(2000), ..settings() };
            solve_checked(&problem, &limited)
        });
        for other in &runs[1..] {
            let apart =
                runs[0].x.iter().zip(&other.x).map(|(kept, made)| (kept - made).abs()).fold(0.0, f64::max);
            assert!(apart <= 1e-9, "{apart:.1e} apart");
        }
    }
}
