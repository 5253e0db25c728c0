//! Coordinates of a problem on ranks, brought together by a judge who knows all of them.

use std::sync::Arc;

use equipoise::collective::Threads;
use equipoise::matrix::Rows;
use equipoise::separable::Bounds;
use equipoise::smooth::Gram;
use equipoise::{
    Control, Coupling, Error, Judge, Problem, Settings, Solution, Solver, Status, Team, Verdict,
};

use crate::numbers::Numbers;

/// Coordinates of a rank, and the length of the product that all have in common.
const OWN: usize = 30;
const COLUMNS: usize = 7;
const DIAGONAL: f64 = 0.1;

/// Takes the objective from the rows of all ranks, and finds every point good enough: it is asked where a step seems to have come near
/// enough, where a target seems to be reached, and at the end.
struct Objective<'a> {
    rows: &'a Rows<'static>,
    team: &'a Team,
}

impl Judge for Objective<'_> {
    fn judge(&self, x: &[f64], _control: &Control) -> Result<Verdict, Error> {
        let mut product = vec![0.0; COLUMNS];
        x.iter().enumerate().for_each(|(c, x)| self.rows.add(c, *x, &mut product));
        self.team.total(&mut product);
        let own = x.iter().map(|x| 0.5 * DIAGONAL * x * x - x).sum();
        let squares: f64 = product.iter().map(|p| p * p).sum();
        Ok(Verdict::new(0.5 * squares + self.team.total_of(own), 1.0, true))
    }

    fn wanted_gap(&self, _objective: f64) -> f64 {
        1e-7
    }
}

fn solved(ranks: usize, settings: &Settings) -> Vec<Solution<Verdict>> {
    let all = Threads::run(ranks, |world| {
        let mut numbers = Numbers::new(5 + world.rank() as u64);
        let starts = (0..=OWN).map(|i| i * COLUMNS).collect();
        let columns = (0..OWN).flat_map(|_| 0..COLUMNS as u32).collect();
        let rows = Rows::new(COLUMNS, starts, columns, Some(numbers.vector(OWN * COLUMNS, 1.0)))?;
        let problem = Problem::builder(Gram::new(&rows, DIAGONAL, -1.0)?)
            .separable(Bounds::new(0.0, 1.0)?)
            .coupling(Coupling::sum(6.0)?)
            .build()?;
        let team = Arc::new(Team::of(1).across(Some(world)));
        let judge = Objective { rows: &rows, team: &team };
        Solver::new(&problem, settings).team(Arc::clone(&team)).run_judged(&judge)
    });
    all.into_iter().map(|end| end.expect("they stay together")).collect()
}

#[test]
fn a_target_binds_on_all_ranks_at_the_same_x() {
    let to_the_end = solved(3, &Settings::default());
    let least = to_the_end[0].certificate.objective;
    assert!(to_the_end.iter().all(|end| end.status == Status::Converged), "{:?}", to_the_end[0].status);
    let first = solved(3, &Settings { max_updates: Some(1), ..Settings::default() });
    let begun = first[0].certificate.objective;
    assert!(begun > least + 1e-3 * least.abs(), "{begun} {least}");
    for share in [0.5, 0.01] {
        let target = least + share * (begun - least);
        let all = solved(3, &Settings { target_objective: Some(target), ..Settings::default() });
        for end in &all {
            assert_eq!(end.status, Status::TargetReached, "{share}");
            assert!(end.certificate.objective <= target && end.certificate.objective >= least);
            assert_eq!((end.updates, &end.certificate), (all[0].updates, &all[0].certificate));
        }
        assert!(all[0].updates <= to_the_end[0].updates);
    }
    // What nobody reaches changes nothing.
    let settings = Settings { target_objective: Some(least - 1.0), ..Settings::default() };
    for (end, other) in solved(3, &settings).iter().zip(&to_the_end) {
        assert_eq!((end.status, &end.x), (Status::Converged, &other.x));
    }
}
