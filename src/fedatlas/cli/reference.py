"""``python -m fedatlas.cli.reference``: write the pages of options and experiments, and the schema of experiments."""

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from fedatlas.cli.list import FAMILIES, RECORDS, all_options, default
from fedatlas.experiments import SIZES, labels
from fedatlas.io.files import write_text
from fedatlas.io.machine import format_size
from fedatlas.io.markdown import escape_markdown
from fedatlas.registry.kinds import first_paragraph
from fedatlas.registry.options import Option, options
from fedatlas.workflow import listing
from fedatlas.workflow.listing import ExperimentSummary, duration, largest_memory
from fedatlas.workflow.schema import experiment_schema
from fedatlas.workflow.study import Study
from fedatlas.workflow.times import Cost, shipped_costs

OPTIONS, EXPERIMENTS = Path("docs/reference/options.md"), Path("docs/reference/experiments.md")
SCHEMA = Path("workflow/schemas/experiment.schema.json")
SECTION_NOTES = {"figures": "A figure of an experiment also has a `caption`, which the report shows."}
EXPERIMENTS_HEAD = f"""# Experiments

`snakemake --cores 2 NAME --config size=SIZE` makes the experiment with this name. Without a size it is that of
`config/config.yaml`, `laptop`. A figure of a paper that is a part of an experiment is not a name: asked for
`fedac_fig3`, `snakemake` and `fedatlas run` stop and name the experiment that re-runs Figure 3. The
[guide to experiment files](../../config/experiments/README.md) says what the sizes change.

{listing.LEGEND} The data are those of the largest size; where a
smaller size has others, they stand in brackets.
"""
COLUMNS = ("Experiment", "What it re-runs", "Data", *(size.capitalize() for size in SIZES), "Memory")


def pages() -> dict[Path, str]:
    """Return the contents of the files by path."""
    schema = json.dumps(experiment_schema(), ensure_ascii=False, separators=(",", ":"))
    return {
        OPTIONS: options_page(),
        EXPERIMENTS: experiments_page(Study.open()),
        SCHEMA: f"{schema}\n",
    }


def options_page() -> str:
    """Return the reference of all options as Markdown."""
    parts = [
        "# Options",
        "Every option of every kind, as it is declared in the code. `make reference` writes this page and the schema "
        "of experiment files; `fedatlas show NAME` prints one kind with its docstring and citation.",
        "## Experiment files",
    ]
    parts += [f"### {name}\n\n{_options_table(options(cls))}" for name, cls in RECORDS.items()]
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


def experiments_page(study: Study) -> str:
    """Return the table of all experiments as Markdown, with the times in the file that the atlas ships."""
    experiments = [item for item in listing.summaries(study, shipped_costs()) if item.is_own]
    return "\n".join([EXPERIMENTS_HEAD, *_totals(experiments), *_experiment_tables(experiments)]) + "\n"


def _totals(experiments: list[ExperimentSummary]) -> Iterator[str]:
    """Return the time of all experiments together, for each size."""
    for size in SIZES:
        costs = [cost for item in experiments if (cost := item.sizes.get(size)) and cost.seconds is not None]
        total = Cost(0, sum(cost.seconds or 0 for cost in costs), all(cost.measured for cost in costs))
        yield f"- All {len(costs)} experiments in size `{size}` together: {duration(total)} of one processor."
    yield ""


def _experiment_tables(experiments: Iterable[ExperimentSummary]) -> Iterator[str]:
    for key, group in itertools.groupby(experiments, lambda item: item.paper):
        yield f"## {escape_markdown(labels.paper(key))}\n"
        yield f"| {' | '.join(COLUMNS)} |"
        yield "|---|---|---|" + "---:|" * (len(COLUMNS) - 3)
        for item in group:
            yield f"| {' | '.join(_experiment_row(item))} |"
        yield ""


def _experiment_row(experiment: ExperimentSummary) -> Iterator[str]:
    source = f" ({escape_markdown(experiment.source)})" if experiment.source else ""
    yield from (
        f"`{experiment.name}`",
        escape_markdown(experiment.title) + source,
        escape_markdown(labels.data(experiment.data)),
    )
    yield from (duration(experiment.sizes.get(size)) for size in SIZES)
    most = largest_memory(experiment)
    yield format_size(most * 1e6) if most else ""


if __name__ == "__main__":
    for path, text in pages().items():
        write_text(path, text)
