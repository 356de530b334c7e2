"""Simulations that advance together on compiled kernels: one pass over the draws for all of their step sizes."""

import math
import time

import numpy as np

from fedatlas.participation.kinds_ import Full
from fedatlas.schedules.kinds_ import Constant

CHUNK = 1 << 18  # draws that are held at once
LINE = 8  # doubles in a line of the cache


def kernel(simulations):
    """A Kernel for simulations of one problem, setting and seed, or None if some of them do not fit one."""
    recurrences = fit(simulations)
    return None if recurrences is None else Kernel(simulations, recurrences)


def fit(simulations):
    """The Recurrences by which a Kernel advances simulations, or None if some of them do not fit one.

    They fit if every worker takes part, draws one sample a step from the same logistic data, and the algorithm is a
    Recurrence.
    """
    first = simulations[0]
    setting, problem = first.setting, first.problem
    plain = setting.participants == Full() and first.schedule == Constant() and setting.sampling == "replacement"
    if not plain or setting.local_epochs is not None or setting.batch != 1 or problem.one_sample_rows is None:
        return None
    recurrences = [simulation.algorithm.recurrence(setting.local_steps) for simulation in simulations]
    pooled = {simulation.algorithm.pooled for simulation in simulations}
    if None in recurrences or len({one.fields for one in recurrences}) > 1 or len(pooled) > 1:
        return None
    return recurrences


class Kernel:
    """Rounds of several simulations at once. See `fedatlas.compiled.kernels` for how a round is computed."""

    def __init__(self, simulations, recurrences):
        from fedatlas.compiled import kernels

        self.kernels, first = kernels, simulations[0]
        self.setting, self.sampler, self.problem = first.setting, first.sampler, first.problem
        self.rows = first.problem.one_sample_rows
        self.pooled = first.algorithm.pooled
        self.K = 1 if self.pooled else self.setting.local_steps
        self.fields = recurrences[0].fields
        self.sent = 1 if self.pooled else sum(b != 0 for b in recurrences[0].b)  # what no gradient moves is known
        l2 = self.problem.l2
        self.lanes = {}
        for simulation, one in zip(simulations, recurrences, strict=True):
            if self.K == 1:
                one = one.averaged()
                parts = kernels.coefficients(one.A, one.b, one.c, kernels.PERIOD, l2, again=True)
            else:
                parts = kernels.coefficients(one.A, one.b, one.c, self.K, l2)
                parts = (*parts[:-1], parts[-1][-1], one.gain)
            self.lanes[simulation] = parts

    def advance(self, simulations, stop):
        """Rounds up to ``stop``; a simulation whose numbers cease to be finite stays at the round where they did."""
        began = time.perf_counter()
        start = simulations[0].round
        z = {s: np.stack([getattr(s.s, name) for name in self.fields]).astype(np.float64) for s in simulations}
        for first, draws, weights in self._draws(start, stop):
            for tile in self._tiles([s for s in simulations if s.diverged_round is None]):
                self._sweep(tile, z, first, draws, weights)
        seconds = (time.perf_counter() - began) / len(simulations)
        for s in simulations:
            rounds = (stop if s.diverged_round is None else s.diverged_round) - start
            fields = {name: z[s][h].astype(s.x0.dtype) for h, name in enumerate(self.fields)}
            s.s = s.algorithm.resume(**fields)
            s.round += rounds
            s.local_steps += rounds * self.setting.local_steps
            s.costs["vectors_up"] += rounds * self.sent
            s.costs["vectors_down"] += rounds * len(s.algorithm.down)
            s.costs["gradients"] += rounds * self.setting.local_steps
            s.costs["samples"] += rounds * self.setting.local_steps
            s.costs["seconds"] += seconds

    def _draws(self, start, stop):
        """(first round, rows (R, M, K), weights (M,)) of runs of rounds."""
        M, K = self.setting.clients, self.setting.local_steps
        if self.pooled and M * K > self.problem.samples:
            for t in range(start, stop):
                counts = self.sampler.counts(t, M, K)
                if counts is None:
                    counts = np.bincount(self.sampler.rounds(t, t + 1, K).ravel(), minlength=self.problem.samples)
                drawn = np.flatnonzero(counts)
                yield t, drawn.astype(np.int32)[None, :, None], counts[drawn] / (M * K)
            return
        run = max(1, CHUNK // (M * K))
        for t in range(start, stop, run):
            draws = self.sampler.rounds(t, min(t + run, stop), K)
            draws = draws.reshape(len(draws), -1, self.K)
            yield t, draws, np.full(draws.shape[1], 1 / draws.shape[1])

    def _tiles(self, simulations):
        """Groups of simulations that are swept together; those that fold are apart, since they take another path."""
        folding = [self.K > 1 and self.lanes[s][2].any() for s in simulations]
        for folds in (False, True):
            group = [s for s, one in zip(simulations, folding, strict=True) if one == folds]
            for at in range(0, len(group), self.kernels.WIDTHS[-1]):
                yield group[at : at + self.kernels.WIDTHS[-1]]

    def _sweep(self, tile, z, first, draws, weights):
        """Rounds of a tile, from and to z; where numbers cease to be finite, halves of the rounds say in which."""
        lanes = next(n for n in self.kernels.WIDTHS if n >= len(tile))
        padded = [*tile, *[tile[-1]] * (lanes - len(tile))]
        q, r, fold, *others = map(_by_lane, zip(*map(self.lanes.get, padded), strict=True))
        steps = (q, r, fold.any(axis=-1), *others)
        indptr, indices, values, labels = self.rows
        p, d = z[tile[0]].shape
        width = max(values.size, indices.size) // labels.size
        server = _aligned(-(-d * p * lanes // self.kernels.WIDE) * self.kernels.WIDE)
        vectors = server[: d * p * lanes].reshape(d, p, lanes)
        np.stack([z[s].T for s in padded], axis=-1, out=vectors)
        state = (server, _aligned(server.size), _aligned(p * lanes))
        form = ((0.0,) * lanes, (0.0,) * (p * lanes), (0.0,) * self.kernels.WIDE)
        form += ((0.0,) * (not indptr.size), (0.0,) * (not values.size))
        if self.K == 1:
            touched = bool(indptr.size) and draws.shape[1] * width < d
            state = (*state, _aligned(self.kernels.DERIVATIVES))
            self.kernels.together(self.rows, draws[:, :, 0], weights, state, steps, touched, *form)
        else:
            touched = bool(indptr.size) and not fold.any() and self.K * width < d
            state = (*state, _aligned(server.size))
            self.kernels.apart(self.rows, draws, weights, state, steps, touched, *form)
        half = len(draws) // 2
        for lane, s in enumerate(tile):
            new = np.ascontiguousarray(vectors[:, :, lane].T)
            if np.isfinite(new).all() or not half:
                if not np.isfinite(new).all():
                    s.diverged_round = first + 1
                z[s] = new
                continue
            self._sweep([s], z, first, draws[:half], weights)
            if s.diverged_round is None:
                self._sweep([s], z, first + half, draws[half:], weights)


def _by_lane(parts):
    """Arrays of one shape, one a lane, as one contiguous array whose last axis are the lanes."""
    shape = (*np.shape(parts[0]), len(parts))
    return np.stack(parts, axis=-1, out=_aligned(math.prod(shape)).reshape(shape))


def _aligned(size):
    """Zeros from the start of a line of the cache on: no vector lies in two, which costs a quarter of the time."""
    zeros = np.zeros(size + LINE)
    first = -zeros.ctypes.data % (8 * LINE) // 8
    return zeros[first : first + size]
