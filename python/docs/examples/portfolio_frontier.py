# %% # Portfolio frontier
#
# Portfolios of least variance for every return that can be had, each with its own proof.

# %% Two years of made-up daily returns of fifteen assets:

import numpy as np
import pandas as pd

from equipoise import MeanVariance, frontier

rng = np.random.default_rng(11)
market = 0.009 * rng.normal(size=(500, 1))
betas = rng.uniform(0.4, 1.4, size=15)
returns = pd.DataFrame(
    0.0003 + 0.0010 * betas + market * betas + 0.01 * rng.normal(size=(500, 15)), columns=[f"asset {j:02d}" for j in range(15)]
)

# %% The portfolio of least variance, with at most a quarter in one asset and a limit on the first five:

model = MeanVariance(max_weights=0.25, groups={"first five": (list(returns.columns[:5]), None, 0.4)}).fit(returns)
print(f"risk {model.risk_:.5f} a day, return {model.expected_return_:.5f}, gap {model.gap_:.1e}")
print(model.multipliers_)

# %% The frontier:

found = frontier(returns, 40, max_weights=0.25)
print(found)
print(found.to_pandas()[["expected_return", "risk", "relative_gap"]].iloc[::10].to_string())
_ = found.plot()

# %% Its weights:

ax = found.to_pandas().plot.area(x="expected_return", y=list(returns.columns), legend=False, lw=0, colormap="tab20", figsize=(7, 3))
_ = ax.set_ylabel("weight")
