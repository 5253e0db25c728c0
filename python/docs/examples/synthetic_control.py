# %% # A synthetic control
#
# A region passed a law in year 20. What would have happened without it? Mix other regions so that they match it before, with weights that are shares:
# none negative, their sum is 1.

# %% Thirty years of twelve regions with common trends; region 0 is treated, with an effect of -4 a year from year 20 on:

import matplotlib.pyplot as plt
import numpy as np

from equipoise import SimplexRegressor

rng = np.random.default_rng(3)
years = np.arange(30)
trends = np.cumsum(rng.normal(size=(30, 3)), axis=0)
donors = 50 + 3 * trends @ rng.dirichlet(np.ones(3), size=12).T * 3 + 0.4 * rng.normal(size=(30, 12))
treated = donors @ np.r_[0.5, 0.3, 0.2, np.zeros(9)] + 0.3 * rng.normal(size=30)
treated[20:] -= 4.0

# %% The weights come from the years before:

model = SimplexRegressor(tol=1e-9).fit(donors[:20], treated[:20])
print({int(j): float(model.coef_[j].round(3)) for j in model.support_})
print("effect", float((treated - model.predict(donors))[20:].mean().round(2)))
print(model.certificate_)

# %% The gap between the two lines is the effect:

fig, ax = plt.subplots()
ax.plot(years, treated, "k", label="treated")
ax.plot(years, model.predict(donors), "C0--", label="synthetic control")
ax.axvline(20, color="0.6", ls=":")
ax.set_xlabel("year")
_ = ax.legend()

# %% In place of the treated region each donor can play its part, all at once: many targets share one Gram matrix.

targets = donors[:20] + 0.0
others = SimplexRegressor().fit(donors[:20, :6], targets[:, 6:])
print(others.coef_.shape, others.status_)
