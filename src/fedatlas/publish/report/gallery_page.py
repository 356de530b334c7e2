"""The page of the gallery, in Markdown, with a chart of verdicts by paper."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fedatlas.errors import UserError
from fedatlas.io import csv
from fedatlas.io.files import atomic
from fedatlas.io.markdown import escape_markdown
from fedatlas.publish.report import changes
from fedatlas.publish.report.gallery import DataForm, GalleryEntry, Styles, read_entries
from fedatlas.publish.report.verdicts import at_largest_size, with_q_values
from fedatlas.results.claims.verdicts import EQUAL, HELD, MORE, NOT_HELD, NOT_TESTED, UNDECIDED, UNTESTED, VACUOUS
from fedatlas.results.figures.drawing import save, settings

if TYPE_CHECKING:
    import pandas as pd

BAR_COLOURS = {
    MORE: "#0b5c30",
    HELD: "#2f9e63",
    EQUAL: "#8cb8d9",
    UNDECIDED: "#e0b04a",
    NOT_HELD: "#d55e00",
    VACUOUS: "#a3a3a3",
    UNTESTED: "#c4c4c4",
    NOT_TESTED: "#dddddd",
}
BAR_ORDER = tuple(BAR_COLOURS)
ATLAS_SOURCE = "The atlas's own"  # prefix of the source of a question that no paper asks
ATLAS_BAR = "Own questions"
DIGITS = 12  # of a hash on the page; entry.json has all


@dataclass(frozen=True)
class GalleryItem:
    """An experiment of the gallery, as its file and the code are now.

    Attributes:
        name: Name of the experiment.
        size: Size.
        digests: Digests of the experiment's file, from `changes`.
        looks: Styles of the figures.
    """

    name: str
    size: str
    digests: dict[str, str]
    looks: Styles


def write_page(gallery: Path, out: Path, items: Sequence[GalleryItem]) -> None:
    """Write the page over all entries, and beside the entries their claims and a chart of verdicts.

    Args:
        gallery: Folder of the entries.
        out: Path of the page.
        items: Experiments of the gallery.

    Raises:
        UserError: The gallery is empty, or has an entry of another experiment.
    """
    import pandas as pd

    items_by_key = {(item.size, item.name): item for item in items}
    entries = list(read_entries(gallery))
    for entry in entries:
        if (entry.size, entry.name) not in items_by_key:
            folder = gallery / entry.size / entry.name
            raise UserError(f"{folder} is not in `gallery` of config/config.yaml: name it there, or remove its folder")
    if not entries:
        raise UserError(f"{gallery} has no entries, and there are no results of what `gallery` in config.yaml names")
    tables = [
        csv.read(gallery / entry.size / entry.name / "claims.csv", dtype=str, keep_default_na=False)
        for entry in entries
    ]
    papers_by_name = {entry.name: entry.paper.key for entry in entries}
    claims = with_q_values(pd.concat(tables, ignore_index=True).fillna(""), papers_by_name)
    csv.write(gallery / "claims.csv", claims)
    papers = {entry.name: f"{entry.paper.short} ({entry.paper.year})" for entry in entries}
    draw_verdicts(claims, papers, gallery / "tally.svg")
    lines = [*_head(claims, gallery.name)]
    for paper in dict.fromkeys(entry.paper for entry in entries):
        lines += [
            f"## {escape_markdown(paper.title)}",
            "",
            f"{escape_markdown(paper.authors)}, {escape_markdown(paper.venue)}, {paper.year}.",
            "",
        ]
        for entry in entries:
            if entry.paper == paper:
                table = claims[(claims["experiment"] == entry.name) & (claims["size"] == entry.size)]
                path = f"{gallery.name}/{entry.size}/{entry.name}"
                lines += _section(entry, items_by_key[entry.size, entry.name], table, path)
    keys = {(entry.size, entry.name) for entry in entries}
    lines += _missing([item for key, item in items_by_key.items() if key not in keys])
    with atomic(out) as temporary:
        temporary.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def draw_verdicts(claims: "pd.DataFrame", papers: Mapping[str, str], out: Path) -> None:
    """Draw the number of claims by verdict, with a bar for each paper and one for the atlas's own questions.

    Args:
        claims: Rows of claims.csv of several experiments.
        papers: Name of the paper by experiment.
        out: Path of the image.
    """
    from matplotlib.figure import Figure

    claims = at_largest_size(claims)
    no_paper = claims["source"].str.startswith(ATLAS_SOURCE)
    claims = claims.assign(paper=claims["experiment"].map(papers).mask(no_paper, ATLAS_BAR))
    counts = claims.groupby(["paper", "verdict"], sort=False).size().unstack(fill_value=0)
    names = [*sorted(set(counts.index) - {ATLAS_BAR}), *([ATLAS_BAR] if no_paper.any() else [])]
    with settings():
        figure = Figure(figsize=(7.2, 0.8 + 0.32 * len(names)), layout="constrained")
        ax = figure.subplots()
        left = dict.fromkeys(names, 0)
        for verdict in [verdict for verdict in BAR_ORDER if verdict in counts]:
            widths = [int(counts.loc[name, verdict]) for name in names]
            colour = BAR_COLOURS[verdict]
            bars = ax.barh(names, widths, left=list(left.values()), color=colour, label=verdict, height=0.7)
            dark = verdict in (HELD, MORE, NOT_HELD)
            ax.bar_label(bars, [str(n) if n else "" for n in widths], label_type="center",
                         color="white" if dark else "#262626", fontsize=8)  # fmt: skip
            left = {name: left[name] + n for name, n in zip(names, widths, strict=True)}
        ax.grid(visible=False, axis="y")
        ax.invert_yaxis()
        ax.set_xlabel("claims")
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
        figure.legend(loc="outside upper center", ncols=3, frameon=False, fontsize=8)
        save(figure, out)


def _head(claims: "pd.DataFrame", folder: str) -> list[str]:
    counts = at_largest_size(claims)["verdict"].value_counts()
    summary = ", ".join(f"{counts[verdict]} {verdict}" for verdict in BAR_ORDER if verdict in counts)
    return [
        "# Gallery",
        "",
        "What the workflow made, at the sizes that are named. `make gallery` writes this page and its figures.",
        f"Every verdict with its interval is in [{folder}/claims.csv]({folder}/claims.csv). The",
        "[guide to experiment files](../config/experiments/README.md#claims) says what the verdicts mean.",
        "",
        f"Of {counts.sum()} claims, each at the largest size that tests it: {summary}.",
        "",
        f"![Verdicts by paper]({folder}/tally.svg)",
        "",
    ]


def _section(entry: GalleryEntry, item: GalleryItem, claims: "pd.DataFrame", folder: str) -> Iterator[str]:
    yield f"### {escape_markdown(entry.title)}"
    yield ""
    for number, (key, text) in enumerate(_facts(entry, folder)):
        yield f"| {key} | {text} |"
        if not number:
            yield "|---|---|"
    yield ""
    for text in _outdated(entry, item):
        yield f"> **Older than the code.** {text}"
        yield ""
    for name, caption in entry.figures.items():
        yield f"![{escape_markdown(caption)}]({folder}/{name}.png)"
        yield ""
        yield escape_markdown(caption)
        yield ""
    tested = claims[claims["verdict"] != NOT_TESTED]
    if len(tested):
        yield "| Claim | Paper | Here | Seeds | q | Verdict |"
        yield "|---|---|---|---|---|---|"
    for claim in tested.to_dict("records"):
        reading = f" Reading: {claim['reading'].rstrip('.')}." if claim["reading"] else ""
        dated = f"; check of {claim['changed']}, {claim['written']} results" if claim.get("changed") else ""
        text = f"{claim['text']}{reading} ({claim['source']}{dated})"
        cells = [
            escape_markdown(text),
            claim["paper"],
            escape_markdown(claim["ours"]),
            claim["seeds"],
            claim["q"],
            f"**{claim['verdict']}**",
        ]
        yield f"| {' | '.join(map(str, cells))} |"
    yield ""
    if len(claims) > len(tested):
        yield f"Not tested at this size: {len(claims) - len(tested)} more."
        yield ""


def _time(hours: float) -> str:
    return f"{hours:.1f} hours" if hours >= 1 else f"{60 * hours:.1f} minutes"


def _facts(entry: GalleryEntry, folder: str) -> Iterator[tuple[str, str]]:
    """Yield pairs (key, text): source, command, data, time, versions and machine, and links to numbers."""
    yield "In the paper", escape_markdown(entry.source)
    yield "Command", f"`{_command(entry.name, entry.size)}`"
    yield "Data", "; ".join(_data(name, form) for name, form in entry.data.items()) or "synthetic"
    if entry.tuning:
        yield "Tuning", escape_markdown(entry.tuning)
    yield "Time", f"{entry.runs:,} runs, {_time(entry.hours)} of a processor"
    versions = ", ".join(f"{name} {version}" for name, version in entry.versions.items())
    yield "Made with", escape_markdown(f"{versions}; {' and '.join(entry.machines) or 'the processor is not recorded'}")
    yield "Numbers", f"[chosen values]({folder}/chosen.csv), [claims]({folder}/claims.csv)"


def _data(name: str, form: DataForm) -> str:
    """Return a data set with its title, the raw files with the beginnings of their hashes, and what differs in them."""
    text = escape_markdown(f"{name} ({form.title})" if form.title else name)
    if form.files:
        hashes = {file: f" (SHA-256 {digest[:DIGITS]}…)" if digest else "" for file, digest in form.files.items()}
        text += ", from " + ", ".join(f"`{file}`{digest}" for file, digest in hashes.items())
    return f"{text}. **A lossy copy**: {escape_markdown(form.lossy)}" if form.lossy else text


def _command(name: str, size: str) -> str:
    return f"snakemake --cores 2 {name} --config size={size}"


def _outdated(entry: GalleryEntry, item: GalleryItem) -> Iterator[str]:
    """Yield sentences on differences between an entry and the experiment's file and the code."""
    if keys := changes.changed_keys(entry.digests, item.digests):
        names = ", ".join(f"`{key}`" for key in keys)
        yield f"The experiment's file has changed since these results were made, in {names}."
    if entry.looks != item.looks:
        yield "The figures have colours or marks of an older version."


def _missing(items: Sequence[GalleryItem]) -> Iterator[str]:
    """Yield lines on the experiments that have no entry."""
    if items:
        yield "## Not made yet"
        yield ""
    for item in items:
        yield f"- {escape_markdown(item.name)}, size {item.size}: `{_command(item.name, item.size)}`"
