"""Runs docs/how-to/front_door.py cell by cell and writes front_door.ipynb beside it, with what cells print and draw.

``python -m tests.api.notebook`` (`make notebook`) needs no Jupyter. Results of fedac_fig1 must lie in results/smoke.
"""

import ast
import base64
import contextlib
import io
import re
from pathlib import Path

import matplotlib

DOCS = Path(__file__).parents[2] / "docs"
SCRIPT, NOTEBOOK = DOCS / "how-to/front_door.py", DOCS / "how-to/front_door.ipynb"
DPI = 72


def cells(text):
    """(kind, source) of the cells of a script in the percent format; kind is ``code`` or ``markdown``."""
    result = []
    for part in re.split(r"^# %%", text, flags=re.MULTILINE)[1:]:
        head, _, body = part.partition("\n")
        if head.strip() == "[markdown]":
            lines = [re.sub(r"^# ?", "", line) for line in body.strip().splitlines()]
            result.append(("markdown", "\n".join(lines)))
        else:
            result.append(("code", body.strip()))
    return result


def outputs(source, names):
    """What a cell prints, shows as the value of its last expression, and draws, as outputs of a notebook.

    names: the namespace of all cells.
    """
    from matplotlib import pyplot
    from nbformat import v4

    tree, value = ast.parse(source), None
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, SCRIPT.name, "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), SCRIPT.name, "eval"), names)
    result = []
    if printed.getvalue():
        result.append(v4.new_output("stream", name="stdout", text=printed.getvalue()))
    for number in pyplot.get_fignums():
        image = io.BytesIO()
        pyplot.figure(number).savefig(image, format="png", dpi=DPI, metadata={"Software": None})
        data = {"image/png": base64.b64encode(image.getvalue()).decode(), "text/plain": "<Figure>"}
        result.append(v4.new_output("display_data", data=data))
    pyplot.close("all")
    if value is not None:
        data = {"text/plain": repr(value)}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = value._repr_html_()
        result.append(v4.new_output("execute_result", data=data))
    return result


def executed(text):
    """The notebook of a script, executed in the working directory."""
    from nbformat import v4

    matplotlib.use("agg")
    names, nb_cells, count = {"__name__": "__main__"}, [], 0
    for number, (kind, source) in enumerate(cells(text)):
        if kind == "markdown":
            nb_cells.append(v4.new_markdown_cell(source, id=f"cell-{number}"))
            continue
        count += 1
        result = outputs(source, names)
        for output in result:
            if output.output_type == "execute_result":
                output.execution_count = count
        nb_cells.append(v4.new_code_cell(source, id=f"cell-{number}", execution_count=count, outputs=result))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return v4.new_notebook(cells=nb_cells, metadata={"kernelspec": kernel, "language_info": {"name": "python"}})


def main():
    import nbformat

    notebook = executed(SCRIPT.read_text(encoding="utf-8"))
    nbformat.validate(notebook)
    NOTEBOOK.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
    print(f"{NOTEBOOK}: {NOTEBOOK.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
