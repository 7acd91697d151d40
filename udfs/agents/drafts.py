"""Candidates under way: what is known of a fragment and of each kind of question about it, and the rows at the end."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import datetime

from udfs.agents.base import Opinion
from udfs.agents.console import Decision, first_against
from udfs.agents.twin import Twin
from udfs.identity import candidate_id
from udfs.records import Candidate, Span
from udfs.schema import Fate, Kind, Topic


@dataclass(frozen=True)
class Source:
    """What the program must know of a document beside its text."""

    doc_id: str
    dataset: str
    language: str
    domain: str
    length_bucket: str


@dataclass(frozen=True)
class Making:
    """What every candidate's row carries: the dataset that is made, how (`spec_hash`), and by which model."""

    dataset: str
    spec_hash: str
    model: str
    revision: str


@dataclass
class Draft:
    """One candidate under way.

    Args:
        opinions: of this candidate alone; those of its fragment are the fragment's.
        question: None until it is written.
    """

    kind: Kind
    candidate_id: str
    opinions: list[Opinion] = field(default_factory=list)
    question: str | None = None
    redactions: tuple[Span, ...] = ()
    original: str | None = None
    replacement: str | None = None
    reference: str | None = None

    @property
    def ended(self) -> bool:
        """Whether somebody is against it: then it is asked nothing more."""
        return first_against(self.opinions) is not None


@dataclass
class FragmentWork:
    """A fragment under way, with its drafts, the answerable one first.

    Args:
        span: None where the document has no such fragment.
        opinions: of the fragment and of its question and answer, so of every draft.
        question, answer, evidence: the answerable question, as far as it came.
    """

    index: int
    span: Span | None
    drafts: dict[Kind, Draft]
    opinions: list[Opinion] = field(default_factory=list)
    quality: int | None = None
    topic: Topic | None = None
    named: tuple[Topic, ...] = ()
    question: str | None = None
    answer: str | None = None
    evidence: tuple[Span, ...] = ()
    twin: Twin | None = None

    @property
    def ended(self) -> bool:
        """Whether all drafts have ended together."""
        return first_against(self.opinions) is not None

    @property
    def answerable(self) -> Draft:
        return self.drafts[Kind.ANSWERABLE]

    def add(self, opinions: Iterable[Opinion]) -> bool:
        """Take opinions on the fragment; gives whether it goes on."""
        self.opinions += opinions
        return not self.ended

    def alive(self) -> list[Draft]:
        """The drafts that are still asked about: none without their twin, none where a provider failed, since then
        the fragment is asked again as a whole.
        """
        said = (opinion for draft in self.drafts.values() for opinion in draft.opinions)
        if self.ended or self.answerable.ended or any(opinion.against is Fate.PROVIDER_ERROR for opinion in said):
            return []
        return [draft for draft in self.drafts.values() if not draft.ended]

    def opinions_by_kind(self) -> dict[Kind, list[Opinion]]:
        return {kind: [*self.opinions, *draft.opinions] for kind, draft in self.drafts.items()}


def begin(index: int, span: Span | None, kinds: Iterable[Kind], doc_id: str, making: Making) -> FragmentWork:
    """A fragment of which nothing is known yet."""
    drafts = {
        kind: Draft(kind, candidate_id(making.dataset, making.spec_hash, doc_id, index, kind.value)) for kind in kinds
    }
    return FragmentWork(index, span, drafts)


def candidate(
    work: FragmentWork, draft: Draft, decision: Decision, source: Source, making: Making, created_at: datetime
) -> Candidate:
    """The row of a candidate that is decided."""
    same_question = draft.kind in (Kind.ANSWERABLE, Kind.LACK_OF_EVIDENCE)
    return Candidate(
        candidate_id=draft.candidate_id,
        dataset=making.dataset,
        spec=making.spec_hash,
        model=making.model,
        model_revision=making.revision,
        doc_id=source.doc_id,
        source_dataset=source.dataset,
        language=source.language,
        domain=source.domain,
        length_bucket=source.length_bucket,
        kind=draft.kind.value,
        fragment_index=work.index,
        step=decision.step,
        fate=decision.fate,
        status=decision.status,
        evidence=work.evidence,
        redactions=draft.redactions,
        opinions=json.dumps([asdict(opinion) for opinion in (*work.opinions, *draft.opinions)], ensure_ascii=False),
        created_at=created_at,
        fragment=work.span,
        quality=work.quality,
        topic=work.topic.value if work.topic else None,
        question=work.question if same_question else draft.question,
        answer=work.answer,
        twin_id=None if draft.kind is Kind.ANSWERABLE else work.answerable.candidate_id,
        original_question=None if same_question else work.question,
        original=draft.original,
        replacement=draft.replacement,
        reference_response=draft.reference,
        detail=decision.detail,
    )
