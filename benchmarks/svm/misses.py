"""Lists the cells of a record in which ours is slower than the issue of speed allows.

`python misses.py RECORD`, where RECORD holds `times.csv`. A cell is two classes, one thread, one set, one C, one gap. It is a
miss where LinearSVC's seconds over ours are below 0.95 or the best peer's below 0.7, and where ours has no time at all. A
peer that was stopped at its limit has not reached the gap and is no rival. It reads what was measured and measures nothing.
"""

import csv
import sys
from collections import defaultdict
from pathlib import Path

LEAST_OF_LINEARSVC = 0.95
LEAST_OF_BEST = 0.7


def main(record: Path) -> None:
    cells: dict[tuple[float, float, str], dict[str, float]] = defaultdict(dict)
    with (record / "times.csv").open() as text:
        for row in csv.DictReader(text):
            if row["part"] != "grid" or row["threads"] != "1" or not row["seconds"] or row["over"]:
                continue
            cell = (float(row["cost"]), -float(row["accuracy"]), row["set"])
            cells[cell][row["solver"]] = float(row["seconds"])
    below_linearsvc = below_best = unsolved = 0
    for (cost, accuracy, name), seconds in sorted(cells.items()):
        where = f"C = {cost:<5g} {-accuracy:.0e} {name:15}"
        ours = seconds.pop("equipoise", None)
        if not seconds:
            continue
        if ours is None:
            unsolved += 1
            print(f"{where} ours has no time; {min(seconds, key=seconds.__getitem__)} has")
            continue
        best = min(seconds, key=seconds.__getitem__)
        against_best = seconds[best] / ours
        against_linearsvc = seconds["linearsvc"] / ours if "linearsvc" in seconds else float("inf")
        is_below_linearsvc = against_linearsvc < LEAST_OF_LINEARSVC
        is_below_best = against_best < LEAST_OF_BEST
        below_linearsvc += is_below_linearsvc
        below_best += is_below_best
        if is_below_linearsvc or is_below_best:
            print(
                f"{where} ours {1e3 * ours:8.2f} ms   linearsvc {against_linearsvc:5.2f}   {best} {against_best:.2f}"
            )
    print(f"{below_linearsvc} below linearsvc, {below_best} below the best peer, {unsolved} without a time of ours")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
