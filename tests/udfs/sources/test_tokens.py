from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from udfs.errors import UserError
from udfs.sources.tokens import EstimatedTokens, token_counter


def test_estimate_of_chinese_is_near_its_characters_not_a_quarter_of_them() -> None:
    assert 70 <= EstimatedTokens()("桥" * 100) <= 100


def test_estimate_of_english_is_near_its_words() -> None:
    assert 10 <= EstimatedTokens()("The bridge at Arlow opened in 1902 and closed later.") <= 16


def test_estimate_of_one_endless_word_grows_with_it() -> None:
    assert EstimatedTokens()("a" * 10_000) >= 1_000


@given(st.text(), st.text())
def test_estimate_never_shrinks_as_text_is_added(left: str, right: str) -> None:
    count = EstimatedTokens()
    assert count(left + "\n" + right) >= count(left) - 1


def test_tokenizer_file_and_folder_count_alike(tmp_path: Path) -> None:
    tokenizer = Tokenizer(WordLevel({"[UNK]": 0, "bridge": 1}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.enable_truncation(2)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    by_folder, by_file = token_counter(str(tmp_path)), token_counter(str(tmp_path / "tokenizer.json"))
    assert by_folder("the old bridge") == by_file("the old bridge") == 3
    assert by_folder.name == tmp_path.name


def test_tokenizer_that_is_not_there_is_a_user_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="tokenizer"):
        token_counter(str(tmp_path))
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(UserError, match="estimate"):
        token_counter(str(tmp_path))
