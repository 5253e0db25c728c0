"""Every example of the documentation strings works as typed."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import equipoise

OPTIONAL = {"cvxpy_solver": "cvxpy", "qpsolvers_solver": "qpsolvers", "skfolio_optimizer": "skfolio"}
MODULES = [module.name for module in pkgutil.iter_modules(equipoise.__path__) if module.name != "_native"]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    if name in OPTIONAL:
        pytest.importorskip(OPTIONAL[name])
    module = importlib.import_module(f"equipoise.{name}")
    found = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0


@pytest.mark.parametrize("name", [name for name in equipoise.__all__ if not name.startswith("_")])
def test_everything_public_has_words_and_an_example(name):
    thing = getattr(equipoise, name)
    assert inspect.getdoc(thing), name
    if name not in ("Solution", "dispatch"):
        assert ">>>" in thing.__doc__, name
    if inspect.isclass(thing):
        methods = [m for n, m in inspect.getmembers(thing, inspect.isfunction) if not n.startswith("_") and m.__module__.startswith("equipoise")]
        assert all(inspect.getdoc(method) for method in methods), name
