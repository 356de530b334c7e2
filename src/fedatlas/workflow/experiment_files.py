"""The files of experiments that a study can name: its own, and those that the package carries."""

from pathlib import Path
from typing import Any

from fedatlas.experiments import experiment_file
from fedatlas.experiments.specification import Experiment

FOLDER = "config/experiments"


class ExperimentFiles:
    """Files of experiments by name: ``own`` of the study, and ``paths`` of all.

    root: the study's folder. folder: of its experiments, relative to root. shipped: folder of the atlas's experiments,
    or None; where both have a name, the study's file is meant.
    """

    def __init__(self, root: Path, folder: str, shipped: Path | None = None) -> None:
        place = root / folder
        is_own = shipped is not None and shipped.exists() and place.exists() and place.samefile(shipped)
        self.root, self.shipped = root, None if is_own else shipped
        self.own = _in(place)
        self.paths = self.own | {name: path for name, path in self._shipped().items() if name not in self.own}

    def _shipped(self) -> dict[str, Path]:
        return _in(self.shipped) if self.shipped else {}

    def load(self, name: str, size: str) -> Experiment:
        """An experiment at a size. Raises UserError that names the file and the key, see `experiment_file.load`.

        Its ``file`` is told relative to the folder that holds ``config/``, so that no result depends on where it lies.
        """
        root = self.root if name in self.own or self.shipped is None else self.shipped.parents[1]
        return experiment_file.load(self.paths[name], size, root, self.shipped)

    def document(self, name: str) -> Any:
        """The file of an experiment as it stands, with what it extends."""
        return experiment_file.document(self.paths[name], self.shipped)


def _in(folder: Path) -> dict[str, Path]:
    return {path.stem: path for path in sorted(folder.glob("[!.]*.yaml"))}
