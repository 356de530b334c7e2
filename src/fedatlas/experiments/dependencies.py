"""Dependencies of results: one spelling of a specification, full names of modules, and paths of files.

Specifications are compared in one spelling: neither the order of keys nor a default that is written out makes another
one. A result depends on the modules that its specification names and on what they import, as
`fedatlas.experiments.fingerprint` follows it. Their fingerprints are a parameter of the result's rule, which Snakemake
compares. Partitions and optima are files that several experiments share; their origins say what they are made from.
"""

import copy
import functools
import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fedatlas.experiments.cells import SEARCHED, Cell, CellSpec, Spec, slug
from fedatlas.experiments.fingerprint import closure
from fedatlas.experiments.runs import SETTING, assign, product
from fedatlas.experiments.tuning import TUNING_RULES
from fedatlas.federation import channels
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.architectures import ARCHITECTURES
from fedatlas.federation.channels import CHANNELS
from fedatlas.federation.channels import modules as channel_modules
from fedatlas.federation.compiled import COMPILED, COMPILED_MODULES, compiled_modules
from fedatlas.federation.costs import COST_MODELS
from fedatlas.federation.engine.drivers import DRIVERS
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.metrics import METRICS, declared_name, round_metric
from fedatlas.federation.participation import PARTICIPATION
from fedatlas.federation.partitions import PARTITIONS, is_split
from fedatlas.federation.problems import PROBLEMS, DataKind, parse
from fedatlas.federation.problems.rows import DataOptions
from fedatlas.federation.sampling import SAMPLING
from fedatlas.federation.schedules import SCHEDULES
from fedatlas.federation.topologies import TOPOLOGIES
from fedatlas.registry.extensions import location, study
from fedatlas.registry.kinds import Family, without_defaults
from fedatlas.registry.options import options

ENGINE = "fedatlas.experiments.run"
# Keys of a setting that name a kind: their families, and what they name by default.
KINDS: dict[str, tuple[Family[Any], str]] = {
    "participation": (PARTICIPATION, "full"),
    "schedule": (SCHEDULES, "constant"),
    "driver": (DRIVERS, "synchronous"),
}
# Keys of a setting that decide on modules.
CHOICES = (*KINDS, "sampling", "local_epochs", "batch", "metrics", "channel")
NAMED: dict[str, Family[Any]] = {"topology": TOPOLOGIES, "channel": CHANNELS}  # families of algorithms' options


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


def cell_modules(spec: CellSpec) -> list[str]:
    """Return the modules behind the numbers of a cell's runs."""
    of_problem = problem_modules(spec.problem)
    modules = {ENGINE, ALGORITHMS.module(spec.algorithm), *of_problem}
    may_compile = COMPILED in closure(*of_problem)  # a run of another problem never enters that module
    algorithm = ALGORITHMS.get(spec.algorithm)
    for name, option in algorithm.options().items():
        if family := NAMED.get(option.family or ""):
            default = option.default() if callable(option.default) else option.default
            values = [*spec.within.get(f"parameters.{name}", ()), *spec.tune.get(name, ())]
            modules.update(family.module(value) for value in (spec.parameters.get(name, default), *values))
    for setting in _settings(spec):
        modules |= _setting_modules(study(), json.dumps(setting))
        if may_compile:
            modules.update(compiled_modules(algorithm, spec.problem, setting))
    return sorted(modules)


# Cells share most settings. The study is a part of the keys, because its extensions say what a name means.
@functools.lru_cache(10_000)
def _setting_modules(_study: Path | None, setting_json: str) -> frozenset[str]:
    """Return the modules that a setting names."""
    setting = json.loads(setting_json)
    modules = {family.module(setting.get(key), default) for key, (family, default) in KINDS.items()}
    if (driver := DRIVERS.build(setting.get("driver"), "synchronous")).clocked:
        modules.add(COST_MODELS.module(driver.model))
    passes = setting.get("local_epochs") is not None
    modules.add(SAMPLING.module("reshuffling" if passes else setting.get("sampling"), "replacement"))
    for name in setting.get("metrics") or ():
        if (declared := declared_name(name)) or round_metric(name) is None:  # it may be over a recorded value
            modules.add(METRICS.module(declared or name))
    return frozenset(modules | channel_modules(setting.get("channel")))


def _settings(spec: CellSpec) -> list[dict[str, Any]]:
    """Return the parts of a cell's settings that name kinds, each combination once."""
    axes = {**spec.within, **{axis: values for axis, values in spec.tune.items() if axis.split(".")[0] in SETTING}}
    chosen = {axis: values for axis, values in axes.items() if axis.split(".")[0] in CHOICES}
    return _combinations(json.dumps([{key: value for key, value in spec.setting.items() if key in CHOICES}, chosen]))


@functools.lru_cache(10_000)
def _combinations(choices: str) -> list[dict[str, Any]]:
    """Return each combination of the values of axes once, set in the setting. choices: Both, as JSON."""
    setting, axes = json.loads(choices)
    settings: dict[str, dict[str, Any]] = {}
    for point in product(axes):
        parts = {"setting": copy.deepcopy(setting)}
        assign(parts, point)
        settings.setdefault(json.dumps(parts["setting"], sort_keys=True), parts["setting"])
    return list(settings.values())


def participation_modules(spec: CellSpec) -> list[str]:
    """Return the modules behind the participation in a cell's runs."""
    return sorted({PARTICIPATION.module(setting.get("participation"), "full") for setting in _settings(spec)})


def cost_model_modules(spec: CellSpec) -> list[str]:
    """Return the modules of the cost models that the drivers of a cell's runs name."""
    drivers = [DRIVERS.build(setting.get("driver"), "synchronous") for setting in _settings(spec)]
    return sorted({COST_MODELS.module(driver.model) for driver in drivers})


def run_file_modules(spec: CellSpec) -> list[str]:
    """Return the modules behind a run file: those behind its numbers, and those that choose what is run."""
    if spec.select is None:
        return cell_modules(spec)
    rule = TUNING_RULES.module(spec.tuning_rule)
    return sorted({*cell_modules(spec), rule, *_of_known([spec.select.tuning_metric])})


def data_names(spec: CellSpec) -> list[str]:
    """Return the names of the data sets that the runs of a cell read."""
    return [spec.problem[key] for key in ("data", "test") if spec.problem.get(key)]


def problem_modules(problem: Spec) -> list[str]:
    """Return the modules behind a problem's gradients."""
    kind, values = PROBLEMS.split(problem)
    kind_class = PROBLEMS.get(kind)
    modules = {kind_class.__module__} | ({kind_class.oracle} if kind_class.oracle else set())
    if location(kind_class.__module__) and COMPILED in closure(*modules):
        modules.update(COMPILED_MODULES)  # which of them run is known of the package's own problems alone
    for name, option in kind_class.options().items():
        if option.family == "architecture":
            modules.add(ARCHITECTURES.module(values.get(name, option.default)))
    return sorted(modules)


def metric_modules(cells: Iterable[Cell]) -> list[str]:
    """Return the modules that say how the metrics of cells are read and drawn."""
    return _of_known({name for cell in cells for name in metric_names(cell.spec)})


def _of_known(metrics: Iterable[str]) -> list[str]:
    """Return the modules of those metrics that are declared. A recorded value is not."""
    return sorted({METRICS.module(base) for name in metrics if (base := declared_name(name))})


def metric_names(spec: CellSpec) -> set[str]:
    """Return the names of the metrics that the runs of a cell may report."""
    kind, _ = PROBLEMS.split(spec.problem)
    requested = {name for setting in _settings(spec) for name in setting.get("metrics") or ()}
    return {*PROBLEMS.get(kind).reports, *ALGORITHMS.get(spec.algorithm).reports, *requested}


def trace_files(spec: CellSpec) -> list[str]:
    """Return the paths of the files that the participation of a cell's runs reads."""
    rules = [PARTICIPATION.build(setting.get("participation"), "full") for setting in _settings(spec)]
    return sorted({file for rule in rules for file in rule.files()})


def partition_file(spec: CellSpec) -> tuple[str, dict[str, Any]]:
    """Return the path of the partition of a cell's data, and its origin: ``data``, ``partition`` and ``clients``."""
    partition, clients = PARTITIONS.canonical(spec.problem["partition"]), spec.setting["clients"]
    key = f"{spec.problem['data']}-{slug(partition)}-clients={clients}".replace("kind=", "")
    origin = {"data": spec.problem["data"], "partition": partition, "clients": clients}
    return f"results/partitions/{key}.npz", origin


def partition_path(spec: CellSpec) -> str | None:
    """Return the path of the partition of a cell's data; None where they are not split."""
    return partition_file(spec)[0] if is_split(spec.problem.get("partition")) else None


def optimum_file(spec: CellSpec) -> tuple[str, dict[str, Any]]:
    """Return the path of the optimum of a cell's problem, and its origin.

    The origin is ``problem`` and ``clients``, and ``partition``, a file, if F depends on the rows of each client. Where
    it does not, problems that differ in their partition or number of clients share the optimum.
    """
    problem = {key: value for key, value in canonical_problem(spec.problem).items() if key != "test"}
    clients, partition = spec.setting.get("clients", 1), {}
    if "data" in problem:
        if _is_pooled(problem, clients):
            dropped = ("partition", "weights") if is_split(problem.get("partition")) else ("partition",)
            problem, clients = {key: value for key, value in problem.items() if key not in dropped}, 1
        else:
            partition = {"partition": partition_file(spec)[0]}
    digest = hashlib.sha256(json.dumps({**problem, "clients": clients}, sort_keys=True).encode()).hexdigest()[:10]
    key = f"{problem['kind']}-{problem.get('data', 'synthetic')}-{digest}"
    return f"results/optima/{key}.npz", {"problem": problem, "clients": clients, **partition}


def _is_pooled(problem: dict[str, Any], clients: int) -> bool:
    """Return whether F of a problem on data is the mean over all rows, whichever client has them."""
    from fedatlas.data import sources

    if not is_split(problem.get("partition")):
        return True
    if problem.get("validation") or problem.get("test_share"):  # the rows held out are a share of each client's
        return False
    kind, _ = parse(problem)
    split = PARTITIONS.build(problem["partition"])
    return isinstance(kind, DataKind) and kind.is_pooled(split, sources.info(problem["data"]).rows, clients)
