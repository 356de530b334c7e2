"""Every result of a study depends on exactly those of its own files that made it: a table of edits of each file."""

import pytest

from tests.workflow.edited import OWN as STUDY
from tests.workflow.test_edits import appended, claims, descriptions, figures, grouped, replaced


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


# `make slow` plans each edit. `make test` leaves out those that make the same again as another file.
ALIKE = {"extensions/cyclic.py", "extensions/step.py", "extensions/max_norm.py"}
GROUPS = grouped({file: EDITS[file] for file in EDITS if file not in ALIKE}, {file: {file} for file in EDITS})


@pytest.mark.parametrize("files", [*GROUPS, *(pytest.param([file], marks=pytest.mark.slow) for file in EDITS)], ids=str)
def test_a_line_in_an_own_file_plans_what_uses_it_and_nothing_else(copied_study, files):
    with copied_study.edited([(file, appended) for file in files]):
        planned = copied_study.planned()
    assert planned == set().union(*(EDITS[file] for file in files))


AFTER_WORDS = {edit[:3]: edit[3] for edit in WORDS}
WORD_GROUPS = grouped(AFTER_WORDS, {edit: {edit[0]} for edit in AFTER_WORDS})


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
    assert files == set(EDITS)


def test_the_report_names_the_paper_of_the_study(copied_study):
    text = (copied_study.project.folder / "results/report.html").read_text()
    assert "On FedMine" in text and "Journal of Studies" in text and "Me et al." in text
