//! Every bound that is reported holds in exact arithmetic: rational numbers judge the model as it is.
//!
//! For each model the exact primal is at most the one reported. No primal of any model, exact, is below any dual reported
//! for the same problem: models of several runs, smaller and larger ones and the zero model are tried. `Converged` means
//! that the exact gap is the one asked for.

use crate::Data;
use crate::judge::Task;
use crate::numbers::Numbers;
use dashu::rational::RBig;
use equipoise::Status;
use equipoise_models::svm::{ClassReport, Kind, LinearModel, Loss, TrainSettings};

fn exact(value: f64) -> RBig {
    RBig::try_from(value).expect("finite")
}

fn positive(value: RBig) -> RBig {
    value.max(RBig::ZERO)
}

fn size(value: RBig) -> RBig {
    if value < RBig::ZERO { -value } else { value }
}

/// One decision function, in rational numbers.
struct Exact<'a> {
    data: &'a Data,
    settings: &'a TrainSettings,
    positive: f64,
}

impl Exact<'_> {
    /// `C_i`.
    fn charge(&self, i: usize) -> RBig {
        let has_cost = matches!(self.settings.kind, Kind::Svc | Kind::Svr);
        let named = self.settings.class_weights.iter().find(|(label, _)| *label == self.data.labels[i]);
        let of_class = named.map_or(1.0, |(_, weight)| *weight);
        let of_row = self.data.weights.as_ref().map_or(1.0, |weights| weights[i]);
        exact(if has_cost { self.settings.cost } else { 1.0 }) * exact(of_class) * exact(of_row)
    }

    fn sign(&self, i: usize) -> RBig {
        exact(if self.data.labels[i] == self.positive { 1.0 } else { -1.0 })
    }

    /// The primal of a model, nu-svc at its best margin.
    fn primal(&self, w: &[f64], bias: f64) -> RBig {
        let square = w.iter().fold(RBig::ZERO, |sum, w| sum + exact(*w) * exact(*w));
        let half = exact(0.5) * &square;
        let nu = exact(self.settings.nu);
        let (mut loss, mut total) = (RBig::ZERO, RBig::ZERO);
        for (i, row) in self.data.plain.iter().enumerate() {
            let score =
                row.iter().fold(exact(bias), |sum, (k, value)| sum + exact(w[*k as usize]) * exact(*value));
            let miss = match self.settings.kind {
                Kind::Svc | Kind::NuSvc => RBig::ONE - self.sign(i) * score,
                Kind::Svr => size(exact(self.data.labels[i]) - score) - exact(self.settings.epsilon),
                Kind::OneClass => -score,
            };
            let miss = positive(miss);
            let is_squared = self.settings.kind == Kind::Svc && self.settings.loss == Loss::SquaredHinge;
            loss += self.charge(i) * if is_squared { &miss * &miss } else { miss };
            total += self.charge(i);
        }
        match self.settings.kind {
            Kind::Svc | Kind::Svr => half + loss,
            Kind::OneClass => half + loss + nu * total * exact(bias),
            Kind::NuSvc => {
                let gain = nu * total - loss;
                if gain <= RBig::ZERO || square == RBig::ZERO {
                    return RBig::ZERO;
                }
                -(&gain * &gain) / (exact(2.0) * square)
            }
        }
    }
}

/// What a run says of one decision function, with its model.
struct Claim {
    primal: RBig,
    class: ClassReport,
}

/// Fails where a claim is false; the number of runs that converged.
#[track_caller]
fn check(data: &Data, settings: &TrainSettings, name: &str) -> usize {
    let mut models: Vec<LinearModel> = Vec::new();
    let mut claims: Vec<Vec<Claim>> = Vec::new();
    let mut converged = 0;
    let limits = [(1e-9, Some(0.5)), (1e-12, Some(30.0)), (1e-4, Some(300.0))];
    for (gap, max_epochs) in limits {
        let settings = TrainSettings { gap, max_epochs, ..settings.clone() };
        // What is refused claims nothing.
        let Ok(trained) = data.train(&settings) else { continue };
        for (k, class) in trained.report.classes.iter().enumerate() {
            let task = Exact { data, settings: &settings, positive: class.label };
            let primal = task.primal(&trained.model.weights[k], trained.model.bias[k]);
            let what = format!("{name}: {class:?}");
            assert!(!class.primal.is_nan() && !class.dual.is_nan() && class.relative_gap >= 0.0, "{what}");
            if class.primal.is_finite() {
                assert!(primal <= exact(class.primal), "{what}: exactly {}", primal.to_f64().value());
            }
            if class.status == Status::Converged {
                converged += 1;
                let least = Task::new(data, &settings, class.label).least() * (1.0 + 1e-9);
                let scale = exact(class.dual.abs().max(least));
                assert!(&primal - exact(class.dual) <= exact(gap) * scale, "{what}");
            } else {
                assert!(class.status != Status::Stalled || class.doubt.is_some(), "{what}");
            }
            if claims.len() <= k {
                claims.push(Vec::new());
            }
            claims[k].push(Claim { primal, class: class.clone() });
        }
        models.push(trained.model);
    }
    for (k, claims) in claims.iter().enumerate() {
        let label = claims[0].class.label;
        let task = Exact { data, settings, positive: label };
        let columns = data.rows.columns();
        let mut primals: Vec<RBig> = claims.iter().map(|claim| claim.primal.clone()).collect();
        primals.push(task.primal(&vec![0.0; columns], 0.0));
        for model in &models {
            for factor in [1.0 - 1e-9, 1.0 + 1e-6, 0.5, 2.0] {
                let w: Vec<f64> = model.weights[k].iter().map(|w| factor * w).collect();
                let bias = factor * model.bias[k];
                if w.iter().chain([&bias]).all(|w| w.is_finite()) {
                    primals.push(task.primal(&w, bias));
                    primals.push(task.primal(&model.weights[k], bias));
                }
            }
        }
        let least = primals.into_iter().min().expect("some");
        for Claim { class, .. } in claims {
            if class.dual.is_finite() {
                assert!(
                    exact(class.dual) <= least,
                    "{name}: {class:?}: a model has {}",
                    least.to_f64().value()
                );
            }
        }
    }
    converged
}

/// 10 to a power, times a number between 1 and 2.
fn of_scale(numbers: &mut Numbers, exponent: i32) -> f64 {
    (1.5 + 0.5 * numbers.next()) * 10f64.powi(exponent)
}

fn adversarial(seed: u64) -> (Data, TrainSettings) {
    let mut numbers = Numbers::new(90_000 + seed);
    let (n, columns) = (2 + numbers.below(10), 1 + numbers.below(4));
    let exponents = [0, 0, 0, 0, -3, 3, -8, 8, -20, 20, -100, 100, -150, 150, -300];
    let scale = exponents[numbers.below(exponents.len())];
    let mixed = numbers.below(4) == 0;
    let mut plain: Vec<Vec<(u32, f64)>> = Vec::new();
    for i in 0..n {
        if i > 1 && numbers.below(5) == 0 {
            // A row again, perhaps the other way round, so that columns cancel.
            let sign = if numbers.below(2) == 0 { 1.0 } else { -1.0 };
            let again = plain[numbers.below(i)].iter().map(|(k, value)| (*k, sign * value)).collect();
            plain.push(again);
            continue;
        }
        let mut row = Vec::new();
        for k in 0..columns as u32 {
            if numbers.below(5) > 0 {
                let shift = if mixed { exponents[numbers.below(11)] } else { 0 };
                row.push((k, numbers.next().signum() * of_scale(&mut numbers, (scale + shift).max(-320))));
            }
        }
        plain.push(row);
    }
    let kind = [Kind::Svc, Kind::Svc, Kind::Svr, Kind::OneClass, Kind::NuSvc][numbers.below(5)];
    let loss = [Loss::Hinge, Loss::SquaredHinge][numbers.below(2)];
    let labels = (0..n)
        .map(|i| match kind {
            Kind::Svr => {
                let shift = exponents[numbers.below(11)];
                numbers.next().signum() * of_scale(&mut numbers, shift)
            }
            _ if i < 2 => 2.0 * i as f64 - 1.0,
            _ => [1.0, -1.0][numbers.below(2)],
        })
        .collect();
    let costs = [0, 0, 0, 1, -1, 3, -3, -2 * scale, 15, 100, -100, 300];
    let cost = costs[numbers.below(costs.len())].clamp(-300, 300);
    let mut settings = TrainSettings {
        kind,
        loss,
        cost: of_scale(&mut numbers, cost),
        nu: [0.1, 0.3, 0.5, 0.75, 1.0, 1.0 / 3.0][numbers.below(6)],
        epsilon: [0.0, 0.1, 5.0, 1e-20][numbers.below(4)],
        seed,
        time_limit: Some(5.0),
        ..TrainSettings::default()
    };
    if kind == Kind::Svc && numbers.below(3) == 0 {
        let weight = [1e15, 0.1, 3.7, 1e-15][numbers.below(4)];
        settings.class_weights = vec![(1.0, weight)];
    }
    let mut data = Data::new(columns, plain, labels);
    if numbers.below(3) == 0 {
        let weight = |numbers: &mut Numbers| [0.0, 1.0, 2.0, 0.1, 1e6, 0.7][numbers.below(6)];
        data = data.weighted((0..n).map(|i| if i < 2 { 1.0 } else { weight(&mut numbers) }).collect());
    }
    (data, settings)
}

/// One training a seed, for as long as there is time.
#[test]
#[ignore = "soak: `cargo xtask soak`"]
fn soak() {
    equipoise_testkit::soak::soak("svm-bounds", |seed| {
        let (data, settings) = adversarial(seed);
        check(&data, &settings, &format!("{settings:?}"));
        1
    });
}

#[test]
fn no_claim_about_adversarial_data_is_false() {
    let (mut converged, cases) = (0, 400);
    for seed in 0..cases {
        let (data, settings) = adversarial(seed);
        converged += check(&data, &settings, &format!("case {seed}, {settings:?}"));
    }
    println!("{converged} runs of {} converged", 3 * cases);
    assert!(converged > 500, "only {converged}");
}

/// Both classes cannot err at any price: the last digit of a margin costs more than the rest of the objective.
#[test]
fn a_hard_margin_is_certified() {
    for weights in [vec![(1.0, 1e15)], vec![(-1.0, 1e15)], vec![(1.0, 1e15), (-1.0, 1e15)]] {
        let mut numbers = Numbers::new(77);
        let data = crate::shifted(&mut numbers, 40, 4, 0.9, 3.0);
        let settings = TrainSettings { class_weights: weights, ..TrainSettings::default() };
        let trained = data.train(&settings).expect("valid data");
        check(&data, &settings, &format!("{settings:?}"));
        assert_eq!(trained.report.status(), Status::Converged, "{:?}", trained.report);
    }
}

/// Charges that multipliers of double precision cannot carry: sweeps went on for minutes, and a squared loss was
/// refused as a dual that falls for ever. What can be proven is, and the rest is said to be open.
#[test]
fn costs_beyond_double_precision_end_with_what_can_be_said() {
    let mut numbers = Numbers::new(31);
    let overlapping = crate::classes(&mut numbers, 120, 5, 0.8);
    let apart = crate::shifted(&mut numbers, 60, 4, 0.9, 3.0);
    let plane = crate::targets(&mut numbers, 100, 4, 0.8);
    // Four rows, one of nothing: a share of 1e300 in the unit of these is no normal number.
    let few = Data::dense(&[&[1e8], &[0.0], &[7.5e7], &[-550.0]], &[1.0, -1.0, 1.0, 1.0]);
    for exponent in [12, 15, 20, 30, 100, 300] {
        let svc = TrainSettings { cost: 10f64.powi(exponent), ..TrainSettings::default() };
        let squared = TrainSettings { loss: Loss::SquaredHinge, ..svc.clone() };
        let svr = TrainSettings { kind: Kind::Svr, ..svc.clone() };
        let without_bias = TrainSettings { bias: false, ..svc.clone() };
        let weighted = TrainSettings { class_weights: vec![(1.0, 3.7)], ..svc.clone() };
        let mixed = TrainSettings { class_weights: vec![(1.0, 1e-12)], ..svc.clone() };
        let cases = [
            (&overlapping, &svc, exponent <= 20),
            (&overlapping, &squared, exponent <= 20),
            (&overlapping, &without_bias, exponent <= 20),
            (&overlapping, &weighted, exponent <= 20),
            (&overlapping, &mixed, exponent <= 20),
            (&plane, &svr, exponent <= 20),
            (&apart, &svc, true),
            (&apart, &squared, true),
            (&few, &svc, false),
            (&few, &without_bias, false),
        ];
        for (data, settings, must_converge) in cases {
            let name = format!("1e{exponent}: {settings:?}");
            // Without any limit.
            let trained = data.train(settings).expect("a fit is never unbounded");
            let class = &trained.report.classes[0];
            println!("{name}: {class:?}");
            let task = Exact { data, settings, positive: class.label };
            let primal = task.primal(&trained.model.weights[0], trained.model.bias[0]);
            assert!(class.primal.is_infinite() || primal <= exact(class.primal), "{name}: {class:?}");
            match class.status {
                Status::Converged => assert!(class.doubt.is_none() && class.relative_gap <= settings.gap),
                Status::Stalled => assert!(class.doubt.is_some() && !must_converge, "{name}: {class:?}"),
                status => panic!("{name}: {status}"),
            }
            check(data, settings, &name);
        }
    }
}

/// An objective of 222 was reported with a gap of 0 where the model's was 300 and the optimum is 264.53.
#[test]
#[ignore = "needs EQUIPOISE_DATA, the public data sets"]
fn a_class_that_weighs_everything() {
    let data = crate::public_data::read("heart_scale");
    for weight in [1e3, 1e9, 1e12, 1e15, 1e18] {
        let settings = TrainSettings { class_weights: vec![(1.0, weight)], ..TrainSettings::default() };
        let trained = data.train(&settings).expect("valid data");
        let class = &trained.report.classes[0];
        let task = Exact { data: &data, settings: &settings, positive: 1.0 };
        let primal = task.primal(&trained.model.weights[0], trained.model.bias[0]);
        println!("{weight:e}: exactly {}, {class:?}", primal.to_f64().value());
        assert!(primal <= exact(class.primal), "{class:?}: exactly {}", primal.to_f64().value());
        check(&data, &settings, &format!("{weight:e}"));
        assert_eq!(class.status, Status::Converged, "{class:?}");
    }
}
