"""The data: generated from seeds, or read from the public data sets where a folder of them is given.

Every maker writes what our command reads into a folder, once, and gives the problem. It must not know any solver.
"""

import csv
import gzip
import os
import re
from pathlib import Path

import numpy as np
from jobs import Made, keep
from problems import Allocation, Dispatch, Frontier, Logistic


def columns(folder: Path, **named: np.ndarray) -> None:
    """A table of one row a user: table.npy, in the order that is read quickest, and the names of its columns."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "table.npy").exists():
        (folder / "names.txt").write_text("\n".join(named) + "\n", encoding="utf-8")
        part = folder / "table.part.npy"
        np.save(part, np.asfortranarray(np.column_stack(list(named.values()))))
        part.replace(folder / "table.npy")


def quadratic(folder: Path, numbers: dict) -> Made:
    """Costs c2 x^2 + c1 x on 0 <= x <= u, c2 in [0.05, 0.5], c1 in [1, 10], u in [0.5, 2]; half of all is demanded."""
    random = np.random.default_rng(numbers["seed"])
    users = numbers["users"]
    c2, c1 = random.uniform(0.05, 0.5, users), random.uniform(1.0, 10.0, users)
    upper = random.uniform(0.5, 2.0, users)
    demand = 0.5 * float(upper.sum())
    columns(folder, c2=c2, c1=c1, upper=upper)
    problem = Allocation(False, c2, c1, upper, np.ones((1, users)), np.array([demand]))
    return Made(folder, numbers, {"main": problem})


def entropy(folder: Path, numbers: dict) -> Made:
    """x ln(x / r) under the total and four moments, r in [0.5, 1.5], the features standard normal.

    The moments are those of r exp(f'theta + noise), theta of deviation 0.4 and noise of 0.3, so that they can be met.
    """
    random = np.random.default_rng(numbers["seed"])
    users = numbers["users"]
    reference = random.uniform(0.5, 1.5, users)
    features = random.standard_normal((4, users))
    tilt = 0.4 * random.standard_normal(4) @ features + 0.3 * random.standard_normal(users)
    rows = np.vstack([np.ones(users), features])
    right = rows @ (reference * np.exp(tilt))
    columns(folder, reference=reference, **{f"m{number + 1}": row for number, row in enumerate(features)})
    return Made(folder, numbers, {"main": Allocation(True, None, reference, None, rows, right)})


def given(*parts: str) -> Path | None:
    """A file of the public data sets, where there are any."""
    folder = os.environ.get("EQUIPOISE_DATA")
    path = Path(folder, *parts) if folder else None
    return path if path is not None and path.exists() else None


def block(text: str, name: str) -> np.ndarray:
    """A matrix of a MATPOWER case."""
    inside = re.search(rf"mpc\.{name}\s*=\s*\[(.*?)\]", text, re.DOTALL).group(1)
    lines = (line.split("%")[0].strip().rstrip(";") for line in inside.splitlines())
    rows = [[float(word) for word in re.split(r"[\s,]+", line) if word] for line in lines if line]
    return np.array(rows)


def made_up_case(path: Path, seed: int, units: int, share: float) -> None:
    """A case of the shape of case300: as many generators, costs of c2 = 1 / (100 to 20000) with c1 of 20 or 40, limits
    from 0 to between 100 and 2500."""
    random = np.random.default_rng(seed)
    upper = np.round(random.uniform(100.0, 2500.0, units), 1)
    c2, c1 = 1.0 / random.uniform(10.0, 1000.0, units), random.choice([20.0, 40.0], units)
    total = round(share * float(upper.sum()), 1)
    bus = f"1 3 {total} 0 0 0 1 1 0 100 1 1.1 0.9;"
    generators = "\n".join(f"1 0 0 0 0 1 100 1 {value} 0 0 0 0 0 0 0 0 0 0 0 0;" for value in upper)
    costs = "\n".join(f"2 0 0 3 {a!r} {b!r} 0;" for a, b in zip(c2.tolist(), c1.tolist(), strict=True))
    path.write_text(
        "function mpc = generated\nmpc.version = '2';\nmpc.baseMVA = 100;\n"
        f"mpc.bus = [\n{bus}\n];\nmpc.gen = [\n{generators}\n];\nmpc.branch = [\n];\nmpc.gencost = [\n{costs}\n];\n",
        encoding="utf-8",
    )


def dispatch(folder: Path, numbers: dict) -> Made:
    """case300, or a generated case of its shape; demands evenly spaced between shares of what the limits allow."""
    made = Made(folder, numbers)
    path = given("power", "case300.m")
    if path is None:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "generated.m"
        made_up_case(path, numbers["seed"], 69, 0.7)
        made.notes.append("case300.m was not given (--data): a generated case of the same shape")
    text = path.read_text(encoding="utf-8")
    units, costs = block(text, "gen"), block(text, "gencost")
    on = units[:, 7] > 0.0
    units, costs = units[on], costs[: len(on)][on]
    if not ((costs[:, 0] == 2.0) & (costs[:, 3] == 3.0)).all():
        raise ValueError(f"{path.name}: the judge knows quadratic costs alone")
    lower, upper = units[:, 9], units[:, 8]
    least, most = float(lower.sum()), float(upper.sum())
    low, high = (round(least + share * (most - least), 3) for share in (0.1, 0.95))
    demands = np.linspace(low, high, numbers["levels"])
    made.numbers = {**numbers, "case": str(path), "low": low, "high": high}
    made.problems["main"] = Dispatch(costs[:, 4], costs[:, 5], costs[:, 6], lower, upper, demands)
    return made


def least_variance(factor: np.ndarray) -> np.ndarray:
    """The long-only portfolio of least variance: min ||F w||^2 + (1 - sum w)^2 over w >= 0, scaled, is the same."""
    from scipy.optimize import nnls

    typical = np.sqrt((factor**2).sum(axis=0).mean())
    rows = np.vstack([factor / typical, np.ones(factor.shape[1])])
    right = np.zeros(len(rows))
    right[-1] = 1.0
    weights = nnls(rows, right, maxiter=100 * factor.shape[1])[0]
    return weights / weights.sum()


def frontier(folder: Path, numbers: dict, returns: np.ndarray) -> Made:
    """As many returns as asked for, from that of the least variance to the largest mean."""
    means = returns.mean(axis=0)
    factor = (returns - means) / np.sqrt(len(returns) - 1.0)
    if not (folder / "least.npy").exists():
        keep(folder, least=least_variance(factor))
    first = float(means @ np.load(folder / "least.npy"))
    targets = np.linspace(first, float(means.max()), numbers["points"])
    # In the middle of as many stretches of one length.
    few = (np.arange(numbers["few"]) + 0.5) * numbers["points"] / numbers["few"]
    return Made(folder, numbers, {"main": Frontier(factor, means, targets, few.astype(int))})


def prices(folder: Path, numbers: dict) -> Made:
    """Daily prices of 20 stocks, or a generated table of that size; simple returns."""
    path, notes = given("portfolio", "sp500_dataset.csv.gz"), []
    folder = folder.with_name(f"{folder.name}-{'given' if path else 'generated'}")
    folder.mkdir(parents=True, exist_ok=True)
    if path is None:
        path = folder / "prices.csv"
        notes.append("sp500_dataset.csv.gz was not given (--data): a generated table of 20 assets and 8313 days")
        if not path.exists():
            made_up = 100.0 * np.cumprod(1.0 + factor_returns(numbers["seed"], 8313, 20, 3), axis=0)
            lines = [",".join(["Date", *(f"A{number + 1}" for number in range(20))])]
            lines += [f"day {day}," + ",".join(map(repr, row)) for day, row in enumerate(made_up.tolist())]
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        table = np.array([[float(cell) for cell in row[1:]] for row in list(csv.reader(file))[1:]])
    made = frontier(folder, {**numbers, "table": str(path)}, table[1:] / table[:-1] - 1.0)
    made.notes = notes
    return made


def factor_returns(seed: int, days: int, assets: int, factors: int) -> np.ndarray:
    """Returns of a factor model: loadings normal about a market, factors of 0.7 % a day, own noise of 0.5 to 2.5 %."""
    random = np.random.default_rng(seed)
    loadings = 0.5 * random.standard_normal((factors, assets))
    loadings[0] += 1.0
    common = 0.007 * random.standard_normal((days, factors)) @ loadings
    own = random.uniform(0.005, 0.025, assets) * random.standard_normal((days, assets))
    return random.normal(0.0004, 0.0003, assets) + common + own


def many_assets(folder: Path, numbers: dict) -> Made:
    """Returns of a factor model of 20 factors, fewer days than assets."""
    if not (folder / "returns.npy").exists():
        keep(folder, returns=factor_returns(numbers["seed"], numbers["days"], numbers["assets"], 20))
    return frontier(folder, numbers, np.load(folder / "returns.npy"))


def graph(name: str, nodes: int) -> np.ndarray:
    """The edges of our own graphs of these names, each once."""
    ring = [(node, (node + 1) % nodes) for node in range(nodes)]
    tree = [((node - 1) // 2, node) for node in range(1, nodes)]
    clique = [(first, second) for first in range(nodes) for second in range(first + 1, nodes)]
    star = [(0, node) for node in range(1, nodes)]
    pairs = {"ring": ring, "tree+ring": tree + ring, "clique": clique, "tree": tree, "star": star}[name]
    return np.array(sorted({(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]}))


def logistic(folder: Path, numbers: dict) -> Made:
    """Rows normal about a mean of their shard (deviation 0.3), labels of a planted logistic model; S = 1."""
    nodes = numbers["shards"]
    names = [f"shard-{node:02d}" for node in range(nodes)]
    if not (folder / f"{names[-1]}.npy").exists():
        random = np.random.default_rng(numbers["seed"])
        truth = random.standard_normal(numbers["columns"]) / np.sqrt(numbers["columns"])
        for name, share in zip(names, np.array_split(np.arange(numbers["rows"]), nodes), strict=True):
            middle = 0.3 * random.standard_normal(numbers["columns"])
            rows = middle + random.standard_normal((len(share), numbers["columns"]))
            chance = 1.0 / (1.0 + np.exp(-2.0 * rows @ truth))
            labels = np.where(random.uniform(size=len(share)) < chance, 1.0, -1.0)
            keep(folder, **{name: np.column_stack([rows, labels])})
    tables = [np.load(folder / f"{name}.npy") for name in names]
    shards, labels = [np.ascontiguousarray(table[:, :-1]) for table in tables], [table[:, -1] for table in tables]
    # "tree": on a spanning tree of the graph alone, which sends less in an iteration; a ring has none but a long one.
    spanning = {"tree+ring": "tree", "clique": "star"}.get(numbers["graph"], numbers["graph"])
    made = Made(folder, numbers)
    for name, edges in (("main", numbers["graph"]), ("tree", spanning)):
        made.problems[name] = problem = Logistic(shards, labels, 1.0, graph(edges, nodes))
        if not (folder / "optimum.npy").exists():
            keep(folder, optimum=problem.search())
        problem.optimum = np.load(folder / "optimum.npy")
    return made
