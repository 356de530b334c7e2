"""Methods that compress: what they refuse, and what they send."""

import math

import numpy as np
import pytest
import torch

from fedatlas import UserError
from fedatlas.federation import algorithms
from fedatlas.federation.arrays import solve
from fedatlas.federation.problems.quadratic import Quadratic
from fedatlas.testing import Implementation
from tests.helpers import logistic, quadratic, run

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
