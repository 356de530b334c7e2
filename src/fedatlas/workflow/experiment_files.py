"""The files of experiments that a study can name: its own, and those that the package carries."""

from pathlib import Path
from typing import Any

from fedatlas.experiments import experiment_file
from fedatlas.experiments.specification import Experiment

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
