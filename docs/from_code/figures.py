"""Figures on the pages of the gallery, which the site draws from the record, with the charts of reports."""

import hashlib
import itertools
import os
import re
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from fedatlas.errors import UserError
from fedatlas.experiments.fingerprint import fingerprint
from fedatlas.io.files import write_text
from fedatlas.publish.report.gallery import NO_PICTURE
from fedatlas.publish.report.page import LIBRARY, SCRIPTS, STYLE, create_environment, load_figure
from fedatlas.publish.report.tables import compress
from fedatlas.records.lookup import record_paths
from fedatlas.workflow.gallery_page import draw_figures, make_tables
from fedatlas.workflow.study import Study

ROOT = Path(__file__).parents[2]
PAGES, DRAWN = ROOT / "docs/gallery", ROOT / "docs/_build/figures"
STAMP, FAULT = "stamp", "fault.txt"
CODE = ("fedatlas.workflow.jobs.figure", "fedatlas.workflow.gallery_page")
FIGURE = re.compile(
    rf"<!-- figure (?P<mark>\S+) -->(?:\n\n(?P<words>{re.escape(NO_PICTURE)}) )?"
    r"|!\[[^\]\n]*\]\((?P<picture>(?:paper|laptop|smoke)/\S+)\.png\)"
)
SITE = "of-record"  # class of the figures on the site


def draw(app: Any) -> None:
    """Draw the figures of all experiments of the gallery that the record has, if they are not there yet."""
    held = record_paths(Study.open())
    wanted = sorted({key for page in PAGES.glob("*.md") for key, _ in _figures(page.read_text(encoding="utf-8"))})
    stamps = {key: f"{_digest(held[key])} {fingerprint(CODE)}" for key in wanted if key in held}
    stale = {key: stamp for key, stamp in stamps.items() if _stamp(key) != stamp}
    end = time.time() + float(os.environ.get("DRAW_SECONDS", "inf"))  # a check of the site need not draw all
    with ProcessPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        list(pool.map(_draw, stale.keys(), stale.values(), itertools.repeat(end)))


def _figures(text: str) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield size and experiment, and the figure, of all figures on a page."""
    for match in FIGURE.finditer(text):
        size, name, figure = (match["mark"] or match["picture"]).split("/")
        yield (size, name), figure


def _digest(record: Path) -> str:
    """Return the hash of the files of a record."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(record.iterdir()))).hexdigest()


def _stamp(key: tuple[str, str]) -> str:
    path = DRAWN.joinpath(*key, STAMP)
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _draw(key: tuple[str, str], stamp: str, end: float) -> None:
    """Draw the figures of an experiment, one by one; what one needs that is not here becomes a file of words.

    Args:
        key: Size and name of the experiment.
        stamp: What is written when they are drawn.
        end: Time after which nothing is begun.
    """
    if time.time() > end:
        return
    study, folder = Study.open(), DRAWN.joinpath(*key)
    try:
        make_tables(study, *key, folder)
    except UserError as error:
        write_text(folder / FAULT, str(error))
    for figure in study.experiment(*key).figures:
        try:
            draw_figures(study, *key, folder, [figure])
        except (UserError, OSError) as error:
            write_text(folder / f"{figure}-{FAULT}", str(error))
    write_text(folder / STAMP, stamp)


def insert(app: Any, docname: str, source: list[str]) -> None:
    """Put drawn figures into the source of a page of the gallery."""
    if Path(docname).parent != Path("docs/gallery"):
        return
    template = create_environment(Path(__file__).parent).get_template("figure.html")
    library = compress(LIBRARY.read_text(encoding="utf-8"))

    def replace(match: re.Match[str]) -> str:
        nonlocal library
        (size, name), figure = next(_figures(match[0]))
        folder = DRAWN / size / name
        if not any((folder / path).exists() for path in (f"figures/{figure}.png", f"tables/{figure}.json")):
            command = f"snakemake --cores 2 {name} --config size={size}"
            return match[0] if match["picture"] else f"This figure is not drawn here; `{command}` draws it. "
        content = load_figure(folder, figure, figure, folder)
        html = template.render(figure=content, library=library if content["compressed"] else "", site=SITE)
        library = "" if content["compressed"] else library
        lines = "\n".join(line for line in html.splitlines() if line.strip())
        end = "\n\n" if match["words"] else ""  # the caption follows
        return f"```{{raw}} html\n{lines}\n```{end}"

    source[0] = FIGURE.sub(replace, source[0])


def add_files(app: Any, pagename: str, template: str, context: Any, doctree: Any) -> None:
    """Add styles and scripts to the pages of the gallery."""
    if doctree is not None and Path(pagename).parent == Path("docs/gallery"):
        app.add_css_file("figures.css")
        for script in SCRIPTS:
            app.add_js_file(script.name, loading_method="defer")


def write_files(app: Any, error: Any) -> None:
    """Write the styles of reports, for figures alone, and their scripts into the site."""
    if error is None and app.builder.format == "html":
        static = Path(app.outdir, "_static")
        style = re.sub(r"(?m)^(\s*)(?::root|body|html)(?= \{)", r"\1&", STYLE.read_text("utf-8"))
        write_text(static / "figures.css", f".{SITE} {{\n{style}\n}}\n")
        for script in SCRIPTS:
            write_text(static / script.name, script.read_text(encoding="utf-8"))
