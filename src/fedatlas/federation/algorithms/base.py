"""The base class of all algorithms: hyper-parameters are fields, and a round is a few functions of flat vectors."""

import dataclasses
from abc import abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from fedatlas.errors import Undefined, UserError
from fedatlas.federation.algorithms.protocols import Array, Problem, Proximal, Round, Setting, Steps
from fedatlas.federation.arrays import State
from fedatlas.registry.kinds import Kind

if TYPE_CHECKING:
    from fedatlas.federation.algorithms.recurrences import Recurrence
    from fedatlas.federation.topologies.mixing import Mixing


@dataclass(frozen=True, kw_only=True)
class Algorithm(Kind):
    """A federated algorithm. Subclasses are frozen dataclasses whose fields are the hyper-parameters and nothing else.

    A hook computes no mean over clients, changes no array in place and does not ask which array library it runs on.
    ``s`` is the State of the server, with (d,) vectors. ``i`` is the State of a block of m clients, with (m, d) rows.
    ``steps`` is what these clients see of their data in this round.
    """

    # The key of the paper in references.bib.
    cite: ClassVar[str]
    # The name in legends.
    label: ClassVar[str]
    # Names of the server's vectors that are sent to every active client in a round. Communication is counted from them.
    broadcast: ClassVar[tuple[str, ...]] = ("x",)
    # Names of what ``client`` and ``before`` send for evaluation only. It does not count as communication.
    diagnostics: ClassVar[tuple[str, ...]] = ()
    # Names of the values that ``client`` passes to ``steps.record``.
    records: ClassVar[tuple[str, ...]] = ()
    # With full gradients and several local steps, the fixed point is the optimum even if clients are heterogeneous.
    exact: ClassVar[bool] = False
    # The algorithm is defined for full participation only.
    full_participation: ClassVar[bool] = False
    # The algorithm calls ``steps.prox``, which not every problem has.
    exact_prox: ClassVar[bool] = False
    # Clients only send gradients at a point of the server. Where all clients share their data, the engine merges them.
    pooled: ClassVar[bool] = False
    # Each client decides how many steps it takes, so that a block holds one client.
    client_by_client: ClassVar[bool] = False

    @classmethod
    def title(cls) -> str:
        return f"algorithm {cls.name}"

    def init(self, x0: Array) -> tuple[State, State]:
        """The first State of the server and the first State of one client. x0: the start, (d,)."""
        return State(x=x0), State()

    def before(self, s: State, i: State, steps: Steps) -> State | tuple[State, State]:
        """A first exchange of the round. Its mean over active clients joins s for ``client`` and ``server``.

        Returns the State that is sent, or a pair of it and the State that the clients keep. Sending an empty State
        costs nothing.
        """
        return State()

    @abstractmethod
    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        """The round of a block of clients. Returns the State that is sent and the State that the clients keep."""

    @abstractmethod
    def server(self, s: State, mean: State, n: Round) -> State:
        """The next State of the server.

        s: the present State, with what ``before`` added. mean: the mean over active clients of what ``client`` sent.
        n: numbers of the round, such as ``n.active`` and ``n.clients``.
        """

    def empty_round(self, s: State, n: Round) -> State:
        """The next State of the server after a round in which no client was active."""
        return s

    def receive(self, s: State, i: State) -> State:
        """The State that active clients keep after the server's step. s: the server's new State."""
        return i

    def output(self, s: State) -> Array:
        """The vector (d,) that is evaluated."""
        return s.x

    def single_client(self) -> bool:
        """Whether ``client`` runs on one active client only, which is drawn at random. All of them run ``before``."""
        return False

    def length(self, K: int, rng: np.random.Generator) -> int:
        """Local steps of one round. K: those of the setting. rng: the generator of this round's length."""
        return K

    def mixing(self, clients: int) -> "Mixing | None":
        """The Mixing by which clients of a decentralised algorithm exchange vectors with their neighbours, or None.

        Then every client sees, in ``client`` and ``receive``, a weighted sum of what its neighbours sent, in place of
        the mean. The weights are the client's row of the mixing matrix.
        """
        return None

    def rate(self, c: Mapping[str, float]) -> float | None:
        """The contraction that a theorem promises, or None where no theorem covers the hyper-parameters.

        With full gradients, a round multiplies the mean squared distance to the optimum by at most this in the long
        run. c: constants of the problem: mu and L of the mean objective, mu_min and L_max of the clients', delta_A.
        """
        return None

    def recurrence(self, K: int) -> "Recurrence | None":
        """A round of K local steps as a Recurrence, which compiled kernels can run, or None."""
        return None

    def resume(self, **fields: Array) -> State:
        """The State of the server that has these vectors of its Recurrence."""
        return State(**fields)

    def validate(self, setting: Setting, problem: Proximal) -> None:
        """Raise Undefined if the algorithm is not defined under a setting or for a problem.

        problem: a problem, or the declaration of one that has not been made. Raises UserError if what follows from the
        hyper-parameters is lost in double precision.
        """
        if self.full_participation and not setting.full_participation:
            raise Undefined(f"{self.title()} is defined for full participation only: leave participation out")
        if "lr" not in self.options() and not setting.constant_lr:
            raise Undefined(f"{self.title()} has no lr: leave the schedule of the step size out")
        self._validate_derived(setting)
        if setting.local_epochs is not None and self.overrides("length"):
            raise Undefined(f"{self.title()} draws the length of its rounds: give local_steps, not local_epochs")
        if self.exact_prox and not problem.has_prox():
            raise Undefined(f"{self.title()} solves subproblems exactly, but this problem has no exact proximal step")

    def _validate_derived(self, setting: Setting) -> None:
        """Raise UserError if what follows from the hyper-parameters is lost in double precision."""
        known = self.options()
        if any(one.constant and getattr(self, name) is None for name, one in known.items()):
            return  # until ``with_constants`` was asked
        try:
            if "lr" in known and not setting.constant_lr:
                dataclasses.replace(self, **{"lr": vars(self)["lr"] * setting.last_factor()})
            self.recurrence(setting.local_steps or 1)
        except (ArithmeticError, UserError) as error:
            given = ", ".join(f"{name} = {getattr(self, name)}" for name, one in known.items() if one.numeric)
            raise UserError(f"{self.title()}: {given} lead to numbers beyond double precision ({error})") from None

    @classmethod
    def overrides(cls, hook: str) -> bool:
        """Whether this algorithm overrides a hook. hook: its name."""
        return getattr(cls, hook) is not getattr(Algorithm, hook)

    def validate_constants(self, known: Collection[str]) -> None:
        """Raise Undefined if a hyper-parameter that was not given is no constant of the problem.

        known: names of the problem's constants.
        """
        for name, one in self.options().items():
            if one.constant and getattr(self, name) is None and one.constant not in known:
                raise Undefined(f"{self.title()}: this problem has no {one.constant!r}, so {name} must be given")

    def with_constants(self, problem: Problem) -> Self:
        """This algorithm with constants of the problem, such as mu, for hyper-parameters that were not given.

        Raises UserError if the problem does not know such a constant.
        """
        lacking = {name: one.constant for name, one in self.options().items() if one.constant}
        lacking = {name: constant for name, constant in lacking.items() if getattr(self, name) is None}
        values = {constant: problem.constant(constant) for constant in lacking.values()}
        self.validate_constants([constant for constant, value in values.items() if value is not None])
        filled = {name: values[constant] for name, constant in lacking.items()}
        return dataclasses.replace(self, **filled) if filled else self


def geometric_contraction(q: float, p: float) -> float:
    """E[q^N], where N is the number of trials up to and with the first success of probability p.

    This is the contraction of a round of N iterations, each of which contracts by q.
    """
    return p * q / (1 - (1 - p) * q)
