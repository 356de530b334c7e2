"""A wrong sign of a correction of drift is seen in the run of the tutorial."""

import io
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

from fedatlas.cli.main import main
from fedatlas.federation.algorithms.scaffold import Scaffold
from fedatlas.federation.arrays import State
from tests.docs.blocks import blocks, commands


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
