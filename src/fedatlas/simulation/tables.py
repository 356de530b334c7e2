"""Client state as lazy tables: memory is taken only for the rows of clients that were seen."""

import numpy as np

from fedatlas.simulation.arrays import State, is_torch


class Table:
    """One (clients, width) array for each field of a client's first state.

    Rows never written read as the first state. Arrays come from ``np.zeros``, whose pages the system hands out when
    they are first touched, so 500 clients x 11 M parameters cost only the rows in use.

    first: State of one client: (d,) vectors or numbers. like: a vector that gives dtype and library for numbers.
    """

    def __init__(self, first, clients, like):
        self.first = State(**{name: self._vector(value, like) for name, value in first.items()})
        self.data = {name: self._zeros(clients, value) for name, value in self.first.items()}
        self.touched = np.zeros(clients, bool)

    @staticmethod
    def _vector(value, like):
        if hasattr(value, "shape"):
            return value
        return like.new_tensor([value]) if is_torch(like) else np.array([value], like.dtype)

    @staticmethod
    def _zeros(clients, value):
        if is_torch(value):
            import torch

            if value.device.type == "cpu":  # torch.zeros would write the pages
                return torch.from_numpy(np.zeros((clients, value.shape[0]), str(value.dtype).removeprefix("torch.")))
            return torch.zeros((clients, value.shape[0]), dtype=value.dtype, device=value.device)
        return np.zeros((clients, value.shape[0]), value.dtype)

    def read(self, ids):
        """State of the clients in ids (m,): every field (m, width), a copy."""
        if not self.data:
            return State()
        untouched = np.flatnonzero(~self.touched[ids])
        fields = {}
        for name, data in self.data.items():
            block = data[ids]
            if len(untouched):
                block[untouched] = getattr(self.first, name)
            fields[name] = block
        return State(**fields)

    def write(self, ids, kept):
        """Store what clients ids keep; fields that are not in kept stay as they are."""
        if kept is None or not self.data:
            return
        names = [name for name, _ in kept.items()]
        fresh = ids[~self.touched[ids]]
        for name, data in self.data.items():
            if name in names:
                data[ids] = getattr(kept, name)
            elif len(fresh):
                data[fresh] = getattr(self.first, name)
        self.touched[ids] = True
