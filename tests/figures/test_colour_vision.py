"""How far apart colours look, and whether the algorithms of each figure are told apart."""

import itertools
import re
from pathlib import Path

import pytest

from fedatlas.experiments import expansion, experiment_file
from fedatlas.results.figures import style
from tests.figures.colour_vision import FAR, VISION, ciede2000, perceived_distance, perceived_lab

ROOT = Path(__file__).parents[2]
CSS = ROOT / "src/fedatlas/publish/report/report.css"
FILES = sorted((ROOT / "config/experiments").glob("*.yaml"))
IN_COLOUR = {"convergence", "scaling", "sensitivity", "bound"}


@pytest.mark.parametrize(
    ("first", "second", "published"),
    [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, -1, 2), (50, 0, 0), 2.3669),
        ((50, 2.49, -0.001), (50, -2.49, 0.0009), 7.1792),
        ((50, 2.49, -0.001), (50, -2.49, 0.0011), 7.2195),
        ((50, 2.5, 0), (50, 0, -2.5), 4.3065),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((50, 2.5, 0), (61, -5, 29), 22.8977),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_distances_are_those_of_the_paper(first, second, published):
    """Table 1 of Sharma, Wu and Dalal 2005."""
    assert ciede2000(first, second) == pytest.approx(published, abs=6e-5)
    assert ciede2000(second, first) == pytest.approx(published, abs=6e-5)


def test_colours_in_cielab():
    assert perceived_lab("#ffffff", "normal") == pytest.approx((100, 0, 0), abs=0.01)
    assert perceived_lab("#ff0000", "normal") == pytest.approx((53.24, 80.09, 67.20), abs=0.05)


def test_colours_on_a_dark_ground_are_told_apart():
    """Under each kind of colour vision they may be nearer than on white, as lines differ in marker and dash, too."""
    assert style.DARK.keys() == {*style.COLOURS, style.REFERENCE}
    for first, second in itertools.combinations(style.COLOURS, 2):
        assert perceived_distance(style.DARK[first], style.DARK[second]) >= 6, (first, second)
    ground = re.search(r"color-scheme: dark.*?--plate: (#\w+)", CSS.read_text(), re.DOTALL)[1]
    assert min(perceived_distance(colour, ground) for colour in style.DARK.values()) > 20


def test_who_lacks_a_cone_confuses_colours_and_no_greys():
    red, green = "#c08040", "#8f9a40"
    assert ciede2000(perceived_lab(red, "normal"), perceived_lab(green, "normal")) > 20
    assert (
        perceived_distance(red, green)
        == ciede2000(perceived_lab(red, "deuteranopia"), perceived_lab(green, "deuteranopia"))
        < 8
    )
    for vision in VISION:
        assert perceived_lab("#808080", vision) == pytest.approx(perceived_lab("#808080", "normal"), abs=0.1)


def test_all_colours_are_told_apart():
    """By everybody, and from the white of the page."""
    for first, second in itertools.combinations(style.COLOURS, 2):
        assert perceived_distance(first, second) >= FAR, (first, second)
    assert min(perceived_distance(colour, "#ffffff") for colour in style.COLOURS) > 20


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_algorithms_of_a_figure_are_told_apart(path):
    """In every figure of the atlas, at every size: by colour, or where colours are used up by marker."""
    for size in ("smoke", "laptop", "paper"):
        content = experiment_file.load(path, size)
        looks = style.styles({id: entry.algorithm for id, entry in expansion.create_view(content).algorithms.items()})
        for name, figure in content.figures.items():
            if figure.spec["kind"] in IN_COLOUR:
                ids = figure.spec.get("algorithms") or list(looks)
                for first, second in itertools.combinations([looks[id] for id in ids], 2):
                    by_colour = perceived_distance(first.colour, second.colour) >= FAR
                    assert by_colour or (len(looks) > len(style.COLOURS) and first.marker != second.marker), name


def test_the_first_entry_of_an_algorithm_looks_alike_everywhere():
    for path in FILES:
        entries = expansion.create_view(experiment_file.load(path, "paper")).algorithms
        looks = style.styles({id: entry.algorithm for id, entry in entries.items()})
        first = {entry.algorithm: id for id, entry in reversed(entries.items())}
        for algorithm, id in first.items():
            assert looks[id] == style.STYLES[algorithm], f"{path.stem}: {id}"


def test_as_many_variants_as_there_are_colours_are_told_apart():
    looks = list(style.styles({f"fedavg-{n}": "fedavg" for n in range(len(style.COLOURS))}).values())
    assert len({appearance.colour for appearance in looks}) == len(looks)


def test_thirty_algorithms_differ_in_colour_or_marker():
    names = [*list(style.STYLES)[:10], *(f"mine-{n}" for n in range(10)), *["fedavg"] * 10]
    looks = list(style.styles(dict(enumerate(names))).values())
    assert len({(appearance.marker, appearance.line) for appearance in looks[10:]}) == 20
    for first, second in itertools.combinations(looks, 2):
        assert perceived_distance(first.colour, second.colour) >= FAR or first.marker != second.marker
