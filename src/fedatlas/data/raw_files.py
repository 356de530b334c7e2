"""Raw files, from a mirror or the official address. A file appears whole and verified, or not at all."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from fedatlas.data.catalogue.base import File, Form, Source
from fedatlas.data.paths import BUNDLED, Mirrors, is_url, list_mirrors
from fedatlas.errors import UserError
from fedatlas.io.files import atomic

SILENCE = 30.0  # seconds after which a server that sends nothing is given up


class Unavailable(Exception):
    """An address did not give the file; the text says why."""


def gather(source: Source, root: Path, mirrors: Mirrors = ()) -> tuple[Form, list[Path]]:
    """Put the raw files of a data set into ``raw/<group>/`` of the data directory.

    A file is searched for in the data directory, then among those that come with fedatlas, then in mirrors, then at its
    official addresses; a substitute for the official files is not searched for at official addresses.

    Args:
        source: The data set.
        root: The data directory.
        mirrors: Mirrors that come before those of FEDATLAS_DATA_MIRRORS.

    Returns:
        The first form of the data set that is available, and the paths of its files.

    Raises:
        UserError: If a file is not available, or is not the one expected.
    """
    folder, names = root / "raw" / source.group, list_mirrors(mirrors)
    places = [f"{mirror.rstrip('/')}/{source.group}" for mirror in (str(BUNDLED), *names)]
    failures: dict[str, str] = {}  # by address
    for form in source.forms:
        if all(_fetch(folder, file, (f"{place}/{file.name}" for place in places), failures) for file in form.files):
            break
    else:
        form = source.forms[0]
        for file in form.files:
            if not _fetch(folder, file, file.urls, failures):
                reasons = [f"{address}: {reason}" for address, reason in failures.items()] or ["it has no address"]
                raise UserError(
                    f"the data set {source.name!r} needs {folder / file.name}: put it there, or name in "
                    f"FEDATLAS_DATA_MIRRORS a folder or URL that holds {source.group}/{file.name}\n  "
                    f"It is in no mirror ({', '.join(names) or 'none is named'}) and could not be downloaded:\n  "
                    + "\n  ".join(reasons)
                )
    return form, [folder / file.name for file in form.files]


def find_files(source: Source, folder: Path) -> tuple[Form, list[Path]] | None:
    """Return the first form whose files all lie in a folder, and their paths. The files are not verified."""
    for form in source.forms:
        paths = [folder / file.name for file in form.files]
        if all(path.is_file() for path in paths):
            return form, paths
    return None


def _fetch(folder: Path, file: File, addresses: Iterable[str], failures: dict[str, str]) -> bool:
    """Put a file into a folder, from the first address that gives the published one; return whether it lies there."""
    path = folder / file.name
    if path.is_file():
        if fault := file.find_mismatch(path):
            raise UserError(f"{path} {fault}: delete it and fetch it again, or put a good copy in its place")
        return True
    for address in addresses:
        if not is_url(address) and not Path(address).is_file():
            continue
        try:
            with atomic(path) as temporary:
                (_download if is_url(address) else shutil.copyfile)(address, temporary)
                if fault := file.find_mismatch(temporary):
                    raise Unavailable(f"what it gives {fault}")
            return True
        except Unavailable as error:
            failures[address] = str(error)
    return False


def _download(url: str, path: Path) -> None:
    """Write what an address gives to a path. Raises Unavailable if it does not give all of it."""
    import pooch
    from requests import RequestException
    from tqdm import tqdm

    try:
        with tqdm(total=0, unit="B", unit_scale=True, desc=path.name, disable=None, leave=False) as bar:
            pooch.HTTPDownloader(progressbar=bar, timeout=SILENCE)(url, str(path), None)
    except RequestException as error:
        raise Unavailable(str(error)) from error
