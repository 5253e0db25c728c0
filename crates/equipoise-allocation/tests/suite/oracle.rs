//! Small problems for Clarabel: every kind of cost as cones.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};
use equipoise_allocation::Sense;

use crate::spec::{Kind, Spec};

/// What Clarabel found: x, the objective, prices.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) x: Vec<f64>,
    pub(crate) objective: f64,
    pub(crate) prices: Vec<f64>,
}

/// `terms + constant`.
type Row = (Vec<(usize, f64)>, f64);

/// Solves it; `None` where Clarabel is not sure.
#[expect(clippy::too_many_lines, reason = "a table of kinds, one arm a kind")]
pub(crate) fn solve(spec: &Spec) -> Option<Found> {
    let n = spec.users.len();
    let (mut linear, mut constant) = (vec![0.0; n], 0.0);
    let mut quadratic: Vec<(usize, usize, f64)> = Vec::new();
    let (mut zero, mut rest): (Vec<Row>, Vec<Row>) = (Vec::new(), Vec::new());
    let mut cones: Vec<(SupportedConeT<f64>, [Row; 3])> = Vec::new();
    let extra = |linear: &mut Vec<f64>, weight: f64| {
        linear.push(weight);
        linear.len() - 1
    };
    // Which list a row of the problem is in, and its sign there.
    let mut places = Vec::new();
    for (k, (sense, value)) in spec.rows.iter().enumerate() {
        let terms: Vec<(usize, f64)> =
            spec.users.iter().enumerate().map(|(i, user)| (i, user.a[k])).collect();
        let turned = terms.iter().map(|(i, a)| (*i, -a)).collect();
        match sense {
            Sense::Equal => {
                places.push((true, zero.len(), 1.0));
                zero.push((terms, -value));
            }
            Sense::AtLeast => {
                places.push((false, rest.len(), 1.0));
                rest.push((terms, -value));
            }
            Sense::AtMost => {
                places.push((false, rest.len(), -1.0));
                rest.push((turned, *value));
            }
        }
    }
    for (i, user) in spec.users.iter().enumerate() {
        if user.lower.is_finite() {
            rest.push((vec![(i, 1.0)], -user.lower));
        }
        if user.upper.is_finite() {
            rest.push((vec![(i, -1.0)], user.upper));
        }
        let own = |i: usize| -> Row { (vec![(i, 1.0)], 0.0) };
        let one = || -> Row { (Vec::new(), 1.0) };
        match &user.kind {
            Kind::Quadratic(c2, c1, c0) => {
                quadratic.push((i, i, 2.0 * c2));
                linear[i] += c1;
                constant += c0;
            }
            Kind::Entropy(weight, reference, c1) => {
                linear[i] += c1;
                let t = extra(&mut linear, *weight);
                cones.push((
                    SupportedConeT::ExponentialConeT(),
                    [(vec![(t, -1.0)], 0.0), own(i), (Vec::new(), *reference)],
                ));
            }
            Kind::Log(weight, offset, c1) => {
                linear[i] += c1;
                let t = extra(&mut linear, -weight);
                cones.push((SupportedConeT::ExponentialConeT(), [own(t), one(), (vec![(i, 1.0)], *offset)]));
            }
            Kind::Power(weight, p, c1) => {
                linear[i] += c1;
                let t = extra(&mut linear, *weight);
                let (alpha, rows) = match () {
                    () if *p > 1.0 => (1.0 / p, [own(t), one(), own(i)]),
                    () if *p > 0.0 => (*p, [own(i), one(), own(t)]),
                    () => (1.0 / (1.0 - p), [own(t), own(i), one()]),
                };
                cones.push((SupportedConeT::PowerConeT(alpha), rows));
            }
            Kind::Piecewise(points) => {
                let t = extra(&mut linear, 1.0);
                for pair in points.windows(2) {
                    let slope = (pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0);
                    rest.push((vec![(t, 1.0), (i, -slope)], slope * pair[0].0 - pair[0].1));
                }
            }
        }
    }
    let kinds: Vec<SupportedConeT<f64>> = [
        (!zero.is_empty()).then_some(SupportedConeT::ZeroConeT(zero.len())),
        Some(SupportedConeT::NonnegativeConeT(rest.len())),
    ]
    .into_iter()
    .flatten()
    .chain(cones.iter().map(|(kind, _)| kind.clone()))
    .collect();
    let equations = zero.len();
    let rows: Vec<Row> =
        zero.into_iter().chain(rest).chain(cones.into_iter().flat_map(|(_, rows)| rows)).collect();
    let columns = linear.len();
    let entries: Vec<(usize, usize, f64)> = rows
        .iter()
        .enumerate()
        .flat_map(|(r, row)| row.0.iter().map(move |(c, value)| (r, *c, -value)))
        .collect();
    let b: Vec<f64> = rows.iter().map(|row| row.1).collect();
    let matrix = |rows: usize, entries: &[(usize, usize, f64)]| {
        let of = |which: fn(&(usize, usize, f64)) -> usize| entries.iter().map(which).collect();
        CscMatrix::new_from_triplets(
            rows,
            columns,
            of(|entry| entry.0),
            of(|entry| entry.1),
            entries.iter().map(|entry| entry.2).collect(),
        )
    };
    let settings = DefaultSettings {
        verbose: false,
        max_threads: 1,
        tol_gap_abs: 1e-10,
        tol_gap_rel: 1e-10,
        tol_feas: 1e-10,
        ..DefaultSettings::default()
    };
    let (p, a) = (matrix(columns, &quadratic), matrix(rows.len(), &entries));
    let mut solver = DefaultSolver::new(&p, &linear, &a, &b, &kinds, settings).expect("dimensions agree");
    solver.solve();
    let solution = &solver.solution;
    if !matches!(solution.status, SolverStatus::Solved | SolverStatus::AlmostSolved) {
        return None;
    }
    let price = |&(is_equation, place, sign): &(bool, usize, f64)| {
        sign * solution.z[if is_equation { place } else { equations + place }]
    };
    let prices = places.iter().map(price).collect();
    Some(Found { x: solution.x[..n].to_vec(), objective: solution.obj_val + constant, prices })
}
