"""Data of the page of responses, as scripts that a browser loads on demand, also from a folder on disk.

`fetch` is blocked on file://, while `<script src>` is not: every file calls `askable.<what>(…)` with JSON.

- index.js: one light row a response (its cell, kind, verdict, beginning of the answer) for the list and its filters;
- responses-NNNN.js: a stretch of responses in the list's order, with turns, verdicts and excerpts around the evidence,
  and of a second turn what the reformulation explorer shows (`udfs.report.explorer`);
- documents-NNNN.js: whole documents, each file about a megabyte.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import polars as pl

from udfs.prompts.facts import facts
from udfs.records import Question
from udfs.report.explorer import Found, explored, located, with_outcomes
from udfs.report.lookup import method_rank
from udfs.report.spans import excerpts, utf16_spans
from udfs.tables import reformulations
from udfs.tables.texts import Text
from udfs.views import view_text

CHUNK_RESPONSES: Final = 100
CHUNK_CHARACTERS: Final = 1_000_000
ANSWER_CHARACTERS: Final = 240
"""Of an answer in the index: what the list shows and the search looks through."""
ORDER: Final = ("dataset", "doc_id", "question_id", "model", "method", "layout", "response_id")
NAMED: Final = (
    *("dataset", "model", "method", "layout", "language", "kind", "status", "verdict", "said"),
    *("success", "category"),
)
NOT_JUDGED: Final = "not judged"
SHOWS_A_SENTENCE: Final = "rule_based"
"""The method that shows the model the document's most overlapped sentence (CouldAsk, Figure 4)."""


def script(what: str, *values: Any) -> str:
    """A call of `askable.<what>` with `values` as JSON that no text in them can break out of."""
    parts = (json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False) for value in values)
    body = ",".join(parts).replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return f"askable.{what}({body});\n"


@dataclass
class Shelf:
    """Where each document went, and what of it the questions need; filled while the documents pass by once."""

    chunk_of: dict[tuple[str, str], int] = field(default_factory=dict)
    title_of: dict[tuple[str, str], str] = field(default_factory=dict)
    length_of: dict[tuple[str, str], int] = field(default_factory=dict)
    shown: dict[str, dict[str, Any]] = field(default_factory=dict)  # question_id → excerpts and spans
    answering: dict[str, dict[str, Any]] = field(default_factory=dict)  # response_id → the same, and what answers
    sentence: dict[str, str] = field(default_factory=dict)  # question_id → what `SHOWS_A_SENTENCE` was shown


def document_chunks(
    texts: Iterable[Text],
    questions: Mapping[tuple[str, str], list[Question]],
    around: int,
    shelf: Shelf,
    answers: Mapping[str, Sequence[Found]] | None = None,
    told: Collection[str] = (),
) -> Iterator[tuple[str, str]]:
    """(file name, content) of the documents' scripts; fills `shelf` on the way. One chunk is in memory at a time.

    Args:
        texts: the documents, each once.
        questions: the shown questions of each (dataset, doc_id).
        around: characters on both sides of a mark in an excerpt.
        answers: `explorer.found_answers`, to be marked as well.
        told: question_ids whose most overlapped sentence a model was shown.
    """
    held: dict[str, str] = {}
    number = characters = 0
    for text in texts:
        key = (text.dataset, text.doc_id)
        if held and characters + len(text.text) > CHUNK_CHARACTERS:
            yield f"documents-{number:04d}.js", script("documents", number, held)
            held, characters, number = {}, 0, number + 1
        held[document_name(*key)] = text.text
        characters += len(text.text)
        shelf.chunk_of[key] = number
        shelf.title_of[key] = text.title
        shelf.length_of[key] = len(text.text)
        for question in questions.get(key, ()):
            shelf.shown[question.question_id] = {
                "excerpts": excerpts(text.text, question.evidence, question.redactions, around),
                "evidence": utf16_spans(text.text, question.evidence),
                "redactions": utf16_spans(text.text, question.redactions),
            }
            if question.question_id in told:
                view = view_text(text.text, question.redactions)
                said = facts(("sentence",), view, question.question, question.language)
                shelf.sentence[question.question_id] = said["sentence"]
            if answers and question.question_id in answers:
                shelf.answering |= dict(_answering(text.text, question, answers[question.question_id], around))
    if held:
        yield f"documents-{number:04d}.js", script("documents", number, held)


def _answering(
    text: str, question: Question, answers: Sequence[Found], around: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    for response_id, (answer, span) in located(text, question.redactions, answers).items():
        shown = {
            "judge": answer.judge,
            "text": answer.text,
            "spans": utf16_spans(text, [span]),
            "excerpts": excerpts(text, question.evidence, question.redactions, around, [span]),
        }
        yield response_id, shown


def document_name(dataset: str, doc_id: str) -> str:
    """A document's name in the page's data: one text may be in two datasets."""
    return f"{dataset}/{doc_id}"


def response_chunks(
    shown: pl.DataFrame, judgements: pl.DataFrame, questions: Mapping[str, Question], shelf: Shelf
) -> Iterator[tuple[str, str]]:
    """(file name, content) of the responses' scripts, in the order of `shown`.

    Args:
        shown: responses with turns, sorted by `ORDER`.
        judgements: rows of the judgements table.
        questions: by question_id.
    """
    successes = reformulations.successes(judgements)
    for number, start in enumerate(range(0, shown.height, CHUNK_RESPONSES)):
        part = shown.slice(start, CHUNK_RESPONSES)
        verdicts: dict[str, list[dict[str, Any]]] = {}
        won: dict[str, list[dict[str, Any]]] = {}
        mine = judgements.join(part.select("response_id").unique(), on="response_id", how="semi")
        for row in successes.join(part.select("response_id").unique(), on="response_id", how="semi").to_dicts():
            won.setdefault(row["response_id"], []).append(row)
        for row in mine.sort("measure", "judge", "judgement_id").iter_rows(named=True):
            verdicts.setdefault(row["response_id"], []).append(
                {name: row[name] for name in ("measure", "judge", "verdict", "score", "rationale", "status", "error")}
            )
        needed = {
            name: _question(questions[name], questions.get(questions[name].twin_id or ""), shelf)
            for name in part["question_id"].unique(maintain_order=True)
        }
        rows = []
        for row in part.iter_rows(named=True):
            name = row["response_id"]
            said = verdicts.get(name, [])
            explorer = explored(row, questions[row["question_id"]], said, won.get(name, []))
            if explorer is not None:
                said = [verdict for verdict in said if verdict["measure"] not in reformulations.MEASURES]
                if row["method"] == SHOWS_A_SENTENCE:
                    explorer["sentence"] = shelf.sentence.get(row["question_id"])
            more = {"verdicts": said, "explorer": explorer, "answering": shelf.answering.get(name)}
            rows.append(_response(row) | more)
        yield f"responses-{number:04d}.js", script("responses", number, rows, needed)


def _response(row: dict[str, Any]) -> dict[str, Any]:
    turns = [
        {name: turn[name] for name in ("purpose", "text", "prompt_tokens", "cached_tokens", "output_tokens")}
        | {"finish_reason": turn["finish_reason"], "seconds": round(turn["seconds"], 3)}
        for turn in row["turns"] or ()
    ]
    plain = ("question_id", "answer", "refused", "reformulation", "reformulation_couldask", "error", "detector")
    return {"turns": turns, **{name: row[name] for name in plain}}


def _question(question: Question, twin: Question | None, shelf: Shelf) -> dict[str, Any]:
    key = (question.dataset, question.doc_id)
    return {
        "document": document_name(*key),
        "title": shelf.title_of.get(key, ""),
        "characters": shelf.length_of.get(key, 0),
        "chunk": shelf.chunk_of.get(key),
        "answers": list(question.answers),
        "cut": list(twin.answers) if twin and question.redactions else [],
        "original": question.original_question,
        "reference": question.reference_response,
        "reformulation": question.gold_reformulation,
        "reformulation_answer": question.gold_reformulation_answer,
        **shelf.shown.get(question.question_id, {"excerpts": [], "evidence": [], "redactions": []}),
    }


def index_script(shown: pl.DataFrame, questions: Mapping[str, Question], about: Mapping[str, Any]) -> str:
    """The index: columns of small numbers into lists of names, the questions' words, and the answers' beginnings.

    Args:
        shown: responses sorted by `ORDER`, as `shown_responses` gives them.
        about: what the page says of itself.
    """
    names = {column: sorted(shown[column].unique().to_list()) for column in NAMED}
    numbers = {column: {name: i for i, name in enumerate(values)} for column, values in names.items()}
    place: dict[str, int] = {}
    for name in shown["question_id"]:
        place.setdefault(name, len(place))
    columns: dict[str, list[Any]] = {c: [numbers[c][value] for value in shown[c]] for c in NAMED}
    columns["question"] = [place[name] for name in shown["question_id"]]
    columns["id"] = [str(name)[:12] for name in shown["response_id"]]
    columns["answer"] = [(answer or "")[:ANSWER_CHARACTERS] for answer in shown["answer"]]
    asked = [questions[name].question for name in place]
    gold = [int(questions[name].answerable) for name in place]
    index = {"names": names, "rows": columns, "questions": asked, "answerable": gold, "chunk": CHUNK_RESPONSES}
    return script("index", {**about, **index})


def shown_responses(
    responses: pl.DataFrame, rows: pl.DataFrame, judgements: pl.DataFrame, judge: str, most: int
) -> pl.DataFrame:
    """The responses that the page shows, sorted by `ORDER`, with gold, language and what they are filtered by.

    All of them up to `most`; beyond that whole questions (every model and method of each) in the order of their ids,
    which are hashes: the choice is the same every time and leans to nothing.

    Args:
        judgements: one a response, judge and measure (`observations.latest_judgements`).
        judge: whose answer_consistency verdict is the one to filter by.
    """
    per_question = rows.group_by("question_id").len().sort("question_id")
    kept = per_question.filter(pl.col("len").cum_sum() <= most)
    if not kept.height:
        kept = per_question.head(1)
    verdict = judgements.filter((pl.col("measure") == "answer_consistency") & (pl.col("judge") == judge)).select(
        "response_id", verdict=pl.coalesce("verdict", "status")
    )
    found = (
        responses.join(rows.select("response_id", "language", "kind", "answerable"), on="response_id")
        .join(kept.select("question_id"), on="question_id", how="semi")
        .join(verdict, on="response_id", how="left", validate="m:1")
        .with_columns(
            verdict=pl.col("verdict").fill_null(NOT_JUDGED),
            said=pl.when(pl.col("refused").is_null())
            .then(pl.lit("nothing"))
            .when("refused")
            .then(pl.lit("refused"))
            .otherwise(pl.lit("answered")),
        )
        .with_columns(place=pl.col("method").map_elements(method_rank, return_dtype=pl.String))
        .sort(["place" if column == "method" else column for column in ORDER])
        .drop("place")
    )
    return with_outcomes(found, judgements)
