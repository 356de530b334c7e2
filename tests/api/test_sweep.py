"""Sweeps: runs over a grid are those of `train`, in one frame that `plot` draws; F* is solved once."""

import pytest

import fedatlas
from fedatlas import UserError
from fedatlas.federation.problems.regression import Regression

QUADRATIC = {"kind": "quadratic", "dim": 5, "similarity": 0.1, "noise": 0.3, "samples": 20}
OPTIONS = {"clients": 4, "rounds": 6, "eval_rounds": 3, "batch": 2, "participation": {"kind": "uniform", "count": 2}}


def swept(algorithms=("fedavg", "scaffold"), problem=QUADRATIC, axes=None, **options):
    return fedatlas.sweep(algorithms, problem, axes, **{"lr": 0.01, **OPTIONS, **options})


def test_each_run_is_that_of_train():
    axes = {"lr": [0.01, 0.03], "participation.count": [1, 3], "problem.similarity": [0.1, 0.5]}
    frame = swept(axes=axes, seeds=[3, 4])
    assert list(frame)[:7] == ["algorithm", *axes, "seed", "status", "round"]
    runs = frame.groupby(["algorithm", *axes, "seed"], sort=False)
    assert len(runs) == 2 * 2 * 2 * 2 * 2
    for id, lr, count, similarity, seed in [("scaffold", 0.03, 1, 0.5, 4), ("fedavg", 0.01, 3, 0.1, 3)]:
        options = {**OPTIONS, "lr": lr, "participation": {"kind": "uniform", "count": count}, "seed": seed}
        alone = fedatlas.train(id, {**QUADRATIC, "similarity": similarity}, **options)
        rows = runs.get_group((id, lr, count, similarity, seed))
        assert rows["loss"].tolist() == alone["loss"].tolist() and set(rows["status"]) == {"ok"}
    assert QUADRATIC["similarity"] == 0.1 and OPTIONS["participation"]["count"] == 2, "arguments stay as they are"


def test_plot_draws_a_line_for_each_point_or_an_axis():
    frame = swept(axes={"lr": [0.001, 0.003, 0.01], "local_steps": [1, 2]}, seeds=[0, 1])
    labels = [text.get_text() for text in fedatlas.plot(frame, x="gradients").get_legend().get_texts()]
    assert len(labels) == 12 and "SCAFFOLD, $η$ = 0.01, $K$ = 2" in labels
    axes = fedatlas.plot(frame, x="lr", y="loss")
    assert axes.get_xscale() == "log" and axes.get_xlabel() == "step size $η$"
    lines = {line.get_label(): line for line in axes.get_lines()}
    last = frame[(frame["round"] == 6) & (frame["algorithm"] == "fedavg") & (frame["local_steps"] == 1)]
    expected = last.groupby("lr")["loss"].mean()
    assert lines["FedAvg, K = 1"].get_xdata().tolist() == expected.index.tolist()
    assert lines["FedAvg, K = 1"].get_ydata().tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"axes": {"lr": []}}, "one value of each axis"),
        ({"axes": {"momentum": [0.1]}}, "fedavg has no option 'momentum'"),
        (
            {"axes": {"problem.dim": [3]}, "problem": fedatlas.Quadratic([[[1.0]]] * 4, [[1.0]] * 4)},
            "axis 'problem.dim' leads nowhere in",
        ),
        ({"algorithms": ["fedavg", "fedavg"]}, "two algorithms have one name"),
        ({"algorithms": []}, "give one algorithm"),
        ({"seeds": []}, "one seed at least"),
    ],
)
def test_a_sweep_that_does_not_fit_is_refused(arguments, sentence):
    with pytest.raises(UserError, match=sentence):
        swept(**arguments)


def test_the_optimum_is_solved_once_for_a_specification(monkeypatch, tmp_path):
    solved = []
    monkeypatch.setattr(Regression, "solve", lambda self, solve=Regression.solve: solved.append(1) or solve(self))
    problem = {"kind": "logistic", "data": "breast_cancer", "l2": 0.02}
    monkeypatch.setenv("FEDATLAS_DATA", str(tmp_path))
    options = {"clients": 2, "rounds": 1, "lr": 0.1}
    first, second = (fedatlas.train("fedavg", problem, **options) for _ in range(2))
    assert len(solved) == 1 and first["suboptimality"].tolist() == second["suboptimality"].tolist()
    fedatlas.train("fedavg", {**problem, "l2": 0.03}, **options)
    assert len(solved) == 2
