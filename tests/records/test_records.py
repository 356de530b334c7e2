"""Records: what is kept is exact, what was changed is refused, and signatures say no more than was computed."""

import functools
import itertools
import json
import math
from pathlib import Path

import pandas as pd
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedatlas import UserError
from fedatlas.experiments import run as module
from fedatlas.experiments.cells import Cell, CellSpec, Select
from fedatlas.experiments.metadata import RunMeta
from fedatlas.experiments.result_files import read, write
from fedatlas.experiments.run import compute_run, load_problem, run_cell, stored_runs
from fedatlas.experiments.tables import Layout, build
from fedatlas.records.record import NOTES, Restoration, _compressed, _decompressed, read_record, write_record
from fedatlas.records.reduction import Reading, run_columns
from fedatlas.records.signatures import Signature, add_signatures, largest_share, read_signatures, signers
from fedatlas.workflow.verification import TOLERANCES, compare, thin

COMMITTED = sorted(Path(__file__).parents[2].glob("record/*/*.parquet"))
SELECT = Select(metric="loss", statistic="final", goal="min", seeds=[1000, 1001], last=2)


def cell(id="fedavg", statistic="final", seeds=(0, 1), **changes):
    select = Select(**{**vars(SELECT), "statistic": statistic})
    spec = {
        "algorithm": "fedavg",
        "parameters": {},
        "problem": {"kind": "quadratic", "dim": 3, "L": 10.0, "heterogeneity": 1.0, "noise": 1.0},
        "setting": {"clients": 3, "rounds": 6, "batch": 1, "local_steps": 2},
        "tune": {"lr": [0.01, 0.05, 10.0]},
        "seeds": list(seeds),
        "select": select,
    }
    return Cell(id, {}, CellSpec(**{**spec, **changes}))


@pytest.fixture(scope="module", params=["final", "best"])
def files(request, tmp_path_factory):
    """Cells with their run files, of which one has an axis within."""
    folder = tmp_path_factory.mktemp("runs")
    cells = [cell(statistic=request.param), cell("several", request.param, within={"local_steps": [1, 3]})]
    for each in cells:
        run_cell(each.spec, folder / each.id / "all.parquet")
    return [(each, folder / each.id / "all.parquet") for each in cells]


def restored(record, files, folder):
    for c in record.cells:
        record.restore(Restoration(c.id, c.key, c.spec.seeds, "signed"), folder / c.path)
    return [folder / each.id / "all.parquet" for each, _ in files]


def test_table_curves_and_trials_of_a_record_are_those_of_its_run_files(files, tmp_path):
    record = write_record(tmp_path / "record.parquet", files[:1])
    layout = Layout([], [], ["lr"], files[0][0].spec.select)
    expected = build(layout, [files[0][1]])
    found = build(layout, restored(record, files[:1], tmp_path))
    for name in ("table", "curves", "trials"):
        first, second = (getattr(each, name).drop(columns="seconds", errors="ignore") for each in (expected, found))
        pd.testing.assert_frame_equal(first, second, check_exact=True)
    assert found.meta.seconds == pytest.approx(expected.meta.seconds)


def test_rows_of_runs_that_only_compare_values_are_few(files, tmp_path):
    record = write_record(tmp_path / "record.parquet", files)
    for (each, path), frame in zip(files, map(record.frame, record.cells), strict=True):
        of_runs = [*each.spec.within, "lr", "seed"]
        sizes = frame[~frame["seed"].isin(each.spec.seeds)].groupby(of_runs).size()
        assert sizes.max() <= 4
        full = read(path)[0]
        scoring = full["seed"].isin(each.spec.seeds)
        assert frame["seed"].isin(each.spec.seeds).sum() == scoring.sum()


def accounted(rows):
    """Rounds whose exchanges each row holds."""
    return [rounds_of(text) for text in rows["exchanges"]]


@functools.lru_cache(1 << 16)
def rounds_of(text):
    return sum(rounds for _, rounds in json.loads(text)["rounds"])


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_exchanges_of_a_committed_record_are_those_of_all_rounds(path):
    """Up to each evaluation of the runs on scoring seeds, since the one before."""
    record = read_record(path)
    for cell in record.cells:
        frame = record.frame(cell)
        rows = frame[frame["seed"].isin(cell.spec.seeds)]
        since = rows.groupby(run_columns(frame, cell.spec), dropna=False)["round"].diff().fillna(rows["round"])
        assert accounted(rows) == since.tolist(), (cell.id, cell.key)


def test_of_a_wide_experiment_what_is_read_is_kept_with_the_exchanges_between(tmp_path):
    wide = cell(setting={"clients": 3, "rounds": 60, "batch": 1, "local_steps": 2, "eval_rounds": 1})
    run_cell(wide.spec, tmp_path / "whole.parquet")
    whole = read(tmp_path / "whole.parquet")[0]
    scoring = whole.index[whole["seed"].isin(wide.spec.seeds)]
    chosen = [*scoring[[5, 9]], *scoring[[61 + 5]]]
    record = write_record(
        tmp_path / "r.parquet", [(wide, tmp_path / "whole.parquet")], readings=[Reading(chosen, ["loss"])]
    )
    frame = record.frame(record.cells[0])
    assert {"suboptimality", "distance"} <= {*whole} - {*frame} and frame["loss"].notna().all()
    assert sorted({*frame["seed"]} & {*wide.spec.seeds}) == [0, 1]
    for number, seed in enumerate(wide.spec.seeds):
        run, all_rows = (part[part["seed"] == seed] for part in (frame, whole.loc[scoring]))
        assert len(run) < 14 and {0, 5, 60} <= {*run["round"]} and (9 in {*run["round"]}) == (number == 0)
        for name in ("loss", "steps", "gradients", "vectors_down"):
            same = all_rows.set_index("round").loc[run["round"], name].to_numpy() == run[name].to_numpy()
            assert same.all(), name
        assert accounted(run) == run["round"].diff().fillna(0).tolist()
        rows, anew = run.to_dict("records"), all_rows.to_dict("records")
        assert compare(rows, thin(anew, {*run["round"]})) == (None, 0.0)
        fault, _ = compare(rows, anew)  # texts of one round each
        assert fault is not None and fault[0] == "exchanges"
    tuning = frame[~frame["seed"].isin(wide.spec.seeds)]
    assert (tuning.groupby(["lr", "seed"]).size() <= SELECT.last).all()


def test_the_same_content_has_the_same_bytes(files, tmp_path):
    path = tmp_path / "record.parquet"
    write_record(path, files)
    first, inode = path.read_bytes(), path.stat().st_ino
    write_record(path, files)
    assert path.stat().st_ino == inode  # the file was left as it is
    path.unlink()
    write_record(path, files)
    assert path.read_bytes() == first


def test_a_record_names_no_place_of_this_machine(files, tmp_path):
    cell, path = files[0]
    frame, meta = read(path)
    source = {"title": "Made up", "files": [{"name": "a", "sha256": "0", "origin": "/home/me/a"}]}
    write(tmp_path / "run.parquet", frame, {**meta, "data": {"made-up": source}})
    record = write_record(tmp_path / "record.parquet", [(cell, tmp_path / "run.parquet")])
    assert record.cells[0].meta["data"]["made-up"]["files"] == [{"name": "a", "sha256": "0"}]
    for committed in COMMITTED:
        text = json.dumps([cell.meta["data"] for cell in read_record(committed).cells])
        assert '"origin"' not in text, committed


def test_a_cell_is_found_for_all_or_fewer_of_its_seeds_and_for_nothing_else(files, tmp_path):
    record = write_record(tmp_path / "record.parquet", files)
    statistic = files[0][0].spec.select.statistic
    assert record.find(cell(statistic=statistic)) is record.cells[0]
    assert record.find(cell(statistic=statistic, seeds=[1])) is record.cells[0]
    assert record.find(cell(statistic=statistic, seeds=[0, 1, 2])) is None
    assert record.find(cell(statistic=statistic, tune={"lr": [0.01, 0.05]})) is None
    assert record.find(cell("other", statistic)) is None


def test_a_restored_file_holds_the_seeds_that_are_asked_for(files, tmp_path):
    record = write_record(tmp_path / "record.parquet", files)
    record.restore(Restoration("fedavg", "all", [1], "signed"), tmp_path / "few.parquet")
    frame, plain = read(tmp_path / "few.parquet")
    meta = RunMeta.of(plain)
    assert set(frame["seed"]) & {0, 1} == {1}
    assert (meta.spec.seeds, meta.fingerprint, meta.recorded) == ([1], "signed", True)


def test_more_seeds_run_beside_those_of_a_record(files, tmp_path, monkeypatch):
    """What a record holds of the scoring seeds is computed no second time."""
    record = write_record(tmp_path / "record.parquet", files)
    code = RunMeta.of(read(files[0][1])[1]).fingerprint
    record.restore(Restoration("fedavg", "all", [0, 1], code), tmp_path / "fedavg/all.parquet")
    wider = cell(statistic=files[0][0].spec.select.statistic, seeds=[0, 1, 2])
    computed = []
    original = module._run
    monkeypatch.setattr(module, "_run", lambda group, *rest: computed.extend(group) or original(group, *rest))
    run_cell(wider.spec, tmp_path / "fedavg/all.parquet")
    assert {run.seed for run in computed} == {2}


def test_runs_of_a_record_are_computed_again_where_another_score_chooses(files, tmp_path, monkeypatch):
    record = write_record(tmp_path / "record.parquet", files)
    code = RunMeta.of(read(files[0][1])[1]).fingerprint
    record.restore(Restoration("fedavg", "all", [0, 1], code), tmp_path / "fedavg/all.parquet")
    other = {"final": "best", "best": "final"}[files[0][0].spec.select.statistic]
    changed = cell(statistic=other)
    run_cell(changed.spec, tmp_path / "fedavg/all.parquet")
    run_cell(changed.spec, tmp_path / "anew/all.parquet")
    layout = Layout([], [], ["lr"], changed.spec.select)
    tables = [
        build(layout, [tmp_path / name]).table.drop(columns="seconds")
        for name in ("fedavg/all.parquet", "anew/all.parquet")
    ]
    for table in tables:
        table["algorithm"] = ""
    pd.testing.assert_frame_equal(*tables, check_exact=True)


@pytest.mark.parametrize("change", ["cut", "number", "form", "other"])
def test_a_damaged_record_is_one_sentence(files, tmp_path, change):
    path = tmp_path / "record.parquet"
    write_record(path, files)
    if change == "cut":
        path.write_bytes(path.read_bytes()[:-100])
    elif change == "other":
        path.write_bytes(files[0][1].read_bytes())
    else:
        table = pq.read_table(path)
        notes = table.schema.metadata
        if change == "number":
            name = "loss:double"
            numbers = pc.multiply(table[name], 1.1)
            table = table.set_column(table.schema.names.index(name), name, numbers)
        else:
            content = _decompressed(notes[NOTES]).replace('"form": 2', '"form": 99')
            notes = {NOTES: _compressed(content)}
        pq.write_table(table.replace_schema_metadata(notes), path)
    with pytest.raises(UserError, match=r"record"):
        record = read_record(path)
        list(map(record.frame, record.cells))


def test_verification_agrees_with_an_untouched_run_and_names_what_was_changed(files, tmp_path):
    record = write_record(tmp_path / "record.parquet", files)
    recorded = record.cells[0]
    runs = stored_runs(record.frame(recorded).to_dict("records"), RunMeta.of(recorded.meta))
    problem = load_problem(recorded.spec)
    for run, (rows, _) in runs.values():
        anew = compute_run(run, problem)
        assert compare(rows, anew) == (None, 0.0)
        changed = [{**row, "loss": row["loss"] * (1 + 1e-6) + 1e-6} for row in rows]
        fault, _ = compare(changed, anew)
        assert fault is not None and fault[0] == "loss"
        rounding = [{**row, "loss": math.nextafter(row["loss"], math.inf)} for row in rows]
        fault, difference = compare(rounding, anew)
        assert (fault is None and 0 < difference <= TOLERANCES["float64"]) or not math.isfinite(rows[0]["loss"])


@given(st.integers(1, 12), st.data())
def test_the_share_of_cells_that_may_differ_is_that_of_all_draws(population, data):
    """Counted over all draws: with one differing cell more than is said, 95 % of them would have met one."""
    drawn = data.draw(st.integers(1, population))
    differing = round(largest_share(drawn, population) * population)
    if differing + 1 <= population:
        draws = list(itertools.combinations(range(population), drawn))
        missed = sum(min(draw) > differing for draw in draws)  # cells 0 to `differing` differ
        assert 20 * missed <= len(draws)


def test_signatures_add_up_and_hold_for_their_code_alone(tmp_path):
    first = Signature("paper", "a", ["1", "2"], 2, 9, 2, 0.0, {"machine": "x"}, "2026-01-01", 0)
    add_signatures(tmp_path, [first])
    add_signatures(tmp_path, [first, Signature("paper", "a", ["2"], 1, 9, 1, 1e-12, {}, "2026-01-02", 1)])
    signatures = read_signatures(tmp_path)
    assert len(signatures) == 2
    assert len(signers(signatures, "paper", "a", "2")) == 2
    assert signers(signatures, "paper", "a", "1") == [first]
    assert signers(signatures, "paper", "b", "1") == signers(signatures, "laptop", "a", "1") == []
    (tmp_path / "signatures.json").write_text('[{"size": 3}]')
    with pytest.raises(UserError, match="no signatures"):
        read_signatures(tmp_path)
