"""MNIST, and Fashion-MNIST, which has the same form."""

from typing import Any

from fedatlas.data.catalogue import File, Form, Source

_MNIST = ("https://ossci-datasets.s3.amazonaws.com/mnist/", "https://storage.googleapis.com/cvdf-datasets/mnist/")
_FASHION = (
    "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
    "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/",
)


def _mnist(name: str, addresses: tuple[str, ...], files: tuple[tuple[str, int, str], ...], **entry: Any) -> Source:
    """Return a set in the four files of MNIST.

    Args:
        name: Name of the data set.
        addresses: Addresses of the folders of the files.
        files: Name, bytes and MD5 of each file.
        entry: Other fields of the Source.
    """
    published = tuple(
        File(file, tuple(address + file for address in addresses), size, f"md5:{md5}") for file, size, md5 in files
    )
    contents: dict[str, Any] = {
        "classes": 10,
        "rows": 60_000,
        "test_rows": 10_000,
        "shape": (1, 28, 28),
        "scale": 255.0,
    }
    return Source(name, group=name, forms=(Form("idx", published),), **contents, **entry)


MNIST = _mnist(
    "mnist",
    _MNIST,
    (
        ("train-images-idx3-ubyte.gz", 9_912_422, "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
        ("train-labels-idx1-ubyte.gz", 28_881, "d53e105ee54ea40749a09fcbcd1e9432"),
        ("t10k-images-idx3-ubyte.gz", 1_648_877, "9fb629c4189551a2d022fa330f9573f3"),
        ("t10k-labels-idx1-ubyte.gz", 4_542, "ec29112dd5afa0611ce80d1b7f02629c"),
    ),
    title="Handwritten digits, 28 x 28 grey",
    page="http://yann.lecun.com/exdb/mnist/",
    licence="CC BY-SA 3.0",
    citation="lecun1998gradient",
    counts=(5_923, 6_742, 5_958, 6_131, 5_842, 5_421, 5_918, 6_265, 5_851, 5_949),
)
FASHION = _mnist(
    "fashion-mnist",
    _FASHION,
    (
        ("train-images-idx3-ubyte.gz", 26_421_880, "8d4fb7e6c68d591d4c3dfef9ec88bf0d"),
        ("train-labels-idx1-ubyte.gz", 29_515, "25c81989df183df01b3e8a0aad5dffbe"),
        ("t10k-images-idx3-ubyte.gz", 4_422_102, "bef4ecab320f06d8554ea6380940ec79"),
        ("t10k-labels-idx1-ubyte.gz", 5_148, "bb300cfdad3c16e7a12a480ee83cd310"),
    ),
    title="Articles of clothing, 28 x 28 grey",
    page="https://github.com/zalandoresearch/fashion-mnist",
    licence="MIT",
    citation="xiao2017fashion",
    counts=(6_000,) * 10,
)
