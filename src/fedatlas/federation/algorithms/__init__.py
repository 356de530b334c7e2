"""Algorithms: hyper-parameters are fields, and a round is a few functions of flat vectors.

A module here that defines a named `Algorithm` is found by itself: adding one is adding a file. A method with local
steps, such as SCAFFOLD, has the hooks ``init``, ``client`` and ``server``, and perhaps ``before``, ``receive`` and
``output``. The hooks after these are for other kinds of method. What hooks are given is in
`fedatlas.federation.engine.steps`.
"""

import dataclasses
from abc import abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from fedatlas.errors import Undefined, UserError
from fedatlas.federation.algorithms import declaration
from fedatlas.federation.algorithms.declaration import REQUIREMENTS
from fedatlas.federation.arrays import Array, State, Vectors
from fedatlas.federation.engine.steps import Round, Steps, call
from fedatlas.registry.kinds import Family, Kind

if TYPE_CHECKING:
    from fedatlas.federation.algorithms.recurrences import Recurrence
    from fedatlas.federation.engine.setting import Setting
    from fedatlas.federation.problems.base import Oracles, Problem
    from fedatlas.federation.topologies.mixing import Mixing

OWN_ROW = "[i]"  # end of a name in ``broadcast``: client i is sent row i


@dataclass(frozen=True, kw_only=True)
class Algorithm(Kind):
    """A federated algorithm. Subclasses are frozen dataclasses whose fields are the hyper-parameters and nothing else.

    In a round, the engine calls ``before`` for the active clients, then ``client`` for them, then ``server``, then
    ``receive`` for them. Between the calls it takes the means over active clients, so a hook computes no such mean. A
    hook changes no array in place and does not ask which array library it runs on.

    The hooks share their arguments: ``s`` is the State of the server, whose vectors are (d,); ``i`` is the State of a
    block of m clients, whose rows are (m, d); ``steps`` is what these clients see of their data in this round.
    """

    # The key of the paper in references.bib.
    cite: ClassVar[str]
    # The name in legends.
    label: ClassVar[str]
    # Names of the server's vectors that are sent to every active client in a round. Communication is counted from them.
    # Of a matrix (clients, k) that is named ``"U[i]"``, every client is sent its own row.
    broadcast: ClassVar[tuple[str, ...]] = ("x",)
    # Names of the values that ``client`` passes to ``steps.record``.
    records: ClassVar[tuple[str, ...]] = ()
    # Names of methods (s, n) of this class that return a number of the server at an evaluation, such as its step size,
    # or None: columns of the history. n is the round that comes next, in which no client is active.
    reports: ClassVar[tuple[str, ...]] = ()
    # With full gradients and several local steps, the fixed point is the optimum even if clients are heterogeneous.
    corrects_drift: ClassVar[bool] = False
    # The algorithm is defined for full participation only.
    full_participation: ClassVar[bool] = False
    # What not every problem has: ``prox`` and ``hessian``, where it calls ``steps.prox`` or ``steps.hessian_product``.
    requires: ClassVar[tuple[str, ...]] = ()
    # Clients only send gradients at a point of the server. Where all clients share their data, the engine merges them.
    pooled: ClassVar[bool] = False

    def __post_init__(self) -> None:
        declaration.validate(type(self), Algorithm)
        super().__post_init__()

    def init(self, x0: Array, *clients: Any, **none: Any) -> tuple[Vectors, Vectors]:
        """Return the first State of the server and the first State of one client.

        Args:
            x0: Start, (d,).
            *clients: Number of clients, for an ``init`` that takes it: ``init(self, x0, clients)``.
            **none: Nothing; it allows type checkers both forms.
        """
        return State(x=x0), State()

    def before(self, s: Any, i: Any, steps: Steps) -> Vectors | tuple[Vectors, Vectors]:
        """Exchange vectors before the local steps.

        Returns:
            The State that the clients send, with (m, d) rows, or a pair of it and the State that they keep. The mean of
            what active clients send joins ``s`` for ``client`` and ``server``. To send an empty State costs nothing.
        """
        return State()

    @abstractmethod
    def client(self, s: Any, i: Any, steps: Steps) -> Vectors | tuple[Vectors, Vectors]:
        """Run the local steps of a block of clients.

        Args:
            s: State of the server, with what ``before`` added.
            i: State of the clients.
            steps: Stochastic gradients of the local steps, and other oracles of the clients' objectives.

        Returns:
            The State that the clients send, with (m, d) rows or (m, 1) columns, alone or in a pair with the State that
            they keep. Fields that the second one lacks stay as they are.
        """

    @abstractmethod
    def server(self, s: Any, mean: Any, n: Round) -> Vectors:
        """Return the next State of the server.

        Args:
            s: State of the server, with what ``before`` added.
            mean: Mean over active clients of what ``client`` sent: (d,) vectors and (1,) numbers. What it sent as Rows
                is rows (active, k), in the order of ``n.ids``.
            n: Numbers of the round, such as ``n.active`` and ``n.clients``.
        """

    def receive(self, s: Any, i: Any) -> Vectors:
        """Return the State that active clients keep after the server's step.

        Args:
            s: The server's new State.
            i: State of the clients after ``client``.
        """
        return i

    def output(self, s: Any) -> Array:
        """Return the vector (d,) that is evaluated."""
        return s.x

    def empty_round(self, s: Any, n: Round) -> Vectors:
        """Return the next State of the server after a round in which no client was active."""
        return s

    def client_weights(self, steps: Steps) -> Array | None:
        """Return weights of a block of clients in means, (m, 1), such as ``steps.sizes``; None if they are equal."""
        return None

    def client_model(self, s: Any, i: Any) -> Array:
        """Return the models that clients would use, which metrics over clients measure: by default the output.

        Args:
            s: State of the server.
            i: State of a block of clients, active or not; of those that never were, the first State of a client.

        Returns:
            A row for each client, (m, d), or one vector (d,) for all of them.
        """
        return self.output(s)

    def single_client(self) -> bool:
        """Return whether ``client`` runs on one active client only, drawn at random; all active ones run ``before``."""
        return False

    def length(self, K: int, rng: np.random.Generator) -> int:
        """Return the number of local steps of one round.

        Args:
            K: Local steps of the setting.
            rng: Generator for the length of this round.
        """
        return K

    def mixing(self, clients: int, *t: Any, **none: Any) -> "Mixing | None":
        """Return the Mixing by which clients of a decentralised algorithm exchange vectors, None for all others.

        With a Mixing, every client sees in ``client`` and ``receive`` a weighted sum of what its neighbours sent, in
        place of the mean. The weights are the client's row of the mixing matrix.

        Args:
            clients: Number of clients.
            *t: Number of the round, for links that change: ``mixing(self, clients, t)``.
            **none: Nothing; it allows type checkers both forms.
        """
        return None

    def rate(self, c: Mapping[str, float]) -> float | None:
        """Return the contraction that a theorem promises, or None where no theorem covers the hyper-parameters.

        With full gradients, a round multiplies the mean squared distance to the optimum by at most this in the long
        run.

        Args:
            c: Constants of the problem: ``mu`` and ``L`` of the mean objective, ``mu_min`` and ``L_max`` of the
                clients' objectives, ``delta_A``, the dimension ``dim`` and the number ``clients``.
        """
        return None

    def recurrence(self, K: int) -> "Recurrence | None":
        """Return a round of K local steps as a Recurrence, which compiled kernels can run, or None if it is none."""
        return None

    def validate(self, setting: "Setting", problem: "Oracles") -> None:
        """Raise an error unless the algorithm is defined under a setting and for a problem.

        Args:
            setting: Setting of a run.
            problem: A problem, or the kind of one that has not been built.

        Raises:
            Undefined: The algorithm is not defined there.
            UserError: Numbers that follow from the hyper-parameters are lost in double precision.
        """
        setting.driver_kind.validate(self, setting.clients)
        if self.full_participation and not setting.full_participation:
            raise Undefined(f"{self.title()} is defined for full participation only: leave participation out")
        if "lr" not in self.options() and not setting.constant_lr:
            raise Undefined(f"{self.title()} has no lr: leave the schedule of the step size out")
        self._validate_precision(setting)
        if setting.local_epochs is not None and self.overrides("length"):
            raise Undefined(f"{self.title()} draws the length of its rounds: give local_steps, not local_epochs")
        for name in self.requires:
            use, lack = REQUIREMENTS[name]
            if not setting.exact_gradients:
                raise Undefined(f"{self.title()} {use}, but full_gradients is minibatch")
            if not problem.offers(name):
                raise Undefined(f"{self.title()} {use}, but this problem has {lack}")
        mixing = call(self.mixing, setting.clients, 0)
        if mixing is not None and not setting.full_participation:
            raise Undefined(f"all clients of {self.title()} exchange vectors over their links: leave participation out")
        if setting.coded_down and mixing is not None:
            raise Undefined(f"{self.title()} has no server whose messages could pass a channel down: give up alone")
        if setting.coded_down and self.own_rows:
            raise Undefined(
                f"clients of {self.title()} are sent rows of their own, and no channel down is defined for these: give "
                "up alone"
            )
        if setting.coded_down and self.overrides("receive"):
            raise Undefined(
                f"clients of {self.title()} receive the server's vectors after its step, and no channel down is "
                "defined for these: give up alone"
            )

    def _validate_precision(self, setting: "Setting") -> None:
        """Raise UserError if numbers that follow from the hyper-parameters are lost in double precision."""
        options = self.options()
        if any(option.constant and getattr(self, name) is None for name, option in options.items()):
            return  # until ``with_constants`` has filled them in
        try:
            if "lr" in options and not setting.constant_lr:
                dataclasses.replace(self, **{"lr": vars(self)["lr"] * setting.last_factor()})
            self.recurrence(setting.local_steps or 1)
        except (ArithmeticError, UserError) as error:
            values = ", ".join(f"{name} = {getattr(self, name)}" for name, option in options.items() if option.numeric)
            raise UserError(f"{self.title()}: {values} lead to numbers beyond double precision ({error})") from None

    @classmethod
    def overrides(cls, hook: str) -> bool:
        """Return whether this algorithm overrides a hook of the base class."""
        return getattr(cls, hook) is not getattr(Algorithm, hook)

    @property
    def broadcast_names(self) -> list[str]:
        """Names of the fields of the server that clients are sent, whole or a row of each."""
        return [name.removesuffix(OWN_ROW) for name in self.broadcast]

    @property
    def own_rows(self) -> tuple[str, ...]:
        """Names of the matrices of the server of which every client is sent its own row."""
        return tuple(name.removesuffix(OWN_ROW) for name in self.broadcast if name.endswith(OWN_ROW))

    def _missing_constants(self) -> dict[str, str]:
        """Return the problem's constants that stand for hyper-parameters without a value, by hyper-parameter."""
        options = self.options().items()
        return {name: option.constant for name, option in options if option.constant and getattr(self, name) is None}

    def validate_constants(self, available: Collection[str]) -> None:
        """Raise Undefined if a hyper-parameter has no value and the problem no such constant.

        Args:
            available: Names of the problem's constants.
        """
        for name, constant in self._missing_constants().items():
            if constant not in available:
                raise Undefined(f"{self.title()}: this problem has no {constant!r}, so {name} must be given")

    def with_constants(self, problem: "Problem") -> Self:
        """Return this algorithm with the problem's constants for hyper-parameters that have no value.

        Raises:
            Undefined: The problem does not know such a constant.
        """
        constants = self._missing_constants()
        if not constants:
            return self
        values = {constant: problem.constant(constant) for constant in constants.values()}
        self.validate_constants([constant for constant, value in values.items() if value is not None])
        return dataclasses.replace(self, **{name: values[constant] for name, constant in constants.items()})


ALGORITHMS: Family[Algorithm] = Family("algorithm", __name__, Algorithm)


def geometric_contraction(q: float, p: float) -> float:
    """Return E[q^N], where N is the number of trials up to and with the first success of probability p.

    This is the contraction of a round of N iterations, each of which contracts by q.
    """
    return p * q / (1 - (1 - p) * q)
