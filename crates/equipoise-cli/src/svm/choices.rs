//! The settings of a training as typed, checked against the kind of model.
//!
//! | option | svc | nu-svc | svr | one-class |
//! |---|---|---|---|---|
//! | `--cost` | yes | | yes | |
//! | `--nu` | | yes | | yes |
//! | `--epsilon` | | | yes | |
//! | `--no-bias` | yes | | yes | |
//! | `--loss`, `--class-weight` | yes | | | |

use anyhow::{Context, Result, bail};
use equipoise_models::svm::{Kind, TrainSettings};

use super::data::Data;
use crate::args::Training;

/// The settings; ranges are checked by the library.
pub(crate) fn settings(typed: &Training) -> Result<TrainSettings> {
    let default = TrainSettings::default();
    settings_or(typed, &TrainSettings { kind: typed.kind.unwrap_or(default.kind), ..default })
}

/// What was typed, and from `default` what was not; the kind is its.
pub(crate) fn settings_or(typed: &Training, default: &TrainSettings) -> Result<TrainSettings> {
    let kind = default.kind;
    check_kind(kind, typed)?;
    let multicore = &typed.multicore;
    let class_weights: Vec<(f64, f64)> = if is_balanced(typed)? {
        Vec::new()
    } else {
        // Those of words are known once the data are.
        let pairs = typed.class_weight.iter().map(|pair| class_weight(pair)).collect::<Result<Vec<_>>>()?;
        pairs.into_iter().filter_map(|(label, weight)| Some((number(label)?, weight))).collect()
    };
    let settings = TrainSettings {
        kind,
        loss: typed.loss.unwrap_or(default.loss),
        cost: typed.cost.unwrap_or(default.cost),
        nu: typed.nu.unwrap_or(default.nu),
        epsilon: typed.epsilon.unwrap_or(default.epsilon),
        gap: typed.gap.unwrap_or(default.gap),
        bias: !typed.no_bias && default.bias,
        class_weights: if class_weights.is_empty() { default.class_weights.clone() } else { class_weights },
        method: typed.method.unwrap_or(default.method),
        threads: typed.threads.unwrap_or(default.threads),
        seed: typed.seed.unwrap_or(default.seed),
        locking: multicore.locking.unwrap_or(default.locking),
        deterministic: multicore.deterministic || default.deterministic,
        time_limit: typed.time_limit.or(default.time_limit),
        max_epochs: typed.max_epochs.map(|most| most as f64).or(default.max_epochs),
    };
    settings.validate()?;
    Ok(settings)
}

/// Refuses options that mean nothing for a kind.
fn check_kind(kind: Kind, typed: &Training) -> Result<()> {
    let with_nu = matches!(kind, Kind::NuSvc | Kind::OneClass);
    let typed = [
        ("--cost", typed.cost.is_some(), !with_nu, "its errors are weighed by --nu"),
        ("--nu", typed.nu.is_some(), with_nu, "its errors are weighed by --cost"),
        ("--epsilon", typed.epsilon.is_some(), kind == Kind::Svr, "only svr has a tube"),
        ("--no-bias", typed.no_bias, !with_nu, "it has a bias always"),
        ("--loss", typed.loss.is_some(), kind == Kind::Svc, "its loss is fixed; only svc has a choice"),
        ("--class-weight", !typed.class_weight.is_empty(), kind == Kind::Svc, "only svc weighs its classes"),
    ];
    for (option, is_typed, applies, why) in typed {
        if is_typed && !applies {
            bail!("{option} does not apply to --kind {}: {why}; leave it out", kind.name());
        }
    }
    Ok(())
}

/// Refuses costs for a kind without one.
pub(crate) fn check_costs(kind: Kind, costs: Option<&[f64]>, typed: &Training) -> Result<()> {
    if costs.is_some() && matches!(kind, Kind::NuSvc | Kind::OneClass) {
        bail!("costs do not apply to --kind {}: its errors are weighed by --nu; leave them out", kind.name());
    }
    if costs.is_some() && typed.cost.is_some() {
        bail!("--cost and a list of costs exclude each other: give one of them");
    }
    Ok(())
}

/// Whether the labels are to weigh the same, whatever the number of their rows.
fn is_balanced(typed: &Training) -> Result<bool> {
    let named = typed.class_weight.iter().any(|word| word == "balanced");
    if named && typed.class_weight.len() > 1 {
        bail!("--class-weight balanced stands alone: it weighs every label");
    }
    Ok(named)
}

/// The settings with the weights of labels that only the data know: balanced ones, rows / (labels * rows of the label), and those of
/// labels that are words.
pub(crate) fn weigh(settings: &mut TrainSettings, typed: &Training, data: &Data) -> Result<()> {
    if is_balanced(typed)? {
        settings.class_weights = balanced(&data.counts);
    } else if !typed.class_weight.is_empty() {
        settings.class_weights = named(&typed.class_weight, data.label_names.as_deref())?;
        settings.validate()?;
    }
    Ok(())
}

/// The pairs, their labels by name where the labels have names.
fn named(pairs: &[String], names: Option<&[String]>) -> Result<Vec<(f64, f64)>> {
    let of_pair = |pair: &String| {
        let (label, weight) = class_weight(pair)?;
        let known = match names {
            Some(names) => names.iter().position(|name| name == label).map(|k| k as f64),
            None => number(label),
        };
        let Some(known) = known else {
            let labels = names.map_or("numbers".into(), |names| names.join(", "));
            bail!("--class-weight: no label is {label:?}; the labels are {labels}");
        };
        Ok((known, weight))
    };
    pairs.iter().map(of_pair).collect()
}

fn balanced(counts: &[(f64, usize)]) -> Vec<(f64, f64)> {
    let rows: usize = counts.iter().map(|(_, count)| count).sum();
    let weight = |count: usize| rows as f64 / (counts.len() * count) as f64;
    counts.iter().map(|&(label, count)| (label, weight(count))).collect()
}

/// `L=W`.
fn class_weight(pair: &str) -> Result<(&str, f64)> {
    let parsed = pair.rsplit_once('=').and_then(|(label, weight)| {
        Some((label.trim(), weight.trim().parse().ok()?)).filter(|(label, _)| !label.is_empty())
    });
    parsed.with_context(|| format!("--class-weight: found {pair:?}, expected LABEL=WEIGHT such as -1=2.5"))
}

fn number(label: &str) -> Option<f64> {
    label.parse().ok().filter(|label: &f64| label.is_finite())
}

#[cfg(test)]
mod tests {
    use equipoise::{Locking, Named};
    use equipoise_models::svm::Loss;
    use equipoise_theory::{Delayed, StepRule};

    use super::*;
    use crate::args::Multicore;

    fn typed(kind: Kind) -> Training {
        Training { kind: Some(kind), ..Training::default() }
    }

    #[test]
    fn nothing_typed_gives_the_defaults_of_the_library() {
        assert_eq!(settings(&Training::default()).expect("valid"), TrainSettings::default());
    }

    #[test]
    fn what_concerns_threads_is_taken_as_typed() {
        let multicore = Multicore {
            locking: Some(Locking::Double),
            delay_us: Some(50),
            step_rule: Some(StepRule::Paper),
            deterministic: true,
        };
        assert_eq!(multicore.experiment(), Delayed::new(StepRule::Paper, 50));
        let typed = Training { threads: Some(3), multicore, ..Training::default() };
        let expected = TrainSettings {
            threads: 3,
            locking: Locking::Double,
            deterministic: true,
            ..TrainSettings::default()
        };
        assert_eq!(settings(&typed).expect("valid"), expected);
    }

    #[test]
    fn every_kind_refuses_what_does_not_apply_to_it() {
        type Setting = fn(&mut Training);
        let options: [(&str, Setting, [bool; 4]); 6] = [
            ("--cost", |t| t.cost = Some(2.0), [true, false, true, false]),
            ("--nu", |t| t.nu = Some(0.2), [false, true, false, true]),
            ("--epsilon", |t| t.epsilon = Some(0.2), [false, false, true, false]),
            ("--loss", |t| t.loss = Some(Loss::SquaredHinge), [true, false, false, false]),
            ("--loss", |t| t.loss = Some(Loss::Hinge), [true, false, false, false]),
            ("--class-weight", |t| t.class_weight = vec!["1=2".into()], [true, false, false, false]),
        ];
        for (option, set, allowed) in options {
            for (&(name, kind), allowed) in Kind::ALL.iter().zip(allowed) {
                let mut typed = typed(kind);
                set(&mut typed);
                let result = settings(&typed);
                assert_eq!(result.is_ok(), allowed, "{option} with {name}");
                if let Err(error) = result {
                    let words = error.to_string();
                    assert!(words.starts_with(option) && words.contains(name), "{words}");
                }
            }
        }
    }

    #[test]
    fn balanced_labels_weigh_the_same() {
        assert_eq!(balanced(&[(0.0, 30), (1.0, 10)]), [(0.0, 40.0 / 60.0), (1.0, 2.0)]);
        let typed = |words: &[&str]| Training {
            class_weight: words.iter().map(|&word| word.to_owned()).collect(),
            ..Training::default()
        };
        assert_eq!(settings(&typed(&["balanced"])).expect("valid"), TrainSettings::default());
        settings(&typed(&["balanced", "1=2"])).expect_err("stands alone");
    }

    #[test]
    fn class_weights_are_pairs() {
        assert_eq!(class_weight("-1=2.5").expect("a pair"), ("-1", 2.5));
        for pair in ["1", "1=b", "=", "=2", ""] {
            class_weight(pair).expect_err("no pair");
        }
        let pairs = |list: &[&str]| list.iter().map(|&pair| pair.to_owned()).collect::<Vec<_>>();
        assert_eq!(named(&pairs(&["-1=2", "1=3"]), None).expect("numbers"), [(-1.0, 2.0), (1.0, 3.0)]);
        let names = pairs(&["alpine", "meadow"]);
        assert_eq!(named(&pairs(&["meadow=2"]), Some(&names)).expect("a name"), [(1.0, 2.0)]);
        for (pair, names) in
            [("a=1", None), ("nan=1", None), ("heath=1", Some(&names)), ("0=1", Some(&names))]
        {
            let error = named(&pairs(&[pair]), names.map(Vec::as_slice)).expect_err("no label");
            assert!(error.to_string().contains("no label is"), "{error}");
        }
    }
}
