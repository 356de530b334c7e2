"""Figures and claims of an experiment, checked before any job runs: a wrong name is an error, with a guess."""

from fedatlas import checks as claims
from fedatlas import figures, labels
from fedatlas.bibliography import entries
from fedatlas.errors import UserError
from fedatlas.experiments.selection import EXTREMES
from fedatlas.registry import did_you_mean, lookup
from fedatlas.theory import THEOREMS
from fedatlas.theory import comparison as bounds
from fedatlas.theory.closed_forms import LIMITS

NUMBERS = ("target", "at_least", "at_most", "factor", "tolerance", "paper", "after", "level", "reduction")
NUMBERS += ("above", "by", "share")
TYPES = {"algorithm": str, "algorithms": list, "than": list, "axis": str, "where": dict, "metric": str}
TYPES |= {"among": dict, "parameter": str, "of": str}


def validate(experiment):
    """Check what a loaded experiment says of its paper, figures and claims. Raises UserError naming file and key."""
    sections = {"figures": _figure, "claims": _claim}
    try:
        if experiment["paper"] not in entries():
            raise UserError(f"paper: references.bib has no entry {experiment['paper']!r}; add one")
        for section, check in sections.items():
            for name, entry in experiment[section].items():
                try:
                    check(experiment, entry)
                except UserError as error:
                    raise UserError(f"{section}.{name}.{error}") from None
    except UserError as error:
        raise UserError(f"{experiment['file']} (size {experiment['size']}): {error}") from None


def _figure(experiment, figure):
    kind = _known("kind", "kind of figure", figure["kind"], figures.KINDS)
    _options({k: v for k, v in figure.items() if k not in ("kind", "caption")}, kind.takes, kind.needs, figure["kind"])
    axes = _axes(experiment)
    x, panel, where = figure.get("x"), figure.get("panel"), figure.get("where", {})
    if figure["kind"] == "bound":
        bounds.theorem(figure["theorem"])
    elif figure["kind"] in ("convergence", "targets", "local"):
        _known("x", "cost", x, labels.COSTS)
    elif figure["kind"] == "sensitivity":
        _known("x", "tuned hyper-parameter", x, _tuned(experiment))
    elif x is not None:
        _axis("x", x, axes)
    for id, name in figure.get("theorems", {}).items():
        _algorithms("theorems", [id], experiment)
        _known("theorems", "theorem", name, THEOREMS)
    if "rows" in figure:
        _axis("rows", figure["rows"], axes)
    if "limit" in figure:
        _known("limit", "limit", figure["limit"], LIMITS)
    if panel is not None:
        _axis("panel", panel, axes)
    _where(where, axes)
    _algorithms("algorithms", figure.get("algorithms", []), experiment)
    if figure["kind"] == "partition":
        return _partitioned(experiment)
    if figure["kind"] == "availability":
        return
    for axis, values in axes.items():
        kept = _kept(where[axis], values) if axis in where else values
        if not kept:
            raise UserError(f"where.{axis}: no run has the value {where[axis]!r}; there are {values}")
        if len(kept) > 1 and axis not in (panel, x, figure.get("rows")):
            raise UserError(f"where: {axis} has {len(kept)} values: keep one of {kept}, or make it the panel")


def _kept(value, values):
    if isinstance(value, str) and value in EXTREMES:
        return values[:1]
    several = isinstance(value, list) and not any(isinstance(v, list) for v in values)
    return [v for v in values if v == value or (several and v in value)]


def _partitioned(experiment):
    how = [experiment["problem"].get("partition"), *_axes(experiment).get("problem.partition", [])]
    kinds = [value.get("kind") if isinstance(value, dict) else value for value in how if value]
    if not any(kind != "shared" for kind in kinds):
        raise UserError("kind: the experiment has no partition to draw: its data are not split over clients")


def _claim(experiment, claim):
    options = {k: v for k, v in claim["check"].items() if k != "kind"}
    name = claim["check"]["kind"]
    kind = _known("check.kind", "kind of check", name, claims.KINDS)
    _options(options, [*kind.options, "paper"], kind.required, name, "check.")
    if kind.one_of and not any(options.get(option) is not None for option in kind.one_of):
        raise UserError(f"check: {name} needs {' or '.join(kind.one_of)}")
    for option, value in options.items():
        _type(option, value)
    if experiment["size"] not in claim.get("sizes", [experiment["size"]]):
        return  # its axes and algorithms are those of other sizes
    if "limit" in options:
        _known("check.limit", "limit", options["limit"], LIMITS)
    axes = _axes(experiment)
    for option in ("algorithm", "algorithms", "than"):
        names = options.get(option, [])
        _algorithms(f"check.{option}", [names] if isinstance(names, str) else names, experiment)
    if "axis" in options:
        _axis("check.axis", options["axis"], axes)
    _where(options.get("where") or {}, axes, "check.")


def _type(option, value):
    if value is None:
        return
    if option in NUMBERS and (isinstance(value, bool) or not isinstance(value, (int, float))):
        raise UserError(f"check.{option}: {value!r} is not a number")
    expected = TYPES.get(option)
    if expected and not isinstance(value, expected):
        words = {str: "a name", list: "a list", dict: "a mapping of axes to values"}
        raise UserError(f"check.{option}: {value!r} is not {words[expected]}")
    if option in ("algorithms", "than") and not value:
        raise UserError(f"check.{option} is empty")
    if option == "statistic" and value not in ("best", "final"):
        raise UserError(f"check.statistic: {value!r} is neither 'best' nor 'final'")


def _axes(experiment):
    return {**experiment["grid"], **experiment["within"]}


def _tuned(experiment):
    tunings = [experiment["tune"], *(entry.get("tune", {}) for entry in experiment["algorithms"].values())]
    return dict.fromkeys(sorted({name for tuning in tunings for name, values in tuning.items() if values is not None}))


def _known(key, what, name, known):
    try:
        return lookup(what, name, known)
    except UserError as error:
        raise UserError(f"{key}: {error}") from None


def _options(given, known, required, kind, prefix=""):
    for option in given:
        if option not in known:
            raise UserError(f"{prefix}{option}: {kind} has no such option{did_you_mean(option, known)}")
    for option in required:
        if option not in given:
            raise UserError(f"{prefix}{option} is missing: {kind} needs it")


def _axis(key, name, axes):
    if name not in axes:
        raise UserError(f"{key}: {name!r} is not an axis of grid or within{did_you_mean(name, axes)}")


def _where(where, axes, prefix=""):
    for axis, value in where.items():
        _axis(f"{prefix}where", axis, axes)
        numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in axes[axis])
        if isinstance(value, str) and value in EXTREMES and not numbers:
            raise UserError(f"{prefix}where.{axis}: {value} needs an axis of numbers")


def _algorithms(key, names, experiment):
    for name in names:
        if name not in experiment["algorithms"]:
            known = experiment["algorithms"]
            raise UserError(f"{key}: {name!r} is not an algorithm of the experiment{did_you_mean(name, known)}")
