"""The code uses the public names of its dependencies; what else it uses is in one short list."""

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = [
    *(path for folder in ("src", "benchmarks", "docs/from_code") for path in (ROOT / folder).rglob("*.py")),
    *(ROOT / "workflow").rglob("*.smk"),
    ROOT / "workflow/Snakefile",
]
OWN = {"fedatlas", "from_code", "snakemake_logger_plugin_fedatlas", *(path.stem for path in FILES)}
# Without underscore: modules that their documentation calls internal, and names that it does not have.
INTERNAL = re.compile(
    r"(mlflow\.(store|utils|tracking\.\w+|system_metrics)|numba\.core|llvmlite\.(ir|binding)\.\w+|matplotlib\.cbook"
    r"|numpy\.(core|lib)\.\w+|pandas\.core|scipy\.\w+\._|sklearn\.externals|snakemake\.(cli|dag|jobs|persistence|rules"
    r"|scheduling|workflow)|torch\.testing\._)(\.|$)"
)
UNDOCUMENTED = {"job_rate_limiter", "get_argument_parser", "persistence"}
# Of the standard library: documented names of NamedTuples, and options of a parser, which argparse lists nowhere else.
STANDARD = {"_asdict", "_field_defaults", "_fields", "_make", "_replace"}
STANDARD |= {"_action_groups", "_actions", "_option_string_actions", "_subparsers"}
# At most three: the name, with the reason and the issue that would make it superfluous.
EXCEPTIONS = {
    "job_rate_limiter": (
        "Its limiter starts a timer after each job, all of which wake the scheduler once a second from then on. For "
        "1,500 jobs of a second it takes 51 s of a processor, without it 18, and the more, the more jobs. The option "
        "--max-jobs-per-timespan 1000/10s takes 34 s, a thread for each job, and seconds at the end.",
        "https://github.com/snakemake/snakemake/pull/3744",
    ),
    "persistence": (
        "Snakemake takes a file of which it has no record as current, whatever made it, and tells nobody but its own "
        "messages that it has none; no interface forces a job while it builds its graph. A run file of a job that "
        "outlived Snakemake is such a file.",
        "https://github.com/snakemake/snakemake/pull/3014",
    ),
}


def is_private(name):
    return name.startswith("_") and not name.endswith("__") and name not in STANDARD and name != "_"


def defined(trees):
    """Return all names that the code itself defines."""
    names = set()
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.attr)
    return names - UNDOCUMENTED


def foreign(tree):
    """Return the names that a module imports from dependencies, by the name of the dependency."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {(alias.asname or alias.name).split(".")[0]: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return {name: full for name, full in names.items() if full.split(".")[0] not in OWN}


def root(node):
    """Return the name at which a chain of attributes begins."""
    while isinstance(node, ast.Attribute | ast.Call):
        node = node.value if isinstance(node, ast.Attribute) else node.func
    return node.id if isinstance(node, ast.Name) else ""


def private_names(tree, own):
    """Yield the private names of dependencies that a module uses. own: Names that the code itself defines."""
    imported = foreign(tree)
    dependencies = {name for name, full in imported.items() if full.split(".")[0] not in sys.stdlib_module_names}
    standard = imported.keys() - dependencies
    for full in (imported[name] for name in dependencies):
        if INTERNAL.match(full) or any(map(is_private, full.split("."))) or full.split(".")[-1] in UNDOCUMENTED:
            yield full
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            of_dependency = root(node) in dependencies
            if node.attr in UNDOCUMENTED and (of_dependency or node.attr not in own):
                yield node.attr
            elif is_private(node.attr) and root(node) not in standard and (of_dependency or node.attr not in own):
                yield node.attr
        elif isinstance(node, ast.Call) and root(node.func) in ("getattr", "hasattr", "setattr", "delattr"):
            word = node.args[1].value if len(node.args) > 1 and isinstance(node.args[1], ast.Constant) else ""
            if isinstance(word, str) and (word in UNDOCUMENTED or (is_private(word) and word not in own)):
                yield word


def python(path):
    """Return the tree of a file. Of Snakemake's language, the words of rules become statements of Python."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        text = "\n".join(re.findall(r"[\w.]+\([^()\n]*\)|\b[\w.]+\.\w+|^ *from \S+ import .*$", text, re.MULTILINE))
        text = "\n".join(line.strip() for line in text.splitlines() if is_python(line.strip()))
    return ast.parse(text)


def is_python(line):
    try:
        ast.parse(line)
    except SyntaxError:
        return False
    return True


def test_private_names_of_dependencies_are_in_the_list():
    trees = {path: python(path) for path in FILES}
    own = defined(trees.values())
    found = {path: set(private_names(tree, own)) for path, tree in trees.items()}
    unknown = {str(path.relative_to(ROOT)): names - EXCEPTIONS.keys() for path, names in found.items()}
    assert not {path: names for path, names in unknown.items() if names}
    assert set().union(*found.values()) == EXCEPTIONS.keys(), "an exception is no longer needed"
    assert len(EXCEPTIONS) <= 3 and all(
        reason and issue.startswith("https://") for reason, issue in EXCEPTIONS.values()
    )


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("from numba import _dynfunc", "numba._dynfunc"),
        ("from numba.core.compiler import CompilerBase", "numba.core.compiler.CompilerBase"),
        ("from numba.core import cgutils", "numba.core.cgutils"),
        ("import numba.core.codegen as codegen", "numba.core.codegen"),
        ("from sklearn.utils.validation import _num_samples", "sklearn.utils.validation._num_samples"),
        ("from torch import nn\nnn.modules.dropout._DropoutNd", "_DropoutNd"),
        ("from torch import nn\nnn.modules._own", "_own"),
        ("from mlflow import MlflowClient\nMlflowClient('x')._tracking_client.store", "_tracking_client"),
        ("def f(client):\n    return client._tracking_client", "_tracking_client"),
        ("from mlflow.store.tracking.dbmodels import models", "mlflow.store.tracking.dbmodels.models"),
        ("from snakemake.cli import get_argument_parser", "snakemake.cli.get_argument_parser"),
        ("def f(workflow):\n    workflow.scheduler.job_rate_limiter = None", "job_rate_limiter"),
        ("getattr(figure, '_supxlabel', None)", "_supxlabel"),
    ],
)
def test_private_names_are_found(code, name):
    assert set(private_names(ast.parse(code), {"_own"})) == {name}


@pytest.mark.parametrize(
    "code",
    [
        "import os\nos._exit(0)",
        "self._own = 1\nself._own",
        "row._replace(x=1)",
        "from fedatlas.data import _own\n_own",
        "from numba.extending import intrinsic\nfrom mlflow.entities import Metric\nMetric.__doc__",
    ],
)
def test_public_and_own_names_are_none(code):
    assert not set(private_names(ast.parse(code), {"_own"}))
