"""FedSpeed with the quantities of its analysis (Sun et al. 2023, arXiv:2302.10429, Section 4 and Appendix C)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fedatlas.errors import Undefined, UserError
from fedatlas.federation.algorithms.fedspeed import FedSpeed
from fedatlas.federation.arrays import Array, State, dot, maximum, norm
from fedatlas.federation.channels import Note
from fedatlas.federation.engine.steps import Gradient, Round, Steps

if TYPE_CHECKING:
    from fedatlas.federation.engine.setting import Setting
    from fedatlas.federation.problems.base import Oracles


@dataclass(frozen=True, kw_only=True)
class FedSpeedAnalysis(FedSpeed):
    """FedSpeed, z (Sun et al. 2023, Section 4) is FedSpeed evaluated at the auxiliary sequence z of its analysis.

        r = lr / lam,   gamma_k = r (1 - r)^(K-1-k),   gamma = sum_k gamma_k = 1 - (1 - r)^K
        G = sum_k gamma_k / gamma g~_k          of each client, with the quasi-gradients g~_k of Algorithm 1, line 10
        u+ = mean_S(y_K)                        u = x0 at first
        z+ = u+ + (1 - gamma) / gamma (u+ - u)

    The paper's mean is over all clients; under partial participation it is over the active ones. x is FedSpeed's.

    It records the quantities of the theory. ``equation_2`` to ``equation_5`` are the relative errors of the paper's
    equations, the largest so far: the difference of both sides over the norm of the right one. The left side is
    y_K - x in (2), c+ in (3), u+ - u in (4) and z+ - z in (5).

    The paper's K is that of all clients: under ``local_epochs`` they must have equally many rows.

    The errors of (4) and (5) reach clients one round later. ``correction`` is |c+|^2, ``mean_correction`` the square
    of the norm of the mean of c under full participation.
    """

    name = "fedspeed-z"
    label = "FedSpeed, z"
    records = ("equation_2", "equation_3", "equation_4", "equation_5", "correction", "mean_correction")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.correction:
            raise UserError(f"{self.title()}: the analysis is of FedSpeed with its correction")
        if self.clip is not None or self.decoupled:
            raise UserError(f"{self.title()}: the analysis is of FedSpeed without clip and decoupled weight decay")

    def validate(self, setting: "Setting", problem: "Oracles") -> None:
        super().validate(setting, problem)
        partition = getattr(problem, "partition", None)
        if setting.local_epochs is not None and partition is not None and partition.sizes.min() < partition.sizes.max():
            raise Undefined(
                f"{self.title()}: the analysis is of clients that take equally many steps, and passes over different "
                "numbers of rows are different numbers of steps: give local_steps, not local_epochs"
            )

    def init(self, x0: Array) -> tuple[State, State]:
        s, i = super().init(x0)
        return s.replace(u=x0, z=x0, error4=norm(x0) * 0, error5=norm(x0) * 0), i.replace(error2=0.0, error3=0.0)

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        gradients: Any = [RecordedGradient(g) for g in steps]
        message, state = super().client(s, i, gradients)
        y = message.x + self.lam * state.c if self.mean == "active" else message.x
        weights, gamma = self.weights(len(gradients))
        G = sum(w / gamma * self.combined(g.values) for w, g in zip(weights, gradients, strict=True))
        error2 = maximum(i.error2, relative_error(y - s.x, -self.lam * gamma * (G - i.c)))
        error3 = maximum(i.error3, relative_error(state.c, (1 - gamma) * i.c + gamma * G))
        u_x = (s.u - s.x) / self.lam
        steps.record(equation_2=error2, equation_3=error3, equation_4=s.error4, equation_5=s.error5)
        steps.record(correction=dot(state.c, state.c), mean_correction=dot(u_x, u_x))
        return message.replace(u=Note(y), G=Note(G), c=Note(i.c)), state.replace(error2=error2, error3=error3)

    def server(self, s: State, mean: State, n: Round) -> State:
        _, gamma = self.weights(n.steps)
        u = mean.u
        z = u + (1 - gamma) / gamma * (u - s.u)
        error4 = relative_error(u - s.u, -self.lam * (gamma * mean.G + (1 - gamma) * mean.c))
        error5 = relative_error(z - s.z, -self.lam * mean.G)
        errors = {"error4": maximum(s.error4, error4), "error5": maximum(s.error5, error5)}
        return super().server(s, mean, n).replace(u=u, z=z, **errors)

    def output(self, s: State) -> Array:
        return s.z

    def weights(self, K: float) -> tuple[list[float], float]:
        """Return gamma_0, ..., gamma_{K-1} and gamma of a round of K local steps."""
        r = self.lr / self.lam
        return [r * (1 - r) ** (K - 1 - k) for k in range(int(K))], 1 - (1 - r) ** K

    def combined(self, gradients: list[Array]) -> Array:
        """Return the quasi-gradient of one local step from its gradients, g1 and, with ``perturbation``, g2."""
        if not self.perturbation:
            return gradients[0]
        return (1 - self.alpha) * gradients[0] + self.alpha * gradients[1]


class RecordedGradient:
    """The gradient of one local step with a record of its values."""

    def __init__(self, gradient: Gradient) -> None:
        self.gradient = gradient
        self.values: list[Array] = []

    def __call__(self, y: Array) -> Array:
        self.values.append(self.gradient(y))
        return self.values[-1]


def relative_error(left: Array, right: Array) -> Array:
    """Return |left - right| / |right| of each row: (m, 1)."""
    length = norm(right)
    return norm(left - right) / (length + (length == 0))
