"""What is measured: jobs with their data, and peers with their ladders of settings."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

# Gap, over what the job's problem calls its scale.
ACCURACY = 1e-6
ROUNDS = 5
# Seconds: what takes longer than the first is not repeated; a call may take the second unless its job says otherwise.
LONG = 20.0
LIMIT = 60.0


def ladder(fixed: dict, name: str, values: tuple) -> list[dict]:
    return [{**fixed, name: value} for value in values]


@dataclass
class Peer:
    """A class of `peers.py`, the problem of the job that it solves, and its ladders."""

    name: str
    kind: str
    ladders: list[list[dict]]
    problem: str = "main"
    # Two threads are tried as well where they can help (BLAS, or threads of the peer's own).
    threads: tuple[int, ...] = (1,)
    # A yardstick answers nothing: only its seconds count.
    yardstick: bool = False


@dataclass
class Job:
    """One row of the benchmark."""

    name: str
    data: dict
    quick: dict
    # Our command line, made from the folder of the data and the problem's numbers (ours.py).
    ours: str
    peers: list[Peer]
    limit: float = LIMIT
    # Threads of ours; the second number is for those who have two cores.
    threads: tuple[int, ...] = (1, 2)
    title: str = ""
    accuracy: float = ACCURACY
    # What is compared: "seconds", or the "bytes" that were sent.
    cost: str = "seconds"
    # Whether our command has `--threads`.
    takes_threads: bool = True


@dataclass
class Made:
    """The data of a job on disk, its problems by name, and the numbers that a command line needs."""

    folder: Path
    numbers: dict
    problems: dict = field(default_factory=dict)
    # What a reader must know of these data, for setup.txt.
    notes: list[str] = field(default_factory=list)


def keep(folder: Path, **arrays: np.ndarray) -> None:
    """Writes the arrays of a job once, each whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in arrays.items():
        path = folder / f"{name}.npy"
        if not path.exists():
            part = folder / f"{name}.part.npy"
            np.save(part, np.ascontiguousarray(array, dtype=np.float64))
            part.replace(path)
