"""How far apart colours look, and whether the algorithms of each figure are told apart."""

import itertools

import pytest

from fedatlas.results.figures.description import COLOURS
from tests.figures.colour_vision import FAR, ciede2000, perceived_distance


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


def test_all_colours_are_told_apart():
    """By everybody, and from the white of the page."""
    for first, second in itertools.combinations(COLOURS, 2):
        assert perceived_distance(first, second) >= FAR, (first, second)
    assert min(perceived_distance(colour, "#ffffff") for colour in COLOURS) > 20
