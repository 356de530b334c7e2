"""Photographs in classes: CIFAR, CINIC-10, SVHN and Tiny-ImageNet."""

from typing import Any

from fedatlas.data.catalogue import File, Form, Source

_KRIZHEVSKY = "https://www.cs.toronto.edu/~kriz/"
_EDINBURGH = "https://datashare.ed.ac.uk/"
_STANFORD = "http://ufldl.stanford.edu/housenumbers/"
_JPEG = "96e150a7acefcf798c09347546962ca3e78ceb0adb94f6e8652bda6b01c86758"


def _published(folder: str, name: str, size: int, md5: str, *others: str) -> File:
    """Return a file that lies in a folder of the web, and at other addresses, with its size in bytes."""
    return File(name, (folder + name, *others), size, f"md5:{md5}")


def _photographs(name: str, *forms: Form, **entry: Any) -> Source:
    """Return a set of colour images, 32 x 32 unless the entry says otherwise."""
    common: dict[str, Any] = {"licence": "none stated by the source", "shape": (3, 32, 32), "scale": 255.0}
    return Source(name, group=name, forms=forms, **common | entry)


_CIFAR: dict[str, Any] = {
    "page": f"{_KRIZHEVSKY}cifar.html",
    "citation": "krizhevsky2009learning",
    "rows": 50_000,
    "test_rows": 10_000,
}
CIFAR10 = _photographs(
    "cifar10",
    Form(
        "cifar",
        (_published(_KRIZHEVSKY, "cifar-10-python.tar.gz", 170_498_071, "c58f30108f718f92721af3b95e74349a"),),
        {
            "train": tuple(f"cifar-10-batches-py/data_batch_{i}" for i in range(1, 6)),
            "test": ("cifar-10-batches-py/test_batch",),
            "labels": "labels",
        },
    ),
    Form(
        "jpeg",
        # this project computed the checksum, in November 2026
        (File("cifar10_jpeg.npz", (), 18_423_390, f"sha256:{_JPEG}"),),
        lossy="decoded from JPEG copies of the images (about 30 dB): accuracies differ from published ones; "
        "training images in the official order, test images grouped by class",
    ),
    title="Ten classes of photographs, 32 x 32 colour",
    classes=10,
    counts=(5_000,) * 10,
    **_CIFAR,
)
CIFAR100 = _photographs(
    "cifar100",
    Form(
        "cifar",
        (_published(_KRIZHEVSKY, "cifar-100-python.tar.gz", 169_001_437, "eb9058c3a382ffc7106e4002c42a8d85"),),
        {"train": ("cifar-100-python/train",), "test": ("cifar-100-python/test",), "labels": "fine_labels"},
    ),
    title="A hundred classes of photographs, 32 x 32 colour",
    classes=100,
    counts=(500,) * 100,
    **_CIFAR,
)
CINIC10 = _photographs(
    "cinic10",
    Form(
        "folders",
        (
            _published(
                f"{_EDINBURGH}bitstream/handle/10283/3192/",
                "CINIC-10.tar.gz",
                687_544_992,
                "6ee4d0c996905fe93221de577967a372",
                f"{_EDINBURGH}server/api/core/bitstreams/e8e186cc-2688-48f1-aa5a-3fda1a43f8b6/content",
            ),
        ),
        {"train": "train", "test": "test"},
    ),
    title="CIFAR-10's classes from CIFAR-10 and downsampled ImageNet, 32 x 32 colour",
    page=f"{_EDINBURGH}handle/10283/3192",
    licence="CC BY 4.0",
    citation="darlow2018cinic",
    classes=10,
    rows=90_000,
    test_rows=90_000,
    counts=(9_000,) * 10,
    note="The official training and test parts; the validation part is not used.",
)
SVHN = _photographs(
    "svhn",
    Form(
        "mat",
        (
            _published(_STANFORD, "train_32x32.mat", 182_040_794, "e26dedcc434d2e4c54c9b2d4a06d8373"),
            _published(_STANFORD, "test_32x32.mat", 64_275_384, "eb5a983be6a315427106f1b164d9cef3"),
        ),
    ),
    title="Street view house numbers, cropped digits, 32 x 32 colour",
    page=_STANFORD,
    licence="non-commercial use only",
    citation="netzer2011reading",
    classes=10,
    rows=73_257,
    test_rows=26_032,
    note="The digit 0, published as label 10, is class 0; the 'extra' images are not used.",
)
TINY_IMAGENET = _photographs(
    "tiny-imagenet",
    Form(
        "folders",
        (
            _published(
                "http://cs231n.stanford.edu/", "tiny-imagenet-200.zip", 248_100_043, "90528d7ca1a48142e341f4ef8d21d0de"
            ),
        ),
        {
            "train": "tiny-imagenet-200/train",
            "test": "tiny-imagenet-200/val",
            "annotations": "tiny-imagenet-200/val/val_annotations.txt",
        },
    ),
    title="Two hundred classes of ImageNet, 64 x 64 colour",
    page="http://cs231n.stanford.edu/",
    licence="none stated by the source; ImageNet's terms allow non-commercial research",
    citation="le2015tiny",
    classes=200,
    rows=100_000,
    test_rows=10_000,
    shape=(3, 64, 64),
    counts=(500,) * 200,
    note="The official validation part is the test part: the labels of the official test part are not public.",
)
