"""Of an algorithm without `corrects_drift`, the test `optimum` says how near it comes to the optimum, and passes."""

import io
import re
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

from fedatlas.cli.main import main
from fedatlas.errors import UserError
from fedatlas.federation.algorithms.feddyn import FedDyn
from fedatlas.federation.algorithms.scaffold import Scaffold
from fedatlas.federation.arrays import State
from fedatlas.testing import NOT_APPLICABLE, Implementation, run_tests
from tests.docs.blocks import blocks, commands

DISTANCE = re.compile(
    r"400 rounds of full gradients with .* (?:end (\S+) above|lead away from) the optimum of clients that differ, "
    r"where FedAvg ends (\S+) above it\."
)


@dataclass(frozen=True, kw_only=True)
class Undeclared(Scaffold):
    """SCAFFOLD (Karimireddy et al. 2020) without the declaration."""

    corrects_drift = False
    sign = 1

    def client(self, s, i, steps):
        y, c_new = s.x, steps.full(s.x)
        for g in steps:
            y = y - self.lr * (g(y) - self.sign * (i.c - s.c))
        return State(y=y - s.x, c=c_new - i.c), State(c=c_new)


class Flipped(Undeclared):
    """SCAFFOLD (Karimireddy et al. 2020) with + c_i - c."""

    sign = -1


@dataclass(frozen=True, kw_only=True)
class UndeclaredDyn(FedDyn):
    """FedDyn (Acar et al. 2021) without the declaration."""

    corrects_drift = False


class FlippedDynServer(UndeclaredDyn):
    """FedDyn (Acar et al. 2021) whose server adds h / alpha."""

    def server(self, s, mean, n):
        after = super().server(s, mean, n)
        return after.replace(x=2 * mean.y - after.x)


class Prior(Undeclared):
    """SCAFFOLD (Karimireddy et al. 2020) that is defined for small step sizes only."""

    def __post_init__(self):
        super().__post_init__()
        if self.lr > 0.2:
            raise UserError("lr must be at most 0.2")


class Stubborn(Prior, Flipped):
    """SCAFFOLD (Karimireddy et al. 2020) with + c_i - c that is defined for small step sizes only."""


def sentence(cls):
    (outcome,) = run_tests(Implementation(cls), ["optimum"])
    assert outcome.status == NOT_APPLICABLE and outcome.sentence.startswith(
        "The algorithm does not declare `corrects_drift`."
    )
    return outcome.sentence


@pytest.mark.parametrize("cls", [Undeclared, UndeclaredDyn, Prior], ids=lambda cls: cls.__name__)
def test_a_correction_that_works_is_to_be_declared(cls):
    assert "It reaches the optimum of clients that differ, though: write `corrects_drift = True`" in sentence(cls)


@pytest.mark.parametrize("cls", [Flipped, FlippedDynServer, Stubborn], ids=lambda cls: cls.__name__)
def test_a_wrong_sign_is_seen(cls):
    text = sentence(cls)
    ours, fedavg = DISTANCE.search(text).groups()
    assert ours is None or float(ours) > 3 * float(fedavg) > 0
    assert "look for a wrong sign and write `corrects_drift = True`" in text


OWN = """
from dataclasses import dataclass

from tests.conformance.test_drift import {cls}


@dataclass(frozen=True, kw_only=True)
class Own({cls}):
    name = "{name}"
"""


def test_the_run_of_the_tutorial_tells_signs_apart(tmp_path, monkeypatch, capsys):
    text = "".join(block.text for block in blocks(Path("docs/tutorial/own-algorithm.md")) if block.language == "bash")
    words = next(words for words, _ in commands(text) if words[:2] == ["fedatlas", "train"])
    for folder in ("config", "extensions"):
        (tmp_path / folder).mkdir()
    (tmp_path / "config/config.yaml").touch()
    for name, cls in (("right", "Undeclared"), ("wrong", "Flipped")):
        (tmp_path / f"extensions/{name}.py").write_text(OWN.format(cls=cls, name=name))
    monkeypatch.chdir(tmp_path)

    def end(algorithm, split=True):
        rest = words[words.index("--data") :]
        if not split:
            del rest[rest.index("--partition") : rest.index("--partition") + 2]
        assert main(["train", "--algorithm", algorithm, "--set", "lr=0.3", *rest, "--csv"]) == 0
        return pd.read_csv(io.StringIO(capsys.readouterr().out))["suboptimality"].iloc[-1]

    assert end("fedavg") == pytest.approx(2e-4, rel=0.1) and end("scaffold") == pytest.approx(2e-7, rel=0.5)
    assert end("right") < 1e-6 and end("wrong") == pytest.approx(9e-4, rel=0.1)
    assert end("right", split=False) == end("wrong", split=False)
