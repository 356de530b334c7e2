"""Sentences for the user: what is wrong, where, and what to do."""

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from ..errors import UserError


def unknown(what: str, word: object, known: Iterable[str]) -> UserError:
    """An error for a name that does not exist, with the nearest one that does."""
    known = sorted(known)
    near = get_close_matches(str(word), known, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}? It" if near else "it"
    return UserError(f"unknown {what} {word!r}: {hint} must be one of {', '.join(known) or '(none)'}")


def broken(path: Path, problem: str, line: int | None = None) -> UserError:
    """An error for a raw file whose contents cannot be used."""
    where = path if line is None else f"{path}, line {line}"
    return UserError(f"{where}: {problem}; delete the file and fetch it again, or put a good copy in its place")
