"""One peer with one job's data in memory, asked over standard input for one call at a time.

    driver.py JOB KIND PROBLEM WORK quick|full     serve calls of the class KIND of peers.py
    driver.py --versions                           print the versions of the peers
"""

import sys
from pathlib import Path

sys.dont_write_bytecode = True  # this folder is part of the repository
sys.path.insert(1, str(Path(__file__).resolve().parent.parent / "harness"))

import serving

PACKAGES = (
    "c-lasso", "celer", "skglm", "scikit-learn", "clarabel", "osqp", "prox_tv", "piqp", "daqp", "quadprog", "numpy",
    "scipy",
)  # fmt: skip

if __name__ == "__main__":
    serving.main(PACKAGES, __doc__)
