from __future__ import annotations

import dataclasses
from datetime import UTC, datetime

import pyarrow as pa
import pytest

from tests.udfs.dialogues.fake_engine import FakeEngine, a_question
from udfs.dialogues.dialogue import DETECTORS, READING_VERSION, DialogueSpec, converse, expected_response_id
from udfs.engines.base import Completion, EngineDead, Filtered, OverLength, ProviderError, Sampling
from udfs.engines.config import ScriptedModel
from udfs.engines.scripted import ScriptedEngine
from udfs.errors import UserError
from udfs.records import Response, Span, row_of
from udfs.schema import RESPONSES, Status
from udfs.views import view_text

NOW = datetime(2024, 5, 6, tzinfo=UTC)
DOCUMENT = "Harlow Rowers won. Their cox is Ines Bahr."
REFUSAL = "I don't know. The document names the cox of Harlow Rowers."
NEW = "Who is the cox of the Harlow Rowers crew?"


async def run(engine: FakeEngine, spec: DialogueSpec | None = None) -> Response:
    return await converse(
        engine, spec or DialogueSpec("zs"), DOCUMENT, a_question(), response_id="r", run="t", clock=lambda: NOW
    )


async def test_dialogue_answered_ends_after_turn_1() -> None:
    engine = FakeEngine({"answer": ["Answer: Ines Bahr"]})
    response = await run(engine)
    assert [turn.purpose for turn in response.turns] == ["answer"]
    assert (response.answer, response.refused, response.reformulation) == ("Ines Bahr", False, None)
    assert response.status is Status.OK
    assert response.created_at == NOW


async def test_dialogue_refused_is_asked_for_a_new_question_with_its_own_turns_before() -> None:
    engine = FakeEngine({"answer": [REFUSAL], "reformulate": [f"New question: {NEW}"]})
    response = await run(engine)
    assert response.refused is True
    assert response.reformulation == NEW
    assert response.reformulation_couldask == NEW
    first, second = (prompt.messages for prompt in engine.prompts)
    assert second[: len(first)] == first
    assert second[len(first)] == {"role": "assistant", "content": REFUSAL}
    assert second[-1]["role"] == "user"


async def test_dialogue_reply_without_a_question_is_ok_without_reformulation() -> None:
    response = await run(FakeEngine({"answer": [REFUSAL], "reformulate": ["I cannot."]}))
    assert (response.status, response.reformulation) == (Status.OK, None)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (OverLength("9000 tokens"), Status.OVER_LENGTH),
        (ProviderError("503"), Status.PROVIDER_ERROR),
        (Filtered("policy"), Status.FILTERED),
    ],
)
async def test_dialogue_turn_1_fails_gives_the_status_and_no_answer(error: Exception, status: Status) -> None:
    response = await run(FakeEngine({"answer": [error]}))
    assert (response.status, response.turns, response.answer, response.refused) == (status, (), None, None)
    assert response.error is not None
    assert response.error.startswith("answer: ")


@pytest.mark.parametrize(
    ("error", "status"),
    [(OverLength("9000 tokens"), Status.OVER_LENGTH), (ProviderError("503"), Status.PROVIDER_ERROR)],
)
async def test_dialogue_turn_2_fails_keeps_turn_1(error: Exception, status: Status) -> None:
    response = await run(FakeEngine({"answer": [REFUSAL], "reformulate": [error]}))
    assert (response.status, response.answer, response.refused) == (status, REFUSAL, True)
    assert [turn.purpose for turn in response.turns] == ["answer"]
    assert response.error is not None
    assert response.error.startswith("reformulate: ")


async def test_dialogue_engine_dead_propagates() -> None:
    with pytest.raises(EngineDead):
        await run(FakeEngine({"answer": [EngineDead("gone")]}))


async def test_dialogue_detector_couldask_reads_its_own_phrases_only() -> None:
    engine = FakeEngine({"answer": ["The document does not say."]})
    response = await run(engine, DialogueSpec("zs", detector="couldask"))
    assert response.refused is False


async def test_dialogue_detector_llm_is_asked_and_decides() -> None:
    engine = FakeEngine(
        {"answer": ["Hard to say."], "refusal": ['{"verdict": "refused"}'], "reformulate": [f"New question: {NEW}"]}
    )
    response = await run(engine, DialogueSpec("zs", detector="llm"))
    assert response.refused is True
    assert [turn.purpose for turn in response.turns] == ["answer", "refusal", "reformulate"]
    assert engine.prompts[1].gold["response"] == "Hard to say."
    assert engine.schemas[1] is not None


async def test_dialogue_detector_llm_unreadable_twice_is_a_parse_failure_with_the_answer_kept() -> None:
    engine = FakeEngine({"answer": ["Hard to say."], "refusal": ["maybe", "who knows"]})
    response = await run(engine, DialogueSpec("zs", detector="llm"))
    assert (response.status, response.answer, response.refused) == (Status.PARSE_FAILURE, "Hard to say.", None)


async def test_dialogue_detector_llm_readable_on_retry_is_ok() -> None:
    engine = FakeEngine({"answer": ["30 crowns"], "refusal": ["maybe", '{"verdict": "answered"}']})
    response = await run(engine, DialogueSpec("zs", detector="llm"))
    assert (response.status, response.refused) == (Status.OK, False)


async def test_dialogue_observe_sees_every_completion_and_on_prefill_is_called_once() -> None:
    engine = FakeEngine({"answer": [REFUSAL], "reformulate": [f"New question: {NEW}"]})
    seen: list[Completion] = []
    prefilled: list[bool] = []
    await converse(
        engine,
        DialogueSpec("zs"),
        DOCUMENT,
        a_question(),
        response_id="r",
        run="t",
        observe=seen.append,
        on_prefill=lambda: prefilled.append(True),
    )
    assert len(seen) == 2
    assert all(completion.prompt_ids is not None for completion in seen)
    assert prefilled == [True]


@pytest.mark.parametrize("layout", ["document_first", "paper"])
@pytest.mark.parametrize("method", ["zs", "zs_cot", "fs", "fs_cot", "explicit", "rule_based"])
@pytest.mark.parametrize("language", ["en", "zh"])
async def test_dialogue_row_fits_the_responses_schema(method: str, layout: str, language: str) -> None:
    engine = FakeEngine({"answer": ["不知道。" if language == "zh" else REFUSAL], "reformulate": ["新问题：谁？"]})
    spec, question = DialogueSpec(method, layout), a_question(language=language)
    identity = expected_response_id(spec, question, engine.name, engine.revision)
    response = await converse(engine, spec, DOCUMENT, question, response_id=identity, run="t", clock=lambda: NOW)
    table = pa.Table.from_pylist([row_of(response)], schema=RESPONSES)
    assert Response.from_row(table.to_pylist()[0]) == response
    assert DOCUMENT not in repr(row_of(response))


async def test_dialogue_shows_the_view_that_it_is_given() -> None:
    engine = FakeEngine({"answer": ["30"]})
    shown = view_text(DOCUMENT, [Span(0, 19)])
    await converse(engine, DialogueSpec("zs"), shown, a_question(), response_id="r", run="t")
    assert "Harlow Rowers won" not in engine.prompts[0].messages[0]["content"]


@pytest.mark.parametrize("layout", ["document_first", "paper"])
async def test_dialogue_rule_based_turn_2_is_told_a_sentence_of_the_view_alone(layout: str) -> None:
    engine = FakeEngine({"answer": [REFUSAL], "reformulate": [f"New question: {NEW}"]})
    text = "The Tannet crew lost its cox. A crew of Tannet won. Harlow has none."
    shown = view_text(text, [Span(0, 30)])
    spec = DialogueSpec("rule_based", layout)
    response = await converse(engine, spec, shown, a_question(), response_id="r", run="t")
    asked = engine.prompts[1].messages[-1]["content"]
    assert "\nA crew of Tannet won.\n" in asked
    assert "lost its cox" not in asked
    assert (response.status, response.reformulation, response.method) == (Status.OK, NEW, "rule_based")


@pytest.mark.parametrize("method", ["explicit", "rule_based"])
async def test_dialogue_baselines_on_the_scripted_engine_end_as_any_other_method(method: str) -> None:
    engine = ScriptedEngine(ScriptedModel(name="s", detection=1.0, reformulation=1.0))
    question = dataclasses.replace(a_question(), gold_reformulation=NEW)
    response = await converse(engine, DialogueSpec(method), DOCUMENT, question, response_id="r", run="t")
    assert (response.status, response.refused, response.reformulation) == (Status.OK, True, NEW)
    assert [turn.purpose for turn in response.turns] == ["answer", "reformulate"]


def test_dialogue_spec_unknown_names_raise_with_the_allowed_ones() -> None:
    with pytest.raises(UserError, match="zs_cot"):
        DialogueSpec("zero")
    with pytest.raises(UserError, match="document_first"):
        DialogueSpec("zs", layout="last")
    with pytest.raises(UserError, match="couldask"):
        DialogueSpec("zs", detector="magic")


def test_dialogue_expected_id_changes_with_the_rules_by_which_replies_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    before = [expected_response_id(DialogueSpec("zs", detector=d), a_question(), "m", "r") for d in DETECTORS]
    monkeypatch.setattr("udfs.dialogues.dialogue.READING_VERSION", READING_VERSION + 1)
    after = [expected_response_id(DialogueSpec("zs", detector=d), a_question(), "m", "r") for d in DETECTORS]
    assert not set(before) & set(after)


def test_dialogue_expected_id_changes_with_everything_that_was_asked_and_with_nothing_else() -> None:
    spec, question = DialogueSpec("zs"), a_question()
    base = expected_response_id(spec, question, "m", "r")
    assert expected_response_id(spec, dataclasses.replace(question, topic="x"), "m", "r") == base
    others = [
        expected_response_id(DialogueSpec("zs_cot"), question, "m", "r"),
        expected_response_id(DialogueSpec("zs", layout="paper"), question, "m", "r"),
        expected_response_id(DialogueSpec("zs", detector="couldask"), question, "m", "r"),
        expected_response_id(DialogueSpec("zs", detector="llm"), question, "m", "r"),
        expected_response_id(DialogueSpec("zs", sampling=Sampling(temperature=1.0)), question, "m", "r"),
        expected_response_id(spec, dataclasses.replace(question, redactions=(Span(0, 3),)), "m", "r"),
        expected_response_id(spec, dataclasses.replace(question, language="zh"), "m", "r"),
        expected_response_id(spec, dataclasses.replace(question, question_id="q2"), "m", "r"),
        expected_response_id(spec, question, "m2", "r"),
        expected_response_id(spec, question, "m", "r2"),
    ]
    assert len({base, *others}) == len(others) + 1
