"""Made-up experiments for checks of claims: an ExperimentView, and one claim judged on a table made by hand."""

import pandas as pd

from fedatlas.experiments.cells import Run, Select
from fedatlas.experiments.runs import create
from fedatlas.experiments.view import AlgorithmView, Claim, ExperimentView
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.problems.similar import SyntheticSimilarQuadratic
from fedatlas.results.claims.results import Results
from fedatlas.workflow.jobs.claims import judge_claims
from tests.synthetic import curves, curves_of, table


def view(
    ids=("fedavg", "fedac-1", "mb-sgd"), axes=("clients",), metric="suboptimality", goal="min", tune=("lr",), **changes
):
    """An ExperimentView of an experiment whose algorithms have their own names."""
    entries = {}
    for id in ids:
        entries[id] = AlgorithmView(id, ALGORITHMS.get(id).label if id in ALGORITHMS.names() else id)
    select = Select(metric=metric, statistic="best", goal=goal)
    content = {
        "problem": {"kind": "logistic", "data": "breast_cancer"},
        "setting": {"steps": 64},
        "algorithms": entries,
    }
    return ExperimentView("made_up", "smoke", list(axes), list(tune), select, **{**content, "seeds": [0, 1], **changes})


def judged(experiment, frame, lines=None, trials=None, **options):
    """Return the row of one claim.

    Args:
        experiment: ExperimentView.
        frame: Table.
        lines: Curves.
        trials: Trials; by default those of two seeds with the table's scores.
        **options: Options of the check, with its kind.
    """
    claim = {name: options.pop(name) for name in ("sizes", "note", "interpretation", "vacuous") if name in options}
    claims = {"it": Claim(text="t", source="s", check=options, **claim)}
    if trials is None:
        trials = pd.concat([frame.assign(seed=seed) for seed in (0, 1)], ignore_index=True)
    return judge_claims(claims, Results(experiment, frame, curves([]) if lines is None else lines, trials)).iloc[0]


def verdict(rows, axes=("clients",), experiment=None, lines=(), **options):
    """(verdict, ours, note) of one claim. rows, lines: of a table and of curves made by hand."""
    experiment = experiment or view(axes=axes)
    frame = curves(lines, axes) if lines else curves_of(rows, axes, experiment.select.metric, experiment.select.goal)
    result = judged(experiment, table(rows, axes, experiment.select.metric), frame, **options)
    return result["verdict"], result["ours"], result["note"]


def compared(**parameters):
    """FedRed-GD with the choices of Theorem 9, unless overridden, on two instances: (ExperimentView, table, curves).

    The curves are of simulated runs.
    """
    choices = {"eta": "L", "lam": "delta_A", "p": "(delta_A+mu/2)/(L-mu/2)", "mu": "mu", "average": "weighted"}
    axis, instances = "problem.convexity", ("strongly convex", "convex")
    entries = {"it": AlgorithmView("fedred-gd", "FedRed-GD", set=choices | parameters)}
    problem = {"kind": "similar", "dim": 20, "rank": 6, "similarity": 3}
    setting = {"clients": 5, "rounds": 12, "batch": None, "eval_rounds": 1}
    experiment = view(axes=(axis,), tune=(), problem=problem, setting=setting, algorithms=entries)
    frames = []
    for convexity in instances:
        instance = SyntheticSimilarQuadratic(dim=20, convexity=convexity, rank=6, similarity=3).build(5)
        run = Run("fedred-gd", entries["it"].set, problem, setting, 0, {}, {})
        algorithm, conditions = create(run, instance)
        for seed in (0, 1):
            frame = pd.DataFrame(Simulation(algorithm, instance, conditions, seed).run().rows)
            frames.append(frame.assign(algorithm="it", seed=seed, status="ok", **{axis: convexity}))
    return (
        experiment,
        table([("it", convexity, 1.0) for convexity in instances], (axis,)),
        pd.concat(frames, ignore_index=True),
    )
