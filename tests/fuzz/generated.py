"""Generated experiments: tiny ones of every kind, with values that are right, at a bound, or wrong.

All that is drawn comes from the declarations of options and from the families of kinds, so a new algorithm, figure or
check is drawn because its file is there.
"""

import json
from collections.abc import Sequence
from typing import Any, Literal, get_args, get_origin

from hypothesis import strategies as st

from fedatlas.algorithms import ALGORITHMS
from fedatlas.checks import CHECKS
from fedatlas.figures import FIGURES
from fedatlas.labels import COSTS
from fedatlas.metrics import METRICS
from fedatlas.options import Option
from fedatlas.participation import PARTICIPATION
from fedatlas.partitions import PARTITIONS
from fedatlas.problems import PROBLEMS
from fedatlas.problems.base import OF_THE_OPTIMUM, DataKind
from fedatlas.schedules import SCHEDULES
from fedatlas.theory.closed_forms import LIMITS
from fedatlas.theory.fedac import THEOREMS
from fedatlas.theory.fedred import BOUNDS

MIXED_AXES = False  # whether the values of an axis differ in type
DATA = {"logistic": ["breast_cancer"], "softmax": ["breast_cancer", "breast_cancer", "digits"]}
PROBLEM_KINDS = [name for name in PROBLEMS.names() if name != "network"]  # torch takes seconds to load
# Numbers that tests can afford; the declared range chooses among them.
WHOLE = (1, 2, 3, 5, 0, 7)
REAL = (0.1, 0.5, 1.0, 0.01, 0.9, 2.0, 20.0, 0.0, 1, 3, -1.0, 1e-3)
EXTREME = (1e-320, 1e-12, 1e12, 1e200, 1.7e308, -1e300, 1e-160)
FORMULAS = ("1/L", "0.1/L", "mu", "1/(L + mu)", "2*delta_A", "1/delta_B", "1/mu", "1/0", "-1/L", "1/n", "nothing", "1/")
WRONG = (None, "none", "1", -1, 0, 1.5, True, [], {}, [1], {"kind": "nope"}, 2**63, float("inf"), "..", "$x_$", "😀")
AXES = ("local_steps", "clients", "batch", "participation", "schedule", "parameters.lr", "problem.l2", "problem.mu")
TEXTS = ("words", "$\\alpha$ and $x_i$", "$\\nope$", "a $ b", "50 % of $", "x_i^2", "a\nb", "😀", "<b>&", "=1+1", "$")


def _mostly(right: Any, other: Any, one_in: int = 150) -> Any:
    """A strategy: nearly always the first."""
    return st.integers(1, one_in).flatmap(lambda number: other if number == one_in // 2 else right)


def _fitting(one: Option, values: Sequence[Any]) -> list[Any]:
    return [value for value in values if one.fits(value)]


def value(one: Option, names: Sequence[str] = ()) -> Any:
    """A value of an option: nearly always right. names: that it may hold, where it names something."""
    found: list[Any] = [st.sampled_from(words) for words in [list(one.words)] if words]
    for member in one.members:
        if member is int and (few := _fitting(one, WHOLE)):
            found.append(st.sampled_from(few))
        elif member is float and (few := _fitting(one, REAL)):
            found.append(_mostly(st.sampled_from(few), st.sampled_from(_fitting(one, EXTREME) or few), 12))
        elif member is bool:
            found.append(st.booleans())
        elif member is str:
            found.append(st.sampled_from(names or TEXTS))
        elif member is type(None):
            found.append(st.none())
        elif get_origin(member) in (list, tuple):
            found.append(_list(one, get_args(member)[0], names))
    return _mostly(st.one_of(found) if found else st.just({}), st.sampled_from(WRONG))


def _list(one: Option, inside: Any, names: Sequence[str]) -> Any:
    if get_origin(inside) in (list, tuple):
        entries: Any = st.lists(st.sampled_from(REAL), min_size=2, max_size=2)
    elif get_origin(inside) is Literal:
        entries = st.sampled_from(get_args(inside))
    else:
        entries = st.sampled_from(names) if names else st.sampled_from(_fitting(one, [[x] for x in REAL]) or [[1]])
        entries = entries if names else entries.map(lambda few: few[0])
    return st.lists(entries, min_size=1, max_size=3)


@st.composite
def options(draw: Any, known: dict[str, Option], names: dict[str, Sequence[str]], share: int = 3) -> dict[str, Any]:
    """Values of the required options, and of one in ``share`` of the others. names: by what an option may name."""
    found = {}
    for name, one in known.items():
        if one.family or not (one.required or not draw(st.integers(0, share - 1))):
            continue
        if one.names == "where" or (one.names and one.type not in (str, str | None) and dict in one.members):
            continue
        found[name] = draw(value(one, names.get(one.names or "", ())))
    return found


@st.composite
def kind(draw: Any, family: Any, names: Sequence[str] = (), known: Any = None) -> dict[str, Any]:
    """A specification of a kind of a family."""
    name = draw(st.sampled_from(names or family.names()))
    return {"kind": name, **draw(options(dict(family.get(name).options()), known or {}))}


@st.composite
def problem(draw: Any) -> dict[str, Any]:
    """A tiny problem."""
    spec = draw(kind(PROBLEMS, PROBLEM_KINDS))
    if issubclass(PROBLEMS.get(spec["kind"]), DataKind):
        spec["data"] = draw(st.sampled_from(DATA[spec["kind"]]))
        if draw(st.booleans()):
            spec["partition"] = draw(kind(PARTITIONS))
    if "dim" in PROBLEMS.get(spec["kind"]).options() and "centers" not in spec:
        spec["dim"] = draw(st.integers(1, 4))
    if spec["kind"] == "piecewise":
        spec |= {"kappa": 8.0, "steps": draw(st.integers(1, 4))}
    if spec["kind"] == "quadratic" and "centers" not in spec:
        spec.pop("curvatures", None)
        spec["L"] = draw(st.sampled_from([10.0, 100, 2.5]))
    if spec["kind"] == "similar":
        spec = {"kind": "similar", "dim": spec["dim"] + 2, "components": 2 * draw(st.integers(1, 3)), **{
            name: spec[name] for name in draw(st.lists(st.sampled_from(list(spec)), max_size=3))}}  # fmt: skip
    return spec


@st.composite
def participation(draw: Any, clients: int) -> dict[str, Any]:
    """A rule of participation that mostly fits the number of clients."""
    spec = draw(kind(PARTICIPATION, [name for name in PARTICIPATION.names() if name != "trace"]))
    if "count" in spec and isinstance(spec["count"], int):
        spec["count"] = draw(_mostly(st.integers(1, clients), st.just(spec["count"])))
    if isinstance(spec.get("p"), list):
        spec["p"] = draw(_mostly(st.lists(st.sampled_from([0.1, 0.5, 1.0]), min_size=clients, max_size=clients),
                                 st.just(spec["p"])))  # fmt: skip
    return spec


@st.composite
def setting(draw: Any) -> dict[str, Any]:
    """A few clients for a few rounds."""
    spec: dict[str, Any] = {"clients": draw(st.sampled_from([3, 4, 2, 1])), "rounds": draw(st.integers(1, 4))}
    spec[draw(st.sampled_from(["local_steps", "local_steps", "local_epochs"]))] = draw(st.integers(1, 3))
    if draw(st.booleans()):
        spec["batch"] = draw(_mostly(st.sampled_from([None, 1, 2, 200]), st.sampled_from(WRONG)))
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
    """An algorithm with values for its hyper-parameters. formulas: whether some are formulas."""
    known = {key: one for key, one in ALGORITHMS.get(name).options().items() if key != "lr"}
    made: dict[str, Any] = {"algorithm": name, "set": draw(options(known, {}))}
    for key, one in known.items():
        if formulas and one.numeric and key in made["set"] and draw(st.integers(0, 9)) == 0:
            made["set"][key] = draw(st.sampled_from(FORMULAS))
        elif one.numeric and draw(st.integers(0, 5)) == 0:
            made["set"].pop(key, None)
            made["tune"] = {key: draw(_axis(value(one)))}
    if draw(st.integers(0, 3)) == 0:
        made["label"] = draw(st.sampled_from(TEXTS))
    if "lr" not in ALGORITHMS.get(name).options():
        made.setdefault("tune", {})["lr"] = None
    return made


def _axis(values: Any) -> Any:
    """Values of an axis, of one type unless MIXED_AXES."""

    def alike(found: list[Any]) -> list[Any]:
        found = [one for one in found if MIXED_AXES or one is not None] or [1]
        sorts = [_sort(one) for one in found]
        return [one for one, sort in zip(found, sorts, strict=True) if MIXED_AXES or sort == sorts[0]]

    return st.lists(values, min_size=1, max_size=3, unique_by=json.dumps).map(alike)


def _sort(value: Any) -> str:
    return "number" if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value).__name__


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
        return all(rest in ALGORITHMS.get(one["algorithm"]).options() for one in spec["algorithms"].values())
    return not (axis == "clients" and spec["problem"].get("partition"))


def _records(spec: dict[str, Any]) -> bool:
    return any(ALGORITHMS.get(one["algorithm"]).records for one in spec["algorithms"].values())


@st.composite
def experiment(draw: Any) -> dict[str, Any]:
    """The content of an experiment file."""
    held = draw(setting())
    ids = draw(st.lists(st.sampled_from(ALGORITHMS.names()), min_size=1, max_size=3, unique=True))
    of = draw(problem())
    formulas = "data" not in of  # whose constants are not known before the runs
    entries = {(id if draw(st.booleans()) else f"{id}-mine"): draw(entry(id, formulas)) for id in ids}
    spec: dict[str, Any] = {
        "title": "Generated", "paper": "yuan2020", "source": "Nowhere", "problem": of, "setting": held,
        "tune": {"lr": draw(_axis(_mostly(st.sampled_from([0.01, 0.1, 1.0]), st.sampled_from(REAL + EXTREME))))},
        "seeds": draw(st.lists(st.integers(0, 3), min_size=1, max_size=3, unique=True)), "algorithms": entries,
    }  # fmt: skip
    spec["optimum"] = draw(st.booleans())
    if not _records(spec):
        held.pop("record", None)
    declared = PROBLEMS.get(spec["problem"]["kind"])
    if declared.on_data and not spec["problem"].get("l2"):
        spec["optimum"] = draw(_mostly(st.just(False), st.just(True), 10))
    if of.get("data") == "digits":
        spec["optimum"] = False  # it takes seconds
    if "data" in of and "local_epochs" in held:
        held["batch"] = 400
    reports = [*PROBLEMS.get(spec["problem"]["kind"]).reports]
    known = [name for name in reports if spec["optimum"] or declared.exact or name not in OF_THE_OPTIMUM]
    metrics = [*known, *held.get("metrics", ())] * 10 + [*reports, "accuracy"]
    for section in ("grid", "within"):
        names = [name for name in AXES if section == "grid" or "." not in name]
        names = [name for name in names if name not in spec.get("grid", {}) and _has(spec, name)]
        chosen = draw(st.lists(st.sampled_from(names), max_size=1 + (section == "grid"), unique=True))
        spec[section] = {name: draw(_axis_values(name, held["clients"])) for name in chosen}
    if "parameters.lr" in spec["grid"]:
        spec.pop("tune")
    spec["parts"] = draw(st.sampled_from([1, 1, 1, 2]))
    spec["select"] = {"metric": draw(st.sampled_from(metrics)), "statistic": draw(st.sampled_from(["best", "final"])),
                      "goal": draw(st.sampled_from(["min", "max"]))}  # fmt: skip
    axes = {**spec["grid"], **spec["within"]}
    tuned = [*spec.get("tune", ()), *(name for one in entries.values() for name in one.get("tune", ()))]
    names = {
        "metric": metrics, "metric or tuned": [*metrics, *tuned], "axis": list(axes) or ["clients"],
        "cost": list(COSTS), "tuned": tuned or ["lr"], "axis or tuned": [*axes, *tuned, "lr"],
        "algorithm": list(entries), "algorithms": list(entries), "limit": list(LIMITS),
        "theorem": [str(name) for name in BOUNDS], "record": ["step_size"],
    }  # fmt: skip
    spec["figures"] = {}
    for number in range(draw(st.integers(0, 2))):
        figure = draw(_about(axes, kind(FIGURES, _drawable(axes, tuned, spec), names)))
        if "theorems" in FIGURES.get(figure["kind"]).options() and draw(st.booleans()):
            figure["theorems"] = {draw(st.sampled_from(list(entries))): draw(st.sampled_from(list(THEOREMS)))}
        spec["figures"][f"figure{number}"] = {**figure, "caption": draw(st.sampled_from(TEXTS))}
    spec["claims"] = {}
    for number in range(draw(st.integers(0, 3))):
        usable = [name for name in CHECKS.names() if axes or "axis" not in CHECKS.get(name).options()]
        check = draw(_about(axes, kind(CHECKS, usable, names)))
        for bound in getattr(CHECKS.get(check["kind"]), "bounds", ())[:1]:
            check.setdefault(bound, draw(st.sampled_from(REAL)))
        if check["kind"] == "spread" and tuned and draw(st.booleans()):
            check["among"] = {draw(st.sampled_from(tuned)): draw(st.sampled_from([*REAL, [0.01, 0.1]]))}
        spec["claims"][f"claim{number}"] = {"text": draw(st.sampled_from(TEXTS)), "source": "Nowhere", "check": check}
    return {**spec, "sizes": {"smoke": {}}}


def _drawable(axes: dict[str, Any], tuned: list[str], spec: dict[str, Any]) -> list[str]:
    """Kinds of figure that the experiment has axes and partitions for."""
    lacking = {"partition"} if not spec["problem"].get("partition") else set()
    lacking |= {"local"} if not spec["setting"].get("record") else set()
    lacking |= {"bound"} if spec["problem"]["kind"] != "quadratic" else set()
    if len(axes) < 2:
        lacking |= {"heatmap"} | ({"scaling", "table"} if not axes else set())
    return [name for name in FIGURES.names() if name not in lacking and (tuned or name != "sensitivity")]


@st.composite
def _about(draw: Any, axes: dict[str, list[Any]], made: Any) -> dict[str, Any]:
    """A figure or a check with values of axes to keep: of each axis that it does not spread over, mostly."""
    spec = draw(made)
    spread = [value for value in spec.values() if isinstance(value, str)]
    where = {}
    for axis, values in axes.items():
        if axis not in spread and (len(values) > 1 or draw(st.booleans())):
            where[axis] = draw(_mostly(st.sampled_from(values), st.sampled_from(["max", "min", values, "nothing"]), 6))
    return spec | ({"where": where} if where else {})
