"""The text of experiment files and of the configuration: YAML that is read, merged, checked and expanded."""

from pathlib import Path

import yaml
from hypothesis import strategies as st

from fedatlas.experiments import SIZES, expansion, experiment_file
from fedatlas.workflow.validation import validate
from tests.fuzz.targets import Target, mutated

ROOT = Path(__file__).parents[2]
FILES = [path.read_bytes() for path in sorted((ROOT / "config/experiments").glob("*.yaml"))]
LINES = sorted({line for text in FILES for line in text.splitlines(keepends=True)})


def _run(content: bytes, folder: Path) -> None:
    path = folder / "mine.yaml"
    path.write_bytes(content)
    for size in SIZES[:1]:
        experiment = experiment_file.load(path, size, folder)
        validate(experiment)
        expansion.cells(experiment)


def _edited(values: tuple[bytes, list[tuple[int, bytes]]]) -> bytes:
    """A file of which some lines are replaced by lines of other files."""
    text, edits = values
    lines = text.splitlines(keepends=True)
    for at, line in edits:
        lines[at % len(lines)] = line
    return b"".join(lines)


EXPERIMENT_TEXT = Target(
    "experiment-text",
    mutated(FILES)
    | st.tuples(
        st.sampled_from(FILES), st.lists(st.tuples(st.integers(0, 400), st.sampled_from(LINES)), max_size=4)
    ).map(_edited),
    _run,
)
YAML = Target(
    "yaml",
    mutated([*FILES, b"a: &a [1, *a]\n", b"? [x]\n: y\n", b"2026-11-01: 1e3\n", yaml.dump({"a": "\x00"}).encode()]),
    lambda content, folder: experiment_file.read_yaml(_written(folder / "a.yaml", content)) and None,
)


def _written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path
