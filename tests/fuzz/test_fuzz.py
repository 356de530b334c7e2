"""The kept inputs of every fuzz target, and a few new ones."""

import pytest

from tests.fuzz.frame import CORPUS, targets

TARGETS = targets()
KEPT = [(name, path) for name, target in TARGETS.items() for path in target.kept()]


@pytest.mark.parametrize("name, path", KEPT, ids=[f"{name}-{path.name}" for name, path in KEPT])
def test_kept_inputs(name, path):
    target = TARGETS[name]
    target.feed(target.read(path))


@pytest.mark.parametrize("name", TARGETS)
def test_a_few_new_inputs(name):
    TARGETS[name].search(number=0, examples=20)


def test_the_corpus_is_of_targets():
    assert {path.name for path in CORPUS.glob("*")} <= set(TARGETS)
