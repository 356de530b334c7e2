"""Sets in LIBSVM text.

The LIBSVM site publishes no checksums: these are the ones that independent public projects pin for its files. Where no
project has one the checksum is None, and rows, features and class counts are verified.
"""

from typing import Any

from fedatlas.data.catalogue import File, Form, Source

_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/"
_UCI = "CC BY 4.0 (UCI Machine Learning Repository)"
_UNSTATED = "none stated by the source"


def _libsvm(name: str, features: int, labels: tuple[int, int], file: File, **entry: Any) -> Source:
    """Return a set of two classes.

    Args:
        name: Name of the data set.
        features: Number of features of a sample.
        labels: The negative and the positive label.
        file: The file without its address.
        entry: Other fields of the Source.
    """
    official = File(file.name, (f"{_LIBSVM}binary/{file.name}",), file.bytes, file.checksum)
    page = f"{_LIBSVM}binary.html#{name.split('.')[0]}"
    defaults: dict[str, Any] = {"dtype": "float64", "sparse": True, "page": page}
    forms = (Form("libsvm", (official,), {"labels": labels}),)
    return Source(name, group="libsvm", forms=forms, classes=2, shape=(features,), **defaults | entry)


A9A = _libsvm(
    "a9a",
    123,
    (-1, 1),
    File("a9a", (), 2_329_875, "sha256:f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906"),
    title="Adult census income, binary features, training part",
    licence=_UCI,
    citation="platt1999smo",
    rows=32_561,
    counts=(24_720, 7_841),
)
W8A = _libsvm(
    "w8a",
    300,
    (-1, 1),
    File("w8a", (), 3_478_238, "sha256:6a9fa8fd5f524303240a5db07d4b3d4a51e8b7b4b20a914105d8e3e8c81640f2"),
    title="Web page categorisation, binary keyword features",
    licence=_UNSTATED,
    citation="platt1999smo",
    rows=49_749,
    counts=(48_270, 1_479),
)
MUSHROOMS = _libsvm(
    "mushrooms",
    112,
    (1, 2),
    File("mushrooms", (), 879_712, "sha256:f39a4eb628dc61a7d43760815b061c9e497aa728ce1ad8bde57a09ef6043b538"),
    title="Mushrooms, poisonous (0) or edible (1), binary features",
    licence=_UCI,
    citation="uci1981mushroom",
    rows=8_124,
    counts=(3_916, 4_208),
)
PHISHING = _libsvm(
    "phishing",
    68,
    (0, 1),
    File("phishing"),
    title="Phishing websites, rows of unit length",
    licence=_UCI,
    citation="mohammad2012phishing",
    rows=11_055,
    counts=(4_898, 6_157),
)
IJCNN1 = _libsvm(
    "ijcnn1",
    22,
    (-1, 1),
    File("ijcnn1.bz2", checksum="md5:c3e9162f8e38e0b6c0e02d313a59de2b"),
    title="IJCNN 2001 challenge, problem 1, training and validation parts",
    licence=_UNSTATED,
    citation="prokhorov2001ijcnn",
    rows=49_990,
    counts=(45_137, 4_853),
    note="With the transformation of Chang and Lin, who won the challenge.",
)
EPSILON = _libsvm(
    "epsilon",
    2_000,
    (-1, 1),
    File("epsilon_normalized.bz2", checksum="sha256:aff916d4f97f18d286558ca088d2a9f7e1fcee9376539a5aa6ef5b7ef9dfa978"),
    title="PASCAL challenge 2008, epsilon, training part, rows of unit length",
    licence=_UNSTATED,
    citation="sonnenburg2008pascal",
    rows=400_000,
    dtype="float32",
    sparse=False,
    note="About 12 GB of text: preparing it streams the compressed file into 3.2 GB of float32.",
)
