"""The experiment landscape: equal budgets, and what a new algorithm or a new problem adds."""

import functools
from pathlib import Path

import pytest

from fedatlas.experiments import expansion, experiment_file
from fedatlas.experiments.runs import create_setting, runs
from fedatlas.federation import algorithms

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "config/experiments"
LANDSCAPE, UNTUNED = FOLDER / "landscape.yaml", FOLDER / "landscape_untuned.yaml"


@functools.cache
def expanded(path=LANDSCAPE, size="laptop"):
    return expansion.expand(experiment_file.load(path, size))


def extended(folder, text):
    """The cells of a study's experiment that is laid over the landscape."""
    path = folder / "mine.yaml"
    path.write_text(f"extends: landscape\n{text}\n")
    return expansion.expand(experiment_file.load(path, "laptop", shipped=FOLDER))


def files(found):
    return {(cell.id, cell.key): cell.spec for cell in found.cells}


def test_it_is_as_large_as_it_says():
    made = experiment_file.load(LANDSCAPE, "laptop")
    assert len(made.algorithms) >= 30 and len(made.cases) >= 10 and len(made.seeds) >= 5
    assert not {*made.seeds} & {*made.select.seeds}
    for cell in expanded().cells:
        setting = create_setting(next(runs(cell.spec)))
        assert setting.rounds // setting.eval_rounds >= 40, cell.key


def test_every_pair_is_run_or_has_a_reason():
    made, found = experiment_file.load(LANDSCAPE, "laptop"), expanded()
    there = {(cell.id, cell.spec.case) for cell in found.cells}
    for id in made.algorithms:
        for case in made.cases:
            assert ((id, case) in there) != bool(found.undefined.get(id, {}).get(case)), (id, case)


def test_all_that_are_tuned_have_equally_many_trials():
    made = experiment_file.load(LANDSCAPE, "laptop")
    for cell in expanded().cells:
        counts = {len(values) for values in cell.spec.tune.values()}
        assert counts <= {made.trials} and (cell.spec.space is None) == (not counts), (cell.id, cell.key)
        if cell.spec.space is None:
            known = algorithms.get(cell.spec.algorithm).options()
            assert not [name for name, one in known.items() if one.required or one.search], cell.id


@pytest.mark.parametrize("path", [LANDSCAPE, UNTUNED], ids=lambda path: path.stem)
def test_smoke_has_every_kind_of_thing(path):
    laptop, smoke = experiment_file.load(path, "laptop"), experiment_file.load(path, "smoke")
    kinds = [
        {case.problem.get("kind", made.problem["kind"]) for case in made.cases.values()} for made in (laptop, smoke)
    ]
    rules = [{str(case.setting.get("participation")) for case in made.cases.values()} for made in (laptop, smoke)]
    assert kinds[0] == kinds[1] and any("sine" in rule for rule in rules[1])
    assert expanded(path, "smoke").undefined and len(expanded(path, "smoke").cells) < 100


def test_untuned_is_landscape_with_nothing_tuned():
    tuned, untuned = experiment_file.load(LANDSCAPE, "laptop"), experiment_file.load(UNTUNED, "laptop")
    assert list(tuned.cases) == list(untuned.cases) and list(tuned.algorithms) == list(untuned.algorithms)
    assert not any(cell.spec.tune for cell in expanded(UNTUNED).cells)
    for (file, spec), theirs in ((one, files(expanded()).get(one[0])) for one in files(expanded(UNTUNED)).items()):
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
