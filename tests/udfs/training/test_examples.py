"""What is learnt from: views, evidence in the view, and what must not be trained on."""

from __future__ import annotations

import json
from pathlib import Path

from tests.factories import make_document, make_question
from tests.udfs.training.tiny import ingest
from udfs.records import Span
from udfs.tables.store import Store
from udfs.training.examples import BAD_REDACTION, FORBIDDEN, gather

DOCUMENT = make_document("The mill closed. The bridge opened in 1902.")


def test_gather_shows_the_view_and_moves_the_evidence_into_it(tmp_path: Path) -> None:
    at = DOCUMENT.text.index("1902")
    seen = make_question(DOCUMENT, 0, evidence=(Span(at, at + 4),), redactions=(Span(0, 17),))
    cut = make_question(DOCUMENT, 1, False, evidence=(Span(0, 3),), redactions=(Span(0, 17),))
    ingest(str(tmp_path), [(DOCUMENT, seen), (DOCUMENT, cut)])
    found = {example.question_id: example for example in gather(Store(str(tmp_path)), ["bench"]).examples}
    example = found[seen.question_id]
    assert example.text == "The bridge opened in 1902."
    assert [example.text[slice(*span)] for span in example.evidence] == ["1902"]
    assert found[cut.question_id].evidence == ()


def test_gather_leaves_out_and_counts_what_must_not_be_trained_on(tmp_path: Path) -> None:
    kept, bad = make_question(DOCUMENT, 0), make_question(DOCUMENT, 1, redactions=(Span(0, 999),))
    canary = make_question(DOCUMENT, 2, provenance=json.dumps({"extra": {"canary": "do not train"}}))
    ingest(str(tmp_path), [(DOCUMENT, question) for question in (kept, bad, canary)])
    found = gather(Store(str(tmp_path)), ["bench"])
    assert [example.question_id for example in found.examples] == [kept.question_id]
    assert found.left_out["bench"] == {FORBIDDEN: 1, BAD_REDACTION: 1}
    assert found.licences == {"bench": ["CC0-1.0"]}
