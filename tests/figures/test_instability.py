"""The figure of Theorem 4.2 (Yuan & Ma 2020)."""

import pytest

from fedatlas.results.figures.instability import create_figure, draw
from fedatlas.theory.fedac.instability import study


def test_the_figure(tmp_path):
    frame = study(kappas=(100, 25), steps=30)
    axes = create_figure(frame).axes
    assert [ax.get_title() for ax in axes] == ["$κ$ = 25", "$κ$ = 100"]
    assert all(len(ax.lines) == 5 and ax.get_yscale() == "log" for ax in axes)
    agd, *_, bound = (line.get_ydata() for line in axes[1].lines)
    assert agd[0] == bound[0] == 1
    assert bound[-1] == pytest.approx(1.02**10) and agd[-1] == pytest.approx(238.7, rel=1e-3)
    draw(frame, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000
