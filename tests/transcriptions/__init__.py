"""Transcriptions of the papers' pseudocode: slow and plain, one client and one vector at a time.

They share no code with the package. A transcription is a generator that yields the evaluated vector after each round.
It reads what it needs of a run from a `World`; its other arguments are the algorithm's hyper-parameters.
"""

import importlib
import pkgutil

TRANSCRIPTIONS = {}  # by the names of their algorithms


def transcription(*names):
    """Register a function as the transcription of the algorithms of these names."""

    def register(function):
        for name in names:
            TRANSCRIPTIONS[name] = function
        return function

    return register


for module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{module.name}")
