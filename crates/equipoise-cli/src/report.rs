//! Results in words, and as the objects that are written to files.

use std::fmt::Write;

use equipoise::coupling::ALLOWED_SHARE;
use equipoise::{Candidate, Certificate, Method, Solution, Status};
pub(crate) use equipoise_formats::numeral as number;

use crate::progress::measure;
use crate::rounding::{self, above, below};

/// The longest x that is printed.
const SHORT: usize = 10;

/// A solution for people; `written` says where x went, if it went anywhere.
pub(crate) fn solution(solution: &Solution, tolerance: f64, written: Option<&str>) -> String {
    let mut text = format!("{}\n", solution.status);
    text += &certificate(&solution.certificate, tolerance);
    let (updates, epochs, seconds) = (solution.updates, solution.epochs, solution.seconds);
    let threads = threads(solution.threads);
    line(&mut text, "work", &format!("{updates} updates, {epochs:.1} epochs, {seconds:.3} s{threads}"));
    let method = solution.method.name();
    let reason = if solution.reason.is_empty() { String::new() } else { format!(" ({})", solution.reason) };
    line(&mut text, "method", &format!("{method}{reason}"));
    if !solution.candidates.is_empty() {
        let of = |c: &Candidate| format!("{} {}", c.name, number(c.objective));
        let list: Vec<String> = solution.candidates.iter().map(of).collect();
        line(&mut text, "candidates", &list.join(", "));
    }
    let x = match written {
        _ if solution.x.len() <= SHORT => numbers(&solution.x),
        Some(path) => format!("{} numbers, in {path}", solution.x.len()),
        None => format!("{} numbers; --out FILE writes them", solution.x.len()),
    };
    line(&mut text, "x", &x);
    text
}

/// A number of a column with so many decimals; with an exponent where these would say little or take much room.
pub(crate) fn decimal(value: f64, decimals: usize) -> String {
    let least = 10.0_f64.powf(1.0 - decimals as f64);
    if value == 0.0 || (least..1e9).contains(&value.abs()) || !value.is_finite() {
        format!("{value:.decimals$}")
    } else {
        format!("{value:.decimals$e}", decimals = decimals.min(6))
    }
}

/// A certificate for people.
pub(crate) fn certificate(certificate: &Certificate, tolerance: f64) -> String {
    let mut text = String::new();
    let Certificate { objective, smooth, separable, .. } = certificate;
    let [objective, smooth, separable] = [objective, smooth, separable].map(|value| number(*value));
    line(&mut text, "objective", &format!("{objective} (smooth {smooth} + separable {separable})"));
    if let Some(bound) = certificate.lower_bound {
        let holds = match certificate.holds_within {
            Some(most) => format!(", among points with no coordinate beyond {}", below(most, 1)),
            None => String::new(),
        };
        let proof = if certificate.is_proven { "" } else { ", in plain arithmetic: not proven" };
        line(&mut text, "optimum", &format!("at least {}{holds}{proof}", number(bound)));
    }
    let (name, found, allowed) = measure(certificate, tolerance);
    line(&mut text, name, &rounding::allowed(found, allowed));
    if certificate.duality_gap.is_some() {
        line(&mut text, "KKT residual", &above(certificate.kkt_residual, 3));
    }
    let (found, share) = (certificate.infeasibility, certificate.relative_infeasibility);
    let [found, share] = [found, share].map(|miss| above(miss, 3));
    let of_terms = format!("{found}, {share} of a row's own terms (allowed {ALLOWED_SHARE:.3e})");
    line(&mut text, "infeasibility", &of_terms);
    if certificate.is_partial {
        line(&mut text, "certificate", "partial: there was no time for a sharper one");
    }
    if (1..=SHORT).contains(&certificate.multipliers.len()) {
        line(&mut text, "multipliers", &numbers(&certificate.multipliers));
    }
    text
}

/// Why a run that did not converge ended, and what to do about it, in one line.
pub(crate) fn not_converged(solution: &Solution, tolerance: f64) -> String {
    let (name, found, allowed) = measure(&solution.certificate, tolerance);
    let advice = match solution.status {
        Status::IterationLimit => "raise --max-epochs or --max-updates, or continue with --warm-start",
        Status::TimeLimit => "raise --time-limit, or continue with --warm-start",
        Status::Stalled if solution.method == Method::Stochastic => {
            "the noise of single samples hides further progress; use --schedule paper or --method svrg"
        }
        Status::Stalled => "no step makes progress any more; the tolerance may be beyond double precision",
        Status::TargetReached => "the target objective was reached first; continue with --warm-start",
        _ => "continue with --warm-start",
    };
    let [found, allowed] = [found, allowed].map(|measure| above(measure, 3));
    format!("not converged: {}: {name} {found}, allowed {allowed}; {advice}", solution.status)
}

/// The threads that worked, to end a list with; nothing of one alone.
pub(crate) fn threads(count: usize) -> String {
    if count > 1 { format!(", {count} threads") } else { String::new() }
}

/// A name and its value.
pub(crate) fn line(text: &mut String, name: &str, value: &str) {
    let _ = writeln!(text, "  {name:<15}{value}");
}

fn numbers(list: &[f64]) -> String {
    let words: Vec<String> = list.iter().map(|value| number(*value)).collect();
    format!("[{}]", words.join(", "))
}

#[cfg(test)]
mod tests {
    use equipoise::smooth::Distance;
    use equipoise::{Problem, Settings};
    use equipoise_formats::SolutionFile;

    use super::*;

    fn solved() -> Solution {
        let f = Distance::new(vec![1.0, 2.0], 1.0).expect("finite");
        let problem = Problem::builder(f).build().expect("valid");
        equipoise::solve(&problem, &Settings::default()).expect("solved")
    }

    #[test]
    fn decimals_say_something_of_every_number() {
        for (value, words) in [
            (0.0, "0.000000"),
            (-1.25, "-1.250000"),
            (0.000012, "0.000012"),
            (1e-9, "1.000000e-9"),
            (-2.5e300, "-2.500000e300"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(decimal(value, 6), words);
        }
    }

    #[test]
    fn what_is_printed_of_a_bound_holds_too() {
        let mut found = solved().certificate;
        (found.duality_gap, found.lower_bound) = (Some(1.2341e-7), Some(0.0));
        (found.holds_within, found.infeasibility) = (Some(2.78678e104), 5.0001e-12);
        let text = certificate(&found, 1e-6);
        for words in
            ["duality gap    1.235e-7 (", "no coordinate beyond 2.7e104", "infeasibility  5.001e-12, "]
        {
            assert!(text.contains(words), "{words}: {text}");
        }
    }

    #[test]
    fn threads_are_named_where_there_are_several() {
        let mut found = solved();
        found.threads = 1;
        assert!(!solution(&found, 1e-6, None).contains("thread"));
        found.threads = 4;
        assert!(solution(&found, 1e-6, None).contains(" s, 4 threads\n"));
        assert_eq!(SolutionFile::from(found).threads, 4);
    }

    #[test]
    fn the_method_comes_with_its_reason_and_what_it_compared() {
        let mut found = solved();
        found.reason = String::new();
        assert!(solution(&found, 1e-6, None).contains("  method         auto\n"));
        (found.method, found.reason) = (equipoise::Method::Stochastic, "as asked".into());
        found.candidates = vec![Candidate::new("last", 2.5), Candidate::new("average", 2.0)];
        let text = solution(&found, 1e-6, None);
        assert!(text.contains("  method         stochastic (as asked)\n"), "{text}");
        assert!(text.contains("  candidates     last 2.5, average 2\n"), "{text}");
        let file = SolutionFile::from(found);
        assert_eq!((file.method.name(), file.reason.as_str()), ("stochastic", "as asked"));
        assert_eq!(file.candidates.iter().map(|c| c.objective).collect::<Vec<_>>(), [2.5, 2.0]);
    }

    #[test]
    fn every_status_but_convergence_comes_with_advice() {
        let mut found = solved();
        for (status, words) in [
            (Status::IterationLimit, "--max-updates"),
            (Status::TimeLimit, "--time-limit"),
            (Status::Stalled, "double precision"),
            (Status::Interrupted, "--warm-start"),
            (Status::TargetReached, "the target objective was reached first"),
        ] {
            found.status = status;
            let said = not_converged(&found, 1e-6);
            assert!(
                said.starts_with(&format!("not converged: {status}: ")) && said.contains(words),
                "{said}"
            );
        }
    }
}
