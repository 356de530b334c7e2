"""Convolutional networks, augmentation, device and precision."""

import numpy as np
import pytest
import torch

from fedatlas.errors import UserError
from fedatlas.federation.architectures import ARCHITECTURES
from fedatlas.federation.networks import device
from fedatlas.federation.networks.batch import augment
from fedatlas.federation.problems.network import Augmentation
from tests.helpers import network


@pytest.mark.parametrize("stem, side", [(7, 112 // 2), (3, 224)])
def test_resnet_halves_its_images_as_the_papers_table_says(stem, side):
    shapes = []
    with torch.device("meta"):
        module = ARCHITECTURES.build({"kind": "resnet18", "stem": stem}).build((3, 224, 224), 10)
    for layer in module:
        layer.register_forward_hook(lambda _, __, out: shapes.append(tuple(out.shape[1:])))
    module(torch.zeros(1, 3, 224, 224, device="meta"))
    blocks = [shape for shape in shapes if len(shape) == 3][-9:-1]
    assert blocks == [(w, side // h, side // h) for w, h in ((64, 1), (128, 2), (256, 4), (512, 8)) for _ in range(2)]


@pytest.mark.parametrize("spec", ["cnn", {"kind": "resnet18", "stem": 3}])
def test_gradients_of_small_images(spec):
    problem = network(spec, dtype="float64")
    x = problem.start(0)
    batch = problem.batch([0], np.arange(6)[None])
    grad = batch.grad(x)[0]
    direction = torch.from_numpy(np.random.default_rng(0).standard_normal(problem.dim))
    h = 1e-6 * direction / direction.norm()
    ahead, behind = (float(batch.value_and_grad(x + sign * h)[0]) for sign in (1, -1))
    assert ahead - behind == pytest.approx(2 * float(grad @ h), rel=1e-3, abs=1e-10)


@pytest.mark.parametrize(
    "spec, shape, message",
    [
        ({"kind": "resnet18", "stem": 5}, (3, 8, 8), "stem is 5"),
        ({"kind": "resnet18", "groups": 3}, (3, 8, 8), "groups is 3"),
        ("resnet18", (30,), "needs images"),
        ({"kind": "cnn", "hidden": 0}, (3, 8, 8), "hidden is 0"),
        ({"kind": "cnn", "convolutions": 4}, (1, 8, 8), "at least 16x16"),
    ],
)
def test_refused(spec, shape, message):
    with pytest.raises(UserError, match=message):
        ARCHITECTURES.build(spec).build(shape, 10)


# --- augmentation ---


def test_every_variant_is_a_window_of_the_padded_image_or_its_mirror():
    options, rng = Augmentation(crop=2, flip=True), np.random.default_rng(0)
    image = rng.standard_normal((3, 5, 6))
    padded = np.pad(image, ((0, 0), (2, 2), (2, 2)))
    windows = [padded[:, i : i + 5, j : j + 6] for i in range(5) for j in range(5)]
    expected = {w.tobytes() for w in windows} | {w[:, :, ::-1].tobytes() for w in windows}
    variant = torch.arange(options.variants)
    images = (
        augment(torch.from_numpy(image).expand(len(variant), -1, -1, -1), variant, options.crop).contiguous().numpy()
    )
    assert options.variants == 50 and {item.tobytes() for item in images} == expected
    assert (images[0] == image).all()


# --- device and precision ---


@pytest.mark.parametrize(
    "options, message",
    [
        ({"device": "cuda"}, "no CUDA device.*use cpu or auto"),
        ({"device": "gpu"}, "device is 'gpu'; it must be one of 'cpu', 'cuda', 'auto'"),
        ({"precision": "half"}, "precision is 'half'"),
        ({"precision": "tf32", "dtype": "float32"}, "only CUDA devices have"),
    ],
)
def test_devices_that_are_not_there(options, message, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(UserError, match=message):
        network("cnn", **options)


def test_cuda_is_set_to_be_deterministic_and_precise(monkeypatch):
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":16:8")
    flags = torch.backends.cudnn
    before = flags.allow_tf32, flags.benchmark, flags.deterministic, torch.backends.cuda.matmul.allow_tf32
    try:
        for precision in ("tf32", "float32"):
            device.prepare(torch.device("cuda"), precision)
            assert flags.allow_tf32 == torch.backends.cuda.matmul.allow_tf32 == (precision == "tf32")
            assert flags.deterministic and not flags.benchmark and torch.are_deterministic_algorithms_enabled()
    finally:
        flags.allow_tf32, flags.benchmark, flags.deterministic, torch.backends.cuda.matmul.allow_tf32 = before
        torch.use_deterministic_algorithms(False)
