"""Every example of the documentation strings works as typed."""

import dataclasses
import doctest
import importlib.util
import inspect
import pkgutil
import re

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


def parameters_of(function):
    """Names that a caller gives."""
    return [name for name in inspect.signature(function).parameters if name not in ("self", "cls", "args", "kwargs")]


def section(thing, name):
    """A section of a documentation string: from its underlined title to the next."""
    found = re.search(rf"^{name}\n-+\n(.*?)(?=^\w+\n-+$|\Z)", inspect.getdoc(thing) or "", flags=re.DOTALL | re.MULTILINE)
    return found.group(1) if found else ""


def public(module):
    """Everything that a module says is its own, and its methods, by their full names."""
    for name in module.__all__:
        thing = getattr(module, name)
        if name.startswith("_") or not callable(thing):
            continue
        yield f"{module.__name__}.{name}", thing
        if not inspect.isclass(thing):
            continue
        for method, function in inspect.getmembers(thing, callable):
            ours = getattr(function, "__module__", "") or ""
            if not method.startswith("_") and ours.startswith("equipoise"):
                yield f"{module.__name__}.{name}.{method}", function


def everything():
    yield from public(equipoise)
    for name in MODULES:
        if not name.startswith("_") and (name not in OPTIONAL or importlib.util.find_spec(OPTIONAL[name])):
            yield from public(importlib.import_module(f"equipoise.{name}"))


def test_help_says_what_every_parameter_is():
    silent = []
    for name, thing in everything():
        # What others construct has attributes; reductions of CVXPY are made without arguments.
        words = section(thing, "Parameters") + (section(thing, "Attributes") if dataclasses.is_dataclass(thing) else "")
        if name == "equipoise.cvxpy_solver.EQUIPOISE":
            continue
        for parameter in parameters_of(thing):
            if not re.search(rf"(^|[\s,*]){parameter}\b", words, flags=re.MULTILINE):
                silent.append(f"{name}({parameter})")
        if not inspect.getdoc(thing):
            silent.append(name)
    assert not silent, f"without words: {sorted(set(silent))}"


def test_help_of_the_extension_has_words():
    for name in equipoise._native.__all__:
        thing = getattr(equipoise._native, name)
        assert name == "__version__" or (thing.__doc__ and not thing.__doc__.startswith("(")), name


@pytest.mark.parametrize("name", [name for name in equipoise.__all__ if not name.startswith("_")])
def test_everything_public_has_words_and_an_example(name):
    thing = getattr(equipoise, name)
    assert inspect.getdoc(thing), name
    if name != "Solution":
        assert ">>>" in thing.__doc__, name
    if inspect.isclass(thing):
        methods = [m for n, m in inspect.getmembers(thing, inspect.isfunction) if not n.startswith("_") and m.__module__.startswith("equipoise")]
        assert all(inspect.getdoc(method) for method in methods), name
