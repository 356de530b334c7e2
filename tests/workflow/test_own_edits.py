"""Every result of a study depends on exactly those of its own files that made it: a table of edits of each file."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from fedatlas.workflow import dependencies
from fedatlas.workflow.graph import Graph
from fedatlas.workflow.study import Study
from tests.helpers import forget_code
from tests.workflow.edited import OWN as STUDY
from tests.workflow.edited import with_extensions
from tests.workflow.test_edits import appended

DRAWN = ("scores", "curves", "timed")


CODE = {  # by file: the jobs whose code a line more in it changes; what else is made again follows from their results
    "extensions/mine.py": {"own run mine", "own figure timed"},
    "extensions/steps.py": {"own run mine", "own figure timed"},
    "extensions/cyclic.py": {"own run fedavg", "own run mine", "own figure timed"},
    "shared/rounds.py": {"own run fedavg", "own run mine", "own figure timed"},
    "extensions/step.py": {"own run fedavg", "own run mine", "own figure timed"},
    "extensions/by_label.py": {"partition"},
    "extensions/tables/table.py": {"prepared"},
    "extensions/max_norm.py": {
        "own run fedavg", "own run mine", "own table", "own claims", *(f"own figure {name}" for name in DRAWN)
    },
    "extensions/bars.py": {"own figure scores"},
    "extensions/phone.py": {"own figure timed"},
    "extensions/stable.py": {"own claims"},
    "extensions/log_cosh.py": {"centers run fedavg"},
    "extensions/tanh.py": {"network run fedavg"},
    "extensions/unused.py": set(),
    "extensions/points.py": set(),
}  # fmt: skip


def code_of_jobs():
    """The code of the jobs of the study in the working directory, as a new process would find it."""
    forget_code()
    dependencies._fingerprints.cache_clear()
    graph, result = Graph(Study.open()), {}
    for experiment, drawn in (("own", DRAWN), ("centers", ()), ("network", ())):
        w = SimpleNamespace(size="smoke", experiment=experiment)
        for cell in graph.cells(w):
            job = SimpleNamespace(**vars(w), id=cell.id, key=cell.key)
            result[f"{experiment} run {cell.id}"] = graph.code("train", job)
        for rule in ("table", "claims"):
            result[f"{experiment} {rule}"] = graph.code(rule, w)
        for figure in drawn:
            result[f"{experiment} figure {figure}"] = graph.code("figure", SimpleNamespace(**vars(w), figure=figure))
        if experiment == "own":
            (partition,) = (path for kind, path in graph.origins.files(cell.spec).items() if kind == "partition")
            result["partition"] = graph.code("partition", SimpleNamespace(key=Path(partition).stem))
            result["prepared"] = graph.code("prepare", SimpleNamespace(data="points"))
    return result


@pytest.fixture
def study(tmp_path, monkeypatch):
    """The study as working directory."""
    with_extensions(tmp_path / "study")
    monkeypatch.chdir(tmp_path / "study")
    yield tmp_path / "study"
    forget_code()


def test_a_line_in_an_own_file_changes_the_code_of_what_runs_it(study):
    before, changed = code_of_jobs(), {}
    for file in CODE:
        text = (study / file).read_text()
        (study / file).write_text(appended(text))
        changed[file] = {name for name, code in code_of_jobs().items() if code != before[name]}
        (study / file).write_text(text)
    assert changed == CODE and code_of_jobs() == before


def test_every_file_of_the_study_is_edited():
    files = {str(path.relative_to(STUDY)) for name in ("extensions", "shared") for path in (STUDY / name).rglob("*.py")}
    assert files == set(CODE)
