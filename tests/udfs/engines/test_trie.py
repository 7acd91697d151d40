from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs.engines.base import TokenIds
from udfs.engines.trie import Bound, PromptTrie, bound, common_prefix

prompts = st.lists(st.lists(st.integers(0, 2), max_size=12), max_size=8)
blocks = st.integers(1, 5)


def as_ids(prompt: list[int]) -> TokenIds:
    return np.asarray(prompt, dtype=np.uint32)


def naive_tokens(asked: list[list[int]]) -> int:
    return len({tuple(prompt[:end]) for prompt in asked for end in range(1, len(prompt) + 1)})


def computed_by_a_cache(asked: list[list[int]], block: int) -> int:
    """What vLLM computes with an endless cache, in this order: hits are whole blocks of all tokens but the last."""
    cached: set[tuple[int, ...]] = set()
    computed = 0
    for prompt in asked:
        hit = 0
        while hit + block <= len(prompt) - 1 and tuple(prompt[: hit + block]) in cached:
            hit += block
        computed += len(prompt) - hit
        cached.update(tuple(prompt[:end]) for end in range(block, len(prompt) + 1, block))
    return computed


@given(prompts)
def test_bound_any_prompts_counts_distinct_prefixes(asked: list[list[int]]) -> None:
    assert bound(map(as_ids, asked)).tokens == naive_tokens(asked)


@given(prompts, blocks)
def test_block_bound_any_order_is_no_more_than_a_cache_computes(asked: list[list[int]], block: int) -> None:
    least = bound(map(as_ids, asked), block).block_tokens
    assert naive_tokens(asked) <= least <= computed_by_a_cache(asked, block)


@given(prompts, blocks)
def test_block_bound_short_prompts_first_is_what_a_cache_computes(asked: list[list[int]], block: int) -> None:
    ordered = sorted(asked, key=len)
    assert bound(map(as_ids, asked), block).block_tokens == computed_by_a_cache(ordered, block)


@given(prompts, blocks, st.randoms(use_true_random=False))
def test_bound_shuffled_prompts_is_the_same(asked: list[list[int]], block: int, random: object) -> None:
    shuffled = list(asked)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert bound(map(as_ids, asked), block) == bound(map(as_ids, shuffled), block)


def test_add_prompt_with_known_beginning_gives_what_is_shared() -> None:
    trie = PromptTrie(block_size=4)
    assert trie.add(np.arange(10, dtype=np.uint32)) == 0
    assert trie.add(np.asarray([0, 1, 2, 3, 4, 9], dtype=np.uint32)) == 5
    assert trie.bound == Bound(tokens=11, block_tokens=10 + 2)


def test_add_same_whole_blocks_twice_computes_the_last_block_twice() -> None:
    twice = np.arange(8, dtype=np.uint32)
    assert bound([twice, twice], 4) == Bound(tokens=8, block_tokens=12)


def test_trie_block_size_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="block_size"):
        PromptTrie(0)


@given(st.lists(st.integers(0, 1), max_size=200), st.lists(st.integers(0, 1), max_size=200), st.integers(0, 300))
def test_common_prefix_any_arrays_equals_the_slow_way(left: list[int], right: list[int], shared: int) -> None:
    left, right = [7] * shared + left, [7] * shared + right
    slow = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    assert common_prefix(as_ids(left), as_ids(right)) == slow
