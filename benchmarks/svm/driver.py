"""One peer with one data set in memory, asked over standard input for one fit at a time (JSON lines).

    driver.py PEER DATA CACHE      serve fits; DATA is LIBSVM text, CACHE a file for its parsed form
    driver.py --versions           print the versions of the peers
    driver.py --parse DATA         seconds that scikit-learn needs to read DATA

A request is {"cost": C, "setting": {...}, "model": FILE}; the weights and then the bias are written to FILE (npy)
outside the clock. The answer is {"seconds": s, "peak_memory": bytes} or {"error": text}. The peak includes Python
and the data in every form that the peer needs.
"""

import json
import os
import resource
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from scipy import sparse

PACKAGES = ("libsvm-official", "liblinear-official", "scikit-learn", "rehline", "snapml", "numpy", "scipy")


def load(data: Path, cache: Path) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Rows and labels; parsed once and kept beside, so that a driver that was stopped is soon back."""
    from peers import narrow

    if not cache.exists():
        from sklearn.datasets import load_svmlight_file

        rows, labels = load_svmlight_file(str(data), dtype=np.float64)
        rows = sparse.csr_matrix(rows)
        narrow(rows)
        part = cache.with_name(f"{cache.name}.{os.getpid()}.npz")
        np.savez(part, data=rows.data, indices=rows.indices, indptr=rows.indptr, shape=rows.shape, labels=labels)
        part.replace(cache)
    with np.load(cache) as kept:
        shape = tuple(int(length) for length in kept["shape"])
        rows = sparse.csr_matrix((kept["data"], kept["indices"], kept["indptr"]), shape=shape)
        return rows, np.ascontiguousarray(kept["labels"], dtype=np.float64)


def serve(name: str, data: Path, cache: Path) -> None:
    # Some peers print; only this driver may use the channel.
    channel = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)

    def answer(**fields: object) -> None:
        channel.write(json.dumps(fields) + "\n")

    try:
        from peers import PEERS, quiet

        quiet()
        peer = PEERS[name]()
        peer.prepare(*load(data, cache))
    except Exception as error:  # noqa: BLE001 - whatever stops one peer is reported, and the rest goes on
        answer(error=f"{type(error).__name__}: {error}")
        return
    answer(ready=True)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            seconds, weights, bias = peer.fit(request["cost"], request["setting"])
        except Exception as error:  # noqa: BLE001
            answer(error=f"{type(error).__name__}: {error}")
            continue
        np.save(request["model"], np.append(np.asarray(weights, dtype=np.float64), bias))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        answer(seconds=seconds, peak_memory=peak)


def print_versions() -> None:
    for package in PACKAGES:
        try:
            print(f"{package}: {version(package)}")
        except PackageNotFoundError:
            print(f"{package}: not installed")
    print(f"python: {sys.version.split()[0]}")


def parse_seconds(data: str) -> None:
    from sklearn.datasets import load_svmlight_file

    times = []
    for _ in range(5):
        start = time.perf_counter()
        load_svmlight_file(data, dtype=np.float64)
        times.append(time.perf_counter() - start)
    print(json.dumps({"seconds": sorted(times)[len(times) // 2]}))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--versions"]:
            print_versions()
        case ["--parse", data]:
            parse_seconds(data)
        case [peer, data, cache]:
            serve(peer, Path(data), Path(cache))
        case _:
            raise SystemExit(__doc__)
