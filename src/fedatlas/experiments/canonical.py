"""One spelling of a specification: neither the order of keys nor a default that is written out makes another one."""

from collections.abc import Mapping
from typing import Any

from fedatlas.experiments.cells import SEARCHED, CellSpec, Spec
from fedatlas.experiments.tuning import TUNING_RULES
from fedatlas.federation import channels
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.problems import PROBLEMS
from fedatlas.federation.problems.data_options import DataOptions
from fedatlas.registry.kinds import without_defaults
from fedatlas.registry.options import options


def canonical(spec: CellSpec) -> Spec:
    """Return the specification of a cell as JSON types, alike for all specifications of the same runs.

    Digests and comparisons are of this form. Jobs read the specification as it is, which has the values of all axes.
    """
    content = spec.to_dict() | {
        "parameters": canonical_parameters(spec.algorithm, spec.parameters),
        "problem": canonical_problem(spec.problem),
        "setting": canonical_setting(spec.setting),
    }
    if spec.tuning is not None:
        content["tuning"] = TUNING_RULES.canonical(spec.tuning)
    return content


def conditions(spec: CellSpec) -> Spec:
    """Return the canonical specification without the keys that say which runs there are: axes, seeds and tuning."""
    return {key: value for key, value in canonical(spec).items() if key not in SEARCHED}


def canonical_problem(problem: Mapping[str, Any]) -> Spec:
    """Return the specification of a problem without defaults, in the order of the options' declaration."""
    of_data = options(DataOptions)
    kind = PROBLEMS.canonical({name: value for name, value in problem.items() if name not in of_data})
    return kind | without_defaults(of_data, {name: problem[name] for name in of_data if name in problem})


def canonical_setting(setting: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a setting without defaults, in the order of their declaration."""
    values = without_defaults(options(Setting), setting)
    if values.get("local_steps") == 1:  # what a setting without local_epochs has
        del values["local_steps"]
    channel = channels.canonical(values.pop("channel", None))
    return values | ({"channel": channel} if channel else {})


def canonical_parameters(algorithm: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return hyper-parameters without defaults, in the order of their declaration."""
    return without_defaults(ALGORITHMS.get(algorithm).options(), parameters)
