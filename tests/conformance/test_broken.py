"""Each conformance test, and no other, fails for an algorithm that breaks its guarantee."""

import re

import pytest

from fedatlas.testing import CONFORMANCE_TESTS, FAILED, Implementation, run_tests
from tests.conformance.broken import BROKEN, Sound


def failures(cls, only=()):
    outcomes = run_tests(Implementation(cls, {"lr": 0.1}), only)
    return {outcome.test: outcome.sentence for outcome in outcomes if outcome.status == FAILED}


def test_a_sound_algorithm_passes():
    assert failures(Sound) == {}


@pytest.mark.parametrize("cls", BROKEN, ids=lambda cls: cls.__name__)
def test_fails_with_a_sentence(cls):
    sentences = failures(cls, [cls.expected])
    assert list(sentences) == [cls.expected], sentences
    assert re.search(cls.words, sentences[cls.expected]), sentences
    assert "\n" not in sentences[cls.expected] and sentences[cls.expected][-1] in ".)"


@pytest.mark.slow
@pytest.mark.parametrize("cls", BROKEN, ids=lambda cls: cls.__name__)
def test_no_other_test_fails(cls):
    assert list(failures(cls)) == [cls.expected]


def test_each_conformance_test_has_an_algorithm_that_fails_it():
    # test_transcriptions.py and test_untracked.py, which has studies, cover these
    names = {cls.expected for cls in BROKEN} | {"agreement", "dependencies"}
    assert names == set(CONFORMANCE_TESTS)
