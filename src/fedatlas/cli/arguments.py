"""Arguments of a command: a parser whose errors are one sentence, numbers, and specifications on the command line."""

import argparse
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

from fedatlas.errors import UserError
from fedatlas.io.text import parse_yaml, read_json


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


def parse_problem(a: argparse.Namespace) -> dict[str, Any]:
    """Return the problem that options of the command line specify."""
    problem = {"kind": a.problem, **parse_pairs("--option", a.option)}
    problem |= {} if a.data is None else {"data": parse_data(a.data)}
    problem |= {} if a.l2 is None else {"l2": a.l2}
    if a.partition is not None:
        problem["partition"] = parse_kind("--partition", a.partition)
    return problem


def parse_clients(a: argparse.Namespace, problem: Mapping[str, Any]) -> int:
    """Return the number of clients: of --clients, of the data if the partition is by their clients, or the default."""
    from fedatlas.federation.problems import interactive

    return a.clients if a.clients is not None else interactive.client_count(problem) or DEFAULT_CLIENTS


def parse_kind(option: str, text: str) -> dict[str, Any]:
    """Return a kind with its options, from KIND[,NAME=VALUE...]."""
    kind, *options = _split(text)
    return {"kind": kind, **parse_pairs(option, options)}


def parse_data(text: str) -> Any:
    """Return a data set by its name, or a mapping of custom data.

    A mapping is FILE,NAME=VALUE,... or NAME=VALUE,... or in YAML, in braces. An existing file needs no options.
    """
    from fedatlas.data.catalogue import SOURCES

    if text.startswith("{"):
        return parse_yaml(text, "--data")
    first, *options = _split(text)
    if "=" in first:
        return parse_pairs("--data", [first, *options])
    is_name = not options and (text in SOURCES or not os.path.exists(text))
    return text if is_name else {"file": first, **parse_pairs("--data", options)}


def parse_pairs(option: str, items: Iterable[str]) -> dict[str, Any]:
    """Return the NAME=VALUE items of an option as a dict, values read as YAML.

    Args:
        option: Name of the option, for errors.
        items: The items.
    """

    values = {}
    for item in items:
        name, equals, text = item.partition("=")
        if not equals or not name:
            raise UserError(f"{option}: {item!r} is not of the form NAME=VALUE")
        try:
            values[name] = parse_yaml(text, name)
        except UserError:
            raise UserError(f"{option}: {name}: {text!r} is not a YAML value") from None
    return values


def _split(text: str) -> list[str]:
    """Split a text at its commas, except those inside brackets and braces."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "[{") - (letter in "]}")
        if letter == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts
