"""The scripts of the pages on papers write tables and a figure for LaTeX."""

import shutil
from pathlib import Path

import pytest
from matplotlib import rc_context

from tests.docs.blocks import blocks


@pytest.mark.parametrize("page, name", [("tutorial/own-paper", "figure1"), ("how-to/paper", "fedac_fig1")])
def test_a_script_writes_what_latex_reads(page, name, project, tmp_path, monkeypatch):
    shutil.copytree(project / "results/smoke/tiny", tmp_path / "results/smoke" / name)
    monkeypatch.chdir(tmp_path)
    (script,) = [block.text for block in blocks(Path(f"docs/{page}.md")) if block.file == "latex.py"]
    with rc_context():
        exec(script.replace("32", "3").replace("local_steps == 8", "local_steps == 2"))  # of what is in the results
    text = Path("scores.tex").read_text()
    assert r"\begin{tabular}" in text and r"local\_steps & 1 & 2" in text and "fedavg & 2." in text
    if name == "figure1":
        assert "better & " in Path("verdicts.tex").read_text()
    else:
        assert Path("curves.pdf").read_bytes().startswith(b"%PDF")
