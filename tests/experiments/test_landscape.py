"""The experiment landscape: equal budgets, and what a new algorithm or a new problem adds."""

import functools
import itertools
from pathlib import Path

import numpy as np

from fedatlas.experiments import expansion, experiment_file
from fedatlas.federation import algorithms
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from tests.helpers import example, logistic, quadratic

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "config/experiments"
LANDSCAPE = FOLDER / "landscape.yaml"


@functools.cache
def landscape(size="laptop"):
    return experiment_file.load(LANDSCAPE, size)


@functools.cache
def expanded(size="laptop"):
    return expansion.expand(landscape(size))


def group(cell, size="laptop"):
    return landscape(size).cases[cell.spec.case].group


def extended(folder, text):
    """The cells of a study's experiment that is laid over the small landscape."""
    path = folder / "mine.yaml"
    path.write_text(f"extends: landscape\n{text}\n")
    return expansion.expand(experiment_file.load(path, "smoke", folders=[FOLDER]))


def files(result):
    return {(cell.id, cell.key): cell.spec for cell in result.cells}


def test_no_two_rows_are_one_method():
    """With equal step sizes, and the defaults of all that has one, on noisy heterogeneous data."""
    options = {"clients": 5, "local_steps": 3, "rounds": 3, "full_gradients": "minibatch"}
    ends = {}
    for id in {cell.id: None for cell in expanded().cells if group(cell) == "full-participation"}:
        entry = landscape().algorithms[id]
        exact = "prox" in algorithms.get(id).requires
        problem, batch = (quadratic(), {"batch": None}) if exact else (logistic(), {"batch": 2})
        algorithm = example(id, **{**entry.set, "mu": 0.1})
        ends[id] = Simulation(algorithm, problem, Setting(**options, **batch), seed=1).run().x
    pairs = [(a, b) for a, b in itertools.combinations(ends, 2) if ends[a].shape == ends[b].shape]
    assert len(pairs) > 300
    assert [pair for pair in pairs if np.allclose(ends[pair[0]], ends[pair[1]], rtol=1e-9)] == []


def test_one_more_entry_adds_its_own_cells_alone(tmp_path):
    before, after = files(expanded("smoke")), files(extended(tmp_path, "algorithms: {mine: {algorithm: fedavg}}"))
    assert {id for id, _ in after.keys() - before.keys()} == {"mine"}
    assert len(after) - len(before) == len(landscape("smoke").cases)
    assert {file: after[file] for file in before} == before
