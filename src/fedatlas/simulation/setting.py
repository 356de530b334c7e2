"""The conditions of a run that are neither problem nor algorithm: clients, rounds, samples, participation."""

from dataclasses import dataclass, field

from fedatlas.errors import UserError
from fedatlas.registry import build
from fedatlas.simulation import participation, sampling, schedules


@dataclass(frozen=True)
class Setting:
    """How a federation is run.

    clients: number m of clients (workers M). local_steps: K. rounds, or steps = T = rounds x K: exactly one is given.
    batch: samples a local step, null for full local gradients. sampling: ``replacement`` or ``epochs``.
    participation, schedule: specifications with a ``kind``. eval_rounds or eval_steps: how often the output is
    evaluated; round 0 and the last always are.
    """

    clients: int
    local_steps: int = 1
    rounds: int | None = None
    steps: int | None = None
    batch: int | None = 1
    sampling: str = "replacement"
    participation: dict = field(default_factory=lambda: {"kind": "full"})
    schedule: dict = field(default_factory=lambda: {"kind": "constant"})
    eval_rounds: int | None = None
    eval_steps: int | None = None

    def __post_init__(self):
        for name in ("clients", "local_steps", "rounds", "steps", "batch", "eval_rounds", "eval_steps"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
                raise UserError(f"{name} is {value!r}; it must be a whole number, at least 1")
        if (self.rounds is None) == (self.steps is None):
            raise UserError("give either rounds or steps (T = rounds x local_steps), and only one of them")
        if self.steps is not None and self.steps < self.local_steps:
            raise UserError(f"steps = {self.steps} is less than one round of local_steps = {self.local_steps}")
        if self.eval_rounds is not None and self.eval_steps is not None:
            raise UserError("give eval_rounds or eval_steps, not both")
        self.participants.check(self.clients)
        factor = self.lr_schedule.factor(1)
        if not 0 < factor < float("inf"):
            raise UserError(f"schedule is {self.schedule!r}; its factor {factor} must be finite and larger than 0")
        if self.sampling not in sampling.KINDS:
            raise UserError(f"sampling is {self.sampling!r}; it must be one of {', '.join(sampling.KINDS)}")

    @property
    def total_rounds(self):
        return self.rounds if self.rounds is not None else self.steps // self.local_steps

    @property
    def eval_every(self):
        """Rounds between two evaluations."""
        if self.eval_steps is not None:
            return max(1, self.eval_steps // self.local_steps)
        return self.eval_rounds or max(1, self.total_rounds // 100)

    @property
    def participants(self):
        return build("participation", participation.KINDS, self.participation, default="full")

    @property
    def lr_schedule(self):
        return build("schedule", schedules.KINDS, self.schedule, default="constant")
