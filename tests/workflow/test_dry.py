"""Mistakes of every kind are told before any job, because what a specification names is built first."""

import pytest
import yaml

from fedatlas.errors import UserError
from fedatlas.workflow.study import Study
from tests.workflow.project import TINY

LOGISTIC = {"kind": "logistic", "data": "breast_cancer", "l2": 0.1}
CENTERS = {"kind": "quadratic", "centers": [[1.0], [2.0], [3.0]]}
SIMILAR = {"kind": "similar", "dim": 6, "components": 2}
DECAY = {"kind": "exponential", "decay": 0.5}
DEVIATION = {"kind": "reaches", "quantity": "deviation", "algorithms": ["fedavg"], "limit": "fedavg-output"}
TRACE = {"kind": "stationary", "p": [0.5, 0.5, 0.5]}


def checked(folder, **change):
    path = folder / "config/experiments/tiny.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(TINY | change))
    settings = {"size": "smoke", "tour": [], "experiments": "all", "data": "data", "data_mirrors": []}
    return Study(settings | {"mlflow_uri": ""}, root=folder).cells("smoke", "tiny")


def setting(**options):
    return {"setting": TINY["setting"] | options}


def figure(**options):
    kind = {} if "kind" in options else {"kind": "convergence", "x": "rounds"}
    return {"figures": {"it": {**kind, "caption": "c", **options}}}


def check(**options):
    check = {"kind": "better", "algorithm": "scaffold", "than": ["fedavg"]} if "kind" not in options else {}
    return {"claims": {"it": {"text": "t", "source": "s", "check": check | options}}}


def entry(algorithm, **values):
    return {"algorithms": {algorithm: {"set": values, "tune": {"lr": None}}}, "claims": {}}


def select(metric):
    return {"select": {"metric": metric, "statistic": "best", "goal": "min"}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        # metrics
        (select("nope"), "select.metric: unknown metric 'nope'"),
        (select("suboptimality") | {"problem": LOGISTIC}, "select.metric: unknown metric 'suboptimality'"),
        (select("output"), "select.metric: unknown metric 'output'"),
        (setting(metrics=["accuracy"]), "metrics: the problem does not report 'accuracy'"),
        (figure(y="nope"), "figures.it: y: unknown metric 'nope'"),
        (figure(y="test_loss", ) | {"problem": LOGISTIC}, "y: unknown metric 'test_loss'"),
        (figure(x="bytes"), "figures.it: x: unknown cost 'bytes'"),
        (figure(x="rounds", y="loss", deviations=True), "y must be its mean, VALUE_mean"),
        (figure(kind="table", x="clients", metrics=["nope"]), "figures.it: x: unknown axis"),
        (check(metric="nope"), "claims.it: metric: unknown metric 'nope'"),
        (check(kind="better", algorithm="scaffold", than=["fedavg"], cost="bytes", at_least=1), "cost: unknown cost"),
        (check(kind="exponent", algorithms=["fedavg"], axis="batch", parameter="mu", at_least=1)
         | {"within": {"batch": [2, 1]}, "figures": {}},
         "parameter: unknown hyper-parameter tuned"),
        (check(kind="exponent", algorithms=["fedavg"], axis="batch", at_least=1)
         | {"within": {"batch": [None, 1]}, "figures": {}},
         "axis: unknown axis of numbers"),
        (figure(kind="availability", where={"batch": 9}) | {"within": {"batch": [1, 2]}}, "keeps 0 participations"),
        # theory
        (check(**DEVIATION, metric="loss"), "the limit is known for"),
        (check(**DEVIATION, metric="loss") | {"problem": CENTERS},
         "the limit needs one probability for each client"),
        (check(kind="below", algorithms=["fedavg"], theorem=4), "Theorem 4 is about dane"),
        (check(kind="below", algorithms=["dane+-gd"], theorem=4)
         | {"problem": LOGISTIC, "algorithms": {"dane+-gd": {"set": {"lam": 1.0, "lr": 0.1}}}, "figures": {}},
         "on synthetic quadratics"),
        # names
        ({"algorithms": {"..": {"algorithm": "fedavg"}}}, "the name '..' must consist of"),
        # problems
        ({"problem": LOGISTIC | {"partition": {"kind": "nope"}}}, "unknown partition 'nope'"),
        ({"problem": LOGISTIC | {"partition": "dirichlet"}}, "partition dirichlet needs a value for 'alpha'"),
        ({"problem": LOGISTIC | {"partition": {"kind": "classes", "classes": 3}}}, "the labels have only 2"),
        ({"problem": LOGISTIC | {"partition": "iid"}} | setting(clients=1000), "too few to give each of 1,000 clients"),
        ({"problem": LOGISTIC | {"data": "digits"}}, "needs two classes, the data have 10"),
        ({"problem": LOGISTIC | {"test": "a9a"}}, "samples of a9a have another shape than those of breast_cancer"),
        ({"problem": {"kind": "quadratic", "centers": [[1.0], [2.0, 3.0], [1.0]]}}, "centers must be lists of equally"),
        ({"problem": CENTERS} | setting(clients=2), "centers has shape (3, 1)"),
        ({"problem": {"kind": "network", "data": "digits", "augment": True}}, "augment is True"),
        ({"problem": {"kind": "network", "data": "digits", "loss": "logistic"}}, "the data have 10"),
        ({"problem": {"kind": "softmax", "data": "digits", "dtype": "float8"}}, "dtype is 'float8'"),
        ({"problem": {"kind": "piecewise", "kappa": 4, "steps": "x"}}, "steps is 'x'"),
        ({"problem": SIMILAR | {"similarity": 90.0}}, "a similarity of 90.0 is too large"),
        ({"problem": LOGISTIC | {"l2": 0}, "optimum": True}, "optimum: the optimum of this problem (logistic) cannot"),
        ({"problem": SIMILAR | {"convexity": "non-convex"}, "optimum": True}, "(similar) cannot be computed"),
        ({"within": {"clients": [2, 3]}}, "within: clients cannot vary inside a run file"),
        (setting(participation={"kind": "bernoulli", "p": "labels"}), "p is 'labels', but the problem's data have no"),
        # hyper-parameters
        (entry("fedavg", lr="1/nope"), "this problem has no constant 'nope' (it has L, L_max"),
        (entry("fedavg", lr="1/delta_A") | {"problem": LOGISTIC}, "no constant 'delta_A' (it has L, L_max, mu)"),
        (entry("fedavg", lr="1/mu") | {"problem": LOGISTIC | {"l2": 0}}, "no constant 'mu' (it has L, L_max)"),
        (entry("fedavg", lr="1/(L - L)"), "lr is '1/(L - L)', which has no finite value for this problem"),
        (entry("fedavg", lr="mu - L"), "; it must be a number larger than 0"),
        (entry("fedavg", lr="+".join(["1"] * 3000)), "lr is a formula of 5,999 characters; at most 200 are allowed"),
        (entry("fedac-2", lr=0.1) | {"problem": LOGISTIC | {"l2": 0}}, "this problem has no 'mu', so mu must be given"),
        (entry("fedac-2", lr=1e-320, mu=1.0), "lead to numbers beyond double precision"),
        (entry("fedac-2", lr=1e-320), "lead to numbers beyond double precision"),
        (
            entry("dane+-gd", lam=1.0, lr=0.1, max_steps=1_000_000),
            "max_steps is 1000000; it must be a whole number betw",
        ),
        (entry("fedavg", lr=0.1) | setting(rounds=4000, schedule=DECAY), "its factor in"),
        (entry("fedavg", lr=0.1) | setting(rounds=4000, schedule={"kind": "exponential", "decay": 2}), "its factor in"),
        (entry("fedavg", lr=1e-250) | setting(rounds=400, schedule=DECAY), "beyond double"),
        (entry("scaffnew", lr=0.1, p=1e-320), "p is 1e-320; it must be a number between 0.0001 and 1"),
        (entry("dane", lam=0.1) | {"problem": TINY["problem"] | {"similarity": 8.0}}, "every client strongly convex"),
        # sizes
        ({"grid": {"batch": [*range(1, 3001)], "local_steps": [*range(1, 3001)]}}, "make 18,000,000 run files"),
        ({"within": {"batch": [*range(1, 3001)], "local_steps": [*range(1, 3001)]}}, "18,000,000 runs of fedavg"),
    ],
)  # fmt: skip
def test_mistakes_are_told_before_any_job(tmp_path, change, message):
    with pytest.raises(UserError) as error:
        checked(tmp_path, **change)
    assert message in str(error.value) and "tiny.yaml" in str(error.value) and "\n" not in str(error.value)


TESTED = {"metric": "test_accuracy", "statistic": "best", "goal": "max", "tuned_on": "validation_loss"}


@pytest.mark.parametrize(
    "change",
    [
        {},
        select("suboptimality"),
        select("suboptimality") | {"problem": LOGISTIC, "optimum": True},
        {"select": TESTED, "problem": LOGISTIC | {"validation": 0.2}, **figure(y="accuracy")},
        entry("fedavg", lr="1/(L - 0.9*mu)"),
        entry("fedavg", lr="1/(L - mu)") | {"problem": LOGISTIC},
        setting(participation=TRACE) | {"problem": CENTERS} | check(**DEVIATION, metric="output"),
        {"within": {"clients": [2, 3]}, "problem": LOGISTIC},
        {"problem": LOGISTIC | {"partition": {"kind": "dirichlet", "alpha": 0.3}}},
    ],
)
def test_what_is_right_passes(tmp_path, change):
    figures = {} if "within" in change else {"figures": TINY["figures"]}
    assert checked(tmp_path, **{**figures, **({"figures": {}, "claims": {}} if "within" in change else {}), **change})
