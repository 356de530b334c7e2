"""Whether a run can begin."""

import dataclasses
from typing import Any

from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation


def begin(algorithm: Algorithm, setting: Setting, problem: Any, seed: int) -> None:
    """Build a run, and run a round where that says whether the clients' subproblems have a solution.

    Raises UserError if it cannot begin.
    """
    simulation = Simulation(algorithm, problem, dataclasses.replace(setting, state="memory"), seed)
    if simulation.algorithm.exact_prox:
        simulation.run_round()
