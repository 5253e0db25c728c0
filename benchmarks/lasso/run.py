"""The benchmark of the lasso family and of constrained least squares: every job and solver in one go.

`cargo xtask bench lasso` builds and installs what this needs and calls it. It runs without a network and without the
repository as well: it needs this folder and `harness` beside it, our binary and a Python that has the peers.

    run.py --binary EQUIPOISE --out RECORD [--work FOLDER] [--python PYTHON] [--jobs grid,trend] [--peers celer,osqp]
           [--quick] [--peers-only] [--note "commit: ..."]...
"""

import sys
from pathlib import Path

sys.dont_write_bytecode = True  # this folder is part of the repository
HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent / "harness"))

import bench
import ours
import settings

if __name__ == "__main__":
    bench.main(settings, ours, HERE, __doc__)
