"""Every result of a study depends on exactly those of its own files that made it: a table of edits of each file."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from fedatlas.workflow import dependencies
from fedatlas.workflow.graph import Graph
from fedatlas.workflow.study import Study
from tests.workflow.edited import OWN as STUDY
from tests.workflow.edited import with_extensions
from tests.workflow.test_edits import appended, claims, descriptions, figures, grouped, replaced
from tests.workflow.test_record_edits import forget


def table(experiment, *names):
    """A table, and what is made from it. names: of figures."""
    return {f"{experiment} table"} | figures(experiment, *names) | claims(experiment)


def runs(experiment, *files, names=()):
    """Run files, and what is made from them."""
    return {f"{experiment} run {name}" for name in files} | table(experiment, *names)


DRAWN = ("scores", "curves", "timed")
MINE = runs("own", "mine all", names=DRAWN)
OWN = runs("own", "fedavg all", "mine all", names=DRAWN)
EDITS = {  # by file: a line more in it, and all that must be made again
    "extensions/mine.py": MINE,
    "extensions/steps.py": MINE,  # which mine.py imports
    "extensions/cyclic.py": OWN,
    "shared/rounds.py": OWN,  # which a function of cyclic.py imports, outside of the extensions
    "extensions/step.py": OWN,
    "extensions/by_label.py": OWN | {"partition"},
    "extensions/tables/table.py": OWN | {"partition", "prepared"},
    "extensions/max_norm.py": OWN,
    "extensions/bars.py": figures("own", "scores"),
    "extensions/phone.py": figures("own", "timed"),
    "extensions/stable.py": claims("own"),
    "extensions/log_cosh.py": runs("centers", "fedavg all"),
    "extensions/tanh.py": runs("network", "fedavg all"),
    "extensions/unused.py": set(),
    "extensions/points.py": set(),  # a data set reaches results through its entry
}
WORDS = [  # (file, old, new, what must be made again)
    ("extensions/mine.py", "FedMine (Me 2026)", "FedMine of Me (2026)", set()),
    ("extensions/mine.py", "local step size", "step size of a client", descriptions("own")),
    ("extensions/points.py", "rows=8", "rows=8, note='Few.'", OWN | {"partition", "prepared"}),
    (
        "references.bib",
        "Journal of Studies",
        "Journal of More Studies",
        set().union(*map(descriptions, ("own", "centers", "network"))),
    ),
    ("config/config.yaml", "size: smoke", "size: smoke\nextensions: [extensions, shared]", set()),
]


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
    forget()
    dependencies._fingerprints.cache_clear()
    dependencies._fingerprint.cache_clear()
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
    forget()


def test_a_line_in_an_own_file_changes_the_code_of_what_runs_it(study):
    before, changed = code_of_jobs(), {}
    for file in CODE:
        text = (study / file).read_text()
        (study / file).write_text(appended(text))
        changed[file] = {name for name, code in code_of_jobs().items() if code != before[name]}
        (study / file).write_text(text)
    assert changed == CODE and code_of_jobs() == before


@pytest.mark.slow
@pytest.mark.parametrize("file", EDITS)
def test_a_line_in_an_own_file_plans_what_uses_it_and_nothing_else(copied_study, file):
    with copied_study.edited([(file, appended)]):
        assert copied_study.planned() == EDITS[file]


AFTER_WORDS = {edit[:3]: edit[3] for edit in WORDS}
WORD_GROUPS = grouped(AFTER_WORDS, {edit: {edit[0]} for edit in AFTER_WORDS})


@pytest.mark.slow
@pytest.mark.parametrize("edits", WORD_GROUPS, ids=lambda edits: ", ".join(file for file, _, _ in edits))
def test_words_plan_what_shows_them(copied_study, edits):
    with copied_study.edited([(file, replaced(old, new)) for file, old, new in edits]):
        assert copied_study.planned() == set().union(*(AFTER_WORDS[edit] for edit in edits))


@pytest.mark.slow
def test_a_kind_that_vanishes_with_its_file_leaves_the_rest(copied_study):
    path = copied_study.project.folder / "extensions/unused.py"
    text = path.read_text()
    path.unlink()
    try:
        assert copied_study.planned() == set()
    finally:
        path.write_text(text)


def test_every_file_of_the_study_is_edited():
    files = {str(path.relative_to(STUDY)) for name in ("extensions", "shared") for path in (STUDY / name).rglob("*.py")}
    assert files == set(EDITS) == set(CODE)


@pytest.mark.slow
def test_the_report_names_the_paper_of_the_study(copied_study):
    text = (copied_study.project.folder / "results/report.html").read_text()
    assert "On FedMine" in text and "Journal of Studies" in text and "Me et al." in text
