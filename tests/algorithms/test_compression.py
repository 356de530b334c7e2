"""Methods that compress: what they refuse, and what they send."""

import pytest

from fedatlas import UserError
from tests.helpers import logistic, quadratic, run


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


@pytest.mark.parametrize(
    ("name", "parameters", "sentence"),
    [
        (
            "diana",
            {"compressor": {"kind": "top-k", "count": 1}},
            "algorithm diana needs an unbiased compressor, such as rand-k, qsgd or",
        ),
        ("ef21", {"compressor": {"kind": "rand-k", "count": 1}}, "algorithm ef21 needs a contractive channel"),
        ("ef21", {"compressor": "best"}, "algorithm ef21: compressor is 'best'; unknown channel"),
        ("fedpaq", {"compressor": {"kind": "natural", "error_feedback": True}}, "leave error_feedback out"),
        ("compressed-scaffnew", {"p": 0.5, "copies": 6}, "copies is 6; it must be at most clients = 5"),
    ],
    ids=str,
)
def test_refusals(name, parameters, sentence):
    with pytest.raises(UserError, match=sentence):
        run(name, {"lr": 0.1, **parameters}, logistic())
