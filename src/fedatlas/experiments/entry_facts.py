"""Facts about an algorithm of an experiment that follow from its specification: whether it draws, and what it tunes."""

from collections.abc import Collection, Mapping
from typing import Any

from fedatlas.experiments.cells import CASE, Axes
from fedatlas.experiments.specification import Experiment
from fedatlas.federation import algorithms, problems
from fedatlas.federation.algorithms.base import Algorithm
from fedatlas.federation.channels import CHANNELS, directions
from fedatlas.federation.problems import instances
from fedatlas.registry.options import options

DRAWN = ("batch", "participation", "topology", "channel")  # keys of the setting that say what a run draws


def is_deterministic(experiment: Experiment, id: str) -> bool:
    """Return whether the runs of an entry are the same for all seeds."""
    entry = experiment.algorithms[id]
    setting = {**experiment.setting, **entry.setting}
    return draws_nothing(experiment.algorithm(id), entry.set, experiment.problem, setting, experiment.axes)


def draws_nothing(
    algorithm: str,
    values: Mapping[str, Any],
    problem: Mapping[str, Any],
    setting: Mapping[str, Any],
    axes: Collection[str],
) -> bool:
    """Return whether runs are the same for all seeds.

    They are with full gradients, full participation, one start and channels that draw nothing, if the algorithm tosses
    no coins. Where an axis decides one of these, they are not.

    Args:
        algorithm: Name of the algorithm.
        values: Its hyper-parameters that are set.
        problem: Specification of the problem.
        setting: Specification of the setting.
        axes: Axes along which problem, setting and hyper-parameters vary.
    """
    firsts = {axis.split(".")[0] for axis in axes}
    if CASE in firsts or firsts & set(DRAWN) or "problem.start_scale" in axes:
        return False
    full = setting.get("participation", {"kind": "full"}) in ("full", {"kind": "full"})
    gradients = "batch" in setting and setting["batch"] is None
    return (
        gradients
        and full
        and setting.get("topology") is None
        and not any(channel.random for channel in directions(setting.get("channel")))
        and _has_one_start(problem)
        and not _tosses_coins(algorithms.get(algorithm), values)
    )


def untuned_parameters(experiment: Experiment, id: str, tune: Axes) -> list[str]:
    """Return the hyper-parameters of an entry that are fixed at a number although trials would tune them.

    A formula of the problem's constants is not a fixed number: theory chooses it.

    Args:
        experiment: The experiment.
        id: The entry.
        tune: Its tuned hyper-parameters and their values.
    """
    values = experiment.algorithms[id].set
    parameters = algorithms.get(experiment.algorithm(id)).options()
    return [
        name
        for name, option in parameters.items()
        if name not in tune
        and isinstance(values.get(name), int | float)
        and not isinstance(values[name], bool)
        and bool(option.search if option.search is not None else option.required and option.advice)
    ]


def _has_one_start(problem: Mapping[str, Any]) -> bool:
    """Return whether all runs begin at one point of one instance."""
    if instances.varies_by_seed(problem):
        return False
    name, values = problems.PROBLEMS.split(problem)
    kind = problems.get(name)
    if (scale := options(kind).get("start_scale")) is None:
        return kind.fixed_start
    return bool(values.get("start_scale", scale.default) == 0)


def _tosses_coins(algorithm: type[Algorithm], values: Mapping[str, Any]) -> bool:
    """Return whether an algorithm draws the length of its rounds, a client, or what its compressor does."""
    if algorithm.overrides("length"):
        return True
    for name, option in algorithm.options().items():
        if option.family == "channel":
            default = option.default() if callable(option.default) else option.default
            if CHANNELS.build(values.get(name, default)).random:
                return True
    averaging = algorithm.options().get("averaging")
    if averaging is not None:  # one client is drawn only where the next x is that of one client
        return bool(values.get("averaging", averaging.default) == "random")
    return algorithm.overrides("single_client")
