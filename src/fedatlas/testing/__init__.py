"""What every algorithm must pass, the atlas's own and those of a study: ``fedatlas check NAME``.

A check is a function of a `Candidate`, an algorithm with its hyper-parameters. It raises `Failed` or `NotApplicable`
with a sentence, or returns. The first paragraph of its docstring is what it ensures. The tests of the package run the
same functions over all algorithms of the atlas.

No job of the workflow imports this room, so no result depends on it.
"""

from collections.abc import Callable, Collection, Iterator

from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.testing import attendance, bits, extremes, form, hooks, libraries, optima, transcriptions
from fedatlas.testing.candidate import Candidate
from fedatlas.testing.findings import (
    FAILED,
    NOT_APPLICABLE,
    PASSED,
    Failed,
    Finding,
    NotApplicable,
    find,
    name_of,
    promise,
)
from fedatlas.testing.transcriptions import transcription

__all__ = [
    "CHECKS",
    "FAILED",
    "NOT_APPLICABLE",
    "PASSED",
    "Candidate",
    "Failed",
    "Finding",
    "NotApplicable",
    "findings",
    "name_of",
    "own",
    "promise",
    "transcription",
]

Check = Callable[[Candidate], None]

FORM: tuple[Check, ...] = (form.docstring, form.options, form.refusals, form.citation)
BEHAVIOUR: tuple[Check, ...] = (
    bits.runs,
    bits.seeds,
    bits.blocks,
    bits.threads,
    bits.evaluation,
    bits.checkpoint,
    bits.grid,
    bits.recurrence,
    hooks.arrays_unchanged,
    hooks.costs,
    libraries.numpy_and_torch,
    libraries.single_precision,
    attendance.partial_participation,
    attendance.unseen_clients,
    attendance.empty_rounds,
    extremes.ranges,
    optima.optimum,
    optima.rate,
    transcriptions.agreement,
)
GATES = (bits.runs, bits.seeds)  # where one of them fails, the checks after it would find nothing but that
CHECKS: dict[str, Check] = {name_of(one): one for one in (*FORM, *BEHAVIOUR)}


def findings(candidate: Candidate, only: Collection[str] = ()) -> Iterator[Finding]:
    """The findings of all checks, one by one; or of some, by their names.

    Where an algorithm does not run, or no run of it can be repeated, the checks that would run it wait.
    """
    closed = ""
    for name, check in CHECKS.items():
        if only and name not in only and check not in GATES:
            continue
        if closed and check in BEHAVIOUR:
            found = Finding(name, NOT_APPLICABLE, f"The check waits until `{closed}` passes.")
        else:
            found = find(check, candidate)
            if check in GATES and found.status == FAILED:
                closed = name
        if not only or name in only or found.status == FAILED:
            yield found


def own() -> list[str]:
    """Names of the algorithms that are not the atlas's: those of the study and of installed extensions."""
    return [name for name in ALGORITHMS.names() if not ALGORITHMS.get(name).__module__.startswith("fedatlas.")]
