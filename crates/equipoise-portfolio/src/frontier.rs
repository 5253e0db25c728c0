//! The efficient frontier: the least variance for K returns, evenly spaced from that of the portfolio of least variance to the
//! largest there is.
//!
//! - Given: as for one portfolio, and K. Returns: portfolios in the order of their returns, as far as it came.
//! - Must not know: how a point is found.
//!
//! Between two targets the optimum is piecewise linear in the target; the active set follows it from one to the next.

use std::time::Instant;

use equipoise::{Control, Halt, Status};

use crate::engine::Engine;
use crate::scale::Scale;
use crate::{
    Constraints, Covariance, Error, Portfolio, Reach, Result, Returns, Round, Settings, Watch, check,
    conclude,
};

/// Portfolios along the frontier.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct Frontier {
    /// Converged where all points are, else why not.
    pub status: Status,
    /// From the least variance to the largest return; fewer than asked for where the search was ended.
    pub points: Vec<Portfolio>,
    /// The largest expected return within the limits; none where there is no end to it.
    pub largest_return: Option<f64>,
    /// Seconds that it took.
    pub seconds: f64,
}

/// The largest expected return within the limits; none where there is no end to it.
pub fn largest_return(
    returns: &Returns,
    covariance: &Covariance,
    constraints: &Constraints,
    control: &Control,
) -> Result<Option<f64>> {
    let settings = Settings::default();
    check(returns, covariance, constraints, &settings, None)?;
    let scale = Scale::of(constraints);
    let inside = scale.inside(constraints);
    let engine = Engine::new(returns, covariance, &inside, &settings, None, control, None);
    Ok(engine.largest_return()?.map(|(largest, _)| scale.number(largest)))
}

/// K portfolios of least variance, each from the one before; the first has no target, the last the largest return (where there
/// is none, that of the best asset; where that is not above the first, as much above it as the assets are apart).
pub fn frontier(
    returns: &Returns,
    covariance: &Covariance,
    constraints: &Constraints,
    settings: &Settings,
    count: usize,
    start: Option<&[f64]>,
    watch: Watch<'_>,
) -> Result<Frontier> {
    let begun = Instant::now();
    check(returns, covariance, constraints, settings, start)?;
    if count < 2 {
        let (name, expected) = ("points of the frontier", "2 or more");
        return Err(Error::BadSetting { name, found: count as f64, expected });
    }
    let scale = Scale::of(constraints);
    let (first, start) =
        (Constraints { target_return: None, ..scale.inside(constraints) }, scale.start(start));
    let Watch { mut observer, control } = watch;
    let mut tell = |round: &Round| {
        if let Some(observer) = &mut observer {
            observer(&scale.round(round));
        }
    };
    let mut engine =
        Engine::new(returns, covariance, &first, settings, start.as_deref(), &control, Some(&mut tell));
    let ended = engine.search();
    let halt = ended.as_ref().err().cloned();
    let found = conclude(&mut engine, ended, returns, settings, Reach::Unknown);
    let mut points = vec![found.map_err(|error| scale.error(error))?];
    points[0].seconds = begun.elapsed().as_secs_f64();
    let mut largest = None;
    let halt = match halt {
        Some(halt) => Some(halt),
        None => follow(&mut engine, count, &mut points, &mut largest, returns, settings)
            .map_err(|error| scale.error(error))?,
    };
    let points: Vec<Portfolio> = points.into_iter().map(|point| scale.outside(point)).collect();
    let largest = largest.map(|largest| scale.number(largest));
    let worst = points.iter().map(|point| point.status).find(|status| *status != Status::Converged);
    let status = halt.as_ref().and_then(Status::after).or(worst).unwrap_or(Status::Converged);
    Ok(Frontier { status, points, largest_return: largest, seconds: begun.elapsed().as_secs_f64() })
}

/// The points behind the first; what ended them early, where something did.
fn follow(
    engine: &mut Engine<'_, '_>,
    count: usize,
    points: &mut Vec<Portfolio>,
    largest: &mut Option<f64>,
    returns: &Returns,
    settings: &Settings,
) -> Result<Option<Halt>> {
    *largest = match engine.largest_return() {
        Ok(largest) => largest.map(|(largest, _)| largest),
        Err(halt @ Halt::Fault(_)) => return Err(halt.into()),
        Err(halt) => return Ok(Some(halt)),
    };
    let low = points[0].expected_return;
    let (worst, best) =
        returns.mean().iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), m| (a.min(*m), b.max(*m)));
    let size = best.abs().max(worst.abs());
    let high = match *largest {
        // What no rounding puts out of reach.
        Some(largest) => largest - 1e-13 * (largest.abs() + size),
        None if best > low => best,
        None => low + (best - worst),
    };
    if high - low <= 1e-12 * size {
        return Ok(None);
    }
    for k in 1..count {
        let begun = Instant::now();
        let share = k as f64 / (count - 1) as f64;
        engine.set_target(Some(if k + 1 == count { high } else { low + share * (high - low) }));
        engine.point = k;
        let ended = engine.search();
        let halt = ended.as_ref().err().cloned();
        let reach = if largest.is_some() { Reach::Known } else { Reach::Unknown };
        match (conclude(engine, ended, returns, settings, reach), halt) {
            (Ok(mut point), halt) => {
                point.seconds = begun.elapsed().as_secs_f64();
                points.push(point);
                if halt.is_some() {
                    return Ok(halt);
                }
            }
            (Err(error @ Error::Equipoise(_)), Some(halt)) => {
                return if let Halt::Fault(_) = halt { Err(error) } else { Ok(Some(halt)) };
            }
            (Err(error), _) => return Err(error),
        }
    }
    Ok(None)
}
