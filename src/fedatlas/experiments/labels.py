"""Words for people, in lists, figures and report: of costs, metrics, axes, settings, numbers and data."""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from fedatlas.data.sources import display_name
from fedatlas.experiments.values import parse_cell
from fedatlas.federation.engine.history import CLOCK
from fedatlas.federation.metrics import declared_name, metric, round_metric

COSTS = {
    "rounds": "communication rounds",
    "steps": "local steps",
    "vectors_up": "vectors sent per active client",
    "vectors_down": "vectors received per active client",
    "bits_up": "bits sent per active client",
    "bits_down": "bits received per active client",
    "gradients": "gradients per active client",
    "samples": "samples per active client",
    "seconds": "training time (s)",
}
SIMULATED = CLOCK  # of asynchronous runs; of all others, what a cost model makes of recorded costs
TIMES = {**COSTS, SIMULATED: "simulated time (s)"}
# Letters of axes and options, as the papers have them; an underscore sets what follows lower. Names that are Greek
# letters, such as rho or gamma_b, need no entry.
SYMBOLS = {
    "clients": "M",
    "local_steps": "K",
    "local_epochs": "E",
    "rounds": "R",
    "steps": "T",
    "batch": "b",
    "lr": "η",
    "server_lr": "η_g",
    "lam": "λ",
    "curvatures": "a",
    "similarity": "δ_B",
}
GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "eta": "η", "theta": "θ", "kappa": "κ",
    "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "rho": "ρ", "sigma": "σ", "tau": "τ", "zeta": "ζ",
}  # fmt: skip
AXES = {
    "local_steps": "local steps per round",
    "local_epochs": "local epochs per round",
    "rounds": "communication rounds",
    "steps": "local steps in all",
    "batch": "samples per local step",
    "lr": "step size",
    "server_lr": "server step size",
    "clip": "clipping",
    "participation.gamma": "non-stationarity",
    "driver.model.compute_spread": "spread of speeds",
    "schedule": "step-size schedule",
    "c": "scale $c$",
    "gamma_b": "largest step size",
    "problem.partition.alpha": "concentration",
    "problem.l2": "$\\ell_2$ weight",
    "problem.curvatures": "curvature",
    "problem.similarity": "dissimilarity",
    "problem.normalise": "normalisation",
}
KINDS = {  # as people say them
    "iid": "i.i.d.",
    "dirichlet": "Dirichlet",
    "classes": "classes per client",
    "full": "all clients in a round",
    "synchronous": "synchronous rounds",
    "bernoulli": "Bernoulli",
    "markov": "Markov chain",
    "inverse-sqrt": "inverse square root",
}
# Kinds that are said with their options, which stand in braces.
PHRASES = {"classes": "classes per client = {classes}", "phases": "phases of {length} rounds, p = {p}, then {then}"}
RECORDED = {
    "at_bound_mean": "share of local steps at the bound",
    "at_bound_min": "smallest share of local steps at the bound",
    "equation_4_max": "largest relative error of Equation 4",
    "equation_5_max": "largest relative error of Equation 5",
}
STATISTICS = {
    "mean": "mean {}",
    "min": "smallest {}",
    "max": "largest {}",
    "within": "deviation of the {} within a client",
    "between": "deviation of the {} across clients",
}
INDEX = re.compile(r"[₀-₉,]+")
LOWER = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
LOWERED = {lower: number for number, lower in LOWER.items()}


def quantity(name: str, statistic: str = "") -> str:
    """A metric for a y-axis: ``best suboptimality $F(x) - F^*$``. statistic: ``best``, ``final`` or nothing."""
    return " ".join(filter(None, (statistic, words(name), metric(name).symbol)))


def words(name: str) -> str:
    """A metric, cost or recorded value in words alone."""
    if name in COSTS:
        return COSTS[name]
    if name in RECORDED:
        return RECORDED[name]
    if (over_rounds := round_metric(name)) is not None:
        return over_rounds.words(words(over_rounds.base))
    value, _, statistic = name.rpartition("_")
    if declared_name(name) or statistic not in STATISTICS:
        return metric(name).words
    return STATISTICS[statistic].format(value.replace("_", " "))


def cost(name: str) -> str:
    """A cost, or a number that servers report, for an x-axis."""
    return TIMES.get(name) or quantity(name)


def axis(name: str, problem: Mapping[str, Any]) -> str:
    """An axis for an x-axis: ``number of workers $M$``.

    problem: the specification of the experiment's problem. Workers draw from the same data, clients have their own.
    """
    if name == "clients":
        split = problem.get("partition") or "data" not in problem
        return f"number of {'clients' if split else 'workers'} $M$"
    stem, places = _split_index(name)
    letter = short_axis(name) if places else symbol(stem)
    words_of_axis = AXES.get(name.rstrip(".0123456789")) or AXES.get(stem) or ("" if letter else _spaced(stem))
    return " ".join(filter(None, (words_of_axis, letter and formula(letter))))


def short_axis(name: str) -> str:
    """An axis by its symbol, or its last word."""
    stem, places = _split_index(name)
    if places:
        return (symbol(stem) or stem) + ",".join(places).translate(LOWER)
    return symbol(stem) or _spaced(stem)


def symbol(option: str) -> str:
    """The letter of an option: ``λ`` of ``lam``, ``γ_b`` of ``gamma_b``; nothing where it has none."""
    letter, _, below = option.partition("_")
    if option in SYMBOLS or letter not in GREEK or len(below) > 1:
        return SYMBOLS.get(option, "")
    return f"{GREEK[letter]}_{below}" if below else GREEK[letter]


def assignment(option: str, value: Any) -> str:
    """An option with its value, in words alone: ``η = 0.316/L_max``."""
    words = re.sub(r"\d+\.\d+", lambda match: number(float(match[0])), value) if isinstance(value, str) else text(value)
    return greek(f"{symbol(option) or option} = {words.replace('*', ' ')}")


def formula(letter: str) -> str:
    """A letter as a formula: ``$δ_{1}$`` of ``δ₁``."""
    return "$" + INDEX.sub(r"_{\g<0>}", letter).translate(LOWERED) + "$"


def greek(text: str) -> str:
    """A text in which names of Greek letters are the letters: ``δ_A/μ`` of ``delta_A/mu``."""
    return re.sub(rf"(?<![^\W_])({'|'.join(GREEK)})(?![^\W_])", lambda match: GREEK[match[1]], text)


def _split_index(name: str) -> tuple[str, list[str]]:
    """The last word of an axis, and the place in a list, or in a list of lists, that follows it, counted from 1."""
    words, *places = re.split(r"\.(?=\d+(?:\.\d+)*$)", name)
    return words.rpartition(".")[2], [str(int(place) + 1) for place in places]


def _spaced(name: str) -> str:
    return name.replace("_", " ").replace("-", " ")


def point(name: str, cell: Any) -> str:
    """An axis at the value of a cell: ``K = 16``. A kind stands without the axis: ``Dirichlet, α = 0.3``."""
    value = parse_cell(cell)
    if isinstance(value, str) and name in ("problem.partition", "participation", "schedule", "channel"):
        return KINDS.get(value, _spaced(value))
    if isinstance(value, (dict, str)):
        return text(value)
    if value is None or isinstance(value, bool):
        return f"{'with' if value else 'no' if value is None else 'without'} {AXES.get(name) or short_axis(name)}"
    return f"{short_axis(name)} = {text(value)}"


def text(value: Any) -> str:
    """A value for people; a specification as ``Dirichlet, α = 0.3``, custom data by the name of the file."""
    if isinstance(value, dict):
        phrase = PHRASES.get(str(value.get("kind")), "")
        names = {"kind", *re.findall(r"{(\w+)}", phrase)}
        if phrase and names <= value.keys():
            rest = (_option(name, option) for name, option in value.items() if name not in names)
            return ", ".join([phrase.format(**{name: text(option) for name, option in value.items()}), *rest])
        return ", ".join(_option(name, option) for name, option in value.items())
    if isinstance(value, list):
        return text(value[0]) if len(value) == 1 and isinstance(value[0], list) else f"({', '.join(map(text, value))})"
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    return number(value, 6) if isinstance(value, (int, float)) or hasattr(value, "dtype") else display_name(str(value))


def _option(name: str, value: Any) -> str:
    """An option at its value: ``α = 0.3``, ``symmetric``, ``not symmetric``, ``no clip``; a kind alone."""
    if name == "kind":
        return KINDS.get(str(value), _spaced(str(value)))
    words_of_option = symbol(name) or _spaced(name)
    if value is None or isinstance(value, bool):
        return {None: f"no {words_of_option}", True: words_of_option, False: f"not {words_of_option}"}[value]
    return f"{words_of_option} = {text(value)}"


def count_noun(count: int, noun: str) -> str:
    """A number of things: ``1 problem``, ``12 problems``."""
    return f"{count} {noun}" + ("s" if count != 1 else "")


def join_sentences(*sentences: str) -> str:
    """One text of sentences, of which some may be empty."""
    return " ".join(filter(None, sentences))


def number(value: float, digits: int = 3) -> str:
    """A number for a table: ``0.0124``, ``3.1 × 10⁻⁵``, ``32,561``, or ``diverged`` if it is not finite.

    digits: that are significant.
    """
    value = float(value)
    if not math.isfinite(value):
        return "diverged"
    if value == int(value) and abs(value) < 1e7:
        return f"{int(value):,}" if abs(value) >= 1e4 else str(int(value))
    if 1e-3 <= abs(value) < 1e5:
        return f"{value:,.0f}" if abs(value) >= 1e4 else f"{value:.{max(digits, len(str(int(abs(value)))))}g}"
    return scientific(value, digits)


def scientific(value: float, digits: int = 3) -> str:
    """A number with a power of ten: ``3.1 × 10⁻⁵``, ``10⁻³``. digits: that are significant."""
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    power = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{mantissa} × 10{power}".removeprefix("1 × ")


def join_names(names: Iterable[str]) -> str:
    """Return names as a list, ``A, B and C``; a name with a comma, such as ``FedSpeed, z``, gets brackets instead."""
    names = [bracket_name(name) for name in names]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def bracket_name(name: str) -> str:
    """Return a name without commas, which would separate it in a list."""
    first, comma, rest = name.partition(", ")
    return f"{first} ({rest})" if comma else name
