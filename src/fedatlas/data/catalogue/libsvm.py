"""Sets of two classes in LIBSVM text.

The LIBSVM site publishes no checksums: these are the ones that independent public projects pin for its files. Where no
project has one the checksum is None, and rows, features and class counts are verified.
"""

from typing import Any

from fedatlas.data.catalogue import File, Form, Source

_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/"
_FILES = f"{_LIBSVM}binary/"
_PAGE = f"{_LIBSVM}binary.html"
_UCI = "CC BY 4.0 (UCI Machine Learning Repository)"
_UNSTATED = "none stated by the source"
_CHECKSUMS = {
    "a9a": "sha256:f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906",
    "w8a": "sha256:6a9fa8fd5f524303240a5db07d4b3d4a51e8b7b4b20a914105d8e3e8c81640f2",
    "mushrooms": "sha256:f39a4eb628dc61a7d43760815b061c9e497aa728ce1ad8bde57a09ef6043b538",
    "ijcnn1": "md5:c3e9162f8e38e0b6c0e02d313a59de2b",
    "epsilon": "sha256:aff916d4f97f18d286558ca088d2a9f7e1fcee9376539a5aa6ef5b7ef9dfa978",
}

_BINARY: dict[str, Any] = {"group": "libsvm", "classes": 2}
_SPARSE: dict[str, Any] = _BINARY | {"dtype": "float64", "sparse": True}

A9A = Source(
    "a9a",
    title="Adult census income, binary features, training part",
    page=f"{_PAGE}#a9a",
    licence=_UCI,
    citation="platt1999smo",
    forms=(Form("libsvm", (File("a9a", (f"{_FILES}a9a",), 2_329_875, _CHECKSUMS["a9a"]),), {"labels": (-1, 1)}),),
    rows=32_561,
    shape=(123,),
    counts=(24_720, 7_841),
    **_SPARSE,
)
W8A = Source(
    "w8a",
    title="Web page categorisation, binary keyword features",
    page=f"{_PAGE}#w8a",
    licence=_UNSTATED,
    citation="platt1999smo",
    forms=(Form("libsvm", (File("w8a", (f"{_FILES}w8a",), 3_478_238, _CHECKSUMS["w8a"]),), {"labels": (-1, 1)}),),
    rows=49_749,
    shape=(300,),
    counts=(48_270, 1_479),
    **_SPARSE,
)
MUSHROOMS = Source(
    "mushrooms",
    title="Mushrooms, poisonous (0) or edible (1), binary features",
    page=f"{_PAGE}#mushrooms",
    licence=_UCI,
    citation="uci1981mushroom",
    forms=(
        Form(
            "libsvm",
            (File("mushrooms", (f"{_FILES}mushrooms",), 879_712, _CHECKSUMS["mushrooms"]),),
            {"labels": (1, 2)},
        ),
    ),
    rows=8_124,
    shape=(112,),
    counts=(3_916, 4_208),
    **_SPARSE,
)
PHISHING = Source(
    "phishing",
    title="Phishing websites, rows of unit length",
    page=f"{_PAGE}#phishing",
    licence=_UCI,
    citation="mohammad2012phishing",
    forms=(Form("libsvm", (File("phishing", (f"{_FILES}phishing",)),), {"labels": (0, 1)}),),
    rows=11_055,
    shape=(68,),
    counts=(4_898, 6_157),
    **_SPARSE,
)
IJCNN1 = Source(
    "ijcnn1",
    title="IJCNN 2001 challenge, problem 1, training and validation parts",
    page=f"{_PAGE}#ijcnn1",
    licence=_UNSTATED,
    citation="prokhorov2001ijcnn",
    forms=(
        Form(
            "libsvm",
            (File("ijcnn1.bz2", (f"{_FILES}ijcnn1.bz2",), checksum=_CHECKSUMS["ijcnn1"]),),
            {"labels": (-1, 1)},
        ),
    ),
    rows=49_990,
    shape=(22,),
    counts=(45_137, 4_853),
    note="With the transformation of Chang and Lin, who won the challenge.",
    **_SPARSE,
)
EPSILON = Source(
    "epsilon",
    title="PASCAL challenge 2008, epsilon, training part, rows of unit length",
    page=f"{_PAGE}#epsilon",
    licence=_UNSTATED,
    citation="sonnenburg2008pascal",
    forms=(
        Form(
            "libsvm",
            (File("epsilon_normalized.bz2", (f"{_FILES}epsilon_normalized.bz2",), checksum=_CHECKSUMS["epsilon"]),),
            {"labels": (-1, 1)},
        ),
    ),
    rows=400_000,
    shape=(2_000,),
    dtype="float32",
    note="About 12 GB of text: preparing it streams the compressed file into 3.2 GB of float32.",
    **_BINARY,
)
