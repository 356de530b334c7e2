"""Tables of OpenML, fetched with scikit-learn's ``fetch_openml`` and stored as Parquet files."""

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fedatlas.data.errors import custom_file_error
from fedatlas.data.readers.custom_reader import Samples
from fedatlas.data.readers.parquet import Parquet
from fedatlas.errors import UserError
from fedatlas.io.files import atomic
from fedatlas.registry.options import option

_TARGET = b"fedatlas target"  # key of the column that OpenML calls the target, in the file's metadata


@dataclass(frozen=True, kw_only=True)
class OpenML(Parquet):
    """A table of OpenML by its name or number. Nominal features become columns of 0 and 1."""

    name = "openml"
    endings = ()

    openml: str | int = option(doc="name or number of the data set at openml.org")
    version: int | None = option(None, doc="version of a name; by default the one that OpenML calls active", low=1)
    label: str | None = option(  # type: ignore[assignment]
        None, doc="column of the classes; by default OpenML's target"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.openml, int) and self.version is not None:
            raise UserError(f"openml: the number {self.openml} already names one version: leave version out")

    def fetch(self, folder: Path) -> Path:
        stem = re.sub(r"[^\w.+-]", "_", str(self.openml))
        path = folder / f"{stem}-{self.version or 'active'}.parquet"
        if not path.exists():
            self._download(folder, path)
        return path

    def _download(self, folder: Path, path: Path) -> None:
        """Write a table and the name of its target into a Parquet file."""
        import pyarrow as pa
        from pyarrow import parquet
        from sklearn.datasets import fetch_openml

        query: dict[str, Any] = {"data_id": self.openml}
        if not isinstance(self.openml, int):
            query = {"name": self.openml, "version": self.version or "active"}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of several active versions: the version can be given
                bunch = fetch_openml(**query, as_frame=True, data_home=str(folder / "scikit-learn"))
            table = pa.Table.from_pandas(bunch.frame, preserve_index=False)
        except Exception as error:  # of the network, of OpenML's answers, of scikit-learn's parsers
            reason = " ".join(str(error).split())[:300] or type(error).__name__
            raise UserError(
                f"the data set {self.openml!r} of OpenML cannot be fetched ({reason}): check its name and the network"
            ) from None
        target = str(bunch.target_names[0]) if len(bunch.target_names) == 1 else ""
        table = table.replace_schema_metadata({**(table.schema.metadata or {}), _TARGET: target.encode()})
        with atomic(path) as temporary:
            parquet.write_table(table, temporary)

    def load(self, paths: Sequence[Path]) -> Samples:
        if self.label is not None:
            return super().load(paths)
        from pyarrow import parquet

        metadata = parquet.read_schema(paths[0]).metadata or {}
        target = metadata.get(_TARGET, b"").decode()
        if not target:
            raise custom_file_error(paths[0], "OpenML names no single target: say which column is the label")
        return replace(self, label=target).load(paths)
