"""Numbers that claims on FedAc quote from the runs that its authors published."""

import functools

import numpy as np
import pytest

from fedatlas.results.figures.scaling import fedac_points
from fedatlas.workflow.study import Study
from tests.workflow.project import ROOT

MOST, RIVALS = 8192, ("fedavg", "mb-sgd", "mb-ac-sgd")


@functools.cache
def study():
    return Study.open()


@functools.cache
def scores(experiment):
    """Return the published scores by algorithm, local steps and workers."""
    points = fedac_points(study().view("paper", experiment))
    return points.set_index(["algorithm", "local_steps", "clients"])["published"].sort_index()


def slope(experiment, algorithm, K):
    """Return minus the slope against the workers, from 4 on."""
    line = scores(experiment)[algorithm, K].loc[4:]
    return -np.polyfit(np.log(line.index), np.log(line), 1)[0]


def fall(experiment, algorithm, steps):
    """Return minus the slope against the local steps, at the largest number of workers."""
    line = [scores(experiment)[algorithm, K, MOST] for K in steps]
    return -np.polyfit(np.log(steps), np.log(line), 1)[0]


def lead(experiment, algorithm, rivals, steps):
    """Return the smallest ratio of a rival's score to an algorithm's, at the largest number of workers."""
    points = scores(experiment)
    return min(points[rival, K, MOST] / points[algorithm, K, MOST] for rival in rivals for K in steps)


def loss(experiment, algorithm):
    points = scores(experiment)
    return points[algorithm, 256, MOST] - points[algorithm, 1, MOST]


def four(experiment):
    """Return the smallest slope of the four algorithms of a figure with one local step."""
    return min(slope(experiment, id, 1) for id in ("fedac-1", *RIVALS))


def past_two(experiment):
    """Return the largest gain from 2 to 4 local steps."""
    points = scores(experiment)
    return max((points[id, 2] - points[id, 4]).loc[4:].max() for id in ("fedavg", "mb-sgd"))


TO_64 = (2, 4, 8, 16, 32, 64)
QUOTED = {
    "fedac_fig1/all-speed-up": lambda: four("fedac_fig1"),
    "fedac_fig1/fedavg-loses": lambda: slope("fedac_fig1", "fedavg", 8),
    "fedac_fig1/mb-sgd-loses": lambda: slope("fedac_fig1", "mb-sgd", 8),
    "fedac_fig1/mb-ac-sgd-between": lambda: lead("fedac_fig1", "mb-ac-sgd", ("fedavg", "mb-sgd"), (8, 16, 32)),
    "fedac_fig1/mb-ac-sgd-loses": lambda: slope("fedac_fig1", "mb-ac-sgd", 64),
    "fedac_fig1/fedac-margin": lambda: lead("fedac_fig1", "fedac-1", RIVALS, (64, 128, 256)),
    "fedac_fig1/most-robust": lambda: min(loss("fedac_fig1", id) for id in RIVALS) - loss("fedac_fig1", "fedac-1"),
    "fedac_fig1/deteriorate-past-2": lambda: past_two("fedac_fig1"),
    "fedac_fig1/mb-ac-sgd-past-32": lambda: fall("fedac_fig1", "mb-ac-sgd", (32, 64, 128, 256)),
    "fedac_fig2/vanilla-worse": lambda: lead("fedac_fig2", "fedac-1", ("fedac-vanilla",), (256,)),
    "fedac_fig4/all-speed-up": lambda: four("fedac_fig4"),
    "fedac_fig4/fedavg-loses": lambda: slope("fedac_fig4", "fedavg", 8),
    "fedac_fig4/mb-sgd-loses": lambda: slope("fedac_fig4", "mb-sgd", 8),
    "fedac_fig4/fedac-margin": lambda: lead("fedac_fig4", "fedac-1", RIVALS, (128, 256)),
    "fedac_fig4/mb-ac-sgd-worsens": lambda: fall("fedac_fig4", "mb-ac-sgd", (64, 128, 256)),
    "fedac_fig4/fedac-outperforms": lambda: lead("fedac_fig4", "fedac-1", ("fedavg", "mb-sgd"), TO_64),
    "fedac_fig4/mb-ac-sgd-outperforms": lambda: lead("fedac_fig4", "mb-ac-sgd", ("fedavg", "mb-sgd"), TO_64),
}


@pytest.mark.parametrize("claim", QUOTED)
def test_a_claim_quotes_the_published_runs(claim, monkeypatch):
    monkeypatch.chdir(ROOT)
    name, _, key = claim.partition("/")
    text = study().experiment("paper", name).claims[key].check["paper"]
    assert text.endswith("(published runs)")
    assert float(text.split()[0].rstrip(",")) == pytest.approx(QUOTED[claim](), rel=6e-3)
