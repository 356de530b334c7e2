"""`fedatlas paper`: what it writes, that TeX takes it, and what it refuses."""

import json
import re
import shutil
import subprocess

import pytest
import yaml

from fedatlas.cli.main import main
from tests.paper.conftest import TINY


@pytest.fixture(scope="module")
def written(finished):
    """The folder of the experiment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(finished)
        assert main(["paper", "tiny_1"]) == 0
    return finished / "paper/tiny_1"


def macro(text, name):
    return re.search(rf"\\newcommand{{\\{name}}}{{(.*)}} %", text)[1]


def test_every_file_says_where_it_came_from(written):
    manifest = json.loads((written / "manifest.json").read_text())
    paths = {path.relative_to(written).as_posix() for path in written.rglob("*") if path.is_file()}
    assert set(manifest["files"]) | {"manifest.json"} == paths
    runs = {f"results/smoke/tiny_1/runs/{id}/local_steps={K}.parquet" for id in TINY["algorithms"] for K in (1, 2)}
    for name in ("figures/loss.pdf", "numbers.tex", "tables.tex", "claims.tex"):
        assert runs <= set(manifest["files"][name]["from"])
    assert all((written.parents[1] / path).exists() for path in runs)
    assert manifest["files"]["references.bib"]["from"] == ["config/experiments/tiny_1.yaml"]
    assert "results/smoke/tiny_1/runs/fed-avg/local_steps=1.parquet" in (written / "figures.tex").read_text()


def test_main_has_ten_lines(written):
    assert len((written / "main.tex").read_text().splitlines()) == 10


def test_numbers_are_those_of_the_results(written):
    import pandas as pd

    text = (written / "numbers.tex").read_text()
    table = pd.read_csv(written.parents[1] / "results/smoke/tiny_1/table.csv")
    row = table[(table["algorithm"] == "scaffold") & (table["local_steps"] == 2) & table["chosen"]].iloc[0]
    score = macro(text, "TinyOneScaffoldKTwoScore").removeprefix(r"\ensuremath{").removesuffix("}")
    assert float(score) == pytest.approx(row["score"], rel=5e-3)
    assert macro(text, "TinyOneScaffoldKTwoLr") == f"{row['lr']:g}"
    assert "runs/scaffold/local_steps=2.parquet" in text and macro(text, "TinyOneSeeds") == "2"
    claims = pd.read_csv(written.parents[1] / "results/smoke/tiny_1/claims.csv")
    assert macro(text, "TinyOneClaimFirstClaimTwoVerdict") == claims["verdict"][0]
    names = re.findall(r"\\newcommand{\\(\w+)}", text)
    assert len(names) == len(set(names)) and "ClaimLater" not in text


def test_references_are_those_of_the_study_and_the_atlas(written):
    text = (written / "references.bib").read_text()
    assert "@article{mine," in text and "karimireddy2020" in text


def test_figures_have_the_width_and_the_fonts_that_were_asked_for(study, tmp_path, capsys):
    arguments = ["paper", "tiny_1", "--out", str(tmp_path / "it"), "--width", "5.5", "--fonts", "times"]
    assert main(arguments) == 0
    pdf = (tmp_path / "it/figures/loss.pdf").read_bytes()
    assert float(re.search(rb"/MediaBox \[ ?0 0 ([\d.]+)", pdf)[1]) == pytest.approx(5.5 * 72)
    assert b"STIXGeneral" in pdf and b"/Subtype /Type3" not in pdf
    assert "Lines: mean over 2 seeds" in (tmp_path / "it/figures.tex").read_text()


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="needs pdflatex (Debian: texlive-latex-recommended)")
def test_tex_takes_it_as_it_is(written, tmp_path):
    folder = shutil.copytree(written, tmp_path / "compiled")
    for command in ("pdflatex", "bibtex", "pdflatex", "pdflatex"):
        options = ["-halt-on-error", "-interaction=nonstopmode"] if command == "pdflatex" else []
        done = subprocess.run([command, *options, "main"], cwd=folder, capture_output=True, timeout=120)
        assert done.returncode == 0, done.stdout[-2000:].decode(errors="replace")
    log = (folder / "main.log").read_text(errors="replace")
    assert (folder / "main.pdf").exists() and "undefined" not in log and "Overfull" not in log


def test_a_folder_of_the_command_is_replaced_and_no_other(study, tmp_path, capsys):
    out = tmp_path / "it"
    arguments = ["paper", "tiny_1", "--out", str(out)]
    assert main(arguments) == 0
    (out / "main.pdf").write_bytes(b"of TeX")
    assert main(arguments) == 0
    (out / "main.tex").write_text("My paper.")
    assert main(arguments) == 2 and "main.tex was changed since" in capsys.readouterr().err
    assert (out / "main.tex").read_text() == "My paper."
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.tex").write_text("Mine.")
    assert main(["paper", "tiny_1", "--out", str(tmp_path / "mine")]) == 2
    assert "is not a folder that `fedatlas paper` wrote" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["tiny_1", "--size", "paper"], "`fedatlas run tiny_1 --size paper`; there are results at size smoke"),
        (["tini_1"], "there is no experiment 'tini_1'; did you mean 'tiny_1'"),
        (["tiny_1", "--width", "0.2"], "the width is 0.2 inches; it must be from 1.5 to 20"),
    ],
)
def test_what_cannot_be_written_is_one_sentence(study, arguments, sentence, capsys, tmp_path):
    assert main(["paper", *arguments, "--out", str(tmp_path / "none")]) == 2
    assert sentence in capsys.readouterr().err and not (tmp_path / "none").exists()


def test_a_change_of_the_file_since_is_said(study, tmp_path, capsys):
    path = study / "config/experiments/tiny_1.yaml"
    before = path.read_text()
    path.write_text(yaml.safe_dump({**TINY, "seeds": [0, 1, 2]}, sort_keys=False, allow_unicode=True))
    try:
        assert main(["paper", "tiny_1", "--out", str(tmp_path / "it")]) == 0
    finally:
        path.write_text(before)
    assert "has changed since the results were made (seeds): run `fedatlas run tiny_1" in capsys.readouterr().err
    assert "has changed since" in (tmp_path / "it/numbers.tex").read_text()
