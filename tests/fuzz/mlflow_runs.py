"""What an experiment can contain, as runs of MLflow: both ways to write them take it, and give it back alike."""

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

from fedatlas.experiments import result_files
from fedatlas.experiments.cells import CellSpec
from fedatlas.experiments.metadata import RunMeta
from fedatlas.publish.tracking.connection import connect
from fedatlas.publish.tracking.report_run import ReportRun
from fedatlas.publish.tracking.run_log import RunLog
from fedatlas.publish.tracking.run_records import read_runs
from fedatlas.publish.tracking.writers import ClientWriter, DatabaseWriter
from tests.fuzz.targets import Target
from tests.tracking.tiny import DATA, EXPERIMENT, experiment_record

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
        "within": st.lists(VALUES, max_size=2, unique_by=lambda value: json.dumps(value, sort_keys=True)),
        "same": st.booleans(),
        "loss": st.lists(st.floats() | st.just(0.5), min_size=2, max_size=4),
        "seed": st.integers(0, 2**63 - 1),
        "name": TEXTS,
        "metrics": st.dictionaries(
            st.sampled_from(["runs", "claims/held"]), st.floats(allow_nan=False, allow_infinity=False)
        ),
    }
)


@functools.cache
def _clients() -> dict[str, Any]:
    """Clients of two databases by address, which stay open: to open one takes longer than all the rest."""
    from mlflow import MlflowClient

    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    with connect(f"sqlite:///{folder}/fast.db"):
        pass
    shutil.copy(folder / "fast.db", folder / "slow.db")
    return {uri: MlflowClient(uri) for uri in (f"sqlite:///{folder}/fast.db", f"sqlite:///{folder}/slow.db")}


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
    rows = [
        {"round": at, "loss": loss, "seconds": 0.1 * at, "gradients": 7.0 * at, "vectors_up": at}
        for _ in case["within"] or [0]
        for at, loss in enumerate(case["loss"])
    ]
    frame = pd.DataFrame(rows).assign(status="ok", diverged_round=-1)
    path = folder / case["id"] / "all.parquet"
    meta = RunMeta(spec, "0123456789abcdef", {}, {"breast_cancer": DATA}).plain()
    result_files.write(path, frame, json.loads(json.dumps(meta)))
    return path


def _contents(client: Any, experiment: str) -> dict[str, Any]:
    result = {}
    for run in client.search_runs([experiment]):
        losses = [(m.step, m.timestamp, m.value) for m in client.get_metric_history(run.info.run_id, "loss")]
        inputs = [(str(item.dataset), [(t.key, t.value) for t in item.tags]) for item in run.inputs.dataset_inputs]
        result[run.data.tags["fedatlas.key"]] = (
            run.info.run_name, run.data.params, run.data.tags, run.data.metrics, losses, inputs, run.info.start_time,
        )  # fmt: skip
    return result


def _run(content: str, folder: Path) -> None:
    case = json.loads(content)
    path = _write(case, folder)
    record = experiment_record(EXPERIMENT, grid={})
    record.defaults.update({case["id"]: {}})
    record.algorithms.update({case["id"]: case["id"]})
    record.tags.update(case["tags"])
    entries = list(read_runs(record, path, record.tags))
    assert len({entry.key for entry in entries}) == len(entries)
    report = ReportRun(case["name"], case["metrics"], {}, record.content)
    result, name = [], f"fuzz{next(NUMBERS)}"
    for (uri, client), kind in zip(_clients().items(), (DatabaseWriter, ClientWriter), strict=True):
        experiment = client.create_experiment(name, artifact_location=f"mlflow-artifacts:/{name}")
        kind(client, experiment).add([(e, {**e.tags, "fedatlas.key": e.key}) for e in entries])
        result.append(_contents(client, experiment))
        again = RunLog(client, experiment, f"{record.size}/{case['id']}/all/", uri)
        assert again.stored.keys() == {entry.key for entry in entries}
        log = RunLog(client, experiment, "laptop", uri)
        log.open("a report", record.tags, report, start=10**12)
        assert client.get_run(log.report_id).data.metrics == case["metrics"]
    assert result[0] == result[1]
    for entry in entries:
        run_name, params, tags, _, losses, *_ = result[0][entry.key]
        assert run_name == entry.name and params == entry.params
        assert entry.tags.items() <= tags.items()
        assert [value for *_, value in losses] == [value for key, value, *_ in entry.metrics if key == "loss"]


MLFLOW_RUNS = Target("mlflow-runs", INPUTS.map(json.dumps), _run, seconds=60, text=True)
