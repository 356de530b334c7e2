"""A user's mistake stops the workflow with one clear sentence and leaves nothing half-written."""


def test_a_bad_experiment(project):
    project.write_experiment(algorithms={"scafold": None}, claims={})
    done = project.snakemake("results/smoke/tiny/claims.csv", "--logger", "fedatlas", check=False)
    text = done.stdout + done.stderr
    assert done.returncode != 0 and "unknown algorithm 'scafold'; did you mean 'scaffold'" in text
    assert "tiny.yaml" in text and "Traceback" not in text
    assert not (project.folder / "results/smoke").exists()


def test_a_bad_place_for_runs(project):
    (project.folder / "config/config.yaml").write_text("tour: [tiny]\nmlflow_uri: http://me:hunter2@host\n")
    done = project.snakemake("-n", check=False)
    kept = "".join(path.read_text() for path in (project.folder / ".snakemake").rglob("*") if path.is_file())
    text = done.stdout + done.stderr + kept
    assert done.returncode != 0 and "for MLflow runs" in text
    assert "hunter2" not in text and "Traceback" not in text
    assert not (project.folder / "results/smoke").exists()


def test_missing_data_offline(project, monkeypatch):
    project.write_experiment(
        problem={"kind": "logistic", "data": "mushrooms", "l2": 0.1, "partition": "iid"},
        setting={"clients": 2, "rounds": 1},
    )
    for name in ("https_proxy", "http_proxy"):  # a proxy that nobody serves stands for a machine without network
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("FEDATLAS_DATA_MIRRORS", raising=False)
    done = project.snakemake("results/smoke/tiny/claims.csv", check=False)
    text = done.stdout + done.stderr
    assert done.returncode != 0 and "mushrooms" in text and "https://" in text
    assert not list((project.folder / "data").rglob("mushrooms*"))


def test_results_that_cannot_be_written(project):
    (project.folder / "results").write_text("a file where the folder should be")
    done = project.snakemake(check=False)
    text = done.stdout + done.stderr
    assert done.returncode != 0 and "results" in text and "cannot write" in text
