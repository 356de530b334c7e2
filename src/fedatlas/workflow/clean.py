"""What `fedatlas clean` removes: what the workflow would not use again, or can make again from what is left."""

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fedatlas.data import custom_files, raw_files, sources
from fedatlas.data.locks import find_leftovers, remove_leftover
from fedatlas.data.paths import custom_folder, prepared_folder, raw_folder, resolve_directory
from fedatlas.errors import UserError
from fedatlas.experiments import experiment_file
from fedatlas.experiments.dependencies import cell_modules
from fedatlas.experiments.fingerprint import fingerprint
from fedatlas.experiments.metadata import RunMeta
from fedatlas.experiments.result_files import read_meta
from fedatlas.io.files import PREFIX, is_orphan
from fedatlas.workflow.atlas import Atlas

LEFT = "half-fetched"


@dataclass(frozen=True)
class Waste:
    """A file or folder that can go, and why."""

    path: Path
    bytes: int
    reason: str


def waste(
    atlas: Atlas, unfinished: bool = False, prepared: bool = False, data_directory: str | None = None
) -> list[Waste]:
    """What can go, as Waste, in the order of its paths.

    Always: results of code that has changed since, as the next run of the workflow would replace them, and what writers
    that were killed have left. unfinished: also what interrupted jobs would go on from. prepared: also prepared data
    whose raw files or own files are there, or that come with a package. Nothing is touched whose experiment no longer
    has a file, or is no longer in its grid: it could not be made again. Raises UserError if an experiment's file is
    wrong.
    """
    data = dict.fromkeys((resolve_directory(data_directory), Path(atlas.folders.data)))
    left = [
        path for root in (Path(atlas.folders.results), *data) for path in root.rglob(f"{PREFIX}*") if is_orphan(path)
    ]
    found = [Waste(path, _size(path), "half-written") for path in left]
    found += [Waste(path, _size(path), LEFT) for root in data for path in find_leftovers(root, unfinished)]
    for size in experiment_file.SIZES:
        for name in atlas.paths:
            folder = Path(atlas.folders.experiment(size, name)) / "runs"
            if folder.exists():
                found += _of_runs(atlas, size, name, folder, unfinished)
    if prepared:
        found += _of_data(data_directory)
    return sorted(found, key=lambda item: item.path)


def remove(found: Iterable[Waste]) -> None:
    """Remove files and folders. Raises UserError if one cannot be removed, or if a workflow is running."""
    if any(Path(".snakemake/locks").glob("*")):
        raise UserError("a workflow is running here; if it was killed, run `snakemake --unlock` first")
    for item in found:
        try:
            if item.path.is_dir():
                shutil.rmtree(item.path)
            elif item.reason == LEFT:
                remove_leftover(item.path)
            else:
                item.path.unlink(missing_ok=True)
        except OSError as error:
            raise UserError(f"cannot remove {item.path}: {error.strerror or error}") from None


def _of_runs(atlas: Atlas, size: str, name: str, folder: Path, unfinished: bool) -> Iterator[Waste]:
    cells = atlas.cells(size, name)
    for path in sorted(folder.glob("*/*")):
        if not path.is_file() or path.name.startswith(PREFIX):
            continue
        known = (path.parent.name, path.name.removesuffix(path.suffix)) in cells
        if path.suffix != ".parquet":
            if unfinished:
                yield Waste(path, _size(path), "unfinished")
        elif known and _is_old(path):
            yield Waste(path, _size(path), "of old code")


def _is_old(path: Path) -> bool:
    try:
        meta = RunMeta.of(read_meta(path))
    except (UserError, TypeError, KeyError):
        return True  # the workflow could not read it either
    return meta.fingerprint != fingerprint(cell_modules(meta.spec))


def _of_data(directory: str | None) -> Iterator[Waste]:
    root = resolve_directory(directory)
    for source in map(sources.info, sources.names()):
        folder = prepared_folder(root, source.name)
        if folder.exists() and (source.embedded or raw_files.find_files(source, raw_folder(root, source.group))):
            yield Waste(folder, _size(folder), "prepared data")
    for name in custom_files.names(root):
        if custom_files.files_exist(name, root):
            found = (prepared_folder(root, name), custom_folder(root) / f"{name}.json")
            yield from (Waste(path, _size(path), "prepared data") for path in found if path.exists())


def _size(path: Path) -> int:
    files = [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()]
    return sum(file.stat().st_size for file in files)
