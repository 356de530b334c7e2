"""The page "Which method, when?": its content, and its answers in a browser."""

import json

import numpy as np
import pytest
import yaml

from fedatlas.experiments import expansion, experiment_file
from fedatlas.experiments.run import run_cell
from fedatlas.experiments.tables import build
from fedatlas.publish.guide import NEVER, SHARES, UNDEFINED, build_content, write_page
from tests.report.test_browser import WIDE, driver  # noqa: F401  a fixture

SUITE = {
    "title": "A suite", "paper": "yuan2020", "source": "Nowhere",
    "problem": {
        "kind": "quadratic", "dim": 4, "mu": 0.5, "L": 5.0, "similarity": 0.05, "heterogeneity": 1.0,
        "instance": "seed", "zero_minimum": True,
    },
    "setting": {
        "clients": 3, "local_steps": 4, "rounds": 15, "eval_rounds": 1, "batch": None, "full_gradients": "minibatch",
    },
    "trials": 3,
    "select": {"metric": "loss", "statistic": "final", "goal": "min", "extend": 0, "seeds": [1000]},
    "seeds": [0, 1, 2, 3],
    "cases": {
        "reference": {"label": "Quadratics"},
        "unlike": {"label": "Hessians unlike", "problem": {"similarity": 2.5, "heterogeneity": 10.0}},
        "noise": {"label": "Noise, 1 sample", "problem": {"noise": 1.0}, "setting": {"batch": 1}},
        "partial": {"label": "Partial", "setting": {"participation": {"kind": "uniform", "count": 1}}},
    },
    "algorithms": {"fedavg": {}, "scaffold": {}, "gd": {}, "dane": {}},
    "sizes": {"smoke": {}},
}  # fmt: skip


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    """The content of a small suite."""
    folder = tmp_path_factory.mktemp("suite")
    (folder / "suite.yaml").write_text(yaml.safe_dump(SUITE, sort_keys=False))
    experiment = experiment_file.load(folder / "suite.yaml", "smoke")
    cells, undefined = expansion.expand(experiment)
    view = expansion.create_view(experiment, undefined)
    paths = [folder / cell.id / f"{cell.key}.parquet" for cell in cells]
    for cell, path in zip(cells, paths, strict=True):
        path.parent.mkdir(exist_ok=True)
        run_cell(cell.spec, path)
    tables = build(list(experiment.grid), experiment.select, paths)
    return build_content(view, tables, cells)


@pytest.fixture(scope="module")
def address(content, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "guide.html"
    write_page(content, path, "reference/algorithms")
    return path.as_uri()


def test_the_content_holds_rounds_prices_and_choices_of_all_pairs(content):
    ids = [algorithm["id"] for algorithm in content["algorithms"]]
    assert ids == ["fedavg", "scaffold", "gd", "dane"]
    assert [problem["id"] for problem in content["problems"]] == ["reference", "unlike", "noise", "partial"]
    reach = np.array(content["reach"])
    assert reach.shape == (4, 4, len(SHARES), 4) and set(np.unique(reach)) <= {UNDEFINED, NEVER, *range(1, 16)}
    assert (reach[3, 2] == UNDEFINED).all() and content["chosen"][3][2] is None  # DANE has no minibatches
    rates = content["rates"]
    assert rates[0][0]["exchanges"] == 1 and rates[0][0]["samples"] > rates[2][0]["samples"]
    assert rates[1][0]["bits_up"] == 2 * rates[0][0]["bits_up"]  # SCAFFOLD sends two vectors
    assert "η" in content["chosen"][0][0]["lr"]["text"]
    json.dumps(content, allow_nan=False)


def opened(driver, address, answers=None, width=1440):  # noqa: F811
    from selenium.webdriver.support.ui import WebDriverWait

    driver.set_window_size(width, 900)
    driver.get("about:blank")
    hash = "&".join(f"{name}={value}" for name, value in (answers or {}).items())
    driver.get(f"{address}#{hash}")
    WebDriverWait(driver, 120).until(lambda d: d.execute_script("return document.body.dataset.ready === 'yes'"))
    return driver


@pytest.mark.parametrize("width", [390, 820, 1440])
def test_nothing_is_wider_than_the_screen_and_nothing_fails(driver, address, width):  # noqa: F811
    page = opened(driver, address, {"scarce": "seconds"}, width)
    assert page.execute_script(WIDE) == [0, []]
    assert not [entry for entry in page.get_log("browser") if entry["level"] == "SEVERE"]
