# %% # Microbiome regression
#
# Counts of genera say only how they relate to one another. With logarithms as columns and coefficients that sum to 0, a prediction is a weighted sum of
# log-ratios, and the depth of sequencing does not matter.

# %% Made-up counts of sixty genera in 150 samples, with two log-ratios that matter, and the age of the donor:

import numpy as np
import pandas as pd

from equipoise import ZeroSumLassoCV, zero_sum_path

rng = np.random.default_rng(1)
shares = rng.dirichlet(np.exp(rng.normal(size=60)), size=150)
depth = rng.integers(5_000, 50_000, size=150)
counts = np.array([rng.multinomial(n, p) for n, p in zip(depth, shares)])
genera = [f"genus {j:02d}" for j in range(60)]
X = pd.DataFrame(np.log(np.maximum(counts, 0.5)), columns=genera).assign(age=rng.uniform(20, 70, size=150))
y = 2.0 * (X["genus 03"] - X["genus 11"]) + (X["genus 20"] - X["genus 41"]) + 0.05 * X["age"] + rng.normal(size=150)

# %% `age` is a covariate: neither penalised nor part of the sum. Cross-validation chooses alpha, by the rule of one standard error:

model = ZeroSumLassoCV(alphas=60, cv=10, selection="one_se", covariates=["age"]).fit(X, y)
chosen = pd.Series(model.coef_, index=X.columns)
print(chosen[chosen != 0].round(3).to_string())
print("sum of genera", float(np.round(chosen[genera].sum(), 12)), " gap", f"{model.gap_:.1e}")

# %% Multiplying all counts of a sample by any number leaves its prediction as it is:

deeper = X.copy()
deeper[genera] += np.log(1000.0)
print(bool(np.allclose(model.predict(deeper), model.predict(X))))

# %% Coefficients along alpha, each point with its own proof:

path = zero_sum_path(X, y, 60, eps=0.01, covariates=["age"])
ax = path.plot(most=6)
_ = ax.axvline(model.alpha_, color="0.5", ls=":")
