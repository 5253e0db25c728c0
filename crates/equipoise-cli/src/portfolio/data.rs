//! Tables and options into what the model takes.
//!
//! Given: the arguments. Returns: returns, covariance, constraints and settings, with what became of missing numbers. Must
//! not know: how it is solved.

use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use equipoise::Control;
use equipoise_formats::suggest;
use equipoise_formats::table::{
    Missing, Record, Records, RowNames, Table, TableOptions, read_records, read_table,
};
use equipoise_portfolio::{
    Constraints, Covariance, Gaps, Group, Kind, Quotes, Returns, Settings, Shrinkage, Turnover,
};

use crate::args::MarketArguments;

/// Names of a first column that holds dates, also where these look like numbers.
const DATES: [&str; 5] = ["date", "day", "time", "timestamp", "period"];

/// A problem, read.
#[derive(Debug)]
pub(super) struct Input {
    pub(super) returns: Returns,
    pub(super) covariance: Covariance,
    pub(super) constraints: Constraints,
    pub(super) settings: Settings,
    pub(super) gaps: Gaps,
    pub(super) rows: usize,
    pub(super) periods_per_year: f64,
    /// What a reader of the result should know.
    pub(super) warnings: Vec<String>,
    pub(super) seconds: f64,
}

impl Input {
    pub(super) fn read(path: &Path, args: &MarketArguments, control: &Control) -> Result<Self> {
        let begun = Instant::now();
        if !(args.periods_per_year > 0.0 && args.periods_per_year.is_finite()) {
            bail!("--periods-per-year: found {}, expected a number above 0", args.periods_per_year);
        }
        let shrinkage = shrinkage(args.shrinkage.as_deref())?;
        let quotes = quotes(path, args, control)?;
        let rows = quotes.rows;
        let place = || path.display().to_string();
        let (returns, gaps) = quotes.returns(args.missing).with_context(place)?;
        let defaults = Settings::default();
        let settings = Settings {
            gap: args.gap.unwrap_or(defaults.gap),
            threads: args.threads.unwrap_or(defaults.threads),
        };
        let constraints = constraints(args, &returns, control)?;
        let covariance =
            Covariance::new(&returns, shrinkage, settings.threads.max(1), control).with_context(place)?;
        let warnings = warnings(&returns, &covariance, &constraints, &gaps, args);
        let (periods_per_year, seconds) = (args.periods_per_year, begun.elapsed().as_secs_f64());
        Ok(Self {
            returns,
            covariance,
            constraints,
            settings,
            gaps,
            rows,
            periods_per_year,
            warnings,
            seconds,
        })
    }
}

/// The files that the options name.
pub(super) fn files(args: &MarketArguments) -> [Option<&Path>; 4] {
    [&args.limits, &args.sectors, &args.sector_limits, &args.current].map(|file| file.as_deref())
}

fn shrinkage(typed: Option<&str>) -> Result<Shrinkage> {
    match typed {
        None => Ok(Shrinkage::default()),
        Some("auto") => Ok(Shrinkage::Auto),
        Some(typed) => match typed.parse::<f64>() {
            Ok(share) if (0.0..=1.0).contains(&share) => Ok(Shrinkage::Fixed(share)),
            _ => bail!("--shrinkage: found {typed}, expected a number from 0 to 1, or auto"),
        },
    }
}

fn quotes(path: &Path, args: &MarketArguments, control: &Control) -> Result<Quotes> {
    let options = TableOptions {
        row_names: RowNames::IfText,
        missing: Missing::Keep,
        drop: args.drop.clone(),
        ..TableOptions::default()
    };
    let mut table: Table = read_table(path, &options, control)?;
    let mut days = table.row_names.take();
    let is_date = |name: &String| DATES.iter().any(|date| name.eq_ignore_ascii_case(date));
    if days.is_none() && table.names.first().is_some_and(is_date) {
        let name = table.names[0].clone();
        days = Some(table.take(&name)?.values.iter().map(f64::to_string).collect());
    }
    if table.columns() == 0 {
        bail!("{}: no column is left beside the dates; expected at least one asset", path.display());
    }
    let kind = if args.returns { Kind::Returns } else { Kind::Prices };
    let (names, rows, values) = (table.names, table.rows, table.values);
    Ok(Quotes { names, rows, values, days, kind })
}

fn constraints(args: &MarketArguments, returns: &Returns, control: &Control) -> Result<Constraints> {
    let assets = returns.assets();
    let least = if args.long_short { f64::NEG_INFINITY } else { 0.0 };
    for (option, typed) in [
        ("--budget", Some(args.budget)),
        ("--target-return", args.target_return),
        ("--turnover-penalty", args.turnover_penalty),
    ] {
        if let Some(typed) = typed.filter(|typed| !typed.is_finite()) {
            bail!("{option}: found {typed}, expected a finite number");
        }
    }
    if let Some(least) = args.min_weight.filter(|least| *least < 0.0 && !args.long_short) {
        bail!("--min-weight {least}: a weight below 0 needs --long-short");
    }
    let mut lower = vec![args.min_weight.unwrap_or(least); assets];
    let mut upper = vec![args.max_weight.unwrap_or(f64::INFINITY); assets];
    let places: HashMap<&str, usize> =
        returns.names().iter().enumerate().map(|(place, name)| (name.as_str(), place)).collect();
    if let Some(file) = &args.limits {
        let table = read_limits(file, control)?;
        for (record, asset) in assets_of(&table, file, &places)? {
            if let Some(least) = limit(&table, &record, "min")? {
                lower[asset] = least;
            }
            if let Some(most) = limit(&table, &record, "max")? {
                upper[asset] = most;
            }
        }
    }
    let groups = match (&args.sectors, &args.sector_limits) {
        (Some(sectors), Some(limits)) => groups(sectors, limits, &places, control)?,
        _ => Vec::new(),
    };
    let turnover = turnover(args, assets, &places, control)?;
    let (budget, target_return) = (args.budget, args.target_return);
    Ok(Constraints { budget, target_return, lower, upper, groups, turnover })
}

/// The lines of a table with the places of their assets; names that are unknown, or there twice, are errors.
fn assets_of<'a>(
    table: &'a Records,
    file: &Path,
    places: &HashMap<&str, usize>,
) -> Result<Vec<(Record<'a>, usize)>> {
    let column = table.find("asset")?;
    let mut seen: HashMap<usize, usize> = HashMap::new();
    let mut all = Vec::new();
    for record in table.iter() {
        let (name, line) = (record.text(column), record.line);
        let Some(&place) = places.get(name) else {
            let mut known: Vec<&str> = places.keys().copied().collect();
            known.sort_unstable();
            let hint = suggest::nearest(name, &known)
                .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            bail!("{}: line {line}: no asset `{name}` in the table of prices{hint}", file.display());
        };
        if let Some(first) = seen.insert(place, line) {
            bail!("{}: line {line}: asset `{name}` is in line {first} already", file.display());
        }
        all.push((record, place));
    }
    Ok(all)
}

/// A limit of a line; none where its column is not there or its cell is empty.
/// A table of limits: without a column of them it would limit nothing.
fn read_limits(file: &Path, control: &Control) -> Result<Records> {
    let table = read_records(file, control)?;
    if table.position("min").is_none() && table.position("max").is_none() {
        let found = table.names().join("`, `");
        bail!("{}: found columns `{found}`, expected `min` or `max` among them", file.display());
    }
    Ok(table)
}

fn limit(table: &Records, record: &Record<'_>, name: &str) -> Result<Option<f64>> {
    match table.position(name) {
        Some(column) => Ok(record.number(column)?),
        None => Ok(None),
    }
}

fn groups(
    sectors: &Path,
    limits: &Path,
    places: &HashMap<&str, usize>,
    control: &Control,
) -> Result<Vec<Group>> {
    let table = read_records(sectors, control)?;
    let column = table.find("sector")?;
    let mut members: HashMap<&str, Vec<usize>> = HashMap::new();
    for (record, place) in assets_of(&table, sectors, places)? {
        members.entry(record.text(column)).or_default().push(place);
    }
    let limits_table = read_limits(limits, control)?;
    let column = limits_table.find("sector")?;
    let mut groups: Vec<Group> = Vec::new();
    for record in limits_table.iter() {
        let (sector, line) = (record.text(column), record.line);
        let Some(own) = members.get(sector) else {
            let mut known: Vec<&str> = members.keys().copied().collect();
            known.sort_unstable();
            let hint = suggest::nearest(sector, &known)
                .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            let (limits, sectors) = (limits.display(), sectors.display());
            bail!("{limits}: line {line}: no asset is in sector `{sector}` of {sectors}{hint}");
        };
        let name = format!("sector {sector}");
        if groups.iter().any(|group| group.name == name) {
            bail!("{}: line {line}: sector `{sector}` is there already", limits.display());
        }
        let lower = limit(&limits_table, &record, "min")?.unwrap_or(f64::NEG_INFINITY);
        let upper = limit(&limits_table, &record, "max")?.unwrap_or(f64::INFINITY);
        groups.push(Group { name, members: own.clone(), lower, upper });
    }
    Ok(groups)
}

fn turnover(
    args: &MarketArguments,
    assets: usize,
    places: &HashMap<&str, usize>,
    control: &Control,
) -> Result<Option<Turnover>> {
    if args.turnover_penalty.is_none() && args.max_turnover.is_none() {
        if args.current.is_some() {
            bail!("--current has no effect without --turnover-penalty or --max-turnover: give one of them");
        }
        return Ok(None);
    }
    let mut current = vec![0.0; assets];
    if let Some(file) = &args.current {
        let table = read_records(file, control)?;
        let column = table.find("weight")?;
        for (record, place) in assets_of(&table, file, places)? {
            let Some(weight) = record.number(column)?.filter(|weight| weight.is_finite()) else {
                let (file, line, found) = (file.display(), record.line, record.text(column));
                bail!("{file}: line {line}: found `{found}` for a weight, expected a finite number");
            };
            current[place] = weight;
        }
    }
    let (price, limit) = (args.turnover_penalty.unwrap_or(0.0), args.max_turnover.unwrap_or(f64::INFINITY));
    Ok(Some(Turnover { current, price, limit }))
}

/// What a reader of the result should know.
fn warnings(
    returns: &Returns,
    covariance: &Covariance,
    constraints: &Constraints,
    gaps: &Gaps,
    args: &MarketArguments,
) -> Vec<String> {
    let mut warnings = Vec::new();
    let (assets, days) = (returns.assets(), returns.days());
    if days <= assets && covariance.shrinkage() == 0.0 {
        let endless = args.long_short && constraints.lower.iter().any(|bound| bound.is_infinite());
        let why = if endless {
            "some portfolio has a variance of 0 in the sample, and there are many such"
        } else {
            "the sample cannot tell all of them apart"
        };
        warnings.push(format!("{days} returns for {assets} assets: {why}; --shrinkage auto is advised"));
    }
    if !gaps.assets.is_empty() {
        let named: Vec<String> =
            gaps.assets.iter().take(5).map(|gap| format!("{} ({})", gap.asset, gap.lacking)).collect();
        let more = gaps.assets.len().saturating_sub(5);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let (dropped, filled) = (gaps.dropped, gaps.filled);
        let list = named.join(", ");
        warnings.push(format!(
            "missing numbers: {list}{more}; {dropped} rows left out, {filled} cells filled in"
        ));
    }
    warnings
}
