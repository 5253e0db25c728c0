//! Limits that a row implies: what one user gives beyond its own limit the others cannot take back.
//!
//! ```text
//! a'x <= b:   a_i > 0:  x_i <= lower_i + (b - least)/a_i        a_i < 0:  x_i >= upper_i - (b - least)/|a_i|
//! a'x >= b:   a_i > 0:  x_i >= upper_i - (most - b)/a_i         a_i < 0:  x_i <= lower_i + (most - b)/|a_i|
//! ```
//!
//! with `least` and `most` what users give at least and at most within their limits. A row that asks for just the least, or the most,
//! leaves nobody any room.
//!
//! - Given: a problem, right-hand sides. Returns: the room that each row leaves, from above; a problem with narrower limits.
//! - Must not know: costs, prices.

use equipoise::enclosure::Enclosure;

use crate::column::Column;
use crate::elementary::UNIT;
use crate::problem::{Problem, Row, Sense};

/// What a row leaves, from above: between the least and b, and between b and the most; infinite where that is not known.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Room {
    over: f64,
    under: f64,
}

impl Room {
    const ENDLESS: Self = Self { over: f64::INFINITY, under: f64::INFINITY };
}

/// What all rows leave.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rooms(Vec<Room>);

impl Rooms {
    /// The rooms that these rows leave.
    pub(crate) fn of(problem: &Problem, rows: &[Row]) -> Self {
        let room = |(k, row): (usize, &Row)| {
            let (least, most) = problem.enclosed_reach(k);
            let asked = Enclosure::from(row.value);
            let (over, under) = ((asked - least).upper().max(0.0), (most - asked).upper().max(0.0));
            match row.sense {
                Sense::Equal => Room { over, under },
                Sense::AtMost => Room { over, ..Room::ENDLESS },
                Sense::AtLeast => Room { under, ..Room::ENDLESS },
            }
        };
        Self(rows.iter().enumerate().map(room).collect())
    }

    /// Nothing is known.
    pub(crate) fn unknown(rows: usize) -> Self {
        Self(vec![Room::ENDLESS; rows])
    }

    /// Whether anything is known.
    pub(crate) fn is_known(&self) -> bool {
        self.0.iter().any(|room| room.over.is_finite() || room.under.is_finite())
    }

    /// The limits of a user with these coefficients, as rows narrow them, from outside.
    pub(crate) fn narrow(&self, a: impl Iterator<Item = f64>, lower: f64, upper: f64) -> (f64, f64) {
        let (mut up, mut down) = (f64::INFINITY, f64::INFINITY);
        for (room, a) in self.0.iter().zip(a) {
            let (over, under) = (way(room.over, a), way(room.under, a));
            let (rise, fall) = if a > 0.0 { (over, under) } else { (under, over) };
            up = up.min(rise);
            down = down.min(fall);
        }
        (lower.max(-beyond(-upper, down)), upper.min(beyond(lower, up)))
    }
}

/// `room / |a|`, from above.
fn way(room: f64, a: f64) -> f64 {
    match () {
        () if a == 0.0 || !room.is_finite() => f64::INFINITY,
        () if room == 0.0 => 0.0,
        () => room / a.abs() * (1.0 + 4.0 * UNIT) + f64::MIN_POSITIVE,
    }
}

/// `limit + way`, from above.
fn beyond(limit: f64, way: f64) -> f64 {
    match () {
        () if !(limit.is_finite() && way.is_finite()) => f64::INFINITY,
        () if way == 0.0 => limit,
        () => (limit + way).next_up(),
    }
}

/// The end of its reach that a row asks for, up to rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Least,
    Most,
}

impl End {
    /// Where a user with this coefficient stands then; `None` where it does not count.
    pub(crate) fn pin(self, a: f64, lower: f64, upper: f64) -> Option<f64> {
        let is_low = (a > 0.0) == (self == Self::Least);
        (a != 0.0).then_some(if is_low { lower } else { upper })
    }
}

/// The problem with limits that rows imply in place of those that are infinite, twice as far away as they are implied, so that
/// none of them binds; and with users to whom a row leaves no room at the limits that they are pinned to. `None` where that
/// changes nothing.
pub(crate) fn narrowed(problem: &Problem, rows: &[Row]) -> Option<Problem> {
    let rooms = Rooms::of(problem, rows);
    if !rooms.is_known() {
        return None;
    }
    let ends: Vec<Option<End>> = rows.iter().enumerate().map(|(k, row)| problem.end(k, row)).collect();
    let mut other = problem.clone();
    let mut has_changed = false;
    for group in &mut other.groups {
        let (mut lower, mut upper) = (Vec::with_capacity(group.count), Vec::with_capacity(group.count));
        for place in 0..group.count {
            let (low, high) = (group.lower.get(place), group.upper.get(place));
            let a = || group.coefficients.iter().map(|column| column.get(place));
            let pin = ends.iter().zip(a()).find_map(|(end, a)| end.as_ref()?.pin(a, low, high));
            let (least, most) = rooms.narrow(a(), low, high);
            let far = |limit: f64, implied: f64, other: f64| {
                if limit.is_finite() || !implied.is_finite() { limit } else { implied + (implied - other) }
            };
            let (from, to) = pin.map_or((far(low, least, high), far(high, most, low)), |pin| (pin, pin));
            has_changed |= from != low || to != high;
            lower.push(from);
            upper.push(to);
        }
        (group.lower, group.upper) = (Column::Many(lower), Column::Many(upper));
    }
    has_changed.then_some(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Costs, Users};

    fn problem(rows: Vec<Row>) -> Problem {
        let users = Users {
            count: 3,
            costs: Costs::linear(vec![1.0, 2.0, 3.0]),
            lower: vec![1.0, 0.0, 0.5].into(),
            upper: f64::INFINITY.into(),
            coefficients: vec![vec![2.0, 1.0, 0.0].into(), vec![1.0, 1.0, 4.0].into()],
            places: None,
        };
        Problem::new(vec![users], rows).expect("sound")
    }

    #[test]
    fn rows_leave_a_room_and_imply_limits() {
        let rows = vec![Row::equal("one", 6.0), Row::at_most("two", 11.0)];
        let own = problem(rows.clone());
        let rooms = Rooms::of(&own, &rows);
        // 6 - 2 is left by the first row, 11 - 3 by the second.
        for (a, lower, most) in [([2.0, 1.0], 1.0, 3.0), ([1.0, 1.0], 0.0, 4.0), ([0.0, 4.0], 0.5, 2.5)] {
            let (low, high) = rooms.narrow(a.into_iter(), lower, f64::INFINITY);
            assert!(low == lower && high >= most && high <= most * (1.0 + 1e-14), "{a:?}: {high}");
        }
        let other = narrowed(&own, &rows).expect("limits that were endless");
        assert!((other.limits(2).1 - 4.5).abs() < 1e-12 && (other.limits(0).1 - 5.0).abs() < 1e-12);
        let rows = vec![Row::equal("one", 2.0), Row::at_most("two", 11.0)];
        let pinned = narrowed(&problem(rows.clone()), &rows).expect("two users are pinned");
        assert_eq!((pinned.limits(0), pinned.limits(1)), ((1.0, 1.0), (0.0, 0.0)));
        assert!(Rooms::of(&pinned, &rows).narrow([2.0, 1.0].into_iter(), 1.0, 9.0).1 < 1.0 + 1e-15);
    }

    #[test]
    fn rows_that_ask_for_more_imply_limits_from_the_other_side() {
        let rooms = Rooms(vec![Room { over: f64::INFINITY, under: 4.0 }]);
        let (low, high) = rooms.narrow([2.0].into_iter(), 0.0, 5.0);
        assert!(low <= 3.0 && low > 2.999 && high == 5.0);
        let (low, high) = rooms.narrow([-2.0].into_iter(), 0.0, 5.0);
        assert!(low == 0.0 && (2.0..2.001).contains(&high));
        assert_eq!(Rooms::unknown(1).narrow([1.0].into_iter(), 0.0, f64::INFINITY), (0.0, f64::INFINITY));
        assert!(!Rooms::unknown(2).is_known() && rooms.is_known());
    }
}
