"""Preparation: raw files become arrays on disk. Only this module and its imports decide the bytes of the arrays."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fedatlas.data.catalogue.base import Form, Source, checksum
from fedatlas.data.custom import CustomSource
from fedatlas.data.prepared import Meta, open_arrays, validate
from fedatlas.data.readers.base import Writer
from fedatlas.errors import UserError


def build(source: Source, form: Form, paths: Sequence[Path], folder: Path) -> None:
    """Write the prepared form of a data set into an empty folder, and validate it.

    Args:
        source: The data set.
        form: The form of the source whose files are read.
        paths: Paths of these files.
        folder: The empty folder.

    Raises:
        UserError: If a file cannot be read, or does not contain the rows, features and classes of the source.
    """
    try:
        form.create_reader().read(paths, source, Writer(folder))
    except (UserError, MemoryError):
        raise
    except Exception as error:  # parsers raise all kinds of errors on a file of another format
        if isinstance(source, CustomSource) or (isinstance(error, OSError) and error.errno is not None):
            raise  # it is an error of a user's reader, or of the file system
        raise UserError(
            f"{paths[0]}: cannot be read by the reader {form.reader} ({error}); delete the file and fetch it again, or "
            "put a good copy in its place"
        ) from error
    arrays = {
        path.stem: {"bytes": path.stat().st_size, "sha256": checksum(path).partition(":")[2]}
        for path in sorted(folder.glob("*.npy"))
    }
    meta = Meta(arrays, source, provenance(source, form, paths))
    meta.write(folder)
    # the test part of custom data need not contain every class
    contents = replace(source, test_rows=0) if isinstance(source, CustomSource) else source
    validate(contents, open_arrays(source.name, folder, meta), folder)


def provenance(source: Source, form: Form, paths: Sequence[Path]) -> dict[str, Any]:
    """Return the provenance of a data set; arguments are those of `build`. The survey has hashed custom files."""
    is_custom = isinstance(source, CustomSource)
    files = [
        {
            "name": path.name,
            "urls": list(file.urls),
            "bytes": file.bytes if is_custom else path.stat().st_size,
            "sha256": str(file.checksum if is_custom else checksum(path)).partition(":")[2],
        }
        for path, file in zip(paths, form.files, strict=True)
    ]
    described = {name: getattr(source, name) for name in ("title", "page", "licence", "citation", "bibtex", "note")}
    counts = {name: getattr(source, name) for name in ("features", "classes")}
    sizes = {"rows": source.rows, "test_rows": source.test_rows, "shape": list(source.shape)}
    return described | {"lossy": form.lossy} | sizes | counts | {"files": files}
