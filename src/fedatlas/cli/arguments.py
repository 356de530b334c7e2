"""The arguments of a command: a parser whose errors are one sentence, and the numbers that options take."""

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

from fedatlas.errors import UserError, nearest


class Help(argparse.HelpFormatter):
    """Help of a command, in which each option that has a default says it."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        plain = action.default is None or action.default is False or action.default in ([], argparse.SUPPRESS)
        if plain or action.help is None or not action.option_strings:
            return action.help
        return f"{action.help}; default: %(default)s"

    def _get_default_metavar_for_optional(self, action: argparse.Action) -> str:
        return "N" if action.type in (whole, cores, port) else super()._get_default_metavar_for_optional(action)


class Parser(argparse.ArgumentParser):
    """A parser that raises UserError: one sentence, with a guess at what was meant, in place of a screen of usage.

    Options are given by their whole names: an abbreviation would change its meaning when an option is added.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=Help, **options)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """As argparse, but what is unknown is an error of the parser that meets it."""
        self._check_options(args or ())
        found, rest = super().parse_known_args(args, namespace)
        if rest:
            self.error(f"unexpected argument {rest[0]!r}")
        return found, rest

    def _check_options(self, args: Sequence[str]) -> None:
        """Raise UserError at the first unknown option, before argparse misses a required one in its place."""
        for text in args:
            name = text.partition("=")[0]
            if text == "--" or (self._subparsers and not text.startswith("-")):
                return  # what follows are no options, or those of a subcommand
            if name.startswith("--") and " " not in name and name not in self._option_string_actions:
                known = [one for one in self._option_string_actions if one.startswith("--")]
                begun = [one for one in known if one.startswith(name)]
                self.error(f"unknown option {name!r}{nearest(name, begun or known)}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            self.error(f"unknown {action.metavar or action.dest} {value!r}{nearest(value, list(action.choices))}")

    def error(self, message: str) -> NoReturn:
        """Raise UserError that says how to get help."""
        raise UserError(f"{message.removeprefix('argument ')} (`{self.prog} --help` tells more)")


def text(given: Sequence[str]) -> list[str]:
    """Arguments of a process. Raises UserError at one that is not text in UTF-8, or that holds a NUL."""
    for one in given:
        try:
            one.encode()
        except UnicodeEncodeError:
            raise UserError(f"the argument {one!r} is not text in UTF-8") from None
        if "\0" in one:
            raise UserError(f"the argument {one!r} holds a NUL character")
    return list(given)


def passed_on(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words of a command, and those after ``--`` that ``fedatlas run`` passes on to another program."""
    place = words.index("--") if words[:1] == ["run"] and "--" in words else len(words)
    return list(words[:place]), list(words[place + 1 :])


def whole(text: str) -> int:
    """A whole number."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r:.60} is not a whole number") from None


def cores(text: str) -> str:
    """A number of cores as text, or ``all``."""
    if text != "all" and whole(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number of cores; give a whole number from 1, or all")
    return text


def port(text: str) -> int:
    """The number of a TCP port."""
    if not 1 <= (found := whole(text)) <= 65535:
        raise argparse.ArgumentTypeError(f"{found} is not a port; ports are numbers from 1 to 65535")
    return found


def number(text: str) -> float:
    """A number."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r:.60} is not a number") from None


def parsed(text: str) -> Any:
    """A value in JSON."""
    import json

    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise argparse.ArgumentTypeError(f"{text!r:.60} is not JSON") from None
