"""The experiment landscape: equal budgets, and what a new algorithm or a new problem adds."""

import dataclasses
import functools
import itertools
from pathlib import Path

import numpy as np
import pytest

from fedatlas.experiments import expansion, experiment_file
from fedatlas.experiments.runs import create_run, create_setting, runs
from fedatlas.federation import algorithms
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.problems import instances
from tests.helpers import example, logistic, quadratic

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "config/experiments"
LANDSCAPE, UNTUNED = FOLDER / "landscape.yaml", FOLDER / "landscape_untuned.yaml"
PARTIAL, DATA = FOLDER / "landscape_partial.yaml", FOLDER / "landscape_data.yaml"
STUDIES = FOLDER / "landscape_studies.yaml"


@functools.cache
def expanded(path=LANDSCAPE, size="laptop"):
    return expansion.expand(experiment_file.load(path, size))


def extended(folder, text):
    """The cells of a study's experiment that is laid over the landscape."""
    path = folder / "mine.yaml"
    path.write_text(f"extends: landscape\n{text}\n")
    return expansion.expand(experiment_file.load(path, "laptop", shipped=FOLDER))


def files(result):
    return {(cell.id, cell.key): cell.spec for cell in result.cells}


def test_they_are_as_large_as_the_pages_say():
    experiments = [experiment_file.load(path, "laptop") for path in (LANDSCAPE, PARTIAL)]
    algorithms, cases = (
        {name for result in experiments for name in getattr(result, part)} for part in ("algorithms", "cases")
    )
    assert len(cases) == sum(len(result.cases) for result in experiments)
    for page in ("README.md", "docs/landscape.md", "docs/concepts/comparing.md"):
        text = " ".join((ROOT / page).read_text().split())
        assert f"{len(algorithms)} algorithms" in text and f"on {len(cases)} problems" in text, page
    text = " ".join((ROOT / "docs/landscape.md").read_text().split())
    cells = [len(expanded(path).cells) for path in (LANDSCAPE, PARTIAL)]
    assert f"{cells[0]} run files, and that of `landscape_partial` {cells[1]}" in text


@pytest.mark.parametrize("path", [LANDSCAPE, PARTIAL, DATA], ids=lambda path: path.stem)
def test_all_are_evaluated_after_every_round_and_pay_the_noise(path):
    result = experiment_file.load(path, "laptop")
    assert len(result.seeds) >= 5 and not {*result.seeds} & {*result.select.seeds}
    for cell in expanded(path).cells:
        setting = create_setting(next(runs(cell.spec)))
        assert setting.eval_rounds == 1 and setting.rounds >= 40, cell.key
        assert setting.full_gradients == "minibatch" and setting.full_participation == (path != PARTIAL)


def test_no_two_rows_are_one_method():
    """With equal step sizes, and the defaults of all that has one, on noisy heterogeneous data."""
    options = {"clients": 5, "local_steps": 3, "rounds": 3, "full_gradients": "minibatch"}
    ends = {}
    for id, entry in experiment_file.load(LANDSCAPE, "laptop").algorithms.items():
        exact = algorithms.get(id).exact_prox
        problem, batch = (quadratic(), {"batch": None}) if exact else (logistic(), {"batch": 2})
        algorithm = example(id, **{**entry.set, "mu": 0.1})
        ends[id] = Simulation(algorithm, problem, Setting(**options, **batch), seed=1).run().x
    pairs = [(a, b) for a, b in itertools.combinations(ends, 2) if ends[a].shape == ends[b].shape]
    assert len(pairs) > 300
    assert [pair for pair in pairs if np.allclose(ends[pair[0]], ends[pair[1]], rtol=1e-9)] == []


@pytest.mark.parametrize("path", [LANDSCAPE, PARTIAL, DATA], ids=lambda path: path.stem)
def test_every_pair_is_run_or_has_a_reason(path):
    experiment, result = experiment_file.load(path, "laptop"), expanded(path)
    pairs = {(cell.id, cell.spec.case) for cell in result.cells}
    for id in experiment.algorithms:
        for case in experiment.cases:
            assert ((id, case) in pairs) != bool(result.undefined.get(id, {}).get(case)), (id, case)


def test_all_that_are_tuned_have_equally_many_trials():
    result = experiment_file.load(LANDSCAPE, "laptop")
    for cell in expanded().cells:
        counts = {len(values) for values in cell.spec.tune.values()}
        assert counts <= {result.trials} and (cell.spec.space is None) == (not counts), (cell.id, cell.key)
        if cell.spec.space is None:
            options = algorithms.get(cell.spec.algorithm).options()
            assert not [name for name, option in options.items() if option.required or option.search], cell.id


@pytest.mark.parametrize("path", [LANDSCAPE, PARTIAL, UNTUNED], ids=lambda path: path.stem)
def test_smoke_has_every_kind_of_thing(path):
    laptop, smoke = experiment_file.load(path, "laptop"), experiment_file.load(path, "smoke")
    kinds = [
        {case.problem.get("kind", result.problem["kind"]) for case in result.cases.values()}
        for result in (laptop, smoke)
    ]
    rules = [{str(case.setting.get("participation")) for case in result.cases.values()} for result in (laptop, smoke)]
    assert kinds[0] == kinds[1] and any("sine" in rule for rule in rules[1]) == (path == PARTIAL)
    assert expanded(path, "smoke").undefined and len(expanded(path, "smoke").cells) < 100


def test_each_seed_has_an_instance_and_those_that_tune_score_nothing():
    for path in (LANDSCAPE, PARTIAL):
        for cell in expanded(path).cells:
            synthetic = "data" not in cell.spec.problem
            assert instances.varies_by_seed(cell.spec.problem) == synthetic and not (synthetic and cell.spec.optimum)
            built = [create_run(cell.spec, {}, {}, seed).problem for seed in (0, 1000)] if synthetic else [0, 1]
            assert built[0] != built[1] and len(cell.spec.seeds) == 15


def test_data_has_the_algorithms_of_the_landscape_by_the_same_rule():
    landscape, data = (experiment_file.load(path, "laptop") for path in (LANDSCAPE, DATA))
    exact = {id for id in landscape.algorithms if algorithms.get(id).exact_prox}
    assert set(landscape.algorithms) - exact == set(data.algorithms) and not expanded(DATA).undefined
    assert (landscape.trials, landscape.select, landscape.seeds, landscape.tuning) == (
        data.trials,
        data.select,
        data.seeds,
        data.tuning,
    )


def test_studies_differ_in_their_tuning_seeds_alone():
    by_study = {}
    for cell in expanded(STUDIES).cells:
        by_study.setdefault(tuple(cell.spec.tuning_seeds), {})[cell.id, cell.spec.case] = cell.spec
    first, *rest = by_study.values()
    assert len(by_study) == 3 and len({seed for seeds in by_study for seed in seeds}) == 15
    assert next(iter(by_study)) == tuple(experiment_file.load(LANDSCAPE, "laptop").select.seeds)
    for study in rest:
        for key, spec in study.items():
            assert dataclasses.replace(spec, select=first[key].select) == first[key]


def test_untuned_is_landscape_with_nothing_tuned():
    tuned, untuned = experiment_file.load(LANDSCAPE, "laptop"), experiment_file.load(UNTUNED, "laptop")
    assert list(tuned.cases) == list(untuned.cases) and list(tuned.algorithms) == list(untuned.algorithms)
    assert not any(cell.spec.tune for cell in expanded(UNTUNED).cells)
    for (file, spec), theirs in ((item, files(expanded()).get(item[0])) for item in files(expanded(UNTUNED)).items()):
        assert theirs is not None, file  # what theory advises can be tuned as well
        assert (spec.problem, spec.setting, spec.seeds) == (theirs.problem, theirs.setting, theirs.seeds)


def test_one_more_entry_adds_its_own_cells_alone(tmp_path):
    before, after = files(expanded()), files(extended(tmp_path, "algorithms: {mine: {algorithm: fedavg}}"))
    assert {id for id, _ in after.keys() - before.keys()} == {"mine"}
    assert len(after) - len(before) == len(experiment_file.load(LANDSCAPE, "laptop").cases)
    assert {file: after[file] for file in before} == before


def test_one_more_case_adds_its_own_cells_alone(tmp_path):
    before, after = files(expanded()), files(extended(tmp_path, "cases: {own: {problem: {L: 7.0}}}"))
    assert {key for _, key in after.keys() - before.keys()} == {"case=own"}
    assert {file: after[file] for file in before} == before
