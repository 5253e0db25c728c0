"""The README and the pages of the documentation work as typed; examples run cell by cell, as the site is built."""

import importlib.util
import re
from pathlib import Path

import pytest

PYTHON = Path(__file__).resolve().parent.parent
EXAMPLES = sorted((PYTHON / "docs" / "examples").glob("*.py"))


@pytest.fixture(scope="module")
def build():
    pytest.importorskip("matplotlib")
    pytest.importorskip("pandas")
    spec = importlib.util.spec_from_file_location("build", PYTHON / "docs" / "build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("folder", [PYTHON, PYTHON.parent], ids=["of the package", "of the repository"])
def test_the_readme_works_as_typed(capsys, folder):
    blocks = re.findall(r"```python\n(.*?)```", (folder / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(blocks) == 1
    assert len(blocks[0].strip().splitlines()) <= 11
    exec(compile(blocks[0], "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "converged True" in printed
    assert ("relative gap" in printed) == (folder == PYTHON)


def test_the_readme_of_the_project_works_as_typed(capsys):
    readme = PYTHON.parent / "README.md"
    if not readme.exists():
        pytest.skip("not in the repository")
    blocks = re.findall(r"```python\n(.*?)```", readme.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(blocks) == 1
    exec(compile(blocks[0], "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "[0.6" in printed or "[0.59" in printed
    assert "converged True" in printed


@pytest.mark.parametrize("name", ["index", "solver"])
def test_pages_work_as_typed(name):
    pytest.importorskip("cvxpy")
    pytest.importorskip("qpsolvers")
    blocks = re.findall(r"```python\n(.*?)```", (PYTHON / "docs" / "pages" / f"{name}.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    assert blocks
    space = {}
    for block in blocks:
        exec(compile(block, f"{name}.md", "exec"), space)


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)
def test_examples_run_and_plot(build, script, tmp_path):
    page = build.page(script, tmp_path)
    assert page.startswith("# ")
    assert "```text" in page
    assert list(tmp_path.glob(f"{script.stem}-*.svg"))


def test_every_example_is_on_the_site(build):
    navigation = (PYTHON / "docs" / "mkdocs.yml").read_text(encoding="utf-8")
    for script in EXAMPLES:
        assert f"examples/{script.stem}.md" in navigation
    for page in re.findall(r": ([a-z]+\.md)", navigation):
        assert page == "api.md" or (PYTHON / "docs" / "pages" / page).exists(), page


def test_the_reference_has_methods_and_the_modules_of_other_libraries(build):
    words = build.reference()
    for heading in ("## LinearSVC", "### LinearSVC.fit", "### Solution.gap", "### Problem.from_toml", "### paths.SVMPath", "#### paths.Frontier.plot", "### qp.solve_qp"):
        assert f"\n{heading}\n" in words, heading
    for module, needed in (("cvxpy_solver.register", "cvxpy"), ("qpsolvers_solver.register", "qpsolvers"), ("skfolio_optimizer.MeanVariance", "skfolio")):
        installed = importlib.util.find_spec(needed) is not None
        assert (f"\n### {module}\n" in words) == installed
        assert installed or f"Left out: {needed}" in words
