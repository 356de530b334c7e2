"""Files of studies: the study in this folder, and a tiny algorithm with its run from the shell."""

from pathlib import Path

from fedatlas.cli.main import main

OWN = Path(__file__).with_name("study")  # a study with a kind of every family
ALGORITHM = '''
from dataclasses import dataclass

from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.arrays import State
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class Tiny(Algorithm):
    """Tiny (nobody) is one step."""

    name = "tiny"
    label = "Tiny"

    lr: float = option(doc="step size", above=0)

    def client(self, s, i, steps):
        y = s.x
        for g in steps:
            y = y - self.lr * g(y)
        return State(delta=y - s.x), State()

    def server(self, s, mean, n):
        return State(x=s.x + mean.delta)
'''
TINY = {"extensions/tiny.py": ALGORITHM}
QUADRATIC = ["--problem", "quadratic", "--option", "dim=3", "--batch", "0", "--rounds", "2", "--clients", "3"]


def train(algorithm="tiny", *arguments):
    return main(["train", "--algorithm", algorithm, "--set", "lr=0.01", *QUADRATIC, *arguments])
