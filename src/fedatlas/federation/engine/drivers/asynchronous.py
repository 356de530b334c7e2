"""Asynchronous rounds with a buffer, on clients of a cost model (FedBuff: Nguyen et al. 2022)."""

import heapq
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation.arrays import Array
from fedatlas.federation.costs.workload import Workload
from fedatlas.federation.engine.drivers import Driver, Rounds
from fedatlas.federation.engine.history import CLOCK
from fedatlas.federation.engine.messages import Message
from fedatlas.federation.streams import stream
from fedatlas.registry.options import option

if TYPE_CHECKING:
    from fedatlas.federation.engine.setting import Setting
    from fedatlas.federation.engine.simulation import Simulation


@dataclass(frozen=True, kw_only=True)
class Asynchronous(Driver):
    """The server steps as soon as a number of messages have arrived, and no client waits for another (FedBuff).

    ``concurrency`` clients compute at once, each from the model that it was handed. A message whose client was handed
    the model s steps of the server ago has the weight (1 + s)^-staleness. The server's step gets the sum of ``buffer``
    weighted messages divided by ``buffer``.

    A client takes the time that the model says for what it receives, computes and sends. Messages that arrive at the
    same time are handled in the order of the clients' numbers. Then each free place goes to a client that is drawn
    uniformly from those that do not compute, and is handed the server's latest model.
    """

    name = "asynchronous"
    cite = "nguyen2022"
    clocked = True

    buffer: int = option(doc="messages that a step of the server takes", unit="messages", low=1)
    concurrency: int = option(doc="clients that compute at once, at most all of them", unit="clients", low=1)
    staleness: float = option(
        0.5,
        doc="exponent a of the weight (1 + s)^-a of a message; 0: all weigh 1, as they must where clients keep a state",
        low=0,
    )

    def validate_setting(self, setting: "Setting") -> None:
        if self.concurrency > setting.clients:
            raise UserError(
                f"{self.title()}: concurrency is {self.concurrency}; it must be a whole number between 1 and clients = "
                f"{setting.clients}"
            )
        if setting.participation_kind.name != "full":
            raise UserError(f"{self.title()} says itself which clients compute: leave participation out")
        if setting.record:
            raise UserError(
                f"{self.title()}: values of local steps are recorded in synchronous rounds only: leave record out"
            )

    def bind(self, simulation: "Simulation") -> Rounds:
        return EventQueue(self, simulation)


class Computation(NamedTuple):
    """A client that computes.

    Attributes:
        end: Time at which its message arrives, in seconds from the start of the run.
        client: Id of the client. Computations are ordered by end and client.
        version: Steps that the server had made when it handed over its state.
        message: The message.
    """

    end: float
    client: int
    version: int
    message: Message


class EventQueue(Rounds):
    """The clients that compute, in the order in which their messages will arrive.

    Args:
        driver: Options.
        simulation: The run whose messages these are.

    Raises:
        UserError: The clients keep a state, and messages may weigh less than 1.
    """

    def __init__(self, driver: Asynchronous, simulation: "Simulation") -> None:
        from fedatlas.federation.costs.operations import per_sample

        if simulation.stateful and driver.staleness:
            raise UserError(
                f"{simulation.algorithm.title()}: what its clients keep agrees with what the server keeps only if all "
                f"messages weigh 1: give the {driver.title()} staleness: 0"
            )
        self.driver, self.model = driver, driver.cost_model
        setting, problem = simulation.setting, simulation.problem
        self.rates = self.model.rates(setting.clients)
        self.workload = Workload(
            vector=(self.model.number_bytes or simulation.x0.dtype.itemsize) * problem.dim,
            operations=self.model.operations or per_sample(problem),
            sizes=simulation.sizes,
            batch=setting.batch,
        )
        self.queue: list[Computation] = []  # a heap
        self.clock = simulation.costs[CLOCK] = 0.0
        self.starts = np.zeros(setting.clients, int)  # computations that each client has begun

    def advance(self, simulation: "Simulation", pool: Any) -> None:
        arrived: list[Computation] = []
        while len(arrived) < self.driver.buffer:
            if not self.queue or self.queue[0].end > self.clock:  # all that has arrived by now is handled
                self._fill(simulation, pool)
            arrived.append(heapq.heappop(self.queue))
            self.clock = arrived[-1].end
        weights = [(1 + simulation.round - computation.version) ** -self.driver.staleness for computation in arrived]
        simulation.step([computation.message for computation in arrived], weights)
        simulation.costs[CLOCK] = self.clock

    def _fill(self, simulation: "Simulation", pool: Any) -> None:
        """Let clients begin until ``concurrency`` of them compute."""
        idle = np.setdiff1d(np.arange(len(self.starts)), [computation.client for computation in self.queue])
        while len(self.queue) < self.driver.concurrency:
            event = int(self.starts.sum())
            position = int(stream(simulation.seed, "participation", event).integers(len(idle)))
            client = int(idle[position])
            idle = np.delete(idle, position)
            message = simulation.compute(client, int(self.starts[client]), pool)
            self.starts[client] += 1
            (seconds,) = self.workload.seconds(self.model, self.rates, message.profile, np.array([client]))
            heapq.heappush(self.queue, Computation(self.clock + float(seconds), client, simulation.round, message))

    def saved(self) -> tuple[dict[str, Any], dict[str, Array]]:
        computations = sorted(self.queue)
        plain = [[computation.end, computation.version, computation.message.to_dict()] for computation in computations]
        messages = [computation.message for computation in computations]
        vectors = {f"{k}.{name}": v for k, message in enumerate(messages) for name, v in message.state.items()}
        return {"clock": self.clock, "starts": self.starts.tolist(), "queue": plain}, vectors

    def restore(self, plain: Mapping[str, Any], vectors: Mapping[str, Array]) -> None:
        self.clock, self.starts = plain["clock"], np.array(plain["starts"])
        self.queue = []
        for k, (end, version, values) in enumerate(plain["queue"]):
            sent = {key.partition(".")[2]: value for key, value in vectors.items() if key.partition(".")[0] == str(k)}
            self.queue.append(Computation(end, values["client"], version, Message.from_dict(values, sent)))
