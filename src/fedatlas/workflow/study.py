"""A study: a folder with a configuration, experiments and results. `Study.open` reads that in the working directory."""

import functools
import os
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fedatlas.data.paths import resolve_directory
from fedatlas.data.store import MIRRORS_VARIABLE, list_mirrors
from fedatlas.errors import UserError, nearest
from fedatlas.experiments import expansion
from fedatlas.experiments.cells import Cell
from fedatlas.experiments.specification import Experiment
from fedatlas.experiments.view import ExperimentView
from fedatlas.io.files import atomic_folder, expect_folder, read_yaml
from fedatlas.publish import tracking
from fedatlas.registry import extensions
from fedatlas.workflow import LIVE
from fedatlas.workflow.configuration import CONFIG, FOLDER, NAME, ExperimentFiles, complete, shipped, validate

TEMPLATE = Path(__file__).with_name("study_template")
LOGGER = """
# Progress, failed jobs and a summary in place of Snakemake's paragraph for each job; it comes with fedatlas.
logger: fedatlas
"""  # of the profile of a study, where the package is installed
COMPARISONS = "compare/experiments"  # below the results: experiments that `fedatlas compare` wrote
RESULTS = "results"  # the folder in the paths of shared files; the configuration may name another
SHARED_FILE = re.compile(rf"{RESULTS}/(partitions|optima)/[^/]+\.npz")
TEMPLATE_NAME = "my-study"  # of the study in the template's README.md


@dataclass(frozen=True)
class Folders:
    """Folders of results and data, relative to the working directory.

    Attributes:
        results: Folder of results.
        data: Folder of raw and prepared data.
        local: Function that marks the path of a file which lies here, also where results lie in a storage.
    """

    results: str = RESULTS
    data: str = "data"
    local: Callable[[str], str] = str

    def result(self, path: str) -> str:
        """Return the path of a result in the configured folder.

        Args:
            path: A path that begins with ``results/``.
        """
        return f"{self.results}/{path.removeprefix(f'{RESULTS}/')}"

    def experiment(self, size: str, name: str) -> str:
        """Return the folder of an experiment's results."""
        return f"{self.results}/{size}/{name}"

    def prepared(self, name: str) -> str:
        """Return the file that marks a data set as prepared."""
        return self.local(f"{self.data}/prepared/{name}/meta.json")

    def resolve(self, value: Any, files: Sequence[str] = ()) -> Any:
        """Replace each path of a shared file in a value of JSON types by the path where the file lies.

        Args:
            value: The value.
            files: Inputs of a job, which lie there, or are copies of files in a storage whose paths end like theirs.
        """
        if isinstance(value, dict):
            return {key: self.resolve(item, files) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.resolve(item, files) for item in value]
        if not isinstance(value, str) or not SHARED_FILE.fullmatch(value):
            return value
        return next((path for path in files if path.endswith(value.removeprefix(RESULTS))), self.result(value))


class Study:
    """Configuration, folders and experiments of a study.

    Attributes:
        config: The configuration with all keys, see `configuration.complete`.
        root: Folder of the study, to which all paths are relative.
        folders: Folders of results and data.
        files: The files of experiments.
    """

    def __init__(self, config: Any, root: str | Path = ".", local: Callable[[str], str] = str) -> None:
        """Read a configuration, and check that the experiments that it names exist.

        A name that the study and the atlas have means the study's experiment.

        Args:
            config: Keys and values of ``config.yaml``, or None.
            root: Folder of the study.
            local: Function that marks the path of a file which lies here, also where results lie in a storage.

        Raises:
            UserError: The configuration is wrong.
        """
        self.config, self.root = complete(config), Path(root)
        results, data = Path(self.config["results"]).expanduser(), resolve_directory(self.config["data"])
        self.folders = Folders(str(results), str(data), local)
        self.config.setdefault("mlflow_uri", f"sqlite:///{results}/mlflow.db")
        folder, comparisons = self.config["experiments_folder"], Path(self.folders.results, COMPARISONS)
        self.files = ExperimentFiles(self.root, folder, shipped() / FOLDER, comparisons)
        selected = [] if self.config["experiments"] == "all" else self.config["experiments"]
        gallery = [name for names in self.config["gallery"].values() for name in names]
        named = {"tour": self.config["tour"], "experiments": selected, "gallery": gallery}
        for key, names in named.items():
            for name in names:
                self.check_name(name, f"{CONFIG}: {key}: ")

    @classmethod
    def open(cls, results: str | None = None) -> "Study":
        """Return the study in the working directory, which need not have a configuration.

        Args:
            results: Folder of its results; by default the configured one.
        """
        config = read_yaml(CONFIG) if CONFIG.exists() else None
        study = cls(config if results is None else {**(config or {}), "results": results})
        if study.folders.data != str(resolve_directory()):  # custom data are remembered there
            os.environ.setdefault("FEDATLAS_DATA", study.folders.data)
        return study

    def check_name(self, name: str, key: str = "") -> None:
        """Raise UserError, with a guess, if there is no experiment of a name. key: What names it, for the message."""
        if name not in self.files.paths:
            guess = nearest(name, self.files.paths) or "; `fedatlas list experiments` names them all"
            raise UserError(f"{key}there is no experiment {name!r}{guess}")
        if not re.fullmatch(NAME, name):
            explanation = f"the name {name!r} must consist of letters, digits, _ and -"
            raise UserError(f"{self.files.paths[name]}: {explanation}; rename the file")

    def environment(self) -> dict[str, str]:
        """Return the environment variables of jobs.

        They are not parameters of rules: another mirror makes no result again. SQLite files take one writer, so jobs
        log to servers alone as they end.

        Raises:
            UserError: A mirror or the address of the MLflow runs is invalid.
        """
        uri = self.config["mlflow_uri"]
        try:
            tracking.validate(uri)
        except UserError as error:
            raise UserError(f"{CONFIG}: mlflow_uri: {error}") from None
        return {
            "FEDATLAS_DATA": self.folders.data,
            MIRRORS_VARIABLE: ",".join(list_mirrors(self.config["data_mirrors"])),
            extensions.VARIABLE: str(Path.cwd()),
            LIVE: uri if uri.startswith("http") else "",
        }

    def export(self, workflow: Any) -> None:
        """Set the environment variables of jobs in this process, which starts them.

        Args:
            workflow: Snakemake's workflow, all jobs of which have one environment.

        Raises:
            UserError: The workflow has another module of the atlas, whose configuration needs another environment, or
                the results cannot be written.
        """
        expect_folder(Path(self.folders.results))
        environment = self.environment()
        if vars(workflow).setdefault("fedatlas_environment", environment) != environment:
            raise UserError(
                "two modules of the atlas in one workflow need the same data and data_mirrors, and the same server in "
                "mlflow_uri if one has a server"
            )
        os.environ.update(environment)

    @property
    def record_folders(self) -> list[Path]:
        """Folders of records: that of the study, and that of fedatlas."""
        return list(dict.fromkeys(root.resolve() / "record" for root in (self.root, shipped())))

    def tour(self) -> list[str]:
        """Return the names of the experiments of the target tour. Raises UserError if there are none."""
        if not self.config["tour"]:
            raise UserError(f"{CONFIG} names no experiments for the tour: name one, as in `snakemake fedac_fig1`")
        return self.config["tour"]

    def selected(self) -> list[str]:
        """Return the names of the experiments of the target all. Raises UserError if there are none."""
        names = list(self.files.own) if self.config["experiments"] == "all" else self.config["experiments"]
        if not names:
            folder = self.config["experiments_folder"]
            raise UserError(f"there are no experiments in {folder}: write one, or name others")
        return names

    def gallery(self) -> list[tuple[str, str]]:
        """Return sizes and names of the experiments of the gallery. Raises UserError if there are none."""
        if not (experiments := [(size, name) for size, names in self.config["gallery"].items() for name in names]):
            raise UserError(f"{CONFIG} names no experiments for the gallery: name some, by size, under `gallery`")
        if len({name for _, name in experiments}) < len(experiments):
            raise UserError(f"{CONFIG}: an experiment stands in the gallery at one size, and one is named twice")
        return experiments

    def experiment(self, size: str, name: str) -> Experiment:
        """Return a loaded and checked experiment."""
        self.check_name(name)
        return self._expand(size, name)[0]

    @functools.cache  # noqa: B019  a Study lives as long as its process
    def _expand(self, size: str, name: str) -> tuple[Experiment, expansion.Expansion]:
        with extensions.translate_errors():
            experiment = self.files.load(name, size)
            expanded = expansion.expand(experiment)
            validate(experiment, expanded.cells)
        return experiment, expanded

    @functools.cache  # noqa: B019
    def view(self, size: str, name: str) -> ExperimentView:
        """Return what tables, figures and claims use of an experiment."""
        experiment, expanded = self._expand(size, name)
        return expansion.create_view(experiment, expanded.undefined)

    @functools.cache  # noqa: B019
    def cells(self, size: str, name: str) -> dict[tuple[str, str], Cell]:
        """Return the cells of an experiment by (algorithm id, key)."""
        self.check_name(name)
        return {(cell.id, cell.key): cell for cell in self._expand(size, name)[1].cells}

    def layout(self, size: str, name: str) -> dict[str, Any]:
        """Return what the job of an experiment's table takes: the axes of grid, and how runs are scored."""
        experiment = self.experiment(size, name)
        return {"grid": list(experiment.grid), "select": asdict(experiment.select)}


def create_study(path: str) -> Path:
    """Write a new study from the template, whole or not at all, and return its folder.

    Args:
        path: Path of the folder, which may exist if it is empty.

    Raises:
        UserError: The name is not valid, the folder is not empty, or it cannot be written.
    """
    folder = Path(path)
    if not re.fullmatch(r"\w[\w.-]*", folder.name):
        raise UserError(
            f"{path!r} is not a name for a study: name a new folder, such as {TEMPLATE_NAME}, by letters, digits, '_', "
            "'-' and '.'"
        )
    if folder.is_dir() and any(folder.iterdir()):
        raise UserError(f"{folder} is not empty: give the name of a new folder")
    with atomic_folder(folder) as temporary:
        shutil.copytree(TEMPLATE, temporary, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(shipped() / "workflow/profiles", temporary / "profiles")
        (temporary / "gitignore").rename(temporary / ".gitignore")
        with open(temporary / "profiles/default/config.yaml", "a", encoding="utf-8") as profile:
            profile.write(LOGGER)
        readme = temporary / "README.md"
        readme.write_text(readme.read_text(encoding="utf-8").replace(TEMPLATE_NAME, folder.name), encoding="utf-8")
    return folder
