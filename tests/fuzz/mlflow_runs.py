"""What an experiment can contain, as runs of MLflow: they are written, given back alike, and found again."""

import atexit
import functools
import itertools
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
from hypothesis import strategies as st

from fedatlas.experiments import axis_values, result_files
from fedatlas.experiments.cells import CellSpec, Select
from fedatlas.experiments.metadata import RunMeta
from fedatlas.experiments.scores import COSTS
from fedatlas.experiments.tables import Layout, build
from fedatlas.publish.tracking.connection import connect
from fedatlas.publish.tracking.run_log import RunLog
from fedatlas.publish.tracking.run_record import KEY
from fedatlas.publish.tracking.setting_runs import build_setting_runs
from tests.fuzz.targets import Target
from tests.tracking.tiny import DATA, EXPERIMENT, experiment_facts

NUMBERS = itertools.count()
LETTERS = st.characters() | st.sampled_from("\0\n'\"%_`/\\.=:,éßİ😀\ud800\u2028[{")
TEXTS = st.text(LETTERS, max_size=12) | st.sampled_from(
    ["", " ", "x" * 9000, "é" * 9000, "..", "a//b", "NaN", "[1", "{"]
)
FLOATS = st.floats() | st.integers(-(2**70), 2**70) | st.sampled_from([1e308, 5e-324, -0.0, 2**63])
VALUES: st.SearchStrategy[Any] = st.recursive(
    TEXTS | FLOATS | st.booleans() | st.none(),
    lambda inside: (
        st.lists(inside, max_size=4) | st.dictionaries(st.sampled_from(["kind", "p", "x"]), inside, max_size=3)
    ),
    max_leaves=6,
)
INPUTS = st.fixed_dictionaries(
    {
        "id": st.text("aZ_'%é ()-.=,1", min_size=1, max_size=20).filter(lambda text: text.strip(".")),
        "tags": st.dictionaries(st.sampled_from(["paper", "problem", "mlflow.source.name"]), TEXTS),
        "problem": st.dictionaries(st.sampled_from(["l2", "partition", "L", "mu", "heterogeneity"]), VALUES),
        "parameters": st.dictionaries(st.sampled_from(["lr", "beta", "Lr"]), VALUES),
        "within": st.lists(VALUES, max_size=2, unique_by=axis_values.text),
        "same": st.booleans(),
        "loss": st.lists(st.floats() | st.just(0.5), min_size=2, max_size=4),
        "seed": st.integers(0, 2**63 - 1),
        "name": TEXTS,
    }
)


@functools.cache
def _client() -> tuple[str, Any]:
    """Address and client of a database, which stays open: to open one takes longer than all the rest."""
    from mlflow import MlflowClient

    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    with connect(uri := f"sqlite:///{folder}/mlflow.db"):
        pass
    return uri, MlflowClient(uri)


def _write(case: dict[str, Any], folder: Path) -> Path:
    """A run file with the values of an input."""
    problem = {"kind": "logistic", "data": "breast_cancer", **case["problem"]}
    if case["same"]:
        problem["test"] = "breast_cancer"
    spec = CellSpec(
        algorithm="fedavg",
        parameters=case["parameters"],
        problem=problem,
        setting={"clients": 2, "rounds": 9, "batch": 4},
        within={"problem.x": case["within"]} if case["within"] else {},
        tune={},
        seeds=[case["seed"]],
    )
    cell = axis_values.column(case["within"])
    rows = [
        {"seed": case["seed"], "round": at, "steps": at, "loss": loss, **dict.fromkeys(COSTS, 0.1 * at)} | point
        for point in [{"problem.x": cell(value)} for value in case["within"]] or [{}]
        for at, loss in enumerate(case["loss"])
    ]
    frame = pd.DataFrame(rows).assign(status="ok", diverged_round=-1)
    path = folder / case["id"] / "all.parquet"
    meta = RunMeta(spec, "0123456789abcdef", {}, {"breast_cancer": DATA}).plain()
    result_files.write(path, frame, json.loads(json.dumps(meta)))
    return path


def _run(content: str, folder: Path) -> None:
    case = json.loads(content)
    path = _write(case, folder)
    axes = ["problem.x"] if case["within"] else []
    select = Select(metric="loss", statistic="best", goal="min")
    record = experiment_facts(EXPERIMENT, grid={}, within=dict.fromkeys(axes, case["within"]), tune={}, select=select)
    record.defaults.update({case["id"]: {}})
    record.algorithms.update({case["id"]: case["name"]})
    record.content["algorithms"][case["id"]] = {}
    record.tags.update(case["tags"])
    tables = build(Layout([], axes, [], select), [path])
    runs = list(build_setting_runs(record, tables, [path], {"paper": "", **record.tags}))
    assert len({run.key for run in runs}) == len(runs) == len(case["within"] or [0])
    (uri, client), name = _client(), f"fuzz{next(NUMBERS)}"
    id = client.create_experiment(name, artifact_location=f"mlflow-artifacts:/{name}")
    for logged in (len(runs), 0):
        log = RunLog(client, client.get_experiment(id), uri, f"{record.size}/")
        counts = log.update(runs, whole=True)
        assert (counts["logged"], counts["unchanged"], counts["deleted"]) == (logged, len(runs) - logged, 0)
    stored = {run.data.tags[KEY]: run for run in client.search_runs([id])}
    everything = [item for run in runs for item in (run, *run.children)]
    assert len(stored) == len(everything)
    for item in everything:
        run = stored[item.key]
        assert run.info.run_name == item.name and run.data.params == item.params
        assert item.tags.items() <= run.data.tags.items()
        losses = [metric.value for metric in client.get_metric_history(run.info.run_id, "loss")]
        assert losses == [value for key, value, *_ in item.timed_metrics() if key == "loss"]


MLFLOW_RUNS = Target("mlflow-runs", INPUTS.map(json.dumps), _run, seconds=60, text=True)
