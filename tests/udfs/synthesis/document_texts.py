"""Made-up documents for property tests: sentences of two languages, put together with what real files have between."""

from __future__ import annotations

import gzip
from functools import lru_cache

from hypothesis import strategies as st

from tests.udfs.sources.helpers import real_data
from udfs.synthesis.index import DocumentIndex

EN = (
    "The harbour of Port Ellery froze over in the winter of 1871.",
    "Mr. Vane, the keeper of the light, counted forty ships in the ice.",
    "“Nobody sails today,” he wrote in his log.",
    "By March the ice had gone, and so had nine of the ships.",
    "See Port Ellery v. Hale & Co., 12 Harb. 44 (1872).",
    "Who paid for the lost ships?",
    "The town council (which had never met before) voted 3.5 % of its income to the widows.",
    "- A new pier was built of oak",
    "It was so.",
    "The new pier 🚢 was opened on 4 May 1873!",
    "§ 7. Each keeper shall count the ships at dawn.",
)
ZH = (
    "一八七一年冬天，埃勒里港全部封冻。",
    "守灯塔的老万数了数，冰里困着四十条船。",
    "他在日志里写道：“今天没有船出海。”",
    "“谁来赔这些船？”镇长问。",
    "到了三月，冰化了，九条船也不见了。",
    "**第七条**　守塔人应当在黎明清点船只；遗漏的，罚款3.5元。",
    "镇议会（此前从未开过会）决定拨款救济遗属。",
    "新码头🚢于1873年5月4日启用！",
    "### 第二章　码头",
    "是的。",
)
GAPS_EN = (" ", "  ", "\n", "\n\n", "\r\n", "\r\n\r\n", " \n \n")
GAPS_ZH = ("", "", "\u3000", "\n\n", "\r\n\r\n\u3000\u3000", "\n")


def documents(language: str, most: int = 30) -> st.SearchStrategy[str]:
    """Documents of up to `most` sentences of one language."""
    pool, gaps = (ZH, GAPS_ZH) if language == "zh" else (EN, GAPS_EN)
    pieces = st.lists(st.tuples(st.sampled_from(pool), st.sampled_from(gaps)), max_size=most)
    return pieces.map(lambda found: "".join(sentence + gap for sentence, gap in found))


def noise() -> st.SearchStrategy[str]:
    """Text of the characters that borders, offsets and normalising turn on, in any order."""
    alphabet = "aB1. \n\r\t。，；;:“”‘’\"'()（）「」*#§-—\u3000\xad\u200b\ufeff…!？文字𠮷😀é\u0301\x0c/[]•"
    return st.text(alphabet=alphabet, max_size=200) | st.text(max_size=60)


LANGUAGES = st.sampled_from(("en", "zh"))
TEXTS = LANGUAGES.flatmap(lambda language: st.tuples(st.just(language), documents(language) | noise()))
"""A language and a document in it (or noise)."""


@lru_cache(maxsize=4)
def real_text(name: str) -> str:
    """A real document; skips the test where the real input is absent."""
    return gzip.decompress(real_data("docs", f"{name}.gz").read_bytes()).decode()


@lru_cache(maxsize=4)
def real_index(name: str) -> DocumentIndex:
    """The index of a real document, whose language its name begins with."""
    return DocumentIndex(real_text(name), name[:2])
