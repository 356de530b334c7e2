"""Colours of algorithms, and words for people."""

import dataclasses
import json

import pytest

from fedatlas.experiments import labels
from fedatlas.experiments.experiment_view import EMPTY, AlgorithmView, ExperimentView
from fedatlas.experiments.specification import Entry
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.registry.options import options
from fedatlas.results.figures import FIGURES
from fedatlas.results.figures.browser_chart import chart_lines
from tests.figures.colour_vision import perceived_distance
from fedatlas.results.figures.figure_data import FigureData
from fedatlas.results.figures.style import BLUE, DARK, FAR, FREE_COLOURS, NAMES, SOLID, STYLES, styles


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
        ("problem.partition", {"kind": "dirichlet", "alpha": 1, "symmetric": True}, "Dirichlet, α = 1, symmetric"),
        ("problem.partition", {"kind": "dirichlet", "alpha": 1, "symmetric": False}, "Dirichlet, α = 1, not symmetric"),
        ("problem.partition", {"kind": "classes", "classes": 2}, "two classes per client"),
        ("problem.partition", {"kind": "classes", "classes": 1}, "one class per client"),
        ("problem.partition", {"kind": "classes", "classes": 20}, "20 classes per client"),
        ("problem.partition", {"kind": "classes"}, "some classes per client"),
        ("problem.partition", "iid", "i.i.d."),
        ("problem.partition", {"kind": "own-{clients}", "size": 3}, "own {clients}, size = 3"),
        ("participation", {"kind": "uniform", "count": 10}, "10 of 100 clients in a round"),
        ("participation", {"kind": "sine", "p": "labels"}, "sine, p by the labels"),
        (
            "participation",
            {"kind": "phases", "p": [0.9, 0.1], "then": [[0.1, 0.9], [0.5]], "length": 200},
            "phases of 200 rounds, p = (0.9, 0.1), then (0.1, 0.9), then (0.5)",
        ),
        ("schedule", {"kind": "exponential", "decay": 0.998}, "factor 0.998 in a round"),
        ("parameters.rho", 0.1, "ρ = 0.1"),
        ("lam", 10, "λ = 10"),
        ("gamma_b", 5, "γ_b = 5"),
        ("problem.curvatures.0.1", 4, "a₁,₂ = 4"),
        ("clip", None, "no clipping"),
        ("problem.normalise", False, "without normalisation"),
        ("sampling", "{not json", "{not json"),
    ],
)
def test_points_of_axes(axis, value, text):
    assert labels.point(axis, value, {"clients": 100}) == text


def test_what_is_not_known_is_a_letter():
    assert labels.text({"kind": "uniform", "count": 10}) == "10 of M clients in a round"


@pytest.mark.parametrize(
    "option, value, text",
    [
        ("lam", "0.0023095248*delta_A", "λ = 0.00231 δ_A"),
        ("lr", "0.3162/L_max", "η = 0.316/L_max"),
        ("server_lr", 0.1, "η_g = 0.1"),
        ("local_steps", 5, "K = 5"),
    ],
)
def test_chosen_values_stand_with_their_letters(option, value, text):
    assert labels.assignment(option, value) == text


@pytest.mark.parametrize(
    ("axis", "text"),
    [
        ("lr", "step size $η$"),
        ("parameters.rho", "$ρ$"),
        ("gamma_b", "largest step size $γ_b$"),
        ("problem.partition.alpha", "concentration $α$"),
        ("problem.curvatures.0.1", "curvature $a_{1,2}$"),
        ("participation.p.0", "$p_{1}$"),
        ("problem.some_option", "some option"),
    ],
)
def test_axes(axis, text):
    assert labels.axis(axis, {}) == text


@pytest.mark.parametrize(
    ("plain", "formula"),
    [
        ("K = T = 64", "$K$ = $T$ = 64"),
        ("DANE, lambda = delta_A", "DANE, $λ$ = $δ_A$"),
        ("DANE+-GD, lambda = p eta", "DANE+-GD, $λ$ = $p$ $η$"),
        ("alpha = 1 (rho = 0.1)", "$α$ = 1 ($ρ$ = 0.1)"),
        ("FedSPS, c = 16, γ_b = α/2", "FedSPS, $c$ = 16, $γ_b$ = $α$/2"),
        ("γ_b = 1/(4cL), lr = 1.95/L", "$γ_b$ = $1/(4cL)$, lr = $1.95/L$"),
        ("FedAvg, p known", "FedAvg, $p$ known"),
        ("a₁,₂ = 4", "$a_{1,2}$ = 4"),
        ("global SPS (a)", "global SPS (a)"),
        ("my_algo, alpha version", "my_algo, alpha version"),
        ("costs $5 = a lot", "costs $5 = a lot"),
    ],
)
def test_letters_are_set_as_formulas(plain, formula):
    assert labels.mathematical(plain) == formula


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("loss", "training loss"),
        ("vectors_up", "vectors sent per active client"),
        ("step_size_mean", "mean step size"),
        ("local_loss_within", "deviation of the local loss within a client"),
        ("at_bound_mean", "share of local steps at the bound"),
        ("my_number", "my number"),
    ],
)
def test_words_of_metrics_and_recorded_values(name, words):
    assert labels.words(name) == words


def test_columns_of_a_table_show_what_differs():
    assert labels.distinguish([{"kind": "dirichlet", "alpha": a, "seed": 1} for a in (0.6, 0.3)]) == [
        "α = 0.6",
        "α = 0.3",
    ]
    result = labels.distinguish([{"kind": "classes", "classes": n} for n in (1, 2)])
    assert result == ["one class per client", "two classes per client"]


def test_an_own_algorithm_is_solid_and_above_all_others():
    looks = styles({"mine": "fedmine", "fedavg": "fedavg", "fedprox": "fedprox", "again": "fedavg"})
    assert looks["mine"].line == SOLID
    assert looks["mine"].layer > max(style.layer for id, style in looks.items() if id != "mine")


def test_an_entry_chooses_its_colour_and_emphasis():
    plain = styles({"fedavg": "fedavg", "mine": "mine", "second": "fedavg"})
    chosen = styles({"fedavg": "fedavg", "mine": "mine", "second": "fedavg"}, {"mine": "blue"}, ["second"])
    assert chosen["fedavg"] == plain["fedavg"]
    assert chosen["mine"].colour == BLUE != plain["mine"].colour
    assert (
        chosen["second"].on_top and chosen["second"].properties["linewidth"] > plain["second"].properties["linewidth"]
    )
    assert perceived_distance(chosen["second"].colour, BLUE) >= FAR
    assert styles({"fedavg": "fedavg"}, {"fedavg": "violet"})["fedavg"].marker == plain["fedavg"].marker


def test_a_figure_draws_its_algorithms_in_their_order_with_the_looks_of_their_entries():
    names = ("fedavg", "scaffold", "fedprox")
    entries = {id: AlgorithmView(id, id) for id in names}
    entries["scaffold"] = AlgorithmView("scaffold", "scaffold", colour="violet", emphasis=True)
    view = dataclasses.replace(EMPTY, algorithms=entries)
    assert ExperimentView.of(json.loads(json.dumps(view.plain()))) == view
    assert "colour" not in view.plain()["algorithms"]["fedavg"]
    figure = FIGURES.build({"kind": "convergence", "x": "rounds", "algorithms": ["scaffold", "fedavg"]})
    data = FigureData(figure, view, None, None)
    assert list(data.styles) == ["scaffold", "fedavg"] and data.styles["scaffold"].colour == NAMES["violet"]
    lines = chart_lines(data.styles, data.names)
    assert lines["scaffold"].weight > lines["fedavg"].weight == 1


def test_names_of_colours_are_those_of_the_option():
    assert list(NAMES) == list(options(Entry)["colour"].words) and DARK.keys() >= set(NAMES.values())
