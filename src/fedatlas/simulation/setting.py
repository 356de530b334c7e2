"""The conditions of a run that are neither problem nor algorithm: clients, rounds, samples, participation."""

from dataclasses import dataclass, field

from fedatlas.errors import UserError
from fedatlas.participation import kinds_ as participation
from fedatlas.registry import build
from fedatlas.schedules import kinds_ as schedules
from fedatlas.simulation import sampling
from fedatlas.simulation.tables import PLACES

COUNTS = ("clients", "local_steps", "local_epochs", "rounds", "steps", "epochs", "batch", "eval_rounds", "eval_steps")


@dataclass(frozen=True)
class Setting:
    """How a federation is run.

    clients: number m of clients (workers M). local_steps: K, 1 by default; or local_epochs: E, passes over the client's
    n_i rows, which are E ceil(n_i / batch) steps, the last of a pass on what is left of it. rounds, or steps = T =
    rounds x K, or epochs = rounds x E: exactly one is given. batch: samples a local step, null for full gradients.
    sampling: of local_steps, ``replacement`` or ``epochs``. state: where client states lie, ``memory`` or ``disk``.
    participation, schedule: specifications with a ``kind``. eval_rounds or eval_steps: how often the output is
    evaluated; round 0 and the last always are. record: names of what algorithms note of local steps, such as
    ``step_size``; kept for the last round before each evaluation.
    """

    clients: int
    local_steps: int | None = None
    local_epochs: int | None = None
    rounds: int | None = None
    steps: int | None = None
    epochs: int | None = None
    batch: int | None = 1
    sampling: str = "replacement"
    participation: dict = field(default_factory=lambda: {"kind": "full"})
    schedule: dict = field(default_factory=lambda: {"kind": "constant"})
    eval_rounds: int | None = None
    eval_steps: int | None = None
    record: list | None = None
    state: str = "memory"

    def __post_init__(self):
        if self.local_epochs is None and self.local_steps is None:
            object.__setattr__(self, "local_steps", 1)
        for name in (
            "clients",
            "local_steps",
            "local_epochs",
            "rounds",
            "steps",
            "epochs",
            "batch",
            "eval_rounds",
            "eval_steps",
        ):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
                raise UserError(f"{name} is {value!r}; it must be a whole number, at least 1")
        if self.local_epochs is not None and self.local_steps is not None:
            raise UserError("give local_steps or local_epochs, not both")
        name, other = ("steps", "epochs") if self.local_epochs is None else ("epochs", "steps")
        if getattr(self, other) is not None or (self.local_epochs is not None and self.eval_steps is not None):
            raise UserError("steps and eval_steps count local_steps, epochs count local_epochs")
        total, local = getattr(self, name), getattr(self, f"local_{name}")
        if (self.rounds is None) == (total is None):
            raise UserError(f"give either rounds or {name} (T = rounds x local_{name}), and only one of them")
        if total is not None and total < local:
            raise UserError(f"{name} = {total} is less than one round of local_{name} = {local}")
        if self.eval_rounds is not None and self.eval_steps is not None:
            raise UserError("give eval_rounds or eval_steps, not both")
        names = [] if self.record is None else self.record
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise UserError(f"record is {self.record!r}; it must be a list of names, such as [step_size]")
        self.participants.check(self.clients)
        factor = self.lr_schedule.factor(1)
        if not 0 < factor < float("inf"):
            raise UserError(f"schedule is {self.schedule!r}; its factor {factor} must be finite and larger than 0")
        for name, known in (("sampling", sampling.KINDS), ("state", PLACES)):
            if getattr(self, name) not in known:
                raise UserError(f"{name} is {getattr(self, name)!r}; it must be one of {', '.join(known)}")

    @property
    def total_rounds(self):
        if self.rounds is not None:
            return self.rounds
        return self.steps // self.local_steps if self.steps is not None else self.epochs // self.local_epochs

    @property
    def eval_every(self):
        """Rounds between two evaluations."""
        if self.eval_steps is not None:
            return max(1, self.eval_steps // self.local_steps)
        return self.eval_rounds or max(1, self.total_rounds // 100)

    def evaluated(self, round):
        """Whether the output is evaluated after so many rounds."""
        return round % self.eval_every == 0 or round == self.total_rounds

    @property
    def participants(self):
        return build("participation", participation.KINDS, self.participation, default="full")

    @property
    def full_participation(self):
        """Whether every client takes part in every round."""
        return self.participants == participation.Full()

    @property
    def constant_lr(self):
        """Whether all rounds have one step size."""
        return self.lr_schedule == schedules.Constant()

    @property
    def lr_schedule(self):
        return build("schedule", schedules.KINDS, self.schedule, default="constant")
