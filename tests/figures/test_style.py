"""Colours of algorithms, and words for people."""

import itertools
import json

import numpy as np
import pytest

from fedatlas import labels
from fedatlas.figures.style import FREE_COLOURS, STYLES, styles

# Algorithms that meet in a figure of one paper.
TOGETHER = {
    "fedac": "fedavg fedac-1 fedac-2 fedac-vanilla mb-sgd mb-ac-sgd",
    "fedred, Figure 1": "gd dane+-gd fedred-gd",
    "fedred, Figure 2": "gd scaffold scaffnew fedprox dane+-gd fedred-gd",
    "fedred, Figure C.1": "dane+-sgd fedred-sgd scaffold scaffnew fedprox",
    "fedred, theory": "dane fedred fedred-gd",
    "fedsps": "fedsps feddecsps fedavg fedams fedadam mime fedsps-global fedsps-normalized",
    "fedspeed": "fedavg fedprox fedadam scaffold fedcm feddyn fedadmm fedspeed",
    "fedawe": "fedawe fedavg-active fedavg-all fedau f3ast fedavg-known-p mifa fedvarp",
}
# What people with other colour vision see (Machado, Oliveira and Fernandes 2009, severity 1), on linear RGB.
VISION = {
    "normal": np.eye(3),
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "tritanopia": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def lab(colour, vision):
    """A colour in CIELAB, as somebody sees it."""
    rgb = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    x, y, z = TO_XYZ @ np.clip(np.asarray(VISION[vision]) @ linear, 0, 1) / [0.9505, 1, 1.089]
    fx, fy, fz = (np.cbrt(v) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z))
    return np.array([116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)])


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("paper", TOGETHER)
def test_algorithms_of_a_paper_are_told_apart(paper, vision):
    names = TOGETHER[paper].split()
    for one, other in itertools.combinations(names, 2):
        apart = np.linalg.norm(lab(STYLES[one].colour, vision) - lab(STYLES[other].colour, vision))
        assert apart > 14, f"{one} and {other}"
        assert STYLES[one].marker != STYLES[other].marker, f"{one} and {other}"


def test_every_algorithm_has_a_look_of_its_own():
    looks = {(look.colour, look.marker) for look in STYLES.values()}
    assert len(looks) == len(STYLES)


def test_newcomers_get_free_colours_by_their_name():
    found = styles({name: name for name in ("fedavg", "mine", "yours", "theirs")})
    assert found["fedavg"] == STYLES["fedavg"]
    new = [found[name].colour for name in ("mine", "yours", "theirs")]
    assert len(set(new)) == 3 and set(new) <= set(FREE_COLOURS)
    assert styles({"mine": "mine"})["mine"] == found["mine"]
    assert not set(FREE_COLOURS) & {look.colour for look in STYLES.values()}


def test_variants_of_one_algorithm_differ():
    found = styles({f"fedavg-{n}": "fedavg" for n in range(5)})
    assert found["fedavg-0"] == STYLES["fedavg"]
    assert len({(look.colour, look.marker) for look in found.values()}) == 5
    assert len({look.colour for look in found.values()}) == 5


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.5"),
        (4096, "4096"),
        (32561, "32,561"),
        (1494.0, "1494"),
        (1811.4, "1811"),
        (0.00123456, "0.00123"),
        (4.56e-5, "4.56 × 10⁻⁵"),
        (1e-5, "10⁻⁵"),
        (-2e-17, "-2 × 10⁻¹⁷"),
        (0, "0"),
        (float("inf"), "diverged"),
    ],
)
def test_numbers(value, text):
    assert labels.number(value) == text


@pytest.mark.parametrize(
    ("axis", "value", "text"),
    [
        ("local_steps", 16, "K = 16"),
        ("problem.l2", 0.9375, "l2 = 0.9375"),
        ("problem.partition", json.dumps({"kind": "dirichlet", "alpha": 0.3}), "Dirichlet, α = 0.3"),
        ("participation", {"kind": "bernoulli", "p": [0.9, 0.1]}, "Bernoulli, p = (0.9, 0.1)"),
        ("problem.data", "a9a", "a9a"),
        ("sampling", "{not json", "{not json"),
    ],
)
def test_points_of_axes(axis, value, text):
    assert labels.point(axis, value) == text
