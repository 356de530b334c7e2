"""How likely clients were to be there, and who was."""

import numpy as np

from fedatlas.errors import UserError
from fedatlas.figures import sheet as base

MOST = 6  # columns that can be told apart


@base.kind("availability", takes=("where",))
def availability(sheet):
    """Draw, for each participation of the experiment, every client's probabilities by round, and who was there.

    Clients are sorted by their mean probability, or by how often they were there where that is unknown.
    """
    drawn = sheet.availability
    if not drawn:
        raise UserError("figure: no participation is left to draw; see its where")
    if len(drawn) > MOST:
        raise UserError(f"figure: there are {len(drawn)} participations; keep at most {MOST} in where")
    sheet.numbers = _numbers(drawn)
    figure = base.blank((max(4.2, 2.9 * len(drawn)), 4.6))
    tops, rasters = figure.subplots(2, len(drawn), sharex="col", sharey="row", squeeze=False, height_ratios=(1, 1.25))
    for top, raster, (title, chances, there) in zip(tops, rasters, drawn, strict=True):
        rounds, clients = there.shape
        top.set_title(title.replace(", ", ",\n", 1) if len(title) > 24 else title)
        if chances is None:
            top.text(0.5, 0.5, "unknown", transform=top.transAxes, ha="center", color=base.NOTE_COLOUR)
        else:
            top.plot(chances, color="#56b4e9", linewidth=0.5, alpha=0.45, rasterized=True)
            top.plot(chances.mean(axis=1), color="#262626", linewidth=1.8)
        order = np.argsort((there if chances is None else chances).mean(axis=0), kind="stable")
        raster.imshow(
            there[:, order].T, origin="lower", aspect="auto", cmap=_shades(), vmin=0, vmax=1, interpolation="nearest",
            extent=(-0.5, rounds - 0.5, 0, clients),
        )  # fmt: skip
        raster.grid(False)
        raster.set_xlabel("round $t$")
    highest = max((chances.max() for _, chances, _ in drawn if chances is not None), default=1)
    tops[0].set(ylim=(0, 1.06 * highest), ylabel="probability $p_i^t$")
    rasters[0].set_ylabel("clients, often there on top")
    base.foot(figure, "Above: each client, and their mean. Below: dark where a client was available, first seed.")
    return figure


def _shades():
    from matplotlib.colors import ListedColormap

    return ListedColormap(["#ffffff", "#1b2a78"])


def _numbers(drawn):
    import pandas as pd

    parts = []
    for title, chances, there in drawn:
        t, i = np.indices(there.shape)
        part = {"participation": title, "round": t.ravel(), "client": i.ravel(), "available": there.ravel().astype(int)}
        parts.append(pd.DataFrame(part | ({} if chances is None else {"probability": chances.ravel()})))
    return pd.concat(parts, ignore_index=True)
