"""The report: one HTML file that opens offline and holds figures, verdicts, values, provenance and references."""

import base64
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas import csv_files, labels
from fedatlas.bibliography import Reference
from fedatlas.checks.verdicts import HELD, MORE, NOT_HELD, NOT_TESTED, UNDECIDED, VACUOUS
from fedatlas.errors import UserError
from fedatlas.experiments.metadata import TableMeta
from fedatlas.experiments.result_files import read
from fedatlas.files import atomic
from fedatlas.report import summaries
from fedatlas.report.record import FILE, About
from fedatlas.report.warnings import warnings

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
LARGE_SVG = 1_500_000  # bytes; beyond them the PNG is smaller and looks the same


def report(parts: Sequence[Path], out: Path, repository: str | None = None) -> None:
    """Write the report over experiments.

    parts: folders of results, each with about.json, table.parquet, claims.csv and figures/. out: path of the HTML file.
    repository: address of the project, to link to. Raises UserError if something is missing.
    """
    shown = [_part(Path(directory)) for directory in parts]
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
        runs=sum(part["made"].runs for part in shown),
        diverged=sum(part["made"].diverged_runs for part in shown),
        sizes=sorted({about.size for about in abouts}),
        data=summaries.provenance({name: one for part in shown for name, one in part["made"].data.items()}),
        versions=_versions([part["made"].versions for part in shown]),
        references=sorted(references.values(), key=lambda one: (one.short.lower(), one.year, one.title)),
        bibtex="\n\n".join(bibtex[key] for key in sorted(bibtex)),
        missing=[key for key in cited if key not in references],
        repository=repository,
        style=(Path(__file__).parent / "report.css").read_text(encoding="utf-8"),
    )
    with atomic(out) as temporary:
        temporary.write_text(html, encoding="utf-8")


def _part(directory: Path) -> dict[str, Any]:
    """What the template shows of one experiment. made: what the table's file says of the runs."""
    about = About.read(directory / FILE)
    table, plain = read(directory / "table.parquet")
    made = TableMeta.of(plain)
    best = summaries.best_values(about, table)
    return {
        "anchor": f"{about.size}-{about.name}",
        "about": about,
        "made": made,
        "figures": [_figure(directory, name, caption) for name, caption in about.figures.items()],
        "claims": _claims(directory / "claims.csv"),
        "best": best,
        "folded": len(best["rows"]) > LONG_TABLE,
        "choices": summaries.choices(about, table),
        "warnings": warnings(about, table, made.data),
    }


def _figure(directory: Path, name: str, caption: str) -> dict[str, str]:
    """Caption and image of a figure, as a data URI."""
    vector, image = (directory / f"figures/{name}.{suffix}" for suffix in ("svg", "png"))
    path = vector if vector.exists() and (vector.stat().st_size < LARGE_SVG or not image.exists()) else image
    try:
        content = path.read_bytes()
    except OSError:
        raise UserError(f"{path} does not exist: draw the figures before the report") from None
    kind = "svg+xml" if path.suffix == ".svg" else "png"
    return {"caption": caption, "image": f"data:image/{kind};base64,{base64.b64encode(content).decode()}"}


def _claims(path: Path) -> list[dict[str, Any]]:
    try:
        frame = csv_files.read(path, keep_default_na=False)
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


def _versions(versions: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Versions by package; several where experiments were run with different ones."""
    found: dict[str, dict[str, None]] = {}
    for one in versions:
        for package, version in one.items():
            found.setdefault(package, {})[version] = None
    return {package: ", ".join(found[package]) for package in sorted(found)}


def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
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
