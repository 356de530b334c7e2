"""Experiment files: merging, errors that name file and key; every file of the project is good in every size."""

import re

import pytest
import yaml

from fedatlas import UserError
from fedatlas.experiments import expansion, experiment_file

GOOD = {
    "title": "A title",
    "paper": "yuan2020",
    "source": "Figure 1",
    "problem": {"kind": "quadratic", "dim": 3},
    "setting": {"clients": 2, "rounds": 3},
    "algorithms": {"fedavg": {"set": {"lr": 0.1}}},
    "select": {"metric": "loss", "statistic": "best", "goal": "min", "seeds": [1000]},
    "figures": {},
    "sizes": {"smoke": {}},
}


def load(tmp_path, document, size="smoke"):
    path = tmp_path / "mine.yaml"
    path.write_text(document if isinstance(document, str) else yaml.safe_dump(document))
    return experiment_file.load(path, size)


FULL = {"kind": "full"}


@pytest.mark.parametrize(
    "change, message",
    [
        ({"colour": 1}, "mine.yaml (size smoke) has no option 'colour' (known: title, "),
        ({"title": 3}, "mine.yaml (size smoke): title is 3; it must be text"),
        ({"optimum": "yes"}, "optimum is 'yes'; it must be true or false"),
        ({"problem": "quadratic"}, "problem is 'quadratic'; it must be a mapping with a kind and its options"),
        ({"problem": {}}, "mine.yaml (size smoke): the problem {} has no kind (known: "),
        ({"problem": {"kind": "quadratik"}}, "unknown problem 'quadratik'; did you mean 'quadratic'?"),
        ({"setting": {"clients": 0, "rounds": 1}}, "setting: clients is 0; it must be a whole number, at least 1"),
        ({"notes": "A choice."}, "notes is 'A choice.'; it must be a list, of which each entry is text"),
        ({"seeds": []}, "seeds is []; it must be a list of different values that is not empty, of which each entry is"),
        ({"seeds": [0, 1, 0]}, "seeds is [0, 1, 0]; it must be a list of different values"),
        ({"seeds": {"at_least": 5}}, "mine.yaml (size smoke): seeds needs a value for 'at_most'"),
        (
            {"seeds": {"at_least": 1, "at_most": 9}},
            "seeds: at_least is 1; it must be a whole number between 2 and 1000",
        ),
        ({"seeds": {"at_least": 5, "at_most": 5}}, "seeds: at_most is 5; it must be larger than at_least, which is 5"),
        ({"parts": 0}, "parts is 0; it must be a whole number between 1 and 1000"),
        ({"select": {"metric": "loss", "statistic": "best"}}, "select needs a value for 'goal'"),
        (
            {"select": {"metric": "loss", "statistic": "mean", "goal": "min"}},
            "select: statistic is 'mean'; it must be one of 'best', 'final'",
        ),
        ({"grid": {"clients": []}}, "grid: clients is []; it must be a list of different values that is not empty"),
        ({"within": {"clients": [2, 2]}}, "within: clients is [2, 2]; it must be a list of different values"),
        ({"grid": {"participation": [FULL, FULL]}}, "grid: participation is [{'kind': 'full'}, {'kind': 'full'}]; it"),
        ({"tune": {"lr": [1, 0.1, 1.0]}}, "tune: lr is [1, 0.1, 1.0]; it must be a list of different values"),
        ({"algorithms": {}}, "algorithms is {}; it must be a mapping that is not empty"),
        ({"algorithms": {"fedavg": 0}}, "algorithms.fedavg is 0; it must be a mapping of options to values"),
        ({"algorithms": {"fedavg": {"seeds": []}}}, "algorithms.fedavg: seeds is []; it must be a list of different"),
        (
            {"algorithms": {"fedavg": {"setting": {"batch": 0}}}},
            "algorithms.fedavg.setting: batch is 0; it must be a whole number, at least 1",
        ),
        ({"algorithms": {"a/b": None}}, "algorithms: the name 'a/b' must consist of letters, digits, _, ., + and -"),
        ({"figures": {"a-b": {}}}, "figures: the name 'a-b' must consist of letters, digits and _"),
        ({"grid": {"clients ": [1]}}, "grid: the name 'clients ' must consist of letters, digits, _ and ."),
        ({"claims": {"c": None}}, "claims.c needs a value for 'text'"),
        (
            {"claims": {"c": {"text": "t", "source": "s", "check": "better"}}},
            "claims.c: check is 'better'; it must be a mapping with a kind and its options",
        ),
        (
            {"claims": {"c": {"text": "t", "source": "s", "check": {"kind": "better"}, "sizes": ["big"]}}},
            "claims.c: sizes is ['big']; it must be a list, of which each entry is one of 'smoke', 'laptop', 'paper'",
        ),
        (
            {"sizes": {"smoke": {"setting": {"rounds": -1}}}},
            "mine.yaml (size smoke): setting: rounds is -1; it must",
        ),
        ({"sizes": {}}, "mine.yaml: there is no size 'smoke'"),
        ({"sizes": {"smoke": 3}}, "mine.yaml: sizes is {'smoke': 3}; it must be a mapping of sizes to mappings"),
        ({"sizes": {"smoke": None, "papr": {}}}, "mine.yaml: sizes.papr is unknown; did you mean 'paper'?"),
    ],
)
def test_errors_name_file_key_and_expectation(tmp_path, change, message):
    with pytest.raises(UserError, match=re.escape(message)) as caught:
        load(tmp_path, GOOD | change)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "change, message",
    [
        (
            {"algorithms": {"fedavgg": {}}},
            r"mine.yaml \(size smoke\): unknown algorithm 'fedavgg'; did you mean 'fedavg'",
        ),
        ({"algorithms": {"fedavg": {}}}, r"fedavg needs a value for 'lr'"),
        ({"algorithms": {"fedavg": {"set": {"lr": -1}}}}, r"fedavg: lr is -1; it must be a number larger than 0"),
        ({"tune": {"momentum": [0.9]}}, r"no option 'momentum'"),
        ({"grid": {"worker": [1]}}, r"setting has no option 'worker'"),
        ({"grid": {"record": [3]}}, r"setting: record is 3; it must be a list"),
        ({"grid": {"clients.x": [3]}}, r"axis 'clients.x' leads nowhere in 2"),
        ({"grid": {"setting.clients": [3]}}, r"setting has no option 'setting'"),
        (
            {"grid": {"participation": ["full", {"kind": "full"}]}},
            r"would share the run file participation=full.parquet",
        ),
        ({"setting": {"clients": 2}}, r"either rounds or steps"),
        ({"setting": {"clients": 2, "rounds": 3, "participation": {"kind": "uniform", "count": 5}}}, r"count is 5"),
        ({"setting": {"clients": 2, "rounds": 3, "participation": {"kind": "unifrom"}}}, r"did you mean 'uniform'"),
    ],
)
def test_meaning_is_checked_before_anything_runs(tmp_path, change, message):
    with pytest.raises(UserError, match=message):
        expansion.cells(load(tmp_path, GOOD | change))


def test_broken_yaml_names_the_line(tmp_path):
    with pytest.raises(UserError, match=r"mine.yaml, line 3: not valid YAML"):
        load(tmp_path, "title: x\npaper: y\n  source: : z\n")
    with pytest.raises(UserError, match=r"line 2: not valid YAML: the key 'title' appears twice"):
        load(tmp_path, "title: x\ntitle: y\n")


def test_a_size_overrides_by_key(tmp_path):
    sizes = {"smoke": {"setting": {"rounds": 1}}, "paper": {"problem": {"kind": "quadratic", "dim": 9}}}
    assert load(tmp_path, GOOD | {"sizes": sizes}).setting == {"clients": 2, "rounds": 1}
    assert load(tmp_path, GOOD | {"sizes": sizes}, "paper").problem["dim"] == 9
    with pytest.raises(UserError, match="no size 'laptop'"):
        load(tmp_path, GOOD | {"sizes": sizes}, "laptop")


def test_an_experiment_extends_another(tmp_path):
    (tmp_path / "base.yaml").write_text(
        yaml.safe_dump(GOOD | {"algorithms": {"fedavg": {"set": {"lr": 0.1}}, "gd": {}}})
    )
    mine = load(tmp_path, "extends: base\ntitle: Mine\nsetting: {rounds: 9}\nalgorithms: {gd: null}\n")
    assert mine.title == "Mine" and mine.setting == {"clients": 2, "rounds": 9}
    assert list(mine.algorithms) == ["fedavg"]
    with pytest.raises(UserError, match=r"extends: there is no experiment 'bas'; did you mean 'base'"):
        load(tmp_path, "extends: bas\n")
    (tmp_path / "base.yaml").write_text("extends: mine\n")
    with pytest.raises(UserError, match=r"extends itself"):
        load(tmp_path, "extends: base\n")


def test_extends_leaves_sections_out(tmp_path):
    (tmp_path / "base.yaml").write_text(yaml.safe_dump(GOOD | {"notes": ["Theirs."]}))
    mine = load(tmp_path, "extends: {experiment: base, notes: none, figures: none}\nnotes: [Mine.]\n")
    assert mine.notes == ["Mine."] and mine.figures == {} and mine.algorithms
    for extends in ("{experiment: base, notes: some}", "{experiment: base, setting: none}", "{notes: none}", "[base]"):
        with pytest.raises(UserError, match="it must be the name of an experiment, or a mapping such as"):
            load(tmp_path, f"extends: {extends}\n")
