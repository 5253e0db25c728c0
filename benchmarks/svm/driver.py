"""One peer with one data set in memory, asked over standard input for one fit at a time (JSON lines).

    driver.py PEER DATA CACHE      serve fits; DATA is LIBSVM text, CACHE a file for its parsed form
    driver.py --versions           print the versions of the peers

A request is {"cost": C, "setting": {...}, "model": FILE}; the model is written to FILE (npy) outside the clock. The
answer is {"seconds": s, "processor": s, "peak_memory": bytes} or {"error": text}. The peak includes Python and the
data in every form that the peer needs.
"""

import json
import os
import resource
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

PACKAGES = ("liblinear-official", "scikit-learn", "rehline", "snapml", "numpy", "scipy")


def serve(kind: str, text: Path, cache: Path) -> None:
    # Some peers print; only this driver may use the channel.
    channel = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)

    def answer(**fields: object) -> None:
        channel.write(json.dumps(fields) + "\n")

    try:
        from data import load
        from peers import PEERS, quiet

        quiet()
        peer = PEERS[kind]()
        peer.prepare(*load(text, cache))
    except Exception as error:  # noqa: BLE001 - whatever stops one peer is reported, and the rest goes on
        answer(error=f"{type(error).__name__}: {error}")
        return
    answer(ready=True)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            seconds, processor, model = peer.fit(request["cost"], request["setting"])
        except Exception as error:  # noqa: BLE001
            answer(error=f"{type(error).__name__}: {error}")
            continue
        np.save(request["model"], model)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        answer(seconds=seconds, processor=processor, peak_memory=peak)


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
        case [kind, text, cache]:
            serve(kind, Path(text), Path(cache))
        case _:
            raise SystemExit(__doc__)
