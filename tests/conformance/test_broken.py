"""Each check fails for an algorithm that breaks its guarantee, and no other check does."""

import re

import pytest

from fedatlas.testing import CONFORMANCE_TESTS, DECLARATION_TESTS, FAILED, Implementation, display_name, run_tests
from tests.conformance.broken import BROKEN, Sound

OF_FORM = [display_name(check) for check in DECLARATION_TESTS]


def failed(cls, only=()):
    return {one.test: one.sentence for one in run_tests(Implementation(cls, {"lr": 0.1}), only) if one.status == FAILED}


def test_a_sound_algorithm_passes():
    assert failed(Sound) == {}


@pytest.mark.parametrize("cls", BROKEN, ids=lambda cls: cls.__name__)
def test_the_check_fails_with_a_sentence(cls):
    found = failed(cls, [cls.expected])
    assert list(found) == [cls.expected], found
    assert re.search(cls.words, found[cls.expected]), found
    assert "\n" not in found[cls.expected] and found[cls.expected][-1] in ".)"


@pytest.mark.slow
@pytest.mark.parametrize("cls", BROKEN, ids=lambda cls: cls.__name__)
def test_no_other_check_fails(cls):
    assert list(failed(cls, OF_FORM if cls.expected in OF_FORM else ())) == [cls.expected]


def test_every_check_has_an_algorithm_that_breaks_it():
    assert {cls.expected for cls in BROKEN} | {"agreement"} == set(
        CONFORMANCE_TESTS
    )  # agreement: test_transcriptions.py
