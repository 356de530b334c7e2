"""The report: an HTML file that opens offline, with figures, verdicts, values, provenance and references."""

import json
import os
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from fedatlas.experiments import labels
from fedatlas.experiments.result_files import read
from fedatlas.experiments.view import TableMeta
from fedatlas.io.files import write_text
from fedatlas.io.machine import format_size
from fedatlas.publish.report import tables
from fedatlas.publish.report.cards import LEVELS, SIGNS
from fedatlas.publish.report.facts import FACTS_FILE, VERDICTS, add_q_values, read_facts, read_verdicts
from fedatlas.publish.report.tables import compress, data_uri, find_warnings, load_chart
from fedatlas.results.claims.verdicts import NOT_TESTED
from fedatlas.results.figures.renderer import figure_paths

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

FOLDER = Path(__file__).parent
STYLE, SHARED, TABLES = FOLDER / "report.css", FOLDER / "shared.js", FOLDER / "report.js"
SCRIPTS = (SHARED, TABLES, FOLDER / "charts.js")
LIBRARY, LICENCE = FOLDER / "chartjs/chart.umd.min.js", FOLDER / "chartjs/LICENSE"
CIRCUMSTANCES = ("machine", "commit", "clock")  # of an environment, which change no number
LINKED_FILES = {".svg": "SVG", ".pdf": "PDF", ".html": "HTML", ".csv": "CSV"}  # of a figure


def write_report(parts: Sequence[Path], out: Path, verdicts: Path | None = None, study: str = "fedatlas") -> None:
    """Write the report over experiments. Its title is that of the study, or of the only experiment.

    Args:
        parts: Folders of results, each with about.json, table.parquet, claims.csv and figures/.
        out: Path of the HTML file.
        verdicts: Path of the committed gallery's claims.csv, which has the verdicts of claims that the experiments'
            size does not test.
        study: Title of the study.

    Raises:
        UserError: A file is missing.
    """
    experiments = [_load_experiment(Path(directory), Path(out).parent) for directory in parts]
    _add_committed(experiments, verdicts)
    all_facts = [part["facts"] for part in experiments]
    claims = [claim for part in experiments for claim in part["claims"]]
    papers_of = {facts["name"]: facts["paper"]["key"] for facts in all_facts}
    add_q_values(claims, lambda row: (papers_of.get(row["experiment"]), row["size"]))
    cards = {card["id"]: card for facts in all_facts for card in facts["cards"]}
    papers: dict[str, list[dict[str, Any]]] = {}
    for part in experiments:
        papers.setdefault(part["facts"]["paper"]["key"], []).append(part)
    references = {key: work for facts in all_facts for key, work in facts["references"].items()}
    bibtex = {key: text for facts in all_facts for key, text in facts["bibtex"].items()}
    committed = _counts(claim["committed"] for claim in claims if claim["committed"])
    has_charts = any(figure["compressed"] for part in experiments for figure in part["figures"])
    environments = [environment for part in experiments for environment in part["meta"].environments]
    page = create_environment().get_template("report.html")
    html = page.render(
        papers=[{"reference": group[0]["facts"]["paper"], "parts": group} for group in papers.values()],
        parts=experiments,
        verdicts=VERDICTS,
        counts=_counts(claims),
        cards=list(cards.values()),
        signs=SIGNS,
        levels=LEVELS,
        title=all_facts[0]["title"] if len(all_facts) == 1 else study,
        study=study,
        untested=NOT_TESTED,
        smoke=all(facts["size"] == "smoke" for facts in all_facts),
        committed=committed,
        further=bool(cards) or any(committed.values()),
        gallery=verdicts and _link(verdicts.parent.with_suffix(".md"), Path(out).parent),
        runs=sum(part["meta"].runs for part in experiments),
        diverged=sum(part["meta"].diverged_runs for part in experiments),
        sizes=sorted({facts["size"] for facts in all_facts}),
        data={name: entry for part in experiments for name, entry in part["meta"].data.items()},
        versions=versions(environments),
        **{key: list(dict.fromkeys(e[key] for e in environments if key in e)) for key in ("machine", "commit")},
        environments=count_environments(environments),
        references=sorted(references.values(), key=lambda work: (work["short"].lower(), work["year"], work["title"])),
        bibtex="\n\n".join(bibtex[key] for key in sorted(bibtex)),
        tuning=all_facts[0]["tuning"] if len(all_facts) == 1 else "",
        **read_resources(has_charts=has_charts),
    )
    write_text(out, html)


def _load_experiment(directory: Path, base: Path) -> dict[str, Any]:
    """Return the content of one experiment for the template.

    Args:
        directory: Folder of its results.
        base: Folder of the report.
    """
    facts = read_facts(directory / FACTS_FILE)
    table, plain = read(directory / "table.parquet")
    meta = TableMeta.from_dict(plain)
    return {
        "anchor": f"{facts['size']}-{facts['name']}",
        "facts": facts,
        "meta": meta,
        "figures": [load_figure(directory, name, caption, base) for name, caption in facts["figures"].items()],
        "links": _links({"YAML": Path(facts["file"]), "run files": directory / "runs"}, base),
        "claims": read_verdicts(directory / "claims.csv"),
        "best": tables.best_values(facts, table),
        "choices": tables.chosen_values(facts, table),
        "seeds": tables.seed_range(table),
        "warnings": find_warnings(facts, table.to_dict("records"), meta),
    }


def load_figure(directory: Path, name: str, caption: str, base: Path) -> dict[str, Any]:
    """Return a figure: its image as a data URI, its chart, its files, and the command that makes it."""
    is_table = (directory / f"tables/{name}.json").exists()
    paths = {path.suffix: path for path in (directory / part for part in figure_paths(name, is_table))}
    chart = load_chart(paths[".json"].parent, name)
    text = json.dumps(chart, ensure_ascii=False, separators=(",", ":"))
    files = {word: paths[suffix] for suffix, word in LINKED_FILES.items() if suffix in paths}
    return {
        "name": name,
        "caption": caption,
        "image": "" if is_table else data_uri(paths[".png"]),
        "chart": chart,
        "compressed": compress(text) if chart and chart["kind"] == "lines" else "",
        "links": _links(files, base),
        "command": f"snakemake --cores 1 {shlex.quote(str(paths['.html' if is_table else '.png']))}",
    }


def write_table(out: Path) -> None:
    """Write the page of a table whose numbers and description lie beside it.

    Args:
        out: Path of the page.
    """
    figure = {"chart": load_chart(out.parent, out.stem), "image": "", "compressed": "", "caption": out.stem}
    page = create_environment().get_template("table.html")
    write_text(out, page.render(title=out.stem, figure=figure, **read_resources(has_charts=False)))


def _links(files: Mapping[str, Path], base: Path) -> dict[str, str]:
    """Return links, by their words, to those files that exist."""
    return {word: _link(path, base) for word, path in files.items() if path.exists()}


def _link(path: Path, base: Path) -> str:
    """Return the address of a file for a page in the folder ``base``."""
    return quote(os.path.relpath(path, base))


def _add_committed(parts: Sequence[Mapping[str, Any]], path: Path | None) -> None:
    """Add to each claim that is not tested the committed row that tests it, or None."""
    rows = {(row["experiment"], row["claim"]): row for row in (read_verdicts(path) if path else ())}
    for part in parts:
        for claim in part["claims"]:
            row = rows.get((part["facts"]["name"], claim["claim"]))
            unused = row is None or row["verdict"] == NOT_TESTED or claim["verdict"] != NOT_TESTED
            claim["committed"] = None if unused else row


def _counts(claims: Iterable[Mapping[str, Any]]) -> Counter[str]:
    return Counter(claim["verdict"] for claim in claims)


def versions(environments: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Return what may change numbers in environments: versions, processor, device. Several stand side by side."""
    values: dict[str, dict[str, None]] = {}
    for environment in environments:
        for name, value in environment.items():
            if name not in CIRCUMSTANCES:
                values.setdefault(name, {})[value] = None
    return {name: " and ".join(texts) for name, texts in values.items()}


def count_environments(environments: Iterable[Mapping[str, str]]) -> int:
    """Return the number of environments that may compute different numbers."""
    return len({json.dumps(versions([environment]), sort_keys=True) for environment in environments})


def read_resources(
    styles: Sequence[Path] = (), scripts: Sequence[Path] = SCRIPTS, has_charts: bool = True
) -> dict[str, Any]:
    """Return what the layout of a page includes: style, scripts, and the library of charts with its licence.

    Args:
        styles: Styles after that of the report.
        scripts: Scripts.
        has_charts: Whether the page has charts.
    """
    return {
        "style": "".join(path.read_text(encoding="utf-8") for path in (STYLE, *styles)),
        "scripts": [path.read_text(encoding="utf-8") for path in scripts],
        "library": compress(LIBRARY.read_text(encoding="utf-8")) if has_charts else "",
        "licence": LICENCE.read_text(encoding="utf-8"),
    }


def create_environment(*folders: Path) -> "Environment":
    """Return the environment of templates, which lie in some folders and in that of the report."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

    environment = Environment(
        loader=FileSystemLoader([*folders, FOLDER]),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(prose=prose, counts=_counts, size=format_size, text=labels.text)
    return environment


def prose(text: str) -> "Markup":
    """Return text of an experiment file as HTML, with ``r^0.75``, ``u_i``, ``eta``, ``>=``, 1e-3 and `code` typeset."""
    from markupsafe import Markup, escape

    parts = " ".join(text.split()).split("`")
    for number, part in enumerate(parts):
        parts[number] = f"<code>{escape(part)}</code>" if number % 2 else _formulas(part)
    return Markup("".join(parts))


def _formulas(text: str) -> str:
    from markupsafe import escape

    text = re.sub(r"(?<![\w.])\d+(\.\d+)?e[-+]?\d+\b", lambda match: labels.scientific(float(match[0])), text)
    text = re.sub(r"(?<![\w-])-(?=\d)", "−", labels.greek(text).replace(">=", "≥").replace("<=", "≤"))
    text = str(escape(text))
    text = re.sub(r"(?<=[\w)|])\^(-?\d+(?:\.\d+)?|\w\b|\*)", r"<sup>\1</sup>", text)
    return re.sub(r"\b(\w)_(\w)\b", r"\1<sub>\2</sub>", text)
