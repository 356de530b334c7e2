"""The outcome of a conformance test: passed, failed or not applicable, with a sentence."""

import functools
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fedatlas
from fedatlas.errors import UserError
from fedatlas.registry.kinds import first_paragraph

PASSED, FAILED, NOT_APPLICABLE = "passed", "failed", "does not apply"
PACKAGE = Path(fedatlas.__file__).parent
# Frames in these paths run an algorithm; a mistake lies in the frame that they called.
ENGINE = ("federation/engine", "federation/arrays.py", "registry/options.py", "testing")


class Failed(Exception):
    """An algorithm fails a conformance test. The message is a sentence with the observation and a remedy."""


class NotApplicable(Exception):
    """A conformance test does not apply to an algorithm. The message is a sentence with the reason."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a conformance test.

    Attributes:
        test: Printed name of the test.
        status: PASSED, FAILED or NOT_APPLICABLE.
        sentence: Guarantee of the test if it passed, else the message of its exception.
    """

    test: str
    status: str
    sentence: str


def display_name(test: Callable[..., None]) -> str:
    """Return the name of a conformance test as the command prints it."""
    return test.__name__.replace("_", "-")


def run_test(test: Callable[[Any], None], implementation: Any) -> Outcome:
    """Run a conformance test on an Implementation. An exception of the algorithm is a failure with its line."""
    outcome = functools.partial(Outcome, display_name(test))
    try:
        test(implementation)
    except Failed as failure:
        return outcome(FAILED, str(failure))
    except NotApplicable as reason:
        return outcome(NOT_APPLICABLE, str(reason))
    except UserError as error:
        return outcome(FAILED, f"A run ends with an error: {error}.")
    except Exception as error:
        return outcome(FAILED, f"A run breaks: {describe_error(error)}")
    return outcome(PASSED, first_paragraph(test).replace("``", "`"))


def describe_error(error: BaseException) -> str:
    """Return an exception as text, with the file, line and function of the algorithm that raised it.

    Args:
        error: An exception with its traceback. Frames of the engine and, if others exist, of libraries are ignored.
    """
    engine = [PACKAGE / path for path in ENGINE]
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not any(Path(frame.filename).is_relative_to(path) for path in engine)
    ]
    text = f"{type(error).__name__}: {error}".rstrip(": ")
    if not frames:
        return f"{text}."
    user = [frame for frame in frames if "site-packages" not in frame.filename and "/lib/python" not in frame.filename]
    frame = (user or frames)[-1]
    return f"{text} ({display_path(frame.filename)}, line {frame.lineno}, in {frame.name})."


def display_path(file: str | Path) -> str:
    """Return a path, relative to the working directory if it lies below it."""
    path, directory = Path(file), Path.cwd()
    return str(path.relative_to(directory)) if path.is_relative_to(directory) else str(path)
