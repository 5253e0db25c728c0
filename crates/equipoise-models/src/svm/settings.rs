//! What a caller may choose about training.

use equipoise::{Error, Locking, Method, Settings};

use super::error::Result;

/// What is learnt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// Two classes, or several one against the rest; the cost C weighs errors.
    #[default]
    Svc,
    /// Two classes; nu bounds the share of margin errors.
    NuSvc,
    /// Regression with a tube of half-width epsilon.
    Svr,
    /// The support of a distribution; nu bounds the share left outside.
    OneClass,
}

equipoise::named!(Kind, "kind":
    "svc" => Self::Svc,
    "nu-svc" => Self::NuSvc,
    "svr" => Self::Svr,
    "one-class" => Self::OneClass,
);

/// How a margin error m > 0 is charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Loss {
    /// `C m`.
    #[default]
    Hinge,
    /// `C m^2`.
    SquaredHinge,
}

equipoise::named!(Loss, "loss": "hinge" => Self::Hinge, "squared-hinge" => Self::SquaredHinge);

/// The choices of a training run; [`Default`] is a classifier with C = 1 to a relative gap of 1e-4.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainSettings {
    /// What is learnt.
    pub kind: Kind,
    /// The loss, for [`Kind::Svc`].
    pub loss: Loss,
    /// C, for [`Kind::Svc`] and [`Kind::Svr`].
    pub cost: f64,
    /// nu, for [`Kind::NuSvc`] and [`Kind::OneClass`].
    pub nu: f64,
    /// The half-width of the tube, for [`Kind::Svr`].
    pub epsilon: f64,
    /// The relative duality gap `(primal - dual) / max(|dual|, 1e-12)` to reach.
    pub gap: f64,
    /// Whether there is a bias, for [`Kind::Svc`] and [`Kind::Svr`]; without one it is 0. The nu kinds have one always.
    pub bias: bool,
    /// Labels and the factors by which they multiply C, for [`Kind::Svc`]; labels not named have 1.
    pub class_weights: Vec<(f64, f64)>,
    /// How the optimum is sought.
    pub method: Method,
    /// How many threads may work: on classes or folds side by side, and within one fit.
    pub threads: usize,
    /// With several threads and [`Method::Pairs`]: what a pair update locks.
    pub locking: Locking,
    /// With several threads: whether one seed and thread count give one result.
    pub deterministic: bool,
    /// Seed of the random draws.
    pub seed: u64,
    /// Most seconds, over all classes.
    pub time_limit: Option<f64>,
    /// Most epochs of one fit.
    pub max_epochs: Option<f64>,
}

impl Default for TrainSettings {
    fn default() -> Self {
        Self {
            kind: Kind::Svc,
            loss: Loss::Hinge,
            cost: 1.0,
            nu: 0.5,
            epsilon: 0.1,
            gap: 1e-4,
            bias: true,
            class_weights: Vec::new(),
            method: Method::Auto,
            threads: 1,
            locking: Locking::None,
            deterministic: false,
            seed: 0,
            time_limit: None,
            max_epochs: None,
        }
    }
}

impl TrainSettings {
    /// Refuses a setting outside its range.
    pub fn validate(&self) -> Result<()> {
        let refuse = |name, found, allowed| Err(Error::InvalidSetting { name, found, allowed }.into());
        let positive = |name, found: f64| {
            if found > 0.0 && found.is_finite() {
                Ok(())
            } else {
                refuse(name, found, "a finite number above 0")
            }
        };
        positive("cost", self.cost)?;
        positive("gap", self.gap)?;
        self.time_limit.map_or(Ok(()), |most| positive("time-limit", most))?;
        self.max_epochs.map_or(Ok(()), |most| positive("max-epochs", most))?;
        if !(self.nu > 0.0 && self.nu <= 1.0) {
            return refuse("nu", self.nu, "a number above 0 and at most 1");
        }
        if !(self.epsilon >= 0.0 && self.epsilon.is_finite()) {
            return refuse("epsilon", self.epsilon, "a finite number, at least 0");
        }
        if !self.bias && matches!(self.kind, Kind::NuSvc | Kind::OneClass) {
            return refuse("bias", 0.0, "1: a model of kind nu-svc or one-class has a bias");
        }
        Settings { threads: self.threads, ..Settings::default() }.validate()?;
        for (k, (label, _)) in self.class_weights.iter().enumerate() {
            if self.class_weights[..k].iter().any(|(earlier, _)| earlier == label) {
                return refuse("class-weight", *label, "every label once");
            }
        }
        self.class_weights.iter().try_for_each(|(_, weight)| positive("class-weight", *weight))
    }
}
