"""Curves with simulated seconds, from run files that the engine wrote."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest

from fedatlas.data.sources import info
from fedatlas.data.store import prepare
from fedatlas.errors import UserError
from fedatlas.experiments import expansion, result_files, tables
from fedatlas.experiments.dependencies import partition_file
from fedatlas.experiments.run import run_cell
from fedatlas.federation.architectures import ARCHITECTURES
from fedatlas.federation.costs.operations import of_architecture, per_sample
from fedatlas.federation.problems import create
from fedatlas.results.claims import checks_at_size
from fedatlas.results.figures import FIGURES
from fedatlas.results.figures.renderer import draw
from fedatlas.workflow import dependencies, inputs
from fedatlas.workflow.configuration import validate
from fedatlas.workflow.jobs import claims as claims_job
from fedatlas.workflow.jobs.partition import make
from tests.figures.drawings import describe
from tests.synthetic import experiment

RATES = {"kind": "rates", "compute": 1e5, "down": 4e4, "up": 1e4, "latency": 0.3, "overhead": 0.01}
SPREAD = {"compute_spread": 0.8, "down_spread": 0.5, "up_spread": 0.7}
QUADRATIC = {"kind": "quadratic", "dim": 4, "similarity": 0.5}


def written(folder, name="it", **options):
    """An experiment whose runs are made, and the Results of them."""
    output = experiment(**options)
    cells = expansion.cells(output)
    files = []
    for cell in cells:
        files.append(folder / name / "runs" / cell.id / f"{cell.key}.parquet")
        files[-1].parent.mkdir(parents=True, exist_ok=True)
        split = partition_file(cell.spec) if "partition" in cell.spec.problem else None
        if split:
            make(split[1], split[0], str(folder / "data"))
        run_cell(cell.spec, files[-1], folder / "data", split and split[0])
    result = tables.build(list(output.grid), output.select, files)
    for table in ("table", "curves", "trials"):
        result_files.write(folder / name / f"{table}.parquet", getattr(result, table), result.meta.to_dict())
    read = [result_files.read(folder / name / f"{table}.parquet")[0] for table in ("table", "curves")]
    return output, inputs.ResultTables(*read, folder / name)


def simulated(experiment, results, folder, **options):
    """The curves of a figure against simulated seconds, by default one of convergence."""
    figure = FIGURES.build({"kind": "convergence", "x": "simulated_seconds", **options})
    needed = json.loads(json.dumps(inputs.specify(figure, expansion.cells(experiment))))
    return inputs.build(figure, expansion.create_view(experiment), needed, results, folder / "data")["curves"]


def test_alike_clients_take_what_the_totals_say(tmp_path):
    result, results = written(
        tmp_path,
        algorithms={"fedavg": {"tune": {"lr": [0.01, 0.05]}}, "scaffold": {"set": {"lr": "0.1/L"}}},
        tune={},
        grid={"local_steps": [1, 3]},
        within={"batch": [1, None], "participation": [{"kind": "full"}, {"kind": "uniform", "count": 2}]},
        problem=QUADRATIC,
        setting={"clients": 3, "rounds": 7, "eval_rounds": 2},
        metric="suboptimality",
        optimum=False,
    )
    curves = simulated(result, results, tmp_path, model=RATES)
    operations, bits = per_sample(create(QUADRATIC, 3)), 8 * 8 * 4
    assert operations == 2 * 4 * 4 and len(curves) == len(results.curves) == 2 * 2 * 4 * 2 * 5
    expected = 0.3 * curves["round"] + bits * (curves["vectors_down"] / 4e4 + curves["vectors_up"] / 1e4)
    expected += 0.01 * curves["gradients"] + operations * curves["samples"] / 1e5
    np.testing.assert_allclose(curves["simulated_seconds"], expected)
    where = {"local_steps": 3, "batch": None, "participation": {"kind": "uniform", "count": 2}}
    frame = simulated(result, results, tmp_path, model=RATES | SPREAD, where=where, algorithms=["scaffold"])
    varied = frame.dropna(subset=["simulated_seconds"])
    assert len(frame) == len(results.curves)  # others may set a figure's targets
    assert set(varied["algorithm"]) == {"scaffold"} and len(varied) == 2 * 5
    ends = varied.groupby("seed")["simulated_seconds"].last()
    assert ends[0] != ends[1]  # other clients take part, with the same rates
    spec = {"kind": "loss_to_best", "x": "simulated_seconds", "model": RATES, "share": 0.9}
    curves = simulated(result, results, tmp_path, **spec)
    numbers, _ = describe(spec, (results.table, curves, expansion.create_view(result)))
    assert len(numbers) == 2 * 2 * 4 and set(numbers["compared"]) == {"simulated time, rates"}


def test_claims_in_simulated_seconds(tmp_path):
    """Where only sending costs, SCAFFOLD, which sends two vectors in a round, takes twice the time of FedAvg."""
    slow = RATES | {"compute": 1e12, "latency": 0.0, "overhead": 0.0}
    fewer = {"kind": "better", "algorithm": "fedavg", "than": ["scaffold"], "cost": "simulated_seconds", "model": slow}
    output, results = written(
        tmp_path,
        algorithms={"fedavg": {"set": {"lr": "0.1/L"}}, "scaffold": {"set": {"lr": "0.1/L"}}},
        tune={},
        grid={},
        problem=QUADRATIC,
        setting={"clients": 3, "rounds": 4, "local_steps": 2},
        metric="suboptimality",
        optimum=False,
        claims={
            "double": {"text": "t", "source": "s", "check": {**fewer, "at_least": 1.99, "at_most": 2.01}},
            "rounds": {"text": "t", "source": "s", "check": {**fewer, "cost": "rounds", "at_least": 1, "at_most": 1}},
        },
    )
    cells, size = expansion.cells(output), output.size
    claims = {name: vars(claim) for name, claim in output.claims.items()}
    spec = {
        "view": expansion.create_view(output).to_dict(),
        "claims": claims,
        "inputs": inputs.specify_checks(checks_at_size(output.claims, size), cells),
    }
    claims_job.make(json.loads(json.dumps(spec)), str(results.folder), str(tmp_path / "claims.csv"), str(tmp_path))
    result = pd.read_csv(tmp_path / "claims.csv").set_index("claim")
    assert result.loc[["double", "rounds"], "verdict"].tolist() == ["held", "vacuous"], result["ours"]
    behind = {
        "fedatlas.workflow.inputs.simulated_seconds",
        "fedatlas.federation.costs.fixed_rates",
        "fedatlas.federation.algorithms.scaffold",
    }
    assert behind <= set(dependencies.of_claims(output, cells))
    plain = {name: claim for name, claim in output.claims.items() if name == "rounds"}
    assert not behind & set(dependencies.of_claims(dataclasses.replace(output, claims=plain), cells))
    assert inputs.specify_checks(checks_at_size(plain, size), cells) == {}


def test_figures_say_on_which_clients(tmp_path):
    options = {"problem": QUADRATIC, "setting": {"clients": 3, "rounds": 6}, "optimum": False, "grid": {}}
    result, results = written(tmp_path, algorithms={"fedavg": {}}, tune={"lr": [0.01]}, **options)
    for spec, words in (
        ({"kind": "convergence"}, "simulated time, cross-device (s)"),
        ({"kind": "convergence", "model": {"kind": "cross-silo", "seed": 3}}, "simulated time, cross-silo (s)"),
        ({"kind": "targets", "targets": [1e9]}, "Simulated time, cross-device (s) until"),
    ):
        figure = FIGURES.build({"x": "simulated_seconds", **spec})
        needed = inputs.specify(figure, expansion.cells(result))
        data = inputs.build(figure, expansion.create_view(result), needed, results, tmp_path)
        draw(figure, expansion.create_view(result), outputs=[tmp_path / "figure.svg"], **data)
        assert words in (tmp_path / "figure.json").read_text()


@pytest.mark.parametrize("architecture", sorted(ARCHITECTURES.names()))
def test_operations_of_an_architecture_are_those_of_its_network(architecture, tmp_path):
    prepare("digits", tmp_path)
    problem = create({"kind": "network", "data": "digits", "architecture": architecture}, 2, tmp_path)
    operations = of_architecture(ARCHITECTURES.build(architecture), info("digits").shape, 10)
    assert operations == per_sample(problem) > 0


def test_asynchronous_runs_keep_their_clock_and_refuse_another(tmp_path):
    clients = {"driver": {"kind": "synchronous", "model": RATES}}
    buffered = {"driver": {"kind": "asynchronous", "buffer": 2, "concurrency": 3, "model": RATES}}
    result, results = written(
        tmp_path,
        algorithms={
            "fedavg": {"set": {"lr": 0.01}, "setting": clients},
            "fedbuff": {"algorithm": "fedavg", "set": {"lr": 0.01}, "setting": buffered},
        },
        tune={},
        grid={"driver.model.compute_spread": [0.0, 1.5]},
        problem=QUADRATIC,
        setting={"clients": 3, "rounds": 5, "eval_rounds": 1, "batch": None},
        metric="suboptimality",
        optimum=False,
    )
    curves = simulated(result, results, tmp_path, model="driver")
    seconds = results.curves["simulated_seconds"]
    asynchronous = curves["algorithm"] == "fedbuff"
    assert seconds[asynchronous].notna().all() and seconds[~asynchronous].isna().all()
    assert (curves["simulated_seconds"][asynchronous] == seconds[asynchronous]).all()
    spread = curves["driver.model.compute_spread"]
    for value in (0.0, 1.5):  # without the buffer's runs a figure may have any model, which gives the same seconds
        model = RATES | {"compute_spread": value}
        alone = simulated(result, results, tmp_path, model=model, algorithms=["fedavg"])
        rows = ~asynchronous & (spread == value)
        assert (curves["simulated_seconds"][rows] == alone["simulated_seconds"][rows]).all()
    sentence = "model is cross-device, but a run is asynchronous on clients of .*give model: driver"
    with pytest.raises(UserError, match=sentence):
        simulated(result, results, tmp_path)
    figures = {"it": {"kind": "convergence", "x": "simulated_seconds", "caption": "."}}
    with pytest.raises(UserError, match=f"figures.it: .*{sentence}"):
        validate(dataclasses.replace(result, figures=figures))
