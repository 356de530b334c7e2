"""Words for people."""

import json

import pytest

from fedatlas.experiments import labels
from fedatlas.results.figures.description import plain_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.5"),
        (4096, "4096"),
        (32561, "32,561"),
        (1494.0, "1494"),
        (1811.4, "1811"),
        (0.00123456, "0.00123"),
        (4.56e-5, "4.56 × 10⁻⁵"),
        (1e-5, "10⁻⁵"),
        (-2e-17, "-2 × 10⁻¹⁷"),
        (0, "0"),
        (float("inf"), "diverged"),
    ],
)
def test_numbers(value, text):
    assert labels.number(value) == text


@pytest.mark.parametrize(
    ("axis", "value", "text"),
    [
        ("local_steps", 16, "K = 16"),
        ("problem.l2", 0.9375, "l2 = 0.9375"),
        ("problem.partition", json.dumps({"kind": "dirichlet", "alpha": 0.3}), "Dirichlet, α = 0.3"),
        ("participation", {"kind": "bernoulli", "p": [0.9, 0.1]}, "Bernoulli, p = (0.9, 0.1)"),
        ("problem.data", "a9a", "a9a"),
        ("problem.partition", {"kind": "dirichlet", "alpha": 1, "symmetric": True}, "Dirichlet, α = 1, symmetric"),
        ("problem.partition", {"kind": "dirichlet", "alpha": 1, "symmetric": False}, "Dirichlet, α = 1, not symmetric"),
        ("problem.partition", {"kind": "classes", "classes": 2}, "classes per client = 2"),
        ("problem.partition", "iid", "i.i.d."),
        ("problem.partition", {"kind": "own-{clients}", "size": 3}, "own {clients}, size = 3"),
        ("participation", {"kind": "uniform", "count": 10}, "uniform, count = 10"),
        (
            "participation",
            {"kind": "phases", "p": [0.9, 0.1], "then": [[0.1, 0.9], [0.5]], "length": 200},
            "phases of 200 rounds, p = (0.9, 0.1), then ((0.1, 0.9), (0.5))",
        ),
        ("parameters.rho", 0.1, "ρ = 0.1"),
        ("lam", 10, "λ = 10"),
        ("gamma_b", 5, "γ_b = 5"),
        ("problem.curvatures.0.1", 4, "a₁,₂ = 4"),
        ("clip", None, "no clipping"),
        ("problem.normalise", False, "without normalisation"),
        ("sampling", "{not json", "{not json"),
    ],
)
def test_points_of_axes(axis, value, text):
    assert labels.point(axis, value) == text


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("loss", "training loss"),
        ("vectors_up", "vectors sent per active client"),
        ("step_size_mean", "mean step size"),
        ("local_loss_within", "deviation of the local loss within a client"),
        ("at_bound_mean", "share of local steps at the bound"),
        ("my_number", "my number"),
    ],
)
def test_words_of_metrics_and_recorded_values(name, words):
    assert labels.words(name) == words


def test_formulas_are_plain_words():
    assert plain_text(r"a9a, $\alpha$ = 0.1, $\delta_B / L$") == "a9a, α = 0.1, δ_B / L"
    assert plain_text(r"suboptimality $F(x) - F^\ast$") == "suboptimality F(x) - F*"
    assert plain_text(r"mean of $|\nabla F(z^t)|^2$") == "mean of |∇F(z^t)|²"
