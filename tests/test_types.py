"""Hooks are typed: mypy in strict mode accepts them as they are, and no name that their arguments lack."""

import ast
import re
from pathlib import Path

import pytest
from mypy import api

import fedatlas
from tests.api.notebook import SCRIPT, cells
from tests.docs.blocks import PAGES, blocks

pytestmark = pytest.mark.slow  # mypy reads all that hooks import; make lint checks the algorithms
PACKAGE = Path(fedatlas.__file__).parent
HOOK = re.compile(r"^    def client\(self, s", re.M)
USE = re.compile(r"\b(n|steps)\.(\w+)")
CONFIG = f"""[mypy]
strict = true
follow_imports = silent
ignore_missing_imports = true
explicit_package_bases = true
mypy_path = {PACKAGE.parent}
cache_dir = CACHE
[mypy-matplotlib.*,mlflow.*,numba.*,pandas.*,scipy.*,seaborn.*,sklearn.*,snakemake.*,torch.*]
follow_imports = skip
"""


def sources():
    """Code with hooks by name: the algorithms, the template of a study, and the examples of the documentation."""
    algorithms = sorted((PACKAGE / "federation/algorithms").glob("*.py"))
    found = {path.stem: path.read_text() for path in algorithms if path.stem not in ("__init__", "base")}
    found["template"] = (PACKAGE / "workflow/study_template/extensions/my_algorithm.py").read_text()
    for page in PAGES:
        for number, block in enumerate(blocks(page)):
            if block.file.startswith("extensions/") or (page.parts[0] == "docs" and HOOK.search(block.text)):
                found[f"{page.stem}_{number}".replace("-", "_")] = block.text if block.file else classes(block.text)
    found["front_door"] = next(classes(text) for _, text in cells(SCRIPT.read_text()) if HOOK.search(text))
    return found


def classes(text):
    """The imports and classes of a part of a script, which has imported NumPy before."""
    kept = [node for node in ast.parse(text).body if isinstance(node, (ast.ImportFrom, ast.ClassDef))]
    return "import numpy as np\n" + "\n".join(map(ast.unparse, kept))


@pytest.fixture(scope="module")
def lines(request, tmp_path_factory):
    """Function of a name that returns the lines with errors in a source, and those in its misspelt copy."""
    folder = tmp_path_factory.mktemp("types")
    cache = request.config.cache.mkdir("types")
    (folder / "mypy.ini").write_text(CONFIG.replace("CACHE", str(cache)))
    for name, text in SOURCES.items():
        (folder / f"{name}_right.py").write_text(text)
        (folder / f"{name}_wrong.py").write_text(misspelt(text))
    output, problem, _ = api.run(["--config-file", str(folder / "mypy.ini"), str(folder)])
    assert not problem
    errors = {}
    for name, line, sentence in re.findall(r"(\w+)\.py:(\d+): error: (.*)", output):
        errors.setdefault(name, {})[int(line)] = sentence
    return lambda name: (errors.get(f"{name}_right", {}), errors.get(f"{name}_wrong", {}))


def misspelt(text):
    """A source in which members of the arguments ``n`` and ``steps`` lack a letter."""
    return USE.sub(lambda match: match[0][:-1] if len(match[2]) > 1 else f"{match[0]}q", text)


SOURCES = sources()


@pytest.mark.parametrize("name", SOURCES)
def test_hooks_are_typed(name, lines):
    right, wrong = lines(name)
    assert not right
    code = re.sub(r'"""(.|\n)*?"""|#.*', lambda match: "\n" * match[0].count("\n"), SOURCES[name])
    used = {number for number, line in enumerate(code.splitlines(), 1) if USE.search(line)}
    assert used <= {number for number, sentence in wrong.items() if "has no attribute" in sentence}


def test_there_are_hooks_to_check():
    assert len([name for name, text in SOURCES.items() if HOOK.search(text)]) >= 40
    assert sum(len(USE.findall(text)) for text in SOURCES.values()) > 50
