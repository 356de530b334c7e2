"""Final vectors of runs and samples of the machine, where a study asks for them."""

import dataclasses
import json
import runpy
from pathlib import Path

import numpy as np
import pytest

from fedatlas.experiments.cells import CellSpec
from fedatlas.experiments.result_files import read, write
from fedatlas.experiments.run import run_cell
from fedatlas.publish import tracking
from fedatlas.publish.tracking import extras
from tests.tracking.tiny import EXPERIMENT, experiment_facts, logged

SPEC = CellSpec("gd", {"lr": 0.1}, {"kind": "quadratic", "dim": 3}, {"clients": 2, "rounds": 4, "eval_rounds": 2})
SPEC = dataclasses.replace(SPEC, seeds=[0, 1])
FACTS = experiment_facts(EXPERIMENT)


def compute(folder, *names):
    path = folder / "runs/fedavg/all.parquet"
    path.parent.mkdir(parents=True)
    with extras.collect(names, SPEC, path):
        run_cell(SPEC, path)
    return path


def facts_of(run_file):
    """Return the facts of an experiment whose only algorithm made a run file."""
    select = dataclasses.replace(FACTS.select, metric=next(n for n in ("loss",) if n in read(run_file)[0]))
    return dataclasses.replace(FACTS, grid=[], axes=[], tune=[], select=select, seeds=[0, 1])


def test_a_run_file_is_the_same_with_extras(tmp_path):
    frames = [read(compute(tmp_path / folder, *names))[0] for folder, names in (("a", []), ("b", ["models"]))]
    timeless = [frame.drop(columns="seconds") for frame in frames]
    assert timeless[0].equals(timeless[1])
    assert not (tmp_path / "a/extras").exists()


def test_the_final_vector_is_logged_with_what_loads_it(tmp_path, uri, capsys, monkeypatch):
    path = compute(tmp_path / "r", "models")
    for _ in range(2):
        tracking.log_run_file(facts_of(path), path, uri)
    _, _, _, children = logged(uri)
    assert len(children) == 2
    stored = extras.load(path)
    assert len(stored) == 2
    for run in children:
        folder = tmp_path / "mlartifacts/tiny" / run.info.run_id / "artifacts/model"
        monkeypatch.chdir(folder)
        x = runpy.run_path("load.py")["x"]
        assert x.shape == (3,) and any(np.array_equal(x, extra.x) for extra in stored.values())


def test_a_network_is_logged_as_a_state_dict(tmp_path, monkeypatch):
    torch = pytest.importorskip("torch")
    from fedatlas.experiments.cells import Run
    from fedatlas.federation.architectures import ARCHITECTURES

    module = ARCHITECTURES.build("lenet", "mlp").build((1, 8, 8), 10)
    layout = {name: list(array.shape) for name, array in module.named_parameters()}
    x = torch.cat([array.detach().reshape(-1) for array in module.parameters()]).numpy()
    problem = {"kind": "network", "data": "digits", "architecture": "lenet"}
    run = Run("fedavg", {}, problem, {}, 0, {}, {})
    files = extras.model_files(run, extras.Extra(x, layout), {"digits": {"shape": [1, 8, 8], "classes": 10}})
    for name, content in files.items():
        (tmp_path / Path(name).name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    loaded = runpy.run_path("load.py")["module"]
    data = torch.ones(2, 1, 8, 8)
    assert torch.equal(loaded(data), module(data))


def test_the_machine_is_sampled_while_runs_go_on(tmp_path, monkeypatch):
    collector = extras._Collector(SPEC, tmp_path / "runs/gd/all.parquet", models=False)
    key = json.dumps([{}, {}, 0])
    collector([key], [(None, None)])
    monkeypatch.setenv("MLFLOW_SYSTEM_METRICS_SAMPLING_INTERVAL", "0.01")

    class Twice:
        remaining = 2

        def wait(self, _):
            self.remaining -= 1
            return self.remaining < 0

    collector.sample(Twice())
    collector.running = {}
    collector.save()
    (extra,) = extras.load(tmp_path / "runs/gd/all.parquet").values()
    assert [set(values) for _, values in extra.usage] and len(extra.usage) == 2
    assert extra.usage[0][1]["system_memory_usage_megabytes"] > 0


def test_damaged_extras_are_left_out(tmp_path, uri, capsys):
    path = compute(tmp_path / "r", "models")
    extras.extras_path(path).write_bytes(b"PK damaged")
    tracking.log_run_file(facts_of(path), path, uri)
    assert len(logged(uri)[3]) == 2
    assert "models and system metrics are left out" in capsys.readouterr().out
    write(path, *read(path))
