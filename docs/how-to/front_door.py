# %% [markdown]
# # fedatlas from Python
#
# This notebook trains federated algorithms on bundled data, compares them, uses arrays, clients and an algorithm of
# its own, reads results of the workflow, and ends with the scikit-learn estimator. [python.md](python.md) is the same
# in short. `make notebook` runs it and writes it anew, from `front_door.py`.

# %%
import fedatlas

# %% [markdown]
# ## One run
#
# The problem is a specification, as in an experiment file: logistic regression on data that ten clients hold, with
# label shares drawn from a Dirichlet distribution; a client counts by the number of its samples. A step size may be a
# formula of the problem's constants: `L` is the smoothness of the mean loss, `L_max` the largest of any client.

# %%
problem = {
    "kind": "logistic",
    "data": "breast_cancer",
    "l2": 0.1,
    "weights": "size",
    "partition": {"kind": "dirichlet", "alpha": 0.1},
}
conditions = {"clients": 10, "rounds": 100, "local_steps": 10, "batch": None}

frame = fedatlas.train("fedavg", problem, lr="1/L_max", **conditions)
frame[["round", "steps", "vectors_up", "gradients", "loss", "accuracy", "suboptimality"]].tail(3)

# %% [markdown]
# `attrs` holds what was run, and the last output.

# %%
frame.attrs["spec"]["parameters"], frame.attrs["status"], frame.attrs["x"].shape

# %% [markdown]
# ## Three algorithms
#
# The same problem, conditions and draws; each algorithm has its look in the atlas. FedAvg stops near the
# optimum and not at it, because the clients' data differ. SCAFFOLD and Scaffnew go on.

# %%
runs = [
    frame,
    fedatlas.train("scaffold", problem, lr="1/L_max", **conditions),
    fedatlas.train("scaffnew", problem, lr="1/L_max", p=0.1, **conditions),
]
ax = fedatlas.plot(runs, x="rounds")
_ = ax.set_title("breast cancer, ten clients, Dirichlet α = 0.1")
# %% [markdown]
# Against another cost the picture may differ: any of `rounds`, `steps`, `gradients`, `samples`, `vectors_up`,
# `vectors_down` and `seconds`.

# %%
ax = fedatlas.plot(runs, x="gradients")
# %% [markdown]
# ## Own arrays and own clients
#
# Four hospitals of different size measure a little differently. `partition` is a list with the rows of each. Three
# seeds make a band.

# %%
import numpy as np

generator = np.random.default_rng(0)
hospital = generator.choice(4, size=600, p=[0.5, 0.25, 0.15, 0.1])
X = generator.standard_normal((600, 10)) + 0.5 * generator.standard_normal((4, 10))[hospital]
y = (X @ generator.standard_normal(10) + generator.standard_normal(600) > 0).astype(int)

rows = [np.flatnonzero(hospital == number) for number in range(4)]
own = fedatlas.Softmax(X[:500], y[:500], l2=0.01, partition=[r[r < 500] for r in rows], test=(X[500:], y[500:]))
few = {"rounds": 60, "local_steps": 5, "batch": 4, "lr": "1/L_max"}
seeds = {name: [fedatlas.train(name, own, seed=seed, **few) for seed in range(3)] for name in ("fedavg", "scaffold")}
ax = fedatlas.plot(seeds, y="test_accuracy")
# %% [markdown]
# ## Own algorithm
#
# Hyper-parameters are the fields. `client` is the round of a block of clients, with rows as vectors; `server` gets the
# mean of what they sent. [algorithm.md](algorithm.md) says all that an algorithm may do.

# %%
from dataclasses import dataclass

from fedatlas import Algorithm, Array, Round, State, Steps, arrays, option


@dataclass(frozen=True, kw_only=True)
class FedHeavy(Algorithm):
    """FedHeavy (this notebook) is FedAvg with heavy-ball momentum at the server."""

    name = "fedheavy"
    label = "FedHeavy"

    lr: float = option(doc="local step size", above=0)
    beta: float = option(0.7, doc="momentum", low=0, below=1)

    def init(self, x0: Array) -> tuple[State, State]:
        return State(x=x0, m=arrays.zeros_like(x0)), State()

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        y = s.x
        for g in steps:  # K minibatches
            y = y - self.lr * g(y)
        return State(delta=y - s.x), State()  # what is sent, what the client keeps

    def server(self, s: State, mean: State, n: Round) -> State:
        m = self.beta * s.m + mean.delta
        return State(x=s.x + m, m=m)


heavy = fedatlas.train(FedHeavy, problem, lr="1/L_max", **conditions)
ax = fedatlas.plot([frame, heavy], y="loss")
# %% [markdown]
# A value that does not fit is refused with a sentence, before anything runs.

# %%
try:
    fedatlas.train(FedHeavy, problem, lr="1/L_max", beta=1.5, **conditions)
except fedatlas.UserError as error:
    print(error)

# %% [markdown]
# ## Results of the workflow
#
# `snakemake --cores 2 fedac_fig1 --config size=smoke` makes the results of an experiment: tuned step sizes, five
# algorithms, a grid of local steps and clients.

# %%
results = fedatlas.load_results("results/smoke/fedac_fig1")
results

# %%
chosen = results.table[results.table["chosen"]]
chosen.pivot_table(index="algorithm", columns=["local_steps", "clients"], values="score", sort=False).round(4)

# %%
results.claims[["claim", "verdict", "ours"]]

# %%
curves = results.curves
most = (curves["local_steps"] == curves["local_steps"].max()) & (curves["clients"] == curves["clients"].max())
ax = fedatlas.plot(curves[most], x="rounds")
# %% [markdown]
# ## The estimator
#
# A classifier of scikit-learn. Hyper-parameters that have no default take the values that theory advises, here of
# Scaffnew: 1/L_max, and sqrt(mu/L_max) for the probability of communication.

# %%
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_digits(return_X_y=True)
split = {"kind": "classes", "classes": 2}  # every client has samples of two digits
for name in ("fedavg", "scaffold", "scaffnew"):
    model = fedatlas.FederatedLogisticRegression(name, clients=10, partition=split, rounds=15, random_state=0)
    scores = cross_val_score(make_pipeline(StandardScaler(), model), X, y, cv=2)
    print(f"{name:9s} accuracy {scores.mean():.3f}")

# %%
model.fit(StandardScaler().fit_transform(X), y)
model.history_.attrs["spec"]["parameters"]
