"""FedAWE (Xiang et al. 2024): statements of the paper about runs, by name."""

from collections.abc import Callable

from fedatlas.theory.fedawe import bounds, statements
from fedatlas.theory.fedawe.trajectories import Ensemble

STATEMENTS: dict[str, Callable[[Ensemble], tuple[float, float | None]]] = {
    "proposition-1": statements.proposition_1,
    "matrix-form": statements.matrix_form,
    "doubly-stochastic": statements.doubly_stochastic,
    "auxiliary-form": statements.auxiliary_form,
    "proposition-4": statements.proposition_4,
    "lemma-1": statements.lemma_1,
    "lemma-2-mean": statements.lemma_2_mean,
    "lemma-2-square": statements.lemma_2_square,
    "duration": statements.duration,
    "lemma-4": statements.lemma_4,
    "lemma-3": bounds.lemma_3,
    "lemma-5": bounds.lemma_5,
    "proposition-3": bounds.proposition_3,
    "proposition-2": bounds.proposition_2,
    "lemma-6": bounds.lemma_6,
    "theorem-1": bounds.theorem_1,
    "corollary-2": bounds.corollary_2,
    "corollary-3": bounds.corollary_3,
}
