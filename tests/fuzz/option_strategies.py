"""Generated values of options: nearly always right, at times at a bound, seldom wrong."""

from collections.abc import Sequence
from typing import Any, Literal, get_args, get_origin

from hypothesis import strategies as st

from fedatlas.registry.options import Option

# Numbers that tests can afford; the declared range chooses among them.
WHOLE = (1, 2, 3, 5, 0, 7)
REAL = (0.1, 0.5, 1.0, 0.01, 0.9, 2.0, 20.0, 0.0, 1, 3, -1.0, 1e-3)
EXTREME = (1e-320, 1e-12, 1e12, 1e200, 1.7e308, -1e300, 1e-160)
FORMULAS = ("1/L", "0.1/L", "mu", "1/(L + mu)", "2*delta_A", "1/delta_B", "1/mu", "1/0", "-1/L", "1/n", "nothing", "1/")
WRONG = (None, "none", "1", -1, 0, 1.5, True, [], {}, [1], {"kind": "nope"}, 2**63, float("inf"), "..", "$x_$", "😀")
TEXTS = ("words", "$\\alpha$ and $x_i$", "$\\nope$", "a $ b", "50 % of $", "x_i^2", "a\nb", "😀", "<b>&", "=1+1", "$")


def mostly(right: Any, other: Any, one_in: int = 150) -> Any:
    """A strategy: nearly always the first."""
    return st.integers(1, one_in).flatmap(lambda number: other if number == one_in // 2 else right)


def _fitting(option: Option, values: Sequence[Any]) -> list[Any]:
    return [value for value in values if option.fits(value)]


def value(option: Option, names: Sequence[str] = ()) -> Any:
    """A value of an option: nearly always right. names: that it may hold, where it names something."""
    if names and {str, str | None} & {option.type, *option.members}:
        return mostly(st.sampled_from(names), st.sampled_from(WRONG))
    strategies: list[Any] = [st.sampled_from(words) for words in [list(option.words)] if words]
    for member in option.members:
        if member is int and (few := _fitting(option, WHOLE)):
            strategies.append(st.sampled_from(few))
        elif member is float and (few := _fitting(option, REAL)):
            strategies.append(mostly(st.sampled_from(few), st.sampled_from(_fitting(option, EXTREME) or few), 12))
        elif member is bool:
            strategies.append(st.booleans())
        elif member is str:
            strategies.append(st.sampled_from(names or TEXTS))
        elif member is type(None):
            strategies.append(st.none())
        elif get_origin(member) in (list, tuple):
            strategies.append(_list(option, get_args(member)[0], names))
    return mostly(st.one_of(strategies) if strategies else st.just({}), st.sampled_from(WRONG))


def _list(option: Option, inside: Any, names: Sequence[str]) -> Any:
    if get_origin(inside) in (list, tuple):
        entries: Any = st.lists(st.sampled_from(REAL), min_size=2, max_size=2)
    elif get_origin(inside) is Literal:
        entries = st.sampled_from(get_args(inside))
    else:
        entries = st.sampled_from(names) if names else st.sampled_from(_fitting(option, [[x] for x in REAL]) or [[1]])
        entries = entries if names else entries.map(lambda few: few[0])
    return st.lists(entries, min_size=1, max_size=3)


@st.composite
def options(
    draw: Any, declarations: dict[str, Option], names: dict[str, Sequence[str]], share: int = 3
) -> dict[str, Any]:
    """Values of the required options, and of one in ``share`` of the others. names: by what an option may name."""
    values = {}
    for name, option in declarations.items():
        if option.family or not (option.required or not draw(st.integers(0, share - 1))):
            continue
        if option.names == "where" or (
            option.names and option.type not in (str, str | None) and dict in option.members
        ):
            continue
        values[name] = draw(value(option, names.get(option.names or "", ())))
    return values


@st.composite
def kind(draw: Any, family: Any, names: Sequence[str] = (), referents: Any = None) -> dict[str, Any]:
    """A specification of a kind of a family."""
    name = draw(st.sampled_from(names or family.names()))
    return {"kind": name, **draw(options(dict(family.get(name).options()), referents or {}))}
