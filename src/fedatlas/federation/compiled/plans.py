"""The workspace of a sequential network's passes: what lies where."""

from collections.abc import Sequence

import numpy as np
from torch import Tensor, nn

from fedatlas.federation.compiled.dense import Dense
from fedatlas.federation.compiled.pooling import GROUP, LANES, PART, WIDE, Stage, padded

ROWS = 32  # that pass through a network at once, so that their numbers stay in the processor's caches
CACHE_LINE = 64  # bytes


class Plan:
    """Layout of the workspace of a network's passes.

    Args:
        module: The network.
        shape: Shape of a sample.
        convolutions: Its convolutions, each with ReLU and pooling.
        dense: Its dense layers.
        active: The numbers of those whose inputs ReLU returned.

    Attributes:
        dim: Number d of parameters.
        outputs: Scores of a sample.
        stages: Table of stages, (convolutions + 1, fields of `Stage`).
        layers: Table of dense layers and the scores, (dense layers + 1, fields of `Dense`).
        work: Numbers of the workspace.
        reach: Numbers of the parameters that are read, which may be more than d.
        numbers: The whole numbers beside them: room, and the first pixels of pooling windows.
    """

    def __init__(
        self,
        module: nn.Module,
        shape: Sequence[int],
        convolutions: list[nn.Conv2d],
        dense: list[nn.Linear],
        active: set[int],
    ) -> None:
        self._positions: dict[Tensor, int] = {}
        self.dim, self.outputs = 0, dense[-1].out_features
        for parameter in module.parameters():
            self._positions[parameter] = self.dim
            self.dim += parameter.numel()
        stages = _stages(shape, convolutions)
        # both kinds of numbers begin with room that functions of ``pooling`` use for themselves
        self.work = room = max([0, *map(_room, stages, stages[1:])])
        stages = [self._place(stage, convolutions[i : i + 1]) for i, stage in enumerate(stages)]
        numbers = [np.zeros(room, np.int64)]
        for i, stage in enumerate(stages):
            stages[i] = stage._replace(PLACES=sum(map(len, numbers)))
            numbers.append(_pixels(stage, stages[i + 1]) if i < len(convolutions) else _features(stage))
        self.stages, self.numbers = np.array(stages), np.concatenate(numbers)
        # one channel of whole vectors lies as the first dense layer reads it
        images = stages[-1].IMAGES if stages[-1].CHANNELS == 1 and dense[0].in_features % LANES == 0 else None
        layers = [
            self._layer(layer.in_features, i in active, layer, None if i else images) for i, layer in enumerate(dense)
        ]
        self.layers = np.array([*layers, self._layer(self.outputs)])
        ends = [self._positions[layer.weight] + layer.weight.numel() - layer.in_features for layer in dense]
        self.reach = max(end + row.WIDTH for end, row in zip(ends, layers, strict=True))

    def _take(self, count: int) -> int:
        """Return the position of so many numbers of the workspace, at the start of a cache line."""
        start = padded(self.work, WIDE)
        self.work = start + count
        return start

    def workspace(self, real: np.dtype) -> np.ndarray:
        """Return a workspace of a type whose first number starts a cache line."""
        numbers = np.zeros(self.work + CACHE_LINE // real.itemsize, real)
        start = -numbers.ctypes.data % CACHE_LINE // real.itemsize
        return numbers[start : start + self.work]

    def _place(self, stage: Stage, convolution: list[nn.Conv2d]) -> Stage:
        """Return a stage with the positions of its arrays, and of those of the convolution that reads it, if any."""
        k, length = stage.KERNEL, padded((stage.KERNEL + 1) * stage.CHANNELS, GROUP * LANES)
        row = stage.WIDTH * stage.CHANNELS
        size = ROWS * stage.HEIGHT * row + row + length + WIDE  # vectors reach behind the last pixel
        stage = stage._replace(IMAGES=self._take(size), GRADIENT=self._take(size))
        if not convolution:
            return stage
        weight, bias = convolution[0].parameters()
        wide = padded(len(weight), LANES if len(weight) <= LANES else WIDE)
        return stage._replace(
            WEIGHT=self._positions[weight],
            BIAS=self._positions[bias],
            WIDE=wide,
            CHOSEN=self._take(ROWS * stage.WINDOWS * wide),
            FILTERS=self._take((k * k * stage.CHANNELS + 2) * wide),
            PATCHES=self._take(2 * len(weight) * (k + 3) * length),
        )

    def _layer(
        self, inputs: int, active: bool = False, layer: nn.Linear | None = None, rows: int | None = None
    ) -> Dense:
        """Return a row of the table of dense layers; the scores have no layer. rows: Position of the inputs, if any."""
        bias = None if layer is None else layer.bias
        width = padded(inputs)
        return Dense(
            INPUTS=inputs,
            WIDTH=width,
            ROWS=self._take(ROWS * width) if rows is None else rows,
            COLUMNS=self._take(width * ROWS),
            GRADIENT=self._take(ROWS * width),
            RELU=active,
            WEIGHT=0 if layer is None else self._positions[layer.weight],
            BIAS=-1 if bias is None else self._positions[bias],
        )


def _stages(shape: Sequence[int], convolutions: list[nn.Conv2d]) -> list[Stage]:
    """Return the sizes of each stage."""
    channels, height, width = shape if len(shape) == 3 else (1, 1, shape[0])
    stages = []
    for convolution in convolutions:
        k, padding = convolution.kernel_size[0], int(convolution.padding[0])
        above, beside = height + 2 * padding, width + 2 * padding
        height, width = (above - k + 1) // 2, (beside - k + 1) // 2
        stages.append(Stage(above, beside, channels, padding, KERNEL=k, WINDOWS=height * width))
        channels = convolution.out_channels
    return [*stages, Stage(height, width, channels, PADDING=0)]


def _room(source: Stage, target: Stage) -> int:
    """Return the numbers that functions of ``pooling`` need for themselves, of either kind."""
    patch = padded(source.KERNEL * padded(source.KERNEL * source.CHANNELS), GROUP * LANES)
    part = max(1, PART // (source.HEIGHT * source.WIDTH * source.CHANNELS)) * source.WINDOWS
    return 5 + patch + target.CHANNELS * (patch + LANES) + part + LANES


def _pixels(source: Stage, target: Stage) -> np.ndarray:
    """Return where each pooling window's first pixel and its pixel of the target lie, (windows, 2), flat."""
    height, width = target.HEIGHT - 2 * target.PADDING, target.WIDTH - 2 * target.PADDING
    r, i, j = (grid.ravel() for grid in np.indices((ROWS, height, width)))
    first = source.IMAGES + ((r * source.HEIGHT + 2 * i) * source.WIDTH + 2 * j) * source.CHANNELS
    pixel = (r * target.HEIGHT + target.PADDING + i) * target.WIDTH + target.PADDING + j
    return np.stack([first, target.IMAGES + pixel * target.CHANNELS], axis=1).ravel()


def _features(stage: Stage) -> np.ndarray:
    """Return the distance of the features of an image, channel by channel, from its first."""
    return np.arange(stage.HEIGHT * stage.WIDTH * stage.CHANNELS).reshape(-1, stage.CHANNELS).T.ravel()
