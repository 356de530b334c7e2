"""Bounds of the theorems on FedAc in the settings of an experiment, which figures draw beside its results."""

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fedatlas.errors import UserError, lookup
from fedatlas.experiments.cells import Run
from fedatlas.experiments.experiment_view import ExperimentView
from fedatlas.experiments.runs import create_setting
from fedatlas.federation import problems
from fedatlas.federation.engine.setting import Setting
from fedatlas.registry.validation import construct
from fedatlas.theory.comparison import parts_at
from fedatlas.theory.fedac import FEDAC_THEOREMS
from fedatlas.theory.fedac.constants import fedac_constants
from fedatlas.theory.fedac.theorem import FedAcConstants

if TYPE_CHECKING:
    import pandas as pd


def validate_run(run: Run) -> None:
    """Raise UserError if the theorems on FedAc are not about a run."""
    problem = run.problem
    if problem["kind"] != "logistic" or problem.get("partition") or not problem.get("l2"):
        raise UserError("the theorems of FedAc are about logistic regression with l2 whose clients share all data")
    if create_setting(run).local_steps is None:
        raise UserError("the theorems of FedAc are about rounds of local_steps, not local_epochs")


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
    K = setting.local_steps or 1
    where = (setting.clients, K, setting.total_rounds * K)
    constants = _constants(json.dumps(spec["problem"]), directory)
    theorem = lookup("theorem", name, FEDAC_THEOREMS)
    return theorem.bound(constants, *where) if theorem.applies(constants, *where) else np.nan


@functools.lru_cache(maxsize=16)
def _constants(problem: str, directory: str | Path | None) -> FedAcConstants:
    return fedac_constants(problems.create(json.loads(problem), 1, directory))
