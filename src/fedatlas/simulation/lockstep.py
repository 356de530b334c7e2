"""Simulations that advance together on compiled kernels: one pass over the draws for all of their step sizes."""

import time

import numpy as np

from fedatlas.simulation.participation import Full
from fedatlas.simulation.schedules import Constant

CHUNK = 1 << 21  # draws that are held at once


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
    """Rounds of several simulations at once. See `fedatlas.simulation.kernels` for how a round is computed."""

    def __init__(self, simulations, recurrences):
        from fedatlas.simulation import kernels

        self.kernels, first = kernels, simulations[0]
        self.rows, self.setting, self.sampler, self.problem = (
            first.problem.one_sample_rows,
            first.setting,
            first.sampler,
            first.problem,
        )
        self.pooled = first.algorithm.pooled
        self.K = 1 if self.pooled else self.setting.local_steps
        self.fields = recurrences[0].fields
        self.sent = 1 if self.pooled else sum(b != 0 for b in recurrences[0].b)  # what no gradient moves is known
        self.lanes = {}
        for simulation, one in zip(simulations, recurrences, strict=True):
            parts = kernels.coefficients(one.A, one.b, one.c, self.K, self.problem.l2)
            self.lanes[simulation] = (*parts, one.gain)

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
        everyone = np.arange(M)
        if self.pooled and M * K > self.problem.samples:
            for t in range(start, stop):
                counts = np.bincount(self.sampler.draw(t, everyone, K).ravel(), minlength=self.problem.samples)
                drawn = np.flatnonzero(counts)
                yield t, drawn.astype(np.int32)[None, :, None], counts[drawn] / (M * K)
            return
        together = max(1, CHUNK // (M * K))
        for t in range(start, stop, together):
            draws = np.stack([self.sampler.draw(u, everyone, K) for u in range(t, min(t + together, stop))])
            draws = draws.reshape(len(draws), -1, self.K)
            yield t, draws, np.full(draws.shape[1], 1 / draws.shape[1])

    def _tiles(self, simulations):
        """Groups of simulations that are swept together; those that fold are apart, since they take another path."""
        for folds in (False, True):
            group = [s for s in simulations if bool(self.lanes[s][2].any()) == folds]
            for at in range(0, len(group), self.kernels.LANES):
                yield group[at : at + self.kernels.LANES]

    def _sweep(self, tile, z, first, draws, weights):
        lanes = next(n for n in (1, self.kernels.LANES) if n >= len(tile))
        padded = [*tile, *[tile[-1]] * (lanes - len(tile))]
        q, r, fold, maps, last, gain = map(_by_lane, zip(*map(self.lanes.get, padded), strict=True))
        steps = (q, r, fold.any(axis=-1), maps, last, gain)
        state = _by_lane([z[s].T for s in padded])
        work = (state, np.empty_like(state), np.empty_like(state), np.empty_like(state[0]))
        bad = np.full(lanes, -1)
        indptr, _, values, labels = self.rows
        dense = indptr.size == 0
        touched = not dense and not fold.any() and self.K * (values.size // labels.size) < len(state)
        vectors = (0,) * len(self.fields)
        self.kernels.sweep(self.rows, draws, weights, work, steps, touched, bad, vectors, (0,) * lanes)
        for lane, s in enumerate(tile):
            z[s] = np.ascontiguousarray(state[:, :, lane].T)
            if bad[lane] >= 0:
                s.diverged_round = first + int(bad[lane]) + 1


def _by_lane(parts):
    """Arrays of one shape, one a lane, as one contiguous array whose last axis are the lanes."""
    return np.ascontiguousarray(np.stack(parts, axis=-1))
