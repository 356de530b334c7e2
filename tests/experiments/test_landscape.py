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
from fedatlas.federation import algorithms, problems
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.problems import instances
from fedatlas.publish.guide.content import QUESTIONS, conditions
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
    for page in ("README.md", "docs/landscape.md"):
        text = " ".join((ROOT / page).read_text().split())
        assert f"{len(result.algorithms)} algorithms" in text and f"on {len(result.cases)} problems" in text, page
    text = " ".join((ROOT / "docs/landscape.md").read_text().split())
    assert f"{len(expanded().cells)} run files" in text


def test_all_are_evaluated_after_every_round_and_pay_the_noise():
    assert len(landscape().seeds) == 15
    for cell in expanded().cells:
        setting = create_setting(create_run(cell.spec, {}, {}, 0))
        assert setting.eval_rounds == 1 and setting.rounds >= 20, cell.key
        assert setting.full_gradients == "minibatch"
        assert setting.full_participation == (group(cell) == "full-participation")


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


FIXED = {
    "L": {"agd"},
    "mu": {"agd", "mb-ac-sgd", "fedac-1", "fedac-2", "dane+-gd", "dane+-fgd", "fedred", "fedred-gd"},
    "server_lr": {"fedavg", "fedprox", "scaffold", "fedcm", "mifa", "fedvarp", "fedau", "f3ast", "fedawe", "fedadmm",
                  "fedavg-all", "fedavg-known-p"},
    "beta1": {"fedadam", "fedams"}, "beta2": {"fedadam", "fedams"}, "first_v": {"fedadam", "fedams"},
    "alpha": {"fedspeed", "diana"}, "p": {"fedpd", "marina"}, "lam": {"fedred", "fedred-gd"},
    "step": {"sonata"}, "link_p": {"sonata"}, "graph_seed": {"sonata"},
    "decoupled": {"fedcm", "fedspeed"}, "clip": {"fedspeed", "fedawe"},
    "l_star": {"fedsps", "feddecsps", "fedsps-global"}, "copies": {"compressed-scaffnew"},
}  # fmt: skip


def test_every_number_is_tuned_but_those_of_which_the_notes_say_why():
    result = landscape()
    for cell in expanded().cells:
        tuned, options = cell.spec.tune, algorithms.get(cell.spec.algorithm).options()
        assert {len(values) for values in tuned.values()} <= {result.trials * len(tuned)}, cell.key
        fixed = {name for name, option in options.items() if option.numeric} - {*tuned, *result.algorithms[cell.id].set}
        assert fixed == {name for name, ids in FIXED.items() if cell.id in ids}, cell.id


def test_ranges_of_step_sizes_and_weights_are_made_of_constants_of_the_problem():
    """A range in numbers alone would be one of a scale that no problem knows."""
    free = {"server_lr", "eps", "alpha", "rho", "p", "beta", "a", "b", "momentum", "c", "cutoff"}  # shares, lengths
    for cell in expanded().cells:
        for name, (low, _) in (cell.spec.space or {}).items():
            if "L_max" in problems.get(cell.spec.problem["kind"]).constants and isinstance(low, float):
                assert name in free, (cell.id, name)


def test_answers_to_three_questions_have_a_problem_and_no_two_questions_are_one():
    parts = {cell.spec.case: conditions(cell.spec.problem, cell.spec.setting) for cell in expanded().cells}
    found = [tuple(answers.values()) for answers in parts.values()]
    assert len({*found}) == len(found) == 18
    for left_out in QUESTIONS:
        answers = [words for key, (_, words) in QUESTIONS.items() if key != left_out]
        kept = {tuple(value for key, value in each.items() if key != left_out) for each in parts.values()}
        assert kept == {*itertools.product(*answers)}, left_out


def test_smoke_has_every_kind_of_thing():
    laptop, smoke = landscape(), landscape("smoke")
    for part in (lambda case: case.group, lambda case: str(case.setting.get("participation", {}).get("kind"))):
        assert {part(case) for case in smoke.cases.values()} == {part(case) for case in laptop.cases.values()}
    kinds = [{case.problem.get("kind", result.problem["kind"]) for case in result.cases.values()}
             for result in (laptop, smoke)]  # fmt: skip
    assert kinds[0] == kinds[1]
    assert expanded("smoke").undefined and len(expanded("smoke").cells) < 160


def test_each_seed_has_an_instance_and_those_that_tune_score_nothing():
    for cell in expanded().cells:
        synthetic = "data" not in cell.spec.problem
        assert instances.varies_by_seed(cell.spec.problem) == synthetic and not (synthetic and cell.spec.optimum)
        built = [create_run(cell.spec, {}, {}, seed).problem for seed in (0, 1000)] if synthetic else [0, 1]
        assert built[0] != built[1] and not {*cell.spec.tuning_seeds} & {*cell.spec.seeds}


def test_groups_stand_for_their_cases():
    cases, shown = landscape().cases, landscape().figures["profile_partial"].spec["where"]["case"]
    assert shown == [name for name, case in cases.items() if case.group != "full-participation"]


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
    assert all(getattr(result, key) == getattr(landscape(), key) for key in ("seeds", "trials", "tuning", "select"))
    for cell in expansion.cells(result):
        setting = create_setting(create_run(cell.spec, {}, {}, 0))
        driver = setting.driver_kind
        messages, at_once = (
            (driver.buffer, driver.concurrency) if driver.separate else 2 * (setting.participation_kind.count,)
        )
        assert (messages * setting.rounds, messages * setting.eval_rounds, at_once) == (1000, 10, 10), cell.id
        assert driver.cost_model.operations == 1.03e8 and setting.full_gradients == "minibatch"


VERSIONS = {"v2": "c304a36a7c47efb8"}  # digest of what a version fixes, by the version in the title


def test_a_version_has_fixed_problems_seeds_budgets_and_tuning():
    """What is changed here makes results that do not compare with those of the version: it needs a new one."""
    keys = ("problem", "setting", "optimum", "retunes", "tuning_seeds")
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
