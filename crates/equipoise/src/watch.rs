//! Who is told how long work goes, and who may end it: what functions of models take along.
//!
//! - Given: a function that hears of each round, where there is one; a [`Control`].
//! - Must not know: what a round is. A model says so, once: `type Watch<'a> = equipoise::Watch<'a, dyn FnMut(&Round) + 'a>`.

use std::fmt;

use crate::control::Control;

/// An observer of the type `O`, usually `dyn FnMut(&Round)`, and a control. By default nobody is told and nothing ends the work.
///
/// ```
/// use equipoise::{Control, Watch};
/// type Counted<'a> = Watch<'a, dyn FnMut(&usize) + 'a>;
///
/// fn count(to: usize, watch: Counted<'_>) -> usize {
///     let Watch { mut observer, control } = watch;
///     for round in 0..to {
///         if control.halted().is_some() {
///             return round;
///         }
///         if let Some(observer) = &mut observer {
///             observer(&round);
///         }
///     }
///     to
/// }
///
/// let mut heard = Vec::new();
/// let mut hear = |round: &usize| heard.push(*round);
/// assert_eq!(count(2, Watch { observer: Some(&mut hear), control: Control::unlimited() }), 2);
/// assert_eq!(heard, [0, 1]);
/// assert_eq!(count(3, Counted::default()), 3);
/// assert_eq!(count(3, Watch { observer: None, control: Control::unlimited().within(0.0) }), 0);
/// ```
pub struct Watch<'a, O: ?Sized> {
    /// Is told.
    pub observer: Option<&'a mut O>,
    /// May end the work: its answer is then the best so far.
    pub control: Control,
}

impl<O: ?Sized> Default for Watch<'_, O> {
    fn default() -> Self {
        Self { observer: None, control: Control::default() }
    }
}

impl<O: ?Sized> fmt::Debug for Watch<'_, O> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (observer, control) = (self.observer.is_some(), &self.control);
        out.debug_struct("Watch").field("observer", &observer).field("control", control).finish()
    }
}
