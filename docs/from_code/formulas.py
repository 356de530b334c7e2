"""Formulas of docstrings, which are plain text, in LaTeX.

Docstrings write ``y <- y - lr (g(y) - c_i + c)``, as one reads it in a terminal. Here the same line is set as a
formula, so an update rule is written once. Names of options become the symbols that their meanings mention
(``local step size eta_l``). Words may stand beside a formula.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

GREEK = "alpha beta gamma delta epsilon eta theta kappa lambda mu nu rho sigma tau omega Delta".split()
SYMBOLS = {name: f"\\{name}" for name in GREEK} | {
    "lam": r"\lambda",
    "eps": r"\epsilon",
    "lr": r"\eta_l",
    "server_lr": r"\eta_g",
    "grad": r"\nabla",
    "md": r"w^{\mathrm{md}}",
    "ag": r"w^{\mathrm{ag}}",
}
FUNCTIONS = {"max": r"\max", "min": r"\min"}
LARGE = {"sum": r"\sum", "mean": r"\operatorname{mean}", "argmin": r"\operatorname{argmin}"}
OPERATORS = {"prox": r"\operatorname{prox}"}
RELATIONS = {"<-": r"\leftarrow", "=": "=", "<=": r"\le", ">=": r"\ge", ">": ">"}
SIGNS = {"+": "+", "-": "-", "*": r"\cdot", ",": ",\\ ", ";": ";\\ ", ":": ":\\ "}
TEXT = r"\text{"
CLOSING = {"(": ")", "[": "]", "{": "}", "|": "|", "<": ">"}
TOKEN = re.compile(
    r"""(?P<space>\s*)(?:
    (?P<code>``[^`]+``)
  | (?P<word>
      [A-Za-z]+(?:-[A-Za-z]{2,})+(?![A-Za-z(])  # control-variate
    | [A-Za-z]+'s(?![A-Za-z]) | [A-Za-z]{2,}'
    | [A-Z]\.\d+(?:\.\d+)*                     # a section of an appendix
    | [A-Za-z]+\d+[A-Za-z]{2,} | l2)           # F3AST; the option
  | (?P<name>[A-Za-z]+\d*~?(?:_(?:\{[^}]*\}|[A-Za-z0-9]+))?(?:'(?![A-Za-z])|[*+](?![\w(]))?)
  | (?P<number>\d+(?:\.\d+)?)
  | (?P<relation><-|<=|>=|=)
  | (?P<mark>.)
    )""",
    re.VERBOSE,
)


class Unreadable(ValueError):
    """Text that is not a formula of this notation."""


@dataclass(frozen=True)
class Token:
    """A piece of text: its kind, its characters, and whether a space stands before it."""

    kind: str
    text: str
    spaced: bool


@dataclass(frozen=True)
class Part:
    """A piece of a formula in LaTeX.

    Attributes:
        latex: The piece.
        kind: ``factor``, ``sign``, ``large`` or ``words``.
        inner: Content of the brackets of a group.
    """

    latex: str
    kind: str = "factor"
    inner: str = ""


@dataclass(frozen=True)
class Notation:
    """The meaning of names.

    Attributes:
        symbols: LaTeX by name.
        variables: Names of several letters that are variables.
        words: Names of one letter that are words.
    """

    symbols: Mapping[str, str]
    variables: Collection[str] = ()
    words: Collection[str] = ()

    def among_words(self) -> "Notation":
        """Return the notation of sentences, in which several letters are a word and ``a`` is the article."""
        return Notation(self.symbols, [name for name in self.variables if "_" in name], ("a",))

    def symbol(self, name: str) -> str | None:
        """Return the LaTeX of a name, or None if it is a word."""
        bare = re.fullmatch(r"([A-Za-z]+)(\d*)(~?)(?:_(?:\{(.*)\}|(\w+)))?(['*+]?)", name)
        if name in self.symbols:
            return self.symbols[name]
        if bare is None or name in self.words:
            return None
        if name in self.variables and len(name) > 1 and bare[1] not in self.symbols:
            return rf"\mathrm{{{name}}}".replace("_", r"\_")
        stem, digits, tilde, braced, plain, ending = bare.groups()
        index, mark = braced or plain, "'" if ending == "'" else f"^{{{ending}}}" if ending else ""
        if stem in LARGE and not index:
            return None
        if stem + digits in self.symbols:
            head, digits = self.symbols[stem + digits], ""
        elif stem in self.symbols:
            head = self.symbols[stem]
        elif index and stem in (operators := {**LARGE, **OPERATORS, **FUNCTIONS}):
            head = operators[stem]
        elif len(stem) == 1:
            head = r"\ell" if stem == "l" else stem
        elif index:
            head = rf"\mathrm{{{stem}}}"
        else:
            return None
        head += f"_{digits}" if digits else ""
        head = rf"\tilde{{{head}}}" if tilde else head
        if index:
            head = rf"{head}_{{{formula(braced, self) if braced else self._index(index)}}}"
        return head + mark

    def _index(self, index: str) -> str:
        if index in self.symbols or index in FUNCTIONS:
            return {**self.symbols, **FUNCTIONS}[index]
        return index if len(index) <= 2 or index.isdigit() else rf"\text{{{index}}}"


def tokens(text: str) -> list[Token]:
    """Return the tokens of a text."""
    pieces = []
    for match in TOKEN.finditer(text.rstrip()):
        kind = match.lastgroup or "mark"
        pieces.append(Token(kind, match[kind], bool(match["space"])))
    return pieces


class Reader:
    """Reads tokens as a formula in which words may stand."""

    def __init__(self, pieces: list[Token], notation: Notation) -> None:
        self.pieces, self.notation, self.at = pieces, notation, 0

    def peek(self, ahead: int = 0) -> Token:
        at = self.at + ahead
        return self.pieces[at] if at < len(self.pieces) else Token("end", "", False)

    def sequence(self, until: str = "") -> list[Part]:
        """Return the parts up to a closing bracket, or to the end."""
        parts: list[Part] = []
        while (token := self.peek()).kind != "end" and not (token.text == until and token.kind in ("mark", "relation")):
            if token.text == "/" and parts and parts[-1].kind == "factor":
                self._fraction(parts)
            else:
                parts.append(self.part())
        if until and self.peek().kind == "end":
            raise Unreadable(f"{until!r} is missing")
        return parts

    def _fraction(self, parts: list[Part]) -> None:
        """Replace the numerator by a fraction: the last factor if no space precedes the stroke, else the product."""
        spaced = self.peek().spaced
        self.at += 1
        above = [parts.pop()]
        while spaced and parts and parts[-1].kind == "factor":
            above.insert(0, parts.pop())
        top = above[0].inner or above[0].latex if len(above) == 1 else " ".join(part.latex for part in above)
        below = self.part()
        command = "frac" if spaced or any(part.inner for part in (*above, below)) else "tfrac"
        bottom = below.inner or below.latex
        parts.append(Part(rf"\{command}{{{_flat(top, 'tfrac')}}}{{{_flat(bottom, 'tfrac')}}}"))

    def part(self) -> Part:
        """Return the next piece of the formula, with its power."""
        base = self._bare()
        if self.peek().text == "^" and base.kind != "words":
            self.at += 1
            sign = self.peek().text == "-"
            self.at += sign
            power = self._bare()
            return Part(f"{base.latex}^{{{'-' * sign}{_flat(power.inner or power.latex)}}}", base.kind)
        return base

    def _bare(self) -> Part:
        token, following = self.peek(), self.peek(1)
        self.at += 1
        if token.kind == "number":
            return Part(r"\mathbf{1}" if following.text == "[" and not following.spaced else token.text)
        if token.kind == "code":
            return Part(rf"\texttt{{{token.text[2:-2]}}}".replace("_", r"\_"), "words")
        if token.kind == "name":
            if token.text == "sqrt" and following.text == "(":
                return Part(rf"\sqrt{{{self._group().inner}}}")
            if token.text in FUNCTIONS and following.text == "(":
                return Part(FUNCTIONS[token.text] + self._group().latex)
            latex = self.notation.symbol(token.text)
            if latex is None:
                return Part(rf"\text{{{token.text}}}", "words")
            if following.text == "(" and not following.spaced:
                return Part(latex + self._group().latex)
            large = token.text == "grad" or token.text.partition("_")[0] in LARGE
            return Part(latex, "large" if large else "factor")
        if token.kind == "relation" or (token.text == ">"):
            return Part(RELATIONS[token.text], "sign")
        if token.text in CLOSING:
            self.at -= 1
            return self._group()
        if token.text in SIGNS:
            return Part(SIGNS[token.text], "sign")
        if token.kind == "word" or token.text == ".":
            return Part(rf"\text{{{token.text}}}", "words")
        raise Unreadable(f"{token.text!r} cannot stand here")

    def _group(self) -> Part:
        mark = self.peek().text
        self.at += 1
        inner = joined(self.sequence(CLOSING[mark]))
        self.at += 1
        tall = r"\frac" in inner
        left, right = {"|": (r"\lVert ", r" \rVert"), "<": (r"\langle ", r" \rangle")}.get(mark, (mark, CLOSING[mark]))
        if mark == "|" and re.fullmatch("[SB]", inner.strip()):
            left = right = "|"
        if tall:
            left, right = rf"\left{left}", rf"\right{right.strip()}"
        return Part(f"{left}{inner}{right}", inner="" if mark in "|<" else inner)


def _flat(latex: str, command: str = "t?frac") -> str:
    """Return LaTeX without fractions, or without small ones alone, as exponents and parts of fractions are set."""
    argument = r"\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}"
    return re.sub(rf"\\{command}{argument}{argument}", r"\1/\2", latex)


def joined(parts: list[Part]) -> str:
    """Return parts as LaTeX; words in succession are one text, with the commas between them."""
    latex, last = "", Part("", "sign")
    for part in parts:
        texts = part.latex.startswith(r"\text{"), last.latex.startswith(r"\text{")
        if last.kind == "words" and texts[1] and (part.latex[0] in ",;:" or part.latex == r"\text{.}"):
            latex, last = f"{latex[:-1]}{part.latex.removeprefix(TEXT)[0]}}}", last
            continue
        if all(texts):
            latex = f"{latex[:-1]} {part.latex.removeprefix(TEXT)}"
        elif texts[0]:
            latex += part.latex.replace(TEXT, TEXT + " " if latex else TEXT, 1)
        elif texts[1]:
            latex = f"{latex[:-1]} }}{part.latex}"
        else:
            latex += (r"\," if r"\mathrm" in last.latex and part.kind == last.kind == "factor" else " ") + part.latex
        last = part
    return latex.strip()


def formula(text: str, notation: Notation) -> str:
    """Return a formula, with words in it, as LaTeX.

    Raises:
        Unreadable: The text is not a formula.
    """
    reader = Reader(tokens(text), notation)
    return joined(reader.sequence())
