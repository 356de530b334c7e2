"""What a client keeps between rounds, counted."""

from dataclasses import dataclass

import numpy as np

from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.claims.base import AlgorithmCheck, BoundedCheck
from fedatlas.results.claims.evidence import exact_outcome
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import Outcome
from fedatlas.results.comparing.reconstruction import rebuild


@dataclass(frozen=True, kw_only=True)
class Memory(BoundedCheck, AlgorithmCheck):
    """Held if the number of vectors of the model's size that are kept for a client of ``algorithm`` between rounds lies
    in the bounds.

    What is kept is the client's state, wherever it lies: some methods keep it at the server. Numbers that are not
    vectors are told apart. The text has those of ``beside`` too.
    """

    name = "memory"

    beside: list[str] = option(list, doc="ids of algorithms that the text names as well", names="algorithms")

    @property
    def inputs(self) -> frozenset[str]:
        return frozenset({"theorems"})

    def judge(self, results: Results) -> Outcome:
        counts = {id: self._count(results, id) for id in (self.algorithm, *self.beside)}
        texts = [f"{results.name(id)} {_words(*count)}" for id, count in counts.items()]
        vectors = counts[self.algorithm][0]
        return exact_outcome(f"kept for a client: {'; '.join(texts)}", self.limits().side(vectors) == 0, value=vectors)

    def _count(self, results: Results, id: str) -> tuple[int, int]:
        """Return the vectors and the other numbers that are kept for a client of an algorithm."""
        algorithm, problem, _ = rebuild(results.view, id, results.rows(id, self.where, results.curves))
        _, state = algorithm.init(np.zeros(problem.dim))
        values = [value for _, value in state.items()]
        vectors = sum(np.ndim(value) > 0 for value in values)
        return vectors, len(values) - vectors


def _words(vectors: int, numbers: int) -> str:
    parts = [labels.count_noun(count, noun) for count, noun in ((vectors, "vector"), (numbers, "number")) if count]
    return " and ".join(parts) or "nothing"
