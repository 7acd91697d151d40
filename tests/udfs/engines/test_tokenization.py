from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from tests.conftest import SMOLLM2, package_weights
from udfs.engines.tokenization import MARGIN, IncrementalTokenizer, can_reuse, common_characters, offset_tokenizer

EN = (
    "The council met on the 14th of May 1987 to settle the matter. Nobody had expected a quarrel; yet by noon, "
    "three of its members had walked out!\n\nWhat the minutes don't say is who wrote the letter: it's unsigned.\n"
    '  - item one, 3,412 books\n  - item two ("see below")\n\tTabbed text... and an e-mail: a.b@c.example\r\n'
)
ZH = (
    "第一条　为了保护河流，维护两岸居民的合法权益，制定本条例。\n第二条 本条例所称河流，是指县内长度超过三公里的水道；"
    "其他水道参照执行。他说：“明天再来！”于是众人散去。二〇〇三年5月，新桥建成通车，全长128米。\n"
)
SPLIT_LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)
CORPUS = [EN, ZH, EN.upper(), EN[::-1]] * 3
SPECIAL = ["<|im_start|>", "<|im_end|>"]


def byte_level() -> Tokenizer:
    """In the manner of Llama 3 and Qwen: a split by pattern, then byte-level BPE."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SPLIT_LLAMA3), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        CORPUS, trainers.BpeTrainer(vocab_size=700, special_tokens=SPECIAL, initial_alphabet=alphabet)
    )
    return tokenizer


def sentencepiece_bpe() -> Tokenizer:
    """In the manner of Llama 2 and Mistral: no split at all, spaces as ▁ with one put in front."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=True)
    tokenizer.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=600, special_tokens=["<unk>", *SPECIAL]))
    merged = Tokenizer(tokenizer.model)
    merged.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    merged.decoder = decoders.Metaspace()
    merged.add_special_tokens(SPECIAL)
    return merged


def unigram() -> Tokenizer:
    """In the manner of T5: the most likely segmentation."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    trainer = trainers.UnigramTrainer(vocab_size=300, special_tokens=["<unk>", *SPECIAL], unk_token="<unk>")
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


def smollm2() -> Tokenizer:
    """The embedded model's own."""
    return Tokenizer.from_file(f"{package_weights(SMOLLM2).path}/tokenizer.json")


BUILDERS: tuple[Callable[[], Tokenizer], ...] = (byte_level, sentencepiece_bpe, smollm2)


@cache
def built(builder: Callable[[], Tokenizer]) -> Tokenizer:
    return builder()


pieces = st.one_of(
    st.sampled_from(
        [
            EN,
            ZH,
            "\n",
            "\n\n",
            "    ",
            "。",
            "，",
            "…",
            "!!!",
            "<|im_end|>",
            "<|im_start|>user\n",
            "'s",
            "été",
            "e\u0301",
        ]
    ),
    st.text(st.characters(codec="utf-8"), max_size=12),
    st.sampled_from(EN.split() + list(ZH)),
    st.tuples(st.sampled_from(["a", " ", "x1", "河流", "\n", "-", ".", "😀"]), st.integers(1, 150)).map(
        lambda p: p[0] * p[1]
    ),
)
texts = st.lists(pieces, max_size=14).map("".join)


@pytest.mark.parametrize("builder", BUILDERS, ids=lambda builder: builder.__name__)
@settings(max_examples=60, deadline=None)
@given(document=texts, tails=st.lists(texts, min_size=2, max_size=4), repeat=st.integers(1, 4))
def test_tokenize_texts_with_one_beginning_equal_the_whole(
    builder: Callable[[], Tokenizer], document: str, tails: list[str], repeat: int
) -> None:
    whole = offset_tokenizer(built(builder))
    incremental = IncrementalTokenizer(whole)
    for tail in tails:
        text = document * repeat + tail
        np.testing.assert_array_equal(incremental.tokenize(text), whole(text)[0])


@pytest.mark.parametrize("builder", BUILDERS, ids=lambda builder: builder.__name__)
@settings(max_examples=60, deadline=None)
@given(
    document=st.lists(st.sampled_from(EN.split(" ") + list(ZH)), min_size=200, max_size=400),
    cut=st.integers(0, 400),
    tail=texts,
)
def test_tokenize_text_cut_anywhere_equals_the_whole(
    builder: Callable[[], Tokenizer], document: list[str], cut: int, tail: str
) -> None:
    whole = offset_tokenizer(built(builder))
    incremental = IncrementalTokenizer(whole)
    incremental.tokenize(" ".join(document))
    text = " ".join(document[:cut]) + tail
    np.testing.assert_array_equal(incremental.tokenize(text), whole(text)[0])


@pytest.mark.parametrize("language", [EN, ZH], ids=["en", "zh"])
@pytest.mark.parametrize("builder", BUILDERS, ids=lambda builder: builder.__name__)
def test_tokenize_second_question_takes_the_document_over(builder: Callable[[], Tokenizer], language: str) -> None:
    whole = offset_tokenizer(built(builder))
    incremental = IncrementalTokenizer(whole)
    document = language * 100
    incremental.tokenize(f"<|im_start|>{document}\n\nWho wrote it?<|im_end|>")
    before = incremental.counts.tokenised
    text = f"<|im_start|>{document}\n\n桥有多长？<|im_end|>"
    np.testing.assert_array_equal(incremental.tokenize(text), whole(text)[0])
    assert incremental.counts.tokenised - before < 2000
    assert incremental.counts.reused > 0.9 * len(document)


def test_can_reuse_bpe_alone() -> None:
    assert all(can_reuse(built(builder)) for builder in BUILDERS)
    assert not can_reuse(built(unigram))


def test_tokenize_without_reuse_is_whole_every_time() -> None:
    incremental = IncrementalTokenizer(offset_tokenizer(built(unigram)), reuse=False)
    incremental.tokenize(EN * 10)
    np.testing.assert_array_equal(
        incremental.tokenize(EN * 10 + "x"), offset_tokenizer(built(unigram))(EN * 10 + "x")[0]
    )
    assert incremental.counts.reused == 0


def test_tokenize_same_text_again_tokenises_nothing() -> None:
    incremental = IncrementalTokenizer(offset_tokenizer(built(byte_level)))
    first = incremental.tokenize(EN * 10)
    before = incremental.counts.tokenised
    np.testing.assert_array_equal(incremental.tokenize(EN * 10), first)
    assert incremental.counts.tokenised == before


def test_tokenize_text_without_a_seam_is_tokenised_whole() -> None:
    whole = offset_tokenizer(built(byte_level))
    incremental = IncrementalTokenizer(whole)
    incremental.tokenize("a" * 5000 + "b")
    text = "a" * 5000 + "c"
    np.testing.assert_array_equal(incremental.tokenize(text), whole(text)[0])
    assert incremental.counts.reused == 0


def test_tokenize_many_documents_in_turn_keeps_each() -> None:
    incremental = IncrementalTokenizer(offset_tokenizer(built(byte_level)))
    documents = [f"{number} {EN * 20}" for number in range(8)]
    for document in documents:
        incremental.tokenize(document + "One?")
    before = incremental.counts.tokenised
    for document in documents:
        incremental.tokenize(document + "Two?")
    assert incremental.counts.tokenised - before < 8 * (MARGIN + 1000)


@given(st.text("ab", max_size=40), st.text("ab", max_size=40), st.integers(0, 2000))
def test_common_characters_any_texts_equals_the_slow_way(left: str, right: str, shared: int) -> None:
    left, right = "x" * shared + left, "x" * shared + right
    slow = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    assert common_characters(left, right) == slow
