"""Which tuned values won."""

import pytest

from fedatlas.results.claims.verdicts import HELD, NOT_HELD
from tests.claims.fixtures import judged, view
from tests.synthetic import table


def judge_values(values, chosen):
    """The claim that ``values`` win where those of ``chosen`` do, by number of clients."""
    frame = table([("fedavg", clients, 0.1) for clients in chosen])
    frame["lr"], frame["server_lr"] = chosen.values(), 1.0
    frame["tuning_seeds"] = 3
    return judged(
        view(tune=("lr", "server_lr")), frame, kind="reaches", quantity="choice", algorithms=["fedavg"], values=values
    )


@pytest.mark.parametrize(
    ("chosen", "expected"), [({4: 0.1, 16: 0.1}, HELD), ({4: 0.1, 16: 0.2}, NOT_HELD), ({4: 1.0}, NOT_HELD)]
)
def test_all_settings_count(chosen, expected):
    row = judge_values({"lr": 0.1, "server_lr": 1}, chosen)
    assert (row["verdict"], row["seeds"]) == (expected, 3)
    assert f"{next(iter(chosen.values())):g}" in row["ours"]
