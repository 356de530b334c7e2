"""``fedatlas check``: the findings of all checks as a table for people, or as JSON."""

import shutil
import textwrap
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from fedatlas.errors import UserError, lookup
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.io import terminal
from fedatlas.registry.options import validate_names
from fedatlas.testing import CHECKS, FAILED, NOT_APPLICABLE, PASSED, Candidate, Finding, findings, own
from fedatlas.testing.findings import shown
from fedatlas.testing.form import place

STATES = (PASSED, FAILED, NOT_APPLICABLE)


def candidates(names: Sequence[str], given: Mapping[str, Any]) -> list[Candidate]:
    """The algorithms to check.

    names: of algorithms; without any, all that are not the atlas's. given: values of hyper-parameters, each for those
    algorithms that have it. Raises UserError on an unknown name, on a value that no algorithm takes, and where a
    hyper-parameter needs a value that cannot be chosen.
    """
    classes = [ALGORITHMS.get(name) for name in dict.fromkeys(names or own())]
    if not classes:
        raise UserError(
            "there is no algorithm of your own here: give names of those to check (`fedatlas list algorithms`)"
        )
    known = {name: one for cls in classes for name, one in cls.options().items()}
    validate_names(" or ".join(cls.title() for cls in classes), known, given)
    found = [Candidate(cls, {name: given[name] for name in cls.options() if name in given}) for cls in classes]
    for one in found:
        one.make()
    return found


def check(names: Sequence[str], given: Mapping[str, Any], only: Collection[str] = ()) -> int:
    """Print a table for each algorithm, a line as soon as a check has ended. Returns the number of failed checks."""
    failed, every = 0, candidates(names, given)
    for name in only:
        lookup("check", name, CHECKS)
    with terminal.progress_bar("checking", len(every) * len(set(only) or CHECKS), "check") as bar:
        say = terminal.printer(bar)
        for one in every:
            failed += _checked(one, only, say, bar.update)
    return failed


def _checked(one: Candidate, only: Collection[str], say: Callable[[str], None], done: Callable[[], object]) -> int:
    began, counts = time.monotonic(), dict.fromkeys(STATES, 0)
    say(_heading(one))
    for finding in findings(one, only):
        say(_line(finding))
        counts[finding.status] += 1
        done()
    text = f"{counts[PASSED]} passed, {counts[FAILED]} failed, {counts[NOT_APPLICABLE]} not applicable"
    say(f"\n  {one.name}: {text} ({time.monotonic() - began:.1f} s)\n")
    return counts[FAILED]


def as_json(names: Sequence[str], given: Mapping[str, Any], only: Collection[str] = ()) -> list[dict[str, Any]]:
    """The findings in JSON types: for each algorithm its name, file and hyper-parameters, and its checks."""
    found = []
    for one in candidates(names, given):
        for name in only:
            lookup("check", name, CHECKS)
        checks = [vars(finding) for finding in findings(one, only)]
        found.append({"algorithm": one.name, "file": place(one), "parameters": one.values, "checks": checks})
    return found


def _heading(one: Candidate) -> str:
    values = f", with {one.described()}" if one.described() else ""
    return f"{one.name} ({shown(place(one))}){values}\n"


def _line(finding: Finding) -> str:
    """A row of the table, wrapped to the width of the terminal."""
    head = f"  {finding.check:<{max(map(len, CHECKS))}}  {finding.status:<{len(NOT_APPLICABLE)}}  "
    width = max(len(head) + 40, min(120, shutil.get_terminal_size((120, 24)).columns))
    return textwrap.fill(
        finding.sentence,
        width,
        initial_indent=head,
        subsequent_indent=" " * len(head),
        break_on_hyphens=False,
        break_long_words=False,
    )
