"""What `fedatlas clean` removes: what the workflow would not use again, or can make again from what is left."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from fedatlas.data import fetching, places, sources
from fedatlas.errors import UserError
from fedatlas.experiments import config
from fedatlas.experiments.expand import modules
from fedatlas.experiments.fingerprint import fingerprint
from fedatlas.experiments.result_files import read_meta


@dataclass(frozen=True)
class Waste:
    """A file or folder that can go, and why."""

    path: Path
    bytes: int
    reason: str


def waste(atlas, unfinished=False, prepared=False, data_directory=None):
    """What can go, as Waste, in the order of its paths.

    Always: results of code that has changed since, as the next run of the workflow would replace them, and what writers
    that were killed have left. unfinished: also what interrupted jobs would go on from. prepared: also prepared data
    whose raw files are there, or that come with a package. Nothing is touched whose experiment is no longer in
    config/experiments/, or in its grid: it could not be made again. Raises UserError if an experiment's file is wrong.
    """
    found = [Waste(path, _size(path), "half-written") for path in Path("results").rglob(".tmp-*")]
    for size in config.SIZES:
        for name in atlas.paths:
            folder = Path(atlas.directory(size, name)) / "runs"
            if folder.exists():
                found += _of_runs(atlas, size, name, folder, unfinished)
    if prepared:
        found += _of_data(data_directory)
    return sorted(found, key=lambda item: item.path)


def remove(found):
    """Remove files and folders. Raises UserError if one cannot be removed, or if a workflow is running."""
    if any(Path(".snakemake/locks").glob("*")):
        raise UserError("a workflow is running here; if it was killed, `snakemake --unlock` says that it is over")
    for item in found:
        try:
            shutil.rmtree(item.path) if item.path.is_dir() else item.path.unlink(missing_ok=True)
        except OSError as error:
            raise UserError(f"cannot remove {item.path}: {error.strerror or error}") from None


def _of_runs(atlas, size, name, folder, unfinished):
    cells = atlas.cells(size, name)
    for path in sorted(folder.glob("*/*")):
        if not path.is_file() or path.name.startswith(".tmp-"):
            continue
        known = (path.parent.name, path.name.removesuffix(path.suffix)) in cells
        if path.suffix != ".parquet":
            if unfinished:
                yield Waste(path, _size(path), "unfinished")
        elif known and _is_old(path):
            yield Waste(path, _size(path), "of old code")


def _is_old(path):
    try:
        meta = read_meta(path)
    except UserError:
        return True  # the workflow could not read it either
    return meta["fingerprint"] != fingerprint(*modules(meta["spec"]))


def _of_data(directory):
    root = places.directory(directory)
    for source in map(sources.info, sources.names()):
        folder = places.prepared(root, source.name)
        if folder.exists() and (source.embedded or fetching.lying(source, places.raw(root, source.group))):
            yield Waste(folder, _size(folder), "prepared data")


def _size(path):
    files = [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()]
    return sum(file.stat().st_size for file in files)
