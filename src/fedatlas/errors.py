"""The one exception that a user's mistake raises, and the guess at what was meant."""

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


def lookup(what: str, name: Any, known: Mapping[str, Any]) -> Any:
    """The entry of a name.

    what: the noun for the sentence, such as ``algorithm``. known: all entries by name. Raises UserError that guesses
    which name was meant and lists the names.
    """
    try:
        return known[name]
    except (KeyError, TypeError):
        raise UserError(f"unknown {what} {name!r}{did_you_mean(name, known)}") from None


def did_you_mean(name: Any, known: Collection[str]) -> str:
    """The end of a sentence about an unknown name: the nearest known name, and all of them."""
    return f"{nearest(name, known)} (known: {', '.join(map(str, known))})" if known else " (it takes none)"


def nearest(name: Any, known: Collection[str]) -> str:
    """The same without the list of names; empty where no known name is near."""
    close = difflib.get_close_matches(str(name), list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


@contextlib.contextmanager
def explain_overflow(subject: str) -> Iterator[None]:
    """Turn the OverflowError that Python raises while it computes with a user's numbers into a UserError.

    Args:
        subject: What computes, such as an algorithm's name, with which the sentence begins.
    """
    try:
        yield
    except OverflowError as error:
        raise UserError(
            f"{subject}: a number exceeds the range of double precision ({error.args[-1] if error.args else error}): "
            "give numbers that are not as large"
        ) from None
