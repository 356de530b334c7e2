"""Results of an experiment without Snakemake: what its jobs write, in this process."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from fedatlas.cli.main import main
from fedatlas.data import store
from fedatlas.experiments.dependencies import data_names
from fedatlas.experiments.run import run_cell
from fedatlas.workflow.graph import Graph
from fedatlas.workflow.jobs import claims, optimum, partition, table
from fedatlas.workflow.study import Study


def finish(name, size="smoke"):
    """Make the results of an experiment of the study in the working directory."""
    study = Study.open()
    graph, w = Graph(study), SimpleNamespace(size=size, experiment=name)
    folder, runs = graph.folders.experiment(size, name), graph.run_files(w)
    for cell, path in zip(graph.cells(w), runs, strict=True):
        for data in data_names(cell.spec):
            store.prepare(data, study.folders.data)
        files = graph.origins.files(cell.spec)
        for kind, file in files.items():
            Path(file).parent.mkdir(parents=True, exist_ok=True)
            origin = study.folders.resolve(graph.origins.find(Path(file).parent.name, Path(file).stem))
            {"partition": partition, "optimum": optimum}[kind].make(origin, file, study.folders.data)
        run_cell(cell.spec, path, study.folders.data, **files)
    table.make(json.loads(graph.specification("table", w)), folder, runs)
    Path(folder, "about.json").write_text(graph.specification("about", w))
    claims.make(json.loads(graph.specification("claims", w)), folder, f"{folder}/claims.csv")


def add_record(folder, name, content, *options):
    """Add an experiment to the study in a folder, and its results to the record."""
    (folder / f"config/experiments/{name}.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        finish(name)
        assert main(["record", "add", name, "--size", "smoke", *options]) == 0
