"""The pages in a real browser, opened from disk: no server, no network."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jobs.config import StorageConfig
from jobs.report import ReportConfig, report
from tests.udfs.report.bench import EN_FACT, HOSTILE, ZH_FACT, small_run
from tests.udfs.report.reformulation_bench import EN_ANSWER, EN_ASKED, EN_NEW, ZH_ANSWER, ZH_NEW, reformulation_run

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="needs chromium and chromedriver on the PATH"),
]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("root")
    small_run(documents=8, characters=60_000, model="scripted").write(str(root))
    report(ReportConfig(StorageConfig(str(root)), None, (), (), False, 1000, 0, 5000, 300))
    return root / "reports" / "main"


@pytest.fixture(scope="module")
def reformulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("reformulated")
    reformulation_run().write(str(root))
    report(ReportConfig(StorageConfig(str(root)), None, (), (), False, 1000, 0, 5000, 300))
    return root / "reports" / "main"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = str(CHROMIUM)
    for argument in (
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--window-size=1360,900",
        f"--user-data-dir={tmp_path_factory.mktemp('profile')}",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(str(DRIVER)))
    yield driver
    driver.quit()


def until(browser: Any, script: str) -> Any:
    """What `script` returns as soon as it returns something."""
    from selenium.webdriver.support.ui import WebDriverWait

    waited: Callable[[Any], Any] = lambda driver: driver.execute_script(script)  # noqa: E731
    return WebDriverWait(browser, 30, poll_frequency=0.05).until(waited)


def press(browser: Any, keys: str) -> None:
    browser.find_element("tag name", "body").send_keys(keys)


def heading(browser: Any) -> str:
    return str(until(browser, "return document.querySelector('#detail h2')?.textContent"))


def open_viewer(browser: Any, pages: Path, fragment: str = "") -> None:
    browser.get("about:blank")
    browser.get(f"file://{pages}/responses.html#{fragment}")
    heading(browser)


def test_numbers_page_shows_tables_plots_and_the_scripted_banner(browser: Any, pages: Path) -> None:
    browser.get(f"file://{pages}/index.html")
    assert browser.execute_script("return document.querySelectorAll('table').length") >= 8
    assert browser.execute_script("return document.querySelectorAll('figure svg').length") == 2
    assert "not a measurement" in browser.find_element("css selector", ".banner").text
    assert not browser.get_log("browser")


def test_row_of_numbers_leads_to_its_responses(browser: Any, pages: Path) -> None:
    browser.get(f"file://{pages}/index.html")
    browser.find_element("css selector", "#classes tbody a").click()
    heading(browser)
    assert until(browser, "return document.getElementById('filter-gold')?.value") == "unanswerable"


def test_filter_narrows_the_list_and_the_address_keeps_it(browser: Any, pages: Path) -> None:
    open_viewer(browser, pages)
    assert "48 of 48" in browser.find_element("id", "count").text
    select = (
        "const s = document.getElementById('filter-language'); s.value = 'zh'; s.dispatchEvent(new Event('change'));"
    )
    browser.execute_script(select)
    assert "24 of 48" in browser.find_element("id", "count").text
    assert "灯塔" in heading(browser)
    kept = browser.execute_script("return location.hash.slice(1)")
    open_viewer(browser, pages, kept)
    assert "24 of 48" in browser.find_element("id", "count").text


def test_search_looks_through_questions_in_both_languages(browser: Any, pages: Path) -> None:
    open_viewer(browser, pages)
    browser.find_element("id", "search").send_keys("灯塔")
    assert until(browser, "return document.getElementById('count').textContent.startsWith('24 ')")


def test_keys_step_through_responses_and_the_address_returns_to_one(browser: Any, pages: Path) -> None:
    open_viewer(browser, pages)
    seen = [browser.execute_script("return location.hash")]
    for key in "jjj":
        press(browser, key)
        seen.append(browser.execute_script("return location.hash"))
    assert len(set(seen)) == 4
    press(browser, "k")
    assert browser.execute_script("return location.hash") == seen[2]
    title = heading(browser)
    open_viewer(browser, pages, seen[2][1:])
    assert heading(browser) == title
    assert browser.execute_script("return document.querySelector('.item.on').dataset.place") == "2"


@pytest.mark.parametrize(("language", "fact"), [("en", EN_FACT), ("zh", ZH_FACT)])
def test_whole_document_loads_on_demand_with_the_evidence_marked(
    browser: Any, pages: Path, language: str, fact: str
) -> None:
    open_viewer(browser, pages, f"language={language}&kind=misleading.entity_substitution")
    marks = "return [...document.querySelectorAll('#document mark')].map((mark) => mark.textContent)"
    size = "return document.getElementById('document').textContent.length"
    assert until(browser, marks) == [fact]
    assert browser.execute_script(size) < 2_000
    press(browser, "d")
    assert until(browser, f"return document.getElementById('document').textContent.length > 50000 && ({size[7:]})")
    assert browser.execute_script(marks) == [fact]
    top = "return document.querySelector('#document mark').getBoundingClientRect().top"
    assert 0 < browser.execute_script(top) < 900
    press(browser, "d")
    assert until(browser, "return document.getElementById('document').textContent.length < 2000")


def test_what_was_cut_out_is_struck(browser: Any, pages: Path) -> None:
    open_viewer(browser, pages, "language=en&kind=lack_of_evidence")
    assert until(browser, "return document.querySelector('#document del')?.textContent") == EN_FACT


def test_hostile_replies_are_shown_as_text_and_do_nothing(browser: Any, pages: Path) -> None:
    open_viewer(browser, pages, "method=zs")
    assert "<script>window.harmed = 1</script>" in browser.find_element("css selector", ".turn .text").text
    assert "onerror" in browser.find_element("css selector", ".verdicts").text
    assert browser.execute_script("return window.harmed ?? null") is None
    assert browser.execute_script("return document.images.length") == 0
    assert not browser.get_log("browser")


def test_response_that_was_lost_shows_its_status(browser: Any, pages: Path) -> None:
    open_viewer(browser, pages, "status=over_length")
    assert "over_length" in browser.find_element("css selector", ".chips").text
    assert "Not judged" in browser.find_element("id", "detail").text


@pytest.mark.parametrize(
    ("language", "removed", "added", "new", "answer"),
    [("en", "Upper", "Lower", EN_NEW, EN_ANSWER), ("zh", "拆除", "建成", ZH_NEW, ZH_ANSWER)],
)
def test_explorer_shows_both_questions_what_changed_and_where_the_answer_stands(
    browser: Any, reformulated: Path, language: str, removed: str, added: str, new: str, answer: str
) -> None:
    open_viewer(browser, reformulated, f"language={language}&success=success")
    text = "return document.querySelector('{}').textContent"
    assert until(browser, text.format(".explorer .sides del")) == removed
    assert browser.execute_script(text.format(".explorer .sides ins")) == added
    assert browser.execute_script(text.format(".explorer .new")) == new
    assert "answerable" in browser.find_element("css selector", ".explorer").text
    in_document = "return document.querySelector('#document mark.answering')?.textContent"
    assert answer in browser.execute_script(in_document)
    press(browser, "d")
    assert until(browser, "return document.getElementById('document').textContent.length > 4000")
    assert browser.execute_script(in_document).endswith(answer)
    browser.find_element("id", "answering").click()
    assert answer in browser.execute_script("return document.querySelector('#document .here').textContent")
    assert not browser.get_log("browser")


def test_explorer_hostile_new_question_and_reason_stay_text(browser: Any, reformulated: Path) -> None:
    open_viewer(browser, reformulated, "success=failed&method=fs_cot&category=irrelevant&language=en")
    shown = until(browser, "return document.querySelector('.explorer .new')?.textContent")
    assert shown == f"{HOSTILE} {EN_ASKED}"
    assert "onerror" in browser.find_element("css selector", ".explorer .line div.meta").text
    assert browser.execute_script("return window.harmed ?? null") is None
    assert browser.execute_script("return document.images.length") == 0
    assert not browser.get_log("browser")
