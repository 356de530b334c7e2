"""The numbered statements of the five papers, as functions of a draw, and the search for counterexamples."""

import importlib

_MODULES = {
    "fedac": ["fedac", "fedac_rates", "fedac_pairs", "fedac_helpers"],
    "fedawe": ["fedawe", "fedawe_gossip"],
    "fedred": ["fedred_lemmas", "fedred", "fedred_steps"],
    "fedsps": ["fedsps"],
    "fedspeed": ["fedspeed"],
}


def _gathered(paper, name):
    """Everything that the modules of a paper list under a name."""
    modules = [importlib.import_module(f"tests.statements.{module}") for module in _MODULES[paper]]
    return [entry for module in modules for entry in getattr(module, name)]


PAPERS = {paper: _gathered(paper, "STATEMENTS") for paper in _MODULES}
PLANTED = {paper: _gathered(paper, "PLANTED") for paper in _MODULES}
