"""Simulations that advance together on compiled rounds: one pass over the draws serves all of their step sizes.

The draws are those of NumPy, made by compiled code at the end of this module.
"""

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from fedatlas.federation.compiled.compilation import compile_in_turn
from fedatlas.federation.compiled.decorators import inline, kernel

CHUNK = 1 << 18  # draws in memory at once
LINE = 8  # doubles in a line of the cache
# The engine measures which number of threads is faster (`resources.Pace`), since hooks may hold Python's lock for any
# part of a round. A kernel holds none and knows its operations beforehand: a constant chooses any number of threads,
# and no round is spent on a trial. One that is too short for threads takes up to 1.6 times as long on two.
THREAD = 1 << 22  # operations of a thread's part of a round, below which starting it gains little: 2 ms on one core
DRAWS = 1 << 16  # draws of a thread's part, below which starting it gains little: 0.3 ms on one core
STEP = 64  # operations of a worker's step beside those on its row
MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645  # of the congruential generator in PCG64
INT64, INT128 = ir.IntType(64), ir.IntType(128)
PAIR = types.UniTuple(types.uint64, 2)  # the halves of a number of 128 bits, the high one first


class Kernel:
    """Rounds of several simulations at once. `fedatlas.federation.compiled.kernels` computes them.

    Args:
        simulations: Simulations of one problem on logistic data, one setting and one seed, for which
            `fedatlas.federation.compiled.lockstep_simulations` holds.
    """

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
        """Module of compiled rounds, which takes long to import."""
        from fedatlas.federation.compiled import kernels

        return kernels

    @functools.cached_property
    def coefficients(self) -> dict[Any, tuple[Any, ...]]:
        """Arrays from which the steps of each simulation are computed."""
        coefficients, l2 = {}, self.problem.l2
        for simulation, recurrence in self.recurrences.items():
            if self.K == 1:
                mean = recurrence.averaged()
                arrays = self.kernels.coefficients(mean.A, mean.b, mean.c, self.kernels.PERIOD, l2, again=True)
            else:
                arrays = self.kernels.coefficients(recurrence.A, recurrence.b, recurrence.c, self.K, l2)
                arrays = (*arrays[:-1], arrays[-1][-1], recurrence.gain)
            coefficients[simulation] = arrays
        return coefficients

    def advance(self, simulations: Sequence[Any], stop: int, pool: Any) -> None:
        """Run rounds up to ``stop``. A simulation stays at the round after which its numbers are not finite.

        Args:
            simulations: Those of the kernel's simulations that are run, all in one round.
            stop: Number of rounds after which they stop.
            pool: Pool that computes parts of the clients where a round is long enough, else groups of step sizes.
        """
        folding = {s: self.K > 1 and self.coefficients[s][2].any() for s in simulations}
        start_time = self.problem.clock()  # after the import of the kernels
        start = simulations[0].round
        z = {s: np.stack([getattr(s.s, name) for name in self.fields]).astype(np.float64) for s in simulations}
        for first, draws, weights in self._draws(start, stop, pool):
            live = [s for s in simulations if s.diverged_round is None]
            shared = self._threads(len(live), pool)  # where a round is too short, threads may share the step sizes
            split = not shared and pool.threads > 1 and self._operations(draws.size, len(live)) >= 2 * THREAD
            compute = functools.partial(
                self._sweep, z=z, first=first, draws=draws, weights=weights, pool=pool if shared else None
            )
            tiles = self._tiles(live, folding, self.kernels.WIDTHS[-2 if split else -1])
            for _ in (pool.map if split else map)(compute, tiles):
                pass
        seconds = (self.problem.clock() - start_time) / len(simulations)
        K = self.setting.local_steps
        for s in simulations:
            rounds = (stop if s.diverged_round is None else s.diverged_round) - start
            fields = {name: z[s][h].astype(s.x0.dtype) for h, name in enumerate(self.fields)}
            state = self.recurrences[s].resume(s.s.rebuild(fields))
            s.follow(state, rounds, K, len(s.algorithm.broadcast), self.sent, seconds)

    def _operations(self, steps: int, n: int) -> int:
        """Return about how many operations some local steps are at n step sizes."""
        entries = max(self.rows[1].size, self.rows[2].size) // len(self.rows[3])
        return steps * (STEP + entries * n)

    def _threads(self, n: int, pool: Any) -> int:
        """Return the threads that share the clients of a round at n step sizes, or 0 where it is too short for two."""
        M, K = self.setting.clients, self.K
        parts = 1 if K == 1 else self.kernels.parts(M, K, self.problem.dim)
        threads = min(pool.threads, parts, self._operations(M * K, n) // THREAD)
        return threads if threads > 1 else 0

    def _draws(self, start: int, stop: int, pool: Any) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Yield draws of several rounds at once: first round, row numbers (R, M, K) and weights of clients (M,)."""
        M, K = self.setting.clients, self.setting.local_steps
        fill = functools.partial(self._fill, pool)
        if self.pooled and M * K > self.problem.samples:
            for t in range(start, stop):
                counts = self.sampler.counts(t, M, K)
                if counts is None:
                    numbers = self.sampler.rounds(t, t + 1, K, fill).ravel()
                    counts = np.bincount(numbers, minlength=self.problem.samples)
                rows = np.flatnonzero(counts)
                yield t, rows.astype(np.int32)[None, :, None], counts[rows] / (M * K)
            return
        length = max(pool.threads, CHUNK // (M * K))  # a round of many draws has one stream
        for t in range(start, stop, length):
            draws = self.sampler.rounds(t, min(t + length, stop), K, fill)
            draws = draws.reshape(len(draws), -1, self.K)
            yield t, draws, np.full(draws.shape[1], 1 / draws.shape[1])

    def _fill(self, pool: Any, words: np.ndarray, bound: int, draws: np.ndarray) -> None:
        """Set draws as `draw` does, those of many long streams on threads."""
        threads = max(1, min(pool.threads, len(words), draws.size // DRAWS))
        parts = itertools.starmap(slice, _ranges(len(words), threads))
        for _ in (pool.map if threads > 1 else map)(lambda part: draw(words[part], bound, draws[part]), parts):
            pass

    def _tiles(self, simulations: Sequence[Any], folding: dict[Any, bool], width: int) -> Iterator[list[Any]]:
        """Yield groups of at most ``width`` simulations that share a pass.

        Those that fold take another path, and have own groups.
        """
        for folds in (False, True):
            group = [s for s in simulations if folding[s] == folds]
            for k in range(0, len(group), width):
                yield group[k : k + width]

    def _sweep(
        self, tile: list[Any], z: dict[Any, np.ndarray], first: int, draws: np.ndarray, weights: np.ndarray, pool: Any
    ) -> None:
        """Run rounds of a group. If numbers stop being finite, halves of the rounds show in which round.

        The n step sizes lie along the last axis of all arrays; the group's last one fills it up.

        Args:
            tile: Simulations of the group, at most WIDTHS[-1].
            z: Vectors (p, d) of the server by simulation, which are replaced by those after the rounds.
            first: Number of the first round.
            draws: Row numbers, (R, M, K).
            weights: Weights of clients, (M,).
            pool: Pool that computes parts of the clients, or None for rounds on this thread.
        """
        n = next(count for count in self.kernels.WIDTHS if count >= len(tile))
        padded = [*tile, *[tile[-1]] * (n - len(tile))]
        q, r, fold, *remaining = map(_side_by_side, zip(*map(self.coefficients.get, padded), strict=True))
        steps = (q, r, fold.any(axis=-1), *remaining)
        indptr, indices, values, labels = self.rows
        p, d = z[tile[0]].shape
        width = max(values.size, indices.size) // labels.size
        server = _aligned(-(-d * p * n // self.kernels.WIDE) * self.kernels.WIDE)
        vectors = server[: d * p * n].reshape(d, p, n)
        np.stack([z[s].T for s in padded], axis=-1, out=vectors)
        form: tuple[tuple[float, ...], ...] = ((0.0,) * n, (0.0,) * (p * n), (0.0,) * self.kernels.WIDE)
        form += ((0.0,) * (not indptr.size), (0.0,) * (not values.size))
        if self.K == 1:
            touched = bool(indptr.size) and draws.shape[1] * width < d
            state = (server, _aligned(server.size), _aligned(p * n), _aligned(self.kernels.DERIVATIVES))
            arguments = (self.rows, draws[:, :, 0], weights, state, steps, touched, *form)
            compile_in_turn(self.kernels.together, arguments)
            self.kernels.together(*arguments)
        else:
            touched = bool(indptr.size) and not fold.any() and self.K * width < d
            self._run_apart(draws, weights, server, steps, touched, form, pool)
        half = len(draws) // 2
        for k, s in enumerate(tile):
            new = np.ascontiguousarray(vectors[:, :, k].T)
            if np.isfinite(new).all() or not half:
                if not np.isfinite(new).all():
                    s.diverged_round = first + 1
                z[s] = new
                continue
            self._sweep([s], z, first, draws[:half], weights, pool)
            if s.diverged_round is None:
                self._sweep([s], z, first + half, draws[half:], weights, pool)

    def _run_apart(
        self,
        draws: np.ndarray,
        weights: np.ndarray,
        server: np.ndarray,
        steps: tuple[Any, ...],
        touched: bool,
        form: tuple[tuple[float, ...], ...],
        pool: Any,
    ) -> None:
        """Run rounds of several steps, long ones on threads. The parts of a round do not depend on the threads."""
        (_, M, K), size, n = draws.shape, server.size, len(form[0])
        count = self.kernels.parts(M, K, self.problem.dim)
        block = not touched and self.kernels.side_by_side(M // count, n, size)
        rounds = self.kernels.abreast if block else self.kernels.apart
        vectors = (size * self.kernels.WIDE, self.kernels.WIDE) if block else (size,)
        options = form if block else (touched, *form)
        sums = _aligned(count * size)

        def run(draws: np.ndarray, begin: int, end: int, finish: bool) -> None:
            state = (server, sums, _aligned(len(form[1])), *map(_aligned, vectors))
            arguments = (self.rows, draws, weights, state, steps, (begin, end, count, finish), *options)
            compile_in_turn(rounds, arguments)
            rounds(*arguments)

        threads = 0 if pool is None else self._threads(n, pool)
        if not threads:
            return run(draws, 0, count, True)
        ranges = list(_ranges(count, threads))
        for t in range(len(draws)):
            compute = functools.partial(run, draws[t : t + 1], finish=False)
            for _ in pool.map(lambda ends, compute=compute: compute(*ends), ranges):
                pass
            run(draws[t : t + 1], 0, 0, True)


def _ranges(count: int, threads: int) -> Iterator[tuple[int, int]]:
    """Yield the beginning and the end of about equal parts of a number of things, one for each thread."""
    return itertools.pairwise(count * k // threads for k in range(threads + 1))


def _side_by_side(parts: Sequence[Any]) -> np.ndarray:
    """Return arrays of one shape, one for each step size, as one whose last axis are the step sizes."""
    shape = (*np.shape(parts[0]), len(parts))
    return np.stack(parts, axis=-1, out=_aligned(math.prod(shape)).reshape(shape))


def _aligned(size: int) -> np.ndarray:
    """Return zeros that begin with a line of the cache: vectors across two lines would cost a quarter of the time."""
    zeros = np.zeros(size + LINE)
    first = -zeros.ctypes.data % (8 * LINE) // 8
    return zeros[first : first + size]


def draw(words: np.ndarray, bound: int, draws: np.ndarray) -> None:
    """Set draws of several streams with the bits of NumPy's ``Generator.integers``; arguments are those of `fill`.

    The row of a step takes NumPy a third of the time of the whole step: it calls a function for each number, and makes
    objects for each stream. Here a stream is PCG64 (O'Neill, 2014) in the processor's registers, and a number below a
    bound is made as NumPy makes it, by the multiplication of Lemire (2019).
    """
    arguments = words, bound, draws
    compile_in_turn(fill, arguments)
    fill(*arguments)


@kernel
def fill(words, bound, draws):
    """Set each row of draws to numbers below a bound that its stream draws.

    Args:
        words: Four words of 64 bits from which a stream starts, (streams, 4); see `fedatlas.federation.streams.states`.
        bound: Bound of the numbers, from 1 to 2^31.
        draws: Rows of draws, (streams, length), int32.
    """
    low, one, limit = np.uint64(0xFFFFFFFF), np.uint64(1), np.uint64(bound)
    threshold = np.uint64(1 << 32) % limit  # of the low bits below which some numbers would come more often
    for s in range(len(draws)):
        high, odd = words[s, 2] << one | words[s, 3] >> np.uint64(63), words[s, 3] << one | one
        increment = high, odd
        state = advance(plus(increment, (words[s, 0], words[s, 1])), increment)
        bits, halves = np.uint64(0), 0
        for at in range(draws.shape[1]):
            while True:
                if not halves:
                    state = advance(state, increment)
                    bits, halves = output(state), 2
                product = (bits & low) * limit
                bits, halves = bits >> np.uint64(32), halves - 1
                if product & low >= threshold:
                    break
            draws[s, at] = product >> np.uint64(32)


def _joined(builder, pair):
    """Return a number of 128 bits from its high and its low half."""
    high, low = (builder.zext(builder.extract_value(pair, k), INT128) for k in range(2))
    return builder.or_(builder.shl(high, INT128(64)), low)


@intrinsic
def advance(typing, state, increment):
    """Return the next state of a linear congruential generator of 128 bits: pairs of a high and a low half."""

    def generate(context, builder, signature, args):
        state, increment = (_joined(builder, pair) for pair in args)
        state = builder.add(builder.mul(state, INT128(MULTIPLIER)), increment)
        halves = builder.trunc(builder.lshr(state, INT128(64)), INT64), builder.trunc(state, INT64)
        return context.make_tuple(builder, PAIR, halves)

    return PAIR(PAIR, PAIR), generate


@intrinsic
def plus(typing, a, b):
    """Return the sum of two numbers of 128 bits: pairs of a high and a low half."""

    def generate(context, builder, signature, args):
        total = builder.add(*(_joined(builder, pair) for pair in args))
        halves = builder.trunc(builder.lshr(total, INT128(64)), INT64), builder.trunc(total, INT64)
        return context.make_tuple(builder, PAIR, halves)

    return PAIR(PAIR, PAIR), generate


@inline
def output(state):
    """Return the 64 bits that a state gives: its halves' exclusive or, rotated by its highest bits."""
    bits, turn = state[0] ^ state[1], state[0] >> np.uint64(58)
    return (bits >> turn) | (bits << (-turn & np.uint64(63)))
