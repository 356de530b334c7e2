"""``make reference``: write the page of options and the schema of experiment files."""

import json
from collections.abc import Mapping
from pathlib import Path

from fedatlas.cli.list import FAMILIES, SPECIFICATIONS, all_options, default
from fedatlas.io.files import write_text
from fedatlas.registry.kinds import first_paragraph
from fedatlas.registry.options import Option, options
from from_code.schema import experiment_schema

OPTIONS = Path("docs/reference/options.md")
SCHEMA = Path("workflow/schemas/experiment.schema.json")
SECTION_NOTES = {"figures": "A figure of an experiment also has a `caption`, which the report shows."}


def pages() -> dict[Path, str]:
    """Return the contents of the files by path."""
    schema = json.dumps(experiment_schema(), ensure_ascii=False, separators=(",", ":"))
    return {OPTIONS: options_page(), SCHEMA: f"{schema}\n"}


def options_page() -> str:
    """Return the reference of all options as Markdown."""
    parts = [
        "# Options",
        "Every option of every kind, as it is declared in the code. `make reference` writes this page and the schema "
        "of experiment files; `fedatlas show NAME` prints one kind with its docstring and citation.",
        "## Experiment files",
    ]
    parts += [f"### {name}\n\n{_options_table(options(cls))}" for name, cls in SPECIFICATIONS.items()]
    for section, family in FAMILIES.items():
        parts.append(
            f"## {section.capitalize()}" + (f"\n\n{SECTION_NOTES[section]}" if section in SECTION_NOTES else "")
        )
        if family.records:
            rows = [f"| `{name}` | {family.get(name).words} |" for name in family.names()]
            parts.append("\n".join(["| name | meaning |", "|---|---|", *rows]))
            continue
        for cls in dict.fromkeys(family.get(name) for name in family.names()):
            names = " or ".join(f"`{name}`" for name in (cls.name, *getattr(cls, "aliases", ())))
            table = f"\n\n{_options_table(declarations)}" if (declarations := all_options(cls)) else ""
            parts.append(f"### {names}\n\n{_escape(first_paragraph(cls))}{table}")
    return "\n\n".join(parts) + "\n"


def _options_table(declarations: Mapping[str, Option]) -> str:
    rows = ["| option | meaning | value | default |", "|---|---|---|---|"]
    for option in declarations.values():
        meaning = option.doc + (f" ({option.unit})" if option.unit else "")
        value = "" if option.required else f"`{default(option)}`"
        value = f"advised: `{option.advice}`" if option.advice else value
        rows.append(f"| `{option.name}` | {_escape(meaning)} | {_escape(option.expected)} | {value} |")
    return "\n".join(rows)


def _escape(text: str) -> str:
    """Return text that Markdown shows unchanged."""
    for mark in ("|", "*", "_", "<"):
        text = text.replace(mark, f"\\{mark}")
    return text


if __name__ == "__main__":
    for path, text in pages().items():
        write_text(path, text)
