"""`fedatlas clean`: files that the workflow would not use again, or can make again."""

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fedatlas.data import custom_files, raw_files, sources
from fedatlas.data.locks import find_leftovers, remove_leftover
from fedatlas.data.paths import custom_folder, prepared_folder, raw_folder, resolve_directory
from fedatlas.errors import UserError
from fedatlas.experiments import SIZES
from fedatlas.experiments.dependencies import cell_modules
from fedatlas.experiments.fingerprint import fingerprint
from fedatlas.experiments.metadata import RunMeta
from fedatlas.experiments.result_files import read_meta
from fedatlas.io.files import PREFIX, is_orphan
from fedatlas.workflow.study import Study

HALF_FETCHED = "half-fetched"


@dataclass(frozen=True)
class Waste:
    """A file or folder that can be removed, its size in bytes, and the reason."""

    path: Path
    bytes: int
    reason: str


def find_waste(
    study: Study, unfinished: bool = False, prepared: bool = False, data_directory: str | None = None
) -> list[Waste]:
    """Return the files and folders that can be removed, in the order of their paths.

    These are always results of code that has changed since, as the next run of the workflow would replace them, and
    the rest of writers that were killed. Nothing is found whose experiment no longer has a file, or is no longer in its
    grid: it could not be made again.

    Args:
        study: The study.
        unfinished: Whether to find the files from which interrupted jobs would go on.
        prepared: Whether to find prepared data whose raw or custom files exist, or that come with a package.
        data_directory: Data directory; by default the usual one.

    Raises:
        UserError: An experiment's file is wrong.
    """
    directories = dict.fromkeys((resolve_directory(data_directory), Path(study.folders.data)))
    orphans = [
        path
        for root in (Path(study.folders.results), *directories)
        for path in root.rglob(f"{PREFIX}*")
        if is_orphan(path)
    ]
    waste = [Waste(path, _size(path), "half-written") for path in orphans]
    for root in directories:
        waste += [Waste(path, _size(path), HALF_FETCHED) for path in find_leftovers(root, unfinished)]
    for size in SIZES:
        for name in study.files.paths:
            for folder in Path(study.folders.experiment(size, name)).glob("runs*"):  # runs-10 has the seeds of a look
                waste += _run_waste(study, size, name, folder, unfinished)
    if prepared:
        waste += _data_waste(data_directory)
    return sorted(waste, key=lambda item: item.path)


def remove(waste: Iterable[Waste]) -> None:
    """Remove files and folders. Raises UserError if one cannot be removed, or if a workflow is running."""
    if any(Path(".snakemake/locks").glob("*")):
        raise UserError("a workflow is running here; if it was killed, run `snakemake --unlock` first")
    for item in waste:
        try:
            if item.path.is_dir():
                shutil.rmtree(item.path)
            elif item.reason == HALF_FETCHED:
                remove_leftover(item.path)
            else:
                item.path.unlink(missing_ok=True)
        except OSError as error:
            raise UserError(f"cannot remove {item.path}: {error.strerror or error}") from None


def _run_waste(study: Study, size: str, name: str, folder: Path, unfinished: bool) -> Iterator[Waste]:
    cells = study.cells(size, name)
    for path in sorted(folder.glob("*/*")):
        if not path.is_file() or path.name.startswith(PREFIX):
            continue
        is_cell = (path.parent.name, path.name.removesuffix(path.suffix)) in cells
        if path.suffix != ".parquet":
            if unfinished:
                yield Waste(path, _size(path), "unfinished")
        elif is_cell and _is_old(path):
            yield Waste(path, _size(path), "of old code")


def _is_old(path: Path) -> bool:
    try:
        meta = RunMeta.of(read_meta(path))
    except (UserError, TypeError, KeyError):
        return True  # the workflow could not read it either
    return meta.fingerprint != fingerprint(cell_modules(meta.spec))


def _data_waste(directory: str | None) -> Iterator[Waste]:
    root = resolve_directory(directory)
    for source in map(sources.info, sources.names()):
        folder = prepared_folder(root, source.name)
        if folder.exists() and (source.embedded or raw_files.find_files(source, raw_folder(root, source.group))):
            yield Waste(folder, _size(folder), "prepared data")
    for name in custom_files.names(root):
        if custom_files.files_exist(name, root):
            paths = (prepared_folder(root, name), custom_folder(root) / f"{name}.json")
            yield from (Waste(path, _size(path), "prepared data") for path in paths if path.exists())


def _size(path: Path) -> int:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files)
