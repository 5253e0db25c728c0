"""Data that several tests use."""

import os
import signal

# A shell that starts this in the background has Ctrl-C ignored; tests that send it wait for the exception.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Before SciPy is there: else scikit-learn leaves its check of array API input out.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import numpy as np  # noqa: E402
import pytest  # noqa: E402


@pytest.fixture
def rng():
    return np.random.default_rng(20)


@pytest.fixture
def two_classes(rng):
    """Overlapping classes, 120 x 5."""
    y = np.repeat([0, 1], 60)
    return rng.normal(size=(120, 5)) + 1.2 * y[:, np.newaxis] * np.array([1.0, -0.5, 0.0, 0.0, 0.3]), y


@pytest.fixture
def log_parts(rng):
    """Logarithms of shares, and a target on their contrasts."""
    x = np.log(rng.dirichlet(np.ones(12), size=80))
    return x, x[:, 0] - x[:, 1] + 0.5 * (x[:, 2] - x[:, 3]) + 0.1 * rng.normal(size=80)
