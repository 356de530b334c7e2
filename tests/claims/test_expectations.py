"""The check of means over seeds against FedSpeed's Theorem 4.4, and its figure."""

from fedatlas.results.claims.verdicts import HELD, UNDECIDED
from fedatlas.results.figures import FIGURES
from fedatlas.results.figures.renderer import draw
from tests.synthetic import table
from tests.theory.test_fedspeed import AXIS, curves

from .fixtures import judged

ROWS = table([("it", (0.5,), 1.0)], (AXIS,))


def below(experiment, lines, **options):
    return judged(experiment, ROWS, lines, **{"kind": "below", "algorithms": ["it"], "theorem": "4.4"} | options)


def test_below_in_the_mean():
    experiment, lines = curves(seeds=range(5))
    result = below(experiment, lines)
    assert result["verdict"] == HELD and "of the bound" in result["ours"]
    assert below(experiment, lines[lines["seed"] == 0])["verdict"] == UNDECIDED


def test_the_figure_is_drawn(tmp_path):
    experiment, lines = curves(seeds=range(3))
    figure = FIGURES.build({"kind": "bound", "theorems": ["4.4", "4.4 with noise"]})
    draw(figure, experiment, ROWS, lines, [tmp_path / "it.png"])
    assert (tmp_path / "it.png").stat().st_size > 10_000
