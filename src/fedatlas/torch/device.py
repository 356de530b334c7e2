"""Where networks are computed, and how precisely."""

import os

import torch
from torch import nn

from fedatlas.errors import UserError
from fedatlas.machine import free_host

DEVICES = ("cpu", "cuda", "auto")
PRECISIONS = ("float32", "tf32", "bf16")


def choose(device):
    """The torch device of ``cpu``, ``cuda`` or ``auto`` (cuda where there is one). Raises UserError."""
    if device not in DEVICES:
        raise UserError(f"network: device is {device!r}; it must be one of {', '.join(DEVICES)}")
    there = torch.cuda.is_available()
    if device == "cuda" and not there:
        raise UserError("network: device is 'cuda', but torch finds no CUDA device on this machine: use cpu or auto")
    return torch.device("cuda" if there and device != "cpu" else "cpu")


def describe(device):
    """The device that a specification's ``device`` means on this machine, by name."""
    chosen = choose(device)
    return "cpu" if chosen.type == "cpu" else torch.cuda.get_device_name(chosen)


def free(device):
    """Bytes of memory that are free on a torch device."""
    return free_host() if device.type == "cpu" else torch.cuda.mem_get_info(device)[0]


def prepare(device, precision, dtype):
    """Set torch, process-wide, to compute on a torch device with a precision. Raises UserError.

    precision: ``float32``; ``tf32``, products of float32 numbers rounded to 10 bits on the tensor cores of a GPU; or
    ``bf16``, forward and backward passes in bfloat16 with float32 parameters (autocast). dtype: name of the type of the
    parameters. On cuda, algorithms that are not deterministic are switched off where torch knows of others.
    """
    if precision not in PRECISIONS:
        raise UserError(f"network: precision is {precision!r}; it must be one of {', '.join(PRECISIONS)}")
    if precision != "float32" and dtype != "float32":
        raise UserError(f"network: precision {precision} is for parameters in float32, not {dtype}")
    if device.type != "cuda":
        if precision == "tf32":
            raise UserError("network: precision tf32 is of CUDA devices alone: use float32 or bf16")
        return
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # else cuBLAS may add up in another order
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.deterministic = True
    torch.use_deterministic_algorithms(True, warn_only=True)


class Autocast(nn.Module):
    """A module that computes in bfloat16 where torch holds that to be safe; its output has its input's type."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x):
        with torch.autocast(x.device.type, torch.bfloat16):
            z = self.module(x)
        return z.to(x.dtype)
