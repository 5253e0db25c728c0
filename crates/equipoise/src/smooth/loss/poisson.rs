//! `phi(z, y) = E(z) - y z`, counts y >= 0: Poisson regression with the log link.
//!
//! ```text
//! E(z) = exp(z)                                  up to the limit c
//! E(z) = exp(c) (1 + (z - c) + (z - c)^2 / 2)    beyond it
//! ```
//!
//! No step size suits `exp`, whose curvature has no bound; so beyond c it goes on as its second-order expansion. E is
//! convex, has two continuous derivatives and is nowhere above `exp`: a lower bound of the optimum is one for `exp`, too, and
//! where no fitted z is beyond c both problems have the same optimum. The smaller c, the longer the steps: 3 above the
//! logarithm of the largest count is plenty. Reference: Nelder and Wedderburn 1972.

use super::ScalarLoss;
use crate::enclosure::Enclosure;
use crate::error::{Error, Result};

/// The largest limit: beyond, `exp` of it times a few counts is no number.
const MOST: f64 = 600.0;

/// The Poisson loss, exact up to a limit on z.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoissonLoss {
    limit: f64,
    /// `exp(limit)`.
    most: f64,
}

impl PoissonLoss {
    /// With z exact up to `limit`, a number of at most 600.
    pub fn new(limit: f64) -> Result<Self> {
        if limit.is_finite() && limit <= MOST {
            Ok(Self { limit, most: limit.exp() })
        } else {
            let allowed = "a finite number of at most 600";
            Err(Error::OutOfRange { input: "poisson limit".into(), index: 0, found: limit, allowed })
        }
    }

    /// Up to where z is exact.
    pub fn limit(&self) -> f64 {
        self.limit
    }
}

impl ScalarLoss for PoissonLoss {
    #[inline]
    fn value(&self, z: f64, y: f64) -> f64 {
        let beyond = z - self.limit;
        if beyond <= 0.0 {
            z.exp() - y * z
        } else {
            self.most * (1.0 + beyond + 0.5 * beyond * beyond) - y * z
        }
    }
    #[inline]
    fn derivative(&self, z: f64, y: f64) -> f64 {
        let beyond = z - self.limit;
        if beyond <= 0.0 { z.exp() - y } else { self.most * (1.0 + beyond) - y }
    }
    #[inline]
    fn second_derivative(&self, z: f64, _y: f64) -> f64 {
        z.min(self.limit).exp()
    }
    #[inline]
    fn largest_curvature(&self) -> f64 {
        self.most
    }
    fn conjugate(&self, u: f64, y: f64) -> f64 {
        let s = u + y;
        if s < 0.0 || s.is_nan() {
            f64::INFINITY
        } else if s == 0.0 {
            0.0
        } else if s <= self.most {
            s * s.ln() - s
        } else {
            let beyond = s / self.most - 1.0;
            s * (self.limit + beyond) - self.most * (1.0 + beyond + 0.5 * beyond * beyond)
        }
    }
    fn dual_domain(&self, y: f64) -> (f64, f64) {
        (-y, f64::INFINITY)
    }
    fn is_enclosed(&self) -> bool {
        true
    }
    fn enclose_value(&self, z: Enclosure, y: f64) -> Enclosure {
        // Up to the limit c it is exp; both agree at c, so that a z which may lie on either side is taken at its worst.
        let beyond = (z - self.limit.into()).positive_part();
        let below = z - beyond;
        let most = Enclosure::from(self.limit).exp();
        let one = Enclosure::from(1.0);
        if beyond.upper() <= 0.0 {
            z.exp() - z * y.into()
        } else if (z - self.limit.into()).lower() >= 0.0 {
            most * (one + beyond + beyond.square().half()) - z * y.into()
        } else {
            below.exp() + most * (beyond + beyond.square().half()) - z * y.into()
        }
    }
    fn enclose_conjugate(&self, u: Enclosure, y: f64) -> Enclosure {
        let s = u + y.into();
        let most = Enclosure::from(self.limit).exp();
        let beyond = (s - most).positive_part().over(most);
        if beyond.upper() <= 0.0 {
            return s.entropy() - s;
        }
        let continued =
            s * (beyond + self.limit.into()) - most * (beyond + beyond.square().half() + 1.0.into());
        if (s - most).lower() >= 0.0 { continued } else { continued.hull(s.entropy() - s) }
    }
    fn check_targets(&self, targets: &[f64]) -> Result<()> {
        match targets.iter().position(|y| *y < 0.0) {
            None => Ok(()),
            Some(index) => Err(Error::OutOfRange {
                input: "target".into(),
                index,
                found: targets[index],
                allowed: "a count of at least 0",
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_exact_up_to_the_limit_and_never_above_it() {
        let loss = PoissonLoss::new(1.0).expect("finite");
        for k in -40..=40 {
            let z = f64::from(k) * 0.1;
            let truth = z.exp() - 2.0 * z;
            let found = loss.value(z, 2.0);
            assert!(if z <= 1.0 { found == truth } else { found < truth }, "at {z}");
        }
        assert_eq!(loss.limit(), 1.0);
        assert!(PoissonLoss::new(f64::NAN).is_err() && PoissonLoss::new(601.0).is_err());
        assert!(loss.check_targets(&[0.0, -1.0]).is_err());
    }
}
