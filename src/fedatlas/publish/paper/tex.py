"""Text as TeX: signs that mean something to TeX, letters that pdfTeX does not know, formulas in prose, numbers."""

import math
import re
import unicodedata
from collections.abc import Callable

from fedatlas.experiments import labels
from fedatlas.experiments.labels import GREEK

SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", '"': "''", "'": "'", "`": r"\textasciigrave{}",
    "<": r"\ensuremath{<}", ">": r"\ensuremath{>}", "|": r"\ensuremath{|}", "–": "--", "—": "---", "‘": "`", "’": "'",
    "“": "``", "”": "''", "…": r"\ldots{}", "±": r"\ensuremath{\pm}", "×": r"\ensuremath{\times}",
    "·": r"\ensuremath{\cdot}", "≤": r"\ensuremath{\le}", "≥": r"\ensuremath{\ge}", "≈": r"\ensuremath{\approx}",
    "≠": r"\ensuremath{\neq}", "∞": r"\ensuremath{\infty}", "−": r"\ensuremath{-}", "√": r"\ensuremath{\surd}",
    "∇": r"\ensuremath{\nabla}", "ℓ": r"\ensuremath{\ell}", "°": r"\ensuremath{^\circ}", "→": r"\ensuremath{\to}",
    "§": r"\S{}", "ß": r"\ss{}", "ø": r"\o{}", "Ø": r"\O{}", "æ": r"\ae{}", "Æ": r"\AE{}", "œ": r"\oe{}",
    "Œ": r"\OE{}", "ł": r"\l{}", "Ł": r"\L{}", "ı": r"\i{}", "\N{NO-BREAK SPACE}": "~",
}  # fmt: skip
LETTERS = {letter: name for name, letter in GREEK.items()} | {"ϵ": "epsilon", "φ": "phi", "ψ": "psi", "ω": "omega",
    "χ": "chi", "π": "pi", "Δ": "Delta", "Σ": "Sigma", "Ω": "Omega", "Γ": "Gamma", "Λ": "Lambda", "Φ": "Phi",
    "Ψ": "Psi", "Π": "Pi", "Θ": "Theta", "Ξ": "Xi",
}  # fmt: skip
ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0308": '"', "\u0304": "=", "\u0307": ".",
    "\u0306": "u", "\u030c": "v", "\u030b": "H", "\u0327": "c", "\u030a": "r", "\u0323": "d",
}  # fmt: skip
RAISED = {"⁻": "-", "⁺": "+"} | {raised: str(n) for n, raised in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}
LOWERED = {lowered: str(n) for n, lowered in enumerate("₀₁₂₃₄₅₆₇₈₉")}
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?e[-+]?\d+\b")
_POWER = re.compile(r"(?<=[\w)|])\^(-?[0-9]+(?:\.[0-9]+)?|[A-Za-z0-9]\b|\*)")
_INDEX = re.compile(rf"\b({'|'.join(GREEK)}|\w)_(\w+)\b")
_FORMULA = re.compile(r"(?:\\[A-Za-z !,:;%&#_{}|]|(?![\\%&#$~])[ -~])*")


def escaped(text: str) -> str:
    """Text, on one line, that TeX prints as it stands.

    A letter that pdfTeX cannot print, such as a Chinese one, is its number in Unicode in brackets.
    """
    text = " ".join(text.split())
    found = []
    for part in re.split("([⁻⁺⁰¹²³⁴⁵⁶⁷⁸⁹]+|[₀-₉]+)", unicodedata.normalize("NFC", text)):
        if part and part[0] in RAISED:
            found.append(rf"\textsuperscript{{{_figures(part, RAISED)}}}")
        elif part and part[0] in LOWERED:
            found.append(rf"\ensuremath{{_{{{_figures(part, LOWERED)}}}}}")
        else:
            found += map(_character, part)
    return "".join(found)


def _figures(text: str, known: dict[str, str]) -> str:
    return "".join(known[character] for character in text).replace("-", r"\ensuremath{-}")


def _character(character: str) -> str:
    if character in SPECIAL:
        return SPECIAL[character]
    if character in LETTERS:
        return rf"\ensuremath{{\{LETTERS[character]}}}"
    if " " <= character <= "~":
        return character
    parts = unicodedata.normalize("NFD", character)
    if len(parts) == 2 and parts[0].isascii() and parts[0].isalpha() and parts[1] in ACCENTS:
        return rf"\{ACCENTS[parts[1]]}{{{parts[0]}}}"
    return f"[U+{ord(character):04X}]"


def prose(text: str) -> str:
    """Text of an experiment file as TeX: ``r^0.75``, ``u_i``, ``eta``, ``>=``, 1e-3 and `code` as they are printed."""
    parts = " ".join(text.split()).split("`")
    for number, part in enumerate(parts):
        parts[number] = rf"\texttt{{{escaped(part)}}}" if number % 2 else _formulas(part)
    return "".join(parts)


def _formulas(text: str) -> str:
    text = _NUMBER.sub(lambda found: labels.scientific(float(found[0])), text)
    text = re.sub(r"(?<![\w-])-(?=\d)", "−", text.replace(">=", "≥").replace("<=", "≤"))
    found, place = [], 0
    for one in re.finditer(rf"{_POWER.pattern}|{_INDEX.pattern}|\b(?:{'|'.join(GREEK)})\b", text):
        found.append(_kept(escaped, text[place : one.start()]))
        place = one.end()
        power, base, index = one[1], one[2], one[3]
        if power:
            found.append(rf"\ensuremath{{^{{{power}}}}}")
        elif base and (len(base) == 1 or base in GREEK) and (len(index) == 1 or base in GREEK):
            letter = rf"\{base}" if base in GREEK else _in_formula(base)
            found.append(rf"\ensuremath{{{letter}_{{{_in_formula(index)}}}}}")
        elif base:
            found.append(escaped(one[0]))
        else:
            found.append(rf"\ensuremath{{\{one[0]}}}")
    return "".join([*found, _kept(escaped, text[place:])])


def _in_formula(text: str) -> str:
    shown = escaped(text)
    return text if len(text) == 1 and text.isascii() and text.isalnum() else rf"\mathrm{{{shown}}}"


def _kept(change: Callable[[str], str], text: str) -> str:
    """A text that was changed, with the white space at its ends, which the change takes away."""
    inner = change(text)
    return (" " if text[:1].isspace() else "") + inner + (" " if inner and text[-1:].isspace() else "")


def _is_formula(text: str) -> bool:
    """Whether the text, in a formula, has only signs that TeX reads there, and pairs of braces."""
    if not _FORMULA.fullmatch(text):
        return False
    braces = re.sub(r"\\.|[^{}]", "", text)
    while "{}" in braces:
        braces = braces.replace("{}", "")
    return not braces


def noted(text: str) -> str:
    """As `prose`; formulas between dollar signs, as figures have them, stay formulas, if TeX can read all of them."""
    parts = re.split(r"\$([^$]*)\$", text)
    if text.count("$") % 2 or not all(map(_is_formula, parts[1::2])):
        return prose(text)
    shown = [rf"\ensuremath{{{part}}}" if n % 2 else _kept(prose, part) for n, part in enumerate(parts)]
    return "".join(shown)


def number(value: float, digits: int = 3) -> str:
    """A number as TeX, in text and in formulas: ``0.0124``, ``\\ensuremath{3.1 \\times 10^{-5}}``, ``32{,}561``.

    digits: that are significant. What is not finite is a word.
    """
    if math.isnan(value):
        return "not known"
    if math.isinf(value):
        return rf"\ensuremath{{{'-' if value < 0 else ''}\infty}}"
    shown = labels.number(value, digits)
    match = re.fullmatch(r"(-?)(?:([\d.]+) × )?10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)|(-.*)", shown)
    if match and match[4]:
        return rf"\ensuremath{{{match[4].replace(',', '{,}')}}}"
    if match:
        power = "".join(RAISED[character] for character in match[3])
        times = rf"{match[2]} \times " if match[2] else ""
        return rf"\ensuremath{{{match[1]}{times}10^{{{power}}}}}"
    return shown.replace(",", "{,}")


def comment(text: str) -> str:
    """A comment on one line."""
    return f"% {' '.join(text.split())}"
