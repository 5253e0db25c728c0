"""The processes that are measured: our solver's server, a peer's driver, a command from cold."""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
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
# Seconds until a process has its data in memory.
LOADING = 900.0
# How often a limit is looked at, and how long a command may wait for its turn beyond its limit, in seconds.
LOOK = 0.05
# Elapsed seconds that count as one of work: a process that does nothing at all ends too.
IDLE = 40.0


class Failure(Exception):
    """A child that gave no answer; the text says why."""


class OverLimit(Failure):
    """A child that was stopped because it took too long."""


def processor_seconds(process: int) -> float:
    """What a process has worked so far: what counts this depends less on who else works on the machine."""
    try:
        # The clock of another process, as the kernel numbers it.
        return time.clock_gettime((~process << 3) | 2)
    except OSError:
        return 0.0


class Lines:
    """A process that answers one line of JSON to one line of JSON."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, **ENVIRONMENT},
        )  # fmt: skip
        self.rest = b""

    def ask(self, request: dict, limit: float) -> dict:
        # Before the request is there: the work may be done before we are back.
        worked = processor_seconds(self.process.pid)
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        return self.answer(limit, worked)

    def answer(self, limit: float, worked: float = 0.0) -> dict:
        begun = time.monotonic()
        while b"\n" not in self.rest:
            ready, _, _ = select.select([self.process.stdout], [], [], LOOK)
            if not ready:
                work = processor_seconds(self.process.pid) - worked
                if work > limit or time.monotonic() - begun > IDLE * limit:
                    self.stop()
                    raise OverLimit(f"over {limit:.1f} s")
                continue
            some = os.read(self.process.stdout.fileno(), 1 << 16)
            if not some:
                self.stop()
                raise Failure(f"ended without an answer (exit status {self.process.returncode})")
            self.rest += some
        line, _, self.rest = self.rest.partition(b"\n")
        answer = {"processor": processor_seconds(self.process.pid) - worked, **json.loads(line)}
        if "error" in answer:
            raise Failure(answer["error"])
        return answer

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


@dataclass
class Child:
    """Such a process with one set; started when first asked, and again after it was stopped."""

    command: list[str]
    lines: Lines | None = None
    loaded: bool = False

    def ask(self, request: dict, limit: float) -> dict:
        self.start()
        self.wait()
        return self.lines.ask(request, limit)

    def start(self) -> None:
        """Starts it, and does not wait: several load their data side by side."""
        if self.lines is None or self.lines.process.poll() is not None:
            self.lines, self.loaded = Lines(self.command), False

    def wait(self) -> None:
        """Until it has its data in memory."""
        if not self.loaded:
            self.lines.answer(LOADING)
            self.loaded = True

    def stop(self) -> None:
        if self.lines is not None:
            self.lines.stop()


def driver(kind: str, text: Path, cache: Path) -> Child:
    return Child([sys.executable, str(Path(__file__).with_name("driver.py")), kind, str(text), str(cache)])


def server(lab: Path, text: Path) -> Child:
    return Child([str(lab), "serve-svm", str(text)])


def from_cold(command: list[str], limit: float) -> tuple[float, int]:
    """Seconds from start to end of a command, and its exit status."""
    begun = time.perf_counter()
    process = _quietly(command)
    # The end itself is waited for, not looked for now and then: short runs would be rounded up.
    descriptor = os.pidfd_open(process.pid)
    ready, _, _ = select.select([descriptor], [], [], limit)
    seconds = time.perf_counter() - begun
    os.close(descriptor)
    if not ready:
        process.kill()
        process.wait()
        raise OverLimit(f"over {limit:.0f} s")
    return seconds, process.wait()


def peak_memory(command: list[str], limit: float) -> int | None:
    """Peak memory of a command in bytes, where GNU time is there to tell; that has little memory of its own, where this process
    would hand its own peak on to what it starts."""
    program = shutil.which("time")
    if program is None:
        return None
    with tempfile.NamedTemporaryFile("r", suffix=".txt") as told:
        process = _quietly([program, "-q", "-f", "%M", "-o", told.name, *command], start_new_session=True)
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired as error:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise OverLimit(f"over {limit:.0f} s") from error
        words = told.read().split()
    return 1024 * int(words[-1]) if words else None


def _quietly(command: list[str], start_new_session: bool = False) -> subprocess.Popen:
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, **ENVIRONMENT}, start_new_session=start_new_session,
    )  # fmt: skip
