"""Names of metrics, costs and axes for people, in figures and report."""

import json
import math

COSTS = {
    "rounds": "communication rounds",
    "steps": "local steps",
    "vectors_up": "vectors sent per active client",
    "vectors_down": "vectors received per active client",
    "gradients": "gradients per active client",
    "samples": "samples per active client",
    "seconds": "training time (s)",
}
METRICS = {
    "suboptimality": ("suboptimality", "$F(x) - F^\\ast$"),
    "loss": ("training loss", "$F(x)$"),
    "output": ("output", "$x$"),
    "distance": ("distance to the optimum", "$|x - x^\\ast|$"),
    "gradient_norm": ("gradient norm", "$|\\nabla F(x)|$"),
    "accuracy": ("training accuracy", ""),
    "test_loss": ("test loss", ""),
    "test_accuracy": ("test accuracy", ""),
}
SYMBOLS = {
    "clients": "M",
    "local_steps": "K",
    "local_epochs": "E",
    "rounds": "R",
    "steps": "T",
    "batch": "b",
    "alpha": "α",
    "gamma": "γ",
    "lr": "η",
}
AXES = {
    "local_steps": "local steps per round",
    "local_epochs": "local epochs per round",
    "rounds": "communication rounds",
    "steps": "local steps in all",
    "batch": "samples per local step",
    "participation": "participation",
    "participation.gamma": "non-stationarity $\\gamma$",
    "schedule": "step-size schedule",
    "c": "scale $c$",
    "gamma_b": "largest step size $\\gamma_b$",
    "problem.partition": "partition",
    "problem.data": "data",
    "problem.l2": "$\\ell_2$ weight",
}
KINDS = {"iid": "i.i.d.", "dirichlet": "Dirichlet", "bernoulli": "Bernoulli"}
LOG = ("suboptimality", "distance", "norm", "gap")


def metric(name, statistic=None):
    """A metric for a y-axis: ``best suboptimality $F(x) - F^*$``."""
    words, formula = METRICS.get(name, (name.replace("_", " "), ""))
    return " ".join(filter(None, (statistic, words, formula)))


def words(name):
    """A metric or cost in words alone."""
    return COSTS.get(name) or METRICS.get(name, (name.replace("_", " "),))[0]


def is_log(name):
    """Whether a metric is shown on a log scale unless the figure says otherwise."""
    return any(part in name for part in LOG)


def axis(name, about):
    """An axis for an x-axis: ``number of workers $M$``."""
    if name == "clients":
        split = about["problem"].get("partition") or "data" not in about["problem"]
        return f"number of {'clients' if split else 'workers'} $M$"
    *_, stem, last = ["", *name.split(".")]
    if last.isdigit():
        return f"${stem}_{{{int(last) + 1}}}$"
    text = AXES.get(name, name.removeprefix("problem.").replace("_", " ").replace(".", " "))
    if name not in SYMBOLS:
        return text
    return f"${SYMBOLS[name]}$" if ord(SYMBOLS[name]) > 127 else f"{text} ${SYMBOLS[name]}$"


def short(name):
    """An axis by its symbol, or its last word."""
    *_, stem, last = ["", *name.split(".")]
    if last.isdigit():  # of a list, numbered from 0
        return stem + str(int(last) + 1).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))
    return SYMBOLS.get(name) or SYMBOLS.get(last) or last.replace("_", " ")


def point(name, value):
    """An axis at a value: ``K = 16``; a specification speaks for itself: ``Dirichlet, α = 0.3``."""
    value = parsed(value)
    return text(value) if isinstance(value, (dict, str)) else f"{short(name)} = {text(value)}"


def setting(row, axes):
    """A row's point of the axes: ``K = 16, M = 64``."""
    return ", ".join(point(axis, row[axis]) for axis in axes)


def text(value):
    """A value for people: ``Dirichlet, α = 0.3`` for a specification."""
    value = parsed(value)
    if isinstance(value, dict):
        options = [f"{SYMBOLS.get(k, k.replace('_', ' '))} = {text(v)}" for k, v in value.items() if k != "kind"]
        kind = value.get("kind")
        return ", ".join([KINDS.get(kind, str(kind).replace("-", " ")), *options] if kind else options)
    if isinstance(value, list):
        return "(" + ", ".join(map(text, value)) + ")"
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    return number(value, 6) if isinstance(value, (int, float)) or hasattr(value, "dtype") else str(value)


def parsed(value):
    """What a table's cell stands for: JSON text of a mapping or list as that."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def number(value, digits=3):
    """A number for a table: ``0.0124``, ``3.1 × 10⁻⁵``, ``4,096``, ``diverged`` if it is not finite."""
    value = float(value)
    if not math.isfinite(value):
        return "diverged"
    if value == int(value) and abs(value) < 1e7:
        return f"{int(value):,}" if abs(value) >= 1e4 else str(int(value))
    if 1e-3 <= abs(value) < 1e5:
        return f"{value:,.0f}" if abs(value) >= 1e4 else f"{value:.{max(digits, len(str(int(abs(value)))))}g}"
    return scientific(value, digits)


def scientific(value, digits=3):
    """A number with a power of ten: ``3.1 × 10⁻⁵``, ``10⁻³``."""
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    power = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{mantissa} × 10{power}".removeprefix("1 × ")
