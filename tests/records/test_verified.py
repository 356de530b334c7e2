"""Verifications: what a row proves, for which code it counts, and what is said of all runs."""

import dataclasses
import math
from types import SimpleNamespace

import pytest

from fedatlas import UserError
from fedatlas.records.verified import (
    DIFFERS,
    EQUAL,
    FILE,
    Held,
    Verification,
    add_verifications,
    code_digest,
    find_verified,
    meaning,
    read_verifications,
)

ENGINE, BEFORE = {"engine": "1"}, {"engine": "0", "dane": "0", "scaffold": "0"}


def held(id, key="all", content="c", runs=9, **modules):
    cell = SimpleNamespace(id=id, key=key, checksum=content, meta=SimpleNamespace(computed=[0] * runs))
    return Held(cell, {**ENGINE, **modules})


def row(cell, modules=None, **changes):
    code = cell.modules if modules is None else modules
    values = {
        "date": "2026-01-01",
        "size": "paper",
        "experiment": "e",
        "algorithm": cell.cell.id,
        "cell": cell.cell.key,
        "checksum": cell.cell.checksum,
        "code": code_digest(code),
        "state": "old" if modules else "today",
        "runs": 1,
        "total": len(cell.cell.meta.computed),
        "outcome": EQUAL,
        "difference": 0.0,
        "processor": "p",
        "versions": "v",
    }
    return Verification(**values | changes)


def places(cells, rows):
    cells = {(each.cell.id, each.cell.key): each for each in cells}
    return {"/".join(place) for place in find_verified(cells, rows, {"old": BEFORE, "today": ENGINE})}


CELLS = [held("scaffold", str(number), scaffold="0") for number in range(4)]


CELLS += [held("dane", str(number), dane="1") for number in range(4)]


OLD = [row(cell, {name: BEFORE[name] for name in cell.modules}) for cell in CELLS]


def test_a_cell_counts_for_the_code_that_computed_runs_of_it():
    assert places(CELLS, OLD) == set()
    assert places(CELLS, [row(CELLS[0])]) == {"scaffold/0"}


def test_an_edit_that_cells_share_counts_for_others_once_three_were_computed_again():
    two, three = [*OLD, *map(row, CELLS[:2])], [*OLD, *map(row, CELLS[:3])]
    assert places(CELLS, two) == {"scaffold/0", "scaffold/1"}
    assert places(CELLS, three) == {f"scaffold/{number}" for number in range(4)}


def test_cells_that_do_not_run_the_changed_module_prove_nothing_of_it():
    assert not {place for place in places(CELLS, [*OLD, *map(row, CELLS[:4])]) if place.startswith("dane")}
    engine_alone = [held("dane", str(number), dane="0") for number in range(4)]
    cells, rows = [*CELLS[:4], *engine_alone], [*OLD, *map(row, CELLS[:3])]
    assert len(places(cells, rows)) == 8  # the engine alone has changed, which all of them run


def test_a_cell_of_which_no_run_was_ever_computed_again_never_counts():
    assert "scaffold/3" not in places(CELLS, [*OLD[:3], *OLD[4:], *map(row, CELLS[:3])])


def test_other_content_never_counts():
    changed = held("scaffold", "3", content="halved", scaffold="0")
    assert "scaffold/3" not in places([*CELLS[:3], changed, *CELLS[4:]], [*OLD, *map(row, CELLS[:4])])


def test_a_difference_withdraws_all_rows_of_its_code_and_what_rests_on_them():
    fault = row(CELLS[1], outcome=DIFFERS, difference=math.inf)
    rows = [*OLD, *map(row, CELLS[:3])]
    assert places(CELLS, [*rows, fault]) == set()
    assert places(CELLS, [*rows, fault, row(CELLS[0])]) == {"scaffold/0"}
    assert places(CELLS, [*OLD, fault, *map(row, (CELLS[0], CELLS[2], CELLS[3]))]) == {
        "scaffold/0",
        "scaffold/2",
        "scaffold/3",
    }


def test_other_runs_that_are_equal_do_not_mend_one_that_differs():
    """Each draw is of one run, so a later one may miss what an earlier one met. All runs do not."""
    fault = row(CELLS[1], outcome=DIFFERS, difference=math.inf)
    assert places(CELLS, [fault, row(CELLS[1], runs=8)]) == set()
    assert places(CELLS, [fault, row(CELLS[1], runs=9)]) == {"scaffold/1"}


def test_a_difference_of_content_that_is_gone_withdraws_nothing():
    fault = row(CELLS[1], outcome=DIFFERS, checksum="damaged")
    assert places(CELLS, [row(CELLS[0]), fault]) == {"scaffold/0"}


def test_a_row_of_another_number_of_runs_does_not_count():
    assert places(CELLS, [row(CELLS[0], total=3)]) == set()


@pytest.mark.parametrize(
    "change",
    [
        {"runs": 0},
        {"runs": -3},
        {"runs": 10},
        {"difference": 1e9},
        {"difference": math.nan},
        {"outcome": "yes"},
    ],
    ids=str,
)
def test_a_row_that_says_nothing_is_refused_with_its_line(tmp_path, change):
    good = row(CELLS[0])
    with pytest.raises(ValueError, match=next(iter(change))):
        dataclasses.replace(good, **change)
    add_verifications(tmp_path, [good], {"today": ENGINE})
    lines = (tmp_path / FILE).read_text().splitlines()
    values = dict(zip(lines[0].split(","), lines[1].split(","), strict=True)) | {k: str(v) for k, v in change.items()}
    (tmp_path / FILE).write_text("\n".join([lines[0], lines[1], ",".join(values.values())]) + "\n")
    with pytest.raises(UserError, match=f"{FILE}, line 3: {next(iter(change))}"):
        read_verifications(tmp_path)


def test_another_header_is_refused_with_the_right_one(tmp_path):
    add_verifications(tmp_path, [row(CELLS[0])], {"today": ENGINE})
    (tmp_path / FILE).write_text((tmp_path / FILE).read_text().replace("checksum", "sum", 1))
    with pytest.raises(UserError, match=f"{FILE}, line 1 must be date,size,experiment,"):
        read_verifications(tmp_path)


def add(folder, new, states):
    add_verifications(folder, [new], states)


def test_rows_are_appended_and_states_of_one_code_are_one(tmp_path):
    add(tmp_path, row(CELLS[0]), {"today": {"engine": "1", "scaffold": "0"}})
    before = (tmp_path / FILE).read_text()
    add(tmp_path, row(CELLS[4], state="later"), {"later": {"engine": "1", "dane": "1"}})
    add(tmp_path, row(CELLS[4], state="edited"), {"edited": {"engine": "2", "dane": "1"}})
    found = read_verifications(tmp_path)
    assert (tmp_path / FILE).read_text().startswith(before)
    assert [each.state for each in found.rows] == ["today", "today", "edited"]
    assert found.states == {
        "today": {"dane": "1", "engine": "1", "scaffold": "0"},
        "edited": {"dane": "1", "engine": "2"},
    }


def test_what_is_said_is_about_runs():
    cells = [each.cell for each in CELLS[:2]]
    assert meaning(cells, []) == "none of 18 runs was computed again"
    assert meaning(cells, list(map(row, CELLS[:2]))) == "2 of 18 runs were computed again and agree to the last bit"
    whole = [row(CELLS[0], runs=9, difference=1e-12), row(CELLS[1], runs=9)]
    assert meaning(cells, whole) == "18 of 18 runs were computed again and agree up to 1e-12 relative"


def test_draws_that_may_have_met_the_same_runs_are_never_all_of_them():
    cell = held("dane", runs=5).cell
    rows = [row(Held(cell, ENGINE)) for _ in range(9)]
    assert meaning([cell], rows).startswith("4 of 5 runs were computed again")


def test_of_a_state_in_two_folders_counts_what_both_say(tmp_path):
    """Folders of records may differ in what they added to a state, as each knows its own rows alone."""
    for dane in "01":
        add(tmp_path / dane, row(CELLS[0]), {"today": {"engine": "1", "dane": dane}})
    assert read_verifications(tmp_path / "0", tmp_path / "1").states == {"today": {"engine": "1"}}
