"""Progress of a run as bars, lines, or calls of the user's own.

Given ``verbose`` and a callback; returns the function that the extension calls at checkpoints. Must not know: models.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["watched"]

Checkpoint = dict[str, Any]
Callback = Callable[[Checkpoint], bool | None]


def line_of(checkpoint: Checkpoint) -> str:
    """A checkpoint in a line.

    >>> line_of({"seconds": 0.25, "objective": 2.0, "bound": 1.0, "gap": 0.5})
    '0.25 s  objective 2  bound 1  gap 5.0e-01'
    """
    parts = []
    if (seconds := checkpoint.get("seconds")) is not None:
        parts.append(f"{seconds:.2f} s")
    for key in ("label", "epoch", "updates", "objective", "bound"):
        if (value := checkpoint.get(key)) is not None:
            parts.append(f"{key} {value:.10g}" if isinstance(value, (int, float)) else f"{key} {value}")
    if (gap := checkpoint.get("gap")) is not None:
        parts.append(f"gap {gap:.1e}")
    return "  ".join(parts)


@contextmanager
def watched(name: str, verbose: int, callback: Callback | None) -> Iterator[Callback | None]:
    """The function to call at checkpoints: a bar of tqdm where it is installed, else lines on stderr, then the user's callback."""
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable or None, got {type(callback).__name__}")
    if not verbose:
        yield callback
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        bar = None
    else:
        bar = tqdm(desc=name, unit=" checkpoints", file=sys.stderr)

    def show(checkpoint: Checkpoint) -> bool | None:
        if bar is None:
            print(f"{name}: {line_of(checkpoint)}", file=sys.stderr)
        else:
            bar.set_postfix_str(line_of(checkpoint), refresh=False)
            bar.update()
        return None if callback is None else callback(checkpoint)

    try:
        yield show
    finally:
        if bar is not None:
            bar.close()
