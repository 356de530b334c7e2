"""Draws of NumPy's ``Generator.integers`` from several streams in one call, with the same bits.

The row of a step takes NumPy a third of the time of the whole step: it calls a function for each number, and makes
objects for each stream. Here a stream is PCG64 (O'Neill, 2014) in the processor's registers, and a number below a bound
is made as NumPy makes it, by the multiplication of Lemire (2019).
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from fedatlas.federation.compiled.compilation import compile_in_turn
from fedatlas.federation.compiled.decorators import inline, kernel

MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
INT64, INT128 = ir.IntType(64), ir.IntType(128)
PAIR = types.UniTuple(types.uint64, 2)


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


def draw(words: np.ndarray, bound: int, draws: np.ndarray) -> None:
    """Set draws as `fill` does, which is compiled first."""
    arguments = words, bound, draws
    compile_in_turn(fill, arguments)
    fill(*arguments)
