"""Docstrings as Markdown: their update rules as rows of formulas, and sentences with the formulas in them."""

import re
from collections.abc import Iterator

from from_code.formulas import FUNCTIONS, RELATIONS, Notation, Reader, Token, Unreadable, formula, joined, tokens

WIDEST = 84  # characters of a row that a page shows without moving it


def rule(block: str, notation: Notation) -> str:
    """Return the lines of an update rule as aligned rows of LaTeX.

    Columns of a line are three spaces or more apart. Clauses of a line end with a comma or semicolon and two spaces or
    more. An assignment, such as ``D = y - x``, is a row. A condition, such as ``K times, from y = x``, stays in the row
    before, or gets a row if that would be wide.
    """
    assigned = re.findall(r"(?:^|\s)([A-Za-z]{2,})\+? +(?:<-|=) ", block)
    notation = Notation(notation.symbols, {*notation.variables, *assigned})
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
    """Return the parts of a clause such as ``a = 1, b = 2``."""
    return re.split(r",\s+(?=\S+ = )", clause) if _is_row(clause, notation) else [clause]


def _is_row(clause: str, notation: Notation) -> bool:
    """Return whether a clause is an assignment, such as ``D = y - x``, and no condition, such as ``from y = x``."""
    head, relation, _ = re.match(r"(.*?)(?:\s(<-|=)\s|$)(.*)", clause).groups()  # type: ignore[union-attr]
    return bool(relation) and r"\text" not in formula(head, notation)


def _clauses(line: str) -> list[str]:
    parts = re.split(r"(?<=[,;])\s{2,}|\s{3,}", re.sub(r"\s+(<-|=)\s+", r" \1 ", line.strip()))
    return [part.rstrip(",;").strip() for part in parts]


def prose(text: str, notation: Notation) -> str:
    """Return a paragraph as Markdown, with its formulas between dollar signs."""
    return "".join(_pieces(text, notation))


def _pieces(text: str, notation: Notation) -> Iterator[str]:
    candidates: list[Token] = []
    pieces, notation = tokens(text), notation.among_words()
    for before, token, after in zip(["", *pieces], pieces, [*pieces[1:], ""], strict=False):
        if _mathematical(token, notation, getattr(before, "text", ""), getattr(after, "text", "")):
            candidates.append(token)
        else:
            yield from _render(candidates, notation)
            candidates = []
            yield _text(token)
    yield from _render(candidates, notation)


def _mathematical(token: Token, notation: Notation, before: str, after: str) -> bool:
    if token.kind == "name":
        if token.text in ("A", "I") or before == "Appendix":
            return False
        return (token.text in ("sqrt", *FUNCTIONS) and after == "(") or notation.symbol(token.text) is not None
    return token.kind in ("number", "relation") or (token.text in "+-*/^()[]|<>," and token.kind == "mark")


def _render(candidates: list[Token], notation: Notation) -> Iterator[str]:
    """Yield tokens that may be a formula; those at the ends that belong to the sentence stay text."""
    start, end = 0, len(candidates)
    while start < end and _of_sentence(candidates, start, end, first=True):
        start += 1
    while end > start and _of_sentence(candidates, start, end, first=False):
        end -= 1
    inner = candidates[start:end]
    split = next((n for n, token in enumerate(inner) if token.text == "," and _balanced(inner[:n])), None)
    if split is not None:
        yield from _render(candidates[: start + split], notation)
        yield ","
        yield from _render(candidates[start + split + 1 :], notation)
        return
    yield from map(_text, candidates[:start])
    if any(token.kind == "name" for token in inner):
        try:
            latex = joined(Reader(inner, notation).sequence())
            yield f"{' ' if inner[0].spaced else ''}${latex}$"
        except Unreadable:
            yield "".join(map(_text, inner))
    else:
        yield "".join(map(_text, inner))
    yield from map(_text, candidates[end:])


def _balanced(tokens: list[Token]) -> bool:
    """Return whether all brackets are closed."""
    text = "".join(token.text for token in tokens if token.kind == "mark")
    paired = all(text.count(left) == text.count(right) for left, right in ("()", "[]"))
    return paired and text.count("|") % 2 == 0 and text.count("<") <= text.count(">")


def _of_sentence(candidates: list[Token], start: int, end: int, first: bool) -> bool:
    token = candidates[start] if first else candidates[end - 1]
    if token.text in (",", "=", "<-"):
        return True
    if token.text in ("([" if first else ")]"):
        return not _balanced(candidates[start:end])
    if token.text in (")]" if first else "(["):
        return True
    return token.text in ("-", "+", "/") and not first


def _text(token: Token) -> str:
    """Return a token of a sentence in Markdown, with the space before it."""
    text = token.text[1:-1] if token.kind == "code" else re.sub(r"([|*_<\[\]$])", r"\\\1", token.text)
    return f" {text}" if token.spaced else text
