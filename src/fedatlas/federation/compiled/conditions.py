"""The conditions under which runs are compiled, for specifications and for simulations.

`lockstep_specification` is asked twice: of specifications, to say which compiled modules a result depends on
(`fedatlas.federation.compiled.modules`), and of simulations, before they run. So a simulation runs compiled only if its
specification says that it may.
"""

from collections.abc import Mapping, Sequence
from typing import Any


def lockstep_specification(algorithm: Any, setting: Mapping[str, Any]) -> bool:
    """Return whether runs on logistic data that all clients share may advance in lockstep.

    In each of their rounds every client takes part and draws one sample for each local step, with one step size; all
    numbers are sent as they are.

    Args:
        algorithm: Algorithm or its class.
        setting: Specification of the setting, or its options with defaults.
    """
    return (
        algorithm.overrides("recurrence")
        and setting.get("batch", 1) == 1
        and setting.get("local_epochs") is None
        and kind(setting.get("sampling", "replacement")) == "replacement"
        and kind(setting.get("participation", "full")) in ("full", None)
        and kind(setting.get("schedule", "constant")) in ("constant", None)
        and not coded(setting.get("channel"))
        and kind(setting.get("driver", "synchronous")) in ("synchronous", None)
    )


def lockstep_simulations(simulations: Sequence[Any]) -> bool:
    """Return whether simulations of one problem, setting and seed advance in lockstep.

    Besides what their specification says, nothing is clipped, no losses are recorded, and the recurrences of the
    algorithms have the same vectors.

    Args:
        simulations: Simulations on logistic data.
    """
    setting, problem = simulations[0].setting, simulations[0].problem
    if problem.one_sample_rows is None or setting.clip is not None or setting.records_losses:
        return False
    if not all(lockstep_specification(simulation.algorithm, vars(setting)) for simulation in simulations):
        return False
    recurrences = [simulation.algorithm.recurrence(setting.local_steps) for simulation in simulations]
    pooled = {simulation.algorithm.pooled for simulation in simulations}
    return None not in recurrences and len({recurrence.fields for recurrence in recurrences}) == len(pooled) == 1


def coded(channel: Any) -> bool:
    """Return whether a specification of channels names another than the identity, up or down."""
    parts = channel.values() if isinstance(channel, Mapping) and "kind" not in channel else [channel]
    return any(kind(part) not in ("identity", None) for part in parts)


def kind(spec: Any) -> Any:
    """Return the kind that a specification names, a name or a mapping with ``kind``; None if it names none."""
    return spec.get("kind") if isinstance(spec, Mapping) else spec
