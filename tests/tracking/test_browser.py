"""MLflow's user interface in a real browser: the link to the summary opens it."""

import shutil

import pytest

from fedatlas.publish import tracking
from fedatlas.publish.tracking import page
from tests.tracking.mlflow_server import serving
from tests.tracking.tiny import EXPERIMENT, experiment_facts

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --window-size=1920,1080"
)


@pytest.fixture
def browser(tmp_path):
    selenium = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    program, driver = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if not program or not driver:
        pytest.skip("there is no Chromium with a chromedriver")
    options = selenium.ChromeOptions()
    options.binary_location = program
    for flag in (*FLAGS.split(), f"--user-data-dir={tmp_path}/profile"):
        options.add_argument(flag)
    opened = selenium.Chrome(options=options, service=selenium.ChromeService(driver))
    yield opened
    opened.quit()


@pytest.mark.slow
def test_the_link_opens_the_summary(results, tmp_path, browser):
    from mlflow import MlflowClient
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    with serving(tmp_path) as server:
        tracking.log(experiment_facts(EXPERIMENT), results, server)
        id = MlflowClient(server).get_experiment_by_name("tiny").experiment_id
        wait = WebDriverWait(browser, 60)

        def body():
            return browser.find_element(By.TAG_NAME, "body").text

        browser.get(f"{server}/{page._link('smoke', id)}")
        wait.until(lambda _: "fedac " in body() and "FedAvg " in body())
        assert "Model training" in body() and "Summary (smoke)" in body()
        cells = browser.find_elements(By.CSS_SELECTOR, ".ag-header-cell")
        columns = [cell.text for cell in sorted(cells, key=lambda cell: cell.location["x"]) if cell.text]
        assert columns[:7] == ["Run Name", "Created", "score", "interval", "local_steps", "clients", "lr"]
