//! The words of model files: formats, and how many labels a kind has.

use equipoise_models::svm::Kind;

/// How a model is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Format {
    /// JSON.
    #[default]
    Equipoise,
    /// The text of LIBLINEAR.
    Liblinear,
}

equipoise::named!(Format, "format": "equipoise" => Self::Equipoise, "liblinear" => Self::Liblinear);

/// The least and the most labels of a kind.
pub(super) fn labels(kind: Kind) -> (usize, usize) {
    match kind {
        Kind::Svc => (2, usize::MAX),
        Kind::NuSvc => (2, 2),
        Kind::Svr | Kind::OneClass => (0, 0),
    }
}
