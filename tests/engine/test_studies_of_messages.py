"""Methods of papers that recur, compress, sample, mask or clip what clients send: each as a study and as a loop."""

import numpy as np
import pytest

from fedatlas import Coded, Rows, State, stream
from fedatlas.federation.arrays import column, maximum, minimum, norm, product, sqrt, to_numpy, top_k, where, zeros_like
from tests.engine.studies import LR, K, Local, M, T, descend, full, gradient, local, simulation, study
from tests.helpers import network, quadratic

P, D = 0.4, 7  # probability of a full gradient; dimension of the logistic problem
SIGMA, CLIP = 0.3, 0.5


@study
class FedPAGE(Local):
    """FedPAGE (Zhao et al. 2021): with probability p full gradients, else local steps on recursive ones."""

    broadcast = ("x", "g")

    def init(self, x0):
        return State(x=x0, g=zeros_like(x0)), State()

    def client(self, s, i, steps):
        if steps.round == 0 or steps.shared_rng().random() < P:
            return State(g=steps.full(s.x))
        before, y, v = s.x, s.x - self.lr * s.g, s.g
        for g in list(steps)[1:]:
            v = g(y) - g(before) + v
            before, y = y, y - self.lr * v
        return State(g=(s.x - y) / (self.lr * len(steps)))

    def server(self, s, mean, n):
        return State(x=s.x - self.lr * mean.g, g=mean.g)


def fedpage(run):
    x, g = run.x0, None
    for t in range(T):
        if t == 0 or stream(1, "algorithm", t, 2).random() < P:
            g = np.mean([full(run, i, x) for i in range(M)], axis=0)
        else:
            changes = []
            for i in range(M):
                points, v = [x, x - LR * g], g
                for k in range(1, K):
                    v = gradient(run, t, k, i)(points[-1]) - gradient(run, t, k, i)(points[-2]) + v
                    points.append(points[-1] - LR * v)
                changes.append(points[-1] - x)
            g = -np.mean(changes, axis=0) / (LR * K)
        x = x - LR * g
    return x


def sketch_of(d, rows=3, columns=4):
    """Return the matrix of a count sketch, (d, rows * columns)."""
    rng, S = np.random.default_rng(7), np.zeros((d, rows, columns))
    for r in range(rows):
        S[np.arange(d), r, rng.integers(columns, size=d)] = rng.choice([-1.0, 1.0], size=d)
    return S.reshape(d, -1)


def unsketch(table, S):
    """Return the medians of the rows' estimates, (d,)."""
    return np.median((table * S).reshape(len(S), 3, -1).sum(-1), axis=1)


@study
class FetchSGD(Local):
    """FetchSGD (Rothchild et al. 2020): sketches of gradients; momentum and errors are sketches too."""

    def init(self, x0):
        empty = np.zeros(sketch_of(len(x0)).shape[1])
        return State(x=x0, u=empty, e=empty), State()

    def client(self, s, i, steps):
        return State(table=product(steps.mean(s.x), sketch_of(len(s.x))))

    def server(self, s, mean, n):
        S = sketch_of(len(s.x))
        u = 0.5 * s.u + mean.table
        e = s.e + self.lr * u
        step = top_k(unsketch(e, S)[None], 2)[0]
        return State(x=s.x - step, u=u, e=e - product(step[None], S)[0])


def fetchsgd(run):
    x, S = run.x0, sketch_of(D)
    u = e = 0
    for t in range(T):
        g = np.mean([gradient(run, t, k, i)(x) for i in range(M) for k in range(K)], axis=0)
        u = 0.5 * u + g @ S
        e = e + LR * u
        estimate = unsketch(e, S)
        step = np.where(np.abs(estimate) >= np.sort(np.abs(estimate))[-2], estimate, 0)
        x, e = x - step, e - step @ S
    return x


@study
class OptimalSampling(Local):
    """Optimal Client Sampling (Chen et al. 2022): clients send changes with probabilities as their norms: two."""

    def init(self, x0):
        return State(x=x0), State(delta=zeros_like(x0))

    def before(self, s, i, steps):
        delta = descend(self, s.x, steps) - s.x
        return State(size=norm(delta)), State(delta=delta)

    def client(self, s, i, steps):
        p = minimum(2 / steps.all_clients * norm(i.delta) / s.size, 1.0 + 0 * norm(i.delta))
        sent = column(np.array([rng.random() for rng in steps.client_rngs()]), s.x) < p
        bits = 64 * i.delta.shape[1] * to_numpy(sent)[:, 0]
        return State(delta=Coded(where(sent, i.delta / p, 0.0), bits)), i


def optimal_sampling(run):
    x = run.x0
    for t in range(T):
        changes = [local(run, t, i, x) - x for i in range(M)]
        sizes = np.linalg.norm(changes, axis=1)
        p = np.minimum(2 * sizes / sizes.sum(), 1)
        coins = [stream(1, "algorithm", t, 3, i).random() for i in range(M)]
        x = x + sum(changes[i] / p[i] for i in range(M) if coins[i] < p[i]) / M
    return x


@study
class DPFTRL(Local):
    """DP-FTRL (Kairouz et al. 2021): sums of clipped changes, with the noise of a tree over the rounds."""

    def init(self, x0):
        return State(x=x0, start=x0, total=zeros_like(x0), tree=np.zeros((8, len(x0)))), State()

    def client(self, s, i, steps):
        delta = descend(self, s.x, steps) - s.x
        return State(delta=CLIP / maximum(norm(delta), CLIP) * delta)

    def server(self, s, mean, n):
        level = ((n.round + 1) & -(n.round + 1)).bit_length() - 1  # the nodes below it are now parts of one
        noise = SIGMA * n.rng.standard_normal(len(s.x))
        tree = np.where(np.arange(8)[:, None] < level, 0.0, s.tree)
        tree[level] = noise
        total = s.total + mean.delta
        return s.replace(x=s.start + total + tree.sum(0), total=total, tree=tree)


def dp_ftrl(run):
    x, total, nodes = run.x0, 0, {}
    for t in range(T):
        changes = [local(run, t, i, x) - x for i in range(M)]
        total = total + np.mean([c * min(1, CLIP / np.linalg.norm(c)) for c in changes], axis=0)
        last, noise = t + 1, 0
        for size in (1, 2, 4, 8):  # a node that ends with round `last` has the noise that is drawn there
            if last % size == 0:
                nodes[last - size, last] = SIGMA * stream(1, "algorithm", t, 0).standard_normal(D)
        first = 0
        while first < last:
            size = 1 << ((last - first).bit_length() - 1)
            noise = noise + nodes[first, first + size]
            first += size
        x = run.x0 + total + noise
    return x


@study
class SecureSum(Local):
    """Secure aggregation (Bonawitz et al. 2017): whole numbers modulo 2^32, with masks that cancel in the sum."""

    full_participation = True

    def client(self, s, i, steps):
        delta, m = descend(self, s.x, steps) - s.x, steps.all_clients
        pairs = np.triu(np.ones((m, m)), 1)[..., None] * steps.shared_rng().integers(2**32, size=(m, m, delta.shape[1]))
        masks = (pairs.sum(1) - pairs.sum(0))[steps.clients]
        return State(delta=Coded((np.rint(delta * 2**20) + masks) % 2**32, 32 * delta.shape[1]))

    def server(self, s, mean, n):
        total = np.rint(mean.delta * n.active) % 2**32
        return State(x=s.x + (total - 2**32 * (total >= 2**31)) / 2**20 / n.active)


def secure_sum(run):
    x = run.x0
    for t in range(T):
        x = x + sum(np.rint((local(run, t, i, x) - x) * 2**20) for i in range(M)) / 2**20 / M
    return x


@study
class FedSplit(Local):
    """FedSplit (Pathak and Wainwright 2020): Peaceman-Rachford splitting by exact proximal steps."""

    exact_prox = True
    full_participation = True

    def init(self, x0):
        return State(x=x0), State(z=x0)

    def client(self, s, i, steps):
        z = i.z + 2 * (steps.prox(2 * s.x - i.z, 1 / self.lr) - s.x)
        return State(z=z), State(z=z)

    def server(self, s, mean, n):
        return State(x=mean.z)


def fedsplit(run):
    x, z = run.x0, [run.x0] * M
    for _ in range(T):
        for i in range(M):
            A, b = run.problem.A[i], run.problem.b[i]
            half = np.linalg.solve(A + np.eye(len(x)) / LR, b + (2 * x - z[i]) / LR)
            z[i] = z[i] + 2 * (half - x)
        x = np.mean(z, axis=0)
    return x


@study
class FedDoG(Local):
    """Local steps of DoG (Ivgi et al. 2023), whose size is the largest distance from the start over all gradients."""

    def init(self, x0):
        return State(x=x0), State(start=x0, far=0.01, squares=0.0)

    def client(self, s, i, steps):
        y, far, squares = s.x, i.far, i.squares
        for g in steps:
            direction = g(y)
            far, squares = maximum(far, norm(y - i.start)), squares + norm(direction) ** 2
            y = y - far / sqrt(squares) * direction
        return State(delta=y - s.x), State(start=i.start, far=far, squares=squares)


def feddog(run):
    x, far, squares = run.x0, [0.01] * M, [0.0] * M
    for t in range(T):
        models = []
        for i in range(M):
            y = x
            for k in range(K):
                g = gradient(run, t, k, i)(y)
                far[i] = max(far[i], np.linalg.norm(y - run.x0))
                squares[i] += g @ g
                y = y - far[i] / np.sqrt(squares[i]) * g
            models.append(y)
        x = np.mean(models, axis=0)
    return x


@study
class CenteredClipping(Local):
    """Centred clipping (Karimireddy et al. 2021) of momenta; clients 0 and 1 send the opposite of theirs, tenfold."""

    def init(self, x0):
        return State(x=x0, v=zeros_like(x0)), State(m=zeros_like(x0))

    def client(self, s, i, steps):
        m = 0.5 * i.m + 0.5 * steps.mean(s.x)
        return State(m=Rows(where(steps.clients[:, None] < 2, -10 * m, m))), State(m=m)

    def server(self, s, mean, n):
        v = s.v
        for _ in range(3):
            rest = mean.m - v
            v = v + (CLIP / maximum(norm(rest), CLIP) * rest).mean(0)
        return State(x=s.x - self.lr * v, v=v)


def centered_clipping(run):
    x, v, momenta = run.x0, np.zeros(D), np.zeros((M, D))
    for t in range(T):
        for i in range(M):
            momenta[i] = (momenta[i] + np.mean([gradient(run, t, k, i)(x) for k in range(K)], axis=0)) / 2
        sent = [-10 * momenta[i] if i < 2 else momenta[i] for i in range(M)]
        for _ in range(3):
            v = v + sum((m - v) * min(1, CLIP / np.linalg.norm(m - v)) for m in sent) / M
        x = x - LR * v
    return x


LOOPS = {
    FedPAGE: fedpage,
    FetchSGD: fetchsgd,
    OptimalSampling: optimal_sampling,
    DPFTRL: dp_ftrl,
    SecureSum: secure_sum,
    FedSplit: fedsplit,
    FedDoG: feddog,
    CenteredClipping: centered_clipping,
}


def of(cls, **options):
    return simulation(cls, quadratic(dim=D) if cls is FedSplit else None, **options)


@pytest.mark.parametrize("cls", LOOPS, ids=lambda cls: cls.name)
def test_a_study_is_the_loop_of_its_paper(cls):
    run = of(cls)
    run.run()
    np.testing.assert_allclose(run.output, LOOPS[cls](run), rtol=1e-10, atol=1e-12)
    for block in (1, 2):
        part = of(cls, block=block)
        part.run()
        assert part.output.tobytes() == run.output.tobytes()


@pytest.mark.parametrize("cls", [FedPAGE, OptimalSampling, FedDoG, CenteredClipping], ids=lambda cls: cls.name)
def test_a_study_in_arrays_of_either_library_runs_on_networks(cls):
    problem = network({"kind": "mlp", "hidden": [4]}, dtype="float32")
    whole, parts = (simulation(cls, problem, block) for block in (M, 1))
    rows = [run.run().rows[-1] for run in (whole, parts)]
    assert rows[0]["loss"] == rows[1]["loss"] and np.isfinite(rows[0]["loss"])
    assert to_numpy(whole.output).tobytes() == to_numpy(parts.output).tobytes()


@pytest.mark.parametrize(
    ("cls", "bits"),
    [(FetchSGD, 64 * 12), (SecureSum, 32 * D), (FedSplit, 64 * D), (DPFTRL, 64 * D)],
    ids=lambda value: getattr(value, "name", ""),
)
def test_what_clients_send_is_counted(cls, bits):
    assert of(cls).run().rows[-1]["bits_up"] == T * bits


def test_a_client_that_sends_nothing_sends_no_bits():
    run = of(OptimalSampling)
    sent = run.run().rows[-1]["bits_up"] * M / 64 - T * M  # less a norm of each client and round
    assert sent % D == 0 and 0 < sent / D < T * M


def test_a_masked_message_says_nothing_but_the_sum():
    @study
    class Overheard(SecureSum):
        def client(self, s, i, steps):
            heard.append((super().client(s, i, steps).delta.rows, np.rint((descend(self, s.x, steps) - s.x) * 2**20)))
            return super().client(s, i, steps)

    heard = []
    of(Overheard, rounds=1).run()
    ((masked, plain),) = heard
    assert (masked.sum(0) % 2**32 == plain.sum(0) % 2**32).all()
    assert abs(plain).max() < 2**22 and np.median(abs(masked - 2**31)) > 2**27  # not near 0, of either sign
