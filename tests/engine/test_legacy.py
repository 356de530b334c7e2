"""The sampling of the FedAc authors' code, and their published runs."""

import numpy as np
import pytest

from fedatlas.data.store import prepare, status
from fedatlas.errors import UserError
from fedatlas.experiments import expansion, experiment_file, tables, validation
from fedatlas.experiments.cells import CellSpec
from fedatlas.experiments.run import run_cell
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.sampling import SAMPLING
from fedatlas.federation.sampling.replacement import STREAM_DRAWS
from fedatlas.results.claims import CHECKS
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import HELD
from tests.helpers import example, logistic
from tests.workflow.project import ROOT


def slow(n, d, clients, steps, rounds, batch, seed):
    """Start and samples (rounds, clients, steps, batch), one local step of all clients after another."""
    rng = np.random.RandomState(seed)
    x0 = rng.randn(d)
    result = [[rng.randint(0, n, clients * batch).reshape(clients, batch) for _ in range(steps)] for _ in range(rounds)]
    return x0, np.array(result).transpose(0, 2, 1, 3)


@pytest.mark.parametrize(
    ("clients", "steps", "batch"), [(3, 4, 1), (1, 1, 1), (2, 3, 5), (64, 2 * STREAM_DRAWS // 64, 1)]
)
def test_draws_are_those_of_one_stream(clients, steps, batch):
    problem = logistic(heterogeneous=False)
    x0, expected = slow(problem.samples, problem.dim, clients, steps, 6, batch, seed=1)
    sampler = SAMPLING.build("legacy").bind(problem, clients, batch, 1)
    assert np.array_equal(sampler.start(), x0)
    for round in (0, 1, 5, 2, 3):  # also back, as a run that goes on from a checkpoint
        assert np.array_equal(sampler.draw(round, np.arange(clients), steps), expected[round])
        pooled = np.sort(sampler.pool(round, np.arange(clients), steps).ravel())
        assert np.array_equal(pooled, np.sort(expected[round].ravel()))


def test_the_run_starts_where_the_code_does():
    problem = logistic(heterogeneous=False)
    setting = Setting(clients=2, rounds=1, sampling="legacy")
    assert np.array_equal(
        Simulation(example("fedavg"), problem, setting, 7).x0, np.random.RandomState(7).randn(problem.dim)
    )


def test_split_data_are_refused():
    with pytest.raises(UserError, match="draws from all rows"):
        SAMPLING.build("legacy").bind(logistic(heterogeneous=True), 5, 1, 0)


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        ({"kind": "logistic", "data": "breast_cancer", "partition": "iid"}, "leave out the problem's partition"),
        ({"kind": "network", "data": "digits", "architecture": "linear"}, "a problem of kind network does not"),
        ({"kind": "piecewise", "kappa": 25.0, "steps": 3}, "a problem of kind piecewise does not"),
    ],
)
def test_what_cannot_be_sampled_so_is_refused_before_any_job(problem, message):
    spec = CellSpec("fedavg", {"lr": 0.1}, problem, {"clients": 2, "rounds": 2, "sampling": "legacy"})
    with pytest.raises(UserError, match=message):
        validation.check_cell(spec, "loss", ())


@pytest.mark.slow
def test_published_runs_are_replayed(tmp_path):
    if next(row for row in status(tmp_path) if row.name == "a9a").state != "mirror":
        pytest.skip("no folder in FEDATLAS_DATA_MIRRORS holds a9a")
    prepare("a9a", tmp_path)
    experiment = experiment_file.load(ROOT / "config/experiments/fedac_replay.yaml", "laptop", ROOT)
    files = []
    for cell in expansion.cells(experiment):
        files.append(tmp_path / cell.id / f"{cell.key}.parquet")
        run_cell(cell.spec, files[-1], tmp_path)
    view = expansion.create_view(experiment)
    result = tables.build([], view.select, files)
    outcome = CHECKS.build(experiment.claims["replayed"].check).judge(Results(view, *result[:3]))
    assert outcome.verdict == HELD, outcome
    assert int(outcome.text.split()[-3]) >= 36, outcome
