"""A sample experiment with the files that a report reads."""

import itertools
import json

import numpy as np
import pandas as pd
from PIL import Image

from fedatlas.experiments import result_files as files
from fedatlas.experiments import specification
from fedatlas.experiments.specification import Experiment
from fedatlas.experiments.view import AlgorithmView, ExperimentView
from fedatlas.io.files import write_json
from fedatlas.io.formats import write_csv
from fedatlas.publish.report.facts import build_facts
from fedatlas.results.figures.description import Line, Lines

CONTENT = {
    "title": "Made up & < true",
    "paper": "yuan2020",
    "source": "Figure 0",
    "description": "Rates r^0.75 with eta >= 1e-3 and `lr`.",
    "notes": ["A choice."],
    "problem": {"kind": "logistic", "data": "breast_cancer", "l2": 0.01},
    "setting": {"steps": 64},
    "grid": {"local_steps": [1, 8], "clients": [4, 16, 64]},
    "tune": {"lr": [0.1, 1]},
    "seeds": [0, 1],
    "select": {"metric": "suboptimality", "statistic": "best", "goal": "min"},
    "algorithms": {"fedavg": {}, "fedac-1": {}},
    "figures": {"speed": {"kind": "scaling", "x": "clients", "panel": "local_steps", "caption": "Scores against M."}},
}
NAMES = {"fedavg": "FedAvg", "fedac-1": "FedAc-I"}
COSTS = {"rounds": 40.0, "vectors_up": 40.0, "vectors_down": 80.0, "gradients": 160.0, "seconds": 0.25}
COSTS |= {"bits_up": 2560.0, "bits_down": 5120.0}
CLAIMS = [
    {"claim": "first", "text": "FedAc is <better> at K = 1.", "verdict": "held", "paper": "", "note": ""},
    {"claim": "second", "text": "It needs 1 round.", "verdict": "not held", "paper": "1", "note": "It does not."},
    {"claim": "third", "text": "Untested.", "verdict": "not tested at this size", "paper": "", "note": ""},
]
CLAIMS = [{**claim, "p": p} for claim, p in zip(CLAIMS, (0.01, 0.04, ""), strict=True)]


LINES = {"fedavg": Line("#262626", "o", name="FedAvg"), "fedac-1": Line("#d55e00", "D", (5, 1.6), "FedAc-I")}


def experiment(name="made_up", **changes) -> Experiment:
    """Return the sample experiment, with some keys of its file changed."""
    return specification.experiment(name, "smoke", f"config/experiments/{name}.yaml", {**CONTENT, **changes})


def view(spec: Experiment) -> ExperimentView:
    """Return the view of an experiment for tables and figures."""
    algorithms = {
        id: AlgorithmView(
            spec.algorithm(id), entry.label or NAMES.get(id, id), entry.set, spec.tuning_grid(id), entry.setting
        )
        for id, entry in spec.algorithms.items()
    }
    tuned = sorted({name for id in spec.algorithms for name in spec.tuning_grid(id)})
    return ExperimentView(
        name=spec.name,
        size=spec.size,
        axes=list(spec.axes),
        tune=tuned,
        select=spec.select,
        problem=spec.problem,
        setting=spec.setting,
        seeds=spec.seeds,
        algorithms=algorithms,
    )


def table() -> pd.DataFrame:
    """Return the experiment's table: FedAc-I is the better one, and FedAvg diverges at K = 8 and M = 4."""
    rows = []
    for id, K, M, lr in itertools.product(NAMES, (1, 8), (4, 16, 64), (0.1, 1.0)):
        score = (1 if id == "fedavg" else 0.5) * K / M / lr
        diverged = id == "fedavg" and (K, M) == (8, 4)
        row = {"algorithm": id, "local_steps": K, "clients": M, "lr": lr, "score": np.inf if diverged else score}
        row |= {"score_sd": np.nan if diverged else 0.01, "seeds": 2, "diverged": 2 if diverged else 0}
        row |= {"tuning_score": row["score"], "tuning_seeds": 1, "tuning_diverged": int(diverged)}
        row |= {"chosen": lr == (0.1 if diverged else 1.0), "edge": "", "confirmation": ""} | COSTS
        row["edge"] = "lr at its highest value" if id == "fedac-1" and row["chosen"] else ""
        rows.append(row)
    return pd.DataFrame(rows)


def results(folder, spec: Experiment) -> None:
    """Write all files that a report reads of an experiment."""
    write_json(folder / "about.json", build_facts(spec, view(spec)))
    data = {"breast_cancer": {"rows": 456, "test_rows": 113, "shape": [30], "classes": 2, "lossy": ""}}
    meta = {
        "environments": [{"fedatlas": "0.1.0", "numpy": "2.4.6", "machine": "Some processor, 2 cores, Linux"}],
        "data": data,
        "fingerprints": dict.fromkeys(NAMES, "0123456789abcdef"),
    }
    files.write(folder / "table.parquet", table(), meta | {"runs": 48, "diverged_runs": 4, "seconds": 90.0})
    (folder / "figures").mkdir()
    Image.new("RGB", (90, 60), "white").save(folder / "figures/speed.png")
    chart(folder / "figures", "speed")
    claims = pd.DataFrame(CLAIMS).assign(experiment=spec.name, size=spec.size, source="Figure 1", ours="2")
    claims = claims.assign(interpretation=["", "of all data", ""], seeds=["5", "", ""], value="", low="", high="")
    claims.to_csv(folder / "claims.csv", index=False)


def chart(folder, name: str, panels=("K = 1", "K = 8"), points: int = 3) -> None:
    """Write numbers of a figure, and how a browser draws them, beside its image."""
    rows = []
    for panel, id, at in itertools.product(panels, LINES, range(points)):
        mean = (1 if id == "fedavg" else 0.5) / (1 + at)
        remark = "lost" if (panel, id, at) == ("K = 8", "fedavg", points - 1) else ""
        rows.append({"panel": panel, "algorithm": id, "round": at, "gradients": 10.0 * at, "mean": mean})
        rows[-1]["remark"] = remark
    numbers = pd.DataFrame(rows).assign(low=lambda frame: frame["mean"] / 2, high=lambda frame: frame["mean"] * 2)
    write_csv(folder / f"{name}.csv", numbers)
    x = {"round": "communication rounds", "gradients": "gradients per active client"}
    y, note = ("mean", "suboptimality"), "Mean over 2 seeds."
    spec = Lines(x, y, LINES, ("low", "high"), remark="remark", logy=True, note=note)
    (folder / f"{name}.json").write_text(json.dumps(spec.to_dict()))
