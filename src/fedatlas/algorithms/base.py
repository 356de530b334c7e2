"""What an algorithm is: hyper-parameters as fields, and a few pure hooks on flat vectors."""

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

from fedatlas.arrays import State
from fedatlas.errors import UserError
from fedatlas.kinds import Kind


@dataclass(frozen=True, kw_only=True)
class Algorithm(Kind):
    """A federated algorithm. Subclasses are frozen dataclasses whose fields are the hyper-parameters and nothing else.

    Rules: no hook reduces over clients, changes an array in place or knows the array library. ``s`` is the server's
    State of (d,) vectors, ``i`` the State of a block of clients with (m, d) rows, ``steps`` their data of the round.
    """

    cite: ClassVar[str]  # key of references.bib
    label: ClassVar[str]  # in legends
    down: ClassVar[tuple] = ("x",)  # server vectors that a round broadcasts
    pooled: ClassVar[bool] = False  # uses only steps.mean/full at a server point: clients can be merged into one
    solo: ClassVar[bool] = False  # one active client, drawn at random, runs ``client``; all of them run ``before``
    records: ClassVar[tuple] = ()  # what ``steps.record`` notes of local steps
    full: ClassVar[bool] = False  # defined for full participation only
    exact_prox: ClassVar[bool] = False  # asks for steps.prox, which not every problem has
    apart: ClassVar[bool] = False  # clients run in blocks of one, as each takes a number of steps of its own
    diagnostics: ClassVar[tuple] = ()  # what is sent for evaluation alone: no communication
    exact: ClassVar[bool] = False  # fixed point is the optimum on heterogeneous data with full gradients, K > 1

    def init(self, x0):
        """Server state and the first state of one client."""
        return State(x=x0), State()

    def check(self, setting, problem):
        """Raise UserError if this algorithm is not defined under a Setting or for a problem or class of problems."""
        if self.full and not setting.full_participation:
            raise UserError(f"{self.name} is defined for full participation only: leave participation out")
        if "lr" not in self.options() and not setting.constant_lr:
            raise UserError(f"{self.name} has no lr: leave the schedule of the step size out")
        if setting.local_epochs is not None and self.has("length"):
            raise UserError(f"{self.name} draws the length of its rounds: give local_steps, not local_epochs")
        if self.exact_prox and not problem.has_prox():
            raise UserError(f"{self.name} solves subproblems exactly, but this problem has no exact proximal step")

    def mixing(self, clients):
        """Optional, for decentralised algorithms: a Mixing. Then what clients send is not averaged for them: in
        ``client`` and ``receive`` each sees the sum over its neighbours, weighted by its row of the mixing matrix."""
        return None

    def rate(self, c):
        """Optional: the contraction that a theorem promises: in the long run a round multiplies the mean squared
        distance to the optimum by at most this, with full gradients. None where no theorem covers the hyper-parameters.

        c: the problem's constants: mu and L of the mean objective, mu_min and L_max of the clients', delta_A.
        """
        return None

    @staticmethod
    def over_geometric(q, p):
        """E[q^N] for a round of N steps up to and with the first success of probability p."""
        return p * q / (1 - (1 - p) * q)

    def before(self, s, i, steps):
        """Optional first exchange of a round: a State whose mean over active clients joins s for ``client`` and
        ``server``, or a pair of it and a State that is kept. An empty State costs nothing."""
        raise NotImplementedError

    def client(self, s, i, steps):
        """One round of a block of clients: (State that is sent, State that is kept)."""
        raise NotImplementedError

    def server(self, s, mean, n):
        """The next server state. s: with what ``before`` added; mean: of what was sent; n.active, n.clients, n.round,
        n.steps: numbers, steps a mean over active clients; n.rng: a generator for what the server draws this round."""
        raise NotImplementedError

    def alone(self, s, n):
        """The next server state after a round in which no client was available."""
        return s

    def receive(self, s, i):
        """Optional: what active clients keep after the server's step."""
        raise NotImplementedError

    def recurrence(self, K):
        """Optional: the round of K steps as a Recurrence, for problems that have a kernel for it."""
        return None

    def resume(self, **fields):
        """The server state that has these vectors of a Recurrence."""
        return State(**fields)

    def length(self, K, rng):
        """Local steps of this round."""
        return K

    def output(self, s):
        """The vector that is evaluated."""
        return s.x

    @classmethod
    def has(cls, hook):
        """Whether this algorithm overrides a hook."""
        return getattr(cls, hook) is not getattr(Algorithm, hook)

    def for_problem(self, problem):
        """Fill the hyper-parameters that default to a constant of the problem, such as mu."""
        filled = {}
        for name, one in self.options().items():
            if one.constant and getattr(self, name) is None:
                filled[name] = problem.constant(one.constant)
                if filled[name] is None:
                    raise UserError(f"{self.name}: this problem has no {one.constant!r}, so {name} must be given")
        return dataclasses.replace(self, **filled) if filled else self
