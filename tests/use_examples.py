"""List, show and use the examples of docs/how-to/algorithm.md and adding.md, in the study of tests/test_adding.py.

It prints a line for each of its arguments, a name: the name, its sections in `fedatlas list`, ``shown`` if
`fedatlas show` finds it, and ``used``.
"""

import contextlib
import io
import sys
from pathlib import Path

import numpy as np
import yaml

import fedatlas
from fedatlas.cli.main import main
from fedatlas.data import store
from fedatlas.data.dataset import load_prepared
from fedatlas.experiments import expansion
from fedatlas.experiments.cells import CellSpec, Select
from fedatlas.experiments.result_files import read_meta
from fedatlas.experiments.run import run_cell
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import HELD
from fedatlas.results.figures import FIGURES
from fedatlas.results.figures.renderer import draw
from fedatlas.workflow.configuration import validate
from fedatlas.workflow.jobs.claims import judge_claims
from tests.synthetic import build, decay, experiment

EXAMPLES = yaml.safe_load(Path("examples.yaml").read_text())  # the page's YAML by heading
QUADRATIC = {"kind": "quadratic", "dim": 3, "heterogeneity": 1.0}


def output_of(*words):
    """Return the output of a command of fedatlas, or an empty text if it fails."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()):
        status = main(list(words))
    return "" if status else out.getvalue()


def sections():
    """Return the sections of `fedatlas list` by name of their entries."""
    titles = {}
    for block in output_of("list").strip().split("\n\n"):
        section, *lines = block.splitlines()
        for line in lines:
            titles.setdefault(line.split()[0], []).append(section.rstrip(":"))
    return titles


def train(problem=QUADRATIC, algorithm="fedavg", clients=4, lr=0.01, **options):
    """Return the rows of a small run."""
    options = {"rounds": 4, "batch": None, "eval_rounds": 1, "optimum": False} | options
    frame = fedatlas.train(algorithm, problem, clients=clients, lr=lr, **options)
    assert frame.attrs["status"] == "ok" and np.isfinite(frame["loss"]).all()
    return frame


def algorithm():
    content = experiment(**EXAMPLES["The file"])
    (cell, *_) = [cell for cell in expansion.cells(content) if cell.id == "fedmine"]
    assert cell.spec.tune["lr"] == [0.01, 0.1]
    train(algorithm="fedmine", **cell.spec.parameters)


def problem():
    loss = train(EXAMPLES["A problem"]["problem"], lr=0.5)["loss"]
    assert loss.iloc[-1] < loss.iloc[0]


def architecture():
    train(EXAMPLES["An architecture"]["problem"])


def partition():
    train(EXAMPLES["A partition"]["problem"])


def participation():
    train(**EXAMPLES["A participation rule"]["setting"])


def sampling():
    noisy = QUADRATIC | {"noise": 1.0, "samples": 9}
    plain, sampled = (train(noisy, batch=3, **options) for options in ({}, EXAMPLES["A way of sampling"]["setting"]))
    assert plain["loss"].iloc[-1] != sampled["loss"].iloc[-1]


def topology():
    (options,) = EXAMPLES["A topology"]["algorithms"].values()
    problem = QUADRATIC | {"similarity": 1.0}  # the mean is the same on all graphs if all clients have one Hessian
    frames = [
        fedatlas.train("sonata", problem, clients=4, rounds=4, batch=None, **(options["set"] | {"graph": graph}))
        for graph in (options["set"]["graph"], "complete")
    ]
    losses = [frame["loss"].iloc[-1] for frame in frames]
    assert abs(losses[0] - losses[1]) > 1e-6


def schedule():
    plain, scaled = train(), train(**EXAMPLES["A step-size schedule"]["setting"])
    assert list(plain["loss"][:3]) == list(scaled["loss"][:3]) and plain["loss"][3] != scaled["loss"][3]


def channel():
    plain, halved = train(), train(**EXAMPLES["A channel"]["setting"])
    assert halved["bits_up"].iloc[-1] < plain["bits_up"].iloc[-1] and halved["bits_down"].equals(plain["bits_down"])


def tuning_rule():
    setting = {"clients": 4, "rounds": 20, "batch": None, "eval_rounds": 5}
    select = Select(metric="loss", statistic="final", goal="min", seeds=[1000])
    chosen = []
    for tuning in (EXAMPLES["A tuning rule"]["tuning"], {"kind": "cautious", "slack": 0}):
        tune = EXAMPLES["A tuning rule"]["tune"]
        spec = CellSpec("fedavg", {}, QUADRATIC, setting, tune=tune, select=select, tuning=tuning)
        run_cell(spec, f"{tuning['slack']}.parquet")
        (search,) = read_meta(f"{tuning['slack']}.parquet")["searches"]
        chosen.append(search["chosen"]["lr"])
    assert chosen[0] < chosen[1]


def metric():
    assert (train(**EXAMPLES["A metric"]["setting"])["max_norm"] > 0).all()


def reader():
    lines = ["spam free free meeting", "ham meeting", "spam free", "ham meeting meeting"]
    Path("mails.words").write_text("\n".join(lines * 5))
    train(EXAMPLES["A data reader"]["problem"])


def data_set():
    raw = Path("data/raw/libsvm")
    raw.mkdir(parents=True, exist_ok=True)
    (raw / "a1a").write_text("-1 2:1\n+1 1:1 123:1\n" * 802 + "-1 3:1\n")
    store.prepare("a1a", "data")
    assert load_prepared("a1a", "data").y.sum() == 802
    train(EXAMPLES["A data set"]["problem"])


def figure_and_claim():
    content = experiment(**EXAMPLES["A figure"], **EXAMPLES["A check of a claim"], optimum=True)
    validate(content)
    table, curves, view = build(content, Path("runs"), decay)
    draw(FIGURES.build(content.figure("scores")), view, table, curves, ["scores.png"])
    assert Path("scores.png").read_bytes().startswith(b"\x89PNG")
    verdict = judge_claims(content.claims, Results(view, table, curves, table)).iloc[0]
    assert (verdict["verdict"], verdict["ours"]) == (HELD, "0 runs diverged")


def cost_model():
    validate(experiment(**EXAMPLES["A cost model"]))


if __name__ == "__main__":
    store.prepare("digits", "data")
    parts = (algorithm, problem, architecture, partition, participation, sampling, topology, channel, schedule)
    for use in (*parts, tuning_rule, metric, reader, data_set, figure_and_claim, cost_model):
        use()
    titles = sections()
    for name in sys.argv[1:]:
        words = [f"{name}:", ",".join(titles[name]).replace(" ", "-")]
        words += ["shown"] if name in output_of("show", name) else []
        print(*words, "used")
