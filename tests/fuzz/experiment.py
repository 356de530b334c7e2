"""Experiments from file to report: what passes the check does not fail for its own sake in any later step.

Tiny experiments of the corpus, whose title is Generated, are computed after edits of their values. Of shipped ones with
edits, the file is read, checked and expanded to cells.
"""

import atexit
import contextlib
import copy
import functools
import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import yaml
from hypothesis import strategies as st

from fedatlas import UserError
from fedatlas.data.store import prepare
from fedatlas.experiments.result_files import read
from fedatlas.experiments.run import run_cell
from fedatlas.experiments.view import TableMeta
from fedatlas.io.files import write_json
from fedatlas.publish.tracking.records import report_run, setting_runs
from fedatlas.workflow.graph import Graph
from fedatlas.workflow.jobs import claims, figure, optimum, partition, report, table
from fedatlas.workflow.study import Study
from tests.fuzz.targets import CORPUS, Target, mutated

SHIPPED = [path.read_bytes() for path in sorted((Path(__file__).parents[2] / "config/experiments").glob("*.yaml"))]
LINES = sorted({line for text in SHIPPED for line in text.splitlines(keepends=True)})
SETTINGS = {"size": "smoke", "tour": [], "experiments": "all", "data": "data", "data_mirrors": [], "mlflow_uri": ""}


class Late(Exception):
    """A mistake that the check before any job did not find."""


@functools.cache
def prepared() -> Path:
    """A folder with the data sets that generated experiments use."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name in ("breast_cancer", "digits"):
        prepare(name, folder)
    return folder


def _run(content: bytes, folder: Path) -> None:
    path = folder / "config/experiments/generated.yaml"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    prepared()
    with contextlib.chdir(folder):
        graph = Graph(Study(SETTINGS))
        graph.study.cells("smoke", "generated")
        if graph.study.experiment("smoke", "generated").title != "Generated":
            return
        try:
            _make(graph, SimpleNamespace(size="smoke", experiment="generated"))
        except UserError as error:
            raise Late(str(error)) from error


def _make(graph: Graph, w: Any) -> None:
    """All that the rules of the workflow make of an experiment, in their order."""
    folder, data = Path(graph.folders.experiment(w.size, w.experiment)), prepared()
    runs = [Path(file) for file in graph.run_files(w)]
    facts = json.loads(graph.specification("about", w))
    layout = json.loads(graph.specification("table", w))
    figures = {name: _figure(graph, w, name) for name in graph.study.experiment(w.size, w.experiment).figures}
    judged = json.loads(graph.specification("claims", w))
    graph.check_inputs(w), graph.code("claims", w), graph.code("table", w)
    for file in runs:
        at = SimpleNamespace(**vars(w), id=file.parent.name, key=file.stem)
        arguments = _make_inputs(graph, graph.run_inputs(at))
        run_cell(graph.run_spec(at), file, data, **arguments)
    table.make(layout, str(folder), list(map(str, runs)))
    for name, (spec, inputs) in figures.items():
        _make_inputs(graph, inputs)
        figure.make(spec, str(folder), [str(folder / f"figures/{name}.png")], str(data))
    claims.make(judged, str(folder), str(folder / "claims.csv"))
    write_json(folder / "about.json", facts)
    report.make(str(folder / "report.html"), [str(folder)])
    (results, plain), (curves, _) = (read(folder / f"{name}.parquet") for name in ("table", "curves"))
    meta = TableMeta.from_dict(plain)
    assert report_run(facts, meta, 0, folder).digest()
    items = list(setting_runs(facts, results, curves, meta, 0))
    assert len({item.key for item in items}) == len(items) == results["chosen"].sum()
    assert all(item.digest() and item.metrics for item in items)


def _figure(graph: Graph, w: Any, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    at = SimpleNamespace(**vars(w), figure=name)
    return json.loads(graph.specification("figure", at)), graph.figure_inputs(at)


def _make_inputs(graph: Graph, inputs: dict[str, Any]) -> dict[str, str]:
    """Make the partitions and optima among the inputs of a rule; returns those of a run file."""
    result = {}
    for name, job in (("partition", partition), ("partitions", partition), ("optimum", optimum)):
        paths = inputs.get(name, [])
        for path in [paths] if isinstance(paths, str) else paths:
            w = SimpleNamespace(key=Path(path).stem)
            if not Path(path).exists():
                job.make(graph.origins.find(Path(path).parent.name, w.key), path, str(prepared()))
            result[name] = path
    return {name: path for name, path in result.items() if name != "partitions"}


def _edited(values: tuple[bytes, list[tuple[int, bytes]]]) -> bytes:
    """A file of which some lines are replaced by lines of other files."""
    text, edits = values
    lines = text.splitlines(keepends=True)
    for at, line in edits:
        lines[at % len(lines)] = line
    return b"".join(lines)


def _nodes(value: Any, key: str = "") -> Iterator[tuple[Any, Any, str]]:
    """Each place inside a document, as its container, its key or index there, and the nearest key of a mapping."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for at, inside in list(items):
        name = at if isinstance(value, dict) else key
        yield value, at, name
        yield from _nodes(inside, name)


@functools.cache
def _seen() -> dict[str, list[Any]]:
    """Values by the key at which shipped experiments have them."""
    result: dict[str, list[Any]] = {}
    for text in SHIPPED:
        for container, at, key in _nodes(yaml.safe_load(text)):
            if len(values := result.setdefault(key, [])) < 40 and container[at] not in values:
                values.append(container[at])
    return result


@st.composite
def _computed(draw: Any) -> bytes:
    """A tiny experiment with up to three values of others at the same key, at a bound or wrong."""
    document = copy.deepcopy(draw(st.sampled_from(TINY)))
    for _ in range(draw(st.integers(1, 3))):
        container, at, key = draw(st.sampled_from(list(_nodes(document))))
        others = _seen().get(key, [container[at]])  # most are right, so that most inputs are computed
        container[at] = copy.deepcopy(
            draw(st.sampled_from(others) if draw(st.integers(0, 5)) else st.sampled_from(EXTREME))
        )
    return json.dumps(document, indent=1, default=str).encode()


TINY = [
    document
    for path in sorted((CORPUS / "experiment").iterdir())
    if (document := yaml.safe_load(path.read_bytes()))["title"] == "Generated"
]
EXTREME = (None, "none", "1", -1, 0, 1.5, True, [], {}, {"kind": "nope"}, 2**63, 1e-320, 1.7e308, "1/L", "1/0", "$x_$")
EDITS = st.lists(st.tuples(st.integers(0, 400), st.sampled_from(LINES)), max_size=4)
TEXTS = mutated([*SHIPPED, b"a: &a [1, *a]\n", b"? [x]\n: y\n", b"2026-11-01: 1e3\n", b"a: \0\n"])
EXPERIMENT = Target(
    "experiment", _computed() | TEXTS | st.tuples(st.sampled_from(SHIPPED), EDITS).map(_edited), _run, seconds=60
)
