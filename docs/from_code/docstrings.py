"""Docstrings as Markdown: their update rules as rows of formulas, and sentences with the formulas in them."""

import re
from collections.abc import Iterator

from from_code.formulas import FUNCTIONS, RELATIONS, Notation, Reader, Token, Unreadable, formula, joined, tokens

WIDEST = 84  # characters of a row that a page shows without moving it


def rule(block: str, notation: Notation) -> str:
    """The lines of an update rule as aligned rows of LaTeX.

    Columns of a line are three spaces or more apart. Clauses of a line end with a comma or semicolon and two spaces or
    more. What says what something is, such as ``D = y - x``, is a row; what says when, such as ``K times, from y = x``,
    stays in the row before, or in one of its own if that would be wide.
    """
    given = re.findall(r"(?:^|\s)([A-Za-z]{2,})\+? +(?:<-|=) ", block)
    notation = Notation(notation.symbols, {*notation.variables, *given})
    rows: list[str] = []
    width = 0
    for line in block.splitlines():
        clauses = [part for clause in _clauses(line) for part in _assignments(clause, notation)]
        for number, clause in enumerate(clauses):
            if number and not _is_row(clause, notation):
                width += len(clause)
                rows += [""] * (width > WIDEST)
                rows[-1] += rf"{'' if rows[-1] else '& '} \quad {formula(clause, notation.among_words())}"
            else:
                head, mark, rest = re.match(r"(?:(\S+(?:'|\+)?) +(<-|=) +)?(.*)", clause).groups()  # type: ignore[union-attr]
                left = f"{formula(head, notation)} " if head else ""
                relation = f"{RELATIONS[mark]} " if mark else ""
                rows.append(f"{left}& {relation}{formula(rest, notation)}")
                width = len(clause)
    return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"


def _assignments(clause: str, notation: Notation) -> list[str]:
    """A clause such as ``a = 1, b = 2`` in its parts."""
    return re.split(r",\s+(?=\S+ = )", clause) if _is_row(clause, notation) else [clause]


def _is_row(clause: str, notation: Notation) -> bool:
    """Whether a clause says what something is, as in ``D = y - x``, and not when, as in ``K times, from y = x``."""
    head, relation, _ = re.match(r"(.*?)(?:\s(<-|=)\s|$)(.*)", clause).groups()  # type: ignore[union-attr]
    return bool(relation) and r"\text" not in formula(head, notation)


def _clauses(line: str) -> list[str]:
    parts = re.split(r"(?<=[,;])\s{2,}|\s{3,}", re.sub(r"\s+(<-|=)\s+", r" \1 ", line.strip()))
    return [part.rstrip(",;").strip() for part in parts]


def prose(text: str, notation: Notation) -> str:
    """A paragraph as Markdown, with its formulas between dollar signs."""
    return "".join(_pieces(text, notation))


def _pieces(text: str, notation: Notation) -> Iterator[str]:
    held: list[Token] = []
    pieces, notation = tokens(text), notation.among_words()
    for before, token, after in zip(["", *pieces], pieces, [*pieces[1:], ""], strict=False):
        if _mathematical(token, notation, getattr(before, "text", ""), getattr(after, "text", "")):
            held.append(token)
        else:
            yield from _settled(held, notation)
            held = []
            yield (" " if token.spaced else "") + _marked(token)
    yield from _settled(held, notation)


def _mathematical(token: Token, notation: Notation, before: str, after: str) -> bool:
    if token.kind == "name":
        if token.text in ("A", "I") or before == "Appendix":
            return False
        return (token.text in ("sqrt", *FUNCTIONS) and after == "(") or notation.symbol(token.text) is not None
    return token.kind in ("number", "relation") or (token.text in "+-*/^()[]|<>," and token.kind == "mark")


def _settled(held: list[Token], notation: Notation) -> Iterator[str]:
    """Tokens that may be a formula, as one if they are: its ends that belong to the sentence are set apart."""
    start, end = 0, len(held)
    while start < end and _of_sentence(held, start, end, first=True):
        start += 1
    while end > start and _of_sentence(held, start, end, first=False):
        end -= 1
    inside = held[start:end]
    split = next((n for n, one in enumerate(inside) if one.text == "," and _even(inside[:n])), None)
    if split is not None:
        yield from _settled(held[: start + split], notation)
        yield ","
        yield from _settled(held[start + split + 1 :], notation)
        return
    yield from ((" " if one.spaced else "") + _marked(one) for one in held[:start])
    if any(one.kind == "name" for one in inside):
        try:
            latex = joined(Reader(inside, notation).sequence())
            yield f"{' ' if inside[0].spaced else ''}${latex}$"
        except Unreadable:
            yield "".join((" " if one.spaced else "") + _marked(one) for one in inside)
    else:
        yield "".join((" " if one.spaced else "") + _marked(one) for one in inside)
    yield from ((" " if one.spaced else "") + _marked(one) for one in held[end:])


def _even(held: list[Token]) -> bool:
    """Whether all brackets are closed."""
    text = "".join(one.text for one in held if one.kind == "mark")
    paired = all(text.count(left) == text.count(right) for left, right in ("()", "[]"))
    return paired and text.count("|") % 2 == 0 and text.count("<") <= text.count(">")


def _of_sentence(held: list[Token], start: int, end: int, first: bool) -> bool:
    token = held[start] if first else held[end - 1]
    if token.text in (",", "=", "<-"):
        return True
    if token.text in ("([" if first else ")]"):
        return not _even(held[start:end])
    if token.text in (")]" if first else "(["):
        return True
    return token.text in ("-", "+", "/") and not first


def _marked(token: Token) -> str:
    """A piece of a sentence in Markdown."""
    if token.kind == "code":
        return token.text[1:-1]
    return re.sub(r"([|*_<\[\]$])", r"\\\1", token.text)
