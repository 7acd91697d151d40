"""What is computed once about a document: its sentences, what each says, and where each unit of content occurs."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from udfs.measures.answers import tokens as answer_tokens
from udfs.measures.stems import stem
from udfs.records import Span
from udfs.sources.evidence import occurrences
from udfs.synthesis.overlap import content, joined_lines
from udfs.synthesis.sentences import sentences
from udfs.text import Normalized, normalize, normalize_mapped


@dataclass(frozen=True)
class DocumentIndex:
    """A document and, each computed when it is first asked for, what synthesis needs of it.

    Args:
        text: the document.
        language: `en` or `zh`.
    """

    text: str
    language: str

    @cached_property
    def sentences(self) -> list[Span]:
        """Sentence spans, in order (`udfs.synthesis.sentences`)."""
        return sentences(self.text, self.language)

    @cached_property
    def contents(self) -> list[frozenset[str]]:
        """What each sentence says (`udfs.synthesis.overlap.content`)."""
        shared: dict[str, str] = {}  # one string object per unit: a novel has few, and says them often
        return [
            frozenset(shared.setdefault(unit, unit) for unit in content(self.text[start:end], self.language))
            for start, end in self.sentences
        ]

    @cached_property
    def _holders(self) -> dict[str, list[int]]:
        """The numbers of the sentences that hold each unit of content."""
        holders: defaultdict[str, list[int]] = defaultdict(list)
        for number, units in enumerate(self.contents):
            for unit in units:
                holders[unit].append(number)
        return dict(holders)

    def near(self, units: frozenset[str], above: float) -> list[int]:
        """Numbers of the sentences whose overlap coefficient with `units` exceeds `above`, in order."""
        shared = Counter(number for unit in units for number in self._holders.get(unit, ()))
        return sorted(
            number for number, common in shared.items() if common / min(len(units), len(self.contents[number])) > above
        )

    @cached_property
    def _of_stem(self) -> dict[str, list[str]]:
        """The units of content by their stem."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for unit in self._holders:
            found[_folded_stem(unit)].append(unit)
        return dict(found)

    def with_stems(self, stems: frozenset[str]) -> list[int]:
        """Numbers of the sentences that hold every one of these stems (`said_stems`), in order."""
        holding = [{number for unit in self._of_stem.get(stem, ()) for number in self._holders[unit]} for stem in stems]
        return sorted(set.intersection(*holding)) if holding else []

    @cached_property
    def squashed_text(self) -> str:
        """The normalised text without spaces."""
        return self._normalized.text.replace(" ", "")

    @property
    def normalized_text(self) -> str:
        """The text as `udfs.text.normalize` has it."""
        return self._normalized.text

    @cached_property
    def _normalized(self) -> Normalized:
        return normalize_mapped(self.text)

    @cached_property
    def _joined_lines(self) -> str:
        """The normalised text with words joined that a hyphen breaks over lines."""
        text = joined_lines(self.text)
        return self._normalized.text if text == self.text else normalize(text)

    def occurs(self, phrase: str) -> bool:
        """Whether `phrase`, as `udfs.text.normalize` has it, is anywhere in the document: on word borders where words
        have them, line breaks and hyphens at their ends notwithstanding. A phrase without content occurs nowhere.
        """
        wanted = normalize(joined_lines(phrase))
        texts = (self._normalized.text, self._joined_lines)
        return any(next(_on_borders(text, wanted), None) is not None for text in texts)

    def copies(self, phrase: str) -> Iterator[Span]:
        """Where `phrase` stands in the document, up to white space, punctuation, case and width (`normalize`)."""
        wanted = normalize(phrase)
        for at in _on_borders(self._normalized.text, wanted):
            yield self._normalized.original(at, at + len(wanted))

    def numbers(self, span: Span) -> range:
        """Numbers of the sentences that `span` touches (has a character in common with)."""
        first = bisect_right(self._ends, span.start)
        last = bisect_left(self._starts, span.end)
        return range(first, max(first, last)) if span.start < span.end else range(0)

    @cached_property
    def _starts(self) -> list[int]:
        return [span.start for span in self.sentences]

    @cached_property
    def _ends(self) -> list[int]:
        return [span.end for span in self.sentences]

    def whole_sentences(self, span: Span) -> Span:
        """`span` extended to the borders of the sentences that it touches; as it is where it touches none."""
        touched = self.numbers(span)
        if not touched:
            return span
        first, last = self.sentences[touched[0]], self.sentences[touched[-1]]
        return Span(min(span.start, first.start), max(span.end, last.end))

    def spans(self, numbers: Collection[int]) -> Iterator[Span]:
        """The spans of the sentences of these numbers."""
        return (self.sentences[number] for number in numbers)


def said_stems(units: Iterable[str]) -> frozenset[str]:
    """Units of English content up to inflection, accents, and whether a number is written as a word."""
    return frozenset(map(_folded_stem, units))


def _folded_stem(unit: str) -> str:
    folded = answer_tokens(unit)
    return stem(folded[0]) if len(folded) == 1 else unit


def _on_borders(text: str, wanted: str) -> Iterator[int]:
    """Starts of `wanted` in a normalised text where it begins and ends no word in its middle."""
    for at in occurrences(text, wanted):
        end = at + len(wanted)
        if not (at and _inside(text[at - 1 : at + 1])) and not (end < len(text) and _inside(text[end - 1 : end + 1])):
            yield at


def _inside(pair: str) -> bool:
    """Whether two neighbours are of one word: both of a script that parts words by spaces."""
    return all(char.isalnum() and char < "\u2e80" for char in pair)
