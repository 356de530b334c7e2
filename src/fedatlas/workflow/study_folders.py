"""Where results and data of a study lie."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fedatlas.data.paths import expand_home, resolve_directory

RESULTS = "results"  # the folder as `made_files` and `code` write it; the configuration may name another


@dataclass(frozen=True)
class Folders:
    """Folders of results and data, relative to the working directory.

    prefixed: where a path of a rule lies. Snakemake puts the ``prefix`` of a module before the relative paths of
    inputs, outputs and logs, and not into parameters. shared: marks a path that gets no prefix.
    """

    results: str = RESULTS
    data: str = "data"
    prefixed: Callable[[str], str] = str
    shared: Callable[[str], str] = str

    @classmethod
    def of(
        cls, config: dict[str, Any], prefixed: Callable[[str], str] = str, shared: Callable[[str], str] = str
    ) -> "Folders":
        """The folders that a configuration names."""
        results = str(expand_home(config["results"]))
        return cls(results, str(resolve_directory(config["data"])), prefixed, shared)

    def result(self, path: str) -> str:
        """The path of a result in the folder of results. path: begins with ``results/``."""
        return f"{self.results}/{path.removeprefix(f'{RESULTS}/')}"

    def experiment(self, size: str, name: str) -> str:
        """Folder of an experiment's results."""
        return f"{self.results}/{size}/{name}"

    def report(self, size: str, name: str) -> str:
        """The same folder, where the job of a report finds it."""
        return self.prefixed(self.experiment(size, name))

    def prepared(self, name: str) -> str:
        """A file that says that a data set is prepared. All modules of a workflow share data."""
        return self.shared(f"{self.data}/prepared/{name}/meta.json")

    def lying(self, value: Any) -> Any:
        """JSON types in which each path that begins with ``results/`` is the place where the file lies."""
        if isinstance(value, dict):
            return {key: self.lying(one) for key, one in value.items()}
        if isinstance(value, list):
            return [self.lying(one) for one in value]
        is_result = isinstance(value, str) and value.startswith(f"{RESULTS}/")
        return self.prefixed(self.result(value)) if is_result else value
