"""What a classifier of (document, question) reads: windows of token ids over the document, each with the question.

Nothing is cut silently: together the windows hold every token of the document, and a question that leaves no room for
it is over_length.

- `pair`: the tokenizer's own template for two texts, the question first (BERT: `[CLS] question [SEP] document [SEP]`).
- `couldask`: document, newline, question as one text, as CouldAsk's released classifier reads it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal

from udfs.engines.base import OverLength, Unreadable
from udfs.engines.embedding import MAX_UNKNOWN
from udfs.errors import UserError
from udfs.records import Span

InputForm = Literal["pair", "couldask"]
FORMS: Final = ("pair", "couldask")
LEAST_ROOM: Final = 32
"""Tokens of the document that a window must have room for, where the document has so many."""


@dataclass(frozen=True, slots=True)
class Window:
    """One input of the model.

    Args:
        ids: token ids, special ones included.
        second_from: where token types become 1; None for a model without token types, or for one text.
        shown: the part of the document in it, in characters.
        at: the token position of every character range of the document in it: (position, start, end).
    """

    ids: list[int]
    second_from: int | None
    shown: Span
    at: list[tuple[int, int, int]]


@dataclass(frozen=True)
class WindowMaker:
    """Makes the windows of a document and a question.

    Args:
        tokenizer: a fast one of `transformers`.
        window: tokens of one input, special ones included.
        stride: tokens that neighbouring windows share; where the question leaves less than twice as many, half of what
            it leaves.
    """

    tokenizer: Any
    form: InputForm
    window: int
    stride: int

    def __post_init__(self) -> None:
        if not getattr(self.tokenizer, "is_fast", False):
            raise UserError("the classifier's tokenizer is not a fast one (tokenizer.json): windows need its offsets")
        if self.form == "pair" and not marks_pairs(self.tokenizer):
            raise UserError("the tokenizer puts nothing between two texts: give input=couldask for this model")

    def windows(self, text: str, question: str) -> list[Window]:
        """The windows, in the order of the document; together they show all of it.

        Raises:
            OverLength: the question leaves too little room.
            Unreadable: the tokenizer knows too little of the question.
        """
        return self._pair(text, question) if self.form == "pair" else self._couldask(text, question)

    def _pair(self, text: str, question: str) -> list[Window]:
        alone = self.tokenizer(question, "", verbose=False)["input_ids"]
        self._check_readable(alone)
        room = self._room(len(alone), text)
        encoded = self.tokenizer(
            question,
            text,
            truncation="only_second",
            max_length=self.window,
            stride=min(self.stride, room // 2),
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
            verbose=False,
        )
        found = []
        for index, ids in enumerate(encoded["input_ids"]):
            offsets, sides = encoded["offset_mapping"][index], encoded.sequence_ids(index)
            at = [(place, *offsets[place]) for place, side in enumerate(sides) if side == 1]
            types = encoded["token_type_ids"][index] if "token_type_ids" in encoded else []
            found.append(Window(list(ids), types.index(1) if 1 in types else None, _shown(at, text), at))
        return found

    def _couldask(self, text: str, question: str) -> list[Window]:
        tail = f"\n{question}"
        self._check_readable(self.tokenizer(question, verbose=False)["input_ids"])
        room = self._room(len(self.tokenizer(tail, verbose=False)["input_ids"]), text)
        offsets = self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)[
            "offset_mapping"
        ]
        step = room - min(self.stride, room // 2)
        found: list[Window] = []
        start = 0
        while True:
            end = min(len(offsets), start + room)
            made = self._one_text(text, offsets, start, end, tail)
            while made is None and end > start + 1:  # the cut made other tokens of its borders, and more of them
                end -= 1
                made = self._one_text(text, offsets, start, end, tail)
            if made is None:
                raise OverLength(f"one token of the document and the question do not fit {self.window} tokens")
            found.append(made)
            if end >= len(offsets):
                return found
            start = min(start + step, end)

    def _one_text(
        self, text: str, offsets: Sequence[tuple[int, int]], start: int, end: int, tail: str
    ) -> Window | None:
        """The window over tokens `start` to `end`; None where it does not fit."""
        whole = start == 0 and end == len(offsets)
        first = 0 if whole or not offsets else offsets[start][0]
        last = len(text) if whole or not offsets else offsets[end - 1][1]
        encoded = self.tokenizer(text[first:last] + tail, return_offsets_mapping=True, verbose=False)
        ids = encoded["input_ids"]
        if len(ids) > self.window:
            return None
        at = [
            (place, first + low, first + high)
            for place, (low, high) in enumerate(encoded["offset_mapping"])
            if low < high <= last - first
        ]
        return Window(list(ids), None, Span(first, last), at)

    def _room(self, taken: int, text: str) -> int:
        room = self.window - taken
        if room < LEAST_ROOM and (room < 1 or self._tokens(text) > room):
            raise OverLength(
                f"question of {taken} tokens leaves {max(room, 0)} of the classifier's window of {self.window} for the "
                f"document; {LEAST_ROOM} are needed"
            )
        return room

    def _tokens(self, text: str) -> int:
        return len(self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    @cached_property
    def _unknown(self) -> tuple[int | None, frozenset[int]]:
        """The token of an unknown word, if there is one of its own, and all special ones; slow to ask for."""
        unknown, end = self.tokenizer.unk_token_id, self.tokenizer.eos_token_id
        return None if unknown == end else unknown, frozenset(self.tokenizer.all_special_ids)

    def _check_readable(self, ids: Sequence[int]) -> None:
        unknown, special = self._unknown
        if unknown is None:
            return
        words = [token for token in ids if token == unknown or token not in special]
        if words and words.count(unknown) / len(words) > MAX_UNKNOWN:
            raise Unreadable(
                f"the tokenizer does not know {words.count(unknown)} of the question's {len(words)} tokens"
            )


def marks_pairs(tokenizer: Any) -> bool:
    """Whether the tokenizer's template for two texts tells them apart."""
    two = tokenizer("a", "b", verbose=False)["input_ids"]
    apart = [*tokenizer("a", verbose=False)["input_ids"], *tokenizer("b", add_special_tokens=False)["input_ids"]]
    return bool(len(two) > len(apart))


def form_for(tokenizer: Any) -> InputForm:
    """The form that suits a model which nobody trained yet: `pair` where its tokenizer tells two texts apart."""
    return "pair" if marks_pairs(tokenizer) else "couldask"


def _shown(at: Sequence[tuple[int, int, int]], text: str) -> Span:
    return Span(at[0][1], at[-1][2]) if at else Span(0, len(text))
