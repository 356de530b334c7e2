"""An algorithm of one's own: copy, rename and change it. `fedatlas check my_algorithm` tests it."""

from dataclasses import dataclass

from fedatlas import Algorithm, Array, Round, State, Steps, option


@dataclass(frozen=True, kw_only=True)
class MyAlgorithm(Algorithm):
    """My algorithm (Author 2026, Algorithm 1) is FedAvg with heavy-ball momentum at the server.

    y <- y - lr g(y)                         K times, from y = x
    v <- momentum v + mean_S(y - x)
    x <- x + v
    """

    name = "my_algorithm"
    label = "My algorithm"  # in legends
    cite = "author2026"  # a key of references.bib

    # `fedatlas compare` tunes an option in the range that search gives; what has none keeps its default
    lr: float = option(doc="local step size", above=0, search=("0.01/L_max", "10/L_max"))
    momentum: float = option(0.9, doc="momentum of the server", low=0, below=1)

    def init(self, x0: Array) -> tuple[State, State]:
        return State(x=x0, v=0 * x0), State()  # what the server has at first, and what a client has

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        y = s.x
        for g in steps:  # K minibatches
            y = y - self.lr * g(y)
        return State(delta=y - s.x), State()  # what is sent, and what the clients keep

    def server(self, s: State, mean: State, n: Round) -> State:
        v = self.momentum * s.v + mean.delta
        return State(x=s.x + v, v=v)
