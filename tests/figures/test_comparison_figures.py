"""Figures and tables that compare algorithms over problems."""

import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fedatlas.errors import UserError
from fedatlas.experiments.cells import Select
from fedatlas.experiments.experiment_view import AlgorithmView, ExperimentView
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.results.figures.drawing import settings
from fedatlas.results.figures.text_fitting import wrap_text

from .drawings import build_figure, draw_figure

SLOW_KINDS = ("improvement", "loss_to_best")  # with thirty algorithms
KINDS = ["performance_profile", "improvement", "loss_to_best"]
CASES = ["one local step", "many local steps", "10 % active"]
# rounds to the share e^-5 of the first value by algorithm and case; None: without runs
SPEED = {"fedavg": [100, 100, 100], "scaffold": [50, 50, None], "feddyn": [58, 120, 400], "fedprox": [400, 400, 400]}


def view(ids=tuple(SPEED), metric="suboptimality", goal="min", seeds=4):
    entries = {id: AlgorithmView(id, ALGORITHMS.get(id).label) for id in ids}
    select = Select(metric=metric, statistic="best", goal=goal)
    return ExperimentView("land", "smoke", ["case"], [], select, {"kind": "logistic"}, {}, list(range(seeds)), entries)


def curves(speeds=SPEED, cases=CASES, seeds=4, noise=0.05, rounds=200):
    """Exponential decays; FedDyn's speed is noisy, FedProx never attains e^-5."""
    rng, at, rows = np.random.default_rng(0), np.arange(0, rounds + 1, 2), []
    for id, speed in speeds.items():
        for case, rounds_to_share in zip(cases, speed, strict=True):
            for seed in range(seeds) if rounds_to_share else ():
                rate = 5 / rounds_to_share * math.exp((0.3 if id == "feddyn" else noise) * rng.standard_normal())
                part = pd.DataFrame({"algorithm": id, "case": case, "seed": seed, "round": at, "status": "ok"})
                rows.append(part.assign(suboptimality=8 * np.exp(-rate * at), gradients=3.0 * at, seconds=at / 10))
    return pd.concat(rows, ignore_index=True)


@pytest.fixture(scope="module")
def results():
    return None, curves(), view()


def draw_kind(kind, results, **options):
    """(matplotlib figure, Drawing) of a kind."""
    with settings():
        return draw_figure({"kind": kind, **options}, results)


def texts(figure):
    return [text.get_text() for ax in figure.axes for text in ax.texts if text.get_text()]


def test_every_point_of_the_axes_is_a_problem(results):
    _, drawing = draw_kind("performance_profile", results, shares=[math.exp(-5)], resamples=200)
    ends = drawing.numbers.groupby("algorithm")["share"].last()
    assert ends.to_dict() == pytest.approx({"fedavg": 1, "scaffold": 2 / 3, "feddyn": 2 / 3, "fedprox": 0})
    first = drawing.numbers.groupby("algorithm")["share"].first()
    assert 1 <= first.sum() < 1.7 and first["fedprox"] == 0 and (drawing.numbers["problems"] == 3).all()


def test_a_profile_has_steps_bands_and_says_what_it_counts(results):
    figure, _ = draw_kind("performance_profile", results, shares=[0.1], resamples=200)
    (ax,) = figure.axes
    assert ax.get_xlim() == (1, 16) and len(ax.collections) == 4 and len(ax.get_lines()) == 4
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert sorted(labels) == ["FedAvg", "FedDyn", "FedProx", "SCAFFOLD (2 of 3)"]
    foot = figure.get_supxlabel()
    assert "3 problems, 4 seeds." in foot and "suboptimality is 10 % of its first value" in foot.replace("\n", " ")


def test_cases_have_their_names_and_what_is_not_defined_its_reason(results):
    table, rows, plain = results
    names = dict(zip(CASES, ["First", "Second", "Third"], strict=True))
    context = replace(plain, cases=names, undefined={"scaffold": {CASES[2]: "it needs everybody"}})
    figure, drawing = draw_kind("loss_to_best", (table, rows, context))
    assert {*names.values()} <= {*texts(figure)} and not {*CASES} & {*texts(figure)}
    undefined = drawing.numbers[drawing.numbers["state"] == "undefined"]
    assert undefined[["algorithm", "reason"]].to_numpy().tolist() == [["scaffold", "it needs everybody"]]
    figure, _ = draw_kind("performance_profile", (table, rows, context), panel="case", resamples=200)
    assert [ax.get_title() for ax in figure.axes if ax.get_visible()] == [*names.values()]


def test_the_best_has_no_number_where_few_seeds_attain_the_target(results):
    rows = results[1][results[1]["case"] == CASES[0]]
    worst = float(rows.loc[rows["algorithm"] == "scaffold", "suboptimality"].min())
    alone = rows.assign(suboptimality=rows["suboptimality"].where(rows["suboptimality"] <= 1.01 * worst, 8.0))
    figure, _ = draw_kind("loss_to_best", (None, alone, results[2]), share=1.005 * worst / 8)
    assert "1/4" in texts(figure) and "diverged" not in texts(figure)


def test_of_many_lines_few_have_colour(results):
    figure, _ = draw_kind("performance_profile", results, named=2, resamples=200)
    assert [t.get_text() for t in figure.legends[0].get_texts()][2:] == ["2 others"]
    figure, _ = draw_kind("performance_profile", results, unit="budget", apart=True, resamples=200)
    assert sorted(ax.get_title() for ax in figure.axes) == ["FedAvg", "FedDyn", "FedProx", "SCAFFOLD"]


def test_panels_have_problems_of_their_own(results):
    frame = pd.concat([curves().assign(K=k) for k in (1, 4)])
    two = ExperimentView(**{**vars(view()), "axes": ["K", "case"]})
    figure, drawing = draw_kind("performance_profile", (None, frame, two), panel="K", resamples=200)
    assert [ax.get_title() for ax in figure.axes] == ["$K$ = 1", "$K$ = 4"]
    assert (drawing.numbers["problems"] == 3).all()


def test_a_profile_counts_in_shares_of_the_budget(results):
    options = {"unit": "budget", "shares": [math.exp(-5)], "resamples": 200, "x": "gradients"}
    figure, drawing = draw_kind("performance_profile", results, **options)
    assert figure.axes[0].get_xlabel() == "gradients per active client, as a share of the budget"
    solved = drawing.numbers[drawing.numbers["share"] > 0].groupby("algorithm")["x"].first()
    assert solved["scaffold"] == pytest.approx(0.25, rel=0.15) and "fedprox" not in solved


def test_the_loss_to_the_best_shows_what_has_no_number(results):
    figure, drawing = draw_kind("loss_to_best", results, share=math.exp(-5))
    table = drawing.numbers.set_index(["algorithm", "case"])
    states = table["state"].unstack("case")[CASES]
    assert states.loc["scaffold"].tolist() == ["best", "best", "undefined"]
    assert states.loc["fedavg"].tolist() == ["worse", "worse", "best"]
    assert states.loc["fedprox"].tolist() == ["never"] * 3 and states.loc["feddyn", CASES[0]] == "near"
    gap = table.loc[("fedavg", CASES[0])]
    assert gap["low"] < 2 < gap["high"] and (gap["attained"], gap["seeds"]) == (4, 4)
    result = texts(figure)
    assert result.count("–") == 3 + 1 and {"FedAvg", "SCAFFOLD", *CASES, "cost of the best"} <= set(result)
    assert sum(patch.get_hatch() is not None for patch in figure.axes[0].patches) == 1
    assert "– never attained; hatched: not defined." in " ".join(figure.get_supxlabel().split())


def test_a_run_that_diverged_has_a_sign_of_its_own():
    frame = curves()
    frame.loc[frame["algorithm"] == "fedprox", "status"] = "diverged"
    figure, _ = draw_kind("loss_to_best", (None, frame, view()), share=math.exp(-5))
    assert texts(figure).count("×") == 3


def test_scores_are_compared_by_ratio_or_by_difference(results):
    _, drawing = draw_kind("loss_to_best", results, scores=True, where={"case": CASES[1]})
    assert drawing.numbers["compared"].iloc[0] == "best suboptimality"
    assert drawing.numbers.set_index("algorithm").loc["fedavg", "loss"] > 100
    frame = curves().rename(columns={"suboptimality": "test_accuracy"})
    frame["test_accuracy"] = 1 - frame["test_accuracy"] / 8
    of_accuracy = None, frame, view(metric="test_accuracy", goal="max")
    figure, drawing = draw_kind("loss_to_best", of_accuracy, scores=True, where={"case": CASES[0]})
    losses = drawing.numbers.set_index("algorithm")["loss"]
    assert losses["scaffold"] == 0 and 0.01 < losses["fedprox"] < 0.15
    assert "Best test accuracy, minus the best" in figure.get_supxlabel() and "score of the best" in texts(figure)


def test_the_score_of_a_loss_is_its_distance_to_the_optimum_where_that_is_known():
    frame = curves().assign(loss=lambda rows: rows["suboptimality"] + 5)
    frame.loc[frame["case"] == CASES[2], "suboptimality"] = math.nan
    _, drawing = draw_kind("loss_to_best", (None, frame, view(metric="loss")), scores=True)
    losses = drawing.numbers.set_index(["algorithm", "case"])["loss"]
    assert losses["fedavg", CASES[1]] > 100 and losses["fedprox", CASES[2]] < 2
    assert drawing.numbers["compared"].iloc[0] == "best suboptimality (loss where F* is not known)"


def test_the_probability_of_improvement_is_that_over_instances(results):
    figure, drawing = draw_kind("improvement", results, share=math.exp(-5))
    table = drawing.numbers.set_index(["algorithm", "against"])
    row = table.loc[("scaffold", "fedavg"), ["probability", "low", "high", "problems"]]
    assert row.tolist() == pytest.approx([1, 0.025**0.5, 1, 2], abs=0.03)  # as of two tosses
    assert table.loc[("feddyn", "fedprox"), "probability"] == pytest.approx((1 + 1 + 0.5) / 3)
    assert texts(figure).count("100") == 3 and "83" in texts(figure)
    assert "3 problems, 4 seeds of each" in " ".join(figure.get_supxlabel().split())


def test_algorithms_without_a_run_in_the_cases_that_are_shown_are_left_out(results):
    table, rows, plain = results
    context = replace(plain, cases={case: case for case in CASES}, undefined={"scaffold": {CASES[2]: "it needs all"}})
    for cases, count in ((CASES[2], 3), (CASES[1:], 4)):
        _, drawing = draw_kind("loss_to_best", (table, rows, context), where={"case": cases})
        assert drawing.numbers["algorithm"].nunique() == count


def test_targets_do_not_depend_on_what_is_drawn():
    frame = curves().rename(columns={"suboptimality": "loss"})
    result = []
    for algorithms in (None, ["fedavg", "fedprox"]):
        options = {"algorithms": algorithms, "shares": [0.01], "unit": "budget", "resamples": 100}
        _, drawing = draw_kind("performance_profile", (None, frame, view(metric="loss")), **options)
        part = drawing.numbers[(drawing.numbers["algorithm"] == "fedavg") & (drawing.numbers["share"] > 0)]
        result.append(part["x"].iloc[0])
    assert result[0] == pytest.approx(result[1], rel=0.05)


def test_the_best_known_value_is_told():
    frame = curves().rename(columns={"suboptimality": "loss"})
    figure, _ = draw_kind("loss_to_best", (None, frame, view(metric="loss")))
    foot = " ".join(figure.get_supxlabel().split())
    assert "the distance of the training loss to the best that any run with the seed found is 1 % of" in foot


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.slow if kind in SLOW_KINDS else []) for kind in KINDS]
)
def test_thirty_algorithms_on_twelve_problems(kind):
    ids = ALGORITHMS.names()[:30]
    rng = np.random.default_rng(3)
    speeds = {id: [float(rng.uniform(20, 300)) if rng.random() > 0.06 else None for _ in range(12)] for id in ids}
    cases = [f"problem number {k}" for k in range(12)]
    results = None, curves(speeds, cases, seeds=2, rounds=100), view(tuple(ids), seeds=2)
    with settings():
        picture, drawing = draw_figure({"kind": kind}, results)
        picture.canvas.draw()
        result = [text for ax in picture.axes for text in ax.texts if text.get_text()]
        result += [text for legend in picture.legends for text in legend.get_texts()]
        edges = [text.get_window_extent() for text in result]
        width, height = picture.canvas.get_width_height()
        assert len(drawing.numbers) >= 12 and len(edges) > 8
        assert all(box.x0 > -2 and box.x1 < width + 2 and box.y0 > -2 and box.y1 < height + 2 for box in edges)


def test_lines_are_as_wide_as_they_may_be():
    text = "FedDyn needs 2.1 times as many " * 8
    result = wrap_text(text, 3.0, 9)
    assert " ".join(result) == text.strip() and 5 < len(result) < 12
    assert wrap_text("", 3.0, 9) == [""] and wrap_text("averyveryverylongword", 0.1, 9) == ["averyveryverylongword"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"kind": "performance_profile", "shares": [0.1, 1.0]}, "each must lie between 0 and 1"),
        ({"kind": "performance_profile", "shares": []}, "that is not empty"),
        ({"kind": "performance_profile", "apart": True, "panel": "case"}, "leave out panel or apart"),
        ({"kind": "performance_profile", "within": 1}, "within is 1; it must be a number larger than 1"),
        ({"kind": "loss_to_best", "scores": True, "best": 0.0}, "scores have no target"),
        ({"kind": "improvement", "share": 1.5}, "share is 1.5; it must be a number"),
        ({"kind": "loss_to_best", "darkest": 1}, "darkest is 1"),
    ],
)
def test_wrong_options_give_one_sentence(spec, message):
    with pytest.raises(UserError, match=re.escape(message)) as error:
        build_figure(spec)
    assert "\n" not in str(error.value)


def test_results_that_do_not_fit(results):
    with pytest.raises(UserError, match="there is no 'vectors_up' in the results"):
        draw_kind("loss_to_best", results, x="vectors_up")
    with pytest.raises(UserError, match="no rows are left to draw"):
        draw_kind("loss_to_best", results, where={"case": "nowhere"})
