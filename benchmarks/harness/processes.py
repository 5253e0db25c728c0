"""The processes that are measured: a peer's driver, and our command."""

import json
import os
import select
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

# Seconds until a driver has its data in memory, and has compiled what it compiles.
LOADING = 600.0


def environment(threads: int) -> dict[str, str]:
    names = (
        "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "NUMBA_NUM_THREADS",
        "RAYON_NUM_THREADS",
    )  # fmt: skip
    return {**os.environ, **{name: str(threads) for name in names}, "PYTHONDONTWRITEBYTECODE": "1"}


class Failure(Exception):
    """A child that gave no answer; the text says why."""


class OverLimit(Failure):
    """A child that was stopped because it took too long."""


class Lines:
    """A process that answers one line of JSON to one line of JSON."""

    def __init__(self, command: list[str], threads: int) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment(threads)
        )
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
    """A peer on one job; started when first asked, and again after it was stopped."""

    command: list[str]
    threads: int
    lines: Lines | None = None

    def solve(self, setting: dict, answer: Path, limit: float) -> dict:
        if self.lines is None or self.lines.process.poll() is not None:
            self.lines = Lines(self.command, self.threads)
            self.lines.answer(LOADING)
        # The margin is for writing the answer; what counts against the limit is the driver's own clock.
        done = self.lines.ask({"setting": {**setting, "threads": self.threads}, "answer": str(answer)}, limit + 5.0)
        if done["spent"] > limit:
            raise OverLimit(f"{done['spent']:.0f} s")
        return done

    def stop(self) -> None:
        if self.lines is not None:
            self.lines.stop()
            self.lines = None


def run_ours(binary: Path, words: list[str], threads: int, limit: float) -> dict:
    """One run of our command; its own report. The time that counts is `seconds_solve`."""
    command = [*beginning(binary), *words, "--json"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=limit + 120.0, env=environment(threads), check=False
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


def lacks(binary: Path, subcommand: str) -> bool:
    """Whether our command does not know this subcommand."""
    done = subprocess.run([*beginning(binary), subcommand, "--help"], capture_output=True, check=False)
    return done.returncode != 0


def beginning(binary: Path) -> list[str]:
    return [sys.executable, str(binary)] if binary.suffix == ".py" else [str(binary)]
