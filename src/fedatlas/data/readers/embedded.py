"""Data sets that scikit-learn bundles, with a fixed split."""

import numpy as np

_TEST_SHARE = 0.2


def read(paths, source, options, out) -> None:
    """The bundled set of the source's name: pixels as bytes, other features standardised by the training part."""
    from sklearn import datasets

    bundle = getattr(datasets, f"load_{source.name}")()
    X, y = bundle.data, bundle.target.astype(np.int64)
    test = stratified(y, _TEST_SHARE)
    train = np.setdiff1d(np.arange(len(y)), test)
    if source.dtype == "uint8":
        X = X.astype(np.uint8)
    else:
        X = (X - X[train].mean(axis=0)) / X[train].std(axis=0)
    for suffix, rows in (("", train), ("_test", test)):
        out.save(f"X{suffix}", X[rows].reshape(len(rows), *source.shape))
        out.save(f"y{suffix}", y[rows])


def stratified(y: np.ndarray, share: float) -> np.ndarray:
    """Increasing positions of a fixed random sample with `share` of every class, rounded."""
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(0)))
    picked = []
    for label in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == label))
        picked.append(members[: round(share * len(members))])
    return np.sort(np.concatenate(picked))
