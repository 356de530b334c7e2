"""Update rules as formulas: every algorithm of the atlas has one, and formulas say what the docstring says."""

import re

import pytest
from from_code import algorithms
from from_code.formulas import SYMBOLS, Notation, formula

from fedatlas.federation.algorithms import ALGORITHMS

PLAIN = Notation(SYMBOLS, ("step", "clip"))


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("y - lr g(y)", r"y - \eta_l g(y)"),
        ("lam/2 |y - x|^2", r"\tfrac{\lambda}{2} \lVert y - x \rVert^{2}"),
        ("server_lr m / (sqrt(v) + eps)", r"\frac{\eta_g m}{\sqrt{v} + \epsilon}"),
        ("sum_S (y - x) / p_i^t", r"\sum_{S} \frac{y - x}{p_{i}^{t}}"),
        ("(1 - 1/alpha) w", r"(1 - \tfrac{1}{\alpha}) w"),
        ("argmin_y f_i(y) - <h_i, y>", r"\operatorname{argmin}_{y} f_{i}(y) - \langle h_{i} ,\  y \rangle"),
        ("|S|/m mean_S(c_i' - c_i)", r"\tfrac{|S|}{m} \operatorname{mean}_{S}(c_{i}' - c_{i})"),
        ("r (1 - r)^(K-1-k)", r"r (1 - r)^{K - 1 - k}"),
        ("2^(|B| / m_i) step", r"2^{|B|/m_{i}} \mathrm{step}"),
        ("c_{t-1} beta1 g~_k", r"c_{t - 1} \beta_1 \tilde{g}_{k}"),
        ("mean_S(what was sent)", r"\operatorname{mean}_{S}(\text{what was sent})"),
        ("u+ - u", "u^{+} - u"),
    ],
)
def test_a_formula(text, latex):
    assert formula(text, PLAIN) == latex


@pytest.fixture(scope="module")
def pages():
    return algorithms.pages()


@pytest.mark.parametrize("cls", sorted({*(kind for kind, _ in ALGORITHMS.builtin.values())}, key=lambda cls: cls.name))
def test_every_algorithm_has_a_rule(cls, pages):
    page = pages[f"{algorithms.FOLDER}/{cls.name.replace('+', 'plus')}.md"]
    assert r"\leftarrow" in page and page.count("$$") % 2 == 0
    text = page.split("## Source")[0]
    for latex in re.findall(r"\$\$(.+?)\$\$|\$([^$\n]+)\$", text, re.DOTALL):
        code = "".join(latex)
        assert code.count("{") == code.count("}"), code
    words = re.sub(r"\$\$.*?\$\$|\$[^$\n]*\$|`[^`]*`", "", text, flags=re.DOTALL)
    assert not re.search(r"\b(alpha|beta|gamma|eta|lam|kappa|server_lr|mean_S)\b|<-", words), "a formula is not set"
    symbols = [algorithms.notation(cls).symbols.get(name, name) for name in cls.options()]
    assert len(set(symbols)) == len(symbols), "two options have one symbol"
    assert not re.search(r"\\mathrm\{(alpha|beta|gamma|eta|rho)", text), "a Greek letter is not one"
    for section in ("## Update rule", "## Options", "## What is known of it", "## Source", "@transcription"):
        assert section in page
