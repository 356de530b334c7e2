"""Text as TeX: special characters, letters that pdfTeX cannot print, formulas in prose, numbers, comments."""

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
SUPERSCRIPTS = {"⁻": "-", "⁺": "+"} | {sign: str(n) for n, sign in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}
SUBSCRIPTS = {sign: str(n) for n, sign in enumerate("₀₁₂₃₄₅₆₇₈₉")}
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?e[-+]?\d+\b")
_POWER = re.compile(r"(?<=[\w)|])\^(-?[0-9]+(?:\.[0-9]+)?|[A-Za-z0-9]\b|\*)")
_INDEX = re.compile(rf"\b({'|'.join(GREEK)}|\w)_(\w+)\b")
_FORMULA = re.compile(r"(?:\\[A-Za-z !,:;%&#_{}|]|(?![\\%&#$~])[ -~])*")


def escape(text: str) -> str:
    """Return text, on one line, that TeX prints unchanged.

    A letter that pdfTeX cannot print, such as a Chinese one, becomes its number in Unicode in brackets.
    """
    text = " ".join(text.split())
    parts = []
    for part in re.split("([⁻⁺⁰¹²³⁴⁵⁶⁷⁸⁹]+|[₀-₉]+)", unicodedata.normalize("NFC", text)):
        if part and part[0] in SUPERSCRIPTS:
            parts.append(rf"\textsuperscript{{{_translate(part, SUPERSCRIPTS)}}}")
        elif part and part[0] in SUBSCRIPTS:
            parts.append(rf"\ensuremath{{_{{{_translate(part, SUBSCRIPTS)}}}}}")
        else:
            parts += map(_character, part)
    return "".join(parts)


def _translate(text: str, digits: dict[str, str]) -> str:
    return "".join(digits[character] for character in text).replace("-", r"\ensuremath{-}")


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
    """Return text of an experiment file as TeX, with ``r^0.75``, ``u_i``, ``eta``, ``>=``, 1e-3 and `code` typeset."""
    parts = " ".join(text.split()).split("`")
    for number, part in enumerate(parts):
        parts[number] = rf"\texttt{{{escape(part)}}}" if number % 2 else _formulas(part)
    return "".join(parts)


def _formulas(text: str) -> str:
    text = _NUMBER.sub(lambda match: labels.scientific(float(match[0])), text)
    text = re.sub(r"(?<![\w-])-(?=\d)", "−", text.replace(">=", "≥").replace("<=", "≤"))
    parts, end = [], 0
    for match in re.finditer(rf"{_POWER.pattern}|{_INDEX.pattern}|\b(?:{'|'.join(GREEK)})\b", text):
        parts.append(_with_spaces(escape, text[end : match.start()]))
        end = match.end()
        power, base, index = match[1], match[2], match[3]
        if power:
            parts.append(rf"\ensuremath{{^{{{power}}}}}")
        elif base and (len(base) == 1 or base in GREEK) and (len(index) == 1 or base in GREEK):
            letter = rf"\{base}" if base in GREEK else _symbol(base)
            parts.append(rf"\ensuremath{{{letter}_{{{_symbol(index)}}}}}")
        elif base:
            parts.append(escape(match[0]))
        else:
            parts.append(rf"\ensuremath{{\{match[0]}}}")
    return "".join([*parts, _with_spaces(escape, text[end:])])


def _symbol(text: str) -> str:
    """Return a symbol or word within a formula."""
    return text if len(text) == 1 and text.isascii() and text.isalnum() else rf"\mathrm{{{escape(text)}}}"


def _with_spaces(convert: Callable[[str], str], text: str) -> str:
    """Return a converted text with a space at each end that had white space, which the conversion strips."""
    inner = convert(text)
    return (" " if text[:1].isspace() else "") + inner + (" " if inner and text[-1:].isspace() else "")


def _is_formula(text: str) -> bool:
    """Return whether a text can stand in a formula: its characters are allowed and its braces balanced."""
    if not _FORMULA.fullmatch(text):
        return False
    braces = re.sub(r"\\.|[^{}]", "", text)
    while "{}" in braces:
        braces = braces.replace("{}", "")
    return not braces


def typeset(text: str) -> str:
    """Return text as TeX like `prose`; formulas between dollar signs stay formulas if TeX can read all of them."""
    parts = re.split(r"\$([^$]*)\$", text)
    if text.count("$") % 2 or not all(map(_is_formula, parts[1::2])):
        return prose(text)
    return "".join(
        rf"\ensuremath{{{part}}}" if number % 2 else _with_spaces(prose, part) for number, part in enumerate(parts)
    )


def number(value: float, digits: int = 3) -> str:
    """Return a number as TeX, for text and formulas: ``0.0124``, ``\\ensuremath{3.1 \\times 10^{-5}}``, ``32{,}561``.

    Args:
        value: The number; NaN becomes words.
        digits: Number of significant digits.
    """
    if math.isnan(value):
        return "not known"
    if math.isinf(value):
        return rf"\ensuremath{{{'-' if value < 0 else ''}\infty}}"
    text = labels.number(value, digits)
    match = re.fullmatch(r"(-?)(?:([\d.]+) × )?10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)|(-.*)", text)
    if match and match[4]:
        return rf"\ensuremath{{{match[4].replace(',', '{,}')}}}"
    if match:
        power = "".join(SUPERSCRIPTS[character] for character in match[3])
        times = rf"{match[2]} \times " if match[2] else ""
        return rf"\ensuremath{{{match[1]}{times}10^{{{power}}}}}"
    return text.replace(",", "{,}")


def comment(text: str) -> str:
    """Return a comment on one line."""
    return f"% {' '.join(text.split())}"
