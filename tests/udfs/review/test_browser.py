"""The sheet in a real browser, opened from disk: answered with keys, kept over a reload, saved, collected."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from jobs.cli import compose
from jobs.review import ReviewConfig, collect, sample, with_action
from tests.udfs.review.bench import EN_FACT, ZH_FACT, benchmark
from udfs.review.sheet import Check, Item, Option, Run, Section, Sheet, Tagging, render
from udfs.tables.store import Store

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="needs chromium and chromedriver on the PATH"),
]
ENTER, ESCAPE = "\ue007", "\ue00c"
WHERE = "return document.getElementById('where').textContent"
ALERT = "return document.getElementById('alert').textContent"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("root")
    benchmark(str(root))
    sample(configured(root, "sample", "n=6"))
    return root


def configured(root: Path, action: str, *overrides: str) -> ReviewConfig:
    return compose("review", ReviewConfig, [f"action={action}", f"storage.root={root}", *overrides])


def collect_command(root: Path, files: list[Path]) -> str:
    """What `python -m jobs.review collect …` does with these words."""
    words = with_action(["collect", *map(str, files), f"storage.root={root}"])
    return collect(compose("review", ReviewConfig, words))


@pytest.fixture(scope="module")
def downloads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("downloads")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory, downloads: Path) -> Iterator[Any]:
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
    options.add_experimental_option(
        "prefs", {"download.default_directory": str(downloads), "download.prompt_for_download": False}
    )
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(str(DRIVER)))
    yield driver
    driver.quit()


@pytest.fixture
def sheet(browser: Any, root: Path) -> Any:
    """The browser with sheet 1 open as if for the first time, its guide closed."""
    open_sheet(browser, root, 1)
    browser.execute_script("localStorage.clear()")
    browser.refresh()
    until(lambda: browser.execute_script("return document.getElementById('guide').open"))
    press(browser, ESCAPE)
    return browser


def open_sheet(browser: Any, root: Path, number: int) -> None:
    browser.get(f"file://{root}/reviews/questions/sheet-{number}.html")


def press(browser: Any, *keys: str) -> None:
    for key in keys:
        browser.switch_to.active_element.send_keys(key)


def name(browser: Any, annotator: str) -> None:
    browser.find_element("id", "annotator").send_keys(annotator, ENTER)


def pressed(browser: Any) -> dict[str, str]:
    """The answers that show on the item: check → value."""
    script = (
        "return Object.fromEntries([...document.querySelectorAll('#checks [aria-pressed=true]')]"
        ".map((button) => [button.dataset.check, button.dataset.value]))"
    )
    found = browser.execute_script(script)
    assert isinstance(found, dict)
    return found


def until(wanted: Callable[[], Any]) -> Any:
    """What `wanted` gives as soon as it gives something."""
    deadline = time.monotonic() + 30
    while not (found := wanted()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


def saved(downloads: Path, annotator: str) -> Path:
    path = downloads / f"questions-{annotator}.json"
    until(path.is_file)
    return path


def seek(browser: Any, chip: str, language: str) -> None:
    """Step to the first item of this kind and language."""
    browser.execute_script("document.querySelector('#strip span').click()")
    chips = "return [...document.querySelectorAll('.chip')].map((chip) => chip.textContent)"
    for _ in range(6):
        if browser.execute_script(chips)[:2] == [chip, language]:
            return
        press(browser, "j")
    pytest.fail(f"no item of {chip}, {language}")


def test_answers_by_key_are_undone_kept_over_a_reload_and_saved(sheet: Any, root: Path, downloads: Path) -> None:
    name(sheet, "Ada L.")
    press(sheet, "y", "n")
    assert pressed(sheet) == {"question": "yes", "answer": "no"}
    press(sheet, ENTER, "2", "1")
    assert pressed(sheet) == {"question": "no", "answer": "yes"}
    press(sheet, "u")
    assert pressed(sheet) == {"question": "no"}
    press(sheet, "k", "c", "y")
    assert pressed(sheet) == {"question": "yes", "answer": "yes"}
    press(sheet, "u")
    assert pressed(sheet) == {"question": "yes", "answer": "no"}
    press(sheet, "u")
    assert sheet.execute_script(WHERE) == "Item 2 of 6"
    assert pressed(sheet) == {}
    press(sheet, "y", "y")
    sheet.find_element("id", "note").send_keys("jk: 没问题 </script>")

    sheet.refresh()
    assert not sheet.execute_script("return document.getElementById('guide').open")
    assert sheet.execute_script(WHERE) == "Item 2 of 6"
    assert pressed(sheet) == {"question": "yes", "answer": "yes"}
    assert sheet.find_element("id", "note").get_attribute("value") == "jk: 没问题 </script>"
    assert sheet.find_element("id", "count").text == "2 of 6 answered"
    press(sheet, "s")
    file = json.loads(saved(downloads, "Ada_L_").read_text("utf-8"))
    assert file["annotator"] == "Ada L."
    order = [item["id"] for item in shown_items(root)]
    assert file["answers"] == {
        order[0]: {"checks": {"question": "yes", "answer": "no"}, "note": ""},
        order[1]: {"checks": {"question": "yes", "answer": "yes"}, "note": "jk: 没问题 </script>"},
    }
    assert "4 items are not answered yet" in sheet.execute_script(ALERT)


def shown_items(root: Path) -> list[dict[str, Any]]:
    page = (root / "reviews" / "questions" / "sheet-1.html").read_text("utf-8")
    found = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    items = json.loads(found[1])["items"]
    assert isinstance(items, list)
    return items


def test_three_sheets_are_answered_and_collected(sheet: Any, root: Path, downloads: Path) -> None:
    for number, annotator in enumerate(["Bo", "Cy", "陈"], 1):
        open_sheet(sheet, root, number)
        press(sheet, ESCAPE)
        name(sheet, annotator)
        for item in range(6):
            press(sheet, "y", "n" if number == 3 and item == 0 else "y", ENTER)
        assert "All 6 items are answered" in sheet.execute_script(ALERT)
        press(sheet, "s")
    paths = [saved(downloads, annotator) for annotator in ("Bo", "Cy", "陈")]
    report = collect_command(root, paths)
    rows = Store(str(root)).read("annotations")
    assert rows.height == 3 * 6 * 2
    assert rows.filter(~pl.col("passed"))["annotator"].to_list() == ["陈"]
    assert "answer: passed by Bo, Cy; not by 陈" in report
    assert "| answer | 3 | 6 | 5 (83.33 %) |" in report


def test_saving_without_a_name_asks_for_it(sheet: Any, downloads: Path) -> None:
    before = set(downloads.iterdir())
    press(sheet, "s")
    assert "Give your name first" in sheet.execute_script(ALERT)
    assert sheet.switch_to.active_element.get_attribute("id") == "annotator"
    press(sheet, "syn")  # typed into the field, not taken as keys
    assert pressed(sheet) == {}
    assert set(downloads.iterdir()) == before


def test_saved_file_is_loaded_and_a_foreign_one_refused(
    sheet: Any, root: Path, downloads: Path, tmp_path: Path
) -> None:
    name(sheet, "Eve")
    press(sheet, "n", "y", "s")
    good = saved(downloads, "Eve")
    bad = json.loads(good.read_text("utf-8"))
    changes: list[dict[str, Any]] = [
        {"sample": "0" * 32},
        {"answers": {"x": {"checks": {}}}},
        {"answers": 3},
        {"format": "other"},
    ]
    for change in changes:
        (tmp_path / "bad.json").write_text(json.dumps(bad | change), "utf-8")
        sheet.find_element("id", "file").send_keys(str(tmp_path / "bad.json"))
        until(lambda: "bad.json was not loaded" in sheet.execute_script(ALERT))
        sheet.execute_script("document.getElementById('alert').textContent = ''")
    assert pressed(sheet) == {"question": "no", "answer": "yes"}
    sheet.execute_script("localStorage.clear()")
    sheet.refresh()
    press(sheet, ESCAPE)
    assert pressed(sheet) == {}
    sheet.find_element("id", "file").send_keys(str(good))
    until(lambda: sheet.find_element("id", "count").text == "1 of 6 answered")
    assert sheet.execute_script(WHERE) == "Item 2 of 6"
    assert sheet.find_element("id", "annotator").get_attribute("value") == "Eve"


def test_filter_steps_over_what_is_answered(sheet: Any) -> None:
    press(sheet, "y", "y", "j", "j", "y", "y", "f")
    assert sheet.execute_script(WHERE) == "Item 4 of 6"
    press(sheet, "k", "k")
    assert sheet.execute_script(WHERE) == "Item 2 of 6"


@pytest.mark.parametrize(("language", "fact"), [("en", EN_FACT), ("zh", ZH_FACT)])
def test_marks_and_cuts_show_in_both_languages(sheet: Any, language: str, fact: str) -> None:
    texts = "return [...document.querySelectorAll('.reading > {}')].map((node) => node.innerText)"
    seek(sheet, "answerable", language)
    assert sheet.execute_script(texts.format("mark")) == [fact]
    assert sheet.execute_script("return document.querySelector('.reading').lang") == language
    top = sheet.execute_script("return document.querySelector('.reading > mark').getBoundingClientRect().top")
    assert 60 < top < 700
    seek(sheet, "lack of evidence", language)
    struck = sheet.execute_script(texts.format("del"))
    assert (struck[0], len(struck)) == (fact, 2)
    press(sheet, "v")
    assert sheet.execute_script("return document.querySelector('.reading').innerText").find(fact) < 0
    press(sheet, "v")
    assert sheet.execute_script(texts.format("del"))[0] == fact


def test_hostile_text_is_shown_and_does_nothing(sheet: Any) -> None:
    seek(sheet, "answerable", "en")
    assert "<script>window.harmed = 1</script>" in sheet.find_element("css selector", ".lead").text
    assert sheet.execute_script("return window.harmed ?? null") is None
    assert sheet.execute_script("return document.images.length") == 0
    # The page's policy stops what the escaping would let through.
    inject = "const made = document.createElement('div'); made.innerHTML = '<img src=x onerror=\"window.harmed = 3\">';"
    assert not sheet.get_log("browser")
    sheet.execute_script(inject + "document.body.append(made)")
    until(lambda: any("Content Security Policy" in line["message"] for line in sheet.get_log("browser")))
    assert sheet.execute_script("return window.harmed ?? null") is None


def test_checks_with_other_options_use_their_own_keys(browser: Any, tmp_path: Path) -> None:
    preference = (Option("a", "first", "First"), Option("b", "second", "Second"), Option("t", "tie", "Tie"))
    item = Item(
        "p1",
        "pair",
        "en",
        "Which reads better?",
        (),
        (Section("Question", (Run("Which reads better?"),), lead=True),),
        (Check("preferred", "Which is better?", preference, passes=("first",)),),
    )
    (tmp_path / "sheet.html").write_text(render(Sheet("pairs", "1" * 32, 1, ("Compare.",), (item,))), "utf-8")
    browser.get(f"file://{tmp_path}/sheet.html")
    press(browser, ESCAPE, "b")
    assert pressed(browser) == {"preferred": "second"}
    press(browser, "3")
    assert pressed(browser) == {"preferred": "tie"}
    press(browser, "y")
    assert pressed(browser) == {"preferred": "tie"}


def test_words_are_marked_by_key_by_selection_and_by_writing(browser: Any, tmp_path: Path, downloads: Path) -> None:
    asked = ("Who opened the Bridge at Lower Hasp?", "灯塔是哪一年建成的？")
    items = tuple(
        Item(
            f"q{number}",
            "bench",
            "en",
            question,
            (),
            (Section("Question", (Run(question),), lead=True, reading=True),),
            (Tagging("entities", "What is it about?", question, ("bridge", "opened") if number == 0 else ("灯塔",)),),
        )
        for number, question in enumerate(asked)
    )
    (tmp_path / "sheet.html").write_text(render(Sheet("tagged", "2" * 32, 1, ("Mark.",), items)), "utf-8")
    browser.get(f"file://{tmp_path}/sheet.html")
    marks = "return [...document.querySelectorAll('#reading mark')].map((node) => node.textContent)"
    press(browser, ESCAPE, "1", "2", "2")
    assert browser.execute_script(marks) == ["Bridge"]
    press(browser, "e")
    browser.switch_to.active_element.send_keys("lower hasp", ENTER, "upper hasp", ENTER)
    assert "does not stand in the text" in browser.execute_script(ALERT)
    assert browser.execute_script(marks) == ["Bridge", "Lower Hasp"]
    press(browser, ESCAPE, "j")
    select = (
        "const text = document.querySelector('#reading .text').firstChild; const range = document.createRange();"
        "range.setStart(text, 3); range.setEnd(text, 6);"
        "getSelection().removeAllRanges(); getSelection().addRange(range)"
    )
    browser.execute_script(select)
    press(browser, "e", "1")
    assert browser.execute_script(marks) == ["灯塔", "哪一年"]
    press(browser, "0")
    assert browser.execute_script(marks) == []
    press(browser, "u")
    assert browser.execute_script(marks) == ["灯塔", "哪一年"]
    press(browser, "0")

    browser.refresh()
    assert browser.find_element("id", "count").text == "2 of 2 answered"
    name(browser, "Tag")
    press(browser, "s")
    path = downloads / "tagged-Tag.json"
    until(path.is_file)
    answers = json.loads(path.read_text("utf-8"))["answers"]
    assert {item: answer["checks"]["entities"] for item, answer in answers.items()} == {
        "q0": ["bridge", "Lower Hasp"],
        "q1": [],
    }
    browser.execute_script("localStorage.clear()")
    browser.refresh()
    press(browser, ESCAPE)
    browser.find_element("id", "file").send_keys(str(path))
    until(lambda: browser.find_element("id", "count").text == "2 of 2 answered")
