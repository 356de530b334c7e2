"""Generated experiments: tiny ones of every kind, with values that are right, at a bound, or wrong.

All that is drawn comes from the declarations of options and from the families of kinds, so a new algorithm, figure or
check is drawn because its file is there.
"""

import json
from typing import Any

from hypothesis import strategies as st

from fedatlas.experiments.labels import COSTS
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.metrics import METRICS
from fedatlas.federation.participation import PARTICIPATION
from fedatlas.federation.partitions import PARTITIONS
from fedatlas.federation.problems import PROBLEMS
from fedatlas.federation.problems.base import OPTIMUM_METRICS, DataKind
from fedatlas.federation.schedules import SCHEDULES
from fedatlas.results.claims import CHECKS
from fedatlas.results.figures import FIGURES
from fedatlas.theory.closed_forms import LIMITS
from fedatlas.theory.fedac import FEDAC_THEOREMS
from fedatlas.theory.fedred import FEDRED_BOUNDS
from fedatlas.theory.theorems import THEOREMS
from tests.fuzz.option_strategies import EXTREME, FORMULAS, REAL, TEXTS, WRONG, kind, mostly, options, value

DATA = {"logistic": ["breast_cancer"], "softmax": ["breast_cancer", "breast_cancer", "digits"]}
PROBLEM_KINDS = [name for name in PROBLEMS.names() if name != "network"]  # torch takes seconds to load
AXES = ("local_steps", "clients", "batch", "participation", "schedule", "parameters.lr", "problem.l2", "problem.mu")


@st.composite
def problem(draw: Any) -> dict[str, Any]:
    """A tiny problem."""
    spec = draw(kind(PROBLEMS, PROBLEM_KINDS))
    if issubclass(PROBLEMS.get(spec["kind"]), DataKind):
        spec["data"] = draw(st.sampled_from(DATA[spec["kind"]]))
        if draw(st.booleans()):
            spec["partition"] = draw(kind(PARTITIONS))
    if spec.get("centers") and draw(mostly(st.booleans(), st.just(True))):
        spec.pop("dim", None)
        spec["centers"] = [[1.0], [2.0], [0.5]][: draw(st.integers(1, 3))]
        spec.pop("curvatures", None)
    elif "dim" in PROBLEMS.get(spec["kind"]).options():
        spec.pop("centers", None)
        spec["dim"] = draw(st.integers(1, 4))
    if spec["kind"] == "piecewise":
        spec |= {"kappa": 8.0, "steps": draw(st.integers(1, 4))}
    if spec["kind"] == "quadratic" and "centers" not in spec:
        spec.pop("curvatures", None)
        spec["L"] = draw(st.sampled_from([10.0, 100, 2.5]))
    if spec["kind"] == "similar":
        fields = draw(st.lists(st.sampled_from(list(spec)), max_size=1))
        small = {"kind": "similar", "dim": spec["dim"] + 2, "components": 2, "similarity": 0.5}
        spec = small | {name: spec[name] for name in fields}
    return spec


@st.composite
def participation(draw: Any, clients: int) -> dict[str, Any]:
    """A rule of participation that mostly fits the number of clients."""
    spec = draw(kind(PARTICIPATION, [name for name in PARTICIPATION.names() if name != "trace"]))
    if spec.get("p") == "labels":
        spec["p"] = draw(st.sampled_from([0.5, 1.0, "labels"]))
    if "count" in spec and isinstance(spec["count"], int):
        spec["count"] = draw(mostly(st.integers(1, clients), st.just(spec["count"])))
    if isinstance(spec.get("p"), list):
        spec["p"] = draw(mostly(st.lists(st.sampled_from([0.1, 0.5, 1.0]), min_size=clients, max_size=clients),
                                 st.just(spec["p"])))  # fmt: skip
    return spec


@st.composite
def setting(draw: Any) -> dict[str, Any]:
    """A few clients for a few rounds."""
    clients = draw(mostly(st.sampled_from([3, 3, 4, 2]), st.just(1), 20))
    spec: dict[str, Any] = {"clients": clients, "rounds": draw(st.integers(1, 4))}
    spec[draw(st.sampled_from(["local_steps", "local_steps", "local_epochs"]))] = draw(st.integers(1, 3))
    if draw(st.booleans()):
        spec["batch"] = draw(mostly(st.sampled_from([None, 1, 2, 200]), st.sampled_from(WRONG)))
    if draw(st.booleans()):
        spec["participation"] = draw(participation(spec["clients"]))
    if draw(st.booleans()):
        spec["schedule"] = draw(kind(SCHEDULES))
    if not draw(st.integers(0, 3)):
        spec["metrics"] = draw(st.lists(st.sampled_from(METRICS.names()), max_size=2))
    if not draw(st.integers(0, 3)):
        spec["record"] = ["step_size"]
    if not draw(st.integers(0, 3)):
        spec["eval_rounds"] = draw(st.integers(1, 5))
    return spec


@st.composite
def entry(draw: Any, name: str, formulas: bool) -> dict[str, Any]:
    """An algorithm with values for its hyper-parameters. formulas: whether constants are known before data are."""
    parameters = {key: option for key, option in ALGORITHMS.get(name).options().items() if key != "lr"}
    parameters = {key: option for key, option in parameters.items() if formulas or not option.constant}
    result: dict[str, Any] = {"algorithm": name, "set": draw(options(parameters, {}))}
    for key, option in parameters.items():
        if formulas and option.numeric and key in result["set"] and draw(st.integers(0, 9)) == 0:
            result["set"][key] = draw(st.sampled_from(FORMULAS))
        elif option.numeric and draw(st.integers(0, 5)) == 0:
            result["set"].pop(key, None)
            result["tune"] = {key: draw(_axis(value(option)))}
    if draw(st.integers(0, 3)) == 0:
        result["label"] = draw(st.sampled_from(TEXTS))
    if "lr" not in ALGORITHMS.get(name).options():
        result.setdefault("tune", {})["lr"] = None
    return result


def _axis(values: Any) -> Any:
    """Values of an axis, which may differ in type."""
    return st.lists(values, min_size=1, max_size=3, unique_by=json.dumps)


def _axis_values(name: str, clients: int) -> Any:
    few: dict[str, Any] = {
        "local_steps": st.integers(1, 3), "clients": st.integers(1, 4), "batch": st.integers(1, 3),
        "participation": participation(clients), "schedule": kind(SCHEDULES), "parameters.lr": st.sampled_from(REAL),
        "problem.l2": st.sampled_from([0.1, 0.01, 0.0, 1]), "problem.mu": st.sampled_from([0.1, 0.5, 1.0]),
    }  # fmt: skip
    return _axis(few[name])


def _has(spec: dict[str, Any], axis: str) -> bool:
    """Whether an axis is an option of the problem and of all algorithms, where it is one of theirs."""
    first, _, rest = axis.partition(".")
    if first == "problem":
        return rest in PROBLEMS.get(spec["problem"]["kind"]).options()
    if first == "parameters":
        return all(rest in ALGORITHMS.get(item["algorithm"]).options() for item in spec["algorithms"].values())
    if axis == "local_steps" and "local_epochs" in spec["setting"]:
        return False
    return not (axis == "clients" and spec["problem"].get("partition"))


def _records(spec: dict[str, Any]) -> bool:
    return any(ALGORITHMS.get(item["algorithm"]).records for item in spec["algorithms"].values())


@st.composite
def experiment(draw: Any) -> dict[str, Any]:
    """The content of an experiment file."""
    settings = draw(setting())
    ids = draw(st.lists(st.sampled_from(ALGORITHMS.names()), min_size=1, max_size=3, unique=True))
    of = draw(problem())
    formulas = "data" not in of  # whose constants are not known before the runs
    entries = {(id if draw(st.booleans()) else f"{id}-mine"): draw(entry(id, formulas)) for id in ids}
    spec: dict[str, Any] = {
        "title": "Generated", "paper": "yuan2020", "source": "Nowhere", "problem": of, "setting": settings,
        "tune": {"lr": draw(_axis(mostly(st.sampled_from([0.01, 0.1, 1.0]), st.sampled_from(REAL + EXTREME))))},
        "seeds": draw(st.lists(st.integers(0, 3), min_size=1, max_size=3, unique=True)), "algorithms": entries,
    }  # fmt: skip
    spec["optimum"] = draw(st.booleans())
    if draw(st.booleans()):  # what most algorithms are defined for
        settings.pop("schedule", None)
        settings.pop("participation", None)
    if not _records(spec):
        settings.pop("record", None)
    cls = PROBLEMS.get(spec["problem"]["kind"])
    if cls.on_data and not spec["problem"].get("l2"):
        spec["optimum"] = draw(mostly(st.just(False), st.just(True), 10))
    if of.get("data") == "digits":
        spec["optimum"] = False  # it takes seconds
    if "data" in of and "local_epochs" in settings:
        settings["batch"] = 400
    reports = [*PROBLEMS.get(spec["problem"]["kind"]).reports]
    measurable = [name for name in reports if spec["optimum"] or cls.exact or name not in OPTIMUM_METRICS]
    metrics = [*measurable, *settings.get("metrics", ())] * 10 + [*reports, "accuracy"]
    for section in ("grid", "within"):
        names = [name for name in AXES if section == "grid" or "." not in name]
        names = [name for name in names if name not in spec.get("grid", {}) and _has(spec, name)]
        chosen = draw(st.lists(st.sampled_from(names), max_size=1 + (section == "grid"), unique=True))
        spec[section] = {name: draw(_axis_values(name, settings["clients"])) for name in chosen}
    if "parameters.lr" in spec["grid"]:
        spec.pop("tune")
    spec["parts"] = draw(st.sampled_from([1, 1, 1, 2]))
    spec["select"] = {"metric": draw(st.sampled_from(metrics)), "statistic": draw(st.sampled_from(["best", "final"])),
                      "goal": draw(st.sampled_from(["min", "max"]))}  # fmt: skip
    axes = {**spec["grid"], **spec["within"]}
    tuned = [*spec.get("tune", ()), *(name for item in entries.values() for name in item.get("tune", ()))]
    names = {
        "metric": metrics, "metric or cost": [*metrics, *COSTS],
        "metric or tuned numbers": [*metrics, *tuned], "axis": list(axes) or ["clients"],
        "axis of numbers": list(axes) or ["clients"],
        "cost": list(COSTS), "tuned": tuned or ["lr"], "axis or tuned": [*axes, *tuned, "lr"],
        "algorithm": list(entries), "algorithms": list(entries), "limit": list(LIMITS),
        "theorem": list(THEOREMS), "theorem or statement": list(THEOREMS), "record": ["step_size"],
    }  # fmt: skip
    spec["figures"] = {}
    for number in range(draw(st.integers(0, 2))):
        figure = draw(_with_where(axes, kind(FIGURES, _drawable(axes, tuned, spec), names)))
        if not of.get("centers"):
            figure.pop("limit", None)
        if figure["kind"] == "scaling" and draw(st.booleans()):
            figure["theorems"] = {draw(st.sampled_from(list(entries))): draw(st.sampled_from(list(FEDAC_THEOREMS)))}
        spec["figures"][f"figure{number}"] = {**figure, "caption": draw(st.sampled_from(TEXTS))}
    spec["claims"] = {}
    for number in range(draw(st.integers(1, 3))):
        check = draw(_with_where(axes, kind(CHECKS, _usable(axes, tuned, spec), names)))
        for bound in getattr(CHECKS.get(check["kind"]), "bounds", ())[:1]:
            check.setdefault(bound, draw(st.sampled_from(REAL)))
        if check["kind"] == "exponent":
            check = {name: check[name] for name in check if name in ("kind", "falls", "where", "at_least", "more")}
            check |= {"algorithms": list(entries), "axis": draw(st.sampled_from(list(axes)))}
            check |= draw(st.sampled_from([{}, {"quantity": "cost", "shares": [0.5]}, {"quantity": "mean_square"}]))
        if check["kind"] == "reaches":
            check["quantity"] = "spread" if tuned and draw(st.booleans()) else "score"
        spec["claims"][f"claim{number}"] = {"text": draw(st.sampled_from(TEXTS)), "source": "Nowhere", "check": check}
    return {**spec, "sizes": {"smoke": {}}}


def _usable(axes: dict[str, Any], tuned: list[str], spec: dict[str, Any]) -> list[str]:
    """Kinds of check that the experiment has axes, tuned hyper-parameters and theory for."""
    excluded = set() if spec["problem"].get("centers") else {"agrees"}
    excluded |= set() if _covered(spec) else {"below"}
    excluded |= set() if axes else {"exponent"}
    return [name for name in CHECKS.names() if name not in excluded and (axes or not _needs_axis(CHECKS.get(name)))]


def _drawable(axes: dict[str, Any], tuned: list[str], spec: dict[str, Any]) -> list[str]:
    """Kinds of figure that the experiment has axes and partitions for."""
    excluded = set() if spec["problem"].get("partition") else {"partition"}
    excluded |= set() if _covered(spec) else {"bound"}
    result = [name for name in FIGURES.names() if name not in excluded and (tuned or name != "sensitivity")]
    return [name for name in result if axes or not _needs_axis(FIGURES.get(name))]


def _needs_axis(cls: Any) -> bool:
    """Whether a kind needs an axis."""
    return any(item.required and (item.names or "").startswith("axis") for item in cls.options().values())


def _covered(spec: dict[str, Any]) -> bool:
    """Whether a theorem is about one of the algorithms."""
    used = {item["algorithm"] for item in spec["algorithms"].values()}
    return "data" not in spec["problem"] and any(used & set(bound.algorithms) for bound in FEDRED_BOUNDS.values())


@st.composite
def _with_where(draw: Any, axes: dict[str, list[Any]], strategy: Any) -> dict[str, Any]:
    """A figure or a check with values of axes to keep: of each axis that it does not spread over, mostly."""
    spec = draw(strategy)
    spread = [value for value in spec.values() if isinstance(value, str)]
    where = {}
    for axis, values in axes.items():
        if axis not in spread and (len(values) > 1 or draw(st.booleans())):
            where[axis] = draw(mostly(st.sampled_from(values), st.sampled_from(["max", "min", values, "nothing"]), 6))
    return spec | ({"where": where} if where else {})
