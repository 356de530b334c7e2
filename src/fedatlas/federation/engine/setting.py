"""The setting of a run: clients, rounds, samples, participation and all else besides problem and algorithm."""

import bisect
import functools
import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fedatlas.errors import UserError, did_you_mean
from fedatlas.federation.channels import IDENTITY, Channel, directions
from fedatlas.federation.engine.drivers import DRIVERS, Driver
from fedatlas.federation.engine.history import LOCAL_LOSS, PARTS
from fedatlas.federation.metrics import METRICS, ClientMetric, RoundMetric, client_metric, metric, round_metric
from fedatlas.federation.participation import PARTICIPATION, Participation
from fedatlas.federation.sampling import SAMPLING, Sampling
from fedatlas.federation.schedules import SCHEDULES, Schedule
from fedatlas.registry.options import option, validate

EPOCHS = ("reshuffling", "replacement")  # samplings beside local_epochs: what these are, and the default of an option


@dataclass(frozen=True, kw_only=True)
class Setting:
    """The setting of a run. One round has K local steps or E local epochs of each active client.

    Raises UserError where options contradict each other.
    """

    clients: int = option(doc="number m of clients (workers M)", unit="clients", low=1)
    local_steps: int | None = option(None, doc="K; 1 where local_epochs is not given either", unit="steps", low=1)
    local_epochs: int | None = option(
        None,
        doc="E, instead of local_steps: passes over the n_i rows of client i, which are E ceil(n_i / batch) steps; the "
        "last step of a pass is on the rows that are left",
        unit="epochs",
        low=1,
    )
    rounds: int | None = option(None, doc="rounds R of communication", unit="rounds", low=1)
    steps: int | None = option(None, doc="T = R K, instead of rounds", unit="local steps", low=1)
    epochs: int | None = option(None, doc="R E, instead of rounds", unit="local epochs", low=1)
    batch: int | None = option(
        1, doc="samples of a local step's minibatch; null for full local gradients", unit="samples", low=1
    )
    sampling: str | dict[str, Any] = option(
        "replacement",
        doc="how minibatches of local_steps are drawn, such as `replacement` (independently, with replacement), "
        "`reshuffling` (passes over the client's data in an order that is drawn for each pass) or `legacy` (start and "
        "samples of the FedAc authors' code, to replay published runs)",
        family="sampling",
    )
    full_gradients: Literal["exact", "minibatch"] = option(
        "exact",
        doc="what a client computes where an algorithm asks for its full gradient: `exact`, the gradient over all of "
        "its data; or `minibatch`, the mean of the round's minibatch gradients, so that all algorithms have noise. "
        "Where batch is null, these are the same",
    )
    participation: str | dict[str, Any] = option(
        lambda: {"kind": "full"}, doc="rule that says which clients take part in a round", family="participation"
    )
    driver: str | dict[str, Any] = option(
        "synchronous",
        doc="rule that says when clients compute and the server steps: `synchronous` rounds, or `asynchronous`",
        family="driver",
    )
    schedule: str | dict[str, Any] = option(
        lambda: {"kind": "constant"}, doc="factor on the algorithm's lr in each round", family="schedule"
    )
    channel: str | dict[str, Any] = option(
        lambda: {"kind": "identity"},
        doc="what a client's message passes before the server takes the mean: a kind, or a mapping with a kind and its "
        "options; with `up` and `down`, a channel for each direction. Where an algorithm codes its messages itself, "
        "they pass as they are",
    )
    clip: float | None = option(
        None, doc="largest norm of a minibatch gradient, as of torch's clip_grad_norm_; no bound by default", above=0
    )
    eval_rounds: int | None = option(
        None,
        doc="rounds between two evaluations of the output; by default a hundredth of all rounds. The output is "
        "evaluated before the first and after the last round in any case",
        unit="rounds",
        low=1,
    )
    eval_steps: int | None = option(None, doc="the same in local steps, instead of eval_rounds", unit="steps", low=1)
    eval_points: int | None = option(
        None,
        doc="instead of eval_rounds, for long runs: the output is evaluated before the first round and after about so "
        "many rounds in equal ratios, which end with the last one, and after those that are powers of 2",
        low=1,
    )
    metrics: list[str] | None = option(
        None,
        doc="metrics that are evaluated besides the problem's own; NAME_clients_STATISTIC is a statistic (mean, min, "
        "max, sd, or a quantile such as q10) over all clients of the metric NAME of each client's model on its own "
        "rows, such as test_accuracy_clients_min; NAME_rounds_STATISTIC is a statistic (mean, mean_square, min or max) "
        "over all rounds so far, from round 0 on, of NAME, another metric or a column of `record`, which is then "
        "computed in every round, such as gradient_norm_rounds_mean_square",
    )
    record: list[str] | None = option(
        None,
        doc="names of what algorithms record of local steps, such as [step_size], and local_loss, the minibatch's loss "
        "before a step, of all that compute it; kept for the last round before each evaluation",
    )
    state: Literal["memory", "disk"] = option("memory", doc="where client states are kept")

    def __post_init__(self) -> None:
        validate("setting", self)
        if self.local_epochs is None and self.local_steps is None:
            object.__setattr__(self, "local_steps", 1)
        self._validate_lengths()
        self.participation_kind.validate_clients(self.clients)
        sampling = SAMPLING.build(self.sampling)
        if self.local_epochs is not None and sampling.name not in EPOCHS:
            raise UserError(f"sampling is {sampling.name}, but local_epochs are reshuffled passes: leave sampling out")
        if self.channels[1].error_feedback:
            raise UserError("error_feedback is for the channel up: leave it out of the channel down")
        self.driver_kind.validate_setting(self)
        self.last_factor()

    def _validate_lengths(self) -> None:
        """Raise UserError unless the length of the run and that of its rounds each have one value."""
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
        if sum(value is not None for value in (self.eval_rounds, self.eval_steps, self.eval_points)) > 1:
            raise UserError("give one of eval_rounds, eval_steps and eval_points")

    def last_factor(self) -> float:
        """Return the factor on lr in the last round. Raises UserError if it is not finite or 0."""
        try:
            factor = float(self.lr_schedule.factor(max(1, self.total_rounds - 1)))
        except OverflowError:
            factor = math.inf
        if not 0 < factor < math.inf:
            raise UserError(
                f"schedule is {self.schedule!r}; its factor in the last round is {factor}, and must be finite and "
                "larger than 0"
            )
        return factor

    @property
    def total_rounds(self) -> int:
        """Rounds of the run."""
        return self.rounds or (self.steps or self.epochs or 0) // self._local

    @property
    def records_losses(self) -> bool:
        """True if the minibatches' losses are recorded."""
        return LOCAL_LOSS in (self.record or ())

    @functools.cached_property
    def eval_grid(self) -> list[int]:
        """Rounds after which the output is evaluated, in order, with 0 for that before the first one."""
        R = self.total_rounds
        if self.eval_points is not None:
            points = np.rint(np.geomspace(1, R, self.eval_points)).astype(int)
            return np.unique([0, *points, *2 ** np.arange(R.bit_length()), R]).tolist()
        interval = self.eval_rounds or max(1, R // 100)
        if self.eval_steps is not None:
            interval = max(1, self.eval_steps // self._local)
        return [*range(0, R, interval), R]

    @property
    def _local(self) -> int:
        """Local steps or local epochs of a round."""
        return self.local_steps or self.local_epochs or 1

    @property
    def evaluates_every_round(self) -> bool:
        """True if the output is evaluated after every round."""
        return len(self.eval_grid) == self.total_rounds + 1

    def evaluated(self, round: int) -> bool:
        """Return whether a row is kept of the evaluation after this number of rounds."""
        position = bisect.bisect_left(self.eval_grid, round)
        return self.eval_grid[position : position + 1] == [round]

    def next_evaluation(self, round: int) -> int:
        """Return the next round after this one, which is not the last, that ends with an evaluation."""
        return round + 1 if self.round_metrics else self.eval_grid[bisect.bisect_right(self.eval_grid, round)]

    def recorded(self, round: int) -> tuple[str, ...]:
        """Return the names of values of local steps that are recorded in the round of this number, from 1."""
        if not self.record:
            return ()
        return tuple(self.record) if self.round_metrics or self.evaluated(round) else ()

    @property
    def exact_gradients(self) -> bool:
        """True if clients compute the gradients of their objectives exactly where an algorithm asks for them."""
        return self.full_gradients == "exact" or (self.batch is None and self.local_epochs is None)

    @functools.cached_property
    def participation_kind(self) -> Participation:
        """Rule of participation."""
        return PARTICIPATION.build(self.participation)

    @functools.cached_property
    def channels(self) -> tuple[Channel, Channel]:
        """Channels up and down."""
        return directions(self.channel)

    @functools.cached_property
    def driver_kind(self) -> Driver:
        """Rule that says when clients compute and the server steps."""
        return DRIVERS.build(self.driver)

    @property
    def coded_down(self) -> bool:
        """True if the messages of the server pass a channel that changes them."""
        return self.channels[1].name != IDENTITY

    @functools.cached_property
    def lr_schedule(self) -> Schedule:
        """Schedule of the step size."""
        return SCHEDULES.build(self.schedule)

    @property
    def full_participation(self) -> bool:
        """True if every client takes part in every round by rule."""
        return self.participation_kind.name == "full" and not self.driver_kind.separate

    @property
    def constant_lr(self) -> bool:
        """True if all rounds have the same step size by rule."""
        return self.lr_schedule.name == "constant"

    @functools.cached_property
    def sampling_kind(self) -> Sampling:
        """Kind of sampling of the run: local epochs are reshuffled passes."""
        return SAMPLING.build(self.sampling if self.local_epochs is None else "reshuffling")

    @functools.cached_property
    def round_metrics(self) -> dict[str, RoundMetric]:
        """Those of ``metrics`` that are over rounds, by name."""
        parsed = {name: round_metric(name) for name in self.metrics or ()}
        return {name: over_rounds for name, over_rounds in parsed.items() if over_rounds is not None}

    @functools.cached_property
    def base_metrics(self) -> list[str]:
        """Names of ``metrics`` that an evaluation computes: for a metric over rounds, that of a round."""
        over = self.round_metrics
        return list(dict.fromkeys(over[name].base if name in over else name for name in self.metrics or ()))

    @functools.cached_property
    def client_metrics(self) -> dict[str, ClientMetric]:
        """Those of `base_metrics` that are over clients, by name."""
        parsed = {name: client_metric(name) for name in self.base_metrics}
        return {name: over_clients for name, over_clients in parsed.items() if over_clients is not None}

    def metric_functions(
        self, reported: Collection[str], reports: Collection[str] = ()
    ) -> dict[str, Callable[[Any, Any], float]]:
        """Return the functions that compute those of `base_metrics` that the problem does not report, by name.

        Args:
            reported: Names of the metrics that the problem reports.
            reports: Names of the numbers that the algorithm's server reports, of which metrics over rounds may be.

        Raises:
            UserError: For a metric that the problem does not report and that has no function.
        """
        functions = {}
        for over_clients in self.client_metrics.values():
            if over_clients.base not in reported or not over_clients.measured:
                measured = [f"{base}_clients_mean" for base in reported if ClientMetric(base, "mean").measured]
                raise UserError(
                    f"metrics: the problem has no {over_clients.base!r} of a client"
                    + did_you_mean(f"{over_clients.base}_clients_mean", measured)
                )
        parts = {f"{name}_{part}" for name in self.record or () for part in PARTS}
        of_rounds = {over_rounds.base for over_rounds in self.round_metrics.values()} & {*parts, *reports}
        for name in self.base_metrics:
            if name in reported or name in self.client_metrics or name in of_rounds:
                continue
            compute = metric(name).compute
            if compute is None:
                computed = (name for name in METRICS.names() if METRICS.get(name).compute is not None)
                raise UserError(
                    f"metrics: the problem does not report {name!r}, and it cannot be computed from the output"
                    + did_you_mean(name, [*reported, *computed])
                )
            functions[name] = compute
        return functions
