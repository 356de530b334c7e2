"""What is drawn of availability: heat maps, tables with memory, who was there."""

import numpy as np
import pandas as pd
import pytest

from fedatlas.errors import UserError
from fedatlas.results.figures import drawing
from fedatlas.theory.closed_forms import fedavg_output, late_means
from tests.synthetic import build, experiment

from .drawings import build_figure
from .drawings import draw_figure as draw

CENTERS = {"centers": [[0], [100]]}


@pytest.fixture(scope="module")
def accuracies(tmp_path_factory):
    """Final accuracies 0.5 + seed / 10, ten points more for fedavg, twenty for the second dynamics."""
    dynamics = [{"kind": "sine", "p": "labels"}, {"kind": "staircase", "p": "labels"}]
    content = experiment(
        algorithms=("fedavg", "mifa"),
        grid={"participation": dynamics},
        seeds=(0, 1, 2),
        select={"metric": "test_accuracy", "statistic": "final", "goal": "max"},
        tune={},
    )

    def value(id, point, lr, seed, rounds):
        last = 0.5 + seed / 10 + 0.1 * (id == "fedavg") + 0.2 * (point["participation"]["kind"] == "staircase")
        return np.where(rounds == rounds[-1], last, 0.95)

    return build(content, tmp_path_factory.mktemp("runs"), value)


def test_a_table_has_means_and_deviations_of_the_last_round(accuracies):
    spec = {"kind": "table", "x": "participation", "metrics": ["test_accuracy", "loss"], "memory": True}
    figure, drawing = draw(spec, accuracies, memory={"fedavg": 0, "mifa": 1})
    numbers = drawing.numbers.set_index(["algorithm", "metric", "participation"]).sort_index()
    assert len(numbers) == 8 and set(numbers["seeds"]) == {3}
    first = numbers.loc[("mifa", "test_accuracy")].iloc[0]
    assert first["mean"] == pytest.approx(0.6) and first["sd"] == pytest.approx(0.1) and first["memory"] == 1
    texts = {text.get_text(): text for text in figure.axes[0].texts}
    assert texts["90.0 ± 10.0"].get_fontweight() == "bold"  # fedavg under staircase
    assert texts["60.0 ± 10.0"].get_fontweight() == "bold"  # within noise of 70 over three seeds
    assert {"sine", "staircase", "test", "MIFA"} <= set(texts)


def test_a_table_without_an_axis_shows_one_setting(accuracies):
    where = {"participation": {"kind": "sine", "p": "labels"}}
    _, drawing = draw({"kind": "table", "where": where}, accuracies)
    rows = [(["FedAvg"], [("70.0 ± 10.0", True)]), (["MIFA"], [("60.0 ± 10.0", True)])]
    plain = drawing.chart.plain()
    assert plain["blocks"] == [("", rows)] and plain["heads"] == [[("test", 1)]] and plain["corner"] == [""]
    with pytest.raises(UserError, match="participation has several values"):
        draw({"kind": "table"}, accuracies)


def test_a_table_says_what_diverged(tmp_path):
    content = experiment(algorithms=("fedavg", "mifa"), grid={"clients": [4, 8]}, seeds=(0,))
    results = build(content, tmp_path, lambda *_: np.ones(11), lambda id, point: id == "mifa" and point["clients"] == 8)
    figure, drawing = draw({"kind": "table", "x": "clients"}, results)
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert texts.count("diverged") == 1 and "$M$ = 4" in texts
    assert drawing.numbers["mean"].isna().sum() == 1


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    axes = {"participation.p.0": [0.2, 0.5, 0.8], "participation.p.1": [0.3, 0.7]}
    content = experiment(
        algorithms=("fedavg", "fedawe"),
        grid=axes,
        problem={"kind": "quadratic", **CENTERS},
        setting={"clients": 2, "rounds": 40, "participation": {"kind": "stationary", "p": [0.2, 0.3]}},
        tune={},
    )

    def value(id, point, lr, seed, rounds):
        p = [point["participation.p.0"], point["participation.p.1"]]
        end = fedavg_output(CENTERS, p) if id == "fedavg" else 50.0
        return np.where(rounds >= 20, end + 2 * seed - 1, 1e3)

    return build(content, tmp_path_factory.mktemp("runs"), value)


HEATMAP = {
    "kind": "heatmap",
    "x": "participation.p.0",
    "rows": "participation.p.1",
    "limit": "fedavg-output",
    "after": 20,
}


def test_a_heat_map_shows_time_means_beside_the_closed_form(grid):
    figure, drawing = draw({**HEATMAP, "center": 50}, grid)
    meshes = {ax.get_title(): ax.collections[0] for ax in figure.axes[:3]}
    assert list(meshes) == ["closed form", "FedAvg", "FedAWE"]
    expected = [[fedavg_output(CENTERS, [p1, p2]) for p1 in (0.2, 0.5, 0.8)] for p2 in (0.3, 0.7)]
    np.testing.assert_allclose(meshes["closed form"].get_array(), expected)
    np.testing.assert_allclose(meshes["FedAvg"].get_array(), expected)
    assert (meshes["FedAWE"].get_array() == 50).all()
    low, high = meshes["FedAvg"].get_clim()
    assert (low + high) / 2 == pytest.approx(50) and len({image.get_clim() for image in meshes.values()}) == 1
    assert len(drawing.numbers) == 18 and set(drawing.numbers["panel"]) == set(meshes)
    assert figure.axes[0].get_ylabel() == "$p_{2}$"


def test_a_heat_map_of_rounds_that_were_not_run(grid):
    with pytest.raises(UserError, match="no evaluations from round 99 on"):
        draw({**HEATMAP, "after": 99}, grid)


def test_time_means_are_by_seed():
    frame = pd.DataFrame({"a": 1, "seed": [0, 0, 0, 1], "round": [0, 5, 10, 10], "x": [100.0, 2, 4, 8]})
    assert late_means(frame, ["a"], "x", 5).tolist() == [3.0, 8.0]
    with pytest.raises(UserError, match="no metric 'y'"):
        late_means(frame, ["a"], "y", 5)


def someone(rounds=6, clients=4):
    probabilities = np.tile(np.linspace(0.9, 0.1, clients), (rounds, 1))
    return probabilities, pd.DataFrame(np.random.default_rng(0).random((rounds, clients)) < probabilities)


def test_availability_draws_probabilities_and_who_was_there(grid):
    probabilities, active = someone()
    figure, drawing = draw(
        {"kind": "availability"}, grid, availability=[("a", probabilities, active), ("b", None, active)]
    )
    active = active.to_numpy()
    rasters = [ax.images[0].get_array() for ax in figure.axes if ax.images]
    np.testing.assert_array_equal(rasters[0], active[:, ::-1].T)  # the most likely on top, which is last
    order = np.argsort(active.mean(axis=0), kind="stable")
    np.testing.assert_array_equal(rasters[1], active[:, order].T)
    np.testing.assert_allclose(figure.axes[0].get_lines()[-1].get_ydata(), probabilities.mean(axis=1))
    assert "unknown" in [text.get_text() for text in figure.axes[1].texts]
    numbers = drawing.numbers
    row = numbers[(numbers["participation"] == "a") & (numbers["round"] == 2) & (numbers["client"] == 3)].iloc[0]
    assert row["available"] == active[2, 3] and row["probability"] == pytest.approx(0.1)
    assert numbers.loc[numbers["participation"] == "b", "probability"].isna().all()
    with pytest.raises(UserError, match="there are 7 participations; keep at most 6"):
        draw({"kind": "availability"}, grid, availability=[("a", probabilities, pd.DataFrame(active))] * 7)
    frame = pd.DataFrame(active, columns=["north", "south", "east", "west"])
    _, drawing = draw({"kind": "availability"}, grid, availability=[("a", None, frame)])
    assert drawing.numbers["client"][:5].tolist() == ["north", "south", "east", "west", "north"]


def test_numbers_lie_beside_the_figure(grid, tmp_path):
    table, curves, view = grid
    for number in range(2):
        drawing.draw(build_figure(HEATMAP), view, table, curves, [tmp_path / f"{number}.svg"])
    assert (tmp_path / "0.svg").read_bytes() == (tmp_path / "1.svg").read_bytes()
    assert pd.read_csv(tmp_path / "0.csv").columns.tolist()[-1] == "suboptimality"
    scaling = build_figure({"kind": "scaling", "x": "participation.p.0", "where": {"participation.p.1": 0.3}})
    drawing.draw(scaling, view, table, curves, [tmp_path / "2.svg"])
    assert pd.read_csv(tmp_path / "2.csv")["mean"].notna().all()
