"""Slow, obvious twins of the papers' pseudocode: one client and one vector at a time, no shared code with the package.

A twin is a generator that yields the evaluated vector after each round. It reads a World: ``m`` clients, ``K`` local
steps, ``T`` rounds, ``x0``, ``S(t)`` the active clients of round t, ``decay(t)`` the factor on its step size,
``g(t, k, i, y)`` client i's gradient on its k-th minibatch of round t, ``f(t, k, i, y)`` the loss of that minibatch,
``share(i)`` its samples over the client's, ``G(i, y)`` its full gradient.
"""

import importlib
import pkgutil

TWINS = {}


def twin(*names):
    """Register a transcription for algorithms."""

    def register(function):
        for name in names:
            TWINS[name] = function
        return function

    return register


def load():
    """All transcriptions by algorithm name."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return TWINS
