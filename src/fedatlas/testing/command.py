"""``fedatlas check``: the outcomes of conformance tests as a table for people, or as JSON."""

import shutil
import sys
import textwrap
import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from fedatlas.errors import UserError, lookup
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.io.machine import progress_bar
from fedatlas.registry.options import validate_names
from fedatlas.testing import (
    CONFORMANCE_TESTS,
    FAILED,
    NOT_APPLICABLE,
    PASSED,
    Implementation,
    Outcome,
    run_tests,
)
from fedatlas.testing.outcomes import display_path


def implementations(
    names: Sequence[str], values: Mapping[str, Any], only: Collection[str] = ()
) -> list[Implementation]:
    """Return the algorithms to test.

    Args:
        names: Names of algorithms; if empty, all that are not built in.
        values: Hyper-parameters by name, each for the algorithms that have it.
        only: Names of tests.

    Raises:
        UserError: A name is unknown, no algorithm takes a value, or a hyper-parameter needs a value from the user.
    """
    for name in only:
        lookup("check", name, CONFORMANCE_TESTS)
    classes = [ALGORITHMS.get(name) for name in dict.fromkeys(map(ALGORITHMS.resolve, names or ALGORITHMS.names()))]
    classes = [cls for cls in classes if names or not cls.__module__.startswith("fedatlas.")]
    if not classes:
        raise UserError(
            "there is no algorithm of your own here: give names of those to check (`fedatlas list algorithms`)"
        )
    options = {name: option for cls in classes for name, option in cls.options().items()}
    validate_names(" or ".join(cls.title() for cls in classes), options, values)
    tests = [Implementation(cls, {name: values[name] for name in cls.options() if name in values}) for cls in classes]
    for implementation in tests:
        implementation.create()
    return tests


def check(names: Sequence[str], values: Mapping[str, Any], only: Collection[str] = ()) -> int:
    """Print a table for each algorithm, line by line as its tests end, and return the number of failed tests.

    Args:
        names: As of `implementations`.
        values: As of `implementations`.
        only: Names of the tests to run; all if empty.
    """
    total, tested = 0, implementations(names, values, only)
    with progress_bar("checking", len(tested) * len(set(only) or CONFORMANCE_TESTS), "test") as bar:
        write = bar.write
        for implementation in tested:
            start, counts = time.monotonic(), dict.fromkeys((PASSED, FAILED, NOT_APPLICABLE), 0)
            hyperparameters = f", with {text}" if (text := implementation.describe_values()) else ""
            write(f"{implementation.name} ({display_path(_source_file(implementation))}){hyperparameters}\n")
            for outcome in run_tests(implementation, only):
                write(_format_row(outcome))
                counts[outcome.status] += 1
                bar.update()
            summary = f"{counts[PASSED]} passed, {counts[FAILED]} failed, {counts[NOT_APPLICABLE]} not applicable"
            write(f"\n  {implementation.name}: {summary} ({time.monotonic() - start:.1f} s)\n")
            total += counts[FAILED]
    return total


def as_json(names: Sequence[str], values: Mapping[str, Any], only: Collection[str] = ()) -> list[dict[str, Any]]:
    """Return the outcomes in JSON types: for each algorithm its name, file, hyper-parameters and tests.

    The arguments are those of `check`.
    """
    return [
        {
            "algorithm": implementation.name,
            "file": _source_file(implementation),
            "parameters": implementation.values,
            "checks": [
                {"check": outcome.test, "status": outcome.status, "sentence": outcome.sentence}
                for outcome in run_tests(implementation, only)
            ],
        }
        for implementation in implementations(names, values, only)
    ]


def _source_file(implementation: Implementation) -> str:
    """Return the file that declares the algorithm, or an empty text if none exists."""
    return getattr(sys.modules[implementation.cls.__module__], "__file__", None) or ""


def _format_row(outcome: Outcome) -> str:
    """Return a row of the table, wrapped to the width of the terminal."""
    head = f"  {outcome.test:<{max(map(len, CONFORMANCE_TESTS))}}  {outcome.status:<{len(NOT_APPLICABLE)}}  "
    width = max(len(head) + 40, min(120, shutil.get_terminal_size((120, 24)).columns))
    return textwrap.fill(
        outcome.sentence,
        width,
        initial_indent=head,
        subsequent_indent=" " * len(head),
        break_on_hyphens=False,
        break_long_words=False,
    )
