"""What `snakemake --delete-all-output` deletes is single files of the rules, as the page on running says."""

import shutil

import pytest


@pytest.mark.slow
def test_it_deletes_what_rules_made_and_nothing_beside_it(project, tmp_path):
    project.snakemake("tiny")
    results, outside = project.folder / "results/smoke/tiny", tmp_path / "outside"
    made = {path for path in results.rglob("*") if path.is_file()}
    outside.mkdir()
    (outside / "all.parquet").write_text("of another project")
    (results / "runs-x").symlink_to(outside)
    shutil.copytree(results / "runs", results / "runs-before-edit")
    (results / "figures/notes.txt").write_text("mine")
    shutil.move(results / "table.csv", outside / "table.csv")
    (results / "table.csv").symlink_to(outside / "table.csv")
    (results / "runs/fedavg/all.part").write_text("of an interrupted job")
    files = {path for path in project.folder.rglob("*") if not path.is_dir()}
    kept = {path for path in files - made if ".snakemake" not in path.parts}

    listed = project.snakemake("tiny", "--delete-all-output", "--dry-run")
    text = listed.stdout + listed.stderr
    assert {project.folder / line.split()[-1] for line in text.splitlines() if "Would delete" in line} >= made
    assert all(path.exists() for path in made)
    project.snakemake("tiny", "--delete-all-output")
    assert not any(path.exists() or path.is_symlink() for path in made)
    assert all(path.exists() for path in kept)
    assert {path.name for path in outside.iterdir()} == {"all.parquet", "table.csv"}
    project.snakemake("tiny")
    assert all(path.exists() for path in made)
