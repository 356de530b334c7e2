"""The exception that a user's mistake raises, and the guess at the name that was meant."""

import contextlib
import difflib
from collections.abc import Collection, Iterator, Mapping
from typing import Any


class UserError(ValueError):
    """A mistake of the user or a missing file. The command line prints it without a traceback and exits with 2.

    >>> import fedatlas
    >>> try:
    ...     fedatlas.train("fedavgg", {"kind": "quadratic"}, clients=2, rounds=1)
    ... except fedatlas.UserError as error:
    ...     print(error)
    unknown algorithm 'fedavgg'; did you mean 'fedavg'? ...
    """


class Undefined(UserError):
    """An algorithm is not defined for a problem or under a setting."""


def lookup(noun: str, name: Any, entries: Mapping[str, Any]) -> Any:
    """Return the entry of a name.

    Args:
        noun: Noun of the entry for the sentence, such as ``algorithm``.
        name: The name.
        entries: All entries by name.

    Raises:
        UserError: There is no such entry; the sentence guesses which name was meant and lists all names.
    """
    try:
        return entries[name]
    except (KeyError, TypeError):
        raise UserError(f"unknown {noun} {name!r}{did_you_mean(name, entries)}") from None


def did_you_mean(name: Any, names: Collection[str]) -> str:
    """Return the end of a sentence about an unknown name: the most similar name, and all names."""
    return f"{nearest(name, names)} (known: {', '.join(map(str, names))})" if names else " (it takes none)"


def nearest(name: Any, names: Collection[str]) -> str:
    """Return the end of a sentence about an unknown name: the most similar name; empty if none is similar."""
    close = difflib.get_close_matches(str(name), list(names), n=1)
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
