"""The folder of an experiment for a paper: figures, tables, numbers and references, and where each came from."""

import hashlib
import json
import logging
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fedatlas.errors import UserError
from fedatlas.io import csv
from fedatlas.io.files import atomic_folder
from fedatlas.publish.paper import content, tex
from fedatlas.publish.paper.results import Material, material
from fedatlas.results.figures.paper_page import Page
from fedatlas.workflow.jobs import figure
from fedatlas.workflow.study import Study

MANIFEST = "manifest.json"
NAMED = 12  # sources of a figure in a comment; the manifest has all
WIDEST, HIGHEST = 6.8, 8.0  # inches of the text of main.tex, and of a figure on one page
TABLED = "table"  # the kind of figure that is a table in a paper
MAIN = r"""\documentclass{article}
\usepackage[margin=0.85in]{geometry}
\usepackage{array,booktabs,graphicx,longtable}
\input{numbers}
\begin{document}
\input{figures}\clearpage
\input{tables}\clearpage
\input{claims}
\nocite{*}\bibliographystyle{plain}\bibliography{references}
\end{document}
"""
_BUILT = re.compile(r"main\.(?!tex$).*")  # what TeX makes of main.tex


class _Written:
    """The files of a folder as they are written, and what they came from."""

    def __init__(self, folder: Path, of: Material) -> None:
        self.folder, self.of = folder, of
        self.sources: dict[str, list[str]] = {}
        self.left_out: list[str] = []
        self.large: list[str] = []

    def text(self, name: str, text: str, sources: Sequence[str]) -> None:
        """Write a file. sources: paths that it came from."""
        (self.folder / name).write_text(text, encoding="utf-8")
        self.sources[name] = list(sources)

    def manifest(self, page: Page) -> None:
        """Write what each file came from, and its checksum."""
        of, files = self.of, {}
        for name, sources in self.sources.items():
            digest = hashlib.sha256((self.folder / name).read_bytes()).hexdigest()
            files[name] = {"sha256": digest, "from": sources}
        record = {
            "experiment": of.about.name,
            "size": of.about.size,
            "file": of.about.file,
            "command": _command(of, page),
            "versions": of.meta.versions,
            "changed since the results were made": of.changed,
            "files": files,
        }
        path = self.folder / MANIFEST
        path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def write_folder(
    study: Study, name: str, size: str, out: str | Path, page: Page, directory: str | None = None
) -> list[str]:
    """Write the folder of an experiment, in place of one that was written before.

    page: of the paper, for the figures. directory: of the prepared data. Returns sentences about what the author has to
    know: figures that could not be drawn or are wider than the page, and changes since the results were made. Raises
    UserError if there are no results, or if the folder holds what was not written so.
    """
    of, out = material(study, name, size), Path(out)
    _check(out)
    with atomic_folder(out) as folder:
        written = _Written(folder, of)
        more = _figures(written, page, directory)
        _texts(written, more)
        written.text("main.tex", MAIN, [])
        written.manifest(page)
    return _told(written)


def _check(out: Path) -> None:
    """Raise UserError if a folder holds anything that this module did not write, or that was changed since."""
    if not out.is_dir() or not any(out.iterdir()):
        return
    how = "name another folder with --out, or remove this one"
    try:
        files = json.loads((out / MANIFEST).read_text(encoding="utf-8"))["files"]
        known = {name: one["sha256"] for name, one in files.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise UserError(f"{out} is not a folder that `fedatlas paper` wrote: {how}") from None
    for path in sorted(path for path in out.rglob("*") if not path.is_dir()):
        place = path.relative_to(out).as_posix()
        if place == MANIFEST or _BUILT.fullmatch(place):
            continue
        if place not in known:
            raise UserError(f"{path} is not of `fedatlas paper`: {how}, so that it is not lost")
        if hashlib.sha256(path.read_bytes()).hexdigest() != known[place]:
            raise UserError(f"{path} was changed since `fedatlas paper` wrote it: {how}, so that it is not lost")


def _command(of: Material, page: Page) -> str:
    given = f"--width {page.width:g} --points {page.points:g} --fonts {page.fonts}"
    return f"fedatlas paper {of.about.name} --size {of.about.size} {given}"


def _head(of: Material, what: str) -> str:
    """Comments at the top of a file."""
    about = of.about
    lines = [
        f"{what} of {about.name} (size {about.size}), from the results in {of.folder}.",
        f"`fedatlas paper {about.name} --size {about.size}` writes this file again. {MANIFEST} names the run files.",
    ]
    if of.changed:
        lines.append(f"The experiment's file has changed since the results were made: {', '.join(of.changed)}.")
    return "\n".join(map(tex.comment, lines)) + "\n"


def _texts(written: _Written, more: list[str]) -> None:
    """The files of text. more: tables that figures of the experiment are."""
    of, every = written.of, written.of.runs_of()
    table = f"{of.folder}/table.parquet"
    verdicts = f"{of.folder}/claims.csv"
    written.text("numbers.tex", _head(of, "Numbers") + content.numbers(of), [table, verdicts, *every])
    shown = [f"{tex.comment(f'{what}, from {table}')}\n{text}\n" for what, text in content.tables(of)]
    written.text("tables.tex", "\n".join([_head(of, "Tables"), *shown, *more]), [table, *every])
    said = content.claims(of)
    written.text("claims.tex", f"{_head(of, 'Claims')}\n{said}\n", [verdicts, *every])
    missing = [key for key in of.about.cited if key not in of.about.bibtex]
    lacks = [tex.comment(f"The bibliography has no entry {key}.") for key in missing]
    entries = [of.about.bibtex[key] for key in of.about.cited if key in of.about.bibtex]
    written.text("references.bib", "\n\n".join([*lacks, *entries]) + "\n", [of.about.file])


def _figures(written: _Written, page: Page, directory: str | None) -> list[str]:
    """Draw all figures and write what includes them. Returns the figures that are tables, as TeX."""
    of = written.of
    (written.folder / "figures").mkdir()
    parts, more = [_head(of, "Figures")], []
    for name, caption in of.about.figures.items():
        kind, _ = of.graph.figure(_at(of, name))
        runs = of.runs_of(getattr(kind, "algorithms", None), getattr(kind, "where", None)) if kind.draws_results else []
        sources = [f"{of.folder}/curves.parquet", f"{of.folder}/table.parquet", *runs] if runs else [of.about.file]
        try:
            note, path = _drawn(of, name, written.folder / "figures", page, directory)
        except UserError as error:
            written.left_out.append(f"figure {name} is left out: {error}")
            parts.append(tex.comment(written.left_out[-1]) + "\n")
            continue
        told = "\n".join(map(tex.comment, [f"{name}, from", *sources[:NAMED], *_more(sources)]))
        numbers = path.with_suffix(".csv")
        if kind.name == TABLED:
            frame = csv.read(numbers, keep_default_na=False, na_values=[""])
            more.append(f"{told}\n{content.tabled(of, name, frame, kind, caption)}\n")
            path.unlink()
        else:
            parts.append(f"{told}\n{_included(written, name, f'{tex.prose(caption)} {tex.noted(note)}', page)}\n")
            written.sources[f"figures/{name}.pdf"] = sources
        for file in sorted((written.folder / "figures").glob(f"{name}.*")):
            written.sources.setdefault(f"figures/{file.name}", sources)
    written.text("figures.tex", "\n".join(parts), [])
    written.sources["figures.tex"] = sorted({one for name in written.sources for one in written.sources[name]})
    return more


def _more(sources: Sequence[str]) -> list[str]:
    """The comment on sources that are not named."""
    more = len(sources) - NAMED
    return [f"and {more} more run files, which {MANIFEST} names"] if more > 0 else []


def _at(of: Material, name: str) -> Any:
    w = of.wildcards
    w.figure = name
    return w


def _drawn(of: Material, name: str, folder: Path, page: Page, directory: str | None) -> tuple[str, Path]:
    """Draw a figure. Returns its notes and its path."""
    path = folder / f"{name}.pdf"
    logging.getLogger("fontTools").setLevel(logging.ERROR)  # what it says of matplotlib's fonts helps no author
    spec = json.loads(of.graph.figure_spec(_at(of, name)))
    return figure.make(spec, str(of.folder), [str(path)], directory, page), path


def _included(written: _Written, name: str, caption: str, page: Page) -> str:
    """The environment of a figure.

    TeX makes a figure smaller that is a little wider than a column, or larger than the text; one that is much wider
    than a column spans all columns.
    """
    width, height = _size(written.folder / f"figures/{name}.pdf")
    little, star, option = 1.1 * page.width, "", ""
    if width > little:
        star = "*"
        written.large.append(f"figure {name} is {width:.3g} inches wide, because its texts need the room")
    if width > WIDEST or height > HIGHEST:
        option = r"[width=\textwidth,height=0.85\textheight,keepaspectratio]"
    elif width > page.width:
        option = rf"[width={page.width:g}in]" if width <= little else ""
    if height > HIGHEST:
        written.large.append(f"figure {name} is {height:.3g} inches high: a larger --width sets more panels in a row")
    return "\n".join(
        [
            rf"\begin{{figure{star}}}[tbp]",
            rf"\centering\includegraphics{option}{{figures/{name}.pdf}}",
            rf"\caption{{{caption.strip()}}}\label{{fig:{written.of.about.name}-{name}}}",
            rf"\end{{figure{star}}}",
        ]
    )


def _size(path: Path) -> tuple[float, float]:
    """Width and height of the page of a PDF that matplotlib wrote, in inches."""
    box = re.search(rb"/MediaBox \[ ?0 0 ([\d.]+) ([\d.]+) ?\]", path.read_bytes())
    return (float(box[1]) / 72, float(box[2]) / 72) if box else (0.0, 0.0)


def _told(written: _Written) -> list[str]:
    told = [*written.left_out, *written.large]
    if written.of.changed:
        keys = ", ".join(written.of.changed)
        again = f"`fedatlas run {written.of.about.name} --size {written.of.about.size}`"
        told.append(f"{written.of.about.file} has changed since the results were made ({keys}): run {again}")
    return told
