# %% # A true bias against a penalised one
#
# `sklearn.svm.LinearSVC` appends a column of ones to X, and the weight of that column is part of `w'w`. Where classes are unbalanced or far from the
# origin, and C is small, that costs accuracy. Here the bias is free.

# %% Two classes, one of them rare, both away from the origin:

import matplotlib.pyplot as plt
import numpy as np
from sklearn.svm import LinearSVC as Penalised

from equipoise import LinearSVC

rng = np.random.default_rng(0)
y = (rng.uniform(size=1200) < 0.15).astype(int)
X = rng.normal(size=(1200, 2)) + [4.0, 4.0] + 2.2 * y[:, np.newaxis]
train, test = slice(0, 600), slice(600, None)

# %% The same C, the same loss:

for C in (0.001, 0.01, 0.1):
    ours = LinearSVC(C=C, loss="hinge", tol=1e-6).fit(X[train], y[train])
    theirs = Penalised(C=C, loss="hinge", max_iter=1_000_000, tol=1e-6).fit(X[train], y[train])
    objective = [
        0.5 * m.coef_[0] @ m.coef_[0] + C * np.maximum(1 - (2 * y[train] - 1) * m.decision_function(X[train]), 0).sum()
        for m in (ours, theirs)
    ]
    print(f"C = {C:<6} objective {objective[0]:9.4f} against {objective[1]:9.4f},"
          f" found on the test half {ours.score(X[test], y[test]):.3f} against {theirs.score(X[test], y[test]):.3f}")

# %% The objective is the problem of the textbook; ours is proven to be within `tol` of its least value:

print(ours.certificate_)

# %% The lines at C = 0.3. The penalised bias pushes its line away from the origin, and more of the rare class is missed.

models = [
    ("bias not penalised", LinearSVC(C=0.3, loss="hinge", tol=1e-6)),
    ("bias penalised", Penalised(C=0.3, loss="hinge", max_iter=1_000_000)),
]
fig, ax = plt.subplots()
ax.scatter(*X[test].T, c=y[test], cmap="coolwarm", s=6, alpha=0.5)
across = np.linspace(X[:, 0].min(), X[:, 0].max(), 2)
for (name, model), style in zip(models, ("-", "--")):
    model.fit(X[train], y[train])
    w, b = model.coef_[0], float(np.ravel(model.intercept_)[0])
    ax.plot(across, -(w[0] * across + b) / w[1], "k" + style, label=name)
ax.set_ylim(X[:, 1].min(), X[:, 1].max())
_ = ax.legend()
