"""`fedatlas show`: the declaration of a kind, a data set or an experiment."""

import inspect
import textwrap
from collections.abc import Iterable, Mapping

from fedatlas.cli.list import FAMILIES, Declaration, all_options, check_extensions, default
from fedatlas.data.catalogue import SOURCES, Source
from fedatlas.data.sources import display_name
from fedatlas.errors import UserError, nearest
from fedatlas.experiments.dependencies import data_names
from fedatlas.federation.metrics import Metric
from fedatlas.io.machine import format_duration, format_size, hanging_indent, width
from fedatlas.registry import bibliography
from fedatlas.registry.extensions import location
from fedatlas.registry.options import Option
from fedatlas.workflow import summary
from fedatlas.workflow.study import Study


def describe(name: str) -> str:
    """Return the declaration of a name: its meaning, each option with range and default, its citation.

    Args:
        name: Name of a kind, or name of a data set or an experiment. All that have the name are described.

    Raises:
        UserError: Nothing has the name; the message has a guess.
    """
    check_extensions()
    study = Study.open()
    texts = [_kind(section, known) for section, family in FAMILIES.items() if (known := family.resolve(name)) in family]
    texts += [_data(SOURCES.get(name))] if name in SOURCES else []
    texts += [_experiment(study, name)] if name in study.files.paths else []
    if not texts:
        raise UserError(f"there is no {name!r}{nearest(name, names())}; `fedatlas list` names all that there is")
    return "\n\n".join(texts)


def names() -> list[str]:
    """Return all names that `describe` takes, sorted."""
    kinds = {name for family in FAMILIES.values() for name in family.names()}
    return sorted(kinds | {*SOURCES.names(), *Study.open().files.paths})


def _width() -> int:
    return min(width(), 120)


def _fill(head: str, text: str) -> str:
    return hanging_indent(f"    {head}", text, columns=_width())


def _paragraph(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), _width(), initial_indent="  ", subsequent_indent="  ")


def _table(rows: Mapping[str, str], least: int = 14) -> list[str]:
    margin = max([least, *(len(key) + 1 for key, text in rows.items() if text)])
    return [_fill(f"{key:<{margin}} ", text) for key, text in rows.items() if text]


def _cited(entry: str) -> str:
    return textwrap.indent(entry, "  ")


def _kind(section: str, name: str) -> str:
    family = FAMILIES[section]
    kind: Declaration = family.get(name)
    noun = ", ".join(filter(None, (family.noun, location(family.module(name)))))
    if isinstance(kind, Metric):
        sense = f"{'large' if kind.larger_is_better else 'small'} values are good; {kind.scale} scale"
        return f"{kind.name} ({noun})\n\n  {kind.words} {kind.symbol}".rstrip() + f"\n  {sense}"
    aliases = "".join(f", also called {alias}" for alias in getattr(kind, "aliases", ()))
    lines = [
        f"{kind.name} ({noun}{aliases})",
        "",
        textwrap.indent(inspect.getdoc(kind) or "", "  "),
        *_option_lines(all_options(kind).values()),
    ]
    if cite := getattr(kind, "cite", None):
        cited = bibliography.entries().get(cite)  # an algorithm can be tried before its paper has an entry
        lines += ["", _cited(str(cited.raw)) if cited else _paragraph(bibliography.explain_missing(cite))]
    return "\n".join(lines)


def _option_lines(declarations: Iterable[Option]) -> list[str]:
    lines = []
    for option in declarations:
        value = "required" if option.required else f"default {default(option)}"
        value += f"; advised {option.advice}" if option.advice else ""
        lines.append(_fill(f"{option.name:<14} ", option.doc + (f" ({option.unit})" if option.unit else "")))
        lines.append(_fill(f"{'':<14} ", f"{option.expected}; {value}"))
    return ["", "  options:", *lines] if lines else []


def _data(source: Source) -> str:
    shape = " x ".join(map(str, source.shape))
    sparse = " (sparse)" if source.sparse else ""
    samples = f"{source.rows:,}" + (f" and {source.test_rows:,} to test" if source.test_rows else "")
    rows = {
        "samples": samples,
        "shape": f"{shape}, {source.dtype}{sparse}",
        "classes": f"{source.classes}",
        "licence": source.licence,
        "page": source.page,
        "note": source.note,
    }
    lines = _table(rows)
    for file in (file for form in source.forms for file in form.files):
        checksum = file.checksum or "no checksum is known: rows, features and classes are checked"
        lines.append(_fill("file           ", f"{file.name}: {checksum}"))
    head = f"{source.name} ({', '.join(filter(None, ('data set', location(SOURCES.module(source.name)))))})"
    return "\n".join([head, "", f"  {source.title}", "", *lines, "", _cited(source.bibtex)])


def _experiment(study: Study, name: str) -> str:
    document, costs = study.files.document(name), summary.experiment_costs(study)
    sizes, size = summary.sizes(document), study.config["size"]
    size = size if size in sizes else next(iter(sizes), "smoke")
    experiment, is_own = study.experiment(size, name), name in study.files.own
    data = {display_name(data) for cell in study.cells(size, name).values() for data in data_names(cell.spec)}
    rows = {
        "paper": bibliography.describe_paper(experiment.paper),
        "re-runs": experiment.source,
        "data": ", ".join(sorted(data)),
        "algorithms": ", ".join(experiment.algorithms),
        **{f"size {size}": _cost_words(costs.get((name, size))) for size in sizes},
        "file": experiment.file + ("" if is_own else " of the atlas"),
        "command": f"fedatlas run {name} --size {size}",
    }
    lines = [f"{name} (experiment)", "", _paragraph(experiment.title), ""]
    lines += [_paragraph(experiment.description), ""] if experiment.description else []
    return "\n".join([*lines, *_table(rows)])


def _cost_words(cost: summary.Cost | None) -> str:
    if cost is None or cost.seconds is None:
        return "time not known"
    text = f"{format_duration(cost.seconds, cost.measured)} of a processor; {cost.runs:,} runs"
    return text + (f"; {format_size(cost.memory_mb * 1e6)} for the largest job" if cost.memory_mb else "")
