//! No certificate of a step from the interior is false: exact rational arithmetic judges problems that are solved by one.
//!
//! `A = [D B]` with D diagonal, rows in units of their own, twenty rows or more, so that `auto` goes inside before the first pair
//! moves. Every choice of the last variables then has first ones with `A x = b` exactly, which are rational numbers; those within
//! the bounds are feasible points of exactly the problem that was posed.

use dashu::rational::RBig;
use equipoise::{Coupling, Matrix, Settings, Status, certificate, solve};

use crate::adaptor::composite;
use crate::exact::{Draw, F, H, dot, exact, zero};

const CASES: u64 = 150;

struct Case {
    f: F,
    h: H,
    /// D, B by rows, b.
    own: Vec<f64>,
    others: Vec<Vec<f64>>,
    rhs: Vec<f64>,
}

impl Case {
    fn draw(seed: u64) -> Self {
        let mut draw = Draw(0x1257 + seed);
        let (m, rest) = (20 + draw.below(5) as usize, 3 + draw.below(6) as usize);
        let (f, h) = (F::draw(&mut draw, m + rest), H::draw(&mut draw, m + rest));
        let units: Vec<f64> = (0..m).map(|_| 10f64.powi(draw.below(9) as i32 - 4)).collect();
        let own: Vec<f64> = units.iter().map(|unit| unit * (1.0 + draw.number().abs())).collect();
        let others: Vec<Vec<f64>> = units.iter().map(|unit| draw.vector(rest, 0.1 * unit)).collect();
        // A point well inside bounds, whatever they are, meets the rows up to rounding.
        let at: Vec<f64> = (0..m + rest).map(|_| 0.5 + 0.25 * draw.number()).collect();
        let meet = |(own, others): (&f64, &Vec<f64>), x: f64| {
            own * x + others.iter().zip(&at[m..]).map(|(a, x)| a * x).sum::<f64>()
        };
        let rhs = own.iter().zip(&others).zip(&at).map(|(row, x)| meet(row, *x)).collect();
        Self { f, h, own, others, rhs }
    }

    fn rows(&self) -> Vec<Vec<f64>> {
        let m = self.own.len();
        let row = |r: usize| {
            let mut row = vec![0.0; m];
            row[r] = self.own[r];
            row.extend_from_slice(&self.others[r]);
            row
        };
        (0..m).map(row).collect()
    }

    /// The point with these last variables that meets every row exactly; `None` where it leaves the domain.
    fn feasible(&self, last: &[RBig]) -> Option<Vec<RBig>> {
        let first = |r: usize| (exact(self.rhs[r]) - dot(&self.others[r], last)) / exact(self.own[r]);
        let x: Vec<RBig> = (0..self.own.len()).map(first).chain(last.iter().cloned()).collect();
        self.h.holds(&x).then_some(x)
    }

    /// Whether the step from the interior alone solved the problem, and what a certificate says that is not true.
    fn look(&self, seed: u64) -> (bool, Option<String>) {
        let nothing = (false, None);
        let Some(f) = self.f.term() else { return nothing };
        let matrix = Matrix::from_rows(&self.rows()).expect("rectangular");
        let coupling = Coupling::rows_of(matrix, self.rhs.clone()).expect("finite");
        let Ok(problem) = composite(f, self.h.term()).coupling(coupling).build() else { return nothing };
        let settings = Settings { max_updates: Some(1), tolerance: 1e-7, ..Settings::default() };
        let Ok(solution) = solve(&problem, &settings) else { return nothing };
        let found = certificate::check(&problem, &solution.x).expect("a point");
        let inside = solution.status == Status::Converged && solution.updates == 0;
        let x: Vec<RBig> = solution.x.iter().map(|x| exact(*x)).collect();
        let objective_at = |x: &[RBig]| self.f.value(x) + self.h.value(x);
        let mut draw = Draw(!seed);
        for claims in [&found, &solution.certificate].into_iter().filter(|claims| claims.is_proven) {
            let fault = |what: &str, truth: RBig, claim: f64| {
                let truth = truth.to_f64().value();
                (inside, Some(format!("seed {seed}: {what} is {truth:e}, claimed {claim:e}: {claims:?}")))
            };
            let objective = objective_at(&x);
            if objective > exact(claims.objective) {
                return fault("the objective", objective, claims.objective);
            }
            for (row, rhs) in self.rows().iter().zip(&self.rhs) {
                let miss = dot(row, &x) - exact(*rhs);
                let miss = if miss < zero() { -miss } else { miss };
                if miss > exact(claims.infeasibility) {
                    return fault("the infeasibility", miss, claims.infeasibility);
                }
            }
            let Some(bound) = claims.lower_bound else { continue };
            for step in [0.0, 1e-12, 1e-9, 1e-6, 1e-3, 0.1] {
                // Near x, and drawn towards the inside, where the first variables keep within their bounds.
                let inwards = if step < 1e-4 { step } else { 0.1 };
                let last = &x[self.own.len()..];
                let moved = |x: &RBig, draw: &mut Draw| {
                    x + (exact(0.5) - x) * exact(inwards) + exact(step * draw.number())
                };
                let last: Vec<RBig> = last.iter().map(|x| moved(x, &mut draw)).collect();
                let Some(point) = self.feasible(&last) else { continue };
                if claims
                    .holds_within
                    .is_some_and(|most| point.iter().any(|x| *x > exact(most) || -x > exact(most)))
                {
                    continue;
                }
                let objective = objective_at(&point);
                if objective < exact(bound) {
                    return fault("the objective of a feasible point", objective, bound);
                }
            }
        }
        (inside, None)
    }
}

#[test]
fn no_certificate_of_an_interior_step_is_false() {
    let found: Vec<(bool, Option<String>)> = (0..CASES).map(|seed| Case::draw(seed).look(seed)).collect();
    let inside = found.iter().filter(|(inside, _)| *inside).count() as u64;
    let claims: Vec<&String> = found.iter().filter_map(|(_, claim)| claim.as_ref()).collect();
    println!("{inside} of {CASES} solved from the interior alone");
    assert!(claims.is_empty(), "{} are false: {claims:#?}", claims.len());
    // A test of nothing would pass as well.
    assert!(4 * inside > CASES, "only {inside} were solved from the interior");
}
