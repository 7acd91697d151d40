"""What all embedders share: texts as token ids that are never cut, and vectors of length 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from udfs.engines.base import OverLength, ProviderError, Unreadable, Vectors

MAX_UNKNOWN: Final = 0.25
"""Share of a text's tokens from which it is unreadable. Two texts of a script that the tokenizer does not know are the
same row of unknown tokens, and would come out as alike whatever they say: of MiniLM's, unrelated Chinese questions have
cosines above 0.5."""


def unit_vectors(rows: npt.ArrayLike, count: int) -> Vectors:
    """`rows` as finite vectors of length 1, shape (count, dimensions); (0, 0) for none.

    Raises:
        ProviderError: another number of rows, rows of several lengths, or one that is not finite or zero.
    """
    try:
        found = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ProviderError(f"the vectors cannot be read: {str(error)[:200]}") from error
    if not count and not found.size:
        return np.empty((0, 0), dtype=np.float32)
    if found.shape[:1] != (count,) or found.ndim != 2:
        raise ProviderError(f"asked for {count} vectors and got an array of shape {found.shape}")
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or (lengths == 0).any():
        raise ProviderError("a vector is zero or not finite")
    units: Vectors = (found / lengths).astype(np.float32)
    return units


def token_ids(tokenizer: Any, texts: Sequence[str], window: int) -> list[list[int]]:
    """The ids of each text with the model's special tokens.

    Args:
        tokenizer: of `transformers`.
        window: tokens that the model takes, special ones included.

    Raises:
        OverLength: a text has more.
        Unreadable: the tokenizer knows too little of a text.
    """
    if not texts:
        return []
    ids: list[list[int]] = tokenizer(
        list(texts), truncation=False, padding=False, return_attention_mask=False, verbose=False
    )["input_ids"]
    unknown, special = tokenizer.unk_token_id, set(tokenizer.all_special_ids)
    for row in ids:
        if len(row) > window:
            raise OverLength(f"text of {len(row)} tokens > the window of {window}")
        if unknown is None:
            continue
        words = sum(token == unknown or token not in special for token in row)
        if words and row.count(unknown) / words > MAX_UNKNOWN:
            raise Unreadable(f"the tokenizer does not know {row.count(unknown)} of the text's {words} tokens")
    return ids
