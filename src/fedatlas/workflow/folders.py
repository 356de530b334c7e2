"""Folders of the results and data of a study."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fedatlas.data.paths import expand_home, resolve_directory

COMPARISONS = "compare/experiments"  # below the results: experiments that `fedatlas compare` wrote
RESULTS = "results"  # the folder in the paths of `shared_files` and `dependencies`; the configuration may name another


@dataclass(frozen=True)
class Folders:
    """Folders of results and data, relative to the working directory.

    Attributes:
        results: Folder of results.
        data: Folder of raw and prepared data.
        prefixed: Function that puts the ``prefix`` of a module before a path. Snakemake does so with the relative
            paths of inputs, outputs and logs, and not with parameters.
        shared: Function that marks the path of an input or output that gets no prefix.
    """

    results: str = RESULTS
    data: str = "data"
    prefixed: Callable[[str], str] = str
    shared: Callable[[str], str] = str

    @classmethod
    def from_config(
        cls, config: dict[str, Any], prefixed: Callable[[str], str] = str, shared: Callable[[str], str] = str
    ) -> "Folders":
        """Return the folders of a configuration."""
        results = str(expand_home(config["results"]))
        return cls(results, str(resolve_directory(config["data"])), prefixed, shared)

    def result(self, path: str) -> str:
        """Return the path of a result in the configured folder.

        Args:
            path: A path that begins with ``results/``.
        """
        return f"{self.results}/{path.removeprefix(f'{RESULTS}/')}"

    def experiment(self, size: str, name: str) -> str:
        """Return the folder of an experiment's results, as rules name it."""
        return f"{self.results}/{size}/{name}"

    def report(self, size: str, name: str) -> str:
        """Return the folder of an experiment's results, as jobs find it."""
        return self.prefixed(self.experiment(size, name))

    def prepared(self, name: str) -> str:
        """Return the file that marks a data set as prepared. All modules of a workflow share data."""
        return self.shared(f"{self.data}/prepared/{name}/meta.json")

    def resolve(self, value: Any) -> Any:
        """Replace each path that begins with ``results/`` in a value of JSON types by the path where the file lies."""
        if isinstance(value, dict):
            return {key: self.resolve(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.resolve(item) for item in value]
        is_result = isinstance(value, str) and value.startswith(f"{RESULTS}/")
        return self.prefixed(self.result(value)) if is_result else value
