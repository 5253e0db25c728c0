"""The processes that are measured or asked: our command, a peer's driver, the evaluation."""

import json
import os
import select
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ENVIRONMENT = {
    name: "1"
    for name in (
        "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "RAYON_NUM_THREADS"
    )
}  # fmt: skip
ENVIRONMENT["PYTHONDONTWRITEBYTECODE"] = "1"
# Seconds until a driver has its data in memory.
LOADING = 600.0


class Failure(Exception):
    """A child that gave no answer; the text says why."""


class OverLimit(Failure):
    """A child that was stopped because it took too long."""


class Lines:
    """A process that answers one line of JSON to one line of JSON."""

    def __init__(self, command: list[str], folder: Path | None = None) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder,
            env={**os.environ, **ENVIRONMENT},
        )  # fmt: skip
        self.rest = b""

    def ask(self, request: dict, limit: float) -> dict:
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        return self.answer(limit)

    def answer(self, limit: float) -> dict:
        end = time.monotonic() + limit
        while b"\n" not in self.rest:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                self.stop()
                raise OverLimit(f"no answer in {limit:.0f} s")
            some = os.read(self.process.stdout.fileno(), 1 << 16)
            if not some:
                self.stop()
                raise Failure(f"ended without an answer (exit status {self.process.returncode})")
            self.rest += some
        line, _, self.rest = self.rest.partition(b"\n")
        answer = json.loads(line)
        if "error" in answer:
            raise Failure(answer["error"])
        return answer

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


@dataclass
class Driver:
    """A peer on one set; started when first asked, and again after it was stopped."""

    python: str
    peer: str
    data: Path
    cache: Path
    lines: Lines | None = None

    def fit(self, cost: float, setting: dict, model: Path, limit: float) -> dict:
        if self.lines is None or self.lines.process.poll() is not None:
            script = Path(__file__).with_name("driver.py")
            self.lines = Lines([self.python, str(script), self.peer, str(self.data), str(self.cache)])
            self.lines.answer(LOADING)
        # The margin is for writing the model; what counts against the limit is the driver's own clock.
        answer = self.lines.ask({"cost": cost, "setting": setting, "model": str(model)}, limit + 5.0)
        if answer["seconds"] > limit:
            raise OverLimit(f"{answer['seconds']:.0f} s")
        return answer

    def stop(self) -> None:
        if self.lines is not None:
            self.lines.stop()


class Evaluation:
    """Primal values and accuracies on one set."""

    def __init__(self, lab: Path, train: Path, test: Path | None) -> None:
        self.lines = Lines([str(lab), "evaluate-svm", str(train), *(["--test", str(test)] if test else [])])

    def value(self, model: Path, cost: float) -> dict:
        return self.lines.ask({"model": str(model), "cost": cost}, LOADING)

    def stop(self) -> None:
        self.lines.stop()


def ours(
    binary: Path, data: Path, cost: float, gap: float, seed: int, model: Path, limit: float, method: str | None
) -> dict:
    """One run of our command; its own report. The time that counts is `seconds_solve`."""
    prefix = [sys.executable] if binary.suffix == ".py" else []
    command = [
        *prefix, str(binary), "svm", "train", str(data), "--cost", repr(cost), "--gap", repr(gap), "--seed",
        str(seed), "--threads", "1", "--json", "--model", str(model), *(["--method", method] if method else []),
    ]  # fmt: skip
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=limit + 60.0, env={**os.environ, **ENVIRONMENT}, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise OverLimit(f"stopped after {error.timeout:.0f} s") from error
    try:
        report = json.loads(done.stdout)
    except json.JSONDecodeError as error:
        raise Failure(f"exit status {done.returncode}: {done.stderr.strip()[-300:]}") from error
    if report["seconds_solve"] > limit:
        raise OverLimit(f"{report['seconds_solve']:.0f} s")
    return report
