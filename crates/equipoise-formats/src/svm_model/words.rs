//! The words of model files: kinds, losses, formats.

/// What was learnt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A classifier.
    Svc,
    /// A classifier of two labels with nu.
    NuSvc,
    /// A regression.
    Svr,
    /// The support of a distribution.
    OneClass,
}

impl Kind {
    /// Every kind with its name.
    pub const ALL: [(&'static str, Self); 4] =
        [("svc", Self::Svc), ("nu-svc", Self::NuSvc), ("svr", Self::Svr), ("one-class", Self::OneClass)];

    /// Its name.
    pub fn name(self) -> &'static str {
        name(&Self::ALL, self)
    }

    /// The least and the most labels it has.
    pub(super) fn labels(self) -> (usize, usize) {
        match self {
            Self::Svc => (2, usize::MAX),
            Self::NuSvc => (2, 2),
            Self::Svr | Self::OneClass => (0, 0),
        }
    }
}

/// How a margin error is charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// In proportion.
    Hinge,
    /// By its square.
    SquaredHinge,
}

impl Loss {
    /// Every loss with its name.
    pub const ALL: [(&'static str, Self); 2] =
        [("hinge", Self::Hinge), ("squared-hinge", Self::SquaredHinge)];

    /// Its name.
    pub fn name(self) -> &'static str {
        name(&Self::ALL, self)
    }
}

/// How a model is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// JSON.
    #[default]
    Equipoise,
    /// The text of LIBLINEAR.
    Liblinear,
}

impl Format {
    /// Every format with its name on the command line.
    pub const ALL: [(&'static str, Self); 2] =
        [("equipoise", Self::Equipoise), ("liblinear", Self::Liblinear)];
}

fn name<T: Copy + PartialEq>(all: &[(&'static str, T)], wanted: T) -> &'static str {
    all.iter().find(|(_, listed)| *listed == wanted).map_or("unnamed", |(name, _)| name)
}

/// The value of a name.
pub(super) fn named<T: Copy>(all: &[(&'static str, T)], name: &str) -> Option<T> {
    all.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

/// All names, for messages.
pub(super) fn names<T>(all: &[(&'static str, T)]) -> String {
    let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    names.join(", ")
}
