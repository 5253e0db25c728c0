"""How often a program of equipoise says what is not so: two builds of it on the same problems.

Usage: python3 rates.py NAME=PROGRAM NAME=PROGRAM [--record FOLDER] [--each 25] [--seed 1] [--limit 1.0]

The problems are drawn from a seed, family by family; each family is one way in which a solver can be led to a false claim. Every
number of a problem is a double, and everything is judged for the x or the model that was written, in rational arithmetic:

    claim      `converged` with an objective below the exact one, or more above a point that is known than the tolerance allows
    rows       `converged` with a row missed by more than 1e-9 (|b| + sum |a x|)
    bound      a lower bound above the objective of a feasible point, unless it says within which box it holds
    refused    an error, though there is a solution
    open       neither converged nor refused: honest, but no answer
    limit      a run longer than its limit of time by more than 0.1 s + 5 %

A feasible point that is known: the exact optimum where the problem was made from integers or has few variables (by trying every
face), else the best that any of the programs found.
"""

import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from fractions import Fraction as Q

TOLERANCE = 1e-6
# Of `svm train`: relative to the dual.
GAP = 1e-4
# What a run may take beyond its limit: seconds, share.
LATE = 0.1, 0.05
# What a claimed objective may be below the exact one: four units of the last digit, for builds that do not round upwards.
DIGITS = Q(2) ** -50


def solve(matrix, right):
    """The solution of a square system of rationals, or None."""
    n = len(right)
    rows = [list(row) + [b] for row, b in zip(matrix, right)]
    for k in range(n):
        pivot = next((r for r in range(k, n) if rows[r][k] != 0), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [v / rows[k][k] for v in rows[k]]
        for r in range(n):
            if r != k and rows[r][k] != 0:
                by = rows[r][k]
                rows[r] = [a - by * b for a, b in zip(rows[r], rows[k])]
    return [row[n] for row in rows]


class Problem:
    """f by a matrix and targets (squares or Huber) or a quadratic, an h of single coordinates, rows."""

    def __init__(self, kind, rows=(), rhs=(), l1=None, l2=None, lower=None, tolerance=TOLERANCE, known=None, **data):
        self.kind, self.data, self.tolerance, self.known = kind, data, tolerance, known
        self.rows, self.rhs, self.l1, self.l2, self.lower = list(rows), list(rhs), l1, l2, lower
        self.n = len(data["matrix"][0]) if "matrix" in data else len(data["target"])

    def toml(self):
        text = [f'[smooth]\nkind = "{self.kind}"']
        text += [f"{key} = {json.dumps(value)}" for key, value in self.data.items()]
        if self.l2 is not None:
            text.append(f'[separable]\nkind = "elastic-net"\nl1 = {json.dumps(self.l1)}\nl2 = {json.dumps(self.l2)}')
        elif self.l1 is not None:
            text.append(f'[separable]\nkind = "l1"\nweight = {json.dumps(self.l1)}')
        elif self.lower is not None:
            text.append(f'[separable]\nkind = "box"\nlower = {json.dumps(self.lower)}')
        if self.rows:
            text.append(f'[coupling]\nkind = "rows"\nmatrix = {json.dumps(self.rows)}\nrhs = {json.dumps(self.rhs)}')
        return "\n".join(text) + "\n"

    def objective(self, x):
        x = [Q(v) for v in x]
        data, total = self.data, Q(0)
        if self.kind == "quadratic":
            for r, row in enumerate(data["matrix"]):
                total += x[r] * sum(Q(a) * v for a, v in zip(row, x) if a) / 2
            total += sum(Q(c) * v for c, v in zip(data.get("linear", []), x))
        elif self.kind == "distance":
            weights = data.get("weight", 1)
            for k, (t, v) in enumerate(zip(data["target"], x)):
                total += Q(weights[k] if isinstance(weights, list) else weights) * (v - Q(t)) ** 2
        else:
            for row, y in zip(data["matrix"], data["target"]):
                r = sum(Q(a) * v for a, v in zip(row, x) if a) - Q(y)
                delta = Q(data["delta"]) if self.kind == "huber" else None
                total += r * r / 2 if delta is None or abs(r) <= delta else delta * (abs(r) - delta / 2)
        for weights, of in ((self.l1, abs), (self.l2, lambda v: v * v / 2)):
            if weights is not None:
                total += sum(Q(w) * of(v) for w, v in zip(weights, x))
        return total

    def missed(self, x):
        """By how much the worst row is missed, relative to its own terms; and whether bounds hold."""
        worst = Q(0)
        for row, b in zip(self.rows, self.rhs):
            off = sum(Q(a) * Q(v) for a, v in zip(row, x)) - Q(b)
            size = abs(Q(b)) + sum(abs(Q(a) * Q(v)) for a, v in zip(row, x)) or max(abs(Q(a)) for a in row)
            worst = max(worst, abs(off) / size)
        within = self.lower is None or all(Q(v) >= Q(self.lower) for v in x)
        return worst if within else Q(1)

    def exact(self):
        """The exact optimum of a small problem of squares under rows, by trying every face; None where it is not small."""
        if self.known is not None:
            return self.objective(self.known)
        if self.kind == "huber" or self.n > 4:
            return None
        if self.kind == "quadratic":
            h = [[Q(a) for a in row] for row in self.data["matrix"]]
            c = [Q(v) for v in self.data.get("linear", [0] * self.n)]
        elif self.kind == "distance":
            w = self.data.get("weight", 1)
            w = [Q(v) for v in (w if isinstance(w, list) else [w] * self.n)]
            h = [[2 * w[r] if r == k else Q(0) for k in range(self.n)] for r in range(self.n)]
            c = [-2 * w[k] * Q(t) for k, t in enumerate(self.data["target"])]
        else:
            m = [[Q(a) for a in row] for row in self.data["matrix"]]
            h = [[sum(row[r] * row[k] for row in m) for k in range(self.n)] for r in range(self.n)]
            c = [-sum(row[k] * Q(y) for row, y in zip(m, self.data["target"])) for k in range(self.n)]
        if self.l2 is not None:
            for k in range(self.n):
                h[k][k] += Q(self.l2[k])
        best = None
        for face in itertools.product(*(self.ways(k) for k in range(self.n))):
            free = [k for k in range(self.n) if face[k] is not None]
            at = {k: Q(self.lower or 0) for k in range(self.n) if face[k] is None}
            m = len(self.rows)
            system = [[h[r][k] for k in free] + [Q(row[r]) for row in self.rows] for r in free]
            right = [-c[r] - face[r] - sum(h[r][k] * v for k, v in at.items()) for r in free]
            for row, b in zip(self.rows, self.rhs):
                system.append([Q(row[k]) for k in free] + [Q(0)] * m)
                right.append(Q(b) - sum(Q(row[k]) * v for k, v in at.items()))
            found = solve(system, right)
            if found is None:
                continue
            x = [None] * self.n
            for k, v in list(zip(free, found)) + list(at.items()):
                x[k] = v
            feasible = all(sum(Q(a) * v for a, v in zip(row, x)) == Q(b) for row, b in zip(self.rows, self.rhs))
            if feasible and (self.lower is None or all(v >= Q(self.lower) for v in x)):
                value = self.objective(x)
                best = value if best is None else min(best, value)
        return best

    def ways(self, k):
        """Slopes of h that coordinate k may have on a face; None where it stays at its kink or bound."""
        if self.l1 is not None and self.l1[k] != 0:
            return [None, Q(self.l1[k]), -Q(self.l1[k])]
        return [Q(0)] if self.lower is None else [None, Q(0)]


def families(rng, each):
    """Names and problems."""
    integer = lambda most: rng.randint(-most, most)
    normal = lambda: rng.gauss(0, 1)
    for k in range(each):
        # Slopes that are small beside how far x has to go.
        a = 10.0 ** -rng.randint(2, 6)
        y = 10.0 ** rng.randint(1, 4)
        yield "huber, far away", Problem(
            "huber", matrix=[[a]], target=[y], delta=0.5, tolerance=1e-3, known=[Q(y) / Q(a)]
        )
    for k in range(each):
        # Columns of different scales.
        scale = 10.0 ** -rng.randint(3, 8)
        target = [0.0, round(rng.uniform(0.5, 2.0), 3)]
        yield "huber, scales", Problem(
            "huber", matrix=[[1.0, 0.0], [0.0, scale]], target=target, delta=0.1,
            known=[Q(target[0]), Q(target[1]) / Q(scale)],
        )
    for k in range(each):
        # One variable without a penalty whose coefficient in the row is tiny.
        n = rng.randint(3, 4)
        matrix = [[normal() for _ in range(n)] for _ in range(n)]
        row = [normal() for _ in range(n - 1)] + [10.0 ** -rng.randint(4, 6)]
        l1 = [rng.choice([0.1, 1.0]) for _ in range(n - 1)] + [0.0]
        yield "unpenalised, tiny in its row", Problem(
            "least-squares", rows=[row], rhs=[normal()], matrix=matrix, target=[10 * normal() for _ in range(n)],
            l1=l1, l2=[0.0] * n,
        )
    for k in range(each):
        # Identical columns, some without curvature, rows of any size.
        n = 4
        column = [normal() for _ in range(3)]
        matrix = [[v, v, normal(), normal()] for v in column]
        yield "identical columns", Problem(
            "least-squares", rows=[[0.0, -1.0, -300.0 * rng.random(), normal()]], rhs=[normal()], matrix=matrix,
            target=[normal() for _ in range(3)], l1=[0.1, 0.1, 0.0, 0.1],
            l2=[rng.choice([0.0, 1.0]) for _ in range(n)],
        )
    for k in range(each):
        # A row of small coefficients, or of small numbers, beside a large one.
        big, small = 10.0 ** rng.randint(3, 9), 10.0 ** -rng.randint(0, 6)
        rows = [[big, big, 0.0, 0.0], [0.0, 0.0, small, small]] if k % 2 else [[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]]
        rhs = [big * integer(5), small * integer(5)] if k % 2 else [big, 1.0]
        yield "rows of different scales", Problem(
            "distance", rows=rows, rhs=rhs, target=[normal() for _ in range(4)], weight=[10.0 ** integer(3) for _ in range(4)],
        )
    for k in range(each):
        # Large terms that cancel.
        n, big = 4, 10.0 ** rng.randint(6, 12)
        matrix = [[big * (1 + 1e-3 * normal()) for _ in range(n)] for _ in range(n)]
        yield "cancelling sums", Problem(
            "least-squares", rows=[[1.0] * n], rhs=[normal()], matrix=matrix, target=[big * normal() for _ in range(n)],
        )
    for k in range(each):
        # Everything tiny or huge.
        n, scale = 3, 10.0 ** rng.choice([-150, -100, -50, 50, 100, 150])
        yield "scales 1e-150 to 1e150", Problem(
            "distance", rows=[[1.0] * n], rhs=[scale * abs(normal())], target=[scale * normal() for _ in range(n)], lower=0.0
            if k % 2 else None,
        )
    for k in range(each):
        # Singular quadratics of integers: the optimum is known, and no dual point is feasible to the last bit.
        n = rng.randint(12, 33)
        factor = [[integer(3) for _ in range(n)] for _ in range(n // 2)]
        matrix = [[float(sum(row[r] * row[c] for row in factor)) for c in range(n)] for r in range(n)]
        x = [integer(4) for _ in range(n)]
        linear = [-float(sum(a * v for a, v in zip(row, x))) for row in matrix]
        yield "singular quadratics", Problem(
            "quadratic", rows=[[1.0] * n], rhs=[float(sum(x))], matrix=matrix, linear=linear, known=x
        )
    for k in range(each):
        # More variables than samples, to many digits; the optimum is 0.
        n = rng.randint(6, 20)
        matrix = [[float(integer(9)) for _ in range(n)] for _ in range(n // 2)]
        x = [integer(5) for _ in range(n)]
        target = [float(sum(a * v for a, v in zip(row, x))) for row in matrix]
        yield "underdetermined, 1e-12", Problem(
            "least-squares", rows=[[1.0] * n], rhs=[float(sum(x))], matrix=matrix, target=target, known=x, tolerance=1e-12
        )
    for k in range(each):
        # Two rows that are nearly parallel, no bounds: there is a solution.
        near = 1.0 + 10.0 ** -rng.randint(4, 8)
        rhs = [1.0, 1.0 + normal() * (near - 1.0)]
        yield "nearly parallel rows", Problem(
            "distance", rows=[[1.0, 1.0, 1.0], [1.0, near, 1.0]], rhs=rhs, target=[normal() for _ in range(3)]
        )


class Svm:
    """Rows, labels, cost, weights of the labels; hinge."""

    tolerance = GAP

    def __init__(self, rows, labels, cost, weights):
        self.rows, self.labels, self.cost, self.weights = rows, labels, cost, weights

    def text(self):
        entries = lambda row: " ".join(f"{k + 1}:{v!r}" for k, v in enumerate(row) if v)
        return "".join(f"{label:+d} {entries(row)}\n" for row, label in zip(self.rows, self.labels))

    def primal(self, w, bias):
        w, bias = [Q(v) for v in w], Q(bias)
        total = sum(v * v for v in w) / 2
        for row, label in zip(self.rows, self.labels):
            margin = label * (sum(a * Q(v) for a, v in zip(w, row) if v) + bias)
            total += Q(self.cost) * Q(self.weights.get(label, 1.0)) * max(Q(0), 1 - margin)
        return total


def machines(rng, each):
    for k in range(2 * each):
        count, columns = rng.randint(20, 60), rng.randint(2, 6)
        scale = 10.0 ** rng.choice([0, 0, 0, -3, 3])
        rows = [[round(scale * rng.gauss(0, 1), 6) for _ in range(columns)] for _ in range(count)]
        truth = [rng.gauss(0, 1) for _ in range(columns)]
        noisy = lambda row: sum(a * b for a, b in zip(row, truth)) / scale + rng.gauss(0, 1)
        labels = [1 if noisy(row) > 0 else -1 for row in rows]
        labels[:2] = [1, -1]
        if k < each:
            weights = {1: 10.0 ** rng.randint(3, 15)}
            yield "svm, weights to 1e15", Svm(rows, labels, 1.0, weights)
        else:
            yield "svm, C to 1e300", Svm(rows, labels, 10.0 ** rng.choice([-6, 3, 6, 9, 15, 30, 300]), {})


def run(program, arguments, out):
    begun = time.monotonic()
    try:
        done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return None, time.monotonic() - begun, "no answer within 60 s"
    seconds = time.monotonic() - begun
    try:
        said = json.loads(done.stdout)
    except ValueError:
        return None, seconds, done.stderr.strip()
    if os.path.exists(out):
        with open(out) as file:
            said["file"] = json.load(file)
    return said, seconds, ""


def answer(program, problem, folder, limit):
    """What a program says of a problem: status, claimed objective and bound, the exact objective, rows, seconds."""
    out = os.path.join(folder, "out.json")
    if os.path.exists(out):
        os.remove(out)
    if isinstance(problem, Svm):
        data = os.path.join(folder, "data.svm")
        with open(data, "w") as file:
            file.write(problem.text())
        arguments = ["svm", "train", data, "--json", "--model", out, "--cost", repr(problem.cost), "--time-limit", str(limit)]
        if problem.weights:
            arguments += ["--class-weight", ",".join(f"{label}={weight!r}" for label, weight in problem.weights.items())]
        said, seconds, error = run(program, arguments, out)
        if said is None or "file" not in said:
            return {"status": "refused" if said is None else said.get("status", "open"), "seconds": seconds, "error": error}
        model = said["file"]
        w = model["weights"][0] + [0.0] * (len(problem.rows[0]) - len(model["weights"][0]))
        return {
            "status": said["status"], "seconds": seconds, "exact": problem.primal(w, model["bias"][0]), "missed": Q(0),
            "objective": said["primal"], "bound": said["dual"], "within": None,
        }
    file = os.path.join(folder, "problem.toml")
    with open(file, "w") as stream:
        stream.write(problem.toml())
    arguments = ["solve", file, "--json", "--out", out, "--tolerance", repr(problem.tolerance), "--time-limit", str(limit)]
    said, seconds, error = run(program, arguments, out)
    if said is None:
        return {"status": "refused", "seconds": seconds, "error": error}
    x = said["x"]
    return {
        "status": said["status"], "seconds": seconds, "exact": problem.objective(x), "missed": problem.missed(x),
        "objective": said["objective"], "bound": said.get("lower_bound"), "within": said.get("holds_within"),
    }


def judge(problem, found, known, limit):
    """The words of the header that fit."""
    verdicts = []
    if found["seconds"] > limit * (1 + LATE[1]) + LATE[0]:
        verdicts.append("limit")
    if found["status"] == "refused":
        return verdicts + ["refused"]
    if found["status"] != "converged":
        verdicts.append("open")
    if "exact" not in found:
        return verdicts
    exact, objective, bound = found["exact"], found["objective"], found["bound"]
    if found["status"] == "converged":
        size = abs(exact) + (0 if isinstance(problem, Svm) else 1)
        below = objective is not None and Q(objective) < exact and exact - Q(objective) > DIGITS * abs(exact)
        far = known is not None and exact - known > Q(problem.tolerance) * size
        if below or far:
            verdicts.append("claim")
        if found["missed"] > Q(1e-9):
            verdicts.append("rows")
    if bound is not None and known is not None and found["within"] is None and abs(bound) < float("inf"):
        # Printed with all digits: no rounding to forgive.
        if Q(bound) > known:
            verdicts.append("bound")
    return verdicts


def main(arguments):
    programs, options = [], {"--each": "25", "--seed": "1", "--limit": "1.0", "--record": None}
    rest = iter(arguments)
    for argument in rest:
        if argument in options:
            options[argument] = next(rest)
        else:
            programs.append(argument.split("=", 1))
    if not programs:
        sys.exit(__doc__)
    rng, each, limit = random.Random(int(options["--seed"])), int(options["--each"]), float(options["--limit"])
    words = ["claim", "rows", "bound", "refused", "open", "limit"]
    counts, examples, lines = {}, [], []
    with tempfile.TemporaryDirectory() as folder:
        for number, (family, problem) in enumerate(itertools.chain(families(rng, each), machines(rng, each))):
            found = [answer(program, problem, folder, limit) for _, program in programs]
            # A point that misses its rows a little can be better than any that does not.
            others = [one["exact"] for one in found if one.get("missed") == 0]
            optimum = None if isinstance(problem, Svm) else problem.exact()
            known = optimum if optimum is not None else min(others, default=None)
            for (name, _), one in zip(programs, found):
                verdicts = judge(problem, one, known, limit)
                tally = counts.setdefault(family, {}).setdefault(name, dict.fromkeys(words + ["problems"], 0))
                tally["problems"] += 1
                for verdict in verdicts:
                    tally[verdict] += 1
                show = lambda value: "" if value is None else repr(float(value)) if abs(value) < Q(10) ** 300 else "huge"
                lines.append(
                    ",".join([
                        str(number), family.replace(",", ""), name, one["status"], show(one.get("exact")), show(known),
                        str(one.get("objective", "")), str(one.get("bound", "")), f"{one['seconds']:.3f}", " ".join(verdicts),
                    ])
                )
                if "refused" in verdicts:
                    examples.append(f"{number} {name}: {one.get('error', '')[:200]}")
    text = "| family | build | problems | " + " | ".join(words) + " |\n|---|---|" + "---|" * (len(words) + 1) + "\n"
    totals = {}
    for family, by_name in counts.items():
        for name, tally in by_name.items():
            text += f"| {family} | {name} | {tally['problems']} | " + " | ".join(str(tally[word]) for word in words) + " |\n"
            total = totals.setdefault(name, dict.fromkeys(words + ["problems"], 0))
            for word in total:
                total[word] += tally[word]
    for name, tally in totals.items():
        text += f"| **all** | {name} | {tally['problems']} | " + " | ".join(str(tally[word]) for word in words) + " |\n"
    print(text)
    if options["--record"]:
        os.makedirs(options["--record"], exist_ok=True)
        with open(os.path.join(options["--record"], "rates.csv"), "w") as file:
            file.write("problem,family,build,status,exact,known,objective,bound,seconds,verdicts\n" + "\n".join(lines) + "\n")
        with open(os.path.join(options["--record"], "table.md"), "w") as file:
            file.write(text)
    for line in examples[:40]:
        print(line, file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
