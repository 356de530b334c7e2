"""What the fingerprint of an extension follows: the modules of its study, however they are imported, and fedatlas."""

import pytest

from fedatlas.errors import UserError
from fedatlas.experiments import fingerprint
from fedatlas.experiments.dependencies import problem_modules
from fedatlas.registry import extensions
from tests.helpers import forget_code

HELPER = {"extensions/helper.py": "X = 1\n"}


IMPORTS = {  # how the module extensions.a imports the module in the file, and nothing else of the study
    "from extensions.helper import X": "extensions/helper.py",
    "from extensions import helper": "extensions/helper.py",
    "import extensions.helper": "extensions/helper.py",
    "import extensions.helper as h": "extensions/helper.py",
    "from .helper import X": "extensions/helper.py",
    "from . import helper": "extensions/helper.py",
    "from .helper import *": "extensions/helper.py",
    "def f():\n    from .helper import X": "extensions/helper.py",
    "import importlib\nimportlib.import_module('extensions.helper')": "extensions/helper.py",
    "from importlib import import_module\nimport_module('extensions.helper')": "extensions/helper.py",
    "from .deep.inner import X": "extensions/deep/inner.py",
    "from .deep import inner": "extensions/deep/inner.py",
    "from .deep import Y": "extensions/deep/__init__.py",
    "import shared": "shared.py",
    "from shared import X": "shared.py",
    "from lib.tools import X": "lib/tools.py",
    "try:\n    from lib import tools\nexcept ImportError:\n    pass": "lib/tools.py",
}


FILES = ["extensions/helper.py", "extensions/deep/__init__.py", "extensions/deep/inner.py", "shared.py", "lib/tools.py"]


@pytest.fixture
def fingerprints(study):
    """A function that gives the fingerprints of own modules as a new process would."""

    def values(*names):
        forget_code()
        extensions._study_modules.cache_clear()
        return [fingerprint.fingerprint([name]) for name in names]

    return values


def test_imports_of_the_study_are_followed(study, fingerprints):
    """Each in a module of its own, whose fingerprint changes with the file that it imports and with no other."""
    names = {f"extensions.a{number}": text for number, text in enumerate(IMPORTS)}
    study({f"{name.replace('.', '/')}.py": f"{text}\n" for name, text in names.items()})
    study(dict.fromkeys(FILES, "X = Y = 1\n"))
    before = fingerprints(*names)
    followed = {text: set() for text in IMPORTS}
    for file in FILES:
        study({file: "X = Y = 2\n"})
        for text, old, new in zip(IMPORTS, before, fingerprints(*names), strict=True):
            followed[text] |= {file} if new != old else set()
        study({file: "X = Y = 1\n"})
    assert followed == {text: {file} for text, file in IMPORTS.items()} and fingerprints(*names) == before


def test_relative_imports_climb(study, fingerprints):
    study({"extensions/one/two/a.py": "from ...helper import X\nfrom ..b import Y\n", "extensions/one/b.py": "Y = 1\n"})
    study(HELPER)
    fingerprints("extensions.one.two.a")
    assert fingerprint.closure("extensions.one.two.a") == {
        "extensions.one.two.a",
        "extensions.one.b",
        "extensions.helper",
    }


def test_what_is_imported_of_fedatlas_and_of_others(study, fingerprints):
    study(
        {
            "extensions/a.py": "import numpy\nimport yaml\nfrom fedatlas.federation.streams import stream\n",
            "numpy.py": "X = 1\n",
        }
    )
    fingerprints("extensions.a")
    assert fingerprint.closure("extensions.a") == {"extensions.a", "fedatlas.federation.streams"}


def test_words_do_not_count_and_code_does(study, fingerprints):
    text = 'class A:\n    """Words."""\n    label = "A"\n    x = option(1, doc="words", low=0)\n'
    study({"extensions/a.py": text})
    before = fingerprints("extensions.a")
    study({"extensions/a.py": text.replace("Words", "Other words").replace('"A"', '"B"') + "# remark\n"})
    assert fingerprints("extensions.a") == before
    study({"extensions/a.py": text.replace("low=0", "low=1")})
    assert fingerprints("extensions.a") != before


def test_a_module_that_became_another_kind_of_file(study, fingerprints):
    folder = study({"extensions/a.py": "from .helper import X\n", **HELPER})
    before = fingerprints("extensions.a")
    (folder / "extensions/helper.py").unlink()
    study({"extensions/helper/__init__.py": "X = 2\n"})
    assert fingerprints("extensions.a") != before


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"x = (\n", r"extensions/a\.py: .*never closed \(a\.py, line 1\)"),
        (b"\xff\n", r"extensions/a\.py: .*utf-8"),
        (b"x = 1\0\n", r"extensions/a\.py: .*null byte"),
    ],
)
def test_a_file_that_cannot_be_read_is_told(study, fingerprints, content, complaint):
    folder = study({"extensions/a.py": ""})
    (folder / "extensions/a.py").write_bytes(content)
    with pytest.raises(UserError, match=complaint):
        fingerprints("extensions.a")


PROBLEM = """
from dataclasses import dataclass
from {module} import {base}

@dataclass(frozen=True, kw_only=True)
class Mine({base}):
    '''A problem like another.'''
    name = "mine"
"""


def test_a_problem_upon_one_of_the_atlas_may_run_all_that_is_compiled(study, fingerprints):
    study(
        {
            "extensions/mine.py": PROBLEM.format(
                module="fedatlas.federation.problems.logistic", base="LogisticRegression"
            )
        }
    )
    assert "fedatlas.federation.compiled.kernels" in problem_modules({"kind": "mine", "l2": 0.1})


def test_a_problem_of_its_own_runs_nothing_that_is_compiled(study, fingerprints):
    study(
        {
            "extensions/mine.py": PROBLEM.format(
                module="fedatlas.federation.problems.quadratic", base="SyntheticQuadratic"
            )
        }
    )
    assert not [name for name in problem_modules({"kind": "mine"}) if name.startswith("fedatlas.federation.compiled")]
