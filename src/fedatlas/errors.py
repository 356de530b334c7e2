"""The exception that a user's mistake raises, and the guess at the name that was meant."""

import contextlib
import difflib
from collections.abc import Collection, Iterator, Mapping
from typing import Any

LENGTH = 400  # characters of a sentence; what quotes a user's value is longer only if the value is
LISTED = 200  # characters of the names that a sentence lists


class UserError(ValueError):
    """A mistake of the user or a missing file. The command line prints it without a traceback and exits with 2.

    >>> import fedatlas
    >>> try:
    ...     fedatlas.train("fedavgg", {"kind": "quadratic"}, clients=2, rounds=1)
    ... except fedatlas.UserError as error:
    ...     print(error)
    unknown algorithm 'fedavgg'; did you mean 'fedavg'? ...
    """

    def __init__(self, sentence: object = "") -> None:
        super().__init__("\n".join(map(shorten, str(sentence).split("\n"))))


class Undefined(UserError):
    """An algorithm is not defined for a problem or under a setting."""


def shorten(sentence: str) -> str:
    """Return a sentence of at most LENGTH characters: of a longer one its beginning and its end."""
    half = LENGTH // 2
    return sentence if len(sentence) <= LENGTH else f"{sentence[: half - 2]} … {sentence[1 - half :]}"


def lookup(noun: str, name: Any, entries: Mapping[str, Any]) -> Any:
    """Return the entry of a name.

    Args:
        noun: Noun of the entry for the sentence, such as ``algorithm``.
        name: The name.
        entries: All entries by name.

    Raises:
        UserError: There is no such entry; the sentence guesses which name was meant and lists names.
    """
    try:
        return entries[name]
    except (KeyError, TypeError):
        raise UserError(f"unknown {noun} {name!r}{did_you_mean(name, entries)}") from None


def did_you_mean(name: Any, names: Collection[str]) -> str:
    """Return the end of a sentence about an unknown name: the most similar name, and as many names as fit."""
    return f"{nearest(name, names)} (known: {enumerate_names(names)})" if names else " (it takes none)"


def enumerate_names(names: Collection[str]) -> str:
    """Return names with commas between them; of many, the first and the number of the others."""
    text = ", ".join(map(str, names))
    if len(text) <= LISTED:
        return text
    head = text[:LISTED].rpartition(", ")[0] or text[:LISTED]
    return f"{head} and {len(names) - head.count(', ') - 1} more"


def nearest(name: Any, names: Collection[str]) -> str:
    """Return the end of a sentence about an unknown name: the most similar name; empty if none is similar."""
    close = difflib.get_close_matches(str(name)[:LISTED], names, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


@contextlib.contextmanager
def explain_overflow(subject: str) -> Iterator[None]:
    """Turn the OverflowError that Python raises while it computes with a user's numbers into a UserError.

    Args:
        subject: Noun with which the sentence begins, such as the name of an algorithm.
    """
    try:
        yield
    except OverflowError as error:
        raise UserError(
            f"{subject}: a number exceeds the range of double precision ({error.args[-1] if error.args else error}): "
            "give numbers that are not as large"
        ) from None


@contextlib.contextmanager
def name_place(place: str) -> Iterator[None]:
    """Put a place, such as a file or a key in it, before the sentence of a UserError."""
    try:
        yield
    except UserError as error:
        raise UserError(f"{place}: {error}") from None
