"""Functions of arrays for algorithms, problems and the engine, on NumPy arrays and torch tensors alike."""

import sys
from collections.abc import ItemsView, Mapping, Sequence
from typing import Any, Self, TypeAlias

import numpy as np

__all__ = [
    "add_rows",
    "all_finite",
    "beside",
    "block_rows",
    "column",
    "concatenate",
    "convert",
    "copy",
    "dot",
    "is_torch",
    "maximum",
    "median",
    "minimum",
    "mix",
    "norm",
    "plus",
    "product",
    "rows",
    "sqrt",
    "to_numpy",
    "top_k",
    "unit",
    "where",
    "zeros_like",
]

Array: TypeAlias = Any  # a NumPy array or a torch tensor: operators, shapes and the functions below are what both have

LONG = 1 << 12  # numbers of a row from which a call of NumPy for each costs less than a copy of the rows
BLOCK_BYTES = 1 << 22  # larger than a second-level cache: below it the calls cost more than the memory


class Vectors:
    """Immutable named vectors: (d,) vectors of a server, or (m, d) rows of a block of clients; numbers as well.

    `State` takes any names. An algorithm whose types a checker shall know derives a frozen dataclass from this class,
    whose fields are the names: ``class Server(Vectors)`` with ``x: Array``.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            f"a {type(self).__name__} is immutable: use replace({name}=...), and frozen=True where it is a dataclass"
        )

    def replace(self, **fields: Any) -> Self:
        """Return the same with some fields replaced or added."""
        return self.rebuild({**self.__dict__, **fields})

    def rebuild(self, fields: Mapping[str, Any]) -> Self:
        """Return one of the same class that has these fields and no others."""
        result = object.__new__(type(self))
        result.__dict__.update(fields)
        return result

    def items(self) -> ItemsView[str, Any]:
        """Return pairs of names and values."""
        return self.__dict__.items()

    def __contains__(self, name: str) -> bool:
        return name in self.__dict__

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self.__dict__)})"


class State(Vectors):
    """Immutable vectors of any names: ``State(x=x, c=c)`` has ``s.x`` and ``s.c``."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"a State of {', '.join(self.__dict__) or 'nothing'} has no {name!r}")


def is_torch(a: Any) -> bool:
    """Return whether a value is a torch tensor, without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(a, torch.Tensor)


def norm(v: Array) -> Array:
    """Return the Euclidean norm of each row: (m, d) -> (m, 1); (d,) -> (1,)."""
    if is_torch(v):
        return v.norm(dim=-1, keepdim=True)
    return np.sqrt(np.vecdot(v, v))[..., None]


def dot(u: Array, v: Array) -> Array:
    """Return the inner product of each pair of rows: (m, d) -> (m, 1); (d,) -> (1,)."""
    if not is_torch(u):
        return np.vecdot(u, v)[..., None]
    product = u * v
    if product.ndim == 1 or product.device.type != "cpu":
        return product.sum(-1, keepdim=True)
    import torch

    return torch.stack([row.sum() for row in product])[:, None]  # summed together, a row's bits depend on the others


def sqrt(v: Array) -> Array:
    """Return the square root of every entry."""
    return v.sqrt() if is_torch(v) else np.sqrt(v)


def maximum(u: Array, v: Array | float) -> Array:
    """Return the larger of u and v in every entry; v may be a number."""
    return _pairwise("maximum", u, v)


def minimum(u: Array, v: Array | float) -> Array:
    """Return the smaller of u and v in every entry; v may be a number."""
    return _pairwise("minimum", u, v)


def _pairwise(name: str, u: Array, v: Array | float) -> Array:
    if not is_torch(u):
        return getattr(np, name)(u, v)
    if not is_torch(v):
        return u.clamp(**{"min" if name == "maximum" else "max": v})
    import torch

    return getattr(torch, name)(u, v)


def where(condition: Array, u: Array | float, v: Array | float) -> Array:
    """Return u where the condition holds, else v; u or v may be a number, and the condition of NumPy beside torch."""
    like = next((a for a in (condition, u, v) if is_torch(a)), None)
    if like is None:
        return np.where(condition, u, v)
    import torch

    return torch.where(torch.as_tensor(condition, device=like.device), u, v)  # type: ignore[union-attr]  # a tensor


def unit(v: Array) -> Array:
    """Return each row divided by its norm; a zero row stays zero."""
    length = norm(v)
    return v / (length + (length == 0))


def plus(u: Array, a: Array | float, v: Array) -> Array:
    """Return u + a v for a number or a column a, in one pass if the library has one: faster for long vectors."""
    if not is_torch(u):
        return u + a * v
    return u.addcmul(a, v) if is_torch(a) else u.add(v, alpha=a)


def mix(u: Array, v: Array, a: float) -> Array:
    """Return (1 - a) u + a v for a number a, in one pass if the library has one."""
    return u.lerp(v, a) if is_torch(u) else (1 - a) * u + a * v


def rows(v: Array, m: int) -> Array:
    """Return a vector (d,) for all of m clients, or a row (m, d) for each, as an (m, d) view."""
    if is_torch(v):
        return v.expand(m, -1)
    v = np.asarray(v)
    return v if v.shape[:-1] == (m,) else np.broadcast_to(v, (m, v.shape[-1]))


def beside(*parts: Array) -> Array:
    """Return the entries of arrays one behind the other, row by row: (m, a), (m, b), ... -> (m, a + b + ...)."""
    if is_torch(parts[0]):
        import torch

        return torch.cat(parts, dim=-1)
    return np.concatenate(parts, axis=-1)


def column(values: np.ndarray, like: Array) -> Array:
    """Return numbers (m,), one for each client, as an (m, 1) array in the library and type of ``like``."""
    return convert(values, like)[:, None]


def convert(values: np.ndarray, like: Array) -> Array:
    """Return an array of NumPy in the library and type of ``like``, and on its device."""
    return like.new_tensor(values) if is_torch(like) else np.asarray(values, like.dtype)


def zeros_like(v: Array) -> Array:
    """Return zeros in the shape, library and type of v, and on its device."""
    return v * 0


def to_numpy(v: Array) -> np.ndarray:
    """Return an array of either library as a NumPy array in the host's memory."""
    return v.detach().cpu().numpy() if is_torch(v) else np.asarray(v)


def all_finite(v: Array) -> bool:
    """Return whether every entry is finite."""
    # a sum is finite only if its terms are, and takes one pass and no temporary array
    total = float(v.sum())
    if np.isfinite(total):
        return True
    return bool((v.isfinite() if is_torch(v) else np.isfinite(v)).all())


def copy(v: Array) -> Array:
    """Return a copy that shares no memory."""
    return v.clone() if is_torch(v) else np.array(v)


def product(v: Array, A: Array) -> Array:
    """Return v A: (m, d) -> (m, w) or (d,) -> (w,) for a matrix A (d, w). Bits do not depend on the other rows.

    For a sketch, A may be drawn by ``steps.shared_rng``, which is the same for all clients, and converted like v.
    """
    if v.ndim == 1:
        return v @ A
    if not is_torch(v):
        return np.stack([row @ A for row in v])
    import torch

    return torch.stack([row @ A for row in v])


def top_k(v: Array, k: int) -> Array:
    """Return rows (m, d), or a vector (d,), of which the k entries of largest absolute value stay and others are 0.

    Of equal entries those of lower index stay, so bits depend neither on the machine nor on the other rows. What is
    not a number stays as well.
    """
    size, d = abs(v), v.shape[-1]
    if k >= d:
        return v
    # The k-th largest value is the same on all machines; the order in which a partition leaves equal ones is not.
    if is_torch(v):
        bound = size.kthvalue(d - k + 1, dim=-1, keepdim=True).values
    else:
        bound = np.partition(size, d - k, axis=-1)[..., d - k, None]
    larger, equal = size > bound, size == bound
    missing = k - larger.sum(-1)[..., None]
    return where(larger | (equal & (equal.cumsum(-1) <= missing)) | (v != v), v, 0.0)


def median(rows: Array) -> Array:
    """Return the median of each column of rows (m, d), the mean of the two middle values where m is even: (d,)."""
    if not is_torch(rows):
        return np.median(rows, axis=0)
    ordered, m = rows.sort(dim=0).values, len(rows)
    return (ordered[(m - 1) // 2] + ordered[m // 2]) / 2


def add_rows(total: Array | None, block: Array) -> Array:
    """Return total + block[0] + block[1] + ..., (d,), added in this order, so that bits do not depend on the blocks.

    Args:
        total: Sum (d,) of earlier blocks, which may be changed in place, or None for the first block.
        block: Rows (m, d).
    """
    if is_torch(block):
        total = block[0].clone() if total is None else total.add_(block[0])
        for row in block[1:]:
            total.add_(row)
        return total
    if total is not None and len(total) >= LONG:
        for row in block:
            total += row
        return total
    block = np.ascontiguousarray(block)  # NumPy sums columns of another layout pairwise
    if total is not None:
        block = np.concatenate([total[None], block])
    if block.shape[1] < 8:  # NumPy may sum few columns pairwise; a running sum never does
        return np.add.accumulate(block, axis=0)[-1]
    return np.add.reduce(block, axis=0)


def concatenate(blocks: Sequence[Array]) -> Array:
    """Return blocks of rows as one array, (m, d)."""
    if is_torch(blocks[0]):
        import torch

        return torch.cat(list(blocks))
    return np.concatenate(blocks)


def block_rows(dim: int, itemsize: int) -> int:
    """Return the number of rows for which about six (rows, dim) arrays of items of this size fill BLOCK_BYTES."""
    return max(1, BLOCK_BYTES // (6 * dim * itemsize))
