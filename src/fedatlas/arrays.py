"""The array functions that algorithms and engine share, over NumPy arrays and torch tensors alike."""

import sys

import numpy as np

BLOCK_BYTES = 1 << 22  # larger than a second-level cache: below it the calls cost more than the memory


class State:
    """Immutable named vectors: ``s.x``, ``s.replace(x=...)``; (d,) vectors of a server, (m, d) rows of clients."""

    def __init__(self, **fields):
        self.__dict__.update(fields)

    def __setattr__(self, name, value):
        raise AttributeError(f"a State is immutable: use replace({name}=...)")

    def replace(self, **fields):
        return State(**{**self.__dict__, **fields})

    def items(self):
        return self.__dict__.items()

    def __contains__(self, name):
        return name in self.__dict__

    def __repr__(self):
        return f"State({', '.join(self.__dict__)})"


def is_torch(a):
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(a, torch.Tensor)


def norm(v):
    """Euclidean norm of each row: (m, d) -> (m, 1); (d,) -> (1,)."""
    if is_torch(v):
        return v.norm(dim=-1, keepdim=True)
    return np.sqrt(np.vecdot(v, v))[..., None]


def dot(u, v):
    """Inner product of each pair of rows: (m, d) -> (m, 1); (d,) -> (1,)."""
    if not is_torch(u):
        return np.vecdot(u, v)[..., None]
    product = u * v
    if product.ndim == 1 or product.device.type != "cpu":
        return product.sum(-1, keepdim=True)
    import torch

    return torch.stack([row.sum() for row in product])[:, None]  # summed together, a row's bits depend on the others


def sqrt(v):
    return v.sqrt() if is_torch(v) else np.sqrt(v)


def maximum(u, v):
    """Entry by entry; v may be a number."""
    return _pairwise("maximum", u, v)


def minimum(u, v):
    """Entry by entry; v may be a number."""
    return _pairwise("minimum", u, v)


def _pairwise(name, u, v):
    if not is_torch(u):
        return getattr(np, name)(u, v)
    if not is_torch(v):
        return u.clamp(**{"min" if name == "maximum" else "max": v})
    import torch

    return getattr(torch, name)(u, v)


def where(condition, u, v):
    """u where the condition holds, else v; one of u and v may be a number."""
    if is_torch(condition):
        import torch

        return torch.where(condition, u, v)
    return np.where(condition, u, v)


def unit(v):
    """Each row divided by its norm; a zero row stays zero."""
    length = norm(v)
    return v / (length + (length == 0))


def plus(u, a, v):
    """u + a v for a number or a column a, in one pass where the library has one: it matters for vectors of millions."""
    if not is_torch(u):
        return u + a * v
    return u.addcmul(a, v) if is_torch(a) else u.add(v, alpha=a)


def mix(u, v, a):
    """(1 - a) u + a v for a number a, in one pass where the library has one."""
    return u.lerp(v, a) if is_torch(u) else (1 - a) * u + a * v


def rows(v, m):
    """One vector for all (or one row for each) of m clients, as an (m, d) view."""
    if is_torch(v):
        return v.expand(m, -1)
    v = np.asarray(v)
    return v if v.shape[:-1] == (m,) else np.broadcast_to(v, (m, v.shape[-1]))


def column(values, like):
    """Numbers (m,), one for each client, as an (m, 1) array of the library and type of a vector."""
    return like.new_tensor(values)[:, None] if is_torch(like) else np.asarray(values, like.dtype)[:, None]


def zeros_like(v):
    return v * 0


def like(values, v):
    """A NumPy array in the library and type of v, and on its device."""
    return v.new_tensor(values) if is_torch(v) else np.asarray(values, v.dtype)


def to_numpy(v):
    """A NumPy array of either library's array."""
    return v.detach().cpu().numpy() if is_torch(v) else np.asarray(v)


def all_finite(v):
    """Whether every entry is a number. A sum is finite only if its terms are, and costs one pass and no temporary."""
    total = float(v.sum())
    if np.isfinite(total):
        return True
    return bool((v.isfinite() if is_torch(v) else np.isfinite(v)).all())


def copy(v):
    return v.clone() if is_torch(v) else np.array(v)


def add_rows(total, block):
    """total + block[0] + block[1] + ..., added in exactly this order: the bits do not depend on how rows are blocked.

    total: (d,) or None (nothing summed yet); block: (m, d). Returns (d,).
    """
    if is_torch(block):
        total = block[0].clone() if total is None else total.add_(block[0])
        for row in block[1:]:
            total.add_(row)
        return total
    block = np.ascontiguousarray(block) if total is None else np.concatenate([total[None], block])
    if block.shape[1] < 8:  # NumPy may sum few columns pairwise; a running sum never does
        return np.add.accumulate(block, axis=0)[-1]
    return np.add.reduce(block, axis=0)


def concatenate(blocks):
    """Blocks of rows under each other."""
    if is_torch(blocks[0]):
        import torch

        return torch.cat(blocks)
    return np.concatenate(blocks)


def block_rows(dim, itemsize):
    """Rows of a block such that about six (rows, dim) arrays fill BLOCK_BYTES."""
    return max(1, BLOCK_BYTES // (6 * dim * itemsize))
