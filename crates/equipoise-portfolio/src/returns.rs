//! Prices into returns: `r_t = p_t / p_(t-1) - 1`, their means m, and the centred returns `C = R - 1 m'`.
//!
//! - Given: a table of one column an asset, NaN where a number is missing.
//! - Returns: [`Returns`], and what became of the missing numbers ([`Gaps`]).
//! - Must not know: files, portfolios.
//!
//! Returns, means and C are f64 numbers, each rounded once or twice on its way; from there on they are the data, and bounds
//! hold for them as they are.

use equipoise::DenseMatrix;

use crate::{Error, Result};

/// Returns whose squares are sums within the reach of f64 are smaller.
const LARGEST: f64 = 1e150;

/// What a table holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// Prices: above 0.
    #[default]
    Prices,
    /// Returns: -1 or more.
    Returns,
}

/// What becomes of days on which a number is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Missing {
    /// They are left out; with prices the return then spans them.
    #[default]
    Drop,
    /// The last price is carried forward, and a missing return is 0; days before the first price of every asset are left out.
    Fill,
    /// An error.
    Refuse,
}

equipoise::named!(Missing, "rule for missing days":
    "drop" => Self::Drop,
    "fill" => Self::Fill,
    "refuse" => Self::Refuse,
);

/// A table of one column an asset, one row a day.
#[derive(Debug, Clone, PartialEq)]
pub struct Quotes {
    /// The assets.
    pub names: Vec<String>,
    /// The rows.
    pub rows: usize,
    /// Column after column; NaN where a number is missing.
    pub values: Vec<f64>,
    /// What to call the rows in messages.
    pub days: Option<Vec<String>>,
    /// What the numbers are.
    pub kind: Kind,
}

/// An asset that lacks numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gap {
    /// Its name.
    pub asset: String,
    /// How many it lacks.
    pub lacking: usize,
    /// The first row that lacks one, from 1.
    pub row: usize,
}

/// What became of missing numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Gaps {
    /// Rows that were left out.
    pub dropped: usize,
    /// Numbers that were filled in.
    pub filled: usize,
    /// Who lacked some, in the order of the table.
    pub assets: Vec<Gap>,
}

/// Centred returns, and their means.
#[derive(Debug, Clone, PartialEq)]
pub struct Returns {
    names: Vec<String>,
    centred: DenseMatrix<'static>,
    mean: Vec<f64>,
}

impl Quotes {
    /// The returns, with missing numbers treated as told.
    pub fn returns(self, missing: Missing) -> Result<(Returns, Gaps)> {
        self.check()?;
        let mut gaps = self.gaps();
        let Self { names, rows, mut values, kind, days } = self;
        if missing == Missing::Refuse
            && let Some(first) = gaps.assets.first()
        {
            let lacking = gaps.assets.iter().map(|gap| gap.lacking).sum();
            let (asset, day, assets) =
                (first.asset.clone(), on(days.as_ref(), first.row - 1), gaps.assets.len());
            return Err(Error::Gap { what: word(kind), asset, day, lacking, assets });
        }
        if missing == Missing::Fill {
            gaps.filled = fill(&mut values, rows, kind);
        }
        let is_whole = |row: usize| (0..names.len()).all(|j| !values[j * rows + row].is_nan());
        let kept: Vec<usize> = if gaps.assets.is_empty() {
            (0..rows).collect()
        } else {
            (0..rows).filter(|&row| is_whole(row)).collect()
        };
        gaps.dropped = rows - kept.len();
        let found = kept.len().saturating_sub(usize::from(kind == Kind::Prices));
        if found < 2 {
            let worst = gaps.assets.iter().max_by_key(|gap| gap.lacking);
            let hint = worst.map_or_else(String::new, |gap| {
                format!(": `{}` lacks {} of them; leave it out, or fill missing days", gap.asset, gap.lacking)
            });
            return Err(Error::TooFewDays { found, rows, hint });
        }
        let mut returns = Vec::with_capacity(found * names.len());
        for column in values.chunks_exact(rows) {
            match kind {
                Kind::Returns => returns.extend(kept.iter().map(|&row| column[row])),
                Kind::Prices => {
                    returns.extend(kept.windows(2).map(|pair| column[pair[1]] / column[pair[0]] - 1.0));
                }
            }
        }
        if let Some(place) = returns.iter().position(|value| !value.is_finite()) {
            let asset = names[place / found].clone();
            let (what, expected, day) = ("return", "a finite number", String::new());
            return Err(Error::BadNumber { what, asset, day, found: returns[place], expected });
        }
        Ok((Returns::new(names, found, returns)?, gaps))
    }

    fn check(&self) -> Result<()> {
        let (found, expected) = (self.values.len(), self.names.len() * self.rows);
        if found != expected || expected == 0 {
            return Err(Error::Length { what: "numbers in the table", found, expected });
        }
        let allowed = |value: f64| match self.kind {
            Kind::Prices => value > 0.0 && value.is_finite(),
            Kind::Returns => value >= -1.0 && value.is_finite(),
        };
        for (name, column) in self.names.iter().zip(self.values.chunks_exact(self.rows)) {
            if let Some(row) = column.iter().position(|value| !value.is_nan() && !allowed(*value)) {
                let expected = match self.kind {
                    Kind::Prices => "a number above 0",
                    Kind::Returns => "a number of at least -1",
                };
                let (what, day) = (word(self.kind), on(self.days.as_ref(), row));
                let (asset, found) = (name.clone(), column[row]);
                return Err(Error::BadNumber { what, asset, day, found, expected });
            }
        }
        Ok(())
    }

    fn gaps(&self) -> Gaps {
        let mut assets = Vec::new();
        for (name, column) in self.names.iter().zip(self.values.chunks_exact(self.rows)) {
            let lacking = column.iter().filter(|value| value.is_nan()).count();
            if let Some(row) = column.iter().position(|value| value.is_nan()) {
                assets.push(Gap { asset: name.clone(), lacking, row: row + 1 });
            }
        }
        Gaps { dropped: 0, filled: 0, assets }
    }
}

/// Carries prices forward, puts 0 for returns; how many.
fn fill(values: &mut [f64], rows: usize, kind: Kind) -> usize {
    let mut filled = 0;
    for column in values.chunks_exact_mut(rows) {
        let mut last = if kind == Kind::Returns { 0.0 } else { f64::NAN };
        for value in column {
            if value.is_nan() {
                *value = last;
                filled += usize::from(!last.is_nan());
            } else if kind == Kind::Prices {
                last = *value;
            }
        }
    }
    filled
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Prices => "price",
        Kind::Returns => "return",
    }
}

fn on(days: Option<&Vec<String>>, row: usize) -> String {
    days.map_or_else(|| format!(" in row {}", row + 1), |days| format!(" on {}", days[row]))
}

impl Returns {
    /// Returns of so many days, column after column.
    pub fn new(names: Vec<String>, days: usize, mut values: Vec<f64>) -> Result<Self> {
        let mut sorted: Vec<&String> = names.iter().collect();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::Twice { asset: pair[0].clone() });
        }
        if days < 2 {
            return Err(Error::TooFewDays { found: days, rows: days, hint: String::new() });
        }
        if values.len() != names.len() * days || names.is_empty() {
            let expected = names.len().max(1) * days;
            return Err(Error::Length { what: "returns", found: values.len(), expected });
        }
        if let Some(place) = values.iter().position(|value| value.abs() >= LARGEST) {
            let (what, expected, day) =
                ("return", "a number of which variances can be computed, below 1e150", String::new());
            let (asset, found) = (names[place / days].clone(), values[place]);
            return Err(Error::BadNumber { what, asset, day, found, expected });
        }
        let mut mean = Vec::with_capacity(names.len());
        for column in values.chunks_exact_mut(days) {
            let about = column.iter().sum::<f64>() / days as f64;
            let rest = column.iter().map(|value| value - about).sum::<f64>() / days as f64;
            let middle = about + rest;
            column.iter_mut().for_each(|value| *value -= middle);
            mean.push(middle);
        }
        let centred = DenseMatrix::from_columns(days, names.len(), values)?;
        Ok(Self { names, centred, mean })
    }

    /// The assets.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// C, one column an asset.
    pub fn centred(&self) -> &DenseMatrix<'_> {
        &self.centred
    }

    /// m.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Returns there are of each asset.
    pub fn days(&self) -> usize {
        self.centred.rows()
    }

    /// How many assets.
    pub fn assets(&self) -> usize {
        self.names.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quotes(values: Vec<f64>, kind: Kind) -> Quotes {
        let rows = values.len() / 2;
        Quotes { names: vec!["a".into(), "b".into()], rows, values, days: None, kind }
    }

    const NO: f64 = f64::NAN;

    #[test]
    fn missing_days_are_dropped_filled_or_refused() {
        let table = || quotes(vec![1.0, 2.0, 4.0, 8.0, 4.0, NO, 2.0, 4.0], Kind::Prices);
        let (returns, gaps) = table().returns(Missing::Drop).expect("two returns are left");
        assert_eq!((returns.days(), gaps.dropped, gaps.filled), (2, 1, 0));
        assert_eq!(returns.mean(), [2.0, 0.25], "1 to 4 and 4 to 8; 4 to 2 and 2 to 4");
        assert_eq!(gaps.assets, [Gap { asset: "b".into(), lacking: 1, row: 2 }]);
        let (returns, gaps) = table().returns(Missing::Fill).expect("three returns");
        assert_eq!((returns.days(), gaps.dropped, gaps.filled), (3, 0, 1));
        assert_eq!(returns.mean()[0], 1.0);
        let refused = table().returns(Missing::Refuse).expect_err("refused");
        assert!(refused.to_string().starts_with("`b` has no price in row 2"), "{refused}");
    }

    #[test]
    fn days_before_the_first_price_are_left_out() {
        let table = quotes(vec![1.0, 2.0, 4.0, 8.0, NO, 4.0, NO, 2.0], Kind::Prices);
        let (returns, gaps) = table.returns(Missing::Fill).expect("two returns");
        assert_eq!((returns.days(), gaps.dropped, gaps.filled), (2, 1, 1));
        let table = quotes(vec![0.5, NO, 0.25, 0.0, 1.0, 0.0], Kind::Returns);
        let (returns, gaps) = table.returns(Missing::Fill).expect("three returns");
        assert_eq!((returns.mean()[0], gaps.filled), (0.25, 1));
    }

    #[test]
    fn what_is_no_price_is_named() {
        let mut table = quotes(vec![1.0, 2.0, 3.0, 4.0, 0.0, 5.0], Kind::Prices);
        table.days = Some(vec!["mon".into(), "tue".into(), "wed".into()]);
        let refused = table.returns(Missing::Drop).expect_err("0 is no price");
        assert_eq!(refused.to_string(), "price of `b` on tue: found 0, expected a number above 0");
        let table = quotes(vec![1.0, 2.0, 3.0, 4.0, NO, NO], Kind::Prices);
        let refused = table.returns(Missing::Drop).expect_err("one day is left");
        assert!(refused.to_string().contains("`b` lacks 2 of them"), "{refused}");
        let same = Returns::new(vec!["a".into(), "a".into()], 2, vec![0.0; 4]).expect_err("twice");
        assert!(same.to_string().contains("`a` is there twice"));
    }
}
