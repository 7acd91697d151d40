"""The messages of a dialogue's two turns, in either layout.

`document_first`: one user message, the document at its start, so that every method, both turns and a judge that sees
the document share its prefix. `paper`: examples as chat turns before the document (CouldAsk, section 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from udfs.engines.base import Message
from udfs.errors import UserError
from udfs.prompts.facts import facts
from udfs.prompts.library import LAYOUTS, Example, PromptLibrary, library

METHODS: Final = library().methods
LANGUAGES: Final = library().languages

__all__ = ["LANGUAGES", "LAYOUTS", "METHODS", "build_answer", "build_reformulate", "require", "template_hash"]


def require(method: str, layout: str, language: str, prompts: PromptLibrary | None = None) -> None:
    """Raise `UserError` with the allowed names unless method, layout and language are known."""
    (prompts or library()).require(method, layout, language)


def template_hash(method: str, layout: str, language: str, prompts: PromptLibrary | None = None) -> str:
    """Hash over every prompt file that a dialogue of this method can use, 32 hex digits.

    Raises:
        UserError: an unknown name.
    """
    return (prompts or library()).dialogue_hash(method, layout, language)


def build_answer(
    method: str, layout: str, language: str, document: str, question: str, prompts: PromptLibrary | None = None
) -> tuple[Message, ...]:
    """Turn 1: answer from the document alone, or say that it does not hold the answer.

    Args:
        document: the text as it is shown (a view), inserted verbatim.

    Raises:
        UserError: an unknown method, layout or language.
    """
    prompts = prompts or library()
    prompts.require(method, layout, language)
    examples = prompts.examples(method, language)
    if layout == "paper":
        shots = [message for example in examples for message in _paper_answer_shot(prompts, method, language, example)]
        return (*shots, _paper_question(prompts, method, language, document, question))
    text = prompts.render(
        language,
        f"answer.{layout}.j2",
        document_block=prompts.document_block(language, document),
        instruction=prompts.render(language, f"{method}/answer.j2"),
        examples=[_with_reply(prompts, method, language, example, "answer") for example in examples],
        question=question,
    )
    return (_user(text),)


def build_reformulate(
    method: str,
    layout: str,
    language: str,
    previous_messages: Sequence[Message],
    answer_text: str,
    question: str,
    document: str,
    prompts: PromptLibrary | None = None,
) -> tuple[Message, ...]:
    """Turn 2: edit the question as little as possible so that the document answers it.

    Args:
        previous_messages: what `build_answer` gave for this dialogue.
        answer_text: the reply to it, a refusal; inserted verbatim.
        document: the text that turn 1 showed; read where the method's instruction wants facts of it.

    Raises:
        UserError: an unknown method, layout or language, or no previous message.
    """
    prompts = prompts or library()
    prompts.require(method, layout, language)
    if not previous_messages:
        raise UserError("turn 2 needs the messages of turn 1; got none")
    examples = [example for example in prompts.examples(method, language) if "new_question" in example]
    answered: Message = {"role": "assistant", "content": answer_text}
    if layout == "paper":
        shots = [
            message for example in examples for message in _paper_dialogue_shot(prompts, method, language, example)
        ]
        turn = _user(_turn_2(prompts, method, layout, language, document, question, []))
        return (*shots, previous_messages[-1], answered, turn)
    shown = [_with_reply(prompts, method, language, example, "reformulate") for example in examples]
    turn = _user(_turn_2(prompts, method, layout, language, document, question, shown))
    return (*previous_messages, answered, turn)


def _turn_2(
    prompts: PromptLibrary,
    method: str,
    layout: str,
    language: str,
    document: str,
    question: str,
    examples: Sequence[Example],
) -> str:
    known = facts(prompts.facts(method, language), document, question, language)
    instruction = prompts.render(language, f"{method}/reformulate.j2", **known)
    values = {"instruction": instruction, "question": question, "examples": examples}
    return prompts.render(language, f"reformulate.{layout}.j2", **values)


def _paper_question(prompts: PromptLibrary, method: str, language: str, document: str, question: str) -> Message:
    text = prompts.render(
        language,
        "answer.paper.j2",
        document_block=prompts.document_block(language, document),
        instruction=prompts.render(language, f"{method}/answer.j2"),
        question=question,
    )
    return _user(text)


def _paper_answer_shot(prompts: PromptLibrary, method: str, language: str, example: Example) -> tuple[Message, ...]:
    asked = _paper_question(prompts, method, language, example["document"], example["question"])
    return asked, _assistant(_reply(prompts, method, language, example, "answer"))


def _paper_dialogue_shot(prompts: PromptLibrary, method: str, language: str, example: Example) -> tuple[Message, ...]:
    turn = _user(_turn_2(prompts, method, "paper", language, example["document"], example["question"], []))
    reply = _assistant(_reply(prompts, method, language, example, "reformulate"))
    return (*_paper_answer_shot(prompts, method, language, example), turn, reply)


def _reply(prompts: PromptLibrary, method: str, language: str, example: Example, turn: str) -> str:
    return prompts.render(language, f"{method}/example_{turn}.j2", example=example)


def _with_reply(prompts: PromptLibrary, method: str, language: str, example: Example, turn: str) -> Example:
    return {**example, "reply": _reply(prompts, method, language, example, turn)}


def _user(text: str) -> Message:
    return {"role": "user", "content": text}


def _assistant(text: str) -> Message:
    return {"role": "assistant", "content": text}
