"""Conformance tests, which every algorithm must pass, built-in or from an extension: ``fedatlas check NAME``.

A conformance test is a function of an `Implementation`, an algorithm with its hyper-parameters. It raises `Failed` or
`NotApplicable` with a sentence, or returns. The first paragraph of its docstring is its guarantee. The tests of the
package run the same functions on all built-in algorithms.

No job of the workflow imports this room, so no result depends on it.
"""

from collections.abc import Callable, Collection, Iterator

from fedatlas.testing import (
    convergence,
    hooks,
    participation,
    reproducibility,
    transcriptions,
    untracked,
)
from fedatlas.testing.implementation import Implementation
from fedatlas.testing.outcomes import (
    FAILED,
    NOT_APPLICABLE,
    PASSED,
    Failed,
    NotApplicable,
    Outcome,
    display_name,
    run_test,
)
from fedatlas.testing.transcriptions import transcription

__all__ = [
    "CONFORMANCE_TESTS",
    "FAILED",
    "NOT_APPLICABLE",
    "PASSED",
    "Failed",
    "Implementation",
    "NotApplicable",
    "Outcome",
    "run_tests",
    "transcription",
]

ConformanceTest = Callable[[Implementation], None]

PREREQUISITES = (reproducibility.runs, reproducibility.seeds)  # the tests after one that fails would only repeat it
TESTS: tuple[ConformanceTest, ...] = (
    untracked.dependencies,
    *PREREQUISITES,
    reproducibility.blocks,
    reproducibility.checkpoint,
    reproducibility.recurrence,
    hooks.costs,
    reproducibility.numpy_and_torch,
    participation.partial_participation,
    participation.unseen_clients,
    participation.empty_rounds,
    convergence.optimum,
    convergence.rate,
    transcriptions.agreement,
)
CONFORMANCE_TESTS: dict[str, ConformanceTest] = {display_name(test): test for test in TESTS}


def run_tests(implementation: Implementation, only: Collection[str] = ()) -> Iterator[Outcome]:
    """Run conformance tests and yield their outcomes one by one.

    The tests after a prerequisite that fails do not run.

    Args:
        implementation: Algorithm under test.
        only: Names of the tests to run; all if empty. Prerequisites run in any case, and are yielded if they fail.
    """
    failure = ""
    for name, test in CONFORMANCE_TESTS.items():
        if only and name not in only and test not in PREREQUISITES:
            continue
        if failure:
            outcome = Outcome(name, NOT_APPLICABLE, f"The test waits until `{failure}` passes.")
        else:
            outcome = run_test(test, implementation)
            if test in PREREQUISITES and outcome.status == FAILED:
                failure = name
        if not only or name in only or outcome.status == FAILED:
            yield outcome
