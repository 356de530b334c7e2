"""What `fedatlas` offers in Python has examples that run, in docstrings and in docs/."""

import doctest
import re
from pathlib import Path

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


def test_the_page_on_python_runs(inside):
    """All blocks of docs/how-to/python.md, one after another, in one namespace."""
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "how-to/python.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 6
    names = {}
    for block in blocks:
        exec(compile(block, "docs/how-to/python.md", "exec"), names)
