//! What a model is worth, from rows, labels and weights alone.
//!
//! Caps: `C_i` = cost * class weight * sample weight (cost 1 for the nu kinds), N their sum. Primals:
//!
//! ```text
//! svc        1/2 w'w + sum C_i (1 - y_i f_i)_+     or its square           f_i = w'x_i + b
//! svr        1/2 w'w + sum C_i (|y_i - f_i| - epsilon)_+
//! one-class  1/2 w'w - nu N rho + sum c_i (rho - w'x_i)_+                  b = -rho
//! nu-svc     1/2 w'w - nu N rho + sum c_i (rho - y_i f_i)_+                the model is divided by rho
//! ```
//!
//! The optimum is that of the dual by Clarabel. Nothing here comes from the library's evaluation.

use crate::Data;
use equipoise::Status;
use equipoise_models::svm::{ClassReport, Kind, Loss, TrainSettings, Trained};
use equipoise_testkit as kit;

/// One decision function's problem: rows of weight above 0, targets (+-1 for classifiers) and caps.
pub(crate) struct Task<'a> {
    data: &'a Data,
    settings: &'a TrainSettings,
    kept: Vec<usize>,
    targets: Vec<f64>,
    caps: Vec<f64>,
}

impl<'a> Task<'a> {
    pub(crate) fn new(data: &'a Data, settings: &'a TrainSettings, positive: f64) -> Self {
        let weight = |i: usize| data.weights.as_ref().map_or(1.0, |weights| weights[i]);
        let kept: Vec<usize> = (0..data.plain.len()).filter(|&i| weight(i) > 0.0).collect();
        let classes = matches!(settings.kind, Kind::Svc | Kind::NuSvc);
        let target = |i: &usize| match (classes, data.labels[*i] == positive) {
            (false, _) => data.labels[*i],
            (true, same) => f64::from(i8::from(same)) * 2.0 - 1.0,
        };
        let cost = if matches!(settings.kind, Kind::Svc | Kind::Svr) { settings.cost } else { 1.0 };
        let of_class = |i: usize| {
            let named = settings.class_weights.iter().find(|(label, _)| *label == data.labels[i]);
            named.map_or(1.0, |(_, weight)| *weight)
        };
        let caps = kept.iter().map(|&i| cost * of_class(i) * weight(i)).collect();
        Self { data, settings, targets: kept.iter().map(target).collect(), caps, kept }
    }

    fn total(&self) -> f64 {
        self.caps.iter().sum()
    }

    /// The smallest size of a dual that a gap is relative to.
    pub(crate) fn least(&self) -> f64 {
        if self.settings.kind != Kind::NuSvc {
            return 1e-12;
        }
        let total = self.total();
        let of_column = |c: u32| {
            let value =
                |i: &usize| self.data.plain[*i].iter().find(|(k, _)| *k == c).map_or(0.0, |(_, v)| *v);
            let values: Vec<f64> = self.kept.iter().map(value).collect();
            let mean = values.iter().zip(&self.caps).map(|(v, cap)| cap * v).sum::<f64>() / total;
            values.iter().zip(&self.caps).map(|(v, cap)| cap * (v - mean).powi(2)).sum::<f64>() / total
        };
        let variance: f64 = (0..self.data.rows.columns() as u32).map(of_column).sum();
        let least = 0.5e-10 * (0.5 * self.settings.nu * total).powi(2) * variance;
        if least > 0.0 && least.is_finite() { least } else { 1e-12 }
    }

    /// `w'x_i` of every row kept.
    fn scores(&self, w: &[f64]) -> Vec<f64> {
        let dot = |i: &usize| self.data.plain[*i].iter().map(|(k, value)| w[*k as usize] * value).sum();
        self.kept.iter().map(dot).collect()
    }

    /// `sum_i cap_i loss(i)`.
    fn charged(&self, loss: impl Fn(usize) -> f64) -> f64 {
        self.caps.iter().enumerate().map(|(i, cap)| cap * loss(i)).sum()
    }

    /// The primal less `1/2 w'w` at a bias.
    fn loss(&self, scores: &[f64], bias: f64) -> f64 {
        let (y, settings) = (&self.targets, self.settings);
        let margin = |i: usize| (1.0 - y[i] * (scores[i] + bias)).max(0.0);
        match (settings.kind, settings.loss) {
            (Kind::Svc, Loss::Hinge) => self.charged(margin),
            (Kind::Svc, Loss::SquaredHinge) => self.charged(|i| margin(i) * margin(i)),
            (Kind::Svr, _) => self.charged(|i| ((y[i] - scores[i] - bias).abs() - settings.epsilon).max(0.0)),
            (Kind::OneClass, _) => {
                settings.nu * self.total() * bias + self.charged(|i| (-bias - scores[i]).max(0.0))
            }
            (Kind::NuSvc, _) => unreachable!("has a margin of its own"),
        }
    }

    /// The smallest loss over all biases: at a kink, or for the square by a search of the interval.
    fn best_loss(&self, scores: &[f64]) -> f64 {
        let kinks: Vec<f64> = (0..scores.len())
            .flat_map(|i| match self.settings.kind {
                Kind::Svr => {
                    let residual = self.targets[i] - scores[i];
                    [residual - self.settings.epsilon, residual + self.settings.epsilon]
                }
                Kind::OneClass => [-scores[i]; 2],
                _ => [self.targets[i] - scores[i]; 2],
            })
            .collect();
        // All kinks of small data, a sample of many; the search below is for all.
        let step = (kinks.len() / 4000).max(1);
        let at_kinks =
            kinks.iter().step_by(step).map(|b| self.loss(scores, *b)).fold(f64::INFINITY, f64::min);
        let (mut low, mut high) = kinks.iter().fold((f64::MAX, f64::MIN), |(l, h), b| (l.min(*b), h.max(*b)));
        for _ in 0..200 {
            let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            if self.loss(scores, a) < self.loss(scores, b) { high = b } else { low = a }
        }
        at_kinks.min(self.loss(scores, 0.5 * (low + high)))
    }

    /// The optimum by Clarabel, through the dual.
    pub(crate) fn optimum(&self) -> f64 {
        let (n, columns) = (self.kept.len(), self.data.rows.columns());
        let (y, kind, loss, nu) = (&self.targets, self.settings.kind, self.settings.loss, self.settings.nu);
        let mut m = kit::Dense::zeros(columns, n);
        for (c, &i) in self.kept.iter().enumerate() {
            self.data.plain[i].iter().for_each(|(k, value)| m.row_mut(*k as usize)[c] = *value);
        }
        let linear = matches!(kind, Kind::Svc | Kind::Svr);
        let c = y.iter().map(|y| if linear { -y } else { 0.0 }).collect();
        let mut smooth = kit::Smooth::Factor { m, c };
        let squared = kind == Kind::Svc && loss == Loss::SquaredHinge;
        if squared {
            let weights = self.caps.iter().map(|cap| 0.25 / cap).collect();
            smooth = kit::Smooth::Sum(vec![smooth, kit::Smooth::Distance { target: vec![0.0; n], weights }]);
        }
        let ends = |sign: f64| {
            let end = move |(y, cap): (&f64, &f64)| match kind {
                Kind::Svr => sign * cap,
                Kind::OneClass => {
                    if sign > 0.0 {
                        *cap
                    } else {
                        0.0
                    }
                }
                _ if *y != sign => 0.0,
                _ if squared => sign * f64::INFINITY,
                _ => sign * cap,
            };
            y.iter().zip(&self.caps).map(end).collect::<Vec<_>>()
        };
        let (lower, upper) = (ends(-1.0), ends(1.0));
        let separable = match kind {
            Kind::Svr => kit::Separable::L1Box { weights: vec![self.settings.epsilon; n], lower, upper },
            _ => kit::Separable::Box { lower, upper },
        };
        let coupling = match kind {
            Kind::Svc | Kind::Svr => kit::Coupling::Sum(0.0),
            Kind::OneClass => kit::Coupling::Sum(nu * self.total()),
            Kind::NuSvc => {
                let of = |sign: f64| y.iter().map(|y| f64::from(i8::from(*y == sign))).collect::<Vec<_>>();
                let half = 0.5 * nu * self.total();
                kit::Coupling::Rows {
                    matrix: kit::Dense::from_rows(&[of(1.0), of(-1.0)]),
                    rhs: vec![half, -half],
                }
            }
        };
        let (name, blocks) = (format!("{kind:?}"), kit::Blocks::Auto);
        let instance = kit::Instance { name, smooth, separable, coupling, blocks, dimension: n };
        -kit::solve(&instance).expect("an optimum by the oracle").objective
    }

    /// The primal of a model of nu-svc, undivided, at its best margin; and the same at the best bias for each class.
    fn of_divided(&self, w: &[f64], bias: f64) -> (f64, f64) {
        let (scores, y) = (self.scores(w), &self.targets);
        let share = self.settings.nu * self.total();
        // 1/2 rho^2 w'w - rho gain, smallest at rho = gain / w'w.
        let gain = share - self.charged(|i| (1.0 - y[i] * (scores[i] + bias)).max(0.0));
        let square: f64 = w.iter().map(|w| w * w).sum();
        if square == 0.0 {
            return (0.0, 0.0);
        }
        let rho = (gain / square).max(0.0);
        let side = |sign: f64| {
            let edge_loss = |edge: f64| {
                let short =
                    |i: usize| if y[i] == sign { (edge - sign * rho * scores[i]).max(0.0) } else { 0.0 };
                self.charged(short) - 0.5 * share * edge
            };
            let edges = (0..y.len()).filter(|&i| y[i] == sign).map(|i| sign * rho * scores[i]);
            edges.map(edge_loss).fold(f64::INFINITY, f64::min)
        };
        let half_square = 0.5 * rho * rho * square;
        (half_square - rho * gain, half_square + side(1.0) + side(-1.0))
    }
}

/// Fails where a report is not what its model is: the primal, the gap, the bias. The status is not looked at.
#[track_caller]
pub(crate) fn check_report(data: &Data, settings: &TrainSettings, trained: &Trained) {
    let (model, report) = (&trained.model, &trained.report);
    assert_eq!(model.weights.len(), report.classes.len());
    for (k, class) in report.classes.iter().enumerate() {
        let task = Task::new(data, settings, class.label);
        let (w, bias) = (&model.weights[k], model.bias[k]);
        assert_eq!(w.len(), data.rows.columns());
        assert_eq!(bias, class.bias);
        let scale = class.primal.abs().max(1e-12);
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * scale;
        if settings.kind == Kind::NuSvc {
            let (primal, best) = task.of_divided(w, bias);
            let gap = class.primal - class.dual;
            assert!(class.primal >= primal - 1e-9 * scale, "{class:?}: {primal}");
            assert!(class.primal <= primal + gap + 1e-9 * scale, "{class:?}: {primal}");
            assert!(best >= class.dual - 1e-9 * scale, "{class:?}: {best} is below the dual");
            assert!(class.primal <= best + gap + 1e-9 * scale, "{class:?}: another bias gives {best}");
        } else {
            let scores = task.scores(w);
            let half_square = 0.5 * w.iter().map(|w| w * w).sum::<f64>();
            let primal = half_square + task.loss(&scores, bias);
            let best = half_square + task.best_loss(&scores);
            // Rounding of the parts, which may cancel.
            let parts = 1e-12 * (half_square + task.total() * (1.0 + bias.abs()));
            assert!(
                close(primal, class.primal) || (primal - class.primal).abs() <= parts,
                "{class:?}: {primal}"
            );
            assert!(primal <= best + 1e-9 * scale + parts, "{class:?}: another bias gives {best}");
        }
        let gap = class.primal - class.dual;
        assert!(gap >= -1e-12 * scale, "{class:?}: the dual is above the primal");
        let relative = gap.max(0.0) / class.dual.abs().max(task.least());
        // Sums of squares differ in their order.
        let rounding = if settings.kind == Kind::NuSvc { 1e-9 } else { 1e-12 };
        assert!(
            (relative - class.relative_gap).abs() <= rounding * (1.0 + relative),
            "{class:?}: {relative}"
        );
        let allowed = 1e-9 * (1.0 + task.total());
        assert!(class.infeasibility <= allowed, "{class:?}: more than {allowed}");
        assert!(class.bounded_support <= class.support && class.support <= data.labels.len());
    }
}

/// A model of these settings that is converged and what its report says.
#[track_caller]
pub(crate) fn certified(data: &Data, settings: &TrainSettings) -> Trained {
    let trained = data.train(settings).expect("valid data");
    check_report(data, settings, &trained);
    let worst = trained.report.classes.iter().max_by(|a, b| a.relative_gap.total_cmp(&b.relative_gap));
    assert_eq!(trained.report.status(), Status::Converged, "{settings:?}: {worst:?}");
    for class in &trained.report.classes {
        assert!(is_met(data, settings, class), "{class:?}");
    }
    trained
}

/// Whether the gap is the one asked for; with nu, where the optimum may be 0, one that is rounding suffices.
pub(crate) fn is_met(data: &Data, settings: &TrainSettings, class: &ClassReport) -> bool {
    let rounding = match settings.kind {
        Kind::Svc | Kind::Svr => 0.0,
        Kind::NuSvc | Kind::OneClass => {
            let square = |row: &Vec<(u32, f64)>| row.iter().map(|(_, v)| v * v).sum::<f64>();
            let largest = data.plain.iter().map(square).fold(0.0, f64::max);
            1e-13 * (settings.nu * Task::new(data, settings, class.label).total()).powi(2) * largest
        }
    };
    class.relative_gap <= settings.gap || class.primal - class.dual <= rounding
}

/// Fails where the oracle's optimum is not between dual and primal.
#[track_caller]
pub(crate) fn check_optimum(data: &Data, settings: &TrainSettings, trained: &Trained) {
    for class in &trained.report.classes {
        let optimum = Task::new(data, settings, class.label).optimum();
        let slack = 2e-7 * (1.0 + optimum.abs());
        assert!(class.dual <= optimum + slack, "{settings:?}: {class:?}, optimum {optimum}");
        assert!(class.primal >= optimum - slack, "{settings:?}: {class:?}, optimum {optimum}");
    }
}
