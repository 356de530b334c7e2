"""The notebook in docs/: its code runs, and its file is of this code."""

import json

import nbformat
import pytest

from tests.api import notebook


@pytest.mark.slow
def test_the_code_of_the_notebook_runs(project, tmp_path, monkeypatch):
    (tmp_path / "results" / "smoke").mkdir(parents=True)
    (tmp_path / "results" / "smoke" / "fedac_fig1").symlink_to(project / "results" / "smoke" / "tiny")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FEDATLAS_DATA", str(tmp_path / "data"))
    result = notebook.executed(notebook.SCRIPT.read_text(encoding="utf-8"))
    nbformat.validate(result)
    figures = [
        output for cell in result.cells for output in cell.get("outputs", ()) if output.output_type == "display_data"
    ]
    assert len(figures) >= 5


def test_the_notebook_was_written_from_the_script():
    document = json.loads(notebook.NOTEBOOK.read_text(encoding="utf-8"))
    result = [(cell["cell_type"], "".join(cell["source"])) for cell in document["cells"]]
    assert result == notebook.cells(notebook.SCRIPT.read_text(encoding="utf-8")), "run `make notebook`"
    assert notebook.NOTEBOOK.stat().st_size < 300_000
