"""What a check finds: passed, failed or does not apply, with a sentence."""

import functools
import inspect
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fedatlas
from fedatlas.errors import UserError

PASSED, FAILED, NOT_APPLICABLE = "passed", "failed", "does not apply"
PACKAGE = Path(fedatlas.__file__).parent


class Failed(Exception):
    """An algorithm does not pass a check. The message says what was seen and what to do."""


class NotApplicable(Exception):
    """A check says nothing about an algorithm. The message says why."""


@dataclass(frozen=True)
class Finding:
    """The outcome of a check. check: its name. status: PASSED, FAILED or NOT_APPLICABLE. sentence: what was found."""

    check: str
    status: str
    sentence: str


def name_of(check: Callable[..., None]) -> str:
    """The name of a check, as the command shows it."""
    return check.__name__.replace("_", "-")


def promise(check: Callable[..., None]) -> str:
    """What a check ensures: the first paragraph of its docstring, on one line."""
    return " ".join((inspect.getdoc(check) or "").split("\n\n")[0].split()).replace("``", "`")


def find(check: Callable[[Any], None], candidate: Any) -> Finding:
    """The Finding of a check on a Candidate. An exception of the algorithm is a failure with its place."""
    found = functools.partial(Finding, name_of(check))
    try:
        check(candidate)
    except Failed as failure:
        return found(FAILED, str(failure))
    except NotApplicable as reason:
        return found(NOT_APPLICABLE, str(reason))
    except UserError as error:
        return found(FAILED, f"A run ends with an error: {error}")
    except Exception as error:
        return found(FAILED, f"A run breaks: {told(error)}")
    return found(PASSED, promise(check))


def told(error: BaseException) -> str:
    """An exception with the file, line and function from which it came; those of the package's engine are passed over.

    error: an exception that was raised.
    """
    frames = traceback.extract_tb(error.__traceback__)
    engine = [PACKAGE / room for room in ("simulation", "conformance", "federation/arrays.py", "registry/options.py")]
    own = [one for one in frames if not any(Path(one.filename).is_relative_to(place) for place in engine)]
    text = f"{type(error).__name__}: {error}".rstrip(": ")
    outside = [one for one in own if "site-packages" not in one.filename and "/lib/python" not in one.filename]
    if not (outside or own):
        return f"{text}."
    at = (outside or own)[-1]
    return f"{text} ({shown(at.filename)}, line {at.lineno}, in {at.name})."


def shown(file: str | Path) -> str:
    """A path as people read it: relative to the working directory where it lies there."""
    path, here = Path(file), Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
