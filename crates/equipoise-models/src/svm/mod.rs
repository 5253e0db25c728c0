//! Linear support vector machines with a true, unpenalised bias.
//!
//! | kind | primal |
//! |---|---|
//! | `svc` | `1/2 w'w + sum_i C_i xi(1 - y_i (w'x_i + b))`, xi the hinge `(m)_+` or its square |
//! | `nu-svc` | `1/2 w'w - nu n rho + sum_i (rho - y_i (w'x_i + b))_+`; the model is divided by rho |
//! | `svr` | `1/2 w'w + C sum_i (|y_i - w'x_i - b| - epsilon)_+` |
//! | `one-class` | `1/2 w'w - nu n rho + sum_i (rho - w'x_i)_+`; the bias is -rho |
//!
//! Each is solved through its dual, a quadratic under bounds and one or two sums, by [`mod@equipoise::solve`]; the
//! gap between primal and dual is proven from raw data, for the numbers of the model as they are, and names its accuracy. The model knows nothing of
//! files or of threads other than how many it may start.

mod attempt;
mod begin;
mod calibration;
mod cancel;
mod charge;
mod cv;
mod dual;
mod ended;
mod error;
mod evaluate;
mod folds;
mod isotonic;
mod judge;
mod labels;
mod model;
mod passes;
mod path;
mod proof;
mod quantile;
mod radix;
mod ranks;
mod report;
mod scaling;
mod scores;
mod settings;
mod snapshot;
mod spread;
mod steep;
mod swift;
mod train;
mod verify;
mod warm;
mod watch;

pub use calibration::{Calibration, CalibrationKind, Curves, Sigmoid, calibrate};
pub use cv::{CostScores, CrossValidation, cross_validate, cross_validate_across};
pub use error::{Error, Result};
pub use isotonic::Isotonic;
pub use model::LinearModel;
pub use path::path;
pub use ranks::train_across;
pub use report::{ClassReport, Doubt, Report, Trained};
pub use scaling::{ScaleKind, Scaling};
pub use scores::{ClassScores, RegressionScores, auc, log_loss};
pub use settings::{Kind, Loss, TrainSettings};
pub use snapshot::{TrainKeeper, TrainSnapshot};
pub use train::{Samples, train};
pub use verify::{Check, ClassCheck, verify};
pub use watch::Watch;
