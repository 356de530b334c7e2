"""Fuzz targets: the inputs of the corpus, and a few new ones."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz import TARGETS
from tests.fuzz.targets import CORPUS

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


def test_the_corpus_is_of_targets():
    assert {path.name for path in CORPUS.glob("*")} <= set(TARGETS)


def test_tests_draw_the_same_inputs_each_time_and_make_fuzz_draws_new_ones(request):
    def draw(profile):
        drawn = []
        settings(settings.get_profile(profile), max_examples=20)(
            given(st.integers())(lambda number: drawn.append(number))
        )()
        return drawn

    assert draw("same") == draw("same") and draw("new") != draw("new")
    assert settings.default is settings.get_profile(request.config.getoption("--hypothesis-profile") or "same")
