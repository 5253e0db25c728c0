//! The integration tests of the library, one binary.
//!
//! * `adaptor`: hands the testkit's plain instances to the solver, and puts every solution through the certificate.
//! * `agreement`: random problems against the independent oracle.
//! * `bad_input`: one broken thing a test, the error and its evidence.
//! * `behaviour`: what is repeatable, what binds, what is reported.
//! * `conformance`: what every term must satisfy; a new term is one line in a list.
//! * `exact`: exact arithmetic judges every certificate.
//! * `exact_inside`: the same for steps from the interior.
//! * `drift`: ten million pair moves leave A x = b intact.
//! * `known`: problems with known optima.
//! * `methods`: every method, held to the same promises.
//! * `multicore`: several threads on one run: the same optimum, however they lock.
//! * `numbers`, `samples`: the data of these tests.
//! * `oracle`: the oracle itself, on the random suite.
//! * `properties`: properties of the optimum on random problems.
//! * `public_data`: certified optima of public data sets; ignored unless they are at hand.
//! * `regressions`: what once went wrong.
//! * `resume`: a run that is put aside and goes on later has the bits of one that was not.
//! * `sampled`: a few samples at a time: the same optimum, at the rates that are known.
//! * `shape_sets`: whole sets of such shapes, counted; those that take minutes are ignored unless asked for.
//! * `shapes`: bad units, many rows, degenerate vertices, rows that are nearly parallel.
//! * `sharded`: rows of a loss on ranks: the certified optimum of one process, the same bits on every rank.
//! * `soak`: the promises under random seeds, for as long as there is time; ignored unless asked for.
//! * `trust`: findings of hostile users: false claims, refusals, iterates that got worse.
//! * `unbounded`: objectives that fall for ever, recognised.
//! * `violating`: violating pairs against random pairs and the oracle.

mod across;
mod adaptor;
mod agreement;
mod bad_input;
mod behaviour;
mod conformance;
mod drift;
mod exact;
mod exact_inside;
mod known;
mod methods;
mod multicore;
mod numbers;
mod oracle;
mod properties;
mod public_data;
mod regressions;
mod resume;
mod sampled;
mod samples;
mod shape_sets;
mod shapes;
mod sharded;
mod soak;
mod trust;
mod unbounded;
mod units;
mod violating;
