"""Building named things from specifications, with errors that say what would have been right."""

import dataclasses
import difflib
import inspect

from fedatlas.errors import UserError


def lookup(what, name, known):
    """known[name], or a UserError that lists the names and guesses which was meant."""
    try:
        return known[name]
    except (KeyError, TypeError):
        raise UserError(f"unknown {what} {name!r}{did_you_mean(name, known)}") from None


def did_you_mean(name, known):
    close = difflib.get_close_matches(str(name), list(known), n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return f"{hint} (known: {', '.join(map(str, known))})" if known else " (it takes none)"


def build(what, kinds, spec, default=None):
    """An instance of ``kinds[spec["kind"]]`` with the other keys as its fields.

    spec: a mapping with ``kind``, or the kind alone. Raises UserError on an unknown kind or option, or a missing one.
    """
    if not isinstance(spec, (str, dict, type(None))):
        raise UserError(f"{what} is {spec!r}; it must be a kind, or a mapping with a kind and its options")
    options = {"kind": spec} if isinstance(spec, str) else dict(spec or {})
    kind = options.pop("kind", default)
    cls = lookup(f"{what} kind", kind, kinds)
    return construct(f"{what} {kind}", cls, options)


def construct(what, cls, options):
    """``cls(**options)`` for a dataclass; unknown and missing fields, and values it cannot use, as UserErrors."""
    fields = {f.name: f for f in dataclasses.fields(cls) if f.init}
    for name in options:
        if name not in fields:
            raise UserError(f"{what} has no option {name!r}{did_you_mean(name, fields)}")
    for name, field in fields.items():
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if required and name not in options:
            raise UserError(f"{what} needs a value for {name!r}")
    try:
        return cls(**options)
    except UserError:
        raise
    except (TypeError, ValueError, ArithmeticError) as error:
        raise UserError(f"{what}: a value does not fit ({error})") from error


def call(what, function, options, **given):
    """``function(**given, **options)``, with unknown and missing options as UserErrors."""
    known = {name: p for name, p in inspect.signature(function).parameters.items() if name not in given}
    for name in options:
        if name not in known:
            raise UserError(f"{what} has no option {name!r}{did_you_mean(name, known)}")
    for name, p in known.items():
        if p.default is inspect.Parameter.empty and name not in options:
            raise UserError(f"{what} needs a value for {name!r}")
    return function(**given, **options)
