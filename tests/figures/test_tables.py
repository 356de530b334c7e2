"""Tables and heat maps: the numbers of small made-up results, and how they are described."""

import numpy as np
import pandas as pd
import pytest

from fedatlas.errors import UserError
from fedatlas.results.figures import FigureData
from fedatlas.theory.closed_forms import fedavg_output
from tests.synthetic import build, experiment

from .drawings import describe, texts_of

CENTERS = {"centers": [[0], [100]]}


DYNAMICS = [{"kind": "sine", "p": "labels"}, {"kind": "staircase", "p": "labels"}]


@pytest.fixture(scope="module")
def accuracies(tmp_path_factory):
    """Final accuracies 0.5 + seed / 10, ten points more for fedavg, twenty for the second dynamics."""
    content = experiment(
        algorithms=("fedavg", "mifa"),
        grid={"participation": DYNAMICS},
        seeds=(0, 1, 2),
        select={"metric": "test_accuracy", "statistic": "final", "goal": "max"},
        tune={},
    )

    def value(id, point, lr, seed, rounds):
        last = 0.5 + seed / 10 + 0.1 * (id == "fedavg") + 0.2 * (point["participation"]["kind"] == "staircase")
        return np.where(rounds == rounds[-1], last, 0.95)

    return build(content, tmp_path_factory.mktemp("runs"), value)


def test_a_table_has_means_and_deviations_of_the_last_round(accuracies):
    spec = {"kind": "table", "x": "participation", "metrics": ["test_accuracy", "loss"]}
    numbers, table = describe(spec, accuracies)
    numbers = numbers.set_index(["algorithm", "metric", "participation"]).sort_index()
    first = numbers.loc[("mifa", "test_accuracy")].iloc[0]
    assert first[["mean", "sd", "seeds"]].tolist() == pytest.approx([0.6, 0.1, 3])
    assert table.heads[0] == [("sine", 2), ("staircase", 2)]
    heads, rows = texts_of(table)
    assert heads == ["test", "training loss", "test", "training loss"]
    assert rows["FedAvg"][2] == "90.0 ± 10.0"
    bold = [[cell.bold for cell in cells] for _, cells in table.blocks[0][1]]
    assert bold[1][0] and bold[0][2]  # 60 is within noise of 70 over three seeds


TARGETS = {"kind": "targets", "x": "rounds", "targets": [0.5, 0.9], "panel": "clients", "where": {"local_steps": 1}}


@pytest.fixture(scope="module")
def fast(tmp_path_factory):
    def accuracy(id, point, lr, seed, rounds):
        """Attains 0.5 in round 8 or 16, and 0.9 never or in round 24."""
        first = id == "fedac-1"
        return [0.95 if first and r >= 24 else 0.6 if r >= (8 if first else 16) else 0.1 for r in rounds]

    return build(experiment(metric="test_accuracy", goal="max"), tmp_path_factory.mktemp("runs"), accuracy)


def test_costs_of_targets(fast):
    numbers, table = describe(TARGETS, fast)
    assert texts_of(table) == (["0.5", "0.9"] * 3, {"FedAvg": ["16", "–"] * 3, "FedAc-I": ["8", "24"] * 3})
    assert numbers["cost"].tolist() == [16, 8, np.inf, 24] * 3
    spec = {**TARGETS, "x": "seconds", "where": {"local_steps": 1, "clients": 4}, "panel": None}
    heads, rows = texts_of(describe(spec, fast)[1])
    assert (heads, rows["FedAc-I"]) == (["0.5", "0.9"], ["8", "24"])  # a round takes a second


HEATMAP = {
    "kind": "heatmap",
    "x": "participation.p.0",
    "rows": "participation.p.1",
    "limit": "fedavg-output",
    "after": 20,
}


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    content = experiment(
        algorithms=("fedavg", "fedawe"),
        grid={"participation.p.0": [0.2, 0.5, 0.8], "participation.p.1": [0.3, 0.7]},
        problem={"kind": "quadratic", **CENTERS},
        setting={"clients": 2, "rounds": 40, "participation": {"kind": "stationary", "p": [0.2, 0.3]}},
        tune={},
    )

    def value(id, point, lr, seed, rounds):
        p = [point["participation.p.0"], point["participation.p.1"]]
        end = fedavg_output(CENTERS, p) if id == "fedavg" else 50.0
        return np.where(rounds >= 20, end + 2 * seed - 1, 1e3)

    return build(content, tmp_path_factory.mktemp("runs"), value)


def test_a_heat_map_has_time_means_beside_the_closed_form(grid):
    numbers, chart = describe(HEATMAP, grid)
    panels = {title: part["suboptimality"].to_numpy().reshape(2, 3) for title, part in numbers.groupby("panel")}
    expected = [[fedavg_output(CENTERS, [p1, p2]) for p1 in (0.2, 0.5, 0.8)] for p2 in (0.3, 0.7)]
    assert set(panels) == {"closed form", "FedAvg", "FedAWE"} and numbers["panel"].iloc[0] == "closed form"
    assert panels["closed form"] == pytest.approx(np.array(expected)) == panels["FedAvg"]
    assert (panels["FedAWE"] == 50).all() and chart.y[1] == "$p_{2}$"
    with pytest.raises(UserError, match="no evaluations from round 99 on"):
        describe({**HEATMAP, "after": 99}, grid)


def test_availability_has_who_was_there(accuracies):
    active = pd.DataFrame([[0, 1, 1, 0], [0, 1, 0, 0], [0, 1, 1, 1]], columns=list("abcd")).astype(bool)
    numbers, _ = describe({"kind": "availability"}, accuracies, availability=[("it", active), ("other", active)])
    assert list(numbers["panel"].unique()) == ["it", "other"]
    part = numbers[numbers["panel"] == "it"]
    assert part.drop_duplicates("place")["client"].tolist() == ["a", "d", "c", "b"]  # the most active on top
    assert part[(part["client"] == "d")]["value"].tolist() == active["d"].tolist()
    assert part["round"].tolist() == [0, 1, 2] * 4


def test_a_partition_has_samples_by_client_and_label(accuracies):
    entry = ("it", pd.DataFrame(np.arange(12).reshape(4, 3), index=list("ABCD")))
    numbers, _ = describe({"kind": "partition"}, accuracies, partitions=[entry])
    assert numbers.pivot(index="client", columns="label", values="samples").loc["D"].tolist() == [9, 10, 11]
    assert "panel" not in numbers
    numbers, _ = describe({"kind": "partition"}, accuracies, partitions=[entry, ("more", entry[1])])
    assert numbers["panel"].unique().tolist() == ["it", "more"]


def test_columns_show_what_differs():
    cells = [f'{{"kind": "dirichlet", "alpha": {alpha}, "seed": 1}}' for alpha in (0.6, 0.3)]
    assert FigureData.titles(None, "problem.partition", cells) == ["α = 0.6", "α = 0.3"]
