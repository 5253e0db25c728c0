"""scikit-learn's callbacks: a fit is a task, and every checkpoint of the library a task within it.

Given a class whose `fit` ends in the extension; from scikit-learn 1.9 on ``set_callbacks`` is theirs, before it there is nothing to support. A hook
gets the checkpoint (objective, bound, gap, seconds, ...) as ``metadata``; one that answers True ends the fit. Must not know: models.
"""

from __future__ import annotations

import functools
from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(method: Any) -> Any:
        return method


__all__ = ["CallbackSupportMixin", "announced", "tell"]


def announced(fit: Any) -> Any:
    """A `fit` that is a task of the callbacks of its estimator; without any, the one given."""

    @with_callbacks
    def as_task(self: Any, *args: Any, **kwargs: Any) -> Any:
        samples = args[0] if args else kwargs.get("X")
        task = self._init_callback_context(max_subtasks=None)
        task.call_on_fit_task_begin(estimator=self, X=samples)
        fitted = fit(self, *args, **kwargs)
        task.call_on_fit_task_end(estimator=self, X=samples)
        return fitted

    @functools.wraps(fit)
    def fit_or_task(self: Any, *args: Any, **kwargs: Any) -> Any:
        return (as_task if getattr(self, "_skl_callbacks", None) else fit)(self, *args, **kwargs)

    return fit_or_task


def tell(estimator: Any, then: Any) -> Any:
    """The function to call at checkpoints: the callbacks of the estimator, then another function; None where nobody listens."""
    task = getattr(estimator, "_callback_fit_ctx", None)
    if task is None:
        return then

    def hear(checkpoint: dict[str, Any]) -> bool | None:
        part = task.subcontext(task_name="checkpoint")
        part.call_on_fit_task_begin(estimator=estimator, metadata=checkpoint)
        is_over = part.call_on_fit_task_end(estimator=estimator, metadata=checkpoint)
        goes_on = None if then is None else then(checkpoint)
        return False if is_over else goes_on

    return hear
