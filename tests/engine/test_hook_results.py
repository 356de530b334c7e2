"""A wrong hook or declaration is one sentence with the hook, the field and what is expected, in runs as in checks."""

import re
import warnings
from dataclasses import dataclass

import numpy as np
import pytest

import fedatlas
from fedatlas import Coded, Mixing, Note, Rows, UserError
from fedatlas.federation.algorithms.fedavg import FedAvg
from fedatlas.federation.arrays import State, norm, zeros_like
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.testing import FAILED, Implementation, run_tests
from tests.helpers import logistic, network, quadratic


def algorithm(**attributes):
    """Return a class of FedAvg with other hooks and declarations."""
    document = "Mine (Author et al. 2026) is FedAvg."
    cls = type("Mine", (FedAvg,), {"name": "mine", "label": "Mine", "__doc__": document, **attributes})
    return dataclass(frozen=True, kw_only=True)(cls)


def sends(**values):
    """Return a hook ``client`` that sends values, each a function of the server's x and of the number of clients."""
    return lambda self, s, i, steps: State(**{name: make(s.x, len(steps.clients)) for name, make in values.items()})


def keeps(state, **first):
    """Return the hooks of an algorithm whose clients have a first State, and keep another one."""
    return {
        "init": lambda self, x0: (State(x=x0), State(**first)),
        "client": lambda self, s, i, steps: (State(delta=s.x * np.ones((len(steps.clients), 1))), state),
    }


def start_of_client(**fields):
    """Return the hook ``init`` of an algorithm whose clients begin with other fields."""
    return {"init": lambda self, x0: (State(x=x0), State(**fields))}


def start(**fields):
    """Return a hook ``init`` whose server has other fields than x, each a function of x0."""
    return lambda self, x0: (State(x=x0, **{name: make(x0) for name, make in fields.items()}), State())


BLOCK = r"for a block of \d clients it must be rows \(\d, k\)"


# By a label: declarations and hooks, and the sentence.
MISTAKES = {
    # names
    "misspelt hook": ({"recieve": lambda self, s, i: i}, "recieve is not a hook .* did you mean 'receive'"),
    "misspelt declaration": ({"broadcasts": ("x",)}, "broadcasts is not a hook or declaration .* 'broadcast'"),
    "misspelt records": ({"record": ("step",)}, "record is not a hook or declaration .* did you mean 'records'"),
    # declarations
    "word": ({"broadcast": "x"}, r"broadcast is 'x'; it must be a tuple of names, such as \('x',\)"),
    "flag": ({"corrects_drift": "yes"}, "corrects_drift is 'yes'; it must be True or False"),
    "absent": (
        {"broadcast": ("x", "velocty")},
        "broadcast names 'velocty', but the server has only x: give it in init",
    ),
    "unreported": ({"reports": ("eta",)}, r"reports names 'eta', but nothing returns it: define eta\(self, s, n\)"),
    "report of no round": (
        {"eta": lambda self, s: 1.0, "reports": ("eta",)},
        r"eta takes \(self, s\); reports names it, so it must be def eta\(self, s, n\)",
    ),
    "report of a hook": ({"reports": ("output",)}, "reports names 'output', but nothing returns it"),
    "report of a metric": (
        {"loss": lambda self, s, n: 0.0, "reports": ("loss",)},
        "reports names 'loss', which is a column of runs already",
    ),
    "report of a cost": (
        {"bits_up": lambda self, s, n: 0.0, "reports": ("bits_up",)},
        "reports names 'bits_up', which is a column of runs already",
    ),
    "whole and row": ({"broadcast": ("x", "x[i]")}, "broadcast names 'x' twice"),
    "turned rows": (
        {
            "broadcast": ("x", "U[i]"),
            "init": lambda self, x0, clients: (State(x=x0, U=np.zeros((clients, 3))), State()),
            "server": lambda self, s, mean, n: State(x=s.x, U=s.U.T),
        },
        r"the hook server returns 'U', which has the shape \(3, 5\); it must keep the shape \(5, 3\) of init",
    ),
    "unknown oracle": ({"requires": ("proxy",)}, "requires names 'proxy'; did you mean 'prox'"),
    "never noted": ({"records": ("step",)}, "records names 'step', but no hook notes it"),
    "nobody": (
        {"broadcast": ("U[i]",)},
        "the hook init returns too little: broadcast names 'U', but the server has only x",
    ),
    "one row": (
        {"broadcast": ("U[i]",), "init": start(U=zeros_like)},
        r"the hook init returns 'U', which has the shape \(7,\); .* a row for each client: \(5, k\)",
    ),
    # arguments
    "few arguments": (
        {"client": lambda self, s, i: State(delta=s.x)},
        r"the hook client takes \(self, s, i\); it must be def client\(self, s, i, steps\)",
    ),
    "many arguments": (
        {"init": lambda self, x0, clients, seed: (State(x=x0), State())},
        r"the hook init takes .*; it must be def init\(self, x0\), or one with clients too",
    ),
    "no function": ({"single_client": True}, r"single_client is True; it must be def single_client\(self\)"),
    # init
    "one state": (
        {"init": lambda self, x0: State(x=x0)},
        "the hook init returns State; it must return a pair of States",
    ),
    "matrix of a client": (
        {"init": lambda self, x0: (State(x=x0), State(c=np.zeros((5, 7))))},
        r"the hook init returns 'c' for a client, which has the shape \(5, 7\); .* vectors \(k,\) and numbers",
    ),
    # client and before
    "array": (
        {"client": lambda self, s, i, steps: s.x},
        "the hook client returns ndarray; it must return a State that clients send, or a pair",
    ),
    "triple": (
        {"client": lambda self, s, i, steps: (State(), State(), State())},
        r"the hook client returns \(State, State, State\); it must return a State",
    ),
    "number": (
        {"client": sends(delta=lambda x, m: x, size=lambda x, m: np.linalg.norm(x))},
        f"the hook client returns 'size', which is one number; {BLOCK}",
    ),
    "cube": (
        {"client": sends(delta=lambda x, m: x[None, None])},
        rf"the hook client returns 'delta', which has the shape \(1, 1, 7\); {BLOCK}",
    ),
    "rows of others": (
        {"client": sends(delta=lambda x, m: np.zeros((9, 7)))},
        rf"the hook client returns 'delta', which has the shape \(9, 7\); {BLOCK}",
    ),
    "list": (
        {"client": sends(delta=lambda x, m: [1.0, 2.0])},
        f"the hook client returns 'delta', which is list; {BLOCK}",
    ),
    "no column": (
        {"client": sends(delta=lambda x, m: x, size=lambda x, m: np.zeros(m))},
        r"the hook client returns 'size', which has the shape \((\d),\), .* it must be a column \(\1, 1\)",
    ),
    "bits": (
        {"client": sends(delta=lambda x, m: Coded(x * np.ones((m, 1)), np.nan))},
        "the hook client returns 'delta' with the bits nan; Coded needs a number for each client",
    ),
    "kept rows": (
        keeps(State(c=np.zeros((9, 7))), c=0.0),
        r"the hook client returns 'c', which has the shape \(9, 7\)",
    ),
    "kept width": (
        keeps(State(c=np.zeros(7)), c=0.0),
        r"the hook client keeps 'c', which has the shape \(7,\); init gives a client 1 numbers",
    ),
    "kept name": (keeps(State(cc=0.0), c=0.0), "the hook client keeps 'cc', but init gives a client only c"),
    "kept nothing": (keeps(State(c=0.0)), "the hook client keeps 'c', but init gives a client only nothing"),
    "before": ({"before": lambda self, s, i, steps: None}, "the hook before returns NoneType; it must return a State"),
    "rows before": (
        {"before": lambda self, s, i, steps: State(g=Rows(steps.full(s.x)))},
        "the hook before sends 'g' as Rows; .* here it gets the mean",
    ),
    # server and receive
    "server": (
        {"server": lambda self, s, mean, n: s.x},
        "the hook server returns ndarray; it must return the next State",
    ),
    "forgotten": (
        {"broadcast": ("x", "c"), "init": start(c=zeros_like), "server": lambda self, s, mean, n: State(x=s.x)},
        "the hook server returns no 'c', which broadcast names",
    ),
    "rows at the server": (
        {"client": sends(delta=lambda x, m: Rows(x)), "server": lambda self, s, mean, n: State(x=s.x + mean.delta)},
        r"the hook server returns 'x', which has the shape \(5, 7\); it must keep the shape \(7,\) of init",
    ),
    "receive": ({"receive": lambda self, s, i: None}, "the hook receive returns NoneType; it must return the State"),
    "received name": (
        {"receive": lambda self, s, i: State(h=s.x)},
        "the hook receive keeps 'h', but init gives a client only nothing",
    ),
    # the other hooks
    "weights": (
        {"client_weights": lambda self, steps: steps.sizes[:, 0]},
        r"the hook client_weights returns what has the shape \((\d),\); it must be a column \(\1, 1\)",
    ),
    "negative": (
        {"client_weights": lambda self, steps: -steps.sizes},
        "the hook client_weights returns weights from -.* they must be finite, and not negative",
    ),
    "no weight": (
        {"client_weights": lambda self, steps: 0 * steps.sizes},
        "the hook client_weights returns 0 for all clients of round 1; a mean needs at least one positive weight",
    ),
    "half a step": (
        {"length": lambda self, K, rng: K / 2},
        "the hook length returns .*; it must return a whole number",
    ),
    "no step": (
        {"length": lambda self, K, rng: 0},
        "the hook length returns 0; it must return a whole number .* at least 1",
    ),
    "output": (
        {"output": lambda self, s: norm(s.x)},
        r"the hook output returns what has the shape \(1,\); it must be a vec",
    ),
    "output of a list": (
        {"output": lambda self, s: s.x.tolist()},
        "the hook output returns what is list; it must be a vector of the model",
    ),
    "output of nothing": (
        {"output": lambda self, s: s.x / 0},
        "the hook output returns numbers that are not finite before the first round",
    ),
    "client models": (
        {"client_model": lambda self, s, i: s.x[:, None]},
        r"the hook client_model returns what has the shape \(7, 1\); it must be a model for each client, \(5, 7\)",
    ),
    "list of reports": (
        {"eta": lambda self, s, n: [1.0, 2.0], "reports": ("eta",)},
        "eta returns what is list; reports names it, so it must be one number, or None",
    ),
    "norm": (
        {"eta": lambda self, s, n: norm(s.x), "reports": ("eta",)},
        r"eta returns what has the shape \(1,\); reports names it, so it must be one number, or None: take its entry",
    ),
    "short list of reports": (
        {"eta": lambda self, s, n: [1.0], "reports": ("eta",)},
        "eta returns what is list; reports names it, so it must be one number, or None",
    ),
    "matrix": (
        {"mixing": lambda self, clients: np.eye(clients)},
        "the hook mixing returns ndarray; it must return a Mixing",
    ),
    "mixing of others": (
        {"mixing": lambda self, clients: Mixing(np.eye(3))},
        "the hook mixing returns a Mixing of 3 clients; it must be one of all 5",
    ),
}


def later(hook, wrong, **attributes):
    """Return hooks of which one returns something else from the second round on."""

    def returned(self, *arguments):
        n = arguments[-1]
        right = getattr(FedAvg, hook)(self, *arguments)
        return wrong(right, *arguments) if n.round else right

    return {hook: returned, **attributes}


# The same for what begins in the second round.
LATER = {
    "kept width": (
        later("client", lambda right, s, i, steps: (right[0], State(c=s.x[:3])), **start_of_client(c=np.zeros(7))),
        r"the hook client in round 2 keeps 'c', which has the shape \(3,\); init gives a client 7 numbers of it",
    ),
    "kept number": (
        later("client", lambda right, s, i, steps: (right[0], State(c=s.x[:1])), **start_of_client(c=np.zeros(7))),
        r"the hook client in round 2 keeps 'c', which has the shape \(1,\); init gives a client 7 numbers of it",
    ),
    "growing matrix": (
        {
            "broadcast": ("x", "U[i]"),
            "init": lambda self, x0, clients: (State(x=x0, U=np.zeros((clients, 3))), State()),
            "server": lambda self, s, mean, n: s.replace(U=np.ones((5 + n.round, 3))),
        },
        r"the hook server in round 2 returns 'U', which has the shape \(6, 3\); it must keep the shape \(5, 3\)",
    ),
    "negative": (
        {"client_weights": lambda self, steps: steps.sizes * (-1) ** steps.round},
        "the hook client_weights in round 2 returns weights from -.* they must be finite, and not negative",
    ),
    "complex": (
        later("client", lambda right, s, i, steps: State(delta=s.x * 1j)),
        "the hook client in round 2 returns 'delta' with complex numbers; models are real: take its real part",
    ),
    "complex weights": (
        {"client_weights": lambda self, steps: steps.sizes * (1j if steps.round else 1)},
        "the hook client_weights in round 2 returns weights with complex numbers",
    ),
    "list of the server": (
        later("server", lambda right, s, mean, n: State(x=right.x.tolist())),
        r"the hook server in round 2 returns 'x', which is list; it must keep the shape \(7,\) of init",
    ),
    "links that begin": (
        {"mixing": lambda self, clients, t: Mixing(np.eye(clients)) if t else None},
        "the hook mixing returns Mixing in round 2, and NoneType before; .* in all rounds, or in none",
    ),
    "links that end": (
        {"mixing": lambda self, clients, t: None if t else Mixing(np.eye(clients))},
        "the hook mixing returns NoneType in round 2, and Mixing before",
    ),
    "complex server": (
        later("server", lambda right, s, mean, n: State(x=s.x * 1j)),
        "the hook server in round 2 returns 'x' with complex numbers",
    ),
    "three States": (
        later("client", lambda right, s, i, steps: (right[0], State(), State())),
        r"the hook client in round 2 returns \(State, State, State\); it must return a State that clients send",
    ),
    "nothing": (
        later("server", lambda *_: None),
        "the hook server in round 2 returns NoneType; it must return the next",
    ),
}


SETTING = {"rounds": 2, "local_steps": 2, "batch": 2, "metrics": ["loss_clients_mean"]}


def check(cls):
    """Return the sentences of the conformance tests that fail first."""
    outcomes = run_tests(Implementation(cls, {"lr": 0.1}), ["runs", "costs"])
    return [outcome.sentence for outcome in outcomes if outcome.status == FAILED]


@pytest.mark.parametrize("name", MISTAKES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_mistake_is_one_sentence(name):
    attributes, sentence = MISTAKES[name]
    cls = algorithm(**attributes)
    record = {"record": ["step"]} if "step" in attributes.get("records", ()) else {}
    with pytest.raises(UserError, match=f"^algorithm mine: .*{sentence}|^algorithm mine: {sentence}") as raised:
        fedatlas.train(cls, logistic(), lr=0.1, **SETTING, **record)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", LATER)
def test_a_mistake_of_a_later_round_is_one_sentence(name):
    attributes, sentence = LATER[name]
    with pytest.raises(UserError, match=f"^algorithm mine: {sentence}"):
        fedatlas.train(algorithm(**attributes), logistic(), lr=0.1, **SETTING)


def change(name):
    """Return a function that changes an array of a State."""

    def write(state):
        value = getattr(state, name)
        value += 1

    return write


IN_PLACE = {
    "client": lambda self, s, i, steps: change("x")(s) or State(delta=s.x),
    "server": lambda self, s, mean, n: change("delta")(mean) or State(x=s.x),
    "receive": lambda self, s, i: change("x")(s) or State(),
    "output": lambda self, s: change("x")(s) or s.x,
    "client_model": lambda self, s, i: change("x")(s) or s.x,
}


@pytest.mark.parametrize("hook", IN_PLACE)
def test_no_hook_changes_what_it_is_given(hook):
    with pytest.raises(UserError, match=rf"the hook {hook} changes (x|delta) in place: write `(\w+) = \2 \+ ...`"):
        fedatlas.train(algorithm(**{hook: IN_PLACE[hook]}), logistic(), lr=0.1, **SETTING)
    kept = {"init": lambda self, x0: (State(x=x0), State(c=np.zeros(7)))}
    own = {"client": lambda self, s, i, steps: change("c")(i) or State(delta=-steps.full(s.x))}
    with pytest.raises(UserError, match="the hook client changes c in place"):
        fedatlas.train(algorithm(**kept, **own), logistic(), lr=0.1, **SETTING)


def test_exact_oracles_are_refused_where_there_are_none():
    for hook, name in (("hessian_product", "hessian"), ("prox", "prox")):
        mine = algorithm(client=lambda self, s, i, steps, hook=hook: State(delta=getattr(steps, hook)(s.x, 0 * s.x)))
        with pytest.raises(
            UserError, match=rf"no {name} where full_gradients is minibatch: write requires = \('{name}'"
        ):
            fedatlas.train(mine, quadratic(), lr=0.1, full_gradients="minibatch", **SETTING)


@pytest.mark.parametrize("name", ["misspelt hook", "never noted", "triple", "kept width", "negative", "output"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_check_fails_with_the_same_sentence(name):
    attributes, sentence = MISTAKES[name]
    try:
        sentences = check(algorithm(**attributes))
    except UserError as error:  # the class is refused before any test
        sentences = [str(error)]
    assert any(re.search(sentence, text) for text in sentences), sentences


def test_tensors_get_the_same_sentence():
    mine = algorithm(client=lambda self, s, i, steps: (State(delta=s.x, size=s.x.norm()), State()))(lr=0.1)
    with pytest.raises(UserError, match="the hook client returns 'size', which is one number"):
        Simulation(mine, network("linear"), Setting(clients=5, rounds=1)).run()
    mine = algorithm(client=lambda self, s, i, steps: State(delta=np.zeros((len(steps.clients), len(s.x)))))(lr=0.1)
    with pytest.raises(UserError, match="returns 'delta' as an array of NumPy, but the model is one of torch"):
        Simulation(mine, network("linear"), Setting(clients=5, rounds=1)).run()


RIGHT = {
    "helpers": {"gain": lambda self: 1.0, "score": staticmethod(lambda: None)},
    "helpers with nearly the names of hooks": {
        "rates": (0.1, 0.2),
        "serve": lambda self, s: s.x,
        "servers": lambda self, s, mean, n: s,
        "clients": lambda self: 5,
        "mixings": property(lambda self: None),
        "lengths": lambda self, t: t,
        "outputting": lambda self, s, n: s.x,
    },
    "a helper that is read": {"state": lambda self: 2.0, "output": lambda self, s: s.x * self.state() / 2},
    "a vector of all": {"client": lambda self, s, i, steps: State(delta=-0.1 * s.x)},
    "notes": {"client": lambda self, s, i, steps: State(delta=-steps.full(s.x), size=Note(norm(steps.full(s.x))))},
    "infinite numbers": {"init": lambda self, x0: (State(x=x0, best=float("inf")), State(least=float("inf")))},
    "complex numbers that stay with the server": {
        "init": lambda self, x0: (State(x=x0, spectrum=np.fft.rfft(x0)), State()),
        "server": lambda self, s, mean, n: State(x=s.x + mean.delta, spectrum=np.fft.rfft(mean.delta)),
    },
    "zero weights": {"client_weights": lambda self, steps: (steps.clients[:, None] > 1).astype(float)},
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_hooks_are_not_accused(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fedatlas.train(algorithm(**RIGHT[name]), logistic(), lr=0.1, **SETTING)
