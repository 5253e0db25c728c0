//! Users with costs and limits, and the rows that tie them together, checked.
//!
//! ```text
//! minimise  sum_i f_i(x_i)   subject to   a_k'x = b_k  (or >=, or <=),   lower_i <= x_i <= upper_i
//! ```
//!
//! - Given: groups of users, one group a kind of cost; rows. Returns: a [`Problem`], or an error with the evidence: a cost
//!   that is not convex, limits that cross, a row out of reach.
//! - Must not know: how it is solved.

use equipoise::enclosure::{Enclosure, Sum};

use crate::column::{BLOCK, Column};
use crate::costs::Costs;
use crate::elementary::UNIT;
use crate::error::{Error, Result};
use crate::implied::End;
use crate::lanes::Twofold;

/// Whether a row is an equation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sense {
    /// `a'x = b`.
    Equal,
    /// `a'x >= b`.
    AtLeast,
    /// `a'x <= b`.
    AtMost,
}

equipoise::named!(Sense, "sense": "=" => Sense::Equal, ">=" => Sense::AtLeast, "<=" => Sense::AtMost);

/// A row: what the users give together.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// For messages.
    pub name: String,
    /// Whether it is an equation.
    pub sense: Sense,
    /// b.
    pub value: f64,
}

impl Row {
    /// An equation.
    pub fn equal(name: impl Into<String>, value: f64) -> Self {
        Self { name: name.into(), sense: Sense::Equal, value }
    }

    /// At least so much.
    pub fn at_least(name: impl Into<String>, value: f64) -> Self {
        Self { name: name.into(), sense: Sense::AtLeast, value }
    }

    /// At most so much.
    pub fn at_most(name: impl Into<String>, value: f64) -> Self {
        Self { name: name.into(), sense: Sense::AtMost, value }
    }
}

/// Users of one kind of cost.
#[derive(Debug, Clone)]
pub struct Users {
    /// How many.
    pub count: usize,
    /// What they cost.
    pub costs: Costs,
    /// What they give at least; may be minus infinity.
    pub lower: Column,
    /// What they give at most; may be infinity.
    pub upper: Column,
    /// How much they count in each row.
    pub coefficients: Vec<Column>,
    /// Their numbers among all users, from 0; without it they follow those that were added before.
    pub places: Option<Vec<usize>>,
}

/// A checked problem.
#[derive(Debug, Clone)]
pub struct Problem {
    pub(crate) groups: Vec<Users>,
    pub(crate) rows: Vec<Row>,
    pub(crate) users: usize,
    /// Where groups begin in the order of groups.
    pub(crate) starts: Vec<usize>,
    /// Whether that order is the users' own.
    pub(crate) in_order: bool,
    /// Of every row, the least and the most that users give.
    reaches: Vec<[Reach; 2]>,
}

/// The least, or the most, that users give in a row.
#[derive(Debug, Clone, Copy)]
struct Reach {
    /// In plain arithmetic; infinite where a limit is.
    value: f64,
    /// The size of its finite terms.
    size: f64,
    /// Unknown where a limit is infinite.
    enclosure: Enclosure,
}

/// How far a row may be out of reach by rounding, relative to its terms.
pub(crate) const ROUNDED: f64 = 32.0 * UNIT;
/// Users up to which every column is written out.
const SMALL: usize = 4096;

impl Problem {
    /// Checks costs, limits and rows together.
    ///
    /// ```
    /// use equipoise_allocation::{Costs, Problem, Row, Users};
    /// let users = Users {
    ///     count: 3,
    ///     costs: Costs::quadratic(vec![1.0, 2.0, 4.0], 0.0, 0.0),
    ///     lower: 0.0.into(),
    ///     upper: 10.0.into(),
    ///     coefficients: vec![1.0.into()],
    ///     places: None,
    /// };
    /// assert!(Problem::new(vec![users.clone()], vec![Row::equal("demand", 7.0)]).is_ok());
    /// let error = Problem::new(vec![users], vec![Row::equal("demand", 35.0)]).unwrap_err();
    /// assert!(error.to_string().contains("5 are missing"));
    /// ```
    pub fn new(groups: Vec<Users>, rows: Vec<Row>) -> Result<Self> {
        let users: usize = groups.iter().map(|group| group.count).sum();
        if users == 0 {
            return Err(Error::Empty { what: "users" });
        }
        if rows.is_empty() {
            return Err(Error::Empty { what: "rows" });
        }
        if let Some((k, row)) = rows.iter().enumerate().find(|(_, row)| !row.value.is_finite()) {
            let what = format!("right-hand side of row `{}`", row.name);
            return Err(Error::BadNumber {
                what,
                user: k + 1,
                found: row.value,
                expected: "a finite number",
            });
        }
        let mut starts = Vec::with_capacity(groups.len());
        let mut start = 0;
        for group in &groups {
            starts.push(start);
            start += group.count;
        }
        let in_order = groups.iter().zip(&starts).all(|(group, start)| {
            let mut places = group.places.iter().flatten().enumerate();
            places.all(|(k, place)| start + k == *place)
        });
        let mut problem = Self { groups, rows, users, starts, in_order, reaches: Vec::new() };
        for g in 0..problem.groups.len() {
            problem.check_group(g)?;
        }
        problem.check_places()?;
        problem.reaches = (0..problem.rows.len()).map(|k| problem.reach(k)).collect();
        for k in 0..problem.rows.len() {
            problem.check_reach(k, problem.rows[k].value)?;
        }
        Ok(problem)
    }

    /// Every user is in one group, once.
    fn check_places(&self) -> Result<()> {
        if self.in_order {
            return Ok(());
        }
        let mut is_seen = vec![false; self.users];
        for (g, group) in self.groups.iter().enumerate() {
            for place in 0..group.count {
                let user = self.number(g, place);
                if user > self.users || is_seen[user - 1] {
                    let (what, found) = ("place".into(), (user - 1) as f64);
                    let expected = "the numbers from 0 to one below the number of users, each once";
                    return Err(Error::BadNumber { what, user, found, expected });
                }
                is_seen[user - 1] = true;
            }
        }
        Ok(())
    }

    /// The number of users.
    pub fn users(&self) -> usize {
        self.users
    }

    /// The rows.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The limits of a user.
    pub fn limits(&self, user: usize) -> (f64, f64) {
        let (group, place) = self.find(user);
        (self.groups[group].lower.get(place), self.groups[group].upper.get(place))
    }

    /// How much a user counts in a row.
    pub fn coefficient(&self, row: usize, user: usize) -> f64 {
        let (group, place) = self.find(user);
        self.groups[group].coefficients[row].get(place)
    }

    /// The cost of a user at x, and its slopes from the left and from the right, in plain arithmetic.
    pub fn cost(&self, user: usize, x: f64) -> (f64, f64, f64) {
        let (group, place) = self.find(user);
        let costs = &self.groups[group].costs;
        let (left, right) = costs.slopes(place, x);
        (costs.value(place, x), left, right)
    }

    /// The same problem with another right-hand side of one row.
    pub fn with_value(&self, row: usize, value: f64) -> Result<Self> {
        let mut other = self.clone();
        other.set_value(row, value)?;
        Ok(other)
    }

    /// Changes the right-hand side of a row.
    pub fn set_value(&mut self, row: usize, value: f64) -> Result<()> {
        self.check_value(row, value)?;
        self.rows[row].value = value;
        Ok(())
    }

    /// Whether this may be the right-hand side of a row.
    pub(crate) fn check_value(&self, row: usize, value: f64) -> Result<()> {
        if !value.is_finite() {
            let what = format!("right-hand side of row `{}`", self.rows[row].name);
            return Err(Error::BadNumber { what, user: row + 1, found: value, expected: "a finite number" });
        }
        self.check_reach(row, value)
    }

    /// The group of a user, and its place there.
    fn find(&self, user: usize) -> (usize, usize) {
        let inner = if self.in_order {
            user
        } else {
            let lists = self.groups.iter().zip(&self.starts);
            lists
                .map(|(group, start)| (group.places.as_deref(), start, group.count))
                .find_map(|(places, start, count)| match places {
                    Some(places) => places.iter().position(|place| *place == user).map(|k| start + k),
                    None => (*start..start + count).contains(&user).then_some(user),
                })
                .expect("every user is in a group")
        };
        let group = self.starts.partition_point(|start| *start <= inner) - 1;
        (group, inner - self.starts[group])
    }

    /// The number of a user, from 1, for messages.
    pub(crate) fn number(&self, group: usize, place: usize) -> usize {
        1 + self.groups[group].places.as_ref().map_or(self.starts[group] + place, |places| places[place])
    }

    /// Numbers in the order of groups into the users' own.
    pub(crate) fn in_users_order(&self, x: Vec<f64>) -> Vec<f64> {
        if self.in_order {
            return x;
        }
        let mut own = vec![0.0; x.len()];
        for (g, group) in self.groups.iter().enumerate() {
            for place in 0..group.count {
                own[self.number(g, place) - 1] = x[self.starts[g] + place];
            }
        }
        own
    }

    /// Numbers in the users' order into that of groups.
    pub(crate) fn in_group_order(&self, own: &[f64]) -> Vec<f64> {
        if self.in_order {
            return own.to_vec();
        }
        let mut x = Vec::with_capacity(own.len());
        for (g, group) in self.groups.iter().enumerate() {
            x.extend((0..group.count).map(|place| own[self.number(g, place) - 1]));
        }
        x
    }

    fn check_group(&mut self, g: usize) -> Result<()> {
        let group = &self.groups[g];
        let (count, rows) = (group.count, self.rows.len());
        let length = |what: String, found: usize, expected: usize, unit| {
            if found == expected { Ok(()) } else { Err(Error::Length { what, found, expected, unit }) }
        };
        length("coefficients".into(), group.coefficients.len(), rows, "row")?;
        if let Some(places) = &group.places {
            length("places".into(), places.len(), count, "user")?;
        }
        if let Costs::Own(costs) = &group.costs {
            length("costs".into(), costs.len(), count, "user")?;
        }
        let limits = [("lower limit", &group.lower), ("upper limit", &group.upper)];
        let coefficients = || group.coefficients.iter().map(|column| ("coefficient", column));
        for (name, column) in group.costs.columns().into_iter().chain(limits).chain(coefficients()) {
            if let Some(found) = column.length() {
                length(name.into(), found, count, "user")?;
            }
        }
        group.costs.check(|place| self.number(g, place))?;
        for (k, column) in group.coefficients.iter().enumerate() {
            if let Some((place, found)) = column.find(|value| !value.is_finite()) {
                let (what, user) =
                    (format!("coefficient in row `{}`", self.rows[k].name), self.number(g, place));
                return Err(Error::BadNumber { what, user, found, expected: "a finite number" });
            }
        }
        self.check_limits(g)?;
        let group = &mut self.groups[g];
        if count <= SMALL {
            group.write_out();
        }
        Ok(())
    }

    fn check_limits(&mut self, g: usize) -> Result<()> {
        let group = &self.groups[g];
        let several = group.lower.length().or(group.upper.length());
        let has_floor = !matches!(group.costs, Costs::Quadratic { .. } | Costs::Own(_));
        let checked = if has_floor { group.count } else { several.unwrap_or(1).min(group.count) };
        let mut raised = false;
        for place in 0..checked {
            let (lower, upper) = (group.lower.get(place), group.upper.get(place));
            let user = || self.number(g, place);
            if lower.is_nan() || lower == f64::INFINITY {
                let (what, expected) = ("lower limit".into(), "a number, or minus infinity");
                return Err(Error::BadNumber { what, user: user(), found: lower, expected });
            }
            if upper.is_nan() || upper == f64::NEG_INFINITY {
                let (what, expected) = ("upper limit".into(), "a number, or infinity");
                return Err(Error::BadNumber { what, user: user(), found: upper, expected });
            }
            if lower > upper {
                return Err(Error::Crossed { user: user(), lower, upper });
            }
            if has_floor {
                let least = group.costs.least(place);
                if upper < least || upper == least && matches!(group.costs, Costs::Log { .. }) {
                    let what = "upper limit".into();
                    let expected = "a number where the cost has a value";
                    return Err(Error::BadNumber { what, user: user(), found: upper, expected });
                }
                raised |= lower < least;
            }
        }
        if raised {
            let group = &mut self.groups[g];
            let lower =
                (0..group.count).map(|place| group.lower.get(place).max(group.costs.least(place))).collect();
            group.lower = Column::Many(lower);
        }
        Ok(())
    }

    /// The least and the most that users give in a row.
    fn reach(&self, row: usize) -> [Reach; 2] {
        let mut sums = [Twofold::default(); 2];
        let (mut is_endless, mut is_zero) = ([false; 2], [true; 2]);
        let (mut counts, mut ends) = ([0.0; BLOCK], [[0.0; BLOCK]; 2]);
        for group in &self.groups {
            let (a, l, u) = (&group.coefficients[row], &group.lower, &group.upper);
            for first in (0..group.count).step_by(BLOCK) {
                let length = BLOCK.min(group.count - first);
                for k in 0..length {
                    let (a, l, u) = (a.get(first + k), l.get(first + k), u.get(first + k));
                    counts[k] = a;
                    let (low, high) = if a >= 0.0 { (l, u) } else { (u, l) };
                    for (end, limit) in [low, high].into_iter().enumerate() {
                        is_endless[end] |= limit.is_infinite() && a != 0.0;
                        is_zero[end] &= limit == 0.0 || a == 0.0;
                        ends[end][k] = if limit.is_infinite() { 0.0 } else { limit };
                    }
                }
                let of = |(sum, ends): (&mut Twofold, &[f64; BLOCK])| {
                    sum.add_products(&counts[..length], &ends[..length]);
                };
                sums.iter_mut().zip(&ends).for_each(of);
            }
        }
        let of = |end: usize, endless: f64| {
            let (mut total, size) = (Sum::default(), sums[end].size());
            sums[end].add_to(&mut total);
            match () {
                () if is_endless[end] => Reach { value: endless, size, enclosure: Enclosure::UNKNOWN },
                () if is_zero[end] => Reach { value: 0.0, size, enclosure: Enclosure::from(0.0) },
                () => Reach { value: sums[end].value(), size, enclosure: total.value() },
            }
        };
        [of(0, f64::NEG_INFINITY), of(1, f64::INFINITY)]
    }

    /// The least and the most that users give in a row; unknown where that has no end.
    pub(crate) fn enclosed_reach(&self, row: usize) -> (Enclosure, Enclosure) {
        let [least, most] = &self.reaches[row];
        (least.enclosure, most.enclosure)
    }

    /// Whether a row asks, up to rounding, for the least or the most that users give.
    pub(crate) fn end(&self, k: usize, row: &Row) -> Option<End> {
        let [least, most] = &self.reaches[k];
        let is_at =
            |end: &Reach| (row.value - end.value).abs() <= 2.0 * f64::EPSILON * (end.size + row.value.abs());
        match row.sense {
            Sense::Equal | Sense::AtMost if is_at(least) => Some(End::Least),
            Sense::Equal | Sense::AtLeast if is_at(most) => Some(End::Most),
            _ => None,
        }
    }

    /// Whether a row could ask for this much.
    fn check_reach(&self, k: usize, asked: f64) -> Result<()> {
        let row = &self.rows[k];
        let [Reach { value: least, size: low_size, .. }, Reach { value: most, size: high_size, .. }] =
            self.reaches[k];
        let lacks = asked - most > ROUNDED * (high_size + asked.abs()) && row.sense != Sense::AtMost;
        let spills = least - asked > ROUNDED * (low_size + asked.abs()) && row.sense != Sense::AtLeast;
        if !(lacks || spills) {
            return Ok(());
        }
        let missing = if lacks { asked - most } else { least - asked };
        let binding = self.binding(|group, place| group.coefficients[k].get(place), lacks);
        Err(Error::OutOfReach { row: row.name.clone(), asked, least, most, missing, binding })
    }

    /// The limits that stand in the way of a row, or of a sum of rows in which users count so much, the largest first.
    pub(crate) fn binding(&self, counts: impl Fn(&Users, usize) -> f64, most: bool) -> String {
        const SHOWN: usize = 3;
        let mut shares: Vec<(f64, usize, bool, f64)> = Vec::new();
        for (g, group) in self.groups.iter().enumerate() {
            for place in 0..group.count {
                let a = counts(group, place);
                let is_upper = (a > 0.0) == most;
                let limit = if is_upper { group.upper.get(place) } else { group.lower.get(place) };
                if a != 0.0 {
                    shares.push(((a * limit).abs(), self.number(g, place), is_upper, limit));
                }
            }
        }
        let count = shares.len();
        shares.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let named: Vec<String> = shares
            .iter()
            .take(SHOWN)
            .map(|(_, user, is_upper, limit)| {
                format!("user {user} is at its {} limit {limit}", if *is_upper { "upper" } else { "lower" })
            })
            .collect();
        match count {
            0 => "no user counts in this row".into(),
            few if few <= SHOWN => named.join(", "),
            many => format!("all {many} users are at their limits ({}, ...)", named.join(", ")),
        }
    }
}

impl Users {
    /// Every column as one number a user.
    fn write_out(&mut self) {
        let count = self.count;
        let write = |column: &mut Column| {
            if let Column::One(value) = column {
                *column = Column::Many(vec![*value; count]);
            }
        };
        self.coefficients.iter_mut().for_each(write);
        write(&mut self.lower);
        write(&mut self.upper);
        match &mut self.costs {
            Costs::Quadratic { c2: a, c1: b, c0: c }
            | Costs::Entropy { weight: a, reference: b, c1: c }
            | Costs::Power { weight: a, exponent: b, c1: c }
            | Costs::Log { weight: a, offset: b, c1: c } => [a, b, c].into_iter().for_each(write),
            Costs::Own(_) => {}
        }
    }

    /// A number within the limits of a user: their middle, or 1 away from the one that there is.
    pub(crate) fn inside(&self, place: usize) -> f64 {
        let (lower, upper) = (self.lower.get(place), self.upper.get(place));
        match (lower.is_finite(), upper.is_finite()) {
            (true, true) => 0.5 * lower + 0.5 * upper,
            (true, false) => lower + 1.0,
            (false, true) => upper - 1.0,
            (false, false) => 1.0,
        }
    }

    /// Some of the users.
    pub(crate) fn gather(&self, users: &[u32]) -> Self {
        Self {
            count: users.len(),
            costs: self.costs.gather(users),
            lower: self.lower.gather(users),
            upper: self.upper.gather(users),
            coefficients: self.coefficients.iter().map(|column| column.gather(users)).collect(),
            places: None,
        }
    }
}
