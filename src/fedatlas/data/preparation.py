"""Preparation: raw files become arrays on disk. Only this module and its imports decide the bytes of the arrays."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fedatlas.data.catalogue.base import Form, Source
from fedatlas.data.compression import checksum
from fedatlas.data.custom_files import CustomSource
from fedatlas.data.errors import raw_file_error
from fedatlas.data.prepared import Meta, open_arrays
from fedatlas.data.readers.base import Writer
from fedatlas.data.validation import validate
from fedatlas.errors import UserError


def build(source: Source, form: Form, paths: Sequence[Path], origins: Sequence[str], folder: Path) -> None:
    """Write the prepared form of a data set of the catalogue into an empty folder, and validate it.

    Args:
        source: The data set.
        form: The form of the source whose files are read.
        paths: Paths of these files.
        origins: Address or path from which each file came.
        folder: The empty folder.

    Raises:
        UserError: If a file cannot be read, or does not contain the rows, features and classes of the source.
    """
    try:
        form.create_reader().read(paths, source, Writer(folder))
    except (UserError, MemoryError):
        raise
    except Exception as error:  # parsers raise all kinds of errors on a file of another format
        if isinstance(error, OSError) and error.errno is not None:
            raise  # it is an error of the file system
        raise raw_file_error(paths[0], f"cannot be read by the reader {form.reader} ({error})") from error
    files = [
        {
            "name": path.name,
            "urls": list(file.urls),
            "origin": origin,
            "bytes": path.stat().st_size,
            "sha256": checksum(path).partition(":")[2],
        }
        for path, file, origin in zip(paths, form.files, origins, strict=True)
    ]
    meta = _write_meta(source, _provenance(source, form.lossy, files), folder)
    validate(source, open_arrays(source.name, folder, meta), folder)


def build_custom(source: CustomSource, folder: Path) -> None:
    """Write the prepared form of custom data into an empty folder, and validate it.

    Raises:
        UserError: If a file cannot be read, or does not contain what its survey says.
    """
    paths = list(map(Path, source.paths))
    source.forms[0].create_reader().read(paths, source, Writer(folder))
    meta = _write_meta(source, custom_provenance(source), folder)
    validate_custom(source, folder, meta)


def validate_custom(source: CustomSource, folder: Path, meta: Meta) -> None:
    """Raise UserError if prepared custom data are not sound. The test part need not contain every class."""
    validate(replace(source, test_rows=0), open_arrays(source.name, folder, meta), folder)


def custom_provenance(source: CustomSource) -> dict[str, Any]:
    """Return the provenance of custom data."""
    files: list[dict[str, Any]] = [
        {
            "name": file.name,
            "urls": [],
            "origin": path,
            "bytes": file.bytes,
            "sha256": str(file.checksum).partition(":")[2],
        }
        for file, path in zip(source.forms[0].files, source.paths, strict=True)
    ]
    return _provenance(source, "", files)


def _write_meta(source: Source, provenance: dict[str, Any], folder: Path) -> Meta:
    """Write ``meta.json`` beside the arrays of a folder."""
    arrays = {
        path.stem: {"bytes": path.stat().st_size, "sha256": checksum(path).partition(":")[2]}
        for path in sorted(folder.glob("*.npy"))
    }
    meta = Meta(arrays, source, provenance)
    meta.write(folder)
    return meta


def _provenance(source: Source, lossy: str, files: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the provenance of a data set.

    Args:
        source: The data set.
        lossy: Difference from the official files, empty if there is none.
        files: Name, addresses, origin, size and checksum of each raw file.
    """
    return {
        "title": source.title,
        "page": source.page,
        "licence": source.licence,
        "citation": source.citation,
        "bibtex": source.bibtex,
        "note": source.note,
        "lossy": lossy,
        "rows": source.rows,
        "test_rows": source.test_rows,
        "shape": list(source.shape),
        "features": source.features,
        "classes": source.classes,
        "files": files,
    }
