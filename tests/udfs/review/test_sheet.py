from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.factories import make_document, make_judgement, make_question, make_response, make_turn
from tests.udfs.review.bench import EN_COPY, EN_FACT, HOSTILE, ZH_COPY, ZH_FACT, make_text, triplet
from udfs.records import Question
from udfs.review.items import judgement_item, question_item
from udfs.review.sheet import Check, Item, Option, Run, Section, Sheet, embedded_json, render, sample_hash
from udfs.schema import Kind
from udfs.tables.texts import Text


def item(title: str = "t", **given: str) -> Item:
    sections = (Section("Question", (Run(title),)),)
    return Item(given.get("id", "i1"), "answerable", "en", title, ("answerable",), sections, (Check("q", "Pass?"),))


def asked(chinese: bool) -> tuple[list[Question], Text]:
    document = make_document(make_text(chinese, 1), "made", language="zh" if chinese else "en", title="Records")
    text = Text("made", document.doc_id, "Records", "s", document.language, document.text)
    return triplet(document, chinese), text


class Page(HTMLParser):
    """Tags of a page with their attributes, and the text of its scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] == "script":
            self.scripts[-1] += data


@settings(max_examples=50)
@given(st.dictionaries(st.text(), st.lists(st.text() | st.integers(), max_size=3), max_size=4))
def test_embedded_json_gives_the_value_back_and_holds_no_markup(value: object) -> None:
    text = embedded_json(value)
    assert json.loads(text) == value
    assert not set(text) & set("<>&\u2028\u2029")


def test_sheet_is_one_file_that_loads_nothing_and_holds_hostile_text_as_data() -> None:
    sheet = Sheet("r", "hash", 2, (HOSTILE,), (item(HOSTILE),))
    page = Page(render(sheet))
    assert [name for name, _ in page.tags].count("script") == 2
    assert not {name for name, _ in page.tags} & {"img", "link", "iframe"}
    assert not [attributes for _, attributes in page.tags if {"src", "href", "onerror"} & attributes.keys()]
    data = json.loads(page.scripts[0])
    assert data["items"][0]["title"] == HOSTILE
    assert (data["review"], data["sample"], data["number"]) == ("r", "hash", 2)
    assert "http" not in re.sub(r"http-equiv", "", render(sheet))


def test_sample_hash_knows_texts_and_not_their_order() -> None:
    first, second = item("a", id="1"), item("b", id="2")
    assert sample_hash("r", [first, second]) == sample_hash("r", [second, first])
    assert sample_hash("r", [first]) != sample_hash("other", [first])
    assert sample_hash("r", [first]) != sample_hash("r", [replace(first, title="c")])


@pytest.mark.parametrize(
    "options",
    [
        (Option("j", "a", "A"), Option("b", "b", "B")),
        (Option("a", "a", "A"), Option("a", "b", "B")),
        (Option("a", "a", "A"), Option("b", "a", "B")),
        (Option("a", "a", "A"),),
    ],
)
def test_check_with_keys_or_values_that_clash_is_refused(options: tuple[Option, ...]) -> None:
    with pytest.raises(ValueError, match="check x"):
        Check("x", "Which?", options)


@pytest.mark.parametrize("chinese", [False, True])
def test_question_item_marks_evidence_and_strikes_what_was_cut(chinese: bool) -> None:
    fact, copy = (ZH_FACT, ZH_COPY) if chinese else (EN_FACT, EN_COPY)
    (answerable, redacted, _), text = asked(chinese)
    document = question_item(answerable, None, text, 300).sections[-1]
    assert [run.text for run in document.runs if "evidence" in run.marks] == [fact]
    assert not [run for run in document.runs if "cut" in run.marks]
    document = question_item(redacted, answerable, text, 300).sections[-1]
    assert [(run.text, run.marks) for run in document.runs if "cut" in run.marks] == [
        (fact, ("evidence", "cut")),
        (copy, ("cut",)),
    ]


def test_question_item_clips_the_text_visibly_and_loses_none_of_it_otherwise() -> None:
    (answerable, *_), text = asked(False)
    runs = question_item(answerable, None, text, 200).sections[-1].runs
    assert runs[0].marks == runs[-1].marks == ("gap",)
    left_out = [int(re.sub(r"\D", "", run.text)) for run in runs if run.marks == ("gap",)]
    shown = "".join(run.text for run in runs if run.marks != ("gap",))
    assert sum(left_out) + len(shown) == len(text.text)
    assert shown in text.text
    assert len(shown) == 400 + len(EN_FACT)


def test_question_item_shows_what_each_kind_needs() -> None:
    (answerable, redacted, rewritten), text = asked(False)

    def shown(question: Question, twin: Question | None) -> dict[str, str]:
        made = question_item(question, twin, text, 200)
        return {section.title: "".join(run.text for run in section.runs) for section in made.sections}

    assert shown(answerable, None)["Gold answer"] == "1902"
    assert shown(redacted, answerable)["Reference response"] == "The text does not say when it was opened."
    assert shown(redacted, answerable)["Original answer"] == "1902"
    assert "Original question" not in shown(redacted, answerable)
    assert shown(rewritten, answerable)["Original question"] == answerable.question
    assert "Original answer" not in shown(rewritten, None)


def test_question_item_without_marks_shows_the_beginning_and_says_so() -> None:
    _, text = asked(False)
    question = make_question(make_document(text.text), 0, False, evidence=())
    document = question_item(question, None, text, 200).sections[-1]
    assert text.text.startswith(document.runs[0].text)
    assert "no evidence is marked" in document.says


@pytest.mark.parametrize("kind", list(Kind))
def test_question_item_says_for_every_kind_what_passes(kind: Kind) -> None:
    _, text = asked(False)
    question = make_question(make_document(text.text), 0, kind is Kind.ANSWERABLE, kind=kind.value)
    checks = question_item(question, None, text, 200).checks
    assert [check.id for check in checks] == ["question", "answer"]
    assert all(check.hint for check in checks)


def test_judgement_item_shows_response_and_verdict_but_not_the_judges_reasons() -> None:
    (_, redacted, _), text = asked(False)
    response = make_response(redacted, turns=(make_turn("It was 1902."), make_turn("When else?", "reformulate")))
    judgement = make_judgement(response, "response_class", "direct_refusal", rationale="because I say so")
    made = judgement_item(judgement, response, redacted, text, 200)
    shown = {section.title: "".join(run.text for run in section.runs) for section in made.sections}
    assert shown["Response"] == "It was 1902."
    assert shown["Verdict of the judge"] == "direct refusal"
    assert "because I say so" not in str(made)
    assert (made.id, made.group, [check.id for check in made.checks]) == (
        judgement.judgement_id,
        "direct_refusal",
        ["verdict"],
    )
    consistent = make_judgement(response, "answer_consistency", "correct")
    assert judgement_item(consistent, response, redacted, text, 200).group == "lack_of_evidence/correct"
