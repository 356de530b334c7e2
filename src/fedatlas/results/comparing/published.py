"""Numbers that the papers or their authors published, to be shown beside results.

The files of ``published/`` hold facts alone:

- fedac.csv: suboptimality of the runs that the authors of FedAc published for a9a (summary.csv of their repository
  hongliny/FedAc-NeurIPS20), which Figures 1 to 5 draw: one seed, T = 4096, and for each number of workers and
  synchronisation interval the step size with the least loss. A row for each l2, algorithm and interval, a column for
  each number of workers. The optimum was computed to 15 digits. Their runs of FedAc-II, whose beta is not the paper's,
  are left out.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from fedatlas.experiments.cells import Select
    from fedatlas.experiments.experiment_view import AlgorithmView

PLACE = Path(__file__).parent / "published"
FEDAC_STEPS = 4096


def fedac_points(
    problem: Mapping[str, Any], setting: Mapping[str, Any], select: "Select", algorithms: Mapping[str, "AlgorithmView"]
) -> "pd.DataFrame":
    """Return the published points of FedAc in the settings of an experiment.

    Args:
        problem: Problem of the experiment.
        setting: Setting of the experiment.
        select: Choice of its scores.
        algorithms: Algorithms of the experiment by id; those with hyper-parameters of their own have no points.

    Returns:
        A DataFrame with the columns algorithm (the id), local_steps, clients and published, a suboptimality. It is
        empty where problem, steps or score are not those of the published runs.
    """
    import pandas as pd

    keys = ["l2", "algorithm", "local_steps"]
    points = pd.read_csv(PLACE / "fedac.csv").melt(keys, var_name="clients", value_name="published").dropna()
    points = points.astype({"clients": int})
    equal = problem["kind"] == "logistic" and problem.get("data") == "a9a" and not problem.get("partition")
    equal = equal and setting.get("steps") == FEDAC_STEPS
    equal = equal and (select.metric, select.statistic) == ("suboptimality", "best")
    points = points[points["l2"] == problem.get("l2")] if equal else points.iloc[:0]
    names = {id: entry.algorithm for id, entry in algorithms.items() if not entry.set}
    parts = [points[points["algorithm"] == name].assign(algorithm=id) for id, name in names.items()]
    return pd.concat([points.iloc[:0], *parts])[["algorithm", "local_steps", "clients", "published"]]
