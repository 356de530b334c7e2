"""What `fedatlas` offers in Python has examples that run, in docstrings and in docs/."""

import doctest
import inspect
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fedatlas

DOCS = Path(__file__).parents[2] / "docs"
CALLED = ("FederatedLogisticRegression", "Logistic", "Network", "Quadratic", "Softmax", "UserError", "load_results")
CALLED += ("partitions", "plot", "train")  # what extensions derive from has examples in docs/how-to/adding.md
OFFERED = {name: getattr(fedatlas, name) for name in CALLED}
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def examples(thing):
    """The doctests in the docstring of a function, class or module."""
    return [test for test in doctest.DocTestFinder(recurse=False).find(thing, thing.__name__) if test.examples]


@pytest.mark.parametrize("name", OFFERED)
def test_examples_of_docstrings_run(name, inside):
    actual = examples(OFFERED[name])
    assert actual, f"fedatlas.{name} has no example"
    for test in actual:
        result = doctest.DocTestRunner(optionflags=FLAGS).run(test)
        assert not result.failed, test.name


def test_a_module_is_loaded_when_it_is_asked_for():
    code = "import sys, fedatlas; print(dir(fedatlas) == fedatlas.__all__, *sys.modules)"
    first, *loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.split()
    assert first == "True" and not {"pandas", "numpy", "torch", "sklearn", "matplotlib"} & {*loaded}


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        _ = fedatlas.nope


def test_the_page_on_python_runs(inside):
    """All blocks of docs/how-to/python.md, one after another, in one namespace."""
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "how-to/python.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 6
    names = {}
    for block in blocks:
        exec(compile(block, "docs/how-to/python.md", "exec"), names)


def test_the_page_on_arrays_has_every_function():
    page = (DOCS / "reference/arrays.md").read_text(encoding="utf-8")
    functions = {
        name for name, value in vars(fedatlas.arrays).items() if inspect.isfunction(value) and not name.startswith("_")
    }
    assert set(re.findall(r"autofunction:: fedatlas\.arrays\.(\w+)", page)) == functions
    names = {}
    exec(re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0], names)
    assert np.allclose(names["clip"](np.array([[3.0, 4.0], [0.0, 0.1]]), 1.0), [[0.6, 0.8], [0.0, 0.1]])


@pytest.mark.slow
def test_the_page_on_characters_runs(inside):
    """All blocks of docs/how-to/characters.md, with fewer rounds; the model learns something."""
    page = (DOCS / "how-to/characters.md").read_text(encoding="utf-8")
    names = {}
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        short = block.replace('"rounds": 20, "local_steps": 20', '"rounds": 5, "local_steps": 12')
        exec(compile(short, "docs/how-to/characters.md", "exec"), names)
    assert names["frame"]["loss"].iloc[-1] < names["frame"]["loss"].iloc[0]
