"""Tiny-ImageNet: two hundred classes of ImageNet."""

from fedatlas.data.catalogue.base import File, Form, Source

TINY_IMAGENET = Source(
    "tiny-imagenet",
    title="Two hundred classes of ImageNet, 64 x 64 colour",
    group="tiny-imagenet",
    page="http://cs231n.stanford.edu/",
    licence="none stated by the source; ImageNet's terms allow non-commercial research",
    citation="le2015tiny",
    forms=(
        Form(
            "folders",
            (
                File(
                    "tiny-imagenet-200.zip",
                    ("http://cs231n.stanford.edu/tiny-imagenet-200.zip",),
                    248_100_043,
                    "md5:90528d7ca1a48142e341f4ef8d21d0de",
                ),
            ),
            {
                "train": r"train/(n\d+)/images/[^/]+\.JPEG",
                "test": r"val/images/([^/]+\.JPEG)",
                "annotations": r"val/val_annotations\.txt",
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
