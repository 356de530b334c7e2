"""Devices on which networks are computed, and their precision."""

import os

import torch

from fedatlas.errors import UserError

VERSION: str = torch.__version__


def choose(device: str) -> torch.device:
    """Return the torch device of ``cpu``, ``cuda`` or ``auto`` (cuda where the machine has one).

    Raises:
        UserError: The device is cuda, and torch finds none.
    """
    available = torch.cuda.is_available()
    if device == "cuda" and not available:
        raise UserError("network: device is 'cuda', but torch finds no CUDA device on this machine: use cpu or auto")
    return torch.device("cuda" if available and device != "cpu" else "cpu")


def describe(device: str) -> str:
    """Return the name of the device that ``cpu``, ``cuda`` or ``auto`` means on this machine."""
    chosen = choose(device)
    return "cpu" if chosen.type == "cpu" else torch.cuda.get_device_name(chosen)


def prepare(device: torch.device, precision: str) -> None:
    """Set torch, process-wide, to compute on a torch device with a precision.

    On cuda, algorithms that are not deterministic are switched off where torch has others.

    Args:
        device: The device.
        precision: ``float32``; or ``tf32``, products of numbers rounded to 10 bits on a GPU's tensor cores.

    Raises:
        UserError: The precision is tf32, and the device is no cuda device.
    """
    if device.type != "cuda":
        if precision == "tf32":
            raise UserError("network: only CUDA devices have the precision tf32: use float32")
        return
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # else cuBLAS may add up in another order
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.deterministic = True
    torch.use_deterministic_algorithms(True, warn_only=True)
