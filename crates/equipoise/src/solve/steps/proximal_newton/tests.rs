//! Teams on problems far too small for them: every part, down to empty ones, gives what one thread gives.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::conjugate::Conjugate;
use super::newton_system::{Free, NewtonSystem, Right};
use crate::Coupling;
use crate::collective::Threads;
use crate::control::{Control, Halt};
use crate::matrix::Rows;
use crate::problem::Problem;
use crate::separable::{ElasticNet, L1Bounds, SeparableTerm, Values};
use crate::smooth::{Gram, SmoothTerm};
use crate::solve::{Method, Settings, Solution, Solver, Status};
use crate::team::Team;

/// Numbers between -1 and 1.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

fn rows(draw: &mut Draw, n: usize, columns: u32) -> Rows<'static> {
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for _ in 0..n {
        let stored: Vec<u32> = (0..columns).filter(|_| draw.next() > 0.0).collect();
        values.extend(stored.iter().map(|_| draw.next()));
        indices.extend(stored);
        starts.push(indices.len());
    }
    Rows::new(columns as usize, starts, indices, Some(values)).expect("valid")
}

fn solved<H: SeparableTerm>(problem: &Problem<Gram<'_>, H>, threads: usize) -> Solution {
    let settings = Settings { tolerance: 1e-9, method: Method::Violating, ..Settings::default() };
    let team = Arc::new(Team::of(threads));
    let solution = Solver::new(problem, &settings).team(team).run().expect("a valid problem");
    assert_eq!((solution.status, solution.threads), (Status::Converged, threads));
    solution
}

fn check<H: SeparableTerm>(problem: &Problem<Gram<'_>, H>) {
    let first = solved(problem, 1);
    for threads in [2, 3, 8] {
        let solution = solved(problem, threads);
        let (a, b) = (first.certificate.objective, solution.certificate.objective);
        assert!((a - b).abs() <= 2e-9 * (1.0 + a.abs()), "{threads} threads: {a} and {b}");
        assert!(solution.certificate.is_feasible());
        assert_eq!(solution.x, solved(problem, threads).x);
    }
}

#[test]
fn small_problems_in_parts() {
    let mut draw = Draw(5);
    for n in [2, 5, 31, 64, 203] {
        let rows = rows(&mut draw, n, 7);
        let mut each = |from: f64, to: f64| -> Vec<f64> {
            (0..n).map(|_| from + (to - from) * 0.5 * (1.0 + draw.next())).collect()
        };
        let row = each(0.5, 1.5);
        let uneven = Problem::builder(Gram::new(&rows, each(0.1, 0.4), each(-1.0, 1.0)).expect("valid"))
            .separable(L1Bounds::new(each(0.0, 0.1), each(-3.0, -1.0), each(1.0, 3.0)).expect("valid"))
            .coupling(Coupling::row(row, 0.3).expect("valid"))
            .build()
            .expect("valid");
        check(&uneven);
        let even = Problem::builder(Gram::new(&rows, 0.5, Values::Each(each(-1.0, 1.0))).expect("valid"))
            .separable(ElasticNet::new(0.1, 0.2).expect("valid"))
            .coupling(Coupling::sum(1.0).expect("valid"))
            .build()
            .expect("valid");
        check(&even);
    }
}

#[test]
fn a_wish_of_one_rank_ends_a_direction_on_all_of_them() {
    let ended = Threads::run(2, |world| {
        let mut draw = Draw(9);
        let rows = rows(&mut draw, 40, 5);
        let smooth = Gram::new(&rows, 1e-3, 0.0).expect("valid");
        let (factored, coupling) = (smooth.factored().expect("a factor"), Coupling::sum(0.0).expect("valid"));
        let team = Team::of(1).across(Some(Arc::clone(&world)));
        let mut free = Free::new();
        free.clear(Some(1.0));
        (0..40).for_each(|column| free.push(column, 1.0));
        let (free, right) = ([&free], Right { of_product: vec![1.0; 5], of_rows: vec![0.5] });
        let system = Conjugate::new(&team, &*factored, &coupling, &free);
        let direction = |control: &Control| {
            let (before, mut solution) = (world.ledger().traffic().calls, vec![0.0; 6]);
            let steps = system.solve(&right, &mut solution, control);
            (steps, world.ledger().traffic().calls - before)
        };
        let whole = direction(&Control::unlimited());
        let flag = Arc::new(AtomicBool::new(world.rank() == 1));
        (whole, direction(&Control::on(flag)))
    });
    let (whole, cut) = &ended[0];
    assert!(whole.0.as_ref().is_ok_and(|steps| *steps > 1), "{whole:?}");
    assert_eq!(cut.0, Err(Halt::Interrupted));
    assert!(cut.1 < whole.1, "{ended:?}");
    assert_eq!(ended[0], ended[1]);
}

/// A factor that serves again gives the direction that a new one of the same matrix would.
#[test]
fn a_factor_serves_again_on_all_ranks() {
    let found = Threads::run(3, |world| {
        let mut draw = Draw(world.rank() as u64 + 3);
        let rows = rows(&mut draw, 40, 5);
        let smooth = Gram::new(&rows, 1e-3, 0.0).expect("valid");
        let (factored, coupling) = (smooth.factored().expect("a factor"), Coupling::sum(0.0).expect("valid"));
        let team = Team::of(1).across(Some(Arc::clone(&world)));
        let mut free = Free::new();
        free.clear(Some(1.0));
        (0..40).for_each(|column| free.push(column, 1.0));
        let right =
            |at: f64| Right { of_product: (0..5).map(|k| at + f64::from(k)).collect(), of_rows: vec![at] };
        let mut system = NewtonSystem::new(5, 1).expect("small");
        assert!(!system.again(&team, &right(1.0)), "there is no factor yet");
        let control = Control::unlimited();
        let new = |right: &Right, system: &mut NewtonSystem| {
            let found = system.direction(&team, &*factored, &coupling, &[&free], 120, right, &control);
            assert_eq!(found, Ok(true));
            let (u, rows) = system.solution();
            [u, rows].concat()
        };
        let first = new(&right(1.0), &mut system);
        assert!(system.again(&team, &right(2.0)));
        let again = [system.solution().0, system.solution().1].concat();
        let fresh = new(&right(2.0), &mut system);
        (first, again, fresh)
    });
    let (first, again, fresh) = &found[0];
    assert_ne!(first, again);
    assert!(again.iter().zip(fresh).all(|(a, b)| (a - b).abs() <= 1e-12 * b.abs().max(1.0)), "{found:?}");
    assert!(found.iter().all(|one| one == &found[0]));
}
