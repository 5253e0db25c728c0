//! Single pair updates under the caller's control: for experiments with selection rules, and for benchmarks.

use crate::control::Control;
use crate::error::Result;
use crate::problem::Problem;
use crate::separable::SeparableTerm;
use crate::smooth::SmoothTerm;
use crate::solve::Settings;
use crate::solve::pairs::PairUpdater;
use crate::solve::steps::repair;
use crate::state::State;

/// The iterate and the means to move one pair of it.
///
/// ```
/// use equipoise::{Coupling, PairStepper, Problem, Settings, smooth::Distance};
/// let problem = Problem::builder(Distance::new(vec![0.0, 2.0], 0.5)?).coupling(Coupling::sum(1.0)?).build()?;
/// let mut stepper = PairStepper::new(&problem, &Settings::default())?;
/// stepper.update(0, 1)?;
/// assert_eq!(stepper.x(), [-0.5, 1.5]); // two scalars: one exact step is enough
/// # Ok::<(), equipoise::Error>(())
/// ```
#[derive(Debug)]
pub struct PairStepper<'a, F, H> {
    problem: &'a Problem<F, H>,
    pairs: PairUpdater<'a, H>,
    state: State,
}

impl<'a, F: SmoothTerm, H: SeparableTerm> PairStepper<'a, F, H> {
    /// At the start of the problem.
    pub fn new(problem: &'a Problem<F, H>, settings: &Settings) -> Result<Self> {
        settings.validate()?;
        let state = State::new(problem.smooth(), problem.start().to_vec(), &Control::unlimited())?;
        Ok(Self { problem, pairs: PairUpdater::new(problem, settings), state })
    }

    /// Makes what is kept for the edges (factors, where h = 0 and there are several rows) before the first update.
    pub fn prepare(&mut self, threads: usize) {
        let (f, threads) = (self.problem.smooth(), threads.max(1));
        let mut makers: Vec<_> = (0..threads).map(|_| self.pairs.fork()).collect();
        std::thread::scope(|scope| {
            for (k, maker) in makers.iter_mut().enumerate() {
                scope.spawn(move || maker.prepare(f, k, threads, &|| false));
            }
        });
    }

    /// Moves blocks i and j to the minimiser of their model (one block alone when i = j).
    #[inline]
    pub fn update(&mut self, i: usize, j: usize) -> Result<()> {
        self.pairs.update(self.problem.smooth(), &mut self.state, i, j)
    }

    /// The iterate.
    pub fn x(&self) -> &[f64] {
        &self.state.x
    }

    /// f(x) + h(x) with the maintained product.
    pub fn objective(&self) -> f64 {
        self.problem.view().value(&self.state.x, &self.state.product)
    }

    /// Takes rounding drift out of A x = b and of the maintained product.
    pub fn refresh(&mut self) -> Result<()> {
        let unlimited = Control::unlimited();
        repair::repair(self.problem.view(), &mut self.state.x, &unlimited)?;
        Ok(self.state.refresh(self.problem.smooth(), &unlimited)?)
    }
}
