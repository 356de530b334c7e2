"""Calls from Python, as the text of a mapping in YAML: `fedatlas.train`, own arrays, and the scikit-learn estimator."""

import contextlib
import inspect
import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from fedatlas import FederatedLogisticRegression, Logistic, Softmax, UserError, train
from fedatlas.federation import algorithms
from tests.fuzz.targets import Target

NUMBERS = [0, -1, 1, 2, 3, 0.5, 1e-320, 1e308, -1e308, float("nan"), float("inf"), 2**63, 10**30, True]
OTHERS = [None, "", "x", "iid", "\0", [], [1], [[1], [1, 2]], {}, {"kind": "iid"}, {"kind": None}, {1: 2}, {"kind": []}]
VALUES = st.sampled_from(NUMBERS) | st.sampled_from(OTHERS) | st.text(max_size=3)
SMALL = st.sampled_from([1, 2, 3]) | st.sampled_from([0, -1, 1.5, "3", None, float("nan"), [2], True])
PARTICIPATION = [
    {"kind": "uniform", "count": 2}, {"kind": "uniform", "count": 99}, {"kind": "independent", "p": 0.5},
    {"kind": "independent", "p": "labels"}, {"kind": "independent", "p": [0.5]}, {"kind": "markov"}, "full", "nope",
]  # fmt: skip
PARTITIONS = [
    "iid", "shared", {"kind": "dirichlet", "alpha": 0.3}, {"kind": "dirichlet", "alpha": 1e-308}, {"kind": "dirichlet"},
    {"kind": "classes", "classes": 2}, {"kind": "classes", "classes": 99}, {"kind": "iid", "seed": -1}, "nope",
]  # fmt: skip
OWNERS = [
    [[0, 1], [2]], [[0], [1], [2], [3]], [[0, 0]], [[-1]], [[99]], [[]], [[0.5]], [["a"]], [[True]], [0, 1], [[[0]]],
    [None], "iid", 5, {}, [[0], [1, 2, 3, 4, 5]],
]  # fmt: skip
FORMULAS = ["1/L", "sqrt(mu/L)", "log(0)", "1/(L", "L-L", "nope", "sqrt()", "sqrt(L, L)", "L(1)", "1/0", "-sqrt(L)"]
PROBLEMS = [
    {"kind": "quadratic", "dim": 3}, {"kind": "quadratic", "dim": 3, "heterogeneity": 1e308},
    {"kind": "quadratic", "centers": [[1], [2], [3]]}, {"kind": "quadratic", "centers": [[1], [2, 3]]},
    {"kind": "quadratic", "centers": [[1e308], [-1e308], [1e308]]}, {"kind": "quadratic", "centers": [[], [], []]},
    {"kind": "similar", "dim": 3, "components": 2}, {"kind": "similar", "dim": 1, "components": 2},
    {"kind": "piecewise", "kappa": 25, "steps": 2}, {"kind": "piecewise", "kappa": 1e300, "steps": 2},
    {"kind": "logistic", "data": "nope"}, {"kind": "nope"}, {}, [], None, 5,
]  # fmt: skip
OPTIONS = {
    "clients": SMALL, "rounds": SMALL, "local_steps": SMALL, "local_epochs": SMALL, "batch": SMALL,
    "eval_rounds": SMALL | VALUES, "steps": SMALL, "participation": st.sampled_from(PARTICIPATION) | VALUES,
    "schedule": st.sampled_from(["constant", {"kind": "exponential", "factor": 0.5}]) | VALUES,
    "sampling": st.sampled_from(["replacement", "reshuffling"]) | VALUES, "metrics": VALUES, "record": VALUES,
    "state": st.sampled_from(["memory", "disk"]) | VALUES, "seed": VALUES, "threads": SMALL, "optimum": st.booleans(),
    "directory": VALUES, "nope": VALUES, "lr": VALUES, "mu": VALUES, "eta": VALUES, "lam": VALUES,
}  # fmt: skip


@st.composite
def _call(draw) -> str:
    name = draw(st.sampled_from(algorithms.names()))
    declarations = algorithms.get(name).options()
    values: dict[str, Any] = {"algorithm": name, "problem": draw(st.sampled_from(PROBLEMS))}
    values |= {"clients": 3, "rounds": 2, "batch": draw(st.sampled_from([1, None]))}
    values |= {option: 0.1 for option, declaration in declarations.items() if declaration.required}
    for option in draw(st.lists(st.sampled_from([*OPTIONS, *declarations]), max_size=3)):
        values[option] = draw(OPTIONS.get(option, VALUES) | st.sampled_from(FORMULAS))
    if not draw(st.integers(0, 19)):
        values[draw(st.sampled_from(["algorithm", "problem"]))] = draw(VALUES)
    return yaml.safe_dump(values)


def _train(content: str, folder: Path) -> None:
    with contextlib.chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        train(**yaml.safe_load(content))


WEIGHTS = st.none() | st.lists(st.sampled_from([0, 1, 2.5, -1, 1e308, float("nan")]), max_size=6) | VALUES


@st.composite
def _fit(draw) -> str:
    parameters = {
        "algorithm": st.sampled_from([*algorithms.names(), "nope"]), "clients": SMALL | VALUES, "rounds": SMALL,
        "partition": st.sampled_from([*PARTITIONS, *OWNERS]) | VALUES, "lr": VALUES | st.sampled_from(FORMULAS),
        "local_steps": SMALL, "batch": SMALL, "warm_start": VALUES, "verbose": VALUES,
        "l2": VALUES, "participation": st.sampled_from(PARTICIPATION) | VALUES, "random_state": VALUES,
        "parameters": st.dictionaries(st.sampled_from([*OPTIONS, "l2", "algorithm"]), VALUES, max_size=2) | VALUES,
    }  # fmt: skip
    chosen = draw(st.lists(st.sampled_from(list(parameters)), max_size=4, unique=True))
    shape = st.lists(st.sampled_from([1, 2, 6, 12]), min_size=2, max_size=2) | st.lists(st.integers(0, 3), max_size=3)
    data = {
        "shape": draw(shape),
        "dtype": draw(st.sampled_from(["float64", "float64", "float32", "int8", "bool", "complex128", "object", "U3"])),
        "values": draw(st.lists(st.sampled_from([0, 1, -1, 0.5, 1e-320, 1e160, 1e308, float("nan")]), min_size=1)),
        "y": draw(
            st.sampled_from(["two", "three", "text", "one", "floats", "nan", "short", "column", "mixed", "none"])
        ),
        "sparse": draw(st.booleans()),
        "weights": draw(WEIGHTS),
    }
    return yaml.safe_dump({"parameters": {"rounds": 2} | {name: draw(parameters[name]) for name in chosen}, **data})


def _estimator(content: str, folder: Path) -> None:
    case = yaml.safe_load(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X = np.resize(np.array(case["values"], float), case["shape"]).astype(case["dtype"])
        rows = len(X) if X.ndim else 0
        y = {
            "two": np.arange(rows) % 2, "three": np.arange(rows) % 3, "text": np.array(["a", "b"] * rows)[:rows],
            "one": np.zeros(rows), "floats": np.arange(rows) / 7, "nan": np.full(rows, np.nan), "short": np.zeros(1),
            "column": np.arange(rows)[:, None] % 2, "mixed": np.array([1, "a"] * rows, object)[:rows], "none": None,
        }[case["y"]]  # fmt: skip
        if case["sparse"] and X.ndim == 2 and X.dtype.kind in "fib":
            X = csr_matrix(X)
        try:
            model = FederatedLogisticRegression(**case["parameters"])
            with contextlib.redirect_stdout(io.StringIO()):
                model.fit(X, y, case.get("weights"))
            model.predict_proba(X)
        except ValueError as error:
            raise UserError(str(error)) from None


@st.composite
def _arrays(draw) -> str:
    cells = st.lists(st.sampled_from([0, 1, -1, 0.5, 1e308, float("nan"), "a", None]), min_size=2, max_size=3)
    options = {"l2": VALUES, "weights": VALUES, "test": VALUES, "start_scale": VALUES, "nope": VALUES}
    keys = draw(st.lists(st.sampled_from([*options, "partition", "sample_weight", "start"]), max_size=3, unique=True))
    strategies = {"partition": st.sampled_from(OWNERS), "sample_weight": WEIGHTS, "start": VALUES | WEIGHTS} | options
    return yaml.safe_dump(
        {
            "name": draw(st.sampled_from(["Logistic", "Softmax"])),
            "X": draw(st.lists(cells, min_size=1, max_size=6) | VALUES),
            "y": draw(st.lists(st.sampled_from([0, 1, 2, -1, 0.5, "a", None, True]), max_size=6) | VALUES),
            "options": {name: draw(strategies[name]) for name in keys},
        }
    )


def _problem(content: str, _: Path) -> None:
    case = yaml.safe_load(content)
    result = {"Logistic": Logistic, "Softmax": Softmax}[case["name"]]
    options = inspect.signature(result).parameters
    if not ({*case["options"]} <= {*options} or "options" in options):
        return  # Python itself refuses it
    problem = result(case["X"], case["y"], **case["options"])
    with np.errstate(all="ignore"):
        problem.evaluate(problem.start(0))


TRAIN_API = Target("train-api", _call(), _train, seconds=30, text=True)
ARRAYS = Target("arrays", _arrays(), _problem, seconds=30, text=True)
ESTIMATOR = Target("estimator", _fit(), _estimator, seconds=30, text=True)
