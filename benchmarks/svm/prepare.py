"""The files that every solver reads: plain LIBSVM text with the labels -1 and +1."""

import bz2
import subprocess
from pathlib import Path

from settings import GENERATED, DataSet


def prepare(data_set: DataSet, data: Path | None, lab: Path, work: Path) -> tuple[Path, Path | None]:
    """Training and test file of a set; what has to be made is made once, under `work`."""
    if data_set.name == "generated":
        return _generated(lab, work)
    if data is None:
        raise FileNotFoundError("EQUIPOISE_DATA is not set")
    train = data / data_set.train
    if not train.exists():
        raise FileNotFoundError(f"{data_set.train} is not in the data folder")
    if data_set.positive is not None:
        train = _one_against_rest(train, data_set.positive, work / f"{data_set.name}.txt")
    return train, data / data_set.test if data_set.test else None


def _generated(lab: Path, work: Path) -> tuple[Path, Path]:
    train = work / "generated.txt"
    test = work / "generated.txt.t"
    if not test.exists():
        part = work / "generated.part"
        options = [word for key, value in GENERATED.items() for word in (f"--{key}", str(value))]
        subprocess.run([lab, "generate-svm", *options, "--out", part], check=True)
        part.replace(train)
        # Last: its presence says that both are complete.
        part.with_name("generated.part.t").replace(test)
    return train, test


def _one_against_rest(source: Path, positive: int, target: Path) -> Path:
    """The same rows with the label +1 for one class and -1 for all others."""
    if not target.exists():
        part = target.with_suffix(".part")
        with bz2.open(source, "rt", encoding="ascii") as lines, part.open("w", encoding="ascii") as out:
            for line in lines:
                label, _, row = line.partition(" ")
                out.write(f"{'+1' if int(float(label)) == positive else '-1'} {row}")
        part.replace(target)
    return target


def mirrored(train: Path, name: str, lab: Path, work: Path) -> Path:
    """The rows on which our free bias solves the problem with a penalised one (see the lab's `mirror-svm`)."""
    target = work / f"{name}.mirrored.txt"
    if not target.exists():
        part = target.with_suffix(".part")
        subprocess.run([lab, "mirror-svm", train, "--out", part], check=True)
        part.replace(target)
    return target
