"""Bounds of the theorems on FedAc in the settings of an experiment, which figures draw beside its results."""

import dataclasses
import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.errors import lookup
from fedatlas.experiments.cells import Cell
from fedatlas.experiments.experiment_view import ExperimentView
from fedatlas.federation import problems
from fedatlas.federation.engine.setting import Setting
from fedatlas.registry.validation import construct
from fedatlas.results.comparing.reconstruction import parts_at
from fedatlas.results.figures.base import Figure
from fedatlas.theory.fedac import FEDAC_THEOREMS
from fedatlas.theory.fedac.constants import fedac_constants
from fedatlas.theory.fedac.theorem import FedAcConstants
from fedatlas.theory.theorem import unmet
from fedatlas.workflow.inputs import ResultTables

if TYPE_CHECKING:
    import pandas as pd


def specify(figure: Figure, cells: Sequence[Cell]) -> None:
    """Return nothing, because the view holds the settings."""


def build(
    figure: Any, view: ExperimentView, spec: None, results: ResultTables, directory: str | Path | None
) -> dict[str, Any]:
    """Return the table with the column ``bound``."""
    return {"table": add_bounds(view, figure.theorems, results.table, directory)}


def add_bounds(
    view: ExperimentView, theorems: Mapping[str, str], table: "pd.DataFrame", directory: str | Path | None = None
) -> "pd.DataFrame":
    """The table with a column ``bound``: what theorems on FedAc promise of F - F* in the setting of each row.

    theorems: name by id of the algorithm. directory: of the prepared data. The bound is not a number where no theorem
    is given or it does not apply. A theorem has its own step size and output, whatever those of the runs are. Raises
    UserError on an unknown theorem or a problem whose constants are not known.
    """
    promises = []
    for row in table.to_dict("records"):
        name = theorems.get(row["algorithm"])
        parts = json.dumps(parts_at(view, row, view.setting, {}))
        promises.append(np.nan if name is None else _promised(name, parts, directory))
    return table.assign(bound=promises)


@functools.lru_cache(maxsize=4096)
def _promised(name: str, parts: str, directory: str | Path | None) -> float:
    spec = json.loads(parts)
    setting = construct("setting", Setting, spec["setting"])
    c = _constants(json.dumps(spec["problem"]), directory)
    c = dataclasses.replace(c, M=setting.clients, K=setting.local_steps or 1)
    theorem, rounds = lookup("theorem", name, FEDAC_THEOREMS), setting.total_rounds
    return np.nan if unmet(theorem.requirements(c, rounds)) else theorem.bound(c, None, rounds)


@functools.lru_cache(maxsize=16)
def _constants(problem: str, directory: str | Path | None) -> FedAcConstants:
    return fedac_constants(problems.create(json.loads(problem), 1, directory))
