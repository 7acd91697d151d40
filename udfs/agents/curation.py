"""CouldAsk's new subsets (section 4.1) over one document: write questions as they come, answer each several times.

Nobody is asked for unanswerable questions. The generator writes what a reader might ask; the checker, sampled at
temperature, answers every distinct question with the zero-shot prompt of the evaluation; whether an answer refuses, the
rules say. What confused the checker goes to annotators (`udfs.review.curation`). A plain coroutine over an engine.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache, partial
from typing import Annotated, Final

from pydantic import create_model

from udfs.agents.asking import Asker, against
from udfs.agents.base import QUESTION_GENERATOR
from udfs.agents.checks import Objection, is_question, prose_language_objections
from udfs.agents.drafts import Source
from udfs.agents.replies import MAX_QUESTION, Reply, Text, no_more_than
from udfs.agents.wording import MARKS, QUOTED
from udfs.dialogues.dialogue import READING_VERSION
from udfs.dialogues.failures import ROW_ERRORS, status_of
from udfs.dialogues.refusal import detect_refusal
from udfs.engines.base import Engine, Prompt, Sampling
from udfs.identity import content_hash
from udfs.judges.base import Observe, OnPrefill, utc_now
from udfs.prompts.curation import build_questions, questions_template_hash
from udfs.prompts.render import LANGUAGES, build_answer, template_hash
from udfs.records import CheckSample, Proposal, Span
from udfs.scheduling import walk_prefix_tree
from udfs.schema import Fate, ProposalFate, Status, Step
from udfs.synthesis.fragments import fragments
from udfs.text import count_words, normalize

CURATION_VERSION: Final = 1
"""Raise it when code changes what is asked or how a reply is read while no prompt file changes."""
METHOD, LAYOUT = "zs", "document_first"
"""The checker's prompt is that of an evaluation: turn 1 of this method in this layout."""


class QuestionsReply(Reply):
    """What the generator writes."""

    questions: list[Text]


@lru_cache
def form_of(n: int) -> type[QuestionsReply]:
    """The form of a reply with at most `n` questions."""
    questions = Annotated[list[Text], no_more_than(n)]
    return create_model(f"Questions{n}", __base__=QuestionsReply, questions=(questions, ...))


@dataclass(frozen=True)
class CurationSpec:
    """How questions are written and checked. Seeds are derived: of each call from `seed`, the document and its number.

    Args:
        generator, checker: sampling without a seed.
        questions_per_call: how many questions the generator is asked for at once.
        excerpt_words: show an excerpt of whole sentences of at most so many words (`udfs.text.count_words`), at least
            half as many; None: the whole document.
    """

    generator: Sampling
    checker: Sampling
    questions_per_call: int = 5
    excerpt_words: int | None = None
    seed: int = 0


@dataclass(frozen=True)
class Curating:
    """What every row carries: the dataset that is made, and who writes and checks it how (`spec`, `check_spec`)."""

    dataset: str
    spec: str
    model: str
    revision: str
    check_spec: str
    checker: str
    checker_revision: str


@dataclass(frozen=True)
class Slot:
    """Question `number` of a document: None is to be written; and the samples of the checker that it is owed."""

    number: int
    question: str | None = None
    samples: tuple[int, ...] = ()


@dataclass(frozen=True)
class Curated:
    """What came of a document's slots: a proposal for each that was to be written, the owed samples of all."""

    proposals: tuple[Proposal, ...] = ()
    checks: tuple[CheckSample, ...] = ()


def generator_hash(spec: CurationSpec, model: str, revision: str) -> str:
    """Identity of a way to write questions."""
    prompts = {language: questions_template_hash(language) for language in LANGUAGES}
    how = [dataclasses.asdict(spec.generator), spec.questions_per_call, spec.excerpt_words, spec.seed]
    return content_hash("curation", CURATION_VERSION, how, model, revision, prompts)


def checker_hash(spec: CurationSpec, checker: str, revision: str) -> str:
    """Identity of a way to check them; the rules that recognise a refusal are part of it."""
    prompts = {language: template_hash(METHOD, LAYOUT, language) for language in LANGUAGES}
    how = [dataclasses.asdict(spec.checker), spec.seed, READING_VERSION]
    return content_hash("curation check", CURATION_VERSION, how, checker, revision, prompts)


def proposal_id(dataset: str, spec: str, doc_id: str, number: int) -> str:
    """Known before anything is asked, so that a killed run goes on."""
    return content_hash("proposal", dataset, spec, doc_id, number)


def check_id(proposal: str, check_spec: str, sample: int) -> str:
    """One answer of one checker to one proposed question."""
    return content_hash("check", proposal, check_spec, sample)


def excerpt_of(text: str, source: Source, spec: CurationSpec) -> Span | None:
    """What of the document is shown; None where it has no whole sentences of the wanted length."""
    most = spec.excerpt_words
    if most is None or count_words(text, source.language) <= most:
        return Span(0, len(text))
    return fragments(text, source.language, source.doc_id, spec.seed, 1, max(1, most // 2), most)[0]


async def curate(
    engine: Engine,
    text: str,
    source: Source,
    slots: Sequence[Slot],
    spec: CurationSpec,
    curating: Curating,
    *,
    parallel: int = 64,
    observe: Observe | None = None,
    clock: Callable[[], datetime] = utc_now,
) -> Curated:
    """Write the questions that are to be written, then ask for every sample that is owed.

    A question that is one of its document's others, up to case and punctuation, is a duplicate and is not checked.

    Args:
        text: the whole document.
        slots: in the order of their numbers; a question that is only known (no samples) has duplicates, too.
        parallel: calls in flight at once, at least 1.

    Raises:
        EngineDead: nothing more will come from this engine.
    """
    excerpt = await asyncio.to_thread(excerpt_of, text, source, spec)
    whole = excerpt == Span(0, len(text))
    shown = text[excerpt.start : excerpt.end] if excerpt else ""
    work = _Curation(
        engine, shown, None if whole else excerpt, source, spec, curating, parallel, observe, clock,
        asyncio.Semaphore(parallel),
    )  # fmt: skip
    new = [slot for slot in slots if slot.question is None]
    if excerpt is None:
        return Curated(tuple(work.proposal(slot, ProposalFate.NO_EXCERPT) for slot in new))
    questions = {slot.number: slot.question for slot in slots if slot.question is not None}
    proposals = list(_distinct(await work.write(new), questions.values()))
    sound = [made for made in proposals if made.fate is ProposalFate.PROPOSED]
    questions |= {made.number: made.question for made in sound if made.question is not None}
    asked = [(slot.number, questions[slot.number], slot.samples) for slot in slots if slot.number in questions]
    return Curated(tuple(proposals), tuple(await work.check(asked)))


def _distinct(proposals: Iterable[Proposal], known: Iterable[str]) -> Iterator[Proposal]:
    seen = {normalize(question) for question in known}
    for made in proposals:
        if made.fate is ProposalFate.PROPOSED and made.question is not None:
            key = normalize(made.question)
            if key in seen:
                made = replace(made, fate=ProposalFate.DUPLICATE, detail="of another question about the document")
            seen.add(key)
        yield made


@dataclass(frozen=True)
class _Curation:
    engine: Engine
    shown: str
    excerpt: Span | None
    source: Source
    spec: CurationSpec
    curating: Curating
    parallel: int
    observe: Observe | None
    clock: Callable[[], datetime]
    slots: asyncio.Semaphore = field(repr=False)

    async def write(self, slots: Sequence[Slot]) -> list[Proposal]:
        """A proposal for each slot; the first call leads, so that the others find the document in the cache."""
        most = self.spec.questions_per_call
        draws = [slots[start : start + most] for start in range(0, len(slots), most)]
        made = await walk_prefix_tree([[[partial(self._draw, draw) for draw in draws]]], self.parallel)
        return [proposal for proposals in made for proposal in proposals]

    async def _draw(self, slots: Sequence[Slot], on_prefill: OnPrefill) -> list[Proposal]:
        language, n = self.source.language, len(slots)
        sampling = replace(self.spec.generator, seed=self._seed("questions", slots[0].number))
        asked = await Asker(self.engine, sampling, language, self.slots, self.observe).ask(
            QUESTION_GENERATOR,
            Step.QA,  # it writes no opinion of a candidate; the nearest step of synthesis
            build_questions(language, self.shown, n),
            form_of(n),
            {"text": self.shown, "count": n},
            self._id(slots[0]),
            on_prefill,
        )
        if asked.reply is None:
            end = next(against(asked.opinions))
            assert end.against is not None
            return [self.proposal(slot, end.against, end.detail) for slot in slots]
        return await asyncio.to_thread(self._read, slots, asked.reply.questions)

    def _read(self, slots: Sequence[Slot], questions: Sequence[str]) -> list[Proposal]:
        """What the rules make of a reply, question by question."""
        made = []
        for place, slot in enumerate(slots):
            if place >= len(questions):
                made.append(self.proposal(slot, ProposalFate.MISSING, f"{len(questions)} came of {len(slots)}"))
                continue
            question = questions[place]
            wrong = next(_objections(question, self.source.language, self.shown), None)
            fate, detail = (ProposalFate.PROPOSED, None) if wrong is None else wrong
            made.append(self.proposal(slot, fate, detail, question))
        return made

    def proposal(
        self, slot: Slot, fate: Fate | ProposalFate, detail: str | None = None, question: str | None = None
    ) -> Proposal:
        """The row of a slot that was to be written."""
        making, undecided = self.curating, fate.value in set(Status)
        return Proposal(
            proposal_id=self._id(slot),
            dataset=making.dataset,
            spec=making.spec,
            model=making.model,
            model_revision=making.revision,
            doc_id=self.source.doc_id,
            source_dataset=self.source.dataset,
            language=self.source.language,
            number=slot.number,
            fate=ProposalFate(fate.value),
            status=Status(fate.value) if undecided else Status.OK,
            created_at=self.clock(),
            excerpt=self.excerpt,
            question=question,
            detail=detail,
        )

    async def check(self, asked: Sequence[tuple[int, str, Sequence[int]]]) -> list[CheckSample]:
        """Every owed sample of the questions; samples of one question share its whole prompt."""
        groups = [
            [partial(self._sample, number, question, sample) for sample in samples]
            for number, question, samples in asked
            if samples
        ]
        return await walk_prefix_tree([groups], self.parallel)

    async def _sample(self, number: int, question: str, sample: int, on_prefill: OnPrefill) -> CheckSample:
        language, making = self.source.language, self.curating
        proposed = proposal_id(making.dataset, making.spec, self.source.doc_id, number)
        identity = check_id(proposed, making.check_spec, sample)
        row = partial(
            CheckSample, identity, proposed, making.dataset, making.check_spec, making.checker, making.checker_revision,
            sample,
        )  # fmt: skip
        messages = build_answer(METHOD, LAYOUT, language, self.shown, question)
        prompt = Prompt(messages, "answer", identity, {"question": {"question": question, "language": language}})
        sampling = replace(self.spec.checker, seed=self._seed("answer", question, sample))
        try:
            completion = await self.engine.complete(prompt, sampling, None, on_prefill)
        except ROW_ERRORS as error:
            return row(status_of(error), self.clock(), error=str(error))
        if self.observe is not None:
            self.observe(completion)
        refused = detect_refusal(completion.text, language)
        return row(Status.OK, self.clock(), text=completion.text, refused=refused)

    def _id(self, slot: Slot) -> str:
        return proposal_id(self.curating.dataset, self.curating.spec, self.source.doc_id, slot.number)

    def _seed(self, *of: str | int) -> int:
        """A seed of 31 bits, which every engine takes, of one call about this document."""
        return int(content_hash("curation seed", self.spec.seed, self.source.doc_id, list(of))[:8], 16) >> 1


def _objections(question: str, language: str, shown: str) -> Iterator[Objection]:
    """Of one question by itself. Yes-or-no questions, and such as a poor one may be, are the annotators' business."""
    if len(question) > MAX_QUESTION:
        yield Objection(Fate.TOO_LONG, f"{len(question)} characters, {MAX_QUESTION} are allowed")
    if not is_question(question, language) or "\n" in question:
        yield Objection(Fate.NOT_A_QUESTION, "not one line with a question mark or an interrogative")
    if len(MARKS.findall(QUOTED.sub("", question))) > 1:
        yield Objection(Fate.NOT_A_QUESTION, "more than one question")
    yield from prose_language_objections("question", question, language, shown)
