"""TODO."""

import tempfile
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fedatlas.federation.arrays import Array, State, is_torch

if TYPE_CHECKING:
    pass


class Table:
    """One (clients, width) array for each field of a client's first state.

    Rows never written read as the first state. Arrays come from ``np.zeros``, whose pages the system hands out when
    they are first touched, so 500 clients x 11 M parameters cost only the rows in use.

    Args:
        first: First State of one client: (d,) vectors or numbers.
        clients: Number of clients.
        like: Vector that gives type and library of numbers.
        storage: ``memory``, that of the vectors' device, or ``disk``: files without a name in the folder for temporary
            files (TMPDIR), which are mapped into memory and end with the process.
    """

    def __init__(self, first: State, clients: int, like: Array, storage: Literal["memory", "disk"] = "memory") -> None:
        self.first = first.rebuild({name: self._vector(value, like) for name, value in first.items()})
        self.storage = storage
        self.data = {name: self._zeros(clients, value) for name, value in self.first.items()}
        self.touched = np.zeros(clients, bool)

    def fresh(self) -> "Table":
        """Return a table of the same clients, fields and storage, in which nothing was written."""
        return Table(self.first, len(self.touched), None, self.storage)

    @staticmethod
    def _vector(value: Any, like: Array) -> Array:
        if hasattr(value, "shape"):
            return value
        return like.new_tensor([value]) if is_torch(like) else np.array([value], like.dtype)

    def _zeros(self, clients: int, value: Array) -> Any:
        shape = (clients, value.shape[0])
        if is_torch(value):
            import torch

            if self.storage == "memory" and value.device.type != "cpu":
                return _Rows(value)
            # torch.zeros would write the pages
            return torch.from_numpy(self._lazy(shape, np.dtype(str(value.dtype).removeprefix("torch."))))
        return self._lazy(shape, value.dtype)

    def _lazy(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        if self.storage == "memory":
            return np.zeros(shape, dtype)
        with tempfile.TemporaryFile() as file:
            return np.memmap(file, dtype, "w+", shape=shape)

    def add(self, name: str, zeros: Array) -> None:
        """Add a field whose first value is a vector of zeros."""
        self.first = self.first.replace(**{name: zeros})
        self.data = {**self.data, name: self._zeros(len(self.touched), zeros)}  # others may read the table meanwhile

    @property
    def row_bytes(self) -> int:
        """Bytes of one client's state."""
        return sum(value.shape[0] * value.dtype.itemsize for _, value in self.first.items())

    def read(self, ids: np.ndarray) -> State:
        """Return the State of the clients in ids (m,): a copy, with fields (m, width)."""
        if not self.data:
            return self.first
        untouched = np.flatnonzero(~self.touched[ids])
        fields = {}
        for name, data in self.data.items():
            first = getattr(self.first, name)
            block = data[ids]
            block = block.to(first.device) if is_torch(block) else np.asarray(block)
            if len(untouched):
                block[untouched] = first
            fields[name] = block
        return self.first.rebuild(fields)

    def write(self, ids: np.ndarray, state: State | None) -> None:
        """Store the State that the clients in ids (m,) keep; fields that are not in it stay as they are."""
        if state is None or not self.data:
            return
        names = [name for name, _ in state.items()]
        fresh = ids[~self.touched[ids]]
        for name, data in self.data.items():
            if name in names:
                value = getattr(state, name)
                on_host = is_torch(data) and hasattr(value, "device")
                data[ids] = value.to(data.device) if on_host else value
            elif len(fresh):
                first = getattr(self.first, name)
                data[fresh] = first.to(data.device) if is_torch(data) else first
        self.touched[ids] = True


class _Rows:
    """The rows that were written, one by one: a device has no lazy memory. like: Row of the same type."""

    def __init__(self, like: Array) -> None:
        self.like = like
        self.rows: Any = {}  # by client

    def __getitem__(self, ids: np.ndarray) -> Array:
        import torch

        return torch.stack([self.rows.get(int(i), self.like) for i in ids])

    def __setitem__(self, ids: np.ndarray, values: Any) -> None:
        values = values if hasattr(values, "shape") else self.like.new_tensor(values)
        for i, row in zip(ids, values.expand(len(ids), len(self.like)), strict=True):
            self.rows[int(i)] = row.clone()
