"""Help, version and listings of the command."""

import pytest

from tests.test_cli import QUADRATIC, fedatlas


@pytest.mark.parametrize(
    ("name", "phrases"),
    [
        ("fedac_fig1", ["fedac_fig1 (experiment)", "Figures 1 and 3", "figures:", "claims:", "size paper", "notes:"]),
        ("yuan2020", ["yuan2020 (publication)", "experiments", "fedac_fig4", "@inproceedings{yuan2020"]),
        ("a9a", ["a9a (data set)"]),
        ("setting", ["local_epochs", "at least 1, or null; default null"]),
        ("convergence", ["convergence (figure)", "options:"]),
        ("loss", ["loss (metric)"]),
    ],
)
def test_show(name, phrases, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert fedatlas("show", name) == 0
    out = capsys.readouterr().out
    assert all(words in out for words in phrases)


def test_participation_and_schedule_of_a_run(capsys):
    train = ["train", "--algorithm", "fedavg", "--set", "lr=0.01", *QUADRATIC]
    train += ["--option", "heterogeneity=1"]  # so that it matters who takes part
    final = {}
    for name, options in {
        "plain": [],
        "some": ["--participation", "bernoulli,p=[0.2,0.5,0.9]"],
        "slower": ["--schedule", "exponential,decay=0.5"],
        "set": ["--set", "schedule={kind: exponential, decay: 0.5}"],
    }.items():
        assert fedatlas(*train, *options, "--out", "-") == 0
        head, *_, last = capsys.readouterr().out.splitlines()
        final[name] = dict(zip(head.split(","), last.split(","), strict=True))["loss"]
    assert final["slower"] == final["set"] and len({*final.values()}) == 3


@pytest.mark.parametrize("name", ["fedadam", "fedams"])
def test_a_number_that_is_too_large_is_a_sentence(name, capsys, tmp_path):
    options = ["--algorithm", name, "--set", "lr=0.1", "--set", "eps=1e300", *QUADRATIC]
    status = fedatlas("train", *options, "--out", tmp_path / "x.csv")
    error = capsys.readouterr().err
    if name == "fedadam":
        assert status == 2 and "fedadam: a number exceeds the range of double precision" in error
        assert error.count("\n") == 1 and not list(tmp_path.iterdir())
    assert "Traceback" not in error
