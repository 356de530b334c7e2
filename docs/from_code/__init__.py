"""Pages of the site that are made of the code when the site is built, and docstrings as Sphinx reads them."""

import argparse
import inspect
import re
from collections.abc import Iterator, Sequence
from typing import Any

from pygments.lexers.python import PythonLexer
from pygments.lexers.special import TextLexer

from fedatlas.cli.main import parser as build_parser
from fedatlas.io.files import atomic
from from_code import algorithms


def setup(app: Any) -> dict[str, Any]:
    """What Sphinx calls. Pages are written before it looks for pages."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("config-inited", _write)
    app.connect("autodoc-process-docstring", _plain)
    app.add_lexer("csv", TextLexer)
    app.add_lexer("snakemake", PythonLexer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _write(app: Any, config: Any) -> None:
    pages = algorithms.pages()
    folder = algorithms.ROOT / algorithms.FOLDER
    folder.mkdir(exist_ok=True)
    for old in set(folder.iterdir()) - {algorithms.ROOT / path for path in pages}:
        old.unlink()
    for path, text in pages.items():
        target = algorithms.ROOT / path
        if not target.exists() or target.read_text(encoding="utf-8") != text:  # what is older is not read again
            with atomic(target) as temporary:
                temporary.write_text(text, encoding="utf-8")


def _plain(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Docstrings are plain text in which only ``code`` and examples are marked."""
    try:
        arguments = [one for one in inspect.signature(thing).parameters if one != "self"]
    except (TypeError, ValueError):
        arguments = []
    found = []
    for text in "\n".join(lines).strip().split("\n\n"):
        if text.startswith(">>>"):
            found.append(text)
        else:
            found.append("\n".join(listed(escape_markdown(text), arguments)))
    lines[:] = [*"\n\n".join(found).split("\n"), ""]


def listed(text: str, arguments: Sequence[str]) -> list[str]:
    """A paragraph of the form ``name: meaning. other: meaning. Raises ...`` as a list, in reStructuredText."""
    name = rf"(?:{'|'.join(map(re.escape, sorted(arguments, key=len, reverse=True)))})" if arguments else "(?!)"
    head = re.compile(rf"(?:^|(?<=\. ))({name}(?:, {name})*): ")
    line = " ".join(text.split())
    if not head.match(line):
        return text.split("\n")
    parts = head.split(line)[1:]
    last, mark, errors = parts[-1].partition(" Raises ")
    made = [f"- **{who}**: {meaning.strip()}" for who, meaning in _pairs([*parts[:-1], last])]
    return [*made, "", f"Raises {errors}"] if mark else made


def _pairs(parts: Sequence[str]) -> Iterator[tuple[str, str]]:
    return zip(parts[::2], parts[1::2], strict=True)


def escape_markdown(text: str) -> str:
    """Plain text, with ``code`` and `names`, as reStructuredText."""
    parts = re.split(r"(``.+?``|`[^`]+`)", text, flags=re.DOTALL)
    parts[1::2] = [f"``{' '.join(part.strip('`').split())}``" for part in parts[1::2]]
    parts[::2] = [re.sub(r"([|*]|_(?=\W|$))", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


def command_line() -> argparse.ArgumentParser:
    """The parser of ``fedatlas``, without the steps that rules of the workflow call; its texts as reStructuredText."""
    parser = build_parser()
    _of_people(parser)
    return parser


def _of_people(parser: argparse.ArgumentParser) -> None:
    for group in parser._action_groups:
        group._group_actions = [one for one in group._group_actions if one.dest != "help"]
    for action in parser._actions:
        action.help = action.help and escape_markdown(action.help)
        if isinstance(action, argparse._SubParsersAction):
            action.choices.pop("job", None)
            action._choices_actions = [one for one in action._choices_actions if one.dest != "job"]
            for one in action._choices_actions:
                one.help = one.help and escape_markdown(one.help)
            for child in action.choices.values():
                _of_people(child)
