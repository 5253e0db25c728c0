# %% # Allocation with prices
#
# Power plants meet a demand as cheaply as they can. What the last unit costs is the price; every answer has it, with the interval in which it may lie.

# %% Plants with costs `c2 x^2 + c1 x` and limits:

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from equipoise import Allocation

plants = pd.DataFrame({
    "name": ["wind", "water", "lignite", "coal", "gas", "oil"],
    "c2": [0.0, 0.005, 0.01, 0.02, 0.03, 0.05],
    "c1": [0.0, 5.0, 18.0, 25.0, 40.0, 80.0],
    "upper": [150.0, 100.0, 250.0, 200.0, 150.0, 100.0],
})
model = Allocation(600.0, sensitivity=True).fit(plants)
print(plants.assign(output=model.allocation_.round(2))[["name", "output"]].to_string(index=False))
print("price", model.prices_.round(3), "gap", f"{model.gap_:.1e}")

# %% A second row: 320 units are kept back by plants that can be quick. Keeping back is giving at most so much together:

plants["quick"] = [0.0, 1.0, 0.0, 0.0, 1.0, 1.0]
reserve = Allocation(600.0, rows={"quick": ("<=", 100 + 150 + 100 - 320.0)}).fit(plants)
print(dict(zip(reserve.rows_, reserve.prices_.round(3).tolist(), strict=True)))

# %% Prices and outputs as demand grows:

demands = np.linspace(20, 900, 45)
fits = [Allocation(demand).fit(plants.drop(columns="quick")) for demand in demands]
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
left.step(demands, [fit.prices_[0] for fit in fits], where="mid")
left.set_xlabel("demand")
left.set_ylabel("price")
right.stackplot(demands, np.array([fit.allocation_ for fit in fits]).T, labels=plants["name"])
right.set_xlabel("demand")
_ = right.legend(fontsize="small", loc="upper left")
