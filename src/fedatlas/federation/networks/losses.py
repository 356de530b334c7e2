"""The losses of networks."""

from collections.abc import Callable

from torch import Tensor
from torch.nn import functional as F

from fedatlas.errors import UserError


class CrossEntropy:
    """Softmax cross-entropy of class scores z (b, classes)."""

    logistic = False

    @staticmethod
    def losses(z: Tensor, y: Tensor) -> Tensor:
        """Return the loss of each sample, (b,), from its scores z and its label y, (b,)."""
        return F.cross_entropy(z, y, reduction="none")

    @staticmethod
    def correct(z: Tensor, y: Tensor) -> Tensor:
        """Return whether the largest score is that of the label, (b,)."""
        return z.argmax(dim=1) == y


class LogisticLoss:
    """log(1 + exp(-z)) for label 1 and log(1 + exp(z)) for label 0, of one score z (b, 1)."""

    logistic = True

    @staticmethod
    def losses(z: Tensor, y: Tensor) -> Tensor:
        """Return the loss of each sample, (b,), from its scores z and its label y, (b,)."""
        return -F.logsigmoid((2 * y - 1) * z[:, 0])  # not softplus, which is off by 2e-9 above 20

    @staticmethod
    def correct(z: Tensor, y: Tensor) -> Tensor:
        """Return whether the sign of the score is that of the label, (b,)."""
        return (z[:, 0] > 0) == (y > 0)


class OwnLoss:
    """A function of scores (b, ...) and labels (b, ...) that returns the loss of each sample, (b,).

    Labels are what the function takes them for, so there is no accuracy.
    """

    logistic = False

    def __init__(self, function: Callable[[Tensor, Tensor], Tensor]) -> None:
        self.function = function

    def losses(self, z: Tensor, y: Tensor) -> Tensor:
        """Return the loss of each sample, (b,). Raises UserError if the function returns anything else."""
        losses: object = self.function(z, y)
        if not isinstance(losses, Tensor) or losses.shape != y.shape[:1]:
            returned = f"shape {tuple(losses.shape)}" if isinstance(losses, Tensor) else type(losses).__name__
            raise UserError(
                f"network: of scores of shape {tuple(z.shape)} and labels of shape {tuple(y.shape)} loss returned "
                f"{returned}; it must return the loss of each sample, a tensor ({len(y)},)"
            )
        return losses

    @staticmethod
    def correct(z: Tensor, y: Tensor) -> Tensor:
        """Return NaN for each sample, (b,)."""
        return z.new_full((len(z),), float("nan"))


Loss = type[CrossEntropy] | type[LogisticLoss] | OwnLoss
LOSSES: dict[str, type[CrossEntropy] | type[LogisticLoss]] = {"cross-entropy": CrossEntropy, "logistic": LogisticLoss}
