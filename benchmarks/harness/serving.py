"""A driver: one peer with one job's data in memory, asked over standard input for one call at a time (JSON lines).

A benchmark's `driver.py` calls `main` with its modules. A request is {"setting": {...}, "answer": FILE}; the answer and
a dual point, where the peer gives one, are written to FILE (npz) outside the clock. The reply is {"seconds": s,
"spent": s, "processor_seconds": s, "peak_memory": bytes, "bytes": sent} or {"error": text}; the processor's seconds are
of the whole call, to show where a machine was busy with something else. A peer that does a part of the job and is
charged for the whole says in `spent` what it really took, and one that counts what it sends has `bytes`. The first call
of a process is made twice where it is short: the second one counts.
"""

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def serve(prepared: Callable[[], object]) -> None:
    """Answers requests with the peer that `prepared` gives, its data in memory."""
    # Some peers print; only this driver may use the channel.
    channel = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)

    def reply(**fields: object) -> None:
        channel.write(json.dumps(fields) + "\n")

    try:
        import numpy as np

        peer = prepared()
    except Exception as error:  # noqa: BLE001 - whatever stops one peer is reported, and the rest goes on
        reply(error=f"{type(error).__name__}: {error}")
        return
    reply(ready=True)
    warm = False
    for line in sys.stdin:
        request = json.loads(line)
        try:
            start = time.process_time()
            seconds, answer, dual = peer.solve(request["setting"])
            if not warm and seconds < 1.0:
                start = time.process_time()
                seconds, answer, dual = peer.solve(request["setting"])
            processor = time.process_time() - start
            warm = True
        except Exception as error:  # noqa: BLE001
            reply(error=f"{type(error).__name__}: {error}")
            continue
        np.savez(request["answer"], answer=answer, dual=np.zeros(0) if dual is None else dual)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        reply(
            seconds=seconds, spent=getattr(peer, "spent", seconds), processor_seconds=processor, peak_memory=peak,
            bytes=getattr(peer, "bytes", None),
        )  # fmt: skip


def print_versions(packages: tuple[str, ...]) -> None:
    for package in packages:
        try:
            print(f"{package}: {version(package)}")
        except PackageNotFoundError:
            print(f"{package}: not installed")
    print(f"python: {sys.version.split()[0]}")


def main(packages: tuple[str, ...], usage: str) -> None:
    """`JOB KIND PROBLEM WORK quick|full` serves calls of the class KIND of peers.py; `--versions` prints versions."""
    match sys.argv[1:]:
        case ["--versions"]:
            print_versions(packages)
        case [job, kind, problem, work, size]:

            def prepared() -> object:
                import peers
                import settings

                peers.quiet()
                one = next(one for one in settings.JOBS if one.name == job)
                peer = getattr(peers, kind)()
                peer.prepare(settings.made(one, size == "quick", Path(work)).problems[problem])
                return peer

            serve(prepared)
        case _:
            raise SystemExit(usage)
