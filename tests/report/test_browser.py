"""The report in a real browser: nothing is asked from elsewhere or wider than a phone, and everything can be used."""

import json
import shutil
from urllib.parse import urlsplit

import pytest

from fedatlas.publish.report.page import write_report
from fedatlas.results.figures.description import Cell, TextTable
from tests.report.sample import experiment, results

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")
QUIET = ("background-networking", "component-update", "sync", "gpu", "quic", "extensions")
LOSSES = {"FedAvg": ("1", "3.5"), "FedAc-I": ("1.5", "1")}
WIDE = """
const width = document.documentElement.clientWidth;
const own = ".scroll, .plate, .unseen, .skip, pre";  // what scrolls by itself or is not seen
const out = [...document.querySelectorAll("body *")].filter((one) => !one.closest(own)
  && one.getBoundingClientRect().right > width + 1);
return [document.documentElement.scrollWidth - width, out.map((one) => one.outerHTML.slice(0, 80))];
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The address of a report over two experiments, whose figures are of all kinds that can be used."""
    root = tmp_path_factory.mktemp("pages")
    figures = {name: {"kind": "scaling", "x": "clients", "caption": f"{name}."} for name in ("speed", "losses")}
    for name, paper in (("one", "yuan2020"), ("two", "xiang2024")):
        result = experiment(name, paper=paper, title=f"Experiment {name}", figures=figures if name == "one" else {})
        results(root / f"smoke/{name}", result)
    (root / "smoke/one/tables").mkdir()
    rows = [((name,), [Cell(text, text == "1") for text in texts]) for name, texts in LOSSES.items()]
    table = TextTable(heads=[[("Noise", 1), ("Drift", 1)]], blocks=[("", rows)])
    (root / "smoke/one/tables/losses.json").write_text(json.dumps(table.to_dict()))
    (root / "smoke/one/tables/losses.csv").write_text("algorithm\n")
    write_report([root / "smoke/one", root / "smoke/two"], root / "report.html")
    return (root / "report.html").as_uri()


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    if not BROWSER or not DRIVER:
        pytest.skip("no Chromium with its chromedriver on this machine")
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for argument in (
        "headless=new",
        "no-sandbox",
        "no-first-run",
        *(f"disable-{name}" for name in QUIET),
    ):
        options.add_argument(f"--{argument}")
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('browser')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    started = webdriver.Chrome(options, webdriver.ChromeService(DRIVER))
    yield started
    started.quit()


@pytest.fixture
def opened(driver, page):
    """The report on a screen of some width, with all charts drawn."""

    def open_(width):
        size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 500}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        driver.get(page)
        driver.execute_script("document.querySelector('figure[data-kind=lines]').scrollIntoView()")
        wait(driver, "return document.querySelectorAll('figure[data-kind=lines].live canvas').length === 2")
        return driver

    return open_


def wait(driver, script):
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(driver, 20, 0.05).until(lambda page: page.execute_script(script))


def find(driver, selector):
    return driver.find_elements("css selector", selector)


def visible_texts(driver, selector):
    return [item.text for item in find(driver, selector) if item.is_displayed()]


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_screen_or_asked_from_elsewhere(opened, width):
    driver = opened(width)
    for part in find(driver, "details"):
        driver.execute_script("arguments[0].open = true", part)
    assert driver.execute_script(WIDE) == [0, []]
    assert driver.get_log("browser") == []
    messages = (json.loads(entry["message"])["message"] for entry in driver.get_log("performance"))
    urls = {m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"}
    # pages of its own, such as chrome-untrusted://new-tab-page, are what the browser asks for, not the report
    schemes = {scheme for url in urls if not (scheme := urlsplit(url).scheme).startswith("chrome")}
    assert schemes <= {"file", "data"}


def test_tables_sort_by_value(opened):
    driver = opened(1280)
    table = "#smoke-one .numbers.sorts:not(details *, figure *)"
    head = find(driver, f"{table} thead th:last-child .sorter")[0]
    column = f"{table} tbody td:last-child"
    for order in (sorted, lambda values: sorted(values, reverse=True)):
        head.click()
        values = [float(text.rstrip("†")) for text in visible_texts(driver, column)]
        assert len(values) == 6 and values == order(values)
    assert find(driver, f"{table} thead th:last-child")[0].get_attribute("aria-sort") == "descending"


def test_a_table_of_a_figure_sorts(opened):
    driver = opened(1280)
    table = "figure[data-kind=table]"
    assert visible_texts(driver, f"{table} tbody th") == ["FedAvg", "FedAc-I"]
    assert not visible_texts(driver, f"{table} img")
    find(driver, f"{table} .sorter")[2].click()
    assert visible_texts(driver, f"{table} tbody th") == ["FedAc-I", "FedAvg"]


def test_a_chart_changes_axes_hides_lines_and_reads_values_by_keys(opened):
    from selenium.webdriver.common.keys import Keys

    driver = opened(390)
    figure = "figure[data-kind=lines]"
    assert not visible_texts(driver, f"{figure} img")
    (against,) = find(driver, f"{figure} .filters select")
    against.send_keys("gradients")
    chart = "const chart = Chart.getChart(document.querySelector('canvas'));"
    assert driver.execute_script(f"{chart} return chart.data.datasets[0].data.map((one) => one.value)") == [0, 10, 20]
    find(driver, f"{figure} .legend button")[0].click()
    assert driver.execute_script(f"{chart} return [0, 1].map((at) => chart.isDatasetVisible(at))") == [False, True]
    find(driver, f"{figure} canvas")[0].send_keys(*[Keys.ARROW_RIGHT] * 3)
    text = find(driver, f"{figure} .unseen[aria-live]")[0].get_attribute("textContent")
    assert text == "FedAc-I, 0.1667 (0.08333 to 0.3333), gradients per active client: 20"
    find(driver, f"{figure} .legend button")[0].click()
    last = find(driver, f"{figure} canvas")[1]
    last.send_keys(*[Keys.ARROW_RIGHT] * 3)
    text = find(driver, f"{figure} .unseen[aria-live]")[0].get_attribute("textContent")
    assert text == "FedAvg, 0.3333 (0.1667 to 0.6667), lost, gradients per active client: 20"


def test_the_image_prints_and_stands_in_without_scripts(opened, page):
    driver = opened(1280)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert find(driver, "figure[data-kind=lines] img")[0].is_displayed() and not visible_texts(
        driver, ".panels, .filters, nav"
    )
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    driver.get(page)
    assert all(image.is_displayed() for image in find(driver, "figure img"))
    assert not visible_texts(driver, ".filters")
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
