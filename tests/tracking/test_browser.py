"""MLflow's user interface in a real browser: links to stored views open what they promise."""

import shutil

import pytest

from fedatlas.publish import tracking
from fedatlas.publish.tracking import views
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
def test_links_open_table_and_charts(results, tmp_path, browser):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    with serving(tmp_path) as server:
        facts = experiment_facts(EXPERIMENT)
        id = tracking.log(facts, results, server)["experiment_id"]
        table, curves = views.views_of_size("smoke")
        wait = WebDriverWait(browser, 60)

        def body():
            return browser.find_element(By.TAG_NAME, "body").text

        def columns():
            cells = browser.find_elements(By.CSS_SELECTOR, ".ag-header-cell")
            return [cell.text for cell in sorted(cells, key=lambda cell: cell.location["x"]) if cell.text]

        browser.get(f"{server}/{table.link(id)}")
        wait.until(lambda _: "fedac " in body() and "FedAvg " in body())
        assert "Model training" in body() and "Summary (smoke)" in body()
        assert columns()[:7] == ["Run Name", "Created", "score", "interval", "local_steps", "clients", "lr"]

        browser.get("about:blank")
        browser.get(f"{server}/{curves.link(id)}")

        def colours():
            lines = browser.find_elements(By.CSS_SELECTOR, ".js-plotly-plot .scatterlayer path.js-line")
            return {line.value_of_css_property("stroke") for line in lines}

        of_figures = {"rgb(38, 38, 38)", "rgb(213, 94, 0)"}  # of FedAvg and FedAc-I
        wait.until(lambda _: colours() == of_figures)
        assert "Curves (smoke)" in body()
