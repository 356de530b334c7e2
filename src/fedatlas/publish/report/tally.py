"""The tally of verdicts: counts by paper, as a figure."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from fedatlas.publish.report.verdicts import largest
from fedatlas.results.claims.verdicts import HELD, MORE, NOT_HELD, NOT_TESTED, UNDECIDED, VACUOUS
from fedatlas.results.figures.drawing import save, settings

if TYPE_CHECKING:
    import pandas as pd

ORDER = (MORE, HELD, UNDECIDED, NOT_HELD, VACUOUS, NOT_TESTED)
COLOURS = dict(zip(ORDER, ("#0b5c30", "#2f9e63", "#e0b04a", "#d55e00", "#a3a3a3", "#dddddd"), strict=True))
OWN = "The atlas's own"  # how the source of a question begins that no paper asks


def draw(ledger: "pd.DataFrame", papers: Mapping[str, str], out: Path) -> None:
    """Draw how many claims have which verdict, a bar for each paper and one for the atlas's own questions.

    ledger: as of `largest`. papers: name of the paper by experiment.
    """
    from matplotlib.figure import Figure

    claims = largest(ledger)
    own = claims["source"].str.startswith(OWN)
    claims = claims.assign(paper=claims["experiment"].map(papers).mask(own, "Own questions"))
    counts = claims.groupby(["paper", "verdict"], sort=False).size().unstack(fill_value=0)
    names = [*sorted(set(counts.index) - {"Own questions"}), *(["Own questions"] if own.any() else [])]
    with settings():
        figure = Figure(figsize=(7.2, 0.8 + 0.32 * len(names)), layout="constrained")
        ax = figure.subplots()
        left = dict.fromkeys(names, 0)
        for verdict in [verdict for verdict in ORDER if verdict in counts]:
            widths = [int(counts.loc[name, verdict]) for name in names]
            bars = ax.barh(names, widths, left=list(left.values()), color=COLOURS[verdict], label=verdict, height=0.7)
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
