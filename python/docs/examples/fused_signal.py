# %% # A signal in pieces
#
# The fused lasso makes neighbouring numbers equal: steps, with exact zeros between them. Trends make straight pieces.

# %% A signal of three levels, then a path along lambda; an information criterion chooses:

import matplotlib.pyplot as plt
import numpy as np

from equipoise import FusedLasso, TrendFilter, fused_path

rng = np.random.default_rng(0)
levels = np.repeat([0.0, 3.0, 1.0], [100, 80, 120])
signal = levels + 0.8 * rng.normal(size=300)
path = fused_path(signal, lams=60)
best = path.best("bic")
print("pieces", best["segments"], "beginning at", best["breaks"], f"gap {best['relative_gap']:.0e}")
_ = path.plot()

# %% Straight pieces instead, and regions of an image:

line = np.abs(np.arange(200) - 90) / 20 + 0.3 * rng.normal(size=200)
image = np.zeros((40, 60))
image[10:30, 15:40] = 1.0
image += 0.4 * rng.normal(size=image.shape)
fig, (left, middle, right) = plt.subplots(1, 3, figsize=(10, 3))
left.plot(line, ".", color="0.7", ms=3)
left.plot(TrendFilter(20.0).denoise(line), lw=2)
middle.imshow(image, cmap="gray")
right.imshow(FusedLasso(0.5).denoise(image), cmap="gray")
for axes in (middle, right):
    axes.axis("off")

# %% A design works, too: columns that are neighbours share a coefficient.

X = rng.normal(size=(80, 120))
b = np.repeat([0.0, 1.0, 0.0], [50, 20, 50])
model = FusedLasso(20.0).fit(X, X @ b + 0.5 * rng.normal(size=80))
print(model.n_segments_, "pieces,", model.status_, f"gap {model.gap_:.0e}")
