"""Colours of algorithms."""

import dataclasses
import json

from fedatlas.experiments.experiment_view import EMPTY, AlgorithmView, ExperimentView
from fedatlas.experiments.specification import Entry
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.registry.options import options
from fedatlas.results.figures import FIGURES
from fedatlas.results.figures.description import describe_lines
from fedatlas.results.figures.figure_data import FigureData
from fedatlas.results.figures.style import BLUE, DARK, FREE_COLOURS, NAMES, SOLID, STYLES, styles
from tests.figures.colour_vision import FAR, perceived_distance


def test_every_algorithm_has_a_look_of_its_own():
    looks = {(appearance.colour, appearance.marker) for appearance in STYLES.values()}
    assert len(looks) == len(STYLES)
    assert {cls.name for cls, _ in ALGORITHMS.builtin.values()} <= set(STYLES)


def test_newcomers_get_free_colours_by_their_name():
    result = styles({name: name for name in ("fedavg", "mine", "yours", "theirs")})
    assert result["fedavg"] == STYLES["fedavg"]
    new = [result[name].colour for name in ("mine", "yours", "theirs")]
    assert len(set(new)) == 3 and set(new) <= set(FREE_COLOURS)
    assert styles({"mine": "mine"})["mine"] == result["mine"]
    assert not set(FREE_COLOURS) & {appearance.colour for appearance in STYLES.values()}


def test_entries_keep_their_looks_beside_new_ones():
    """A figure draws some of the entries; a later entry changes no earlier one."""
    few = {"fedavg": "fedavg", "small": "fedavg", "mine": "mine"}
    result, larger = styles(few), styles(few | {"late": "fedavg"})
    assert {id: larger[id] for id in few} == result
    assert len({appearance.colour for appearance in larger.values()}) == 4


def test_an_own_algorithm_is_solid_and_above_all_others():
    looks = styles({"mine": "fedmine", "fedavg": "fedavg", "fedprox": "fedprox", "again": "fedavg"})
    assert looks["mine"].line == SOLID
    assert [id for id, style in looks.items() if style.on_top] == ["mine"]


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


def test_names_of_colours_are_those_of_the_option():
    assert list(NAMES) == list(options(Entry)["colour"].words) and DARK.keys() >= set(NAMES.values())
