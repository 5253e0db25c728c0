"""What is measured: sets, costs, gaps, limits and each peer's ladder of settings.

Sets, families, seeds, costs and gaps were fixed before the first timing; the limits and the ladders of the peers after trial
runs, to give each its best settings. A change makes earlier records incomparable, so it belongs in
a commit of its own that says so.
"""

from dataclasses import dataclass

COSTS = (0.01, 0.1, 1.0, 10.0, 100.0)
GAPS = (1e-3, 1e-4, 1e-6)
# Costs of several classes and of regression.
FEWER_COSTS = (0.1, 1.0, 10.0)
# The half-width of the tube of a regression.
EPSILON = 0.1
# Seconds that one fit of a peer may take; what takes longer is stopped and recorded as "over the limit".
LIMIT = 4.0
# Seconds of the processor after which a climb is not gone on with. The next rung would take at least as long as the last.
CLIMB = 10.0
# Seconds that one of our fits may take.
OUR_LIMIT = 60.0
# A peer other than the first need not be tried for longer than this multiple of the first one's time to the same
# accuracy, nor for less than these seconds: it could not be the best.
SLOWER, PATIENCE = 1.3, 1.0
# A peer whose climb was slower than this multiple of the quickest peer's is not timed again: it is not the best.
CONTENDER = 2.0
# The gap of the references, and the seconds that one may take.
REFERENCE_GAP, REFERENCE_LIMIT = 1e-8, 60.0
# Repeats of a fit by its seconds: the first entry whose bound it is below.
REPEATS = ((0.01, 7), (0.1, 3), (0.5, 2), (float("inf"), 1))
# A peer's fit that took longer on the climb is not timed again: the climb is its only run.
LONG = 0.5
# Two threads are timed where one thread takes longer than this.
WORTH_TWO_THREADS = 0.2


@dataclass(frozen=True)
class DataSet:
    """One training file."""

    name: str
    # Under the data folder; nothing for a family of `equipoise-lab generate-family` of the set's name.
    file: str | None = None
    # One against the rest: rows with this label are +1, all others -1.
    positive: int | None = None
    # Rows with a larger label are left out.
    largest_label: int | None = None
    # Columns and targets are brought to mean 0 and deviation 1.
    standardise: bool = False
    limit: float = LIMIT


GRID = (
    DataSet("heart_scale", "classification/heart_scale"),
    DataSet("german", "classification/german.numer_scale"),
    DataSet("a7a", "classification/a7a"),
    DataSet("w8a", "classification/w8a"),
    DataSet("sector", "classification/sector.scale.bz2", positive=1),
    DataSet("usps", "classification/usps.bz2", positive=1),
    DataSet("text-tfidf-50"),
    DataSet("text-tfidf-5"),
    DataSet("text-counts-50"),
    DataSet("text-counts-5"),
    DataSet("dense-tall"),
    DataSet("dense-wide"),
    DataSet("low-8"),
    DataSet("low-22"),
    DataSet("one-hot"),
    DataSet("generated", limit=20.0),
)
CLASSES = (
    DataSet("usps-10", "classification/usps.bz2", limit=8.0),
    DataSet("sector-20", "classification/sector.scale.bz2", largest_label=20, limit=8.0),
    DataSet("text-20", limit=8.0),
)
REGRESSION = (
    DataSet("housing", "regression/housing", standardise=True),
    DataSet("cpusmall", "regression/cpusmall", standardise=True),
    DataSet("regression-50"),
)
# The planted set of `equipoise-lab generate-svm`; seed 1 also draws the planted rule. The test rows follow in the same
# stream and are not used.
GENERATED = {"rows": 1_000_000, "test-rows": 1, "columns": 1000, "non-zeros": 20, "seed": 1}
# Growth, at C = 1 and a gap of 1e-4, on smaller sets of the same kind.
GROWTH_COST, GROWTH_GAP = 1.0, 1e-4
GROWTH_ROWS = (1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
GROWTH_NON_ZEROS = (5, 10, 20, 40, 80)
GROWTH_NON_ZEROS_ROWS = 100_000
# The rung of the peer in the measurement of growth.
GROWTH_PEER = ("linearsvc", {"tol": 0.01})
# End to end from cold: this cost, our default gap, the default tolerance of `train`.
COLD_COST, COLD_GAP = 1.0, 1e-4
COLD_REPEATS = 5

QUICK = {"grid": ("heart_scale", "german"), "classes": ("usps-10",), "svr": ("housing",), "cold": ("heart_scale",)}
QUICK_COSTS = (1.0,)


@dataclass(frozen=True)
class Peer:
    """A solver to compare with, and its settings from loose to tight."""

    name: str
    # The class of peers.py.
    kind: str
    ladder: tuple[dict, ...]


def _rungs(key: str, values: tuple[float, ...], **fixed: object) -> tuple[dict, ...]:
    return tuple({key: value, **fixed} for value in values)


_DUAL = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
_EPOCHS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000)
_REHLINE = (0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)

# All penalise the bias: an easier problem than ours, and each is held to the optimum of its own. The first of each
# list is the one that none of our cells may be slower than.
PEERS = {
    "grid": (
        Peer("linearsvc", "LinearSvc", _rungs("tol", _DUAL)),
        # Capped at 300 iterations inside the library, whatever the tolerance: tight rungs would repeat each other.
        Peer("liblinear", "Liblinear", _rungs("e", _DUAL[:9])),
        Peer("rehline", "Rehline", _rungs("tol", _REHLINE)),
        # Epochs get further in the same time than its tolerance does. Data and model are single precision inside, which
        # limits the accuracy.
        Peer("snapml", "Snapml", _rungs("max_iter", _EPOCHS, tol=0.0)),
    ),
    "classes": (
        Peer("linearsvc", "LinearSvc", _rungs("tol", _DUAL)),
        Peer("liblinear", "Liblinear", _rungs("e", _DUAL[:9])),
    ),
    "svr": (
        Peer("linearsvr", "LinearSvr", _rungs("tol", _DUAL)),
        Peer("rehline", "RehlineSvr", _rungs("tol", _REHLINE)),
    ),
}
SETS = {"grid": GRID, "classes": CLASSES, "svr": REGRESSION}
# One-row problems of the general command `solve`, ours alone: name and tolerance. See one_row.py.
ONE_ROW = ("zero-sum-lasso", "simplex-regression", "allocation")
ONE_ROW_REPEATS = 3

PARTS = ("grid", "classes", "svr", "cold", "growth", "one-row")


def costs(part: str) -> tuple[float, ...]:
    return COSTS if part == "grid" else FEWER_COSTS


def repeats(seconds: float) -> int:
    return next(count for bound, count in REPEATS if seconds < bound)
