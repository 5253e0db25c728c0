//! Small problems in plain numbers.

use std::sync::Arc;

use equipoise_allocation::{Column, Costs, Piecewise, Problem, Row, Sense, Users};
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// c2, c1, c0.
    Quadratic(f64, f64, f64),
    /// weight, reference, c1.
    Entropy(f64, f64, f64),
    /// weight, exponent, c1.
    Power(f64, f64, f64),
    /// weight, offset, c1.
    Log(f64, f64, f64),
    Piecewise(Vec<(f64, f64)>),
}

#[derive(Debug, Clone)]
pub(crate) struct User {
    pub(crate) kind: Kind,
    pub(crate) lower: f64,
    pub(crate) upper: f64,
    pub(crate) a: Vec<f64>,
}

impl User {
    /// The cost of a quadratic user.
    pub(crate) fn cost(&self, x: f64) -> f64 {
        let Kind::Quadratic(c2, c1, c0) = self.kind else { unreachable!("a quadratic user") };
        (c2 * x + c1) * x + c0
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Spec {
    pub(crate) users: Vec<User>,
    pub(crate) rows: Vec<(Sense, f64)>,
}

impl Spec {
    /// For the library: a group a kind, users where they were.
    pub(crate) fn problem(&self) -> Problem {
        self.try_problem().expect("a sound problem")
    }

    pub(crate) fn try_problem(&self) -> Result<Problem, equipoise_allocation::Error> {
        let groups = (0..5).filter_map(|which| {
            let places: Vec<usize> = (0..self.users.len())
                .filter(|&k| match self.users[k].kind {
                    Kind::Quadratic(..) => which == 0,
                    Kind::Entropy(..) => which == 1,
                    Kind::Power(..) => which == 2,
                    Kind::Log(..) => which == 3,
                    Kind::Piecewise(_) => which == 4,
                })
                .collect();
            (!places.is_empty()).then(|| self.group(places))
        });
        let rows = self.rows.iter().enumerate();
        let rows = rows.map(|(k, (sense, value))| Row {
            name: format!("row {}", k + 1),
            sense: *sense,
            value: *value,
        });
        Problem::new(groups.collect(), rows.collect())
    }

    fn group(&self, places: Vec<usize>) -> Users {
        let column =
            |of: &dyn Fn(&User) -> f64| Column::Many(places.iter().map(|&k| of(&self.users[k])).collect());
        let number = |which: usize| {
            column(&|user: &User| match user.kind {
                Kind::Quadratic(a, b, c)
                | Kind::Entropy(a, b, c)
                | Kind::Power(a, b, c)
                | Kind::Log(a, b, c) => [a, b, c][which],
                Kind::Piecewise(_) => 0.0,
            })
        };
        let (a, b, c) = (number(0), number(1), number(2));
        let costs = match &self.users[places[0]].kind {
            Kind::Quadratic(..) => Costs::Quadratic { c2: a, c1: b, c0: c },
            Kind::Entropy(..) => Costs::Entropy { weight: a, reference: b, c1: c },
            Kind::Power(..) => Costs::Power { weight: a, exponent: b, c1: c },
            Kind::Log(..) => Costs::Log { weight: a, offset: b, c1: c },
            Kind::Piecewise(_) => {
                let of = |k: &usize| match &self.users[*k].kind {
                    Kind::Piecewise(points) => Arc::new(Piecewise::new(points).expect("convex")) as _,
                    _ => unreachable!("all of one kind"),
                };
                Costs::Own(places.iter().map(of).collect())
            }
        };
        Users {
            count: places.len(),
            costs,
            lower: column(&|user| user.lower),
            upper: column(&|user| user.upper),
            coefficients: (0..self.rows.len()).map(|k| column(&|user: &User| user.a[k])).collect(),
            places: Some(places),
        }
    }
}

/// Which kinds are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Draw {
    Quadratic,
    Straight,
    Smooth,
    Any,
}

/// A problem that can be met, of so many users and rows.
pub(crate) fn draw(
    random: &mut Xoshiro256PlusPlus,
    users: usize,
    rows: usize,
    kinds: Draw,
    one_sided: bool,
) -> Spec {
    let mut point = Vec::new();
    let users: Vec<User> = (0..users)
        .map(|_| {
            let which = match kinds {
                Draw::Quadratic => 0,
                Draw::Straight => [1, 5][random.random_range(0..2)],
                Draw::Smooth => [0, 2, 3, 4][random.random_range(0..4)],
                Draw::Any => random.random_range(0..6),
            };
            let mut unit = || random.random_range(0.0..1.0_f64);
            let lower = if unit() < 0.5 { 0.0 } else { 2.0 * unit() };
            let upper = lower + 0.1 + 5.0 * unit();
            let c1 = 6.0 * unit() - 3.0;
            let kind = match which {
                0 => Kind::Quadratic(0.05 + 2.0 * unit(), c1, unit()),
                1 => Kind::Quadratic(0.0, c1, unit()),
                2 => Kind::Entropy(0.2 + 2.0 * unit(), 0.5 + 2.0 * unit(), c1),
                3 => match (3.0 * unit()) as usize {
                    0 => Kind::Power(0.1 + unit(), 1.3 + 2.0 * unit(), c1),
                    1 => Kind::Power(-0.1 - unit(), 0.2 + 0.6 * unit(), c1),
                    _ => Kind::Power(0.1 + unit(), -0.3 - unit(), c1),
                },
                4 => Kind::Log(0.1 + 2.0 * unit(), 0.1 + unit(), c1),
                _ => {
                    let (mut x, mut y, mut slope) = (lower, 5.0 * unit(), c1);
                    let mut points = vec![(x, y)];
                    for _ in 0..3 {
                        let step = (upper - lower) / 3.0;
                        (x, y) = (x + step, y + step * slope);
                        points.push((x, y));
                        slope += 0.1 + unit();
                    }
                    Kind::Piecewise(points)
                }
            };
            point.push(lower + (0.1 + 0.8 * unit()) * (upper - lower));
            let a = (0..rows)
                .map(|k| {
                    if k == 0 && rows == 1 && unit() < 0.5 {
                        1.0
                    } else {
                        0.2 + 3.0 * unit() - if k > 0 { 1.5 } else { 0.0 }
                    }
                })
                .collect();
            User { kind, lower, upper, a }
        })
        .collect();
    let rows = (0..rows)
        .map(|k| {
            let given: f64 = users.iter().zip(&point).map(|(user, x)| user.a[k] * x).sum();
            match (one_sided, random.random_range(0..3)) {
                (true, 1) => (Sense::AtLeast, given - 0.3),
                (true, 2) => (Sense::AtMost, given + 0.3),
                _ => (Sense::Equal, given),
            }
        })
        .collect();
    Spec { users, rows }
}
