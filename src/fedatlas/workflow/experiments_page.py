"""docs/reference/experiments.md: what each experiment of the atlas re-runs, on which data, and how long it takes."""

import itertools
from collections.abc import Iterable, Iterator

from fedatlas.experiments.experiment_file import SIZES
from fedatlas.io.machine import size as memory
from fedatlas.io.markdown import escaped
from fedatlas.workflow import listing
from fedatlas.workflow.atlas import Atlas
from fedatlas.workflow.listing import Listed, data_words, duration, largest_memory
from fedatlas.workflow.times import Took, shipped_times

HEAD = f"""# Experiments

`snakemake --cores 2 NAME --config size=SIZE` makes the experiment with this name. Without a size it is `smoke`. Figures
and tables of a paper are names too: `fedac_fig3` makes the experiment that re-runs Figure 3. The
[guide to experiment files](../../config/experiments/README.md) says what the sizes change.

{listing.LEGEND} The data are those of the largest size; where a
smaller size has others, they stand in brackets.
"""
COLUMNS = ("Experiment", "What it re-runs", "Data", *(size.capitalize() for size in SIZES), "Memory")


def page(atlas: Atlas) -> str:
    """The page. The times are those of the file that the atlas ships, whatever results are there."""
    found = [one for one in listing.listed(atlas, shipped_times()) if one.is_own]
    return "\n".join([HEAD, *_together(found), *_tables(found)]) + "\n"


def _together(found: Iterable[Listed]) -> Iterator[str]:
    """What all experiments take together, for each size."""
    found = list(found)
    for size in SIZES:
        known = [took for one in found if (took := one.sizes.get(size)) and took.seconds is not None]
        took = Took(0, sum(one.seconds or 0 for one in known), all(one.measured for one in known))
        yield f"- All {len(known)} experiments in size `{size}` together: {duration(took)} of one processor."
    yield ""


def _tables(found: Iterable[Listed]) -> Iterator[str]:
    for key, group in itertools.groupby(found, lambda one: one.paper):
        yield f"## {escaped(listing.paper(key))}\n"
        yield f"| {' | '.join(COLUMNS)} |"
        yield "|---|---|---|" + "---:|" * (len(COLUMNS) - 3)
        for one in group:
            yield f"| {' | '.join(_cells(one))} |"
        yield ""


def _cells(one: Listed) -> Iterator[str]:
    source = f" ({escaped(one.source)})" if one.source else ""
    yield from (f"`{one.name}`", escaped(one.title) + source, escaped(data_words(one)))
    yield from (duration(one.sizes.get(size)) for size in SIZES)
    most = largest_memory(one)
    yield memory(most * 1e6) if most else ""
