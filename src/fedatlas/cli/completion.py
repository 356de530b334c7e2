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
    """Answer the shell if it started this process to complete words, and end the process.

    A line with a mistake before the word has no completion; the shell does not show what this process prints.
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


def completer(names: Names) -> Callable[..., list[str]]:
    """Return a function that completes a word by names. A study that cannot be read has none."""

    def complete(prefix: str, **_: object) -> list[str]:
        try:
            return [name for name in names() if name.startswith(prefix)]
        except UserError as error:
            print(f"fedatlas: {error}", file=sys.stderr)
            return []

    return complete


def section(name: str) -> Names:
    """Return a function that gives the names of a section of `fedatlas list`."""

    def names() -> Iterable[str]:
        from fedatlas.cli.list import FAMILIES
        from fedatlas.data import sources

        return sources.names() if name == "data" else FAMILIES[name].names()

    return names


def sections() -> Iterable[str]:
    """Return the words that `fedatlas list` takes."""
    from fedatlas.cli.list import SECTIONS

    return SECTIONS


def described() -> Iterable[str]:
    """Return the words that `fedatlas show` takes."""
    from fedatlas.cli.show import names

    return names()


def experiments() -> Iterable[str]:
    """Return the experiments that a study can name."""
    from fedatlas.workflow.study import Study

    return Study.open().files.paths


def checks() -> Iterable[str]:
    """Return the words that `fedatlas check --only` takes."""
    from fedatlas.testing import CONFORMANCE_TESTS

    return CONFORMANCE_TESTS
