"""Text as TeX, names of macros, and tables that fit the page."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fedatlas.publish.paper import macros, tables, tex


@example("0^¹")
@example("$\x80$")
@example("$}$")
@example("$%$ of $\\$")
@example("$\n$")
@given(st.text(max_size=60) | st.text("$\\{}%&#^_~` a1é\n", max_size=30))
def test_any_text_is_ascii_in_which_signs_of_tex_are_commands(text):
    for result in (tex.escape(text), tex.prose(text), tex.typeset(text)):
        assert result.isascii() and "\n" not in result
        plain = re.sub(r"\\ensuremath\{(?:[^{}]|\{[^{}]*\})*\}", "", result)
        assert not re.search(r"(?<!\\)[%&#$]", plain)
        without = re.sub(r"\\[{}]", "", result)
        assert without.count("{") == without.count("}")


@given(st.lists(st.text(max_size=20), max_size=4))
def test_a_name_of_a_macro_has_letters_alone(parts):
    assert re.fullmatch("[A-Za-z]+", macros.macro_name(*parts))


def test_names_tell_values_apart():
    assert macros.macro_name("fedac_fig1", "K = 16", "score") == "FedacFigOneKOneSixScore"
    assert macros.macro_name("α = -0.3") == "AlphaMinusZeroPointThree" != macros.macro_name("α = 0.3")
    assert macros.macro_name("DANE+-GD, tuned") == "DANEPlusGDTuned"


def test_no_macro_is_defined_twice():
    definitions = macros.Macros("x")
    names = [definitions.add("a-b", value="1", note="one"), definitions.add("a_b", value="2", note="two\nlines")]
    assert names == ["XAB", "XABVTwo"]
    assert definitions.lines == [r"\newcommand{\XAB}{1} % one", r"\newcommand{\XABVTwo}{2} % two lines"]


def test_prose_is_printed_as_the_report_prints_it():
    assert tex.prose("r^0.75 and `lr_x`") == r"r\ensuremath{^{0.75}} and \texttt{lr\_x}"
    assert tex.prose("eta >= 1e-3") == r"\ensuremath{\eta} \ensuremath{\ge} 10\textsuperscript{\ensuremath{-}3}"
    assert tex.prose("delta_B and u_i, but fed_avg") == r"\ensuremath{\delta_{B}} and \ensuremath{u_{i}}, but fed\_avg"
    assert tex.typeset(r"at $\rho$ = 50%") == r"at \ensuremath{\rho} = 50\%"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.0124, "0.0124"),
        (1.77e-4, r"\ensuremath{1.77 \times 10^{-4}}"),
        (1e-5, r"\ensuremath{10^{-5}}"),
        (-0.5, r"\ensuremath{-0.5}"),
        (-2e-6, r"\ensuremath{-2 \times 10^{-6}}"),
        (32561, "32{,}561"),
        (float("inf"), r"\ensuremath{\infty}"),
    ],
)
def test_numbers(value, expected):
    assert tex.number(value) == expected


@given(st.lists(st.integers(1, 60), min_size=1, max_size=30), st.integers(0, 60))
def test_parts_of_a_table_hold_each_column_once_and_fit(widths, before):
    parts = list(tables.split_columns(widths, before, 112))
    assert [width for part in parts for width in widths[part]] == widths
    assert all(before + sum(w + 2 for w in widths[part]) <= 112 or len(widths[part]) == 1 for part in parts)
