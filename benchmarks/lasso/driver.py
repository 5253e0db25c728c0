"""One peer with one job's data in memory, asked over standard input for one call at a time (JSON lines).

    driver.py JOB KIND PROBLEM WORK quick|full     serve calls of the class KIND of peers.py
    driver.py --versions                           print the versions of the peers

A request is {"setting": {...}, "answer": FILE}; the answer and a dual point, where the peer gives one, are written to
FILE (npz) outside the clock. The reply is {"seconds": s, "processor_seconds": s, "peak_memory": bytes} or
{"error": text}; the processor's seconds are of the whole call, to show where a machine was busy with something else.
The first call of a process is made twice where it is short: the second one counts.
"""

import json
import os
import resource
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

sys.dont_write_bytecode = True  # this folder is part of the repository

PACKAGES = (
    "c-lasso", "celer", "skglm", "scikit-learn", "clarabel", "osqp", "prox_tv", "piqp", "daqp", "quadprog", "numpy",
    "scipy",
)  # fmt: skip


def serve(job: str, kind: str, problem: str, work: Path, quick: bool) -> None:
    # Some peers print; only this driver may use the channel.
    channel = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)

    def reply(**fields: object) -> None:
        channel.write(json.dumps(fields) + "\n")

    try:
        import numpy as np
        import peers
        import settings

        peers.quiet()
        one = next(one for one in settings.JOBS if one.name == job)
        peer = getattr(peers, kind)()
        peer.prepare(settings.made(one, quick, work).problems[problem])
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
            spent = time.process_time() - start
            warm = True
        except Exception as error:  # noqa: BLE001
            reply(error=f"{type(error).__name__}: {error}")
            continue
        np.savez(request["answer"], answer=answer, dual=np.zeros(0) if dual is None else dual)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        reply(seconds=seconds, processor_seconds=spent, peak_memory=peak)


def print_versions() -> None:
    for package in PACKAGES:
        try:
            print(f"{package}: {version(package)}")
        except PackageNotFoundError:
            print(f"{package}: not installed")
    print(f"python: {sys.version.split()[0]}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--versions"]:
            print_versions()
        case [job, kind, problem, work, size]:
            serve(job, kind, problem, Path(work), size == "quick")
        case _:
            raise SystemExit(__doc__)
