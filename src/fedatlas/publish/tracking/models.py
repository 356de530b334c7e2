"""Final vectors of runs as files that people can load."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import numpy as np

from fedatlas.experiments.cells import Run
from fedatlas.publish.tracking.extras import Extra

ARRAY = """\
\"\"\"The final vector of the run: the output of {algorithm} that is evaluated.\"\"\"

import numpy as np

x = np.load("x.npy")
print(x.shape, x.dtype)
"""
NETWORK = """\
\"\"\"The network of the run, with the parameters that {algorithm} ended with.\"\"\"

import torch

from fedatlas.federation.architectures import ARCHITECTURES

module = ARCHITECTURES.build({architecture!r}, "mlp").build({shape!r}, {outputs!r})
module.load_state_dict(torch.load("state_dict.pt", weights_only=True))
print(module)
"""


def files(run: Run, extra: Extra, data: Mapping[str, Mapping[str, Any]]) -> dict[str, bytes]:
    """The files of a run's model by place: a NumPy array or a torch state dict, and a script that loads it.

    extra: what was kept of the run. data: provenance of its data sets by name. Empty where no vector was kept.
    """
    if extra.x is None:
        return {}
    buffer = io.BytesIO()
    about = data.get(str(run.problem.get("data")))
    if extra.layout is None or about is None:
        np.save(buffer, extra.x)
        return {"model/x.npy": buffer.getvalue(), "model/load.py": ARRAY.format(algorithm=run.algorithm).encode()}
    import torch

    sizes = [int(np.prod(shape)) for shape in extra.layout.values()]
    parts = np.split(extra.x, np.cumsum(sizes)[:-1])
    state = {
        name: torch.from_numpy(part.reshape(shape).copy())
        for (name, shape), part in zip(extra.layout.items(), parts, strict=True)
    }
    if all(name.startswith("module.") for name in state):  # within what computes in bfloat16
        state = {name.removeprefix("module."): value for name, value in state.items()}
    torch.save(state, buffer)
    script = NETWORK.format(
        algorithm=run.algorithm,
        architecture=run.problem.get("architecture", "mlp"),
        shape=tuple(about["shape"]),
        outputs=1 if run.problem.get("loss") == "logistic" else about["classes"],
    )
    return {"model/state_dict.pt": buffer.getvalue(), "model/load.py": script.encode()}
