"""What figures need besides results, and what is wrong with them before any job runs."""

import itertools
from pathlib import Path

import numpy as np

from fedatlas.experiments.runs import create, runs
from fedatlas.results.figures import FIGURES
from fedatlas.workflow import inputs
from fedatlas.workflow.study import Study

ROOT = Path(__file__).parents[2]


def test_what_is_drawn_is_what_was_run():
    cells = list(Study({}, root=ROOT).cells("smoke", "fedawe_fig2").values())
    where = {"participation.p.0": 0.2, "participation.p.1": [0.5, 0.8]}
    figure = FIGURES.build({"kind": "availability", "where": where})
    result = inputs.build(figure, None, inputs.specify(figure, cells), inputs.ResultTables())
    assert result.keys() == {"table", "curves", "availability"} and result["table"] is None
    panels = result["availability"]
    assert [title for title, _ in panels] == ["stationary, p = (0.2, 0.5)", "stationary, p = (0.2, 0.8)"]
    within = {"participation.p.0": 0.2, "participation.p.1": 0.8}
    run = next(run for run in runs(cells[0].spec) if run.within == within)
    participants = create(run)[1].participation_kind.bind(None, 2, run.seed)
    _, active = panels[1]
    assert active.shape == (600, 2)
    for t in itertools.islice(range(600), 0, None, 37):
        assert np.flatnonzero(active.to_numpy()[t]).tolist() == participants.active(t).tolist()
