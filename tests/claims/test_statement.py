"""The check of statements about runs that are simulated again."""

from fedatlas.experiments.cells import Cell, CellSpec
from fedatlas.experiments.view import AlgorithmView
from fedatlas.results.claims import CHECKS
from fedatlas.results.claims.verdicts import HELD, NOT_HELD
from fedatlas.theory import fedawe
from fedatlas.workflow import dependencies
from tests.synthetic import curves, experiment, table

from .fixtures import judged, view

AXES = ("participation",)


RULES = ['{"kind":"stationary","p":0.3}', '{"kind":"sine","p":0.6}']


PROBLEM = {"kind": "quadratic", "dim": 3, "heterogeneity": 1.0, "noise": 0.1}


SETTING = {"clients": 3, "rounds": 12, "batch": 1}


STATEMENT = {"kind": "below", "algorithms": ["it"], "theorem": "matrix-form"}


def verdict(seeds=2, entry=None, **options):
    entry = entry or AlgorithmView("fedawe", "FedAWE", set={"lr": "0.1/L"})
    subject = view(axes=AXES, tune=(), problem=PROBLEM, setting=SETTING, algorithms={"it": entry})
    frame = curves([("it", rule, seed, [(0, 1.0)]) for rule in RULES for seed in range(seeds)], AXES)
    result = judged(subject, table([("it", (rule,), 1.0) for rule in RULES], AXES), frame, **STATEMENT | options)
    return result["verdict"], result["ours"], result["note"]


def test_equalities_have_a_tolerance():
    result, ours, note = verdict()
    assert result == HELD and ours.startswith("largest relative difference") and note.startswith("Over 2 settings")
    assert verdict(at_most=1e-20)[0] == NOT_HELD


def test_bounds_have_none():
    result, ours, _ = verdict(theorem="lemma-2-square")
    assert result == HELD and "of the bound" in ours


def test_the_worst_setting_decides(monkeypatch):
    shares = iter([(0.5, 1.0), (2.0, 1.0)])
    monkeypatch.setitem(fedawe.STATEMENTS, "matrix-form", lambda runs: next(shares))
    result, ours, note = verdict()
    assert (result, ours) == (NOT_HELD, "at most 2 of the bound") and "worst is sine" in note


def test_levels_are_divided_among_the_settings(monkeypatch):
    levels = []
    monkeypatch.setitem(fedawe.STATEMENTS, "matrix-form", lambda runs: (0.0, levels.append(runs.level)))
    assert verdict()[0] == HELD and levels == [0.005, 0.005]


def test_the_claims_depend_on_the_code_of_the_runs():
    cell = Cell(
        "it", {}, CellSpec("fedawe", {"lr": 0.1}, PROBLEM, SETTING | {"participation": {"kind": "sine", "p": 1}})
    )
    claims = {"c": {"text": "t", "source": "s", "check": {**STATEMENT, "algorithms": ["fedavg"]}}}
    result = dependencies.of_claims(experiment(claims=claims), [cell])
    modules = {
        "federation.participation.sine",
        "federation.sampling.replacement",
        "experiments.run",
        "results.claims.below",
        "theory.fedawe",
    }
    assert {f"fedatlas.{name}" for name in modules} <= set(result)
    assert CHECKS.build({**STATEMENT, "algorithms": ["fedavg"]}).inputs == {"runs"}
