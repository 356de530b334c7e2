"""The experiment landscape: equal budgets, and what a new algorithm or a new problem adds."""

import dataclasses
import functools
import hashlib
import itertools
import json
import re
from pathlib import Path

import numpy as np

from fedatlas.experiments import expansion, experiment_file
from fedatlas.experiments.runs import create_run, create_setting, runs
from fedatlas.federation import algorithms
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.problems import instances
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


def test_it_is_as_large_as_the_pages_say():
    result = landscape()
    problems = [name for name, case in result.cases.items() if case.retunes is None]
    for page in ("README.md", "docs/landscape.md"):
        text = " ".join((ROOT / page).read_text().split())
        assert f"{len(result.algorithms)} algorithms" in text and f"on {len(problems)} problems" in text, page
    text = " ".join((ROOT / "docs/landscape.md").read_text().split())
    assert f"{len(expanded().cells)} run files" in text


def test_all_are_evaluated_after_every_round_and_pay_the_noise():
    assert len(landscape().seeds) == 15
    for cell in expanded().cells:
        setting = create_setting(next(runs(cell.spec)))
        assert setting.eval_rounds == 1 and setting.rounds >= 20, cell.key
        assert setting.full_gradients == "minibatch"
        assert setting.full_participation == (group(cell) != "partial-participation")


def test_no_two_rows_are_one_method():
    """With equal step sizes, and the defaults of all that has one, on noisy heterogeneous data."""
    options = {"clients": 5, "local_steps": 3, "rounds": 3, "full_gradients": "minibatch"}
    ends = {}
    for id in {cell.id: None for cell in expanded().cells if group(cell) == "full-participation"}:
        entry = landscape().algorithms[id]
        exact = algorithms.get(id).exact_prox
        problem, batch = (quadratic(), {"batch": None}) if exact else (logistic(), {"batch": 2})
        algorithm = example(id, **{**entry.set, "mu": 0.1})
        ends[id] = Simulation(algorithm, problem, Setting(**options, **batch), seed=1).run().x
    pairs = [(a, b) for a, b in itertools.combinations(ends, 2) if ends[a].shape == ends[b].shape]
    assert len(pairs) > 300
    assert [pair for pair in pairs if np.allclose(ends[pair[0]], ends[pair[1]], rtol=1e-9)] == []


def test_what_is_left_out_is_another_row_under_full_participation():
    """Methods for partial participation have no rows elsewhere, because there they are FedAvg or FedDyn."""
    options = {"clients": 5, "local_steps": 3, "rounds": 3, "full_gradients": "minibatch", "batch": 2}
    ends = {}
    for id, entry in landscape().algorithms.items():
        if "full-participation" in entry.undefined or id in ("fedavg", "feddyn"):
            algorithm = example(id, **{**entry.set, "mu": 0.1})
            ends[id] = Simulation(algorithm, logistic(), Setting(**options), seed=1).run().x
    for id, x in ends.items():
        if (reason := landscape().algorithms[id].undefined.get("full-participation")) is not None:
            same = "fedavg" if reason.endswith("it is FedAvg") else "feddyn"
            assert np.allclose(x, ends[same], rtol=1e-9), id


def test_every_pair_is_run_or_has_a_reason():
    pairs = {(cell.id, cell.spec.case) for cell in expanded().cells}
    for id in landscape().algorithms:
        for case in landscape().cases:
            assert ((id, case) in pairs) != bool(expanded().undefined.get(id, {}).get(case)), (id, case)


def test_all_that_are_tuned_have_equally_many_trials():
    result = landscape()
    for cell in expanded().cells:
        counts = {len(values) for values in cell.spec.tune.values()}
        assert counts <= {result.trials} and (cell.spec.space is None) == (not counts), (cell.id, cell.key)
        if cell.spec.space is None:
            options = algorithms.get(cell.spec.algorithm).options()
            assert not [name for name, option in options.items() if option.required or option.search], cell.id


def test_smoke_has_every_kind_of_thing():
    laptop, smoke = landscape(), landscape("smoke")
    for part in (lambda case: case.group, lambda case: str(case.setting.get("participation", {}).get("kind"))):
        assert {part(case) for case in smoke.cases.values()} == {part(case) for case in laptop.cases.values()}
    kinds = [{case.problem.get("kind", result.problem["kind"]) for case in result.cases.values()}
             for result in (laptop, smoke)]  # fmt: skip
    assert kinds[0] == kinds[1] and any(case.retunes for case in smoke.cases.values())
    assert expanded("smoke").undefined and len(expanded("smoke").cells) < 160


def test_each_seed_has_an_instance_and_those_that_tune_score_nothing():
    for cell in expanded().cells:
        synthetic = "data" not in cell.spec.problem
        assert instances.varies_by_seed(cell.spec.problem) == synthetic and not (synthetic and cell.spec.optimum)
        built = [create_run(cell.spec, {}, {}, seed).problem for seed in (0, 1000)] if synthetic else [0, 1]
        assert built[0] != built[1] and not {*cell.spec.tuning_seeds} & {*cell.spec.seeds}


def test_studies_differ_in_their_tuning_seeds_alone():
    cells = {(cell.id, cell.spec.case): cell.spec for cell in expanded().cells}
    studies = {name: case.retunes for name, case in landscape().cases.items() if case.retunes}
    assert sorted(studies.values()) == sorted(2 * list(dict.fromkeys(studies.values())))  # three studies of each
    for name, original in studies.items():
        for id in landscape().algorithms:
            first, again = cells.get((id, original)), cells.get((id, name))
            assert (first is None) == (again is None)
            if first is not None and first.select is not None:
                assert not {*again.tuning_seeds} & {*first.tuning_seeds}
                assert dataclasses.replace(again, select=first.select, case=original) == first


def test_groups_stand_for_their_cases_without_further_studies():
    figures = landscape().figures
    shown = figures["profile_rounds"].spec["where"]["case"]
    groups = ("full-participation", "unequal-data", "networks")
    assert shown == [n for g in groups for n, case in landscape().cases.items() if case.group == g and not case.retunes]
    unequal = [name for name, case in landscape().cases.items() if case.group == "unequal-data"]
    assert landscape().claims["fedac-unequal"].check["where"]["case"] == unequal


def test_one_more_entry_adds_its_own_cells_alone(tmp_path):
    before, after = files(expanded("smoke")), files(extended(tmp_path, "algorithms: {mine: {algorithm: fedavg}}"))
    assert {id for id, _ in after.keys() - before.keys()} == {"mine"}
    assert len(after) - len(before) == len(landscape("smoke").cases)
    assert {file: after[file] for file in before} == before


def test_one_more_case_adds_its_own_cells_alone(tmp_path):
    before, after = files(expanded("smoke")), files(extended(tmp_path, "cases: {own: {problem: {L: 7.0}}}"))
    assert {key for _, key in after.keys() - before.keys()} == {"case=own"}
    assert {file: after[file] for file in before} == before


def test_the_part_by_the_clock_has_the_landscapes_seeds_and_tuning_and_equally_many_messages():
    result = experiment_file.load(FOLDER / "landscape_seconds.yaml", "laptop")
    assert result.title.startswith(landscape().title.partition(":")[0])
    assert (result.seeds, result.trials, result.select) == (landscape().seeds, landscape().trials, landscape().select)
    for cell in expansion.cells(result):
        setting = create_setting(next(runs(cell.spec)))
        driver = setting.driver_kind
        messages, at_once = (
            (driver.buffer, driver.concurrency) if driver.separate else 2 * (setting.participation_kind.count,)
        )
        assert (messages * setting.rounds, messages * setting.eval_rounds, at_once) == (1000, 10, 10), cell.id
        assert driver.cost_model.operations == 1.03e8 and setting.full_gradients == "minibatch"


VERSIONS = {"v1": "a9303df2c51cfd03"}  # digest of what a version fixes, by the version in the title


def test_a_version_has_fixed_problems_seeds_budgets_and_tuning():
    """What is changed here makes results that do not compare with those of the version: it needs a new one."""
    keys = ("problem", "setting", "optimum", "retunes", "tuning_seeds")
    parts = [
        [
            *(each.problem, each.setting, each.optimum, each.trials, dataclasses.asdict(each.select), each.seeds),
            {name: [getattr(case, key) for key in keys] for name, case in each.cases.items()},
        ]
        for each in map(landscape, ("laptop", "paper"))
    ]
    text = json.dumps(parts, sort_keys=True, default=str)
    version = re.match(r"Landscape (v\d+): ", landscape().title)[1]
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == VERSIONS[version]
    assert f"**landscape {version}**" in (ROOT / "docs/landscape.md").read_text()
