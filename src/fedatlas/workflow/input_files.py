"""Files behind what figures and checks need besides table and curves."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from fedatlas.experiments.dependencies import trace_files
from fedatlas.experiments.labels import SIMULATED
from fedatlas.federation.partitions import is_split

if TYPE_CHECKING:
    from fedatlas.workflow.atlas import Atlas


def input_files(atlas: "Atlas", asked: Collection[str], w: Any) -> dict[str, Any]:
    """Paths by the names of inputs of a rule.

    asked: names of what is needed, as in `fedatlas.workflow.inputs`. w: wildcards of size and experiment.
    """
    cells = list(atlas.cells(w.size, w.experiment).values())
    asked, found = set(asked), {}
    if asked & {"partitions", "availability", "dissimilarities", SIMULATED}:
        split = [cell.spec for cell in cells if is_split(cell.spec.problem.get("partition"))]
        found["partitions"] = list(dict.fromkeys(map(atlas.partition_file, split)))
    if asked & {"partitions", "availability", "theorems", "dissimilarities", SIMULATED}:
        found["data"] = list(dict.fromkeys(path for cell in cells for path in atlas.data_of(cell.spec.problem)))
    if "dissimilarities" in asked:
        found["optima"] = list(dict.fromkeys(atlas.optimum_file(cell.spec) for cell in cells if cell.spec.optimum))
    if SIMULATED in asked:
        found["runs"] = atlas.run_files(w)
    if asked & {"availability", SIMULATED}:
        traces = sorted({path for cell in cells for path in trace_files(cell.spec)})
        found["traces"] = [atlas.folders.shared(path) for path in traces]
    return found
