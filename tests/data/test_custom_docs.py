"""What docs/how-to/data.md shows is run as it stands."""

import os
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from from_code.schema import experiment_schema
from jsonschema import Draft202012Validator
from sklearn.datasets import dump_svmlight_file

from fedatlas.cli.main import main
from fedatlas.data import sources
from fedatlas.data.dataset import load_prepared
from fedatlas.data.store import prepare
from fedatlas.errors import UserError
from fedatlas.experiments import expansion
from tests.synthetic import experiment

PAGE = (Path(__file__).parents[2] / "docs/how-to/data.md").read_text(encoding="utf-8")
BLOCKS = {
    kind: re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL) for kind in ("yaml", "python", "bash")
}
MISTAKES = re.findall(r"^\| (`a.*?`) \| (mine\.csv.*?) \|$", PAGE, re.MULTILINE)
PROBLEM, FORMS, AXIS = map(yaml.safe_load, BLOCKS["yaml"])


@pytest.fixture(autouse=True)
def a_study_with_data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FEDATLAS_DATA", "data")
    rng = np.random.default_rng(0)
    X, ill = rng.normal(size=(60, 2)), np.arange(60) % 2
    frame = pd.DataFrame(X, columns=["age", "dose"]).assign(ill=ill, hospital=["n", "s", "e"] * 20)
    plain = frame[["age", "dose", "hospital", "ill"]]
    wide = plain.assign(sex=["m", "f"] * 30)
    plain.to_csv("mine.csv", index=False)
    wide.to_csv("wide.csv", index=False)
    wide.to_csv("mine.tsv.gz", index=False, sep="\t")
    plain[["age", "dose", "ill"]].to_csv("mine.txt", index=False, sep=";")
    wide.to_parquet("mine.parquet")
    wide[:40].to_csv("train.csv", index=False)
    wide[40:].to_csv("test.csv", index=False)
    np.savez("mine.npz", X=X, y=ill)
    dump_svmlight_file(X, ill, "mine.libsvm", zero_based=False)


@pytest.mark.parametrize("spec", FORMS, ids=lambda spec: spec["file"])
def test_every_form_is_a_data_set(spec):
    if "categorical" in spec or "sex" in spec.get("drop", ()):
        os.replace("wide.csv", "mine.csv")
    assert len(load_prepared(prepare(spec).name).y)


def test_the_experiment_the_call_and_the_command(capsys):
    (cell, *_) = expansion.cells(experiment(problem=PROBLEM["problem"], grid={}, setting={"rounds": 2}))
    assert cell.spec.setting["clients"] == 3
    space = {}
    exec(BLOCKS["python"][0], space)
    assert space["frame"]["round"].max() == 20
    for line in BLOCKS["bash"][0].splitlines():
        assert main(shlex.split(line)[1:]) == 0
    assert "100 rounds" in capsys.readouterr().out


def test_the_schema_takes_every_form():
    definitions = experiment_schema()["$defs"]
    schema = Draft202012Validator({"$ref": "#/$defs/custom data", "$defs": definitions})
    assert all(map(schema.is_valid, FORMS))
    assert not any(map(schema.is_valid, ({"file": "a.csv", "lable": "y"}, {"label": "y"}, "mnist")))
    assert Draft202012Validator({"$ref": "#/$defs/problem", "$defs": definitions}).is_valid(PROBLEM["problem"])


def test_the_axis():
    os.replace("wide.csv", "mine.csv")
    problem = {"kind": "logistic", "l2": 0.1}
    result = experiment(problem=problem, setting={"clients": 3, "rounds": 2}, **AXIS)
    assert len(expansion.cells(result)) == 4
    assert result.figures["mine"]["where"]["problem.data"] == result.grid["problem.data"][0]


@pytest.mark.parametrize("rows, sentence", MISTAKES)
def test_every_sentence_is_said(rows, sentence):
    Path("mine.csv").write_text("".join(f"{row}\n" for row in re.findall("`(.*?)`", rows)))
    with pytest.raises(UserError) as error:
        sources.info({"file": "mine.csv", "label": "y"})
    assert str(error.value).startswith(sentence)
