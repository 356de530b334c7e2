"""The configuration of a study, config/config.yaml, and what the package carries for every study."""

from pathlib import Path
from typing import Any

from fedatlas.errors import UserError, nearest
from fedatlas.experiments import experiment_file
from fedatlas.experiments.specification import Experiment
from fedatlas.io.text import read_yaml

CONFIG = Path("config/config.yaml")


def shipped() -> Path:
    """Return the folder that holds ``workflow/``, ``config/experiments/`` and ``record/`` of the atlas.

    In a wheel it lies in the package; in a checkout it is the root of the repository.
    """
    package = Path(__file__).parents[1]
    inside = package / "shipped"
    return inside if inside.is_dir() else package.parents[1]


SNAKEFILE = str(shipped() / "workflow/Snakefile")


def complete(config: Any) -> dict[str, Any]:
    """Return a configuration with the default of each missing key.

    Args:
        config: Keys and values of a ``config.yaml``, or None for an empty file. It is not changed.

    Raises:
        UserError: A key is unknown, or its value has another type.
    """
    from jsonschema import Draft202012Validator

    schema = read_yaml(shipped() / "workflow/schemas/config.schema.yaml")
    keys, values = schema["properties"], {} if config is None else config
    if not isinstance(values, dict):
        raise UserError(f"{CONFIG} holds {values!r:.60}; it must hold a mapping of keys to values")
    if unknown := next((key for key in values if key not in keys), None):
        raise UserError(f"{CONFIG}: unknown key {unknown!r}{nearest(unknown, keys)}")
    if error := next(Draft202012Validator(schema).iter_errors(values), None):
        key = ".".join(map(str, error.absolute_path))
        raise UserError(f"{CONFIG}: {key}: {error.message}")
    return {key: entry["default"] for key, entry in keys.items() if "default" in entry} | values


FOLDER = "config/experiments"
NAME = r"\w[\w-]*"  # of an experiment; the wildcard of the workflow holds the same letters


class ExperimentFiles:
    """Files of experiments by name.

    Attributes:
        own: Paths of the study's experiments.
        comparisons: Paths of the experiments that `fedatlas compare` wrote.
        paths: Paths of all experiments that the study can name.
        shipped: Folder of the atlas's experiments, or None if those are the study's.
    """

    def __init__(self, root: Path, folder: str, shipped: Path, comparisons: Path) -> None:
        """Find the files.

        Args:
            root: Folder of the study.
            folder: Folder of its experiments, relative to root.
            shipped: Folder of the atlas's experiments. A name that both have means the study's file.
            comparisons: Folder of the experiments that `fedatlas compare` wrote.
        """
        path = root / folder
        is_own = shipped.exists() and path.exists() and path.samefile(shipped)
        self.root, self.shipped = root, None if is_own else shipped
        self.own, self.comparisons = _find_files(path), _find_files(comparisons)
        self.paths = {**self.own, **_find_files(shipped), **self.comparisons, **self.own}
        self._folders = [*([self.shipped] if self.shipped else []), path]

    def load(self, name: str, size: str) -> Experiment:
        """Load an experiment at a size.

        Its ``file`` is relative to the folder that holds ``config/``, so that no result depends on where it lies.

        Raises:
            UserError: The file is wrong; the message names file and key, see `experiment_file.load`.
        """
        is_here = name in self.own or name in self.comparisons or self.shipped is None
        root = self.root if is_here or self.shipped is None else self.shipped.parents[1]
        return experiment_file.load(self.paths[name], size, root, self._folders)

    def document(self, name: str) -> dict[str, Any]:
        """Return the content of an experiment's file, laid over the file that it extends; empty if it is no mapping."""
        content = experiment_file.document(self.paths[name], self._folders)
        return content if isinstance(content, dict) else {}

    def bases(self, name: str) -> list[str]:
        """Return the names of the experiments that an experiment extends, the nearest first."""
        names = [name]
        while (base := experiment_file.extended(self.paths[names[-1]])) in self.paths and base not in names:
            names.append(base)
        return names[1:]


def _find_files(folder: Path) -> dict[str, Path]:
    return {path.stem: path for path in sorted(folder.glob("[!.]*.yaml"))}
