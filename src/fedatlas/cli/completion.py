"""Completion of the command's words in a shell, by argcomplete."""

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable
from typing import Any

from fedatlas.errors import UserError

SHELLS = ("bash", "zsh", "fish", "powershell")
Names = Callable[[], Iterable[str]]


def print_code(a: Namespace) -> None:
    """Print the code that a shell runs to learn the completion."""
    print(_argcomplete().shellcode(["fedatlas"], shell=a.shell))


def answer(parser: ArgumentParser) -> None:
    """Answer the shell, where this process was started to complete words, and end it.

    A line that is wrong before the word has no completion; the shell shows nothing of what is printed.
    """
    if "_ARGCOMPLETE" in os.environ:
        try:
            _argcomplete().autocomplete(parser)
        except Exception:
            raise SystemExit(1) from None


def _argcomplete() -> Any:
    try:
        import argcomplete
    except ModuleNotFoundError:
        raise UserError("the package argcomplete is missing: install it (`pip install argcomplete`)") from None
    return argcomplete


def starting(names: Names) -> Callable[..., list[str]]:
    """A completer: the names that begin as the word does. What cannot be read in the study gives none."""

    def complete(prefix: str, **_: object) -> list[str]:
        try:
            return [name for name in names() if name.startswith(prefix)]
        except UserError as error:
            print(f"fedatlas: {error}", file=sys.stderr)
            return []

    return complete


def of(section: str) -> Names:
    """The names of a section that `fedatlas list` shows."""

    def names() -> Iterable[str]:
        from fedatlas.cli.overview import FAMILIES
        from fedatlas.data import sources

        return sources.names() if section == "data" else FAMILIES[section].names()

    return names


def sections() -> Iterable[str]:
    """What `fedatlas list` takes."""
    from fedatlas.cli.overview import SECTIONS

    return SECTIONS


def shown() -> Iterable[str]:
    """What `fedatlas show` takes."""
    from fedatlas.cli.descriptions import names

    return names()


def experiments() -> Iterable[str]:
    """The experiments that a study can name."""
    from fedatlas.workflow.project import here

    return here().paths


def checks() -> Iterable[str]:
    """What `fedatlas check --only` takes."""
    from fedatlas.testing import CHECKS

    return CHECKS
