"""Records: the rows that jobs wrote come back, and what was changed, swapped or damaged is noticed."""

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fedatlas import UserError
from fedatlas.experiments import run as module
from fedatlas.experiments.cells import Cell, CellSpec, Select
from fedatlas.experiments.result_files import read, read_table
from fedatlas.experiments.run import run_cell
from fedatlas.experiments.runs import RunMeta
from fedatlas.experiments.tables import build
from fedatlas.records.record import CELL, Restoration, read_record, write_file
from fedatlas.workflow.study import Study

COMMITTED = sorted(Path(__file__).parents[2].glob("record/*/*"))


SELECT = Select(metric="loss", statistic="final", goal="min", seeds=[1000, 1001], last=2)


def cell(id="fedavg", statistic="final", seeds=(0, 1), point=None, **changes):
    spec = {
        "algorithm": "fedavg",
        "parameters": {},
        "problem": {"kind": "quadratic", "dim": 3, "L": 10.0, "heterogeneity": 1.0, "noise": 1.0},
        "setting": {"clients": 3, "rounds": 6, "batch": 1, "local_steps": 2},
        "tune": {"lr": [0.01, 0.05, 10.0]},
        "seeds": list(seeds),
        "select": replace(SELECT, statistic=statistic),
    }
    return Cell(id, point or {}, CellSpec(**{**spec, **changes}))


def write(folder, files):
    """Write the record of run files, as `record add` does."""
    contents = {}
    for each, path in files:
        table, meta = read_table(path)
        contents.setdefault(each.id, []).append(({"id": each.id, "key": each.key, **meta}, table))
    for id, cells in contents.items():
        write_file(folder / f"{id}.parquet", cells)
    return read_record(folder)


@pytest.fixture(scope="module", params=["final", "best"])
def files(request, tmp_path_factory):
    """Cells with their run files: two of one algorithm, of which one tunes a formula, and one with an axis within."""
    folder = tmp_path_factory.mktemp("runs")
    cells = [
        cell(statistic=request.param, point={"a": 1}),
        cell(statistic=request.param, point={"a": 2}, tune={"lr": ["1/L", 0.05]}),
        cell("several", request.param, within={"local_steps": [1, 3]}),
    ]
    for each in cells:
        run_cell(each.spec, folder / each.id / f"{each.key}.parquet")
    return [(each, folder / each.id / f"{each.key}.parquet") for each in cells]


def test_a_restored_file_is_the_run_file(files, tmp_path):
    record = write(tmp_path / "record", files)
    for each, path in files:
        record.find(each).write(tmp_path / "restored.parquet")
        expected, found = read_table(path), read_table(tmp_path / "restored.parquet")
        assert found[0].equals(expected[0].select(found[0].column_names)) and len(found[0].schema) == len(
            expected[0].schema
        )
        assert RunMeta.from_dict(found[1]) == replace(RunMeta.from_dict(expected[1]), recorded=True)


def test_runs_that_only_compare_values_hold_the_rows_of_their_score(files):
    for each, path in files:
        frame = read(path)[0]
        of_runs = [*each.spec.within, "lr", "seed"]
        compared = frame[~frame["seed"].isin(each.spec.seeds)]
        assert compared.groupby(of_runs).size().max() <= 4
        assert frame[frame["seed"].isin(each.spec.seeds)].groupby(of_runs).size().eq(7).all()
        rounds = compared.groupby(of_runs)["round"].diff().fillna(compared["round"])
        accounted = compared["exchanges"].map(lambda text: sum(rounds for _, rounds in json.loads(text)["rounds"]))
        assert (rounds == accounted).all()


def test_scores_of_these_rows_are_those_of_all_rows(files, monkeypatch, tmp_path):
    monkeypatch.setattr(module, "file_rows", lambda spec, seed, rows: rows)
    for each, path in files:
        run_cell(each.spec, tmp_path / each.id / path.name)
        few, all_rows = (build([], each.spec.select, [file]) for file in (path, tmp_path / each.id / path.name))
        for name in ("table", "trials"):
            first, second = (
                getattr(tables, name).drop(columns="seconds", errors="ignore") for tables in (few, all_rows)
            )
            pd.testing.assert_frame_equal(first, second, check_exact=True)


def test_the_same_content_has_the_same_bytes(files, tmp_path):
    for name in ("one", "other"):
        write(tmp_path / name, files)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "other" / path.name).read_bytes()


def test_a_cell_keeps_its_checksum_beside_others(files, tmp_path):
    """Also where another cell turns a column of numbers into text."""
    alone, together = write(tmp_path / "alone", files[:1]), write(tmp_path / "together", files)
    assert alone.find(files[0][0]).checksum == together.find(files[0][0]).checksum


def test_a_cell_is_found_for_all_or_fewer_of_its_seeds_and_for_nothing_else(files, tmp_path):
    record = write(tmp_path / "record", files)
    held = files[0][0]
    assert record.find(held) is record.cells["fedavg", "a=1"]
    for seeds, found in (([1], True), ([0, 1, 2], False)):
        assert (record.find(replace(held, spec=replace(held.spec, seeds=seeds))) is not None) == found
    assert record.find(replace(held, spec=replace(held.spec, tune={"lr": [0.01, 0.05]}))) is None
    assert record.find(replace(held, id="other")) is None


def test_a_cell_that_stands_twice_is_refused(files, tmp_path):
    """Two readers would take different ones."""
    table, meta = read_table(files[0][1])
    write_file(tmp_path / "fedavg.parquet", [({"id": "fedavg", "key": "a=1", **meta}, table)] * 2)
    with pytest.raises(UserError, match="stands twice"):
        read_record(tmp_path)


def test_a_restored_file_holds_the_seeds_that_are_asked_for(files, tmp_path):
    found = write(tmp_path / "record", files).find(files[0][0])
    out = tmp_path / "few.parquet"
    Restoration(str(found.path), found.key, found.checksum, [1], "code", False).write(out)
    frame, plain = read(out)
    meta = RunMeta.from_dict(plain)
    assert set(frame["seed"]) & {0, 1} == {1}
    assert (meta.spec.seeds, meta.fingerprint, meta.recorded, meta.unverified) == ([1], "code", True, True)
    assert len(meta.computed) == len(frame.groupby(["lr", "seed"]))


def test_a_cell_that_changed_since_it_was_looked_at_is_not_restored(files, tmp_path):
    found = write(tmp_path / "record", files).find(files[0][0])
    with pytest.raises(UserError, match="has changed"):
        Restoration(str(found.path), found.key, "0", [1], "code", True).write(tmp_path / "out.parquet")


def test_more_seeds_run_beside_those_of_a_record_and_nothing_else(files, tmp_path, monkeypatch):
    each, _ = files[0]
    write(tmp_path / "record", files).find(each).write(tmp_path / "runs.parquet")
    computed = []
    original = module._run
    monkeypatch.setattr(module, "_run", lambda group, *rest: computed.extend(group) or original(group, *rest))
    run_cell(replace(each.spec, seeds=[0, 1, 2]), tmp_path / "runs.parquet")
    assert {run.seed for run in computed} == {2}


def test_runs_are_computed_again_where_another_score_chooses_or_they_are_scored(files, tmp_path):
    """Of runs that only compared values a file has the rows of their score."""
    each, path = files[0]
    other = {"final": "best", "best": "final"}[each.spec.select.statistic]
    fresh = [seed for seed in read(path)[0]["seed"].unique() if seed not in (*each.spec.seeds, *SELECT.seeds)]
    changes = [{"select": replace(each.spec.select, statistic=other)}, {"seeds": [0, 1, *map(int, fresh[:1])]}]
    for number, change in enumerate(changes):
        changed = replace(each.spec, **change)
        kept, anew = tmp_path / f"kept{number}.parquet", tmp_path / f"anew{number}.parquet"
        kept.write_bytes(path.read_bytes())
        run_cell(changed, kept)
        run_cell(changed, anew)
        first, second = (read(file)[0].drop(columns="seconds") for file in (kept, anew))
        pd.testing.assert_frame_equal(first, second, check_exact=True)


def changed_file(path, change):
    """Write a file of a record with one change, with sound pages and columns."""
    file = pq.ParquetFile(path)
    groups = [file.read_row_group(group) for group in range(file.num_row_groups)]
    loss, text = groups[0]["loss"].to_numpy().copy(), groups[0][CELL][0].as_py()
    if change == "number":
        loss[0] *= 1.1
    elif change == "rows":
        loss[:] = loss[::-1]
    elif change == "columns":
        loss = groups[0]["suboptimality"].to_numpy()
    elif change == "metadata":
        text = text.replace('"dim": 3', '"dim": 4')
    elif change == "swapped":
        texts = [group[CELL][0].as_py() for group in groups]
        text, second = texts[1], texts[0]
        groups[1] = groups[1].set_column(groups[1].schema.names.index(CELL), CELL, pa.array([second] * len(groups[1])))
    table = groups[0].set_column(groups[0].schema.names.index("loss"), "loss", pa.array(loss))
    groups[0] = table.set_column(table.schema.names.index(CELL), CELL, pa.array([text] * len(table)))
    with pq.ParquetWriter(path, groups[0].schema) as writer:
        for group in groups:
            writer.write_table(group.cast(groups[0].schema))


@pytest.mark.parametrize("change", ["number", "rows", "columns", "metadata", "swapped"])
def test_a_change_changes_the_checksum_or_is_refused(files, tmp_path, change):
    before = write(tmp_path / "record", files)
    known = {(place, found.checksum) for place, found in before.cells.items() if place[0] == "fedavg"}
    changed_file(tmp_path / "record/fedavg.parquet", change)
    try:
        found = read_record(tmp_path / "record").cells["fedavg", "a=1"].checksum
    except UserError as error:
        found = str(error)
    assert (("fedavg", "a=1"), found) not in known


@pytest.mark.parametrize("change", ["cut", "other", "renamed"])
def test_a_damaged_file_is_one_sentence_that_names_it(files, tmp_path, change):
    write(tmp_path / "record", files)
    path = tmp_path / "record/fedavg.parquet"
    if change == "cut":
        path.write_bytes(path.read_bytes()[:-100])
    elif change == "other":
        path.write_bytes(files[0][1].read_bytes())
    else:
        path = path.rename(tmp_path / "record/scaffold.parquet")
    with pytest.raises(UserError, match=f"{path.name} is not a record of fedatlas, or was damaged"):
        read_record(tmp_path / "record")


@pytest.mark.parametrize(
    "folder",
    [pytest.param(folder, marks=[pytest.mark.slow] if folder.parent.name != "smoke" else []) for folder in COMMITTED],
    ids=lambda folder: f"{folder.parent.name}-{folder.name}",
)
def test_a_committed_record_is_whole_and_names_no_place_of_a_machine(folder):
    record = read_record(folder)
    known = {*Study.open().cells(folder.parent.name, folder.name)}
    assert record.cells.keys() <= known
    for held in record.cells.values():
        assert '"origin"' not in json.dumps(held.plain["data"])
        assert all({"source", "arrays"} <= provenance.keys() for provenance in held.meta.data.values())
