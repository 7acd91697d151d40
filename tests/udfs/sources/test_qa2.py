from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.sources.helpers import Taken, real_data, take, write_jsonl
from udfs.errors import UserError
from udfs.sources.intake import Defaults
from udfs.sources.pages import normalized_address
from udfs.sources.training import forbids_training

COLUMNS = (
    *("idx", "question", "abstractive_answer", "extractive_evidence_or_answer", "url_extractive_evidence_or_answer"),
    *(
        "all_assumptions_valid",
        "questionable_assumption",
        "yesno_verification_question",
        "type_questionable_assumption",
    ),
    *("assumption_status_can_change", "yesno_verification_question_including_valid_qs", "canary"),
)
CANARY = "NOT FOR TRAINING. canary GUID 00000000-made-for-this-test"
FERRY = "The ferry at Tannet crosses twice a day. Its master is Ana Brook.\n"
BRIDGE = "The bridge at Arlow opened in 1902. It was painted green."
FERRY_URL, BRIDGE_URL = "https://www.tannet.example/ferry/", "http://arlow.example/wiki/Bridge_%28Arlow%29#History"


def row(idx: object = 0, **given: object) -> dict[str, object]:
    values = dict.fromkeys(COLUMNS, "") | {
        "idx": idx,
        "question": "who is master of the ferry at tannet",
        "abstractive_answer": "Ana Brook is its master.",
        "extractive_evidence_or_answer": "Its master is Ana Brook.",
        "url_extractive_evidence_or_answer": FERRY_URL,
        "all_assumptions_valid": "all_valid",
        "canary": CANARY,
    }
    return values | given


def invalid(idx: object = 1, **given: object) -> dict[str, object]:
    values = {
        "question": "why did the bridge at arlow burn in 1902",
        "abstractive_answer": "The bridge did not burn in 1902: it opened then.",
        "extractive_evidence_or_answer": "The bridge at Arlow opened in 1902.",
        "url_extractive_evidence_or_answer": BRIDGE_URL,
        "all_assumptions_valid": "has_invalid",
        "questionable_assumption": "the bridge burnt",
    }
    return row(idx, **(values | given))


def write_csv(path: Path, rows: Iterable[Mapping[str, object]], columns: Iterable[str] = COLUMNS) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(columns))
        writer.writeheader()
        writer.writerows(rows)
    return path


def read(root: Path, rows: Iterable[Mapping[str, object]], pages: Iterable[Mapping[str, str]] | None = None) -> Taken:
    """The rows against a table of pages."""
    both = [
        {"url": "tannet.example/ferry", "text": FERRY},
        {"url": "https://arlow.example/wiki/Bridge_(Arlow)", "text": BRIDGE},
    ]
    table = write_jsonl(root / "pages.jsonl", both if pages is None else pages)
    return take("qa2", write_csv(root / "qa2.csv", rows), documents=table)


def test_qa2_rows_become_questions_about_their_pages(tmp_path: Path) -> None:
    taken = read(tmp_path, [row(), invalid()])
    first, second = taken.questions
    texts = {document.doc_id: document for document in taken.documents}
    assert (first.answerable, first.kind, first.answers) == (True, "answerable", ("Ana Brook is its master.",))
    assert (second.answerable, second.kind, second.answers) == (False, "unanswerable", ())
    assert first.reference_response is None
    assert second.reference_response == "The bridge did not burn in 1902: it opened then."
    assert [texts[question.doc_id].text for question in (first, second)] == [FERRY, BRIDGE]
    assert [texts[question.doc_id].source for question in (first, second)] == [FERRY_URL, BRIDGE_URL]
    held = [texts[q.doc_id].text[span.start : span.end] for q in (first, second) for span in q.evidence]
    assert held == ["Its master is Ana Brook.", "The bridge at Arlow opened in 1902."]
    assert json.loads(second.provenance)["extra"]["questionable_assumption"] == "the bridge burnt"
    assert (taken.rows, taken.rejects, taken.spans_lost) == (2, [], 0)


def test_qa2_every_question_forbids_training_also_without_its_canary(tmp_path: Path) -> None:
    taken = read(tmp_path, [row(), invalid(canary="")])
    reasons = [forbids_training(question.provenance) or "" for question in taken.questions]
    assert all("never train" in reason for reason in reasons)
    assert [CANARY in reason for reason in reasons] == [True, False]
    assert all("never train" in document.license for document in taken.documents)


def test_qa2_row_without_its_page_is_rejected_with_the_address(tmp_path: Path) -> None:
    url = "https://nowhere.example/a?b=c"
    taken = read(tmp_path, [row(), row(5, url_extractive_evidence_or_answer=url)])
    (reject,) = taken.rejects
    assert (reject.row, reject.reason, reject.key) == (2, "no_page", "5")
    assert url in reject.error
    assert len(taken.questions) == 1


def test_qa2_row_with_two_addresses_has_both_pages_in_order(tmp_path: Path) -> None:
    both = f"{BRIDGE_URL} || {FERRY_URL}"
    evidence = "It was painted green. || Its master is Ana Brook. || gone"
    taken = read(tmp_path, [row(url_extractive_evidence_or_answer=both, extractive_evidence_or_answer=evidence)])
    (document,), (question,) = taken.documents, taken.questions
    assert document.text == f"{BRIDGE}\n\n{FERRY}"
    held = [document.text[span.start : span.end] for span in question.evidence]
    assert held == ["It was painted green.", "Its master is Ana Brook."]
    assert taken.spans_lost == 1
    missing = read(tmp_path, [row(url_extractive_evidence_or_answer=f"{both} || https://x.example || y.example/z")])
    assert missing.reasons() == [(1, "no_page")]
    assert missing.rejects[0].error.endswith(": https://x.example, y.example/z")


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"question": " "}, "no_question"),
        ({"question": CANARY}, "no_question"),
        ({"all_assumptions_valid": "maybe"}, "bad_label"),
        ({"all_assumptions_valid": ""}, "bad_label"),
        ({"url_extractive_evidence_or_answer": " "}, "missing_field"),
    ],
)
def test_qa2_bad_row_is_rejected_alone(tmp_path: Path, given: dict[str, object], reason: str) -> None:
    taken = read(tmp_path, [row(**given), invalid()])
    assert taken.reasons() == [(1, reason)]
    assert len(taken.questions) == 1


def test_qa2_row_of_the_canary_alone_is_no_question(tmp_path: Path) -> None:
    taken = read(tmp_path, [row(), dict.fromkeys(COLUMNS, "") | {"idx": CANARY}])
    assert taken.reasons() == [(2, "no_question")]


@pytest.mark.parametrize("name", ["pages.csv", "pages.jsonl.gz", "pages.parquet"])
def test_qa2_folder_with_a_table_of_files_gives_the_same_as_a_table_of_texts(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "scraped"
    (folder / "texts").mkdir(parents=True)
    (folder / "texts" / "ferry.txt").write_bytes(FERRY.encode())
    (folder / "texts" / "bridge.txt.gz").write_bytes(gzip.compress(BRIDGE.encode()))
    listed = [
        {"url": "HTTP://Tannet.example/ferry", "file": "texts/ferry.txt"},
        {"url": "https://arlow.example/wiki/Bridge_(Arlow)/", "file": "texts/bridge.txt.gz"},
        {"url": "https://unwanted.example", "file": "texts/absent.txt"},
    ]
    if name.endswith(".csv"):
        write_csv(folder / name, listed, ("url", "file"))
    elif name.endswith(".parquet"):
        pq.write_table(pa.Table.from_pylist(listed), folder / name)
    else:
        write_jsonl(folder / name, listed)
    rows = [row(), invalid()]
    by_folder = take("qa2", write_csv(folder / "qa2.csv", rows), documents=folder)
    assert [q.question_id for q in by_folder.questions] == [q.question_id for q in read(tmp_path, rows).questions]
    assert (by_folder.rows, by_folder.rejects) == (2, [])


@pytest.mark.parametrize(
    ("file", "content", "reason"),
    [
        ("absent.txt", None, "no_page"),
        ("../secret.txt", None, "bad_field"),
        ("/etc/hostname", None, "bad_field"),
        ("latin.txt", "é".encode("latin-1"), "bad_utf8"),
        ("blank.txt", b" \n", "empty_document"),
        ("cut.txt.gz", gzip.compress(b"x" * 1000, mtime=0)[:20], "bad_file"),
    ],
)
def test_qa2_page_that_cannot_be_read_rejects_its_rows(
    tmp_path: Path, file: str, content: bytes | None, reason: str
) -> None:
    if content is not None:
        (tmp_path / file).write_bytes(content)
    pages = [{"url": FERRY_URL, "file": file}, {"url": BRIDGE_URL, "text": BRIDGE}]
    taken = read(tmp_path, [row(), invalid()], pages)
    assert taken.reasons() == [(1, reason)]
    assert FERRY_URL in taken.rejects[0].error
    assert len(taken.questions) == 1


def test_qa2_bad_rows_of_the_table_of_pages_are_rejects_of_that_file(tmp_path: Path) -> None:
    pages: list[Any] = [b"}{", {"text": FERRY}, {"url": FERRY_URL, "text": FERRY}]
    taken = read(tmp_path, [row()], pages)
    assert taken.reasons() == [(1, "bad_json"), (2, "missing_field")]
    assert all(reject.file.endswith("pages.jsonl") for reject in taken.rejects)
    assert len(taken.questions) == 1


def test_qa2_two_texts_for_one_address_raise_and_one_text_twice_does_not(tmp_path: Path) -> None:
    same = [{"url": FERRY_URL, "text": FERRY}, {"url": "http://tannet.example/ferry#top", "text": FERRY}]
    assert len(read(tmp_path, [row()], same).questions) == 1
    with pytest.raises(UserError, match=r"rows 1 and 3 give two texts for the address 'tannet\.example/ferry'"):
        read(tmp_path, [row()], [*same, {"url": "tannet.example/ferry", "text": BRIDGE}])


@pytest.mark.parametrize("names", [[], ["pages.csv", "pages.jsonl"], ["other.csv"]])
def test_qa2_folder_without_one_table_of_pages_raises(tmp_path: Path, names: list[str]) -> None:
    folder = tmp_path / "scraped"
    folder.mkdir()
    for name in [*names, "note.json"]:
        (folder / name).write_text("", encoding="utf-8")
    with pytest.raises(UserError, match=r"one table pages\.csv"):
        take("qa2", write_csv(tmp_path / "qa2.csv", [row()]), documents=folder)


def test_qa2_without_documents_or_their_columns_raises_with_what_to_give(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "qa2.csv", [row()])
    with pytest.raises(UserError, match=r"documents=.*pages\.csv"):
        take("qa2", path)
    with pytest.raises(UserError, match="needs the columns url and text"):
        take("qa2", path, documents=write_csv(tmp_path / "t.csv", [{"address": "a", "text": "b"}], ("address", "text")))
    with pytest.raises(UserError, match="no such file"):
        take("qa2", path, documents=tmp_path / "absent")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://www.a.example/b/", "http://A.example/b#part"),
        ("//a.example", "https://a.example/"),
        ("a.example:443/b", "https://a.example/b"),
        ("https://a.example/Zola%27s_B", "https://a.example/Zola's_B"),
        (" https://a.example/b?x=1#y ", "a.example/b?x=1"),
    ],
)
def test_address_spellings_of_one_page_are_the_same(one: str, other: str) -> None:
    assert normalized_address(one) == normalized_address(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://a.example/b", "https://a.example/B"),
        ("https://a.example/b?x=1", "https://a.example/b?x=2"),
        ("https://a.example/b", "https://b.example/b"),
        ("https://en.a.example", "https://a.example"),
    ],
)
def test_address_of_another_page_is_another(one: str, other: str) -> None:
    assert normalized_address(one) != normalized_address(other)


@given(st.text(max_size=60))
def test_address_of_any_text_has_one_normal_form_with_and_without_scheme(text: str) -> None:
    host = "a.example/"
    assert normalized_address(f"https://www.{host}{text}") == normalized_address(f"{host}{text}")
    assert isinstance(normalized_address(text), str)


def test_qa2_real_release_with_made_pages_takes_every_row(tmp_path: Path) -> None:
    path = real_data("qa", "qaqa_adaptation.csv")
    with path.open(encoding="utf-8", newline="") as stream:
        released = list(csv.DictReader(stream))
    addresses = {part for line in released for part in line["url_extractive_evidence_or_answer"].split(" || ")}
    evidence: dict[str, list[str]] = {}
    for line in released:
        for part in line["url_extractive_evidence_or_answer"].split(" || "):
            evidence.setdefault(part, []).extend(line["extractive_evidence_or_answer"].split(" || "))
    pages = [{"url": url, "text": f"Page {url}.\n" + "\n".join(evidence[url])} for url in sorted(addresses)]
    taken = take("qa2", path, documents=write_jsonl(tmp_path / "pages.jsonl", pages), defaults=Defaults(split="test"))
    assert (len(taken.questions), taken.rejects, taken.spans_lost) == (32, [], 0)
    assert sum(question.answerable for question in taken.questions) == 16
    assert all("canary GUID" in (forbids_training(question.provenance) or "") for question in taken.questions)
    without = take("qa2", path, documents=write_jsonl(tmp_path / "pages.jsonl", pages[:-2]))
    assert {reject.reason for reject in without.rejects} == {"no_page"}
    assert len(without.questions) + len(without.rejects) == 32
