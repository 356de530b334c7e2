"""The table of a comparison as LaTeX."""

from collections.abc import Sequence

from fedatlas.publish.comparison import text
from fedatlas.publish.comparison.numbers import EntryNumbers
from fedatlas.publish.paper import tex
from fedatlas.publish.paper.tables import render_table


def render_tables(numbers: Sequence[EntryNumbers], command: str) -> str:
    """Return a table of problems for each algorithm, for the packages booktabs and longtable.

    Args:
        numbers: Numbers of the algorithms.
        command: Command that writes the file.
    """
    parts = [tex.comment(f"`{command}` writes this file again.")]
    for entry in numbers:
        head, *rows = text.problem_rows(entry)
        caption = f"{tex.prose(entry.sentence)} {tex.prose(text.note(entry))}"
        body = [[*map(tex.escape, row), *[""] * (len(head) - len(row))] for row in rows]
        label = f"tab:compare-{entry.id}"
        parts.append(render_table(list(map(tex.escape, head)), body, caption, label, "l" * len(head)))
    return "\n\n".join(parts) + "\n"
