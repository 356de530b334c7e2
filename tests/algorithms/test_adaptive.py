"""FedAdam: how far its server moves by default."""

import numpy as np
import pytest

from tests.helpers import example, logistic, run


@pytest.mark.parametrize("lr", [1.0, 100.0])
def test_the_first_round_moves_a_coordinate_by_about_the_server_step_however_long_local_steps_are(lr):
    problem = logistic()
    fedadam = example("fedadam")
    change = abs(run("fedadam", {"lr": lr}, problem, rounds=1).x - problem.start(1))
    D = abs(run("fedavg", {"lr": lr}, problem, rounds=1).x - problem.start(1))
    assert change.max() <= fedadam.server_lr == 0.1
    assert (D > 100 * fedadam.eps).any()
    assert change[D > 100 * fedadam.eps] == pytest.approx(fedadam.server_lr, rel=0.12)
    assert np.isfinite(change).all()
