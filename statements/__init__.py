"""The numbered statements of the five papers, as functions of a draw, and the search for counterexamples."""

from statements import (
    fedac,
    fedac_helpers,
    fedac_pairs,
    fedac_rates,
    fedawe,
    fedawe_gossip,
    fedred,
    fedred_lemmas,
    fedred_steps,
    fedspeed,
    fedsps,
)

_MODULES = {
    "fedac": [fedac, fedac_rates, fedac_pairs, fedac_helpers],
    "fedawe": [fedawe, fedawe_gossip],
    "fedred": [fedred_lemmas, fedred, fedred_steps],
    "fedsps": [fedsps],
    "fedspeed": [fedspeed],
}
PAPERS = {
    paper: [statement for module in modules for statement in module.STATEMENTS] for paper, modules in _MODULES.items()
}
PLANTED = {  # of each paper: functions of its statements, and a piece of their text with a wrong one
    paper: [error for module in modules for error in module.PLANTED] for paper, modules in _MODULES.items()
}
