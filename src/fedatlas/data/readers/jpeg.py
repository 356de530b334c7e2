"""Images as JPEG streams, one after another in one uint8 array: a lossy substitute for official files.

The .npz contains, for ``part`` in train and test, ``jpeg_part`` (bytes), ``offset_part`` (n+1,) and ``y_part`` (n,).
Image i is ``jpeg_part[offset_part[i]:offset_part[i+1]]``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from fedatlas.data.dataset import Contents
from fedatlas.data.readers.archives import decode_image
from fedatlas.data.readers.base import Reader, Writer


@dataclass(frozen=True, kw_only=True)
class Jpeg(Reader):
    """JPEG streams of both parts in one .npz file."""

    name = "jpeg"

    def read(self, paths: Sequence[Path], contents: Contents, out: Writer) -> None:
        (path,) = paths
        with np.load(path, allow_pickle=False) as archive:
            for suffix, part in (("", "train"), ("_test", "test")):
                stream, offsets = archive[f"jpeg_{part}"], archive[f"offset_{part}"]
                X = out.create(f"X{suffix}", (len(offsets) - 1, *contents.shape), "uint8")
                for i, (start, end) in enumerate(pairwise(offsets.tolist())):
                    X[i] = decode_image(stream[start:end].tobytes())
                out.save(f"y{suffix}", archive[f"y_{part}"].astype(np.int64))
