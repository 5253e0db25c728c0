"""Makes the documentation: runs the examples, writes their pages and plots, the reference, and the site.

An example is a script of cells: comments that begin with ``# %%`` are prose, the rest is code. Its page has prose, code, what the code printed, and
the figures it left open. An example that fails fails the build.

    python docs/build.py [--no-site]
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import inspect
import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

import equipoise  # noqa: E402

HERE = Path(__file__).resolve().parent
PAGES = HERE / "pages"
# Modules that are not part of the package's own names, and what each needs.
MODULES = {"paths": None, "qp": None, "cvxpy_solver": "cvxpy", "qpsolvers_solver": "qpsolvers", "skfolio_optimizer": "skfolio"}


def cells(text: str) -> list[tuple[str, str]]:
    """Pairs of prose and code."""
    found: list[tuple[list[str], list[str]]] = []
    in_prose = False
    for line in text.splitlines():
        if line.startswith("# %%"):
            found.append(([line.removeprefix("# %%").strip()], []))
            in_prose = True
        elif in_prose and line.startswith("#"):
            found[-1][0].append(line.removeprefix("#").removeprefix(" "))
        elif found:
            in_prose = False
            found[-1][1].append(line)
    return [("\n".join(prose), "\n".join(code).strip()) for prose, code in found]


def page(script: Path, images: Path) -> str:
    """The page of an example, run cell by cell."""
    parts, space = [], {"__name__": script.stem}
    for prose, code in cells(script.read_text(encoding="utf-8")):
        parts.append(prose)
        if not code:
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, f"{script.name}", "exec"), space)
        parts.append(f"```python\n{code}\n```")
        if printed.getvalue().strip():
            parts.append(f"```text\n{printed.getvalue().rstrip()}\n```")
        for number in plt.get_fignums():
            name = f"{script.stem}-{len(list(images.glob(script.stem + '-*.svg')))}.svg"
            figure = plt.figure(number)
            figure.savefig(images / name, metadata={"Date": None})
            plt.close(figure)
            parts.append(f"![{script.stem}](../images/{name})")
    return "\n\n".join(parts) + "\n"


def entry(depth: str, name: str, thing: object) -> list[str]:
    """Heading, signature and documentation string."""
    signature = "" if isinstance(thing, property) else str(inspect.signature(thing))
    return [f"{depth} {name}", f"```python\n{name}{signature}\n```", f"```text\n{inspect.getdoc(thing)}\n```"]


def methods(thing: type) -> list[tuple[str, object]]:
    """What the package itself says an object can do."""
    found = []
    for name, member in inspect.getmembers(thing):
        function = member.fget if isinstance(member, property) else member
        ours = (getattr(function, "__module__", None) or "").startswith("equipoise")
        if not name.startswith("_") and ours and (callable(member) or isinstance(member, property)):
            found.append((name, member))
    return found


def described(module: object, prefix: str) -> list[str]:
    """Everything that a module says is its own, with its methods."""
    parts = []
    for name in sorted((name for name in module.__all__ if not name.startswith("_")), key=str.lower):
        thing = getattr(module, name)
        parts += entry("##" if not prefix else "###", prefix + name, thing)
        if inspect.isclass(thing):
            for method, member in methods(thing):
                parts += entry("###" if not prefix else "####", f"{prefix}{name}.{method}", member)
    return parts


def reference() -> str:
    """Signatures and documentation strings of everything public: of the package, and of its modules for other libraries."""
    parts = ["# Reference", "Everything here is also in `help()`.", *described(equipoise, "")]
    for name, needed in MODULES.items():
        parts += [f"## equipoise.{name}"]
        if needed is not None and importlib.util.find_spec(needed) is None:
            parts += [f"Left out: {needed} is not installed where this page was made."]
            continue
        module = importlib.import_module(f"equipoise.{name}")
        parts += [inspect.getdoc(module) or "", *described(module, f"{name}.")]
    return "\n\n".join(parts) + "\n"


def main() -> int:
    """Runs everything; the exit status of mkdocs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-site", action="store_true", help="only run the examples and write the pages")
    wanted = parser.parse_args()
    plt.rcParams.update({"figure.figsize": (7.0, 3.8), "figure.constrained_layout.use": True, "svg.hashsalt": "equipoise", "svg.fonttype": "none"})
    (images := PAGES / "images").mkdir(exist_ok=True)
    (examples := PAGES / "examples").mkdir(exist_ok=True)
    for script in sorted((HERE / "examples").glob("*.py")):
        for old in images.glob(f"{script.stem}-*.svg"):
            old.unlink()
        print(script.name, flush=True)
        (examples / f"{script.stem}.md").write_text(page(script, images), encoding="utf-8")
    (PAGES / "api.md").write_text(reference(), encoding="utf-8")
    if wanted.no_site:
        return 0
    mkdocs = shutil.which("mkdocs", path=str(Path(sys.executable).parent)) or "mkdocs"
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run([mkdocs, "build", "--strict", "--quiet", "--config-file", str(HERE / "mkdocs.yml")], check=False, env=quiet).returncode


if __name__ == "__main__":
    sys.exit(main())
