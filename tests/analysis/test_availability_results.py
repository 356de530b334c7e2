"""What is drawn and claimed of availability: closed forms, heat maps, tables with memory, who was there."""

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedatlas import algorithms, problems
from fedatlas.analysis import figures, labels
from fedatlas.analysis.claims import HELD, NOT_HELD, NOT_TESTED
from fedatlas.analysis.figures.base import KINDS, Sheet
from fedatlas.analysis.limits import fedavg_output, late, probabilities, weighted_objective
from fedatlas.analysis.validation import validate
from fedatlas.errors import UserError
from fedatlas.experiments import expand
from fedatlas.simulation.engine import Simulation
from fedatlas.simulation.setting import Setting
from fedatlas.workflow import jobs
from fedatlas.workflow.atlas import Atlas

from .synthetic import build, experiment
from .test_claims import verdict

ROOT = Path(__file__).parents[2]
CENTERS = {"centers": [[0], [100]]}
CHANCES = st.floats(0.05, 1)


# --- the closed form ---


@given(CHANCES, CHANCES)
def test_the_limit_for_two_clients_is_that_of_example_1(p1, p2):
    expected = (p1 * p2 * 50 + (1 - p1) * p2 * 100) / (1 - (1 - p1) * (1 - p2))
    assert fedavg_output(CENTERS, [p1, p2]) == pytest.approx(expected)
    assert fedavg_output(CENTERS, [p2, p1]) == pytest.approx(100 - expected)


@given(CHANCES, CHANCES)
def test_the_biased_objective_has_its_minimiser_where_its_gradient_is_zero(p1, p2):
    x = weighted_objective(CENTERS, [p1, p2])
    assert p1 * (x - 0) + p2 * (x - 100) == pytest.approx(0, abs=1e-9)
    assert weighted_objective(CENTERS, [0.9, 0.1]) == pytest.approx(10)


@pytest.mark.parametrize("name, limit", [("fedavg-all", weighted_objective), ("fedavg-active", fedavg_output)])
def test_each_fedavg_tends_to_its_own_limit(name, limit):
    p = [0.8, 0.2]
    problem = problems.create({"kind": "quadratic", "start_scale": 0.0} | CENTERS, 2)
    setting = Setting(clients=2, rounds=2000, batch=None, participation={"kind": "stationary", "p": p})
    means = []
    for seed in range(5):
        simulation, total = Simulation(algorithms.create(name, {"lr": 0.05}), problem, setting, seed=seed), 0.0
        for t in range(2000):
            simulation.step()
            total += float(simulation.output[0]) * (t >= 500) / 1500
        means.append(total)
    error = np.std(means, ddof=1) / np.sqrt(5)
    assert error < 1.5 and abs(np.mean(means) - limit(CENTERS, p)) < 5 * error


def test_the_limit_for_three_clients_is_the_mean_of_draws():
    p, u = np.array([0.2, 0.5, 0.9]), np.array([-1.0, 3.0, 10.0])
    there = np.random.default_rng(0).random((200_000, 3)) < p
    there = there[there.any(axis=1)]
    drawn = (there * u).sum(axis=1) / there.sum(axis=1)
    error = drawn.std() / np.sqrt(len(drawn))
    assert abs(fedavg_output({"centers": u[:, None].tolist()}, p) - drawn.mean()) < 5 * error


@pytest.mark.parametrize(
    "point, expected",
    [
        ({}, [0.5, 0.4]),
        ({"participation.p.1": 0.9}, [0.5, 0.9]),
        ({"participation.p": "[0.1, 0.2]"}, [0.1, 0.2]),
        ({"participation": '{"kind": "stationary", "p": [0.3, 0.2]}', "participation.p.0": 1.0}, [1.0, 0.2]),
    ],
)
def test_probabilities_at_a_point_of_the_axes(point, expected):
    assert probabilities({"participation": {"kind": "stationary", "p": [0.5, 0.4]}}, point) == expected


def test_the_limit_needs_a_probability_for_each_client():
    with pytest.raises(UserError, match=r"participation\.p as a list"):
        probabilities({"participation": {"kind": "stationary", "p": 0.5}}, {})


# --- axes inside lists ---


def test_axes_reach_into_lists():
    spec = {"setting": {"participation": {"kind": "stationary", "p": [0.5, 0.5]}}}
    expand.assign(spec, "participation.p.1", 0.2)
    assert spec["setting"]["participation"]["p"] == [0.5, 0.2]
    for axis in ("participation.p.2", "participation.p.x", "participation.p.-1"):
        with pytest.raises(UserError, match="is no place in"):
            expand.assign(spec, axis, 0.2)


def test_names_of_axes_inside_lists_count_from_one():
    assert labels.axis("participation.p.0", {}) == "$p_{1}$"
    assert labels.point("participation.p.11", 0.3) == "p₁₂ = 0.3"


# --- claims ---

AXES = ("participation.p.0",)
MADE = experiment(
    algorithms=("fedavg", "fedawe"),
    grid={AXES[0]: [0.2, 0.8]},
    problem={"kind": "quadratic", **CENTERS},
    setting={"clients": 2, "participation": {"kind": "stationary", "p": [0.5, 0.5]}},
)


def lines(shift=0.0, spread=1.0, seeds=4):
    """Time means that scatter about the closed form: +-spread by seed, moved by shift."""
    found = []
    for p in (0.2, 0.8):
        limit = fedavg_output(CENTERS, [p, 0.5]) + shift
        for seed in range(seeds):
            value = limit + spread * (-1) ** seed
            found.append(("fedavg", p, seed, [(0, 1e9), (10, value - 2), (20, value + 2)]))
    return found


@pytest.mark.parametrize(
    ("shift", "seeds", "expected"),
    [(0.0, 4, HELD), (2.0, 4, HELD), (8.0, 4, NOT_HELD), (2.0, 20, NOT_HELD), (0.0, 1, NOT_TESTED)],
)
def test_agrees(shift, seeds, expected):
    # standard error 2 / sqrt(12) of 4 seeds: t = 3.5 sigma of shift 2 is no surprise for 3 degrees of freedom
    curves = [(a, p, s, [(r, v) for r, v in values]) for a, p, s, values in lines(shift, seeds=seeds)]
    options = {
        "kind": "agrees",
        "algorithm": "fedavg",
        "limit": "fedavg-output",
        "metric": "suboptimality",
        "after": 10,
    }
    rows = [("fedavg", (p,), 0.1) for p in (0.2, 0.8)]
    found = verdict(rows, AXES, MADE, lines=curves, **options)
    assert found[0] == expected
    if expected != NOT_TESTED:
        assert "over 2 settings" in found[1]


def test_agrees_without_any_spread():
    options = {
        "kind": "agrees",
        "algorithm": "fedavg",
        "limit": "fedavg-output",
        "metric": "suboptimality",
        "after": 10,
    }
    rows = [("fedavg", (p,), 0.1) for p in (0.2, 0.8)]
    assert verdict(rows, AXES, MADE, lines=lines(0, 0), **options)[0] == HELD
    assert verdict(rows, AXES, MADE, lines=lines(1e-3, 0), **options)[0] == NOT_HELD


@pytest.mark.parametrize(
    ("options", "expected", "ours"),
    [
        ({"at_least": 0.1}, HELD, "FedAvg 0.2"),
        ({"at_least": 0.3}, NOT_HELD, "FedAvg 0.2"),
        ({"at_most": 0.1}, NOT_HELD, "FedAvg 0.2"),
        ({"start": 4, "end": 2, "at_most": 0.0}, HELD, "FedAvg -0.1"),
    ],
)
def test_drop(options, expected, ours):
    made = experiment(metric="test_accuracy", goal="max", grid={"clients": [1, 2, 4]}, algorithms=("fedavg",))
    rows = [("fedavg", (1,), 0.9), ("fedavg", (2,), 0.8), ("fedavg", (4,), 0.7)]
    options = {"kind": "drop", "algorithms": ["fedavg"], "axis": "clients", **options}
    assert verdict(rows, ("clients",), made, **options)[:2] == (expected, ours)


# --- figures ---


def draw(spec, results, memory=None, availability=None):
    table, curves, about = results
    about = about | ({"memory": memory} if memory else {})
    sheet = Sheet(spec, about, table, curves, availability=availability)
    return KINDS[spec["kind"]](sheet), sheet


@pytest.fixture(scope="module")
def accuracies(tmp_path_factory):
    """Final accuracies 0.5 + seed / 10, ten points more for fedavg, twenty for the second dynamics."""
    dynamics = [{"kind": "sine", "p": "labels"}, {"kind": "staircase", "p": "labels"}]
    made = experiment(
        algorithms=("fedavg", "mifa"),
        grid={"participation": dynamics},
        metric="test_accuracy",
        goal="max",
        seeds=(0, 1, 2),
    )
    made["select"]["statistic"] = "final"
    made["tune"] = {}

    def value(id, point, lr, seed, rounds):
        last = 0.5 + seed / 10 + 0.1 * (id == "fedavg") + 0.2 * (point["participation"]["kind"] == "staircase")
        return np.where(rounds == rounds[-1], last, 0.95)

    return build(made, tmp_path_factory.mktemp("runs"), value)


def test_a_table_has_means_and_deviations_of_the_last_round(accuracies):
    spec = {"kind": "table", "x": "participation", "metrics": ["test_accuracy", "loss"], "memory": True}
    figure, sheet = draw(spec, accuracies, memory={"fedavg": 0, "mifa": 1})
    numbers = sheet.numbers.set_index(["algorithm", "metric", "participation"]).sort_index()
    assert len(numbers) == 8 and set(numbers["seeds"]) == {3}
    first = numbers.loc[("mifa", "test_accuracy")].iloc[0]
    assert first["mean"] == pytest.approx(0.6) and first["sd"] == pytest.approx(0.1) and first["memory"] == 1
    texts = {text.get_text(): text for text in figure.axes[0].texts}
    assert texts["70.0 ± 10.0"].get_fontweight() == "bold"  # fedavg under sine; 90 is the best under staircase
    assert texts["60.0 ± 10.0"].get_fontweight() != "bold"
    assert texts["90.0 ± 10.0"].get_fontweight() == "bold"
    assert {"sine", "staircase", "test", "MIFA"} <= set(texts)


def test_a_table_says_what_diverged(tmp_path):
    made = experiment(algorithms=("fedavg", "mifa"), grid={"clients": [4, 8]}, seeds=(0,))
    results = build(made, tmp_path, lambda *_: np.ones(11), lambda id, point: id == "mifa" and point["clients"] == 8)
    figure, sheet = draw({"kind": "table", "x": "clients"}, results)
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert texts.count("diverged") == 1 and "M = 4" in texts
    assert sheet.numbers["mean"].isna().sum() == 1


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    axes = {"participation.p.0": [0.2, 0.5, 0.8], "participation.p.1": [0.3, 0.7]}
    made = {**MADE, "grid": axes, "tune": {}}

    def value(id, point, lr, seed, rounds):
        p = [point["participation.p.0"], point["participation.p.1"]]
        end = fedavg_output(CENTERS, p) if id == "fedavg" else 50.0
        return np.where(rounds >= 20, end + 2 * seed - 1, 1e3)

    return build(made, tmp_path_factory.mktemp("runs"), value)


HEATMAP = {
    "kind": "heatmap",
    "x": "participation.p.0",
    "rows": "participation.p.1",
    "limit": "fedavg-output",
    "after": 20,
}


def test_a_heat_map_shows_time_means_beside_the_closed_form(grid):
    figure, sheet = draw({**HEATMAP, "center": 50}, grid)
    shown = {ax.get_title(): ax.images[0] for ax in figure.axes if ax.images}
    assert list(shown) == ["closed form", "FedAvg", "FedAWE"]
    expected = [[fedavg_output(CENTERS, [p1, p2]) for p1 in (0.2, 0.5, 0.8)] for p2 in (0.3, 0.7)]
    np.testing.assert_allclose(shown["closed form"].get_array(), expected)
    np.testing.assert_allclose(shown["FedAvg"].get_array(), expected)
    assert (shown["FedAWE"].get_array() == 50).all()
    low, high = shown["FedAvg"].get_clim()
    assert (low + high) / 2 == pytest.approx(50) and len({image.get_clim() for image in shown.values()}) == 1
    assert len(sheet.numbers) == 18 and set(sheet.numbers["panel"]) == set(shown)
    assert figure.axes[0].get_ylabel() == "$p_{2}$"


def test_a_heat_map_of_rounds_that_were_not_run(grid):
    with pytest.raises(UserError, match="no evaluations from round 99 on"):
        draw({**HEATMAP, "after": 99}, grid)


def test_time_means_are_by_seed():
    frame = pd.DataFrame({"a": 1, "seed": [0, 0, 0, 1], "round": [0, 5, 10, 10], "x": [100.0, 2, 4, 8]})
    assert late(frame, ["a"], "x", 5).tolist() == [3.0, 8.0]
    with pytest.raises(UserError, match="no metric 'y'"):
        late(frame, ["a"], "y", 5)


def someone(rounds=6, clients=4):
    chances = np.tile(np.linspace(0.9, 0.1, clients), (rounds, 1))
    return chances, np.random.default_rng(0).random((rounds, clients)) < chances


def test_availability_draws_chances_and_who_was_there(grid):
    chances, there = someone()
    figure, sheet = draw({"kind": "availability"}, grid, availability=[("a", chances, there), ("b", None, there)])
    rasters = [ax.images[0].get_array() for ax in figure.axes if ax.images]
    np.testing.assert_array_equal(rasters[0], there[:, ::-1].T)  # the most likely on top, which is last
    order = np.argsort(there.mean(axis=0), kind="stable")
    np.testing.assert_array_equal(rasters[1], there[:, order].T)
    np.testing.assert_allclose(figure.axes[0].get_lines()[-1].get_ydata(), chances.mean(axis=1))
    assert "unknown" in [text.get_text() for text in figure.axes[1].texts]
    numbers = sheet.numbers
    row = numbers[(numbers["participation"] == "a") & (numbers["round"] == 2) & (numbers["client"] == 3)].iloc[0]
    assert row["available"] == there[2, 3] and row["probability"] == pytest.approx(0.1)
    assert numbers.loc[numbers["participation"] == "b", "probability"].isna().all()
    with pytest.raises(UserError, match="there are 7 participations; keep at most 6"):
        draw({"kind": "availability"}, grid, availability=[("a", chances, there)] * 7)


def test_numbers_lie_beside_the_figure(grid, tmp_path):
    table, curves, about = grid
    for number in range(2):
        figures.draw(HEATMAP, about, table, curves, [tmp_path / f"{number}.svg"])
    assert (tmp_path / "0.svg").read_bytes() == (tmp_path / "1.svg").read_bytes()
    assert pd.read_csv(tmp_path / "0.csv").columns.tolist()[-1] == "suboptimality"
    figures.draw(
        {"kind": "scaling", "x": "participation.p.0", "where": {"participation.p.1": 0.3}},
        about,
        table,
        curves,
        [tmp_path / "2.svg"],
    )
    assert not (tmp_path / "2.csv").exists()


@pytest.mark.parametrize(
    ("figure", "said"),
    [
        ({**HEATMAP, "rows": "participation.p.7"}, "rows: 'participation.p.7' is not an axis"),
        ({**HEATMAP, "limit": "fedavg-outptu"}, "limit: unknown limit 'fedavg-outptu'; did you mean 'fedavg-output'"),
        ({"kind": "table", "x": "lr"}, "x: 'lr' is not an axis"),
        ({"kind": "table", "x": "participation.p.0"}, "where: participation.p.1 has 2 values"),
        ({"kind": "availability", "where": {"clients": 1}}, "where: 'clients' is not an axis"),
    ],
)
def test_wrong_figures_are_found_before_any_job(figure, said):
    axes = {"participation.p.0": [0.2, 0.5], "participation.p.1": [0.3, 0.7]}
    with pytest.raises(UserError) as error:
        validate({**MADE, "grid": axes, "figures": {"it": figure}})
    assert said in str(error.value)


# --- memory, and what was drawn ---


@pytest.mark.parametrize(
    "name, vectors",
    [
        *(("fedavg", 0), ("fedavg-all", 0), ("fedavg-known-p", 0), ("fedau", 0), ("f3ast", 0)),
        *(("fedawe", 1), ("mifa", 1), ("fedvarp", 1), ("scaffold", 1)),
    ],
)
def test_vectors_that_a_client_keeps(name, vectors):
    assert algorithms.memory(algorithms.create(name, {"lr": 0.1})) == vectors


def test_what_is_drawn_is_what_was_run():
    atlas = Atlas({"tour": [], "experiments": "all", "data": "data"}, ROOT)
    where = {"participation.p.0": 0.2, "participation.p.1": [0.5, 0.8]}
    drawn = jobs.available(atlas, "smoke", "fedawe_fig2", {"kind": "availability", "where": where})
    assert [title for title, _, _ in drawn] == ["stationary, p = (0.2, 0.5)", "stationary, p = (0.2, 0.8)"]
    run = next(
        r
        for r in expand.runs(next(iter(atlas.cells("smoke", "fedawe_fig2").values())).spec)
        if r["within"] == {"participation.p.0": 0.2, "participation.p.1": 0.8}
    )
    who = expand.create(run)[1].participants.bind(None, 2, run["seed"])
    _, chances, there = drawn[1]
    assert there.shape == (600, 2) and (chances == [0.2, 0.8]).all()
    for t in itertools.islice(range(600), 0, None, 37):
        assert np.flatnonzero(there[t]).tolist() == who.active(t).tolist()
