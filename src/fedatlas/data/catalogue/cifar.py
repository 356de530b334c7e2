"""CIFAR: photographs of 32 x 32 pixels."""

from fedatlas.data.catalogue.base import File, Form, Source

_UNSTATED = "none stated by the source"

CIFAR10 = Source(
    "cifar10",
    title="Ten classes of photographs, 32 x 32 colour",
    group="cifar10",
    page="https://www.cs.toronto.edu/~kriz/cifar.html",
    licence=_UNSTATED,
    citation="krizhevsky2009learning",
    forms=(
        Form(
            "cifar",
            (
                File(
                    "cifar-10-python.tar.gz",
                    ("https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",),
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
            (
                File(
                    "cifar10_jpeg.npz",
                    (),
                    18_423_390,
                    "sha256:96e150a7acefcf798c09347546962ca3e78ceb0adb94f6e8652bda6b01c86758",
                    pinned="2026-11",
                ),
            ),
            lossy="decoded from JPEG copies of the images (about 30 dB): accuracies differ from published ones; "
            "training images in the official order, test images grouped by class",
        ),
    ),
    classes=10,
    rows=50_000,
    test_rows=10_000,
    shape=(3, 32, 32),
    scale=255.0,
    counts=(5_000,) * 10,
)
CIFAR100 = Source(
    "cifar100",
    title="A hundred classes of photographs, 32 x 32 colour",
    group="cifar100",
    page="https://www.cs.toronto.edu/~kriz/cifar.html",
    licence=_UNSTATED,
    citation="krizhevsky2009learning",
    forms=(
        Form(
            "cifar",
            (
                File(
                    "cifar-100-python.tar.gz",
                    ("https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz",),
                    169_001_437,
                    "md5:eb9058c3a382ffc7106e4002c42a8d85",
                ),
            ),
            {"train": ("cifar-100-python/train",), "test": ("cifar-100-python/test",), "labels": "fine_labels"},
        ),
    ),
    classes=100,
    rows=50_000,
    test_rows=10_000,
    shape=(3, 32, 32),
    scale=255.0,
    counts=(500,) * 100,
)
