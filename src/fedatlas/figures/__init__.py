"""Figures of experiments. A kind is a function from a Sheet to a matplotlib figure, registered by name.

To add one, write a module like ``scaling``, import it below and name it in the schema of experiments.
"""

from pathlib import Path

from fedatlas.experiments.result_files import atomic
from fedatlas.figures import (
    availability,
    bound,
    convergence,
    heatmap,
    local,
    partition,
    scaling,
    sensitivity,
    style,
    table,
    targets,
)
from fedatlas.figures.sheet import KINDS, Sheet
from fedatlas.registry import lookup

__all__ = [
    "KINDS",
    "availability",
    "bound",
    "convergence",
    "draw",
    "heatmap",
    "local",
    "partition",
    "scaling",
    "sensitivity",
    "table",
    "targets",
]

# Dates and versions would make two files out of one figure.
METADATA = {".svg": {"Date": None, "Creator": None}, ".png": {"Software": None}, ".pdf": {"CreationDate": None}}


def draw(spec, about, table, curves, outputs, partitions=None, availability=None):
    """Draw one figure of an experiment into files.

    spec: the figure's entry in the experiment. about, table, curves: of tables.build. outputs: paths, whose suffixes
    (.svg, .png, .pdf) choose the format; a kind that gives its numbers writes them as CSV beside the first.
    partitions: (title, counts of labels by client) for the kind partition. availability: (title, probabilities or None,
    who was there), both (rounds, clients), for the kind of that name. Raises UserError if the specification does not
    fit the results.
    """
    import matplotlib

    function = lookup("figure kind", spec["kind"], KINDS)
    with matplotlib.rc_context({**matplotlib.rcParamsDefault, **style.RC}):
        sheet = Sheet(spec, about, table, curves, partitions, availability)
        figure = function(sheet)
        figure.get_layout_engine().execute(figure)  # once, and alike for all formats
        figure.set_layout_engine(None)  # not "none", which would have each format laid out before it is drawn
        for path in map(Path, outputs):
            with atomic(path) as temporary:
                figure.savefig(temporary, format=path.suffix[1:], metadata=METADATA.get(path.suffix))
    if sheet.numbers is not None:
        with atomic(Path(outputs[0]).with_suffix(".csv")) as temporary:
            sheet.numbers.to_csv(temporary, index=False)
