"""What is measured: sets, costs, accuracies, limits and each peer's ladder of settings.

Sets, seeds, costs, accuracies and limits were fixed before the first timing; the ladders after trial runs of the peers
alone, to give each its best settings. A change makes earlier records incomparable, so it belongs in a commit of its
own that says so.
"""

from dataclasses import dataclass

COSTS = (0.1, 1.0, 10.0)
ACCURACIES = (1e-2, 1e-3, 1e-4, 1e-6)
# Ours alone, for the ratio of a tight run to a loose one.
TIGHT = 1e-8
ROUNDS = 5
# Seconds that one fit may take. A fit that takes longer is stopped and counts as "not reached".
LIMIT = 120.0
# A fit that takes longer than this is not repeated, and the rung after it on the ladder is left out.
LONG = 20.0
# Seconds that one peer may climb its ladder in one cell; the rungs above are not tried.
CLIMB = 300.0


@dataclass(frozen=True)
class DataSet:
    """One training file and, where there is one, its test file."""

    name: str
    train: str
    test: str | None = None
    # One-vs-rest: rows with this label are +1, all others -1.
    positive: int | None = None
    # A guess at the minutes that all costs take, for the first line of the output.
    minutes: float = 1.0
    # Peers that are left out, with the reason.
    without: tuple[tuple[str, str], ...] = ()


SETS = (
    DataSet("heart_scale", "classification/heart_scale", minutes=1),
    DataSet("a7a", "classification/a7a", test="classification/a7a.t", minutes=7),
    DataSet("w8a", "classification/w8a", minutes=14),
    DataSet("sector", "classification/sector.scale.bz2", positive=1, minutes=4),
    DataSet(
        "generated",
        "",
        minutes=40,
        without=(
            ("libsvm", "kernel matrix of 10^6 rows: hours"),
            ("liblinear", "LinearSVC is the same method without the limit of 300 iterations"),
        ),
    ),
)
# The generated set; seed 1 also draws the planted rule. The test rows follow in the same stream.
GENERATED = {"rows": 1_000_000, "test-rows": 100_000, "columns": 1000, "non-zeros": 20, "seed": 1}

QUICK_SETS = ("heart_scale", "a7a")
QUICK_COSTS = (1.0,)


@dataclass(frozen=True)
class Peer:
    """A solver to compare with: which problem it solves, and its settings from loose to tight."""

    name: str
    # "free": the bias is not penalised, as in ours. "penalised": b^2 / 2 is part of the objective.
    problem: str
    ladder: tuple[dict, ...]
    # Accuracies whose setting is repeated in every round; the others are taken from the probe.
    repeated: tuple[float, ...] = ACCURACIES
    # After a fit of more than LONG seconds the next rung is left out.
    skips: bool = True


def _rungs(key: str, values: tuple[float, ...], **fixed: object) -> tuple[dict, ...]:
    return tuple({key: value, **fixed} for value in values)


_DUAL = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6, 1e-7)

PEERS = (
    Peer("libsvm", "free", _rungs("e", (1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-5)), repeated=(1e-3,)),
    # Capped at 300 iterations inside the library, whatever the tolerance: tight rungs would repeat each other.
    Peer("liblinear", "penalised", _rungs("e", _DUAL[:9])),
    Peer("linearsvc", "penalised", _rungs("tol", _DUAL)),
    Peer("rehline", "penalised", _rungs("tol", (0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6, 1e-7))),
    # A number of epochs gets further in the same time than a tolerance does, except where few are needed; both are
    # tried. Data and model are single precision inside, which limits the accuracy.
    Peer(
        "snapml",
        "penalised",
        _rungs("tol", (1e-2, 1e-3, 1e-4), max_iter=100_000)
        + _rungs("max_iter", (10, 30, 100, 300, 1000, 3000, 10_000, 30_000), tol=0.0),
    ),
    # The step size never stops falling: there is no tolerance to reach, only epochs.
    Peer(
        "sgd",
        "free",
        tuple(
            {"epochs": epochs, "average": average}
            for epochs in (1, 3, 10, 30, 100, 300, 1000)
            for average in (False, True)
        ),
        skips=False,
    ),
)


def sets(names: tuple[str, ...] | None) -> tuple[DataSet, ...]:
    """The sets of these names, in the order of the table; all for None."""
    known = {data_set.name for data_set in SETS}
    unknown = [name for name in names or () if name not in known]
    if unknown:
        raise SystemExit(f"unknown set {', '.join(unknown)}; known: {', '.join(sorted(known))}")
    return tuple(data_set for data_set in SETS if names is None or data_set.name in names)
