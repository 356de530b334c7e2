"""Colours of algorithms."""

import dataclasses
import json

from fedatlas.experiments.experiment_view import EMPTY, AlgorithmView, ExperimentView
from fedatlas.results.figures import FIGURES
from fedatlas.results.figures.description import describe_lines
from fedatlas.results.figures.figure_data import FigureData
from fedatlas.results.figures.style import BLUE, NAMES, styles
from tests.figures.colour_vision import FAR, perceived_distance


def test_an_entry_chooses_its_colour_and_emphasis():
    plain = styles({"fedavg": "fedavg", "mine": "mine", "second": "fedavg"})
    chosen = styles({"fedavg": "fedavg", "mine": "mine", "second": "fedavg"}, {"mine": "blue"}, ["second"])
    assert chosen["fedavg"] == plain["fedavg"]
    assert chosen["mine"].colour == BLUE != plain["mine"].colour
    assert chosen["second"].on_top and chosen["second"].weight > plain["second"].weight
    assert perceived_distance(chosen["second"].colour, BLUE) >= FAR
    assert styles({"fedavg": "fedavg"}, {"fedavg": "violet"})["fedavg"].marker == plain["fedavg"].marker


def test_a_figure_draws_its_algorithms_in_their_order_with_the_looks_of_their_entries():
    names = ("fedavg", "scaffold", "fedprox")
    entries = {id: AlgorithmView(id, id) for id in names}
    entries["scaffold"] = AlgorithmView("scaffold", "scaffold", colour="violet", emphasis=True)
    view = dataclasses.replace(EMPTY, algorithms=entries)
    assert ExperimentView.from_dict(json.loads(json.dumps(view.to_dict()))) == view
    assert "colour" not in view.to_dict()["algorithms"]["fedavg"]
    figure = FIGURES.build({"kind": "convergence", "x": "rounds", "algorithms": ["scaffold", "fedavg"]})
    data = FigureData(figure, view, None, None)
    assert list(data.styles) == ["scaffold", "fedavg"] and data.styles["scaffold"].colour == NAMES["violet"]
    lines = describe_lines(data.styles, data.names)
    assert lines["scaffold"].weight > lines["fedavg"].weight == 1
