"""Tokens of long prompts that share their beginning, without tokenising the beginning again.

Everything that is asked of a document starts with the document, and tokenising 120K tokens takes longer than many a
reply. `IncrementalTokenizer` keeps the tokens of recent texts. For a new text it finds the longest common beginning
with one of them, tokenises again only from a seam near the end of that beginning, and takes the rest over.

Why the result is exact. BPE merges neighbours only: where no merge reaches across a place, the two sides do not know
of each other. (The most likely segmentation of a Unigram model does know: `can_reuse` leaves those out.) Tokenizers
cut a text into words first and then each word into tokens, and both look at a few characters around a place at most.
A seam is a place where every kind of splitter in use cuts whatever stands further away (`_SEAM`). The text is
tokenised again from one seam, and joined at a later one; between the two, `OVERLAP` tokens at least must be equal in
id and position to those that are taken over, otherwise the whole text is tokenised.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from udfs.engines.base import TokenIds

OVERLAP: Final = 16
"""Tokens that have to agree before a join."""
MARGIN: Final = 64
"""Characters between a join and the place where the texts part: more than any splitter looks ahead."""
REACH: Final = 4096
"""Characters before that place in which seams are looked for."""
MAX_TEXTS: Final = 64
MAX_CHARS: Final = 64_000_000
KEEP_TAIL: Final = 8192
"""A text is kept, too, when more than so many characters of it had to be tokenised."""

_SEAM: Final = re.compile(r"(?<=\n)(?=[^\W_])|(?<=[^\W\d_])(?=[,;:!?，。；：！？、])")
"""Between a line break and a letter or digit, and between a letter and a punctuation mark."""


class OffsetTokenizer(Protocol):
    """What is wanted of a tokenizer: a text's token ids, and the character at which each token starts."""

    def __call__(self, text: str) -> tuple[TokenIds, npt.NDArray[np.int64]]: ...


@dataclass(frozen=True, slots=True)
class _Kept:
    text: str
    ids: TokenIds
    starts: npt.NDArray[np.int64]


@dataclass(slots=True)
class Counts:
    """Characters that were tokenised and characters that were taken over."""

    tokenised: int = 0
    reused: int = 0


class IncrementalTokenizer:
    """`tokenize(text)` equals `whole(text)` and is quick for a text that begins like a recent one. Not thread-safe.

    Args:
        whole: tokenises a text from scratch.
        reuse: false for tokenizers of which `can_reuse` says no: every text is tokenised whole.
    """

    def __init__(self, whole: OffsetTokenizer, reuse: bool = True) -> None:
        self._whole = whole
        self._reuse = reuse
        self._kept: OrderedDict[int, _Kept] = OrderedDict()
        self._next = 0
        self.counts = Counts()

    def tokenize(self, text: str) -> TokenIds:
        """The token ids of `text`, shape (n,)."""
        if not self._reuse:
            self.counts.tokenised += len(text)
            return self._whole(text)[0]
        key, common = self._best(text)
        joined = self._join(text, self._kept[key], common) if key is not None else None
        if joined is None:
            ids, starts = self._whole(text)
            self.counts.tokenised += len(text)
            self._keep(_Kept(text, ids, starts))
            return ids
        assert key is not None
        self._kept.move_to_end(key)
        fresh, seam = joined
        self.counts.tokenised += len(text) - seam
        self.counts.reused += seam
        if len(text) - seam > KEEP_TAIL:
            self._keep(fresh)
        return fresh.ids

    def _best(self, text: str) -> tuple[int | None, int]:
        best: int | None = None
        longest = MARGIN + OVERLAP
        for key, kept in self._kept.items():
            if text[:longest] != kept.text[:longest]:  # cannot be longer than the best so far
                continue
            common = common_characters(text, kept.text)
            if common > longest:
                best, longest = key, common
        return best, longest

    def _join(self, text: str, kept: _Kept, common: int) -> tuple[_Kept, int] | None:
        """The tokens of `text` with those of `kept` up to a join, and where tokenising began; None without a join."""
        if common == len(text) == len(kept.text):
            return kept, len(text)
        low, high = max(1, common - REACH), common - MARGIN
        # The pattern looks one character to each side. Of the seams, those count where this tokenizer did cut.
        seams = [match.start() for match in _SEAM.finditer(kept.text, low, high + 1) if match.start() <= high]
        tokens = np.searchsorted(kept.starts, seams)
        cuts = [
            (seam, int(token))
            for seam, token in zip(seams, tokens, strict=True)
            if token < len(kept.starts) and kept.starts[token] == seam
        ]
        if not cuts:
            return None
        join, at = cuts[-1]
        # A few tokens more than have to agree: the first ones after a cut may differ (a space put before a text).
        begin = next((seam for seam, token in reversed(cuts) if token <= at - OVERLAP - 4), None)
        if begin is None:
            return None
        ids, starts = self._whole(text[begin:])
        starts = starts + begin
        here = int(np.searchsorted(starts, join))
        if here < OVERLAP or here >= len(starts) or starts[here] != join:
            return None
        old, new = slice(at - OVERLAP, at + 1), slice(here - OVERLAP, here + 1)
        if not (np.array_equal(kept.ids[old], ids[new]) and np.array_equal(kept.starts[old], starts[new])):
            return None
        fresh = _Kept(
            text, np.concatenate([kept.ids[:at], ids[here:]]), np.concatenate([kept.starts[:at], starts[here:]])
        )
        return fresh, begin

    def _keep(self, kept: _Kept) -> None:
        self._kept[self._next] = kept
        self._next += 1
        while len(self._kept) > 1 and (
            len(self._kept) > MAX_TEXTS or sum(len(one.text) for one in self._kept.values()) > MAX_CHARS
        ):
            self._kept.popitem(last=False)


def common_characters(left: str, right: str) -> int:
    """Length of the common beginning of two texts, in characters."""
    limit = min(len(left), len(right))
    if left[:limit] == right[:limit]:
        return limit
    low, high = 0, limit  # equal up to low, different up to high
    while high - low > 1:
        middle = (low + high) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle
    return low


def can_reuse(backend: Any) -> bool:
    """Whether a `tokenizers.Tokenizer` gives a text the same tokens whatever stands far away: BPE does."""
    return type(backend.model).__name__ == "BPE"


def offset_tokenizer(backend: Any) -> OffsetTokenizer:
    """An `OffsetTokenizer` over a `tokenizers.Tokenizer`, without special tokens (chat templates write their own)."""

    def whole(text: str) -> tuple[TokenIds, npt.NDArray[np.int64]]:
        # encode_batch lets other threads run while it works, encode does not.
        (encoding,) = backend.encode_batch([text], add_special_tokens=False)
        starts = np.fromiter((start for start, _ in encoding.offsets), np.int64, len(encoding.ids))
        return np.asarray(encoding.ids, dtype=np.uint32), starts

    return whole
