"""Arguments of a command: a parser whose errors are one sentence, numbers, and specifications on the command line."""

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from fedatlas.errors import UserError
from fedatlas.io.text import read_json


class Parser(argparse.ArgumentParser):
    """A parser that raises UserError: one sentence in place of a screen of usage.

    Options have no abbreviations: an abbreviation would change its meaning when an option is added.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        """Raise UserError that says how to get help."""
        raise UserError(f"{message.removeprefix('argument ')} (`{self.prog} --help` tells more)")


def split_passed(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the words of a command, and those after ``--`` that ``fedatlas run`` passes to another program."""
    position = words.index("--") if words[:1] == ["run"] and "--" in words else len(words)
    return list(words[:position]), list(words[position + 1 :])


def cores(text: str) -> str:
    """Check a number of cores, or ``all``."""
    if text != "all" and int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number of cores; give a whole number from 1, or all")
    return text


def json_file(path: str) -> Any:
    """Read a JSON file, or standard input where its name is ``-``."""
    return json.load(sys.stdin) if path == "-" else read_json(path)


DEFAULT_CLIENTS = 10
