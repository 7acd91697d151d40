"""The least that a bundle's prompts can cost: the size of the token trie of all of them.

With an endless prefix cache every distinct prefix position is computed once. `tokens` counts those positions;
`block_tokens` counts what is left when only whole cache blocks can be shared, as in vLLM.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from udfs.engines.base import TokenIds


@dataclass(frozen=True, slots=True)
class Bound:
    """The least prompt tokens that have to be computed."""

    tokens: int
    block_tokens: int


class _Node:
    """An edge of the radix trie: its tokens, shape (n,), and what follows, by first token."""

    __slots__ = ("children", "edge")

    def __init__(self, edge: TokenIds, children: dict[int, _Node]) -> None:
        self.edge = edge
        self.children = children


class PromptTrie:
    """Prompts put together as a radix trie. It keeps each distinct token once, so many prompts of one long
    document take the memory of one.

    Args:
        block_size: tokens of one cache block; a prefix can be shared in whole blocks only.
    """

    def __init__(self, block_size: int = 1) -> None:
        if block_size < 1:
            raise ValueError(f"block_size={block_size}: at least 1")
        self._block = block_size
        self._root = _Node(np.empty(0, np.uint32), {})
        self._whole_blocks: set[bytes] = set()
        self._tokens = 0
        self._block_tokens = 0

    @property
    def bound(self) -> Bound:
        """The bound for the prompts so far. It does not depend on their order."""
        return Bound(self._tokens, self._block_tokens)

    def add(self, ids: TokenIds) -> int:
        """Add a prompt, shape (n,); give how many of its leading tokens earlier prompts share with it.

        A request recomputes at least its last token, because the logits of the last position are needed, and vLLM
        reuses whole blocks only (`get_computed_blocks`: hits are cut at n - 1, then rounded down). So a prompt of a
        whole number of blocks that is sent twice computes its last block twice.
        """
        shared = self._insert(np.ascontiguousarray(ids, dtype=np.uint32))
        size, block = len(ids), self._block
        self._tokens += size - shared
        whole = size // block
        self._block_tokens += (whole - shared // block) * block + size % block
        if size and size % block == 0:
            digest = hashlib.blake2b(np.ascontiguousarray(ids, dtype=np.uint32).tobytes(), digest_size=16).digest()
            if digest in self._whole_blocks:
                self._block_tokens += block
            self._whole_blocks.add(digest)
        return shared

    def _insert(self, ids: TokenIds) -> int:
        node, done = self._root, 0
        while done < len(ids):
            child = node.children.get(int(ids[done]))
            if child is None:
                node.children[int(ids[done])] = _Node(ids[done:].copy(), {})
                return done
            common = common_prefix(child.edge, ids[done:])
            done += common
            if common < len(child.edge):  # part the edge in two
                rest = _Node(child.edge[common:].copy(), child.children)
                child.children = {int(rest.edge[0]): rest}
                child.edge = child.edge[:common].copy()
            node = child
        return done


def common_prefix(left: TokenIds, right: TokenIds) -> int:
    """Length of the common prefix of two id arrays, shapes (m,) and (n,)."""
    limit, start, step = min(len(left), len(right)), 0, 64
    while start < limit:
        stop = min(limit, start + step)
        differ = np.flatnonzero(left[start:stop] != right[start:stop])
        if differ.size:
            return start + int(differ[0])
        start, step = stop, step * 4
    return limit


def bound(prompts: Iterable[TokenIds], block_size: int = 1) -> Bound:
    """The bound of `prompts`, each of shape (n,): see `PromptTrie`."""
    trie = PromptTrie(block_size)
    for ids in prompts:
        trie.add(ids)
    return trie.bound
