"""The report: one HTML file that opens offline and holds figures, verdicts, values, provenance and references."""

import base64
import re
from pathlib import Path

from fedatlas import citations, labels
from fedatlas.checks import HELD, NOT_HELD, NOT_TESTED
from fedatlas.errors import UserError
from fedatlas.experiments.result_files import atomic, read
from fedatlas.report import summaries

VERDICTS = {HELD: ("held", "✓"), NOT_HELD: ("not-held", "✗"), NOT_TESTED: ("not-tested", "–")}
LONG_TABLE = 12  # rows; longer ones are folded
GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "eta": "η", "kappa": "κ", "lambda": "λ", "mu": "μ",
    "nu": "ν", "rho": "ρ", "sigma": "σ", "tau": "τ",
}  # fmt: skip
LARGE_SVG = 1_500_000  # bytes; beyond them the PNG is smaller and looks the same


def report(experiments, root, out, repository=None):
    """Write the report over experiments.

    experiments: loaded ones. root: folder whose ``size/name`` holds table.parquet, curves.parquet, claims.csv and
    figures/ of each. out: path of the HTML file. repository: address of the project, to link to. Raises UserError if
    something is missing.
    """
    parts = [_part(experiment, Path(root) / experiment["size"] / experiment["name"]) for experiment in experiments]
    papers = {}
    for part in parts:
        papers.setdefault(part["experiment"]["paper"], []).append(part)
    abouts = [part["about"] for part in parts]
    found = dict.fromkeys(key for experiment in experiments for key in citations.keys(experiment))
    known = [key for key in found if key in citations.entries()]
    page = _environment().get_template("report.html")
    html = page.render(
        papers=[{"reference": citations.reference(key), "parts": group} for key, group in papers.items()],
        parts=parts,
        verdicts=VERDICTS,
        counts=_counts([claim for part in parts for claim in part["claims"]]),
        runs=sum(about["runs"] for about in abouts),
        diverged=sum(about["diverged_runs"] for about in abouts),
        sizes=sorted({about["size"] for about in abouts}),
        data=summaries.provenance(abouts),
        versions=_versions(abouts),
        references=sorted((citations.reference(key) for key in known), key=_by_author),
        bibtex=citations.bibtex(known),
        missing=[key for key in found if key not in known],
        repository=repository,
        style=(Path(__file__).parent / "report.css").read_text(encoding="utf-8"),
    )
    with atomic(out) as temporary:
        temporary.write_text(html, encoding="utf-8")


def _part(experiment, directory):
    """What the template shows of one experiment."""
    table, about = read(directory / "table.parquet")
    best = summaries.best_values(about, table)
    return {
        "anchor": f"{experiment['size']}-{experiment['name']}",
        "experiment": experiment,
        "about": about,
        "figures": [_figure(directory, name, figure) for name, figure in experiment["figures"].items()],
        "claims": _claims(directory / "claims.csv"),
        "best": best,
        "folded": len(best["rows"]) > LONG_TABLE,
        "choices": summaries.choices(about, table),
        "score": summaries.score_name(about),
        "warnings": summaries.warnings(about, table),
        "setup": summaries.setup(experiment),
        "parameters": summaries.parameters(experiment),
        "names": summaries.names(about),
    }


def _figure(directory, name, figure):
    """Caption and image of a figure, as a data URI."""
    vector, image = (directory / f"figures/{name}.{suffix}" for suffix in ("svg", "png"))
    path = vector if vector.exists() and (vector.stat().st_size < LARGE_SVG or not image.exists()) else image
    try:
        content = path.read_bytes()
    except OSError:
        raise UserError(f"{path} does not exist: draw the figures before the report") from None
    kind = "svg+xml" if path.suffix == ".svg" else "png"
    return {"caption": figure["caption"], "image": f"data:image/{kind};base64,{base64.b64encode(content).decode()}"}


def _claims(path):
    import pandas as pd

    try:
        frame = pd.read_csv(path, keep_default_na=False)
    except FileNotFoundError:
        raise UserError(f"{path} does not exist: check the claims before the report") from None
    claims = frame.to_dict("records")
    for claim in claims:
        claim["paper"] = labels.number(claim["paper"]) if _is_number(claim["paper"]) else claim["paper"]
    return claims


def _is_number(value):
    try:
        return bool(str(value)) and float(value) == float(value)
    except ValueError:
        return False


def _counts(claims):
    return {verdict: sum(claim["verdict"] == verdict for claim in claims) for verdict in VERDICTS}


def _versions(abouts):
    """Versions by package; several where experiments were run with different ones."""
    found = {}
    for about in abouts:
        for package, version in about["versions"].items():
            found.setdefault(package, {})[version] = None
    return {package: ", ".join(found[package]) for package in sorted(found)}


def _by_author(reference):
    return reference["short"].lower(), reference["year"], reference["title"]


def _environment():
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


def prose(text):
    """Text of an experiment file as HTML: ``r^0.75``, ``u_i``, ``eta``, ``>=``, 1e-3 and `code` as they are printed."""
    from markupsafe import Markup, escape

    parts = " ".join(text.split()).split("`")
    for number, part in enumerate(parts):
        parts[number] = f"<code>{escape(part)}</code>" if number % 2 else _formulas(part)
    return Markup("".join(parts))


def _formulas(text):
    from markupsafe import escape

    text = re.sub(r"(?<![\w.])\d+(\.\d+)?e[-+]?\d+\b", lambda match: labels.scientific(float(match[0])), text)
    text = re.sub(rf"\b({'|'.join(GREEK)})(?=\b|_)", lambda match: GREEK[match[1]], text)
    text = re.sub(r"(?<![\w-])-(?=\d)", "−", text.replace(">=", "≥").replace("<=", "≤"))
    text = str(escape(text))
    text = re.sub(r"(?<=[\w)|])\^(-?\d+(?:\.\d+)?|\w\b|\*)", r"<sup>\1</sup>", text)
    return re.sub(r"\b(\w)_(\w)\b", r"\1<sub>\2</sub>", text)


def _size(count):
    """Bytes for people."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} GB"
