"""FedSpeed: the switches of its Table 7, its two means of the corrections, and comparisons with its baselines."""

import numpy as np
import pytest

from fedatlas.errors import Undefined, UserError
from fedatlas.federation import problems
from fedatlas.federation.algorithms.fedspeed_analysis import FedSpeedAnalysis
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.testing import transcriptions
from fedatlas.testing.plain_run import PlainRun
from tests.helpers import example, logistic, quadratic, unequal_shares

BASELINES = ("fedavg", "fedprox", "fedadam", "scaffold", "fedcm", "feddyn", "fedadmm")
DECAY = {"schedule": {"kind": "exponential", "decay": 0.7}}
CONDITIONS = {
    "decay": {"local_steps": 3, **DECAY},
    "local epochs": {"local_epochs": 2, "batch": 5},  # of 12 rows: batches of 5, 5 and 2
    "both": {"local_epochs": 2, "batch": 5, **DECAY},
}
OFF = {"prox": False, "correction": False, "perturbation": False}


def run(name, problem=None, **parameters):
    setting = Setting(clients=5, local_steps=4, rounds=6, batch=2, participation={"kind": "uniform", "count": 3})
    return Simulation(example(name, **parameters), problem or logistic(), setting, seed=1).run()


@pytest.mark.parametrize(
    "special, switched",
    [
        (("fedavg", {}), OFF),
        (("fedprox", {"nu": 0.5}), OFF | {"prox": True, "lam": 2.0}),
        (("fedspeed", {"rho": 0.0}), {"perturbation": False}),
        (("fedspeed", {"alpha": 0.0}), {"perturbation": False}),
        (("fedcm", {"alpha": 1.0}), OFF),
        (("feddyn", {"alpha": 0.25}), {"lam": 4.0, "perturbation": False}),
    ],
)
def test_parts_switched_off(special, switched):
    name, parameters = special
    np.testing.assert_allclose(run(name, **parameters).x, run("fedspeed", **switched).x, rtol=1e-10, atol=1e-12)


def test_perturbed_prox_by_hand():
    """The fourth row of Table 7: the proximal term and the perturbation, without the correction."""
    problem, setting = logistic(clients=1, heterogeneous=False), Setting(clients=1, local_steps=2, rounds=2, batch=None)
    algorithm = example("fedspeed", lr=0.2, lam=4.0, alpha=0.7, rho=0.3, correction=False)
    result, x = Simulation(algorithm, problem, setting, seed=1).run().x, problem.start(1)
    for _ in range(2):
        y = x
        for _ in range(2):
            g1 = problem.gradient(y)
            g2 = problem.gradient(y + 0.3 * g1 / np.linalg.norm(g1))
            y = y - 0.2 * (0.3 * g1 + 0.7 * g2 + (y - x) / 4.0)
        x = y
    np.testing.assert_allclose(result, x, rtol=1e-12)


def test_parts_that_are_switched_off_cost_nothing():
    reference, bare = (run("fedspeed", **switches) for switches in ({}, {"perturbation": False}))
    assert reference.rows[-1]["gradients"] == 2 * bare.rows[-1]["gradients"]
    setting = Setting(clients=5, rounds=1)
    assert not Simulation(example("fedspeed", **OFF), logistic(), setting).clients.table.data


def test_a_correction_needs_the_proximal_term():
    with pytest.raises(UserError, match="correction corrects the proximal term"):
        example("fedspeed", prox=False)


def test_fedcm_uses_the_momentum_of_earlier_rounds():
    assert np.linalg.norm(run("fedcm", alpha=0.5).x - run("fedavg").x) > 1e-3


def test_both_means_agree_under_full_participation():
    setting = Setting(clients=5, local_steps=4, rounds=6, batch=2)
    result = [
        Simulation(example("fedspeed", mean=mean), logistic(), setting, seed=1).run() for mean in ("active", "all")
    ]
    np.testing.assert_allclose(result[0].x, result[1].x, rtol=1e-10, atol=1e-12)
    assert result[0].rows[-1]["vectors_up"] == result[1].rows[-1]["vectors_up"]  # they send equally many vectors


def test_algorithm_1_as_printed_is_another_method():
    printed = run("fedspeed", lam=4.0, perturbation=False, mean="active").x
    assert np.linalg.norm(printed - run("fedspeed", lam=4.0, perturbation=False).x) > 1e-2


@pytest.mark.parametrize("mean, converges", [("all", True), ("active", False)])
def test_corrections_of_active_clients_only_do_not_converge(mean, converges):
    """Two of ten clients are active in a round, and Algorithm 1 uses the corrections of these two only."""
    centers, curvatures = np.arange(10.0), 1.0 + np.arange(10) % 3
    spec = {"kind": "quadratic", "centers": centers[:, None].tolist(), "curvatures": curvatures.tolist()}
    participation = {"kind": "uniform", "count": 2}
    setting = Setting(clients=10, local_steps=5, rounds=400, batch=None, participation=participation)
    algorithm = example("fedspeed", lr=0.1, lam=1.0, perturbation=False, mean=mean)
    simulation, away = Simulation(algorithm, problems.create(spec, 10), setting, seed=0), []
    for _ in range(400):
        simulation.run_round()
        away.append(abs(float(simulation.output[0]) - curvatures @ centers / curvatures.sum()))
    assert max(away[-50:]) < 1e-6 if converges else max(away[-50:]) > 3


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize(
    "name, parameters", [*((name, {}) for name in BASELINES), *(("fedspeed", {"mean": m}) for m in ("active", "all"))]
)
def test_equals_the_transcription_under_the_conditions_of_the_figures(name, parameters, condition):
    """With few active clients, step sizes that decay, and whole passes over the clients' data."""
    participation = {"kind": "uniform", "count": 3}
    setting = Setting(**{"clients": 5, "rounds": 6, "batch": 2, "participation": participation} | CONDITIONS[condition])
    problem = logistic()
    assert set(problem.partition.sizes) == {12}
    simulation = Simulation(example(name, **parameters), problem, setting, seed=3)
    values = {f: getattr(simulation.algorithm, f) for f in simulation.algorithm.options()}
    for t, expected in enumerate(transcriptions.find(name)(PlainRun(problem, setting, 3, name), **values)):
        simulation.run_round()
        np.testing.assert_allclose(simulation.output, expected, rtol=1e-10, atol=1e-12, err_msg=f"round {t}")
    assert t == 5


EQUATIONS = [f"equation_{number}" for number in (2, 3, 4, 5)]


def errors(participation, **parameters):
    """The largest relative errors of the equations of the analysis, on noisy heterogeneous quadratics."""
    setting = Setting(clients=5, local_steps=4, rounds=20, participation=participation, record=EQUATIONS)
    algorithm = example("fedspeed-z", lam=0.5, normalise=False, **parameters)
    last = Simulation(algorithm, quadratic(), setting, seed=2).run().rows[-1]
    return {name: last[f"{name}_max"] for name in EQUATIONS}


@pytest.mark.parametrize("mean", ["active", "all"])
def test_equations_of_the_analysis(mean):
    """All hold under full participation; 4 and 5 speak of all clients and fail where some are away."""
    assert max(errors({"kind": "full"}, mean=mean).values()) < 1e-11
    sampled = errors({"kind": "uniform", "count": 2}, mean=mean)
    assert max(sampled["equation_2"], sampled["equation_3"]) < 1e-11
    assert min(sampled["equation_4"], sampled["equation_5"]) > 0.1


@pytest.mark.parametrize("wrong", ["weights", "quasi-gradient"])
def test_equations_fail_for_another_method(wrong, monkeypatch):
    if wrong == "weights":  # plain means of the quasi-gradients
        monkeypatch.setattr(FedSpeedAnalysis, "weights", lambda self, K: ([0.5 / K] * int(K), 0.5))
    else:  # the gradient at the iterate alone
        monkeypatch.setattr(FedSpeedAnalysis, "combined", lambda self, gradients: gradients[0])
    assert min(errors({"kind": "full"}).values()) > 1e-4


def test_the_analysis_moves_x_as_fedspeed_does():
    """Both means, the same iterates bit by bit; z is another sequence, which costs no communication."""
    setting = Setting(clients=5, local_steps=4, rounds=6, batch=2)
    for mean in ("active", "all"):
        pair = [
            Simulation(example(name, mean=mean), logistic(), setting, seed=1) for name in ("fedspeed", "fedspeed-z")
        ]
        histories = [item.run() for item in pair]
        np.testing.assert_array_equal(pair[0].s.x, pair[1].s.x)
        assert np.linalg.norm(histories[0].x - histories[1].x) > 1e-3
        for cost in ("gradients", "vectors_up", "vectors_down"):
            assert histories[0].rows[-1][cost] == histories[1].rows[-1][cost]


def test_the_analysis_needs_the_correction():
    with pytest.raises(UserError, match="with its correction"):
        example("fedspeed-z", correction=False)


@pytest.mark.parametrize("option", ["clip", "decoupled"])
def test_the_analysis_is_of_algorithm_1(option):
    with pytest.raises(UserError, match="without clip and decoupled weight decay"):
        example("fedspeed-z", **{option: 0.1})


def test_the_analysis_is_of_clients_that_take_equally_many_steps():
    problem, setting = logistic(), Setting(clients=5, rounds=2, local_epochs=1, batch=4)
    Simulation(example("fedspeed-z"), problem, setting).run()  # 12 rows each
    with pytest.raises(Undefined, match="equally many steps"):
        Simulation(example("fedspeed-z"), unequal_shares(problem), setting)


def test_a_clip_that_is_never_reached_and_no_perturbation_leave_the_method_as_it_is():
    plain = run("fedspeed", mean="all", perturbation=False)
    code = run("fedspeed", mean="all", perturbation=False, clip=1e6, decoupled=0.1)  # 0.1 is the problem's l2
    np.testing.assert_allclose(code.x, plain.x, rtol=1e-10, atol=1e-12)
    assert np.linalg.norm(run("fedspeed", mean="all", clip=0.1).x - run("fedspeed", mean="all").x) > 1e-3


@pytest.mark.parametrize("parts", [{"prox": False, "correction": False}, {"correction": False}])
def test_the_clip_with_parts_switched_off(parts):
    clipped = run("fedspeed", clip=1e6, perturbation=False, **parts)
    np.testing.assert_allclose(clipped.x, run("fedspeed", perturbation=False, **parts).x, rtol=1e-10, atol=1e-12)
