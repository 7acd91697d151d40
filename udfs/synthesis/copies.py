"""What has to be cut out of a document so that a piece of evidence is gone, and the proof that it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rapidfuzz import fuzz

from udfs.records import Span
from udfs.synthesis.index import DocumentIndex
from udfs.synthesis.overlap import NEAR_COPY, content, joined_lines, overlap
from udfs.synthesis.sentences import sentences
from udfs.synthesis.view_sentences import anew
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
        around = [span for span in anew(index, view).sentences if not _compared(index, view, span)]
        joined = [span for span in around if _near(index, view, span, targets)]
        if not joined:
            return view.redactions
        cuts += joined


def surviving(index: DocumentIndex, redactions: Sequence[Span], evidence_texts: Sequence[str]) -> list[Span]:
    """Sentences of a view, in its coordinates, that still say what the evidence says: overlap above `NEAR_COPY` with
    one of its texts, a sentence of one, or all of it. Empty after `redactions` of the same evidence.

    Raises:
        ValueError: a redaction does not lie within the document.
    """
    targets = _targets(evidence_texts, index.language) | {_all_content(evidence_texts, index.language)}
    view = View(len(index.text), merged(redactions, len(index.text)))
    around = anew(index, view)
    found = {span for span in around.sentences if _near(index, view, span, targets)}
    near = {number for units in targets for number in index.near(units, NEAR_COPY)}
    found.update(index.spans({number for number in near if not around.holds(number)}))
    return [seen for span in sorted(found) if (seen := view.to_view(span)) is not None]


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


def _compared(index: DocumentIndex, view: View, span: Span) -> bool:
    """Whether a sentence of the view is a whole one of the document, so that `redactions` has looked at it already."""
    seen, touched = view.to_view(span), index.numbers(span)
    uncut = seen is not None and seen.end - seen.start == span.end - span.start
    return uncut and len(touched) == 1 and index.sentences[touched[0]] == span


def _near(index: DocumentIndex, view: View, span: Span, targets: Iterable[Units]) -> bool:
    """Whether a sentence of the view, given in document coordinates, says what one of the targets says."""
    inside = (Span(max(low, span.start), min(high, span.end)) for low, high in view.kept)
    seen = "".join(index.text[low:high] for low, high in inside if low < high)
    units = content(seen, index.language)
    return any(overlap(units, target) > NEAR_COPY for target in targets)
