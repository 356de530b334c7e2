"""The search over a grid as docs/concepts/comparing.md tells it, in the slowest way."""

import itertools
import statistics


def tuned_search(loss, axes, seeds, scoring, next_value, tests=3):
    """The chosen value, its confirmation in words, all (value, seed) that ran, and the values that were refuted.

    loss: (value, seed) -> loss, inf where it diverges; a value is a tuple. axes: Lists of numbers. seeds, scoring: The
    tuning seeds and the scoring seeds. next_value: (axis, its values, best) -> value beyond the end, or None.
    """
    ran = {}

    def run(value, seed):
        ran[value, seed] = loss(value, seed)
        return ran[value, seed]

    def median(value, those):
        losses = [run(value, seed) for seed in those]
        return float("inf") if float("inf") in losses else statistics.median(losses)

    def mean(value, those):
        return statistics.fmean(run(value, seed) for seed in those)

    def around(value):
        near = []
        for k, axis in enumerate(axes):
            ordered = sorted(axis)
            at = ordered.index(value[k])
            near += [(*value[:k], other, *value[k + 1 :]) for other in ordered[at - 1 : at] + ordered[at + 1 : at + 2]]
        return near

    def lengthened(best):
        longer = False
        for k, axis in enumerate(axes):
            new = next_value(k, axis, best[k])
            if new is not None:
                axes[k], longer = [*axis, new], True
        return longer

    fresh = (seed for seed in itertools.count(max(seeds) + 1) if seed not in scoring)
    axes, few = list(axes), seeds[:2]
    while True:
        grid = list(itertools.product(*axes))
        if any(run(value, few[0]) != run(value, few[-1]) for value in grid):
            few = seeds
        best = min(grid, key=lambda value: median(value, few))
        if median(best, few) == float("inf") or not lengthened(best):
            break
    if few[1:] == [] or all(ran[value, few[0]] == ran[value, few[1]] for value in grid) or not around(best):
        return best, "", ran, []
    if median(best, few) == float("inf"):
        return best, "", ran, []
    candidates, all_seeds, refuted = [best, *around(best)], list(seeds), []
    while True:
        new_seeds = [next(fresh) for _ in seeds]
        all_seeds += new_seeds
        for value in candidates:
            median(value, new_seeds)
        losers = [
            other
            for other in around(best)
            if sum(ran[other, seed] < ran[best, seed] for seed in new_seeds) >= 0.8 * len(seeds)
            or max(ran[other, seed] for seed in new_seeds) < mean(best, new_seeds)
        ]
        if not losers:
            words = {0: "confirmed", 1: "confirmed after one refuted value", 2: "confirmed after two refuted values"}
            return best, words[len(refuted)], ran, refuted
        refuted.append(best)
        while True:
            best = min(candidates, key=lambda value: mean(value, all_seeds))
            if len(refuted) == tests:
                return best, "not confirmed", ran, refuted
            if lengthened(best):
                for value in itertools.product(*axes):
                    median(value, seeds)
            new = [value for value in around(best) if value not in candidates]
            if not new:
                break
            candidates += new
            for value in new:
                median(value, all_seeds)
