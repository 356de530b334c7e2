"""What the options of problems may be, by name: an option means the same for every kind that has it."""

import math
import re

from fedatlas.errors import UserError


def check(what, options):
    """Raise UserError if an option of a problem is of the wrong type or out of its range."""
    for name, value in options.items():
        kind, *bounds = OPTIONS.get(name, (None,))
        if kind is not None and (problem := kind(value, *bounds)):
            raise UserError(f"{what}: {name} is {value!r}; it must be {problem}")


def _whole(value, low):
    good = isinstance(value, int) and not isinstance(value, bool) and value >= low
    return None if good else f"a whole number, at least {low}"


def _rows(value, low):
    return None if value == "all" else _whole(value, low) and f"a whole number, at least {low}, or all"


def _number(value, low=None):
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return None if good and (low is None or value >= low) else "a number" + ("" if low is None else f", at least {low}")


def _penalty(value):
    return None if value == "1/n" else _number(value, 0) and "a number, at least 0, or 1/n"


def _number_or_none(value, low):
    return None if value is None else _number(value, low)


def _flag(value):
    return None if isinstance(value, bool) else "true or false"


def _device(value):
    good = isinstance(value, str) and re.fullmatch(r"cpu|cuda|auto", value)
    return None if good else "cpu, cuda or auto"


def _named(value):
    good = isinstance(value, str) or (isinstance(value, dict) and isinstance(value.get("kind"), str))
    return None if good else "a kind, or a mapping with a kind and its options"


OPTIONS = {
    "dim": (_whole, 1),
    "samples": (_whole, 1),
    "eval_samples": (_rows, 1),
    "instance": (_whole, 0),
    "l2": (_penalty,),
    "noise": (_number, 0),
    "similarity": (_number, 0),
    "heterogeneity": (_number, 0),
    "mu": (_number,),
    "L": (_number,),
    "kappa": (_number, 1),
    "start_scale": (_number_or_none, 0),
    "diagonal": (_flag,),
    "bias": (_flag,),
    "normalise": (_flag,),
    "device": (_device,),
    "architecture": (_named,),
    "partition": (_named,),
}
