"""What has to be cut out of a document so that a piece of evidence is gone, and the proof that it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rapidfuzz import fuzz

from udfs.records import Span
from udfs.synthesis.index import DocumentIndex
from udfs.synthesis.overlap import NEAR_COPY, content, joined_lines, overlap
from udfs.synthesis.sentences import sentences
from udfs.text import normalize
from udfs.views import View, merged

BROKEN_OVERLAP: Final = 0.5
"""Overlap from which sentences are compared letter by letter."""
SAME_LETTERS: Final = 90.0
"""Per cent of letters in common (rapidfuzz's ratio) from which two sentences are copies."""

Units = frozenset[str]


def redactions(index: DocumentIndex, evidence: Sequence[Span]) -> tuple[Span, ...]:
    """The spans to cut, merged, in document coordinates, so that the view no longer holds the evidence.

    They are: the whole sentences that carry it; every copy of one of them elsewhere, up to white space, punctuation,
    case and words broken apart; every sentence whose overlap with one of them, with a quotation of the evidence or
    with all of it exceeds `NEAR_COPY`; and, since cuts can join what is left into new sentences, every such sentence
    of the view.

    Raises:
        ValueError: a span of the evidence does not lie within the document.
    """
    carried = merged((index.whole_sentences(span) for span in merged(evidence, len(index.text))), len(index.text))
    wholes = [index.text[start:end] for span in carried for start, end in index.spans(index.numbers(span))]
    targets = _targets([*wholes, *(index.text[start:end] for start, end in evidence)], index.language)
    if len(evidence) > 1:
        targets |= {_all_content((index.text[start:end] for start, end in evidence), index.language)}
    cuts = [*carried, *_copied(index, wholes), *_broken(index, wholes)]
    cuts += index.spans({number for units in targets for number in index.near(units, NEAR_COPY)})
    while True:
        view = View(len(index.text), merged(cuts, len(index.text)))
        joined = [view.to_document(span) for span in _survivors(view.text(index.text), index, view, targets)]
        if not joined:
            return view.redactions
        cuts += joined


def surviving(view_text: str, language: str, evidence_texts: Sequence[str]) -> list[Span]:
    """Sentences of a view that still say what the evidence says: overlap above `NEAR_COPY` with one of its texts, a
    sentence of one, or all of it. Empty after `redactions` of the same evidence.
    """
    targets = _targets(evidence_texts, language) | {_all_content(evidence_texts, language)}
    return [span for span in sentences(view_text, language) if _near(view_text, span, language, targets)]


def _targets(texts: Iterable[str], language: str) -> set[Units]:
    """What each text says as a whole, and each of its sentences."""
    found: set[Units] = set()
    for text in texts:
        found.add(content(text, language))
        found.update(content(text[start:end], language) for start, end in sentences(text, language))
    return found


def _all_content(texts: Iterable[str], language: str) -> Units:
    return frozenset().union(*(content(text, language) for text in texts))


def _copied(index: DocumentIndex, texts: Iterable[str]) -> Iterator[Span]:
    """The sentences that hold a copy of one of the texts; a text without content ("It is so.") has no copies."""
    for text in dict.fromkeys(texts):
        if content(text, index.language):
            yield from map(index.whole_sentences, index.copies(text))


def _broken(index: DocumentIndex, texts: Iterable[str]) -> Iterator[Span]:
    """The sentences that are one of the texts, letter for letter or nearly, with words that a scan broke apart
    ("respon dents"): their units differ, their letters do not.
    """
    for text in dict.fromkeys(texts):
        letters = _letters(text)
        for number in index.near(content(text, index.language), BROKEN_OVERLAP):
            start, end = index.sentences[number]
            if fuzz.ratio(letters, _letters(index.text[start:end]), score_cutoff=SAME_LETTERS):
                yield Span(start, end)


def _letters(text: str) -> str:
    return normalize(joined_lines(text)).replace(" ", "")


def _near(text: str, span: Span, language: str, targets: Iterable[Units]) -> bool:
    units = content(text[span.start : span.end], language)
    return any(overlap(units, target) > NEAR_COPY for target in targets)


def _survivors(view_text: str, index: DocumentIndex, view: View, targets: set[Units]) -> list[Span]:
    """As `surviving`, but sentences that stand whole in the document have been compared already."""
    known = set(index.sentences)
    found = []
    for span in sentences(view_text, index.language):
        origin = view.to_document(span)
        whole = origin in known and origin.end - origin.start == span.end - span.start
        if not whole and _near(view_text, span, index.language, targets):
            found.append(span)
    return found
