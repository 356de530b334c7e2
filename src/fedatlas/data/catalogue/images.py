"""Images in classes: MNIST, Fashion-MNIST, CIFAR, CINIC-10, SVHN and Tiny-ImageNet."""

from typing import Any

from fedatlas.data.catalogue import File, Form, Source

_MNIST = ("https://ossci-datasets.s3.amazonaws.com/mnist/", "https://storage.googleapis.com/cvdf-datasets/mnist/")
_FASHION = (
    "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
    "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/",
)
_KRIZHEVSKY = "https://www.cs.toronto.edu/~kriz/"
_EDINBURGH = "https://datashare.ed.ac.uk/"
_HOUSE_NUMBERS = "http://ufldl.stanford.edu/housenumbers/"
_CS231N = "http://cs231n.stanford.edu/"
_JPEG = "96e150a7acefcf798c09347546962ca3e78ceb0adb94f6e8652bda6b01c86758"

_GREY: dict[str, Any] = {"classes": 10, "rows": 60_000, "test_rows": 10_000, "shape": (1, 28, 28), "scale": 255.0}
_COLOUR: dict[str, Any] = {"shape": (3, 32, 32), "scale": 255.0}
_CIFAR: dict[str, Any] = _COLOUR | {
    "page": f"{_KRIZHEVSKY}cifar.html",
    "licence": "none stated by the source",
    "citation": "krizhevsky2009learning",
    "rows": 50_000,
    "test_rows": 10_000,
}

MNIST = Source(
    "mnist",
    title="Handwritten digits, 28 x 28 grey",
    group="mnist",
    page="http://yann.lecun.com/exdb/mnist/",
    licence="CC BY-SA 3.0",
    citation="lecun1998gradient",
    forms=(
        Form(
            "idx",
            tuple(
                File(name, tuple(folder + name for folder in _MNIST), size, f"md5:{md5}")
                for name, size, md5 in (
                    ("train-images-idx3-ubyte.gz", 9_912_422, "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
                    ("train-labels-idx1-ubyte.gz", 28_881, "d53e105ee54ea40749a09fcbcd1e9432"),
                    ("t10k-images-idx3-ubyte.gz", 1_648_877, "9fb629c4189551a2d022fa330f9573f3"),
                    ("t10k-labels-idx1-ubyte.gz", 4_542, "ec29112dd5afa0611ce80d1b7f02629c"),
                )
            ),
        ),
    ),
    counts=(5_923, 6_742, 5_958, 6_131, 5_842, 5_421, 5_918, 6_265, 5_851, 5_949),
    **_GREY,
)
FASHION = Source(
    "fashion-mnist",
    title="Articles of clothing, 28 x 28 grey",
    group="fashion-mnist",
    page="https://github.com/zalandoresearch/fashion-mnist",
    licence="MIT",
    citation="xiao2017fashion",
    forms=(
        Form(
            "idx",
            tuple(
                File(name, tuple(folder + name for folder in _FASHION), size, f"md5:{md5}")
                for name, size, md5 in (
                    ("train-images-idx3-ubyte.gz", 26_421_880, "8d4fb7e6c68d591d4c3dfef9ec88bf0d"),
                    ("train-labels-idx1-ubyte.gz", 29_515, "25c81989df183df01b3e8a0aad5dffbe"),
                    ("t10k-images-idx3-ubyte.gz", 4_422_102, "bef4ecab320f06d8554ea6380940ec79"),
                    ("t10k-labels-idx1-ubyte.gz", 5_148, "bb300cfdad3c16e7a12a480ee83cd310"),
                )
            ),
        ),
    ),
    counts=(6_000,) * 10,
    **_GREY,
)
CIFAR10 = Source(
    "cifar10",
    title="Ten classes of photographs, 32 x 32 colour",
    group="cifar10",
    forms=(
        Form(
            "cifar",
            (
                File(
                    "cifar-10-python.tar.gz",
                    (f"{_KRIZHEVSKY}cifar-10-python.tar.gz",),
                    170_498_071,
                    "md5:c58f30108f718f92721af3b95e74349a",
                ),
            ),
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
    ),
    classes=10,
    counts=(5_000,) * 10,
    **_CIFAR,
)
CIFAR100 = Source(
    "cifar100",
    title="A hundred classes of photographs, 32 x 32 colour",
    group="cifar100",
    forms=(
        Form(
            "cifar",
            (
                File(
                    "cifar-100-python.tar.gz",
                    (f"{_KRIZHEVSKY}cifar-100-python.tar.gz",),
                    169_001_437,
                    "md5:eb9058c3a382ffc7106e4002c42a8d85",
                ),
            ),
            {"train": ("cifar-100-python/train",), "test": ("cifar-100-python/test",), "labels": "fine_labels"},
        ),
    ),
    classes=100,
    counts=(500,) * 100,
    **_CIFAR,
)
CINIC10 = Source(
    "cinic10",
    title="CIFAR-10's classes from CIFAR-10 and downsampled ImageNet, 32 x 32 colour",
    group="cinic10",
    page=f"{_EDINBURGH}handle/10283/3192",
    licence="CC BY 4.0",
    citation="darlow2018cinic",
    forms=(
        Form(
            "folders",
            (
                File(
                    "CINIC-10.tar.gz",
                    (
                        f"{_EDINBURGH}bitstream/handle/10283/3192/CINIC-10.tar.gz",
                        f"{_EDINBURGH}server/api/core/bitstreams/e8e186cc-2688-48f1-aa5a-3fda1a43f8b6/content",
                    ),
                    687_544_992,
                    "md5:6ee4d0c996905fe93221de577967a372",
                ),
            ),
            {"train": "train", "test": "test"},
        ),
    ),
    classes=10,
    rows=90_000,
    test_rows=90_000,
    counts=(9_000,) * 10,
    note="The official training and test parts; the validation part is not used.",
    **_COLOUR,
)
SVHN = Source(
    "svhn",
    title="Street view house numbers, cropped digits, 32 x 32 colour",
    group="svhn",
    page=_HOUSE_NUMBERS,
    licence="non-commercial use only",
    citation="netzer2011reading",
    forms=(
        Form(
            "mat",
            tuple(
                File(name, (_HOUSE_NUMBERS + name,), size, f"md5:{md5}")
                for name, size, md5 in (
                    ("train_32x32.mat", 182_040_794, "e26dedcc434d2e4c54c9b2d4a06d8373"),
                    ("test_32x32.mat", 64_275_384, "eb5a983be6a315427106f1b164d9cef3"),
                )
            ),
        ),
    ),
    classes=10,
    rows=73_257,
    test_rows=26_032,
    note="The digit 0, published as label 10, is class 0; the 'extra' images are not used.",
    **_COLOUR,
)
TINY_IMAGENET = Source(
    "tiny-imagenet",
    title="Two hundred classes of ImageNet, 64 x 64 colour",
    group="tiny-imagenet",
    page=_CS231N,
    licence="none stated by the source; ImageNet's terms allow non-commercial research",
    citation="le2015tiny",
    forms=(
        Form(
            "folders",
            (
                File(
                    "tiny-imagenet-200.zip",
                    (f"{_CS231N}tiny-imagenet-200.zip",),
                    248_100_043,
                    "md5:90528d7ca1a48142e341f4ef8d21d0de",
                ),
            ),
            {
                "train": "tiny-imagenet-200/train",
                "test": "tiny-imagenet-200/val",
                "annotations": "tiny-imagenet-200/val/val_annotations.txt",
            },
        ),
    ),
    classes=200,
    rows=100_000,
    test_rows=10_000,
    shape=(3, 64, 64),
    scale=255.0,
    counts=(500,) * 200,
    note="The official validation part is the test part: the labels of the official test part are not public.",
)
