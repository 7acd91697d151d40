from __future__ import annotations

import json

from tests.factories import frame, make_document, make_question, make_response, make_run
from udfs.tables.expected import COUNTS, PLANNED, cell_counts, planned_cells
from udfs.tables.observations import response_rows


def cells(*plan: tuple[str, str, int]) -> str:
    return json.dumps([{"method": m, "layout": "document_first", "dataset": d, "expected": n} for m, d, n in plan])


RUNS = [
    make_run(number=0, cells=cells(("zs", "a", 60), ("fs", "a", 60))),
    make_run(number=1, cells=cells(("zs", "a", 16), ("zs", "b", 9))),
    make_run(number=2, model="other", cells=cells(("zs", "a", 5))),
    make_run(number=3, job="judge", model="rules", cells=cells(("zs", "a", 999))),
    make_run(number=4, cells=None),
]


def test_planned_cells_of_several_starts_are_the_widest_of_each_cell() -> None:
    found = planned_cells(frame("runs", RUNS))
    assert found.columns == list(PLANNED)
    assert found.select("model", "method", "dataset", "planned").rows() == [
        ("m", "fs", "a", 60),
        ("m", "zs", "a", 60),
        ("m", "zs", "b", 9),
        ("other", "zs", "a", 5),
    ]


def test_planned_cells_of_some_datasets_and_models_hold_only_those() -> None:
    assert planned_cells(frame("runs", RUNS), datasets=["b"])["planned"].to_list() == [9]
    assert planned_cells(frame("runs", RUNS), models=["other"])["planned"].to_list() == [5]


def test_cell_counts_join_planned_and_recorded() -> None:
    document = make_document(dataset="a")
    questions = [make_question(document, number) for number in range(7)]
    asked = [(q, "m", "zs") for q in questions] + [(q, "other", "zs") for q in questions] + [(questions[0], "new", "x")]
    responses = [make_response(question, model, method) for question, model, method in asked]
    rows = response_rows(frame("responses", responses), frame("questions", questions), frame("documents", [document]))
    found = cell_counts(rows, planned_cells(frame("runs", RUNS)))
    assert found.columns == list(COUNTS)
    counts = found.select("model", "method", "dataset", "planned", "recorded", "expected").rows()
    assert counts == [
        ("m", "fs", "a", 60, 0, 60),
        ("m", "zs", "a", 60, 7, 60),
        ("m", "zs", "b", 9, 0, 9),
        ("new", "x", "a", None, 1, 1),
        ("other", "zs", "a", 5, 7, 7),
    ]
