"""Sets that come with scikit-learn and need no download."""

from fedatlas.data.catalogue import Form, Source

_UCI = "CC BY 4.0 (UCI Machine Learning Repository)"

DIGITS = Source(
    "digits",
    title="Handwritten digits, 8 x 8 grey, bundled with scikit-learn",
    group="embedded",
    page="https://scikit-learn.org/stable/modules/generated/sklearn.datasets.load_digits.html",
    licence=_UCI,
    citation="alpaydin1998digits",
    forms=(Form("embedded", options={"bundle": "digits"}),),
    classes=10,
    rows=1_438,
    test_rows=359,
    shape=(1, 8, 8),
    scale=16.0,
    note="Pixels are 0..16. A fixed stratified split, 80 % training and 20 % test.",
)
BREAST_CANCER = Source(
    "breast_cancer",
    title="Breast cancer Wisconsin (diagnostic), malignant (0) or benign (1), bundled with scikit-learn",
    group="embedded",
    page="https://scikit-learn.org/stable/modules/generated/sklearn.datasets.load_breast_cancer.html",
    licence=_UCI,
    citation="street1993nuclear",
    forms=(Form("embedded", options={"bundle": "breast_cancer"}),),
    classes=2,
    rows=456,
    test_rows=113,
    shape=(30,),
    dtype="float64",
    note="Features have zero mean and unit variance over the training part. "
    "A fixed stratified split, 80 % training and 20 % test.",
)
