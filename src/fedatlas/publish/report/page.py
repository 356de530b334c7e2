"""The report: one HTML file that opens offline and holds figures, verdicts, values, provenance and references."""

import base64
import json
import os
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.experiments.metadata import TableMeta
from fedatlas.experiments.result_files import read
from fedatlas.experiments.result_files import read_environments as computed
from fedatlas.io import csv
from fedatlas.io.files import atomic
from fedatlas.publish.report import charts, tables
from fedatlas.publish.report.images import shrunk
from fedatlas.publish.report.record import RECORD_FILE, ExperimentRecord
from fedatlas.publish.report.verdicts import largest
from fedatlas.publish.report.warnings import find_warnings
from fedatlas.registry.bibliography import Reference
from fedatlas.results.claims.verdicts import HELD, MORE, NOT_HELD, NOT_TESTED, UNDECIDED, VACUOUS

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

# class of report.css and sign of each verdict that claims.csv may hold
VERDICTS = {
    HELD: ("held", "✓"),
    MORE: ("held", "✓✓"),
    UNDECIDED: ("undecided", "?"),
    NOT_HELD: ("not-held", "✗"),
    VACUOUS: ("not-tested", "∅"),
    NOT_TESTED: ("not-tested", "–"),
}
LONG_TABLE = 12  # rows; longer ones are folded
GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "eta": "η", "kappa": "κ", "lambda": "λ", "mu": "μ",
    "nu": "ν", "rho": "ρ", "sigma": "σ", "tau": "τ",
}  # fmt: skip
HERE = Path(__file__).parent
SCRIPTS = ("report.js", "charts.js")
FILES = {"svg": "SVG", "pdf": "PDF", "csv": "CSV"}  # of a figure, that the report links


def report(parts: Sequence[Path], out: Path, repository: str | None = None, verdicts: Path | None = None) -> None:
    """Write the report over experiments.

    parts: folders of results, each with about.json, table.parquet, claims.csv and figures/. out: path of the HTML file.
    repository: address of the project, to link to. verdicts: claims.csv of the committed gallery, which says what
    became of claims that the experiments' size does not test. Raises UserError if something is missing.
    """
    shown = [_part(Path(directory), Path(out).parent) for directory in parts]
    _commit(shown, verdicts)
    abouts = [part["about"] for part in shown]
    papers: dict[Reference, list[dict[str, Any]]] = {}
    for part in shown:
        papers.setdefault(part["about"].paper, []).append(part)
    references = {key: one for about in abouts for key, one in about.references.items()}
    bibtex = {key: one for about in abouts for key, one in about.bibtex.items()}
    cited = dict.fromkeys(key for about in abouts for key in about.cited)
    page = _environment().get_template("report.html")
    html = page.render(
        papers=[{"reference": paper, "parts": group} for paper, group in papers.items()],
        parts=shown,
        verdicts=VERDICTS,
        counts=_counts([claim for part in shown for claim in part["claims"]]),
        claimed=_counts([claim["committed"] or claim for part in shown for claim in part["claims"]]),
        untested=NOT_TESTED,
        smoke=all(about.size == "smoke" for about in abouts),
        committed=_counts([claim["committed"] for part in shown for claim in part["claims"] if claim["committed"]]),
        gallery=verdicts and _link(verdicts.parent.with_suffix(".md"), Path(out).parent),
        library=charts.library() if any(figure["packed"] for part in shown for figure in part["figures"]) else "",
        runs=sum(part["made"].runs for part in shown),
        diverged=sum(part["made"].diverged_runs for part in shown),
        sizes=sorted({about.size for about in abouts}),
        data=tables.provenance({name: one for part in shown for name, one in part["made"].data.items()}),
        versions=_together([part["made"].versions, *part["computed"]] for part in shown),
        references=sorted(references.values(), key=lambda one: (one.short.lower(), one.year, one.title)),
        bibtex="\n\n".join(bibtex[key] for key in sorted(bibtex)),
        missing=[key for key in cited if key not in references],
        repository=repository,
        style=(HERE / "report.css").read_text(encoding="utf-8"),
        scripts=[(HERE / name).read_text(encoding="utf-8") for name in SCRIPTS],
    )
    with atomic(out) as temporary:
        temporary.write_text(html, encoding="utf-8")


def _part(directory: Path, place: Path) -> dict[str, Any]:
    """What the template shows of one experiment. made: what the table's file says of the runs. place: of the report."""
    about = ExperimentRecord.read(directory / RECORD_FILE)
    table, plain = read(directory / "table.parquet")
    made = TableMeta.of(plain)
    best = tables.best_values(about, table)
    return {
        "anchor": f"{about.size}-{about.name}",
        "about": about,
        "made": made,
        "computed": computed([directory / "table.parquet"]),
        "figures": [_figure(directory, name, caption, place) for name, caption in about.figures.items()],
        "links": _links({"YAML": Path(about.file), "run files": directory / "runs"}, place),
        "claims": _claims(directory / "claims.csv"),
        "best": best,
        "folded": len(best["rows"]) > LONG_TABLE,
        "choices": tables.choices(about, table),
        "warnings": find_warnings(about, table, made.data),
    }


def _figure(directory: Path, name: str, caption: str, place: Path) -> dict[str, Any]:
    """A figure: its image as a data URI, what a browser draws, its files, and the command that makes it."""
    vector, image = (directory / f"figures/{name}.{suffix}" for suffix in ("svg", "png"))
    chart = charts.chart(directory / "figures", name)
    files = {word: directory / f"figures/{name}.{suffix}" for suffix, word in FILES.items()}
    return {
        "name": name,
        "caption": caption,
        "image": _image(vector, image),
        "alt": f"{caption} {chart['alt']}" if chart else caption,
        "chart": chart,
        "packed": charts.packed(json.dumps(chart, ensure_ascii=False, separators=(",", ":")))
        if chart and chart["kind"] == "lines"
        else "",
        "links": _links(files, place),
        "command": f"snakemake --cores 1 {shlex.quote(str(image))}",
    }


def _image(vector: Path, image: Path) -> str:
    """An image as a data URI: as WebP, or as SVG where that is smaller or alone."""
    try:
        found = [("svg+xml", vector.read_bytes())] if vector.exists() else []
        found += [("webp", shrunk(image, "webp"))] if image.exists() or not found else []
    except OSError:
        raise UserError(f"{image} does not exist: draw the figures before the report") from None
    kind, content = min(found, key=lambda one: len(one[1]))
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def _links(files: Mapping[str, Path], place: Path) -> dict[str, str]:
    """Addresses of those files that exist, by what they are called."""
    return {word: _link(path, place) for word, path in files.items() if path.exists()}


def _link(path: Path, place: Path) -> str:
    """The address of a file as a page in the folder ``place`` links it."""
    return quote(os.path.relpath(path, place))


def _commit(parts: Sequence[Mapping[str, Any]], path: Path | None) -> None:
    """Give every claim the committed row of the largest size that tests it, or None."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    if path is not None:
        ledger = largest(csv.read(path, dtype=str, keep_default_na=False))
        rows = {(row["experiment"], row["claim"]): row for row in ledger.to_dict("records")}
    for part in parts:
        for claim in part["claims"]:
            row = rows.get((part["about"].name, claim["claim"]))
            here = row is None or row["verdict"] == NOT_TESTED or claim["verdict"] != NOT_TESTED
            claim["committed"] = None if here else row


def _claims(path: Path) -> list[dict[str, Any]]:
    try:
        frame = csv.read(path, keep_default_na=False)
    except FileNotFoundError:
        raise UserError(f"{path} does not exist: check the claims before the report") from None
    claims: list[dict[str, Any]] = frame.to_dict("records")
    for claim in claims:
        claim["paper"] = labels.number(claim["paper"]) if _is_number(claim["paper"]) else claim["paper"]
    return claims


def _is_number(value: Any) -> bool:
    try:
        return bool(str(value)) and float(value) == float(value)
    except ValueError:
        return False


def _counts(claims: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    return {verdict: sum(claim["verdict"] == verdict for claim in claims) for verdict in VERDICTS}


def _together(parts: Iterable[Iterable[Mapping[str, str]]]) -> dict[str, list[str]]:
    """What run files were computed with, by name: versions of packages, machines, commits; each value once."""
    found: dict[str, dict[str, None]] = {}
    for part in parts:
        for one in part:
            for name, value in one.items():
                found.setdefault(name, {})[value] = None
    return {name: list(found[name]) for name in sorted(found)}


def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(prose=prose, counts=_counts, size=_size)
    return environment


def prose(text: str) -> "Markup":
    """Text of an experiment file as HTML: ``r^0.75``, ``u_i``, ``eta``, ``>=``, 1e-3 and `code` as they are printed."""
    from markupsafe import Markup, escape

    parts = " ".join(text.split()).split("`")
    for number, part in enumerate(parts):
        parts[number] = f"<code>{escape(part)}</code>" if number % 2 else _formulas(part)
    return Markup("".join(parts))


def _formulas(text: str) -> str:
    from markupsafe import escape

    text = re.sub(r"(?<![\w.])\d+(\.\d+)?e[-+]?\d+\b", lambda match: labels.scientific(float(match[0])), text)
    text = re.sub(rf"\b({'|'.join(GREEK)})(?=\b|_)", lambda match: GREEK[match[1]], text)
    text = re.sub(r"(?<![\w-])-(?=\d)", "−", text.replace(">=", "≥").replace("<=", "≤"))
    text = str(escape(text))
    text = re.sub(r"(?<=[\w)|])\^(-?\d+(?:\.\d+)?|\w\b|\*)", r"<sup>\1</sup>", text)
    return re.sub(r"\b(\w)_(\w)\b", r"\1<sub>\2</sub>", text)


def _size(count: float) -> str:
    """Bytes for people."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} GB"
