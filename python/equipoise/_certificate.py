"""What is known of a result, as a value that shows itself.

Given the dictionary that the extension answers with; returns a small mapping with a table for notebooks. Must not know which
model was fitted.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

__all__ = ["Certificate", "shown_as"]

# The claims that a table shows, in this order, with the words for them.
_WORDS = {
    "status": "status",
    "objective": "objective, from above",
    "bound": "least objective, from below",
    "relative_gap": "relative gap",
    "infeasibility": "infeasibility",
    "relative_infeasibility": "relative infeasibility",
    "kkt_residual": "KKT residual",
    "holds_within": "holds within",
    "is_proven": "proven",
    "doubt": "doubt",
    "method": "method",
    "updates": "updates",
    "epochs": "epochs",
    "rounds": "rounds",
    "seconds": "seconds",
}


class Certificate(Mapping):
    """What is proven of a result: a mapping from claims to values, with attributes of the same names.

    ``objective`` is never below the objective of the numbers returned, no feasible point has an objective below ``bound``, and
    ``relative_gap`` is the distance of the two as the model measures it. What is not known is ``None``.

    Parameters
    ----------
    claims : mapping
        Claims and their values.

    Examples
    --------
    >>> from equipoise import Certificate
    >>> certificate = Certificate({"status": "converged", "objective": 2.0, "bound": 1.5, "relative_gap": 0.25})
    >>> certificate.converged, certificate["bound"], certificate.gap
    (True, 1.5, 0.25)
    >>> print(certificate)
    status                       converged
    objective, from above        2
    least objective, from below  1.5
    relative gap                 0.25
    """

    def __init__(self, claims: Mapping[str, Any]):
        self._claims = dict(claims)

    @classmethod
    def of(cls, result: Mapping[str, Any], **more: Any) -> Certificate:
        """The claims of an answer of the extension: everything that has words here.

        Parameters
        ----------
        result : mapping
            The answer.
        **more
            Claims that win over those of the answer.

        Returns
        -------
        certificate : Certificate
            The claims.
        """
        found = {**result, **more}
        if found.get("bound") is None and "lower_bound" in found:
            found["bound"] = found["lower_bound"]
        if "duality_gap" in found and "relative_gap" not in found:
            found["relative_gap"] = _relative(found["duality_gap"], found.get("objective"))
        return cls({key: found[key] for key in _WORDS if key in found})

    @property
    def converged(self) -> bool:
        """Whether what was asked for has been proven."""
        return self._claims.get("status") == "converged"

    @property
    def gap(self) -> float | None:
        """The relative gap; ``None`` where there is none."""
        return self._claims.get("relative_gap")

    def __getattr__(self, name: str) -> Any:
        # Copies and pickles ask before there is anything to ask.
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._claims[name]
        except KeyError:
            raise AttributeError(f"this certificate says nothing of {name!r}; it has {', '.join(self._claims)}") from None

    def __getitem__(self, key: str) -> Any:
        return self._claims[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._claims)

    def __len__(self) -> int:
        return len(self._claims)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Certificate) and _same(self._claims, other._claims)

    __hash__ = None  # type: ignore[assignment]

    def _rows(self) -> list[tuple[str, str]]:
        return [(_WORDS.get(key, key), shown_as(value)) for key, value in self._claims.items() if value is not None]

    def __str__(self) -> str:
        rows = self._rows()
        width = max((len(words) for words, _ in rows), default=0)
        return "\n".join(f"{words:<{width}}  {value}" for words, value in rows)

    def __repr__(self) -> str:
        return f"Certificate({self._claims!r})"

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><th style='text-align:left'>{html.escape(words)}</th><td style='text-align:left'>{html.escape(value)}</td></tr>"
            for words, value in self._rows()
        )
        return f"<table><caption>certificate</caption><tbody>{cells}</tbody></table>"


def _relative(gap: float | None, objective: float | None) -> float | None:
    """The duality gap over ``1 + |objective|``, as tolerances of the solver are."""
    if gap is None or objective is None:
        return None
    return gap / (1.0 + abs(objective))


def shown_as(value: Any) -> str:
    """A claim as text: numbers to ten digits, long lists by their size.

    >>> shown_as(1 / 3), shown_as(None)
    ('0.3333333333', 'None')
    """
    if isinstance(value, (bool, str)):
        return str(value)
    if isinstance(value, (float, np.floating)):
        return f"{float(value):.10g}" if math.isfinite(value) else str(float(value))
    if isinstance(value, np.ndarray) and value.size > 6:
        return f"{value.size} numbers, at most {np.max(value):.6g}"
    return str(value)


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[key], other[key]) for key in one)
