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
from fedatlas.experiments.runs import create_run, create_setting
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.publish.guide import QUESTIONS, conditions
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
        exact = "prox" in ALGORITHMS.get(id).requires
        problem, batch = (quadratic(), {"batch": None}) if exact else (logistic(), {"batch": 2})
        algorithm = example(id, **{**entry.set, "mu": 0.1})
        ends[id] = Simulation(algorithm, problem, Setting(**options, **batch), seed=1).run().x
    pairs = [(a, b) for a, b in itertools.combinations(ends, 2) if ends[a].shape == ends[b].shape]
    assert len(pairs) > 300
    assert [pair for pair in pairs if np.allclose(ends[pair[0]], ends[pair[1]], rtol=1e-9)] == []


def test_every_pair_is_run_or_has_a_reason():
    pairs = {(cell.id, cell.spec.case) for cell in expanded().cells}
    for id in landscape().algorithms:
        for case in landscape().cases:
            assert ((id, case) in pairs) != bool(expanded().undefined.get(id, {}).get(case)), (id, case)


FIXED = {
    "L": {"agd"},
    "mu": {"agd", "mb-ac-sgd", "fedac-1", "fedac-2", "dane+-gd", "dane+-fgd", "fedred", "fedred-gd"},
    "server_lr": {"fedavg", "fedprox", "scaffold", "fedcm", "mifa", "fedvarp", "fedau", "f3ast", "fedawe", "fedadmm",
                  "fedavg-all", "fedavg-known-p"},
    "beta1": {"fedadam", "fedams"}, "beta2": {"fedadam", "fedams"}, "first_v": {"fedadam", "fedams"},
    "alpha": {"fedspeed", "diana"}, "p": {"fedpd", "marina"}, "lam": {"fedred", "fedred-gd"},
    "step": {"sonata"},
    "decoupled": {"fedcm", "fedspeed"}, "clip": {"fedspeed", "fedawe"},
    "l_star": {"fedsps", "feddecsps", "fedsps-global"}, "copies": {"compressed-scaffnew"},
}  # fmt: skip


def test_every_number_is_tuned_but_those_of_which_the_notes_say_why():
    result = landscape()
    for cell in expanded().cells:
        tuned, options = cell.spec.tune, ALGORITHMS.get(cell.spec.algorithm).options()
        assert {len(values) for values in tuned.values()} <= {result.trials * len(tuned)}, cell.key
        fixed = {name for name, option in options.items() if option.numeric} - {*tuned, *result.algorithms[cell.id].set}
        assert fixed == {name for name, ids in FIXED.items() if cell.id in ids}, cell.id


def test_answers_to_three_questions_have_a_problem_and_no_two_questions_are_one():
    parts = {cell.spec.case: conditions(cell.spec.problem, cell.spec.setting) for cell in expanded().cells}
    found = [tuple(answers.values()) for answers in parts.values()]
    assert len({*found}) == len(found) == 18
    for left_out in QUESTIONS:
        answers = [words for key, (_, words) in QUESTIONS.items() if key != left_out]
        kept = {tuple(value for key, value in each.items() if key != left_out) for each in parts.values()}
        assert kept == {*itertools.product(*answers)}, left_out


def test_one_more_entry_adds_its_own_cells_alone(tmp_path):
    before, after = files(expanded("smoke")), files(extended(tmp_path, "algorithms: {mine: {algorithm: fedavg}}"))
    assert {id for id, _ in after.keys() - before.keys()} == {"mine"}
    assert len(after) - len(before) == len(landscape("smoke").cases)
    assert {file: after[file] for file in before} == before


def test_the_part_by_the_clock_has_the_landscapes_seeds_and_tuning_and_equally_many_messages():
    result = experiment_file.load(FOLDER / "landscape_seconds.yaml", "laptop")
    assert result.title.startswith(landscape().title.partition(":")[0])
    assert all(getattr(result, key) == getattr(landscape(), key) for key in ("seeds", "trials", "tuning", "select"))
    for cell in expansion.cells(result):
        setting = create_setting(create_run(cell.spec, {}, {}, 0))
        driver = setting.driver_kind
        messages, at_once = (
            (driver.buffer, driver.concurrency) if driver.separate else 2 * (setting.participation_kind.count,)
        )
        assert (messages * setting.rounds, messages * setting.eval_rounds, at_once) == (1000, 10, 10), cell.id
        assert driver.cost_model.operations == 1.03e8 and setting.full_gradients == "minibatch"


VERSIONS = {"v2": "3420a0e7bcde3fa7"}  # digest of what a version fixes, by the version in the title


def test_a_version_has_fixed_problems_seeds_budgets_and_tuning():
    """What is changed here makes results that do not compare with those of the version: it needs a new one."""
    keys = ("problem", "setting", "optimum")
    parts = [
        [
            *(
                each.problem,
                each.setting,
                each.optimum,
                each.trials,
                each.tuning,
                dataclasses.asdict(each.select),
                each.seeds,
            ),
            {name: [getattr(case, key) for key in keys] for name, case in each.cases.items()},
        ]
        for each in map(landscape, ("laptop", "paper"))
    ]
    text = json.dumps(parts, sort_keys=True, default=str)
    version = re.match(r"Landscape (v\d+): ", landscape().title)[1]
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == VERSIONS[version]
    assert f"**landscape {version}**" in (ROOT / "docs/landscape.md").read_text()
