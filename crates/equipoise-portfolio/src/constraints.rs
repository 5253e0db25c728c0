//! Where the weights may be:
//!
//! ```text
//! sum w = B,   m'w >= R,   l <= w <= u,   low_s <= sum of w over group s <= high_s,   sum_j |w_j - c_j| <= limit
//! ```
//!
//! - Given: numbers. Returns: whether they can be met one by one, by how much a point misses them, bounds that they imply.
//! - Must not know: variances.

use equipoise::enclosure::{Enclosure, Sum, above};

use crate::scale::LARGEST;
use crate::{Error, Result, Returns};

/// Assets that are limited together: a sector, a country.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// What to call it in messages.
    pub name: String,
    /// Its assets, by their places, each once.
    pub members: Vec<usize>,
    /// The least that they hold together; may be `-inf`.
    pub lower: f64,
    /// The most that they hold together; may be `inf`.
    pub upper: f64,
}

/// Weights held now, and what leaving them costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Turnover {
    /// c.
    pub current: Vec<f64>,
    /// kappa of `kappa sum_j |w_j - c_j|`, in the unit of the variance.
    pub price: f64,
    /// The most that `sum_j |w_j - c_j|` may be; may be `inf`.
    pub limit: f64,
}

/// Where the weights may be.
#[derive(Debug, Clone, PartialEq)]
pub struct Constraints {
    /// B.
    pub budget: f64,
    /// R; none, no such row.
    pub target_return: Option<f64>,
    /// l; may be `-inf`.
    pub lower: Vec<f64>,
    /// u; may be `inf`.
    pub upper: Vec<f64>,
    /// Groups that are limited together.
    pub groups: Vec<Group>,
    /// What changes cost, and how many are allowed.
    pub turnover: Option<Turnover>,
}

impl Constraints {
    /// `w >= 0`, `sum w = 1`.
    pub fn long_only(assets: usize) -> Self {
        Self {
            budget: 1.0,
            target_return: None,
            lower: vec![0.0; assets],
            upper: vec![f64::INFINITY; assets],
            groups: Vec::new(),
            turnover: None,
        }
    }

    /// `sum w = 1`.
    pub fn long_short(assets: usize) -> Self {
        Self { lower: vec![f64::NEG_INFINITY; assets], ..Self::long_only(assets) }
    }

    /// `sum_j |w_j - c_j|`, rounded; from 0 where no weights are held.
    pub fn turnover_of(&self, w: &[f64]) -> f64 {
        match &self.turnover {
            Some(turnover) => w.iter().zip(&turnover.current).map(|(w, c)| (w - c).abs()).sum(),
            None => w.iter().map(|w| w.abs()).sum(),
        }
    }

    /// Whether every limit is one, and can be met by itself.
    pub(crate) fn check(&self, returns: &Returns) -> Result<()> {
        let assets = returns.assets();
        for (what, list) in [("lower limits", &self.lower), ("upper limits", &self.upper)] {
            if list.len() != assets {
                return Err(Error::Length { what, found: list.len(), expected: assets });
            }
        }
        let bad = |what, j: usize, found, expected| Error::BadNumber {
            what,
            asset: returns.names()[j].clone(),
            day: String::new(),
            found,
            expected,
        };
        for (j, (&lower, &upper)) in self.lower.iter().zip(&self.upper).enumerate() {
            if lower.is_nan() || lower == f64::INFINITY {
                return Err(bad("lower limit", j, lower, "a number or -inf"));
            }
            if upper.is_nan() || upper == f64::NEG_INFINITY {
                return Err(bad("upper limit", j, upper, "a number or inf"));
            }
            if lower > upper {
                return Err(Error::Crossed { asset: returns.names()[j].clone(), lower, upper });
            }
        }
        for (name, found) in [("budget", Some(self.budget)), ("target return", self.target_return)] {
            if let Some(found) = found.filter(|found| !found.is_finite()) {
                return Err(Error::BadSetting { name, found, expected: "a finite number" });
            }
        }
        let size = self.budget.abs();
        if size > LARGEST || size < 1.0 / LARGEST && size > 0.0 {
            let (name, expected) = ("budget", "0, or a number from 1e-100 to 1e100 in size");
            return Err(Error::BadSetting { name, found: self.budget, expected });
        }
        if let Some(turnover) = &self.turnover {
            let found = turnover.current.len();
            if found != assets {
                return Err(Error::Length { what: "current weights", found, expected: assets });
            }
            if let Some(j) = turnover.current.iter().position(|c| !c.is_finite()) {
                return Err(bad("current weight", j, turnover.current[j], "a finite number"));
            }
            if !(turnover.price >= 0.0 && turnover.price <= LARGEST) {
                let (name, expected) = ("turnover penalty", "a number from 0 to 1e100");
                return Err(Error::BadSetting { name, found: turnover.price, expected });
            }
            if turnover.limit.is_nan() || turnover.limit < 0.0 {
                let (name, expected) = ("turnover limit", "a number of at least 0");
                return Err(Error::BadSetting { name, found: turnover.limit, expected });
            }
        }
        self.check_sums(returns)
    }

    fn check_sums(&self, returns: &Returns) -> Result<()> {
        let assets = returns.assets();
        let all: Vec<usize> = (0..assets).collect();
        let (least, most) = (total(&self.lower, &all), total(&self.upper, &all));
        if least.lower() > self.budget + slack(least) || most.upper() < self.budget - slack(most) {
            let (least, most) = (shown(least), shown(most));
            return Err(Error::Budget { budget: self.budget, least, most });
        }
        for group in &self.groups {
            let (lower, upper) = (group.lower, group.upper);
            if !(lower <= upper && lower < f64::INFINITY && upper > f64::NEG_INFINITY) {
                return Err(Error::CrossedGroup { group: group.name.clone(), lower, upper });
            }
            if let Some(&found) = group.members.iter().find(|&&j| j >= assets) {
                return Err(Error::Length { what: "place of an asset in a group", found, expected: assets });
            }
            let mut sorted = group.members.clone();
            sorted.sort_unstable();
            if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                let asset = returns.names()[twice[0]].clone();
                return Err(Error::TwiceInGroup { group: group.name.clone(), asset });
            }
            let (least, most) = (total(&self.lower, &group.members), total(&self.upper, &group.members));
            if least.lower() > upper + slack(least) || most.upper() < lower - slack(most) {
                let (members, name) = (group.members.len(), group.name.clone());
                let (least, most) = (shown(least), shown(most));
                return Err(Error::GroupOutOfReach { group: name, lower, upper, members, least, most });
            }
        }
        Ok(())
    }

    /// Bounds that hold for every point: its own, what a limit of the turnover leaves, and what the budget leaves where all
    /// others are at theirs.
    pub(crate) fn implied(&self) -> (Vec<f64>, Vec<f64>) {
        let (lower, upper) = self.near_current();
        implied_by_budget(self.budget, &lower, &upper)
    }

    /// Bounds that the limit of the turnover implies.
    fn near_current(&self) -> (Vec<f64>, Vec<f64>) {
        let (mut lower, mut upper) = (self.lower.clone(), self.upper.clone());
        if let Some(Turnover { current, limit, .. }) =
            self.turnover.as_ref().filter(|own| own.limit.is_finite())
        {
            for (j, &c) in current.iter().enumerate() {
                let (c, limit) = (Enclosure::from(c), Enclosure::from(*limit));
                lower[j] = lower[j].max((c - limit).lower());
                upper[j] = upper[j].min((c + limit).upper()).max(lower[j]);
            }
        }
        (lower, upper)
    }

    /// The largest miss of a row or limit, relative to its own terms, from above.
    pub(crate) fn missed(&self, returns: &Returns, w: &[f64]) -> f64 {
        let mut worst = 0.0_f64;
        let mut see = |value: Enclosure, low: f64, high: f64, size: f64| {
            let under = if low.is_finite() { (Enclosure::from(low) - value).upper() } else { 0.0 };
            let over = if high.is_finite() { (value - Enclosure::from(high)).upper() } else { 0.0 };
            let miss = under.max(over).max(0.0);
            let ends = [low, high].iter().filter(|end| end.is_finite()).fold(0.0_f64, |a, b| a.max(b.abs()));
            let size = size + ends;
            worst = worst.max(above(miss / if size > 0.0 { size } else { 1.0 }));
        };
        let mut sum = Sum::default();
        w.iter().for_each(|w| sum.add(*w));
        see(sum.value(), self.budget, self.budget, w.iter().map(|w| w.abs()).sum());
        if let Some(target) = self.target_return {
            // Where the assets held earn next to nothing, weights are still rounded: a millionth of what others earn counts.
            let most = returns.mean().iter().fold(0.0_f64, |most, m| most.max(m.abs()));
            let held: f64 = w.iter().map(|w| w.abs()).sum();
            let own: f64 = w.iter().zip(returns.mean()).map(|(w, m)| (w * m).abs()).sum();
            let size = own.max(1e-6 * most * held);
            see(equipoise::enclosure::dot(w, returns.mean()), target, f64::INFINITY, size);
        }
        for group in &self.groups {
            let mut sum = Sum::default();
            group.members.iter().for_each(|&j| sum.add(w[j]));
            let size = group.members.iter().map(|&j| w[j].abs()).sum();
            see(sum.value(), group.lower, group.upper, size);
        }
        if let Some(turnover) = self.turnover.as_ref().filter(|turnover| turnover.limit.is_finite()) {
            let value = Self::turnover_enclosed(turnover, w);
            // Its terms are differences: what they are the differences of is what rounding is relative to.
            let terms = w.iter().zip(&turnover.current).map(|(w, c)| w.abs().max(c.abs()));
            see(value, f64::NEG_INFINITY, turnover.limit, terms.sum());
        }
        for (j, w) in w.iter().enumerate() {
            let miss = (self.lower[j] - w).max(w - self.upper[j]);
            if miss > 0.0 {
                worst = worst.max(above(miss / w.abs().max(f64::MIN_POSITIVE)));
            }
        }
        worst
    }

    pub(crate) fn turnover_enclosed(turnover: &Turnover, w: &[f64]) -> Enclosure {
        let mut sum = Sum::default();
        for (w, c) in w.iter().zip(&turnover.current) {
            sum.add_enclosure(Enclosure::difference(*w, *c).abs());
        }
        sum.value()
    }
}

/// Bounds, and what the budget leaves of each where all others are at theirs.
fn implied_by_budget(budget: f64, lower: &[f64], upper: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let rest = |own: &[f64]| {
        let mut left = Sum::default();
        left.add(budget);
        own.iter().for_each(|bound| left.add(-bound));
        own.iter().all(|bound| bound.is_finite()).then(|| left.value())
    };
    let (of_lower, of_upper) = (rest(lower), rest(upper));
    let pairs = || lower.iter().zip(upper);
    let low: Vec<f64> = pairs()
        .map(|(&l, &u)| of_upper.map_or(l, |left| l.max((left + Enclosure::from(u)).lower())))
        .collect();
    let high = pairs()
        .zip(&low)
        .map(|((&l, &u), &low)| {
            of_lower.map_or(u, |left| u.min((left + Enclosure::from(l)).upper())).max(low)
        })
        .collect();
    (low, high)
}

/// The sum of some numbers of a list; infinite where one of them is.
fn total(list: &[f64], which: &[usize]) -> Enclosure {
    if let Some(&endless) = which.iter().find(|&&j| list[j].is_infinite()) {
        return Enclosure::from(if list[endless] > 0.0 { f64::MAX } else { f64::MIN });
    }
    let mut sum = Sum::default();
    which.iter().for_each(|&j| sum.add(list[j]));
    sum.value()
}

/// A total for a message.
fn shown(total: Enclosure) -> f64 {
    let centre = total.centre();
    if centre.abs() == f64::MAX { centre * 2.0 } else { centre }
}

/// What rounding of limits that were typed in decimals could have brought about.
fn slack(sum: Enclosure) -> f64 {
    1e-13 * (1.0 + sum.magnitude().min(1e30))
}
