"""What an own algorithm reads besides Python makes results again where it is declared, and is named where it is not."""

import sys
from types import SimpleNamespace

import pytest

from fedatlas import UserError
from fedatlas.experiments.fingerprint import module_hashes
from fedatlas.registry import extensions
from fedatlas.testing import Failed, NotApplicable
from fedatlas.testing.untracked import dependencies, find_untracked
from tests.helpers import forget_code

SOURCE = """
from fedatlas import Algorithm


class Mine(Algorithm):
    name = "mine"
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A function that writes a source as an extension of a study and returns the module's name."""
    (tmp_path / "config").mkdir()
    (tmp_path / "config/config.yaml").write_text("{}")
    (tmp_path / "extensions").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(extensions, "_path_entries", [])

    def write(source):
        (tmp_path / "extensions/mine.py").write_text(source)
        forget_code()
        return "extensions.mine"

    write.folder = tmp_path / "extensions"
    return write


@pytest.mark.parametrize(
    ("line", "words"),
    {
        "import os\nx = os.environ['A']": "environment",
        "import os\nx = os.getenv('A')": "environment",
        "import os as system\nx = system.environ['A']": "environment",
        "from os import environ\nx = environ['A']": "environment",
        "import importlib\nm = importlib.import_module(f'a{1}')": "import the module by its name",
        "exec('x = 1')": "whose code is not known",
        "x = open('weights.json').read()": "declare it in the class",
        "import numpy as np\nx = np.load('weights.npy')": "declare it in the class",
        "import sys\nsys.path.append('/elsewhere')\nimport lies_elsewhere": "lies_elsewhere",
        "import numpy as np\nnp.mean = None": "np.mean of another module",
        "import numpy as np\nsetattr(np, 'mean', None)": "np.mean of another module",
        "import pandas as pd\nx = pd.read_json('weights.json')": "declare it in the class",
        "import runpy\nx = runpy.run_path('code.py')": "whose code is not known",
        "    reads = ('weights.json',)\nx = open('others.json')": "declare it in the class",
    }.items(),
)
def test_what_is_not_followed_is_named_with_its_line(own, line, words):
    (sentence,) = find_untracked(own(SOURCE + line))
    assert words in sentence and sentence.startswith("extensions/mine.py, line ")


def test_a_declared_file_is_a_part_of_the_code(own):
    source = SOURCE + "    reads = ('weights.json',)\n    weights = open('weights.json'), PATH.open('r')\n"
    file = own.folder / "weights.json"
    hashes = []
    for text in ("1", "2", "1"):
        file.write_text(text)
        hashes.append(module_hashes([own(source)])["extensions.mine"])
    assert hashes[0] != hashes[1] and hashes[0] == hashes[2]
    assert list(find_untracked(own(source))) == []
    file.unlink()
    with pytest.raises(UserError, match=r"extensions/weights\.json does not exist"):
        module_hashes([own(source)])


def test_the_conformance_test_fails_and_passes(own):
    implementation = SimpleNamespace(cls=SimpleNamespace(__module__=own(SOURCE)))
    dependencies(implementation)
    own(SOURCE + "import os\nx = os.environ['A']\n")
    with pytest.raises(Failed, match="reads the environment"):
        dependencies(implementation)
    with pytest.raises(NotApplicable):
        dependencies(SimpleNamespace(cls=SimpleNamespace(__module__="fedatlas.federation.algorithms.fedavg")))
