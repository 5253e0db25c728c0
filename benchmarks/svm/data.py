"""The files that every solver reads, plain LIBSVM text; what has to be made of them is made once, under `work`.

`load` gives the rows to Python, parsed once and kept beside the text. `primals` is the evaluation: the objective of a
model with a penalised bias, from the raw data, one number a decision function.
"""

import bz2
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse

from settings import EPSILON, GENERATED, DataSet


def prepare(data_set: DataSet, data: Path | None, lab: Path, work: Path) -> Path:
    """The training file of a set."""
    target = work / f"{data_set.name}.txt"
    if data_set.file is None:
        if data_set.name == "generated":
            return planted(GENERATED, lab, target)
        return whole(target, lambda part: run(lab, "generate-family", data_set.name, "--out", part))
    if data is None:
        raise FileNotFoundError("EQUIPOISE_DATA is not set")
    source = data / data_set.file
    if not source.exists():
        raise FileNotFoundError(f"{data_set.file} is not in the data folder")
    if data_set.standardise:
        return whole(target, lambda part: standardise(source, part))
    if source.suffix == ".bz2":
        return whole(target, lambda part: relabel(source, data_set, part))
    return source


def planted(parameters: dict[str, int], lab: Path, target: Path) -> Path:
    """A set of `generate-svm`; its test rows, one at least, are not used."""
    options = [word for key, value in parameters.items() for word in (f"--{key}", str(value))]
    return whole(target, lambda part: run(lab, "generate-svm", *options, "--out", part))


def run(lab: Path, *words: object) -> None:
    subprocess.run([str(lab), *map(str, words)], check=True)


def whole(target: Path, make: Callable[[Path], None]) -> Path:
    """Makes a file unless it is there; a file that is there is complete."""
    if not target.exists():
        part = target.with_suffix(".part")
        make(part)
        part.replace(target)
    return target


def relabel(source: Path, data_set: DataSet, target: Path) -> None:
    """The same rows with +1 for one class and -1 for all others, or those of the first classes only."""
    with bz2.open(source, "rt", encoding="ascii") as lines, target.open("w", encoding="ascii") as out:
        for line in lines:
            label, _, row = line.partition(" ")
            number = int(float(label))
            if data_set.largest_label is not None and number > data_set.largest_label:
                continue
            if data_set.positive is not None:
                number = 1 if number == data_set.positive else -1
            out.write(f"{number} {row}")


def standardise(source: Path, target: Path) -> None:
    """Columns and targets with mean 0 and deviation 1, nine digits."""
    from sklearn.datasets import load_svmlight_file

    rows, targets = load_svmlight_file(str(source), dtype=np.float64)
    rows = rows.toarray()
    rows = (rows - rows.mean(axis=0)) / np.maximum(rows.std(axis=0), 1e-12)
    targets = (targets - targets.mean()) / targets.std()
    with target.open("w", encoding="ascii") as out:
        for row, value in zip(rows, targets, strict=True):
            entries = " ".join(f"{place + 1}:{number:.9g}" for place, number in enumerate(row))
            out.write(f"{value:.9g} {entries}\n")


def load(text: Path, cache: Path) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Rows and labels."""
    from peers import narrow

    if not cache.exists():
        from sklearn.datasets import load_svmlight_file

        rows, labels = load_svmlight_file(str(text), dtype=np.float64)
        rows = sparse.csr_matrix(rows)
        narrow(rows)
        part = cache.with_name(f"{cache.name}.{os.getpid()}.npz")
        np.savez(part, data=rows.data, indices=rows.indices, indptr=rows.indptr, shape=rows.shape, labels=labels)
        part.replace(cache)
    with np.load(cache) as kept:
        shape = tuple(int(length) for length in kept["shape"])
        rows = sparse.csr_matrix((kept["data"], kept["indices"], kept["indptr"]), shape=shape)
        return rows, np.ascontiguousarray(kept["labels"], dtype=np.float64)


def primals(
    rows: sparse.csr_matrix, labels: np.ndarray, model: np.ndarray, cost: float, regression: bool, penalised: bool
) -> list[float]:
    """`|w|^2 / 2 (+ b^2 / 2) + C sum loss` of every decision function."""
    classes = np.unique(labels)
    found = []
    for function, row in enumerate(model):
        weights, bias = row[:-1], row[-1]
        scores = rows @ weights + bias
        if regression:
            losses = np.maximum(0.0, np.abs(labels - scores) - EPSILON)
        else:
            positive = classes[-1] if len(model) == 1 else classes[function]
            losses = np.maximum(0.0, 1.0 - np.where(labels == positive, 1.0, -1.0) * scores)
        penalty = weights @ weights + (bias * bias if penalised else 0.0)
        found.append(float(0.5 * penalty + cost * losses.sum()))
    return found
