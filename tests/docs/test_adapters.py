"""The page that fine-tunes a transformer with low-rank adapters does what it says."""

from pathlib import Path

import pytest

from tests.docs.blocks import blocks


def test_only_adapters_are_trained_and_counted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = {}
    for block in blocks(Path("docs/how-to/adapters.md")):
        exec(block.text.replace("rounds=20", "rounds=5").replace("local_steps=20", "local_steps=5"), page)
    whole, tuned, frame = page["whole"], page["tuned"], page["frame"]
    layers = tuned.module.up.layer, tuned.module.scores.layer
    assert tuned.dim == sum(2 * (layer.in_features + layer.out_features) for layer in layers) < whole.dim / 20
    assert frame["bits_up"].iloc[-1] == 5 * 32 * tuned.dim
    losses = frame["loss"].to_numpy()
    assert losses[-1] < losses[0]
    unadapted = tuned.start(0), page["pretrained"].attrs["x"]
    first = [
        problem.row_scores(problem.train.tensor(x), "train", range(20))[0]
        for problem, x in zip((tuned, whole), unadapted, strict=True)
    ]
    assert first[0] == pytest.approx(first[1], rel=1e-6)
