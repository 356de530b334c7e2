"""Simulations that advance together on compiled rounds: one pass over the draws serves all of their step sizes."""

import functools
import math
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

CHUNK = 1 << 18  # draws that are held at once
LINE = 8  # doubles in a line of the cache


class Kernel:
    """Rounds of several simulations at once. See `fedatlas.federation.compiled.kernels` for how a round is computed."""

    def __init__(self, simulations: Sequence[Any]) -> None:
        first = simulations[0]
        recurrences = [simulation.algorithm.recurrence(first.setting.local_steps) for simulation in simulations]
        self.setting, self.sampler, self.problem = first.setting, first.sampler, first.problem
        self.rows = first.problem.one_sample_rows
        self.pooled = first.algorithm.pooled
        self.K = 1 if self.pooled else self.setting.local_steps
        self.fields = recurrences[0].fields
        # a vector that no gradient changes need not be sent: the server can compute it
        self.sent = 1 if self.pooled else sum(b != 0 for b in recurrences[0].b)
        self.recurrences = dict(zip(simulations, recurrences, strict=True))

    @functools.cached_property
    def kernels(self) -> Any:
        """The module of compiled rounds, which takes long to import."""
        from fedatlas.federation.compiled import kernels

        return kernels

    @functools.cached_property
    def coefficients(self) -> dict[Any, tuple[Any, ...]]:
        """What a simulation's steps are computed from, by simulation."""
        found, l2 = {}, self.problem.l2
        for simulation, one in self.recurrences.items():
            if self.K == 1:
                one = one.averaged()
                parts = self.kernels.coefficients(one.A, one.b, one.c, self.kernels.PERIOD, l2, again=True)
            else:
                parts = self.kernels.coefficients(one.A, one.b, one.c, self.K, l2)
                parts = (*parts[:-1], parts[-1][-1], one.gain)
            found[simulation] = parts
        return found

    def advance(self, simulations: Sequence[Any], stop: int) -> None:
        """Run rounds up to ``stop``. A simulation stays at the round after which its numbers are not finite."""
        folding = {s: self.K > 1 and self.coefficients[s][2].any() for s in simulations}
        began = time.perf_counter()  # after the import of the kernels
        start = simulations[0].round
        z = {s: np.stack([getattr(s.s, name) for name in self.fields]).astype(np.float64) for s in simulations}
        for first, draws, weights in self._draws(start, stop):
            for tile in self._tiles([s for s in simulations if s.diverged_round is None], folding):
                self._sweep(tile, z, first, draws, weights)
        seconds = (time.perf_counter() - began) / len(simulations)
        K = self.setting.local_steps
        for s in simulations:
            rounds = (stop if s.diverged_round is None else s.diverged_round) - start
            fields = {name: z[s][h].astype(s.x0.dtype) for h, name in enumerate(self.fields)}
            costs = {"gradients": rounds * K, "samples": rounds * K, "seconds": seconds}
            costs |= {"vectors_up": rounds * self.sent, "vectors_down": rounds * len(s.algorithm.broadcast)}
            s.follow(s.algorithm.resume(**fields), rounds, rounds * K, costs)

    def _draws(self, start: int, stop: int) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """First round, row numbers (R, M, K) and weights of clients (M,), of several rounds at once."""
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

    def _tiles(self, simulations: Sequence[Any], folding: dict[Any, bool]) -> Iterator[list[Any]]:
        """Groups of simulations that are computed together; those that fold take another path and are not mixed with
        the others."""
        for folds in (False, True):
            group = [s for s in simulations if folding[s] == folds]
            for at in range(0, len(group), self.kernels.WIDTHS[-1]):
                yield group[at : at + self.kernels.WIDTHS[-1]]

    def _sweep(
        self, tile: list[Any], z: dict[Any, np.ndarray], first: int, draws: np.ndarray, weights: np.ndarray
    ) -> None:
        """Rounds of a group, which change z. If numbers stop being finite, halves of the rounds show in which round.

        The n step sizes lie along the last axis of all arrays; the group's last one fills it up.
        """
        n = next(count for count in self.kernels.WIDTHS if count >= len(tile))
        padded = [*tile, *[tile[-1]] * (n - len(tile))]
        q, r, fold, *others = map(_side_by_side, zip(*map(self.coefficients.get, padded), strict=True))
        steps = (q, r, fold.any(axis=-1), *others)
        indptr, indices, values, labels = self.rows
        p, d = z[tile[0]].shape
        width = max(values.size, indices.size) // labels.size
        server = _aligned(-(-d * p * n // self.kernels.WIDE) * self.kernels.WIDE)
        vectors = server[: d * p * n].reshape(d, p, n)
        np.stack([z[s].T for s in padded], axis=-1, out=vectors)
        state: tuple[np.ndarray, ...] = (server, _aligned(server.size), _aligned(p * n))
        form: tuple[tuple[float, ...], ...] = ((0.0,) * n, (0.0,) * (p * n), (0.0,) * self.kernels.WIDE)
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
        for at, s in enumerate(tile):
            new = np.ascontiguousarray(vectors[:, :, at].T)
            if np.isfinite(new).all() or not half:
                if not np.isfinite(new).all():
                    s.diverged_round = first + 1
                z[s] = new
                continue
            self._sweep([s], z, first, draws[:half], weights)
            if s.diverged_round is None:
                self._sweep([s], z, first + half, draws[half:], weights)


def _side_by_side(parts: Sequence[Any]) -> np.ndarray:
    """Arrays of one shape, one for each step size, as one contiguous array whose last axis are the step sizes."""
    shape = (*np.shape(parts[0]), len(parts))
    return np.stack(parts, axis=-1, out=_aligned(math.prod(shape)).reshape(shape))


def _aligned(size: int) -> np.ndarray:
    """Zeros that begin with a line of the cache. A vector that lies in two lines would cost a quarter of the time."""
    zeros = np.zeros(size + LINE)
    first = -zeros.ctypes.data % (8 * LINE) // 8
    return zeros[first : first + size]
