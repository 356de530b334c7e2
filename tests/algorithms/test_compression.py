"""Methods that compress: reductions to methods without compression, what they refuse, and what they send."""

import math

import numpy as np
import pytest
import torch

from fedatlas import UserError
from fedatlas.federation import algorithms
from fedatlas.federation.arrays import solve
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.problems.quadratic import Quadratic
from fedatlas.testing import Implementation
from tests.helpers import logistic, quadratic, run, softmax

WHOLE = {"compressor": "identity"}
CHANNELS = ({"kind": "identity"}, {"kind": "sign"})


def test_fednl_reaches_a_minimiser_where_no_client_has_curvature_in_a_direction():
    """After the first round the server has the Hessians, which are singular, and no differences are left."""
    problem = Quadratic(np.array([[1.0, 0.0], [3.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 0.0]]))
    history = run("fednl", WHOLE, problem, clients=2, rounds=3)
    assert history.status == "ok" and history.x == pytest.approx([0.25, problem.start(1)[1]])


@pytest.mark.parametrize("convert", [np.array, torch.tensor])
def test_equations_with_a_singular_matrix_have_the_shortest_solution(convert):
    A, b = convert([[2.0, 0.0], [0.0, 0.0]]), convert([1.0, 0.0])
    assert solve(A, b).tolist() == pytest.approx([0.5, 0.0])
    assert np.isnan(solve(A * np.nan, b).tolist()).all()


@pytest.mark.parametrize(
    ("name", "parameters", "plain", "plain_parameters"),
    [
        ("ef21", {"lr": 0.05, **WHOLE}, "gd", {"lr": 0.05}),
        ("diana", {"lr": 0.05, **WHOLE}, "gd", {"lr": 0.05}),
        ("marina", {"lr": 0.05, **WHOLE}, "gd", {"lr": 0.05}),
        ("marina", {"lr": 0.05, "p": 1.0}, "gd", {"lr": 0.05}),
        ("fedpaq", {"lr": 0.05, **WHOLE}, "fedavg", {"lr": 0.05}),
        ("compressed-scaffnew", {"lr": 0.05, "p": 0.3, "copies": 5}, "scaffnew", {"lr": 0.05, "p": 0.3}),
    ],
    ids=str,
)
def test_without_compression_it_is(name, parameters, plain, plain_parameters):
    for problem in (logistic(), softmax()):
        results = [
            run(algorithm, options, problem).x for algorithm, options in ((name, parameters), (plain, plain_parameters))
        ]
        np.testing.assert_allclose(*results, rtol=1e-12, atol=1e-13)


def test_ef21_sgdm_of_whole_gradients_without_memory_is_ef21():
    for problem in (logistic(), softmax()):
        plain = run("ef21", {"lr": 0.05}, problem, batch=None)
        momentum = run("ef21-sgdm", {"lr": 0.05, "momentum": 1.0}, problem, batch=None, local_steps=1)
        assert (plain.x == momentum.x).all()


def test_fednl_with_whole_hessians_has_those_of_the_round_before():
    """x2 = x1 - (H(x0) + mean_i |H_i(x1) - H_i(x0)|_F I)^-1 G(x1)."""
    problem, d = logistic(), 7
    simulation = Simulation(algorithms.create("fednl", WHOLE), problem, Setting(clients=5, rounds=2, batch=None), 1)
    x0 = simulation.x0
    simulation.run_round()
    x1 = simulation.output
    simulation.run_round()
    batch = problem.full_batch(np.arange(5))
    before, after = (np.stack([batch.hessian_product(x, unit) for unit in np.eye(d)], axis=1) for x in (x0, x1))
    size = np.mean([np.linalg.norm(difference) for difference in after - before])
    step = np.linalg.solve(before.mean(axis=0) + size * np.eye(d), batch.grad(x1).mean(axis=0))
    np.testing.assert_allclose(simulation.output, x1 - step, rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "compressor", "bits"),
    [
        ("ef21", {"kind": "top-k", "count": 2}, 2 * (64 + 3)),
        ("ef21-sgdm", {"kind": "top-k", "count": 2}, 2 * (64 + 3)),
        ("diana", {"kind": "rand-k", "count": 2}, 2 * (64 + 3)),
        ("fedpaq", {"kind": "qsgd", "levels": 4}, 64 + 8 * 4),
        ("fedpaq", "natural", 8 * 12),
    ],
    ids=str,
)
def test_bits_of_a_message(name, compressor, bits):
    row = run(name, {"lr": 0.01, "compressor": compressor}, quadratic(), rounds=3).rows[-1]
    assert (row["bits_up"], row["bits_down"], row["vectors_up"]) == (3 * bits, 3 * 8 * 64, 3)


def test_bits_of_the_others():
    marina = run("marina", {"lr": 0.01, "compressor": {"kind": "rand-k", "count": 2}}, quadratic(), rounds=40).rows[-1]
    full_rounds = (marina["bits_up"] - 40 * 134) / (8 * 64 - 134)  # rounds of whole gradients
    assert full_rounds == int(full_rounds) and 3 <= full_rounds <= 20 and marina["bits_down"] == 40 * 9 * 64
    fednl = run("fednl", {}, quadratic(), rounds=3).rows[-1]
    assert fednl["bits_up"] == 3 * 64 * (8 + 2 * 8 + 1)
    masked = run("compressed-scaffnew", {"lr": 0.01, "p": 0.5, "copies": 2}, quadratic(), rounds=3).rows[-1]
    assert masked["bits_up"] == pytest.approx(3 * 64 * 8 * 2 / 5)  # each of 8 numbers comes from 2 of 5 clients


@pytest.mark.parametrize(
    ("name", "parameters", "sentence"),
    [
        ("diana", {"compressor": "sign"}, "algorithm diana needs an unbiased compressor, such as rand-k, qsgd or"),
        ("ef21", {"compressor": {"kind": "rand-k", "count": 1}}, "algorithm ef21 needs a contractive channel"),
        ("ef21", {"compressor": "best"}, "algorithm ef21: compressor is 'best'; unknown channel"),
        ("fedpaq", {"compressor": {"kind": "sign", "error_feedback": True}}, "leave error_feedback out"),
        ("compressed-scaffnew", {"p": 0.5, "copies": 6}, "copies is 6; it must be at most clients = 5"),
    ],
    ids=str,
)
def test_refusals(name, parameters, sentence):
    with pytest.raises(UserError, match=sentence):
        run(name, {"lr": 0.1, **parameters}, logistic())


@pytest.mark.parametrize("name", [n for n in algorithms.names() if "compressor" in algorithms.get(n).options()])
def test_messages_of_algorithms_that_code_them_pass_every_channel_as_they_are(name):
    """So do the gradients that MARINA and FedNL send whole."""
    plain, channel = (
        run(name, {"lr": 0.01} if name != "fednl" else {}, quadratic(), channel=c).rows[-1] for c in CHANNELS
    )
    assert (plain["loss"], plain["bits_up"]) == (channel["loss"], channel["bits_up"])


@pytest.mark.slow
@pytest.mark.parametrize("name", algorithms.names())
def test_every_algorithm_runs_over_channels(name):
    implementation, problem = Implementation(algorithms.get(name)), quadratic(noise=0.1)
    for channel in (
        {"kind": "top-k", "share": 0.5, "error_feedback": True},
        {"up": "natural", "down": {"kind": "qsgd", "levels": 8}},
    ):
        if not implementation.is_defined(problem, channel=channel):
            continue
        reference, parts = (
            implementation.run(problem, channel=channel, block=block, threads=threads)
            for block, threads in ((None, 1), (1, 2))
        )
        assert reference.status == "ok" and (reference.x == parts.x).all() and reference.ledger == parts.ledger
        row = reference.rows[-1]
        assert math.isfinite(row["bits_up"]) and (row["bits_up"] > 0) == (row["vectors_up"] > 0)
