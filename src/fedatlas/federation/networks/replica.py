"""Copies of a module whose parameters and gradients lie in two flat vectors."""

import contextlib
import copy
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from fedatlas.errors import UserError
from fedatlas.federation import compiled
from fedatlas.federation.networks.dropout import Dropout, drawing
from fedatlas.federation.networks.losses import Loss, OwnLoss
from fedatlas.federation.networks.samples import Samples


class Replica:
    """One thread's copy of a module: parameters are views into ``flat`` (d,), their gradients into ``grad`` (d,).

    Args:
        module: The module.
        shape: Shape of a sample.
        fused: Whether its passes are compiled where they can be; an own loss has none.
        drops: Whether it has dropout, of which evaluations have none.
    """

    def __init__(self, module: nn.Module, shape: Sequence[int], fused: bool = True, drops: bool = False) -> None:
        self.module, self.drops = copy_trained(module), drops
        parameters = trained_parameters(self.module)
        frozen = len(parameters) < len([*module.parameters()])
        self.flat = flatten(self.module)
        self.grad = torch.zeros_like(self.flat)
        sizes = [p.numel() for p in parameters]
        for p, value, grad in zip(parameters, self.flat.split(sizes), self.grad.split(sizes), strict=True):
            p.data, p.grad = value.view_as(p), grad.view_as(p)
        self.passes = compiled.fuse(self.module, shape) if fused and not frozen else None

    def outputs(self, x: Tensor, samples: Samples, rows: Tensor) -> Tensor:
        """Return the scores, (b, outputs), that the module with parameters x, (d,), gives to rows of samples, (b,)."""
        if self.passes is not None:
            return self.passes.scores(x, samples.source, rows)
        self.flat.copy_(x)
        with torch.no_grad(), Dropout() if self.drops else contextlib.nullcontext():
            return self.module(samples.gather(rows)[0])

    def value_and_grad(
        self, x: Tensor, batches: Iterable[tuple[Tensor, ...]], loss: Loss, n: int
    ) -> tuple[Tensor, Tensor]:
        """Return the mean loss over n samples and its gradient, (d,), by autograd; it is valid until the next call.

        Args:
            x: Parameters, (d,).
            batches: Data, (b, ...), labels, (b,), and where there is dropout its keys, (b,), with n samples in all.
            loss: Loss of the module's outputs.
            n: Number of samples.
        """
        value = self.flat.new_zeros(())
        self.flat.copy_(x)
        self.grad.zero_()
        for data, labels, *keys in batches:
            with drawing(*keys):
                batch_loss = loss.losses(self.module(data), labels).sum() / n
            batch_loss.backward()
            value = value + batch_loss.detach()
        return value, self.grad


def trained_parameters(module: nn.Module) -> list[nn.Parameter]:
    """Return the parameters of a module that are trained: all but those whose ``requires_grad`` is off."""
    return [p for p in module.parameters() if p.requires_grad]


def copy_trained(module: nn.Module) -> nn.Module:
    """Return a copy of a module that shares parameters that are not trained and buffers, which lie in memory once."""
    frozen = [p for p in module.parameters() if not p.requires_grad]
    return copy.deepcopy(module, {id(v): v for v in (*frozen, *module.buffers())})


def flatten(module: nn.Module) -> Tensor:
    """Return x, (d,), a new vector."""
    return torch.cat([v.detach().reshape(-1) for v in trained_parameters(module)])


def validate(module: nn.Module, samples: Samples, loss: Loss) -> bool:
    """Return whether a module has dropout.

    Args:
        module: The module.
        samples: Samples, of which it is given the first and the last.
        loss: Loss of the scores.

    Raises:
        UserError: The module is not a function of its parameters, its input and masks of dropout that returns scores.
    """
    for name, layer in module.named_modules():
        if _draws(layer):
            raise UserError(
                f"network: the layer {name!r} draws random numbers that no seed controls; leave it out, or set its "
                "dropout to 0 (that of nn.Dropout has the run's seed)"
            )
    if not trained_parameters(module):
        raise UserError("network: the module has no parameters that are trained (requires_grad)")
    data = samples.gather(samples.index([0]))[0]
    pair = samples.gather(samples.index([0, len(samples.y) - 1]))[0]
    before = {name: buffer.clone() for name, buffer in module.named_buffers()}
    with Dropout() as dropout:
        _scores(module, pair)
        for name, buffer in module.named_buffers():
            if name not in before or not torch.equal(buffer, before[name]):
                raise UserError(
                    f"network: the module changes its buffer {name!r}, state that no algorithm would average; use "
                    "layers without, such as GroupNorm in place of BatchNorm"
                )
        scores, scores_of_pair = _scores(module, data), _scores(module, pair)
    custom = isinstance(loss, OwnLoss)
    if not isinstance(scores, Tensor) or scores.shape[:1] != (1,) or (scores.ndim != 2 and not custom):
        returned = f"shape {tuple(scores.shape)}" if isinstance(scores, Tensor) else type(scores).__name__
        raise UserError(
            f"network: of data of shape {tuple(data.shape)} the module makes {returned}; it must return a tensor of "
            "scores, (samples, outputs)"
        )
    if custom:
        with torch.no_grad():
            loss.losses(scores, samples.y[:1])
    elif not loss.logistic and scores.shape[1] <= int(samples.y.max()):
        raise UserError(
            f"network: the module makes {scores.shape[1]} scores of a sample, and the largest label is "
            f"{int(samples.y.max())}; it must make a score for each label from 0 on"
        )
    if not torch.allclose(scores[0], scores_of_pair[0], rtol=1e-2, atol=1e-4, equal_nan=True):
        raise UserError(
            "network: the scores of a sample depend on random numbers or on the samples beside it in the minibatch; "
            "leave out such layers (BatchNorm), and take nn.Dropout for dropout"
        )
    return dropout.calls > 0


def _scores(module: nn.Module, data: Tensor) -> Any:
    """Return what a module makes of data, (b, ...). Raises UserError if it fails."""
    try:
        with torch.no_grad():
            return module(data)
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        raise UserError(f"network: the module fails on data of shape {tuple(data.shape)} ({error})") from error


def _draws(layer: nn.Module) -> bool:
    """Return whether a layer draws random numbers in training that no key replaces."""
    if isinstance(layer, (nn.AlphaDropout, nn.FeatureAlphaDropout)):
        return layer.p > 0
    if isinstance(layer, (nn.RNNBase, nn.MultiheadAttention)):
        return layer.dropout > 0
    return isinstance(layer, nn.RReLU)
