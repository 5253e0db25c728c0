//! The integration tests of the library, one binary.
//!
//! * `adaptor`: hands the testkit's plain instances to the solver, and puts every solution through the certificate.
//! * `agreement`: random problems against the independent oracle.
//! * `known`: problems with known optima.

mod adaptor;
mod agreement;
mod known;
