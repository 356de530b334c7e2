"""Figures for the page of a paper: width, letters, strokes, and where the note at the foot goes."""

import re

import pytest
from matplotlib.lines import Line2D

from fedatlas.errors import UserError
from fedatlas.results.figures import paper_page
from fedatlas.results.figures.drawing import draw, settings
from fedatlas.results.figures.layout import empty_figure, grid
from fedatlas.results.figures.paper_page import Page
from tests.figures.drawings import build_figure
from tests.report.sample import experiment, table, view

SPEC = {"kind": "scaling", "x": "clients", "panel": "local_steps"}


def draw_figure(path, page=None):
    """The notes of the made-up experiment's figure, drawn into a file."""
    scores = table().assign(score_min=lambda t: t["score"], score_max=lambda t: t["score"])
    return draw(build_figure(SPEC), view(experiment()), scores, scores, [path], page=page)


@pytest.mark.parametrize(("width", "fonts", "family"), [(3.25, "cm", b"Cmr10"), (6.5, "times", b"STIXGeneral")])
def test_a_pdf_has_the_width_and_fonts_of_the_page_and_no_foot(tmp_path, width, fonts, family):
    note = draw_figure(tmp_path / "it.pdf", Page(width, fonts=fonts))
    content = (tmp_path / "it.pdf").read_bytes()
    assert float(re.search(rb"/MediaBox \[ ?0 0 ([\d.]+)", content)[1]) == pytest.approx(72 * width, abs=0.5)
    assert family in content and b"/Type3" not in content
    assert note.startswith("Lines: mean over 2 seeds") and b"Lines: mean" not in content


def test_a_screen_keeps_its_note_and_its_settings(tmp_path):
    draw_figure(tmp_path / "before.svg")
    assert draw_figure(tmp_path / "page.svg", Page()) and paper_page.current() is None
    assert draw_figure(tmp_path / "after.svg") == ""
    assert (tmp_path / "before.svg").read_bytes() == (tmp_path / "after.svg").read_bytes()


def test_panels_have_room_and_what_follows_from_texts_keeps_its_size():
    with settings(Page(3.25)):
        figure, axes = grid(8)
        assert axes[0].get_subplotspec().get_gridspec().ncols == 2 and figure.get_figwidth() == 3.25
        assert empty_figure((9.0, 3.0)).get_figwidth() == 3.25 and empty_figure((2.0, 3.0)).get_figwidth() == 2.0
        assert empty_figure((9.0, 3.0), fixed=True).get_figwidth() == 9.0
    with settings(Page(6.75)):
        assert grid(8)[1][0].get_subplotspec().get_gridspec().ncols == 4
    with settings():
        assert empty_figure((9.0, 3.0)).get_figwidth() == 9.0


def test_lines_are_thinner_and_ticks_are_as_set():
    with settings(Page()):
        figure, (ax,) = grid(1)
        ax.plot([0, 1], [0, 1], linewidth=2.0, markersize=6.0, marker="o")
        ticks = [line.get_markersize() for line in ax.xaxis.get_ticklines()]
        Page().dress(figure)
        (line,) = ax.lines
        assert (line.get_linewidth(), line.get_markersize()) == pytest.approx((1.4, 4.2))
        assert [item.get_markersize() for item in ax.xaxis.get_ticklines() if isinstance(item, Line2D)] == ticks


def test_signs_that_fonts_lack_are_formulas():
    assert paper_page.set_signs("3 × 10⁻⁵ ± 2") == r"3 $\times$ 10$^{-5}$ $\pm$ 2"
    assert paper_page.set_signs("x₁ < λ") == r"x$_{1}$ $<$ $\lambda$"
    assert paper_page.set_signs("$K$ = 1, a_b") == r"$K$ = 1, a$\_$b"
    assert paper_page.set_signs("costs $ 5 < 6") == "costs $ 5 < 6"


@pytest.mark.parametrize("wrong", [{"width": 0.1}, {"points": 90}, {"fonts": "comic"}, {"width": float("nan")}])
def test_pages_that_cannot_be_are_refused(wrong):
    with pytest.raises(UserError):
        Page(**wrong)
