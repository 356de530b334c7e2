"""Fuzz targets: the inputs of the corpus, and a few new ones."""

import pytest

from tests.fuzz import TARGETS

KEPT = [(name, path) for name, target in TARGETS.items() for path in target.corpus()]


@pytest.mark.parametrize("name, path", KEPT, ids=[f"{name}-{path.name}" for name, path in KEPT])
def test_inputs_of_the_corpus(name, path):
    TARGETS[name].feed(path.read_bytes())


@pytest.mark.parametrize(
    "name, examples",
    [("command-line", 3), ("experiment", 3), ("own-data", 30)]
    + [pytest.param(name, 20, marks=pytest.mark.slow) for name in ("command-line", "experiment")],
)
def test_a_few_new_inputs(name, examples):
    TARGETS[name].search(number=0, examples=examples)
