"""Pages of the site that are made of the code when the site is built, and docstrings as Sphinx reads them."""

import argparse
import re
from pathlib import Path
from typing import Any

from pygments.lexers.python import PythonLexer
from pygments.lexers.special import TextLexer

from fedatlas.cli.main import parser as build_parser
from fedatlas.io.files import atomic
from fedatlas.publish.guide import write_guide
from fedatlas.workflow.study import Study
from from_code import algorithms, figures


def setup(app: Any) -> dict[str, Any]:
    """Register the extension. Pages are written before Sphinx lists its sources."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("config-inited", _write_pages)
    app.connect("builder-inited", figures.draw)
    app.connect("source-read", figures.insert)
    app.connect("html-page-context", figures.add_files)
    app.connect("build-finished", figures.write_files)
    app.connect("autodoc-process-docstring", _escape_docstring)
    app.connect("build-finished", _write_guide)
    app.add_lexer("csv", TextLexer)
    app.add_lexer("snakemake", PythonLexer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _write_pages(app: Any, config: Any) -> None:
    pages = algorithms.pages()
    folder = algorithms.ROOT / algorithms.FOLDER
    folder.mkdir(exist_ok=True)
    for stale in set(folder.iterdir()) - {algorithms.ROOT / path for path in pages}:
        stale.unlink()
    for path, text in pages.items():
        target = algorithms.ROOT / path
        if not target.exists() or target.read_text(encoding="utf-8") != text:  # Sphinx reads only files that are new
            with atomic(target) as temporary:
                temporary.write_text(text, encoding="utf-8")


def _write_guide(app: Any, error: Exception | None) -> None:
    """Write the page "Which method, when?" into the site, if the record has the suite that it is made of."""
    if error is None and app.builder.format == "html" and algorithms.guide_exists():
        write_guide(Study.open(), Path(app.outdir) / algorithms.GUIDE, pages="reference/algorithms")


def _escape_docstring(app: Any, what: str, name: str, subject: Any, options: Any, lines: list[str]) -> None:
    """Escape a docstring, which is plain text in which only ``code`` and examples are marked."""
    paragraphs = "\n".join(lines).strip().split("\n\n")
    texts = [text if text.startswith(">>>") else escape_restructured(text) for text in paragraphs]
    lines[:] = [*"\n\n".join(texts).split("\n"), ""]


def escape_restructured(text: str) -> str:
    """Return plain text, with ``code`` and `names`, as reStructuredText."""
    parts = re.split(r"(``.+?``|`[^`]+`)", text, flags=re.DOTALL)
    parts[1::2] = [f"``{' '.join(part.strip('`').split())}``" for part in parts[1::2]]
    parts[::2] = [re.sub(r"([|*]|_(?=\W|$))", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


def command_line() -> argparse.ArgumentParser:
    """Return the parser of ``fedatlas`` without the jobs of the workflow, its texts as reStructuredText."""
    parser = build_parser()
    _hide_jobs(parser)
    return parser


def _hide_jobs(parser: argparse.ArgumentParser) -> None:
    for group in parser._action_groups:
        group._group_actions = [option for option in group._group_actions if option.dest != "help"]
    for action in parser._actions:
        action.help = action.help and escape_restructured(action.help)
        if isinstance(action, argparse._SubParsersAction):
            action.choices.pop("job", None)
            action._choices_actions = [choice for choice in action._choices_actions if choice.dest != "job"]
            for choice in action._choices_actions:
                choice.help = choice.help and escape_restructured(choice.help)
            for child in action.choices.values():
                _hide_jobs(child)
