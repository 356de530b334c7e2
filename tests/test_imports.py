"""What every command and job imports loads no heavy library."""

import subprocess
import sys

import pytest

LIBRARIES = "PIL jinja2 matplotlib mlflow numba pandas scipy seaborn sklearn torch tqdm urllib.request".split()
SPECS = [
    {"kind": "network", "data": "digits", "architecture": "resnet18", "augment": {"crop": 4}, "partition": "iid"},
    {"kind": "logistic", "data": "a9a"},
    {"kind": "quadratic", "dim": 3},
]
PROBLEMS = f"""
from fedatlas.federation import problems
from fedatlas.experiments.validation import check_problem
from fedatlas.federation.compiled import compiled_modules
from fedatlas.federation.algorithms.fedavg import FedAvg
from fedatlas.federation.architectures import ARCHITECTURES
for spec in {SPECS}:
    check_problem(spec)
    compiled_modules(FedAvg, spec, {{"clients": 2}})
for family in (problems.PROBLEMS, ARCHITECTURES):
    for name in family.names():
        family.get(name).options(), family.get(name).__doc__
"""
CARDS = """
from fedatlas.workflow.summary import published_cards
from fedatlas.workflow.study import Study
assert any(card["parts"] for card in published_cards(Study.open()))
"""
CODE = {
    "the command": "import fedatlas.cli.main",
    "algorithms": "from fedatlas.federation.algorithms import ALGORITHMS; list(ALGORITHMS.names())",
    "problems": PROBLEMS,
    "data": "import fedatlas.data.store, fedatlas.federation.partitions",
    "figures": "from fedatlas.results.figures import FIGURES; list(FIGURES.names())",
    "claims": "from fedatlas.results.claims import CHECKS; list(CHECKS.names())",
    "verdicts": "import fedatlas.workflow.jobs.claims",
    "theorems": "import fedatlas.theory.closed_forms, fedatlas.theory.fedac, fedatlas.theory.fedred",
    "validation": "import fedatlas.workflow.configuration",
    "cards": CARDS,
    "tracking": "import fedatlas.publish.tracking",
}


@pytest.mark.parametrize("name", ["problems", "all others"])
def test_no_heavy_library_is_loaded(name):
    """Of problems SciPy alone; each of the others is imported after those before it."""
    code = CODE[name] if name in CODE else "\n".join(CODE[other] for other in CODE if other != "problems")
    script = f"{code}\nimport sys\nprint(*(name for name in {LIBRARIES} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == (["scipy"] if name == "problems" else [])


def test_a_job_starts_without_a_parser_of_yaml():
    script = (
        "import fedatlas.cli.main, fedatlas.cli.commands, fedatlas.experiments.run, sys; print('yaml' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
