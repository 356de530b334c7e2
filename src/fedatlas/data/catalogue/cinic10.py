"""CINIC-10: the classes of CIFAR-10, with more images."""

from fedatlas.data.catalogue.base import File, Form, Source

CINIC10 = Source(
    "cinic10",
    title="CIFAR-10's classes from CIFAR-10 and downsampled ImageNet, 32 x 32 colour",
    group="cinic10",
    page="https://datashare.ed.ac.uk/handle/10283/3192",
    licence="CC BY 4.0",
    citation="darlow2018cinic",
    forms=(
        Form(
            "folders",
            (
                File(
                    "CINIC-10.tar.gz",
                    (
                        "https://datashare.ed.ac.uk/bitstream/handle/10283/3192/CINIC-10.tar.gz",
                        "https://datashare.ed.ac.uk/server/api/core/bitstreams/"
                        "e8e186cc-2688-48f1-aa5a-3fda1a43f8b6/content",
                    ),
                    687_544_992,
                    "md5:6ee4d0c996905fe93221de577967a372",
                ),
            ),
            {"train": r"train/(\w+)/[^/]+\.png", "test": r"test/(\w+)/[^/]+\.png"},
        ),
    ),
    classes=10,
    rows=90_000,
    test_rows=90_000,
    shape=(3, 32, 32),
    scale=255.0,
    counts=(9_000,) * 10,
    note="The official training and test parts; the validation part is not used.",
)
