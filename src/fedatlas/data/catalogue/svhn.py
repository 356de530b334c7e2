"""SVHN: house numbers."""

from fedatlas.data.catalogue.base import File, Form, Source

SVHN = Source(
    "svhn",
    title="Street view house numbers, cropped digits, 32 x 32 colour",
    group="svhn",
    page="http://ufldl.stanford.edu/housenumbers/",
    licence="non-commercial use only",
    citation="netzer2011reading",
    forms=(
        Form(
            "mat",
            (
                File(
                    "train_32x32.mat",
                    ("http://ufldl.stanford.edu/housenumbers/train_32x32.mat",),
                    182_040_794,
                    "md5:e26dedcc434d2e4c54c9b2d4a06d8373",
                ),
                File(
                    "test_32x32.mat",
                    ("http://ufldl.stanford.edu/housenumbers/test_32x32.mat",),
                    64_275_384,
                    "md5:eb5a983be6a315427106f1b164d9cef3",
                ),
            ),
        ),
    ),
    classes=10,
    rows=73_257,
    test_rows=26_032,
    shape=(3, 32, 32),
    scale=255.0,
    note="The digit 0, published as label 10, is class 0; the 'extra' images are not used.",
)
