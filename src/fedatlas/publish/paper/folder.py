"""The folder of an experiment for a paper: figures, tables, numbers and references, each with its sources."""

import hashlib
import json
import logging
import re
from collections.abc import Sequence
from pathlib import Path

from fedatlas.errors import UserError
from fedatlas.experiments.metadata import versions
from fedatlas.io.files import atomic_folder, write_json
from fedatlas.io.text import read_bytes, read_json
from fedatlas.publish.paper import tables, tex
from fedatlas.publish.paper.macros import render_numbers
from fedatlas.publish.paper.results import PaperResults, load_results
from fedatlas.results.figures.paper_page import Page
from fedatlas.results.figures.text_table import TextTable
from fedatlas.workflow.jobs import figure
from fedatlas.workflow.study import Study

MANIFEST = "manifest.json"
MAX_SOURCES = 12  # of a figure in a comment; the manifest has all
MAX_WIDTH, MAX_HEIGHT = 6.8, 8.0  # inches of the text of main.tex, and of a figure on one page
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
_COMPILED = re.compile(r"main\.(?!tex$).*")  # files that TeX creates from main.tex


class _FolderWriter:
    """Writes the files of a folder and records their sources."""

    def __init__(self, folder: Path, results: PaperResults) -> None:
        self.folder, self.results = folder, results
        self.sources: dict[str, list[str]] = {}
        self.omitted: list[str] = []  # sentences on figures that cannot be drawn
        self.large: list[str] = []  # sentences on figures larger than the page

    def write(self, name: str, text: str, sources: Sequence[str]) -> None:
        """Write a file and record the paths of its sources."""
        (self.folder / name).write_text(text, encoding="utf-8")
        self.sources[name] = list(sources)

    def write_manifest(self, page: Page) -> None:
        """Write the sources and the checksum of each file."""
        results, files = self.results, {}
        for name, sources in self.sources.items():
            digest = hashlib.sha256((self.folder / name).read_bytes()).hexdigest()
            files[name] = {"sha256": digest, "from": sources}
        facts = results.facts
        options = f"--width {page.width:g} --points {page.points:g} --fonts {page.fonts}"
        manifest = {
            "experiment": facts.name,
            "size": facts.size,
            "file": facts.file,
            "command": f"fedatlas paper {facts.name} --size {facts.size} {options}",
            "versions": versions(results.meta.environments),
            "changed since the results were made": results.changed,
            "files": files,
        }
        write_json(self.folder / MANIFEST, manifest)

    def messages(self) -> list[str]:
        """Return sentences for the author."""
        sentences = [*self.omitted, *self.large]
        if self.results.changed:
            facts, keys = self.results.facts, ", ".join(self.results.changed)
            command = f"`fedatlas run {facts.name} --size {facts.size}`"
            sentences.append(f"{facts.file} has changed since the results were made ({keys}): run {command}")
        return sentences


def write_folder(
    study: Study, name: str, size: str, out: str | Path, page: Page, directory: str | None = None
) -> list[str]:
    """Write the folder of an experiment, in place of an older one.

    Args:
        study: The study.
        name: Name of the experiment.
        size: Size.
        out: Path of the folder.
        page: Page of the paper, for the figures.
        directory: Folder of the prepared data.

    Returns:
        Sentences for the author: figures that cannot be drawn or are wider than the page, and changes of the
        experiment's file since the results were computed.

    Raises:
        UserError: There are no results, or the folder holds files that this command did not write.
    """
    results, out = load_results(study, name, size), Path(out)
    _validate_target(out)
    with atomic_folder(out) as folder:
        writer = _FolderWriter(folder, results)
        figure_tables = _write_figures(writer, page, directory)
        _write_texts(writer, figure_tables)
        writer.write("main.tex", MAIN, [])
        writer.write_manifest(page)
    return writer.messages()


def _validate_target(out: Path) -> None:
    """Raise UserError if a folder holds a file that `fedatlas paper` did not write, or that was changed since."""
    if not out.is_dir() or not any(out.iterdir()):
        return
    advice = "name another folder with --out, or remove this one"
    try:
        files = read_json(out / MANIFEST)["files"]
        checksums = {name: file["sha256"] for name, file in files.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise UserError(f"{out} is not a folder that `fedatlas paper` wrote: {advice}") from None
    for path in sorted(path for path in out.rglob("*") if not path.is_dir()):
        name = path.relative_to(out).as_posix()
        if name == MANIFEST or _COMPILED.fullmatch(name):
            continue
        if name not in checksums:
            raise UserError(f"{path} is not of `fedatlas paper`: {advice}, so that it is not lost")
        if hashlib.sha256(read_bytes(path)).hexdigest() != checksums[name]:
            raise UserError(f"{path} was changed since `fedatlas paper` wrote it: {advice}, so that it is not lost")


def _head(results: PaperResults, content: str) -> str:
    """Return the comments at the top of a file with some content, such as "Numbers"."""
    facts = results.facts
    lines = [
        f"{content} of {facts.name} (size {facts.size}), from the results in {results.folder}.",
        f"`fedatlas paper {facts.name} --size {facts.size}` writes this file again. {MANIFEST} names the run files.",
    ]
    if results.changed:
        lines.append(f"The experiment's file has changed since the results were made: {', '.join(results.changed)}.")
    return "\n".join(map(tex.comment, lines)) + "\n"


def _write_texts(writer: _FolderWriter, figure_tables: list[str]) -> None:
    """Write numbers, tables, claims and references; the tables include those of the experiment's figures."""
    results, facts = writer.results, writer.results.facts
    runs = results.run_files()
    table, claims = f"{results.folder}/table.parquet", f"{results.folder}/claims.csv"
    writer.write("numbers.tex", _head(results, "Numbers") + render_numbers(results), [table, claims, *runs])
    parts = [
        f"{tex.comment(f'{description}, from {table}')}\n{text}\n"
        for description, text in tables.render_results(results)
    ]
    writer.write("tables.tex", "\n".join([_head(results, "Tables"), *parts, *figure_tables]), [table, *runs])
    text = f"{_head(results, 'Claims')}\n{tables.render_claims(results)}\n"
    writer.write("claims.tex", text, [claims, *runs])
    missing = [key for key in facts.cited if key not in facts.bibtex]
    notes = [tex.comment(f"The bibliography has no entry {key}.") for key in missing]
    entries = [facts.bibtex[key] for key in facts.cited if key in facts.bibtex]
    writer.write("references.bib", "\n\n".join([*notes, *entries]) + "\n", [facts.file])


def _write_figures(writer: _FolderWriter, page: Page, directory: str | None) -> list[str]:
    """Draw all figures and write the file that includes them; return the figures that are tables, as TeX."""
    results, folder = writer.results, writer.folder / "figures"
    folder.mkdir()
    parts, figure_tables = [_head(results, "Figures")], []
    for name, caption in results.facts.figures.items():
        w = results.wildcards
        w.figure = name
        kind, _ = results.graph.figure(w)
        runs = []
        if kind.draws_results:
            runs = results.run_files(getattr(kind, "algorithms", None), getattr(kind, "where", None))
        sources = [results.facts.file]
        if runs:
            sources = [f"{results.folder}/curves.parquet", f"{results.folder}/table.parquet", *runs]
        path = folder / f"{name}.pdf"
        logging.getLogger("fontTools").setLevel(logging.ERROR)  # its messages on matplotlib's fonts help no author
        try:
            spec = json.loads(results.graph.figure_spec(w))
            note = figure.make(spec, str(results.folder), [str(path)], directory, page)
        except UserError as error:
            writer.omitted.append(f"figure {name} is left out: {error}")
            parts.append(tex.comment(writer.omitted[-1]) + "\n")
            continue
        rest = len(sources) - MAX_SOURCES
        lines = [f"{name}, from", *sources[:MAX_SOURCES]]
        lines += [f"and {rest} more run files, which {MANIFEST} names"] if rest > 0 else []
        comments = "\n".join(map(tex.comment, lines))
        if (chart := read_json(path.with_suffix(".json"))) is not None and chart["kind"] == "table":
            label = f"tab:{results.facts.name}-{name}"
            table = tables.render_text_table(TextTable.of(chart), tex.prose(caption), label)
            figure_tables.append(f"{comments}\n{table}\n")
            path.unlink()
        else:
            text = f"{tex.prose(caption)} {tex.typeset(note)}"
            parts.append(f"{comments}\n{_figure_environment(writer, name, text, page)}\n")
            writer.sources[f"figures/{name}.pdf"] = sources
        for file in sorted(folder.glob(f"{name}.*")):
            writer.sources.setdefault(f"figures/{file.name}", sources)
    writer.write("figures.tex", "\n".join(parts), [])
    writer.sources["figures.tex"] = sorted({path for paths in writer.sources.values() for path in paths})
    return figure_tables


def _figure_environment(writer: _FolderWriter, name: str, caption: str, page: Page) -> str:
    """Return the environment of a figure.

    A figure that is a little wider than a column, or larger than the text, is scaled down; one that is much wider than
    a column spans all columns.
    """
    width, height = _pdf_size(writer.folder / f"figures/{name}.pdf")
    tolerance, star, option = 1.1 * page.width, "", ""
    if width > tolerance:
        star = "*"
        writer.large.append(f"figure {name} is {width:.3g} inches wide, because its texts need the room")
    if width > MAX_WIDTH or height > MAX_HEIGHT:
        option = r"[width=\textwidth,height=0.85\textheight,keepaspectratio]"
    elif width > page.width:
        option = rf"[width={page.width:g}in]" if width <= tolerance else ""
    if height > MAX_HEIGHT:
        writer.large.append(f"figure {name} is {height:.3g} inches high: a larger --width sets more panels in a row")
    return "\n".join(
        [
            rf"\begin{{figure{star}}}[tbp]",
            rf"\centering\includegraphics{option}{{figures/{name}.pdf}}",
            rf"\caption{{{caption.strip()}}}\label{{fig:{writer.results.facts.name}-{name}}}",
            rf"\end{{figure{star}}}",
        ]
    )


def _pdf_size(path: Path) -> tuple[float, float]:
    """Return width and height of the page of a PDF that matplotlib wrote, in inches."""
    box = re.search(rb"/MediaBox \[ ?0 0 ([\d.]+) ([\d.]+) ?\]", path.read_bytes())
    return (float(box[1]) / 72, float(box[2]) / 72) if box else (0.0, 0.0)
