"""Whether a passage says the opposite of what a question takes for granted, by its words, in English and Chinese. Pure.

Each sign is a word that one of the two has and the other lacks: a negation, one of a pair of opposites (`before`,
`after`) or of a group of alternatives (`spring`, `autumn`), a superlative. They tell a question that was turned round
from one that the passage answers, where both are made of the passage's words: the negations, antonyms, mutual
exclusions and impossible conditions among the unanswerable questions of SQuAD 2.0 (Rajpurkar et al. 2018, Table 1).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from udfs.measures.answers import tokens
from udfs.measures.polarity import is_negative
from udfs.measures.stems import stem, word_set
from udfs.schema import Language
from udfs.synthesis.overlap import STOP_WORDS
from udfs.text import HAN

_OPPOSITES_EN: Final = (
    "before/after|above/below under|over/under|more/less fewer|most/least fewest|first/last|early/late|earlier/later"
    "|earliest/latest|largest biggest/smallest|highest/lowest|longest/shortest|best/worst|oldest/youngest newest"
    "|high/low|large big/small|long/short|old/young new|strong/weak|rich/poor|hot warm/cold cool|hard/soft|good/bad"
    "|fast quick/slow|wet/dry|thick/thin|heavy/light|deep/shallow|wide broad/narrow|easy/difficult hard|true/false"
    "|left/right|upper/lower|inner inside/outer outside"
    "|inward/outward|front/back rear|raise increase grow rise/lower reduce decrease decline shrink fall drop"
    "|strengthen/weaken|gain/lose|win/lose|accept/reject refuse decline|allow permit/forbid prohibit ban"
    "|include/exclude|begin start open/end close finish|enter arrive/leave depart|buy purchase/sell|lend/borrow"
    "|live survive outlive/die|build/destroy demolish|agree/disagree|support favour favor/oppose|succeed/fail"
    "|remember/forget|love like/hate dislike|appear/disappear|appoint hire/dismiss fire|push/pull|attack/defend"
    "|male/female|man/woman|boy/girl|king/queen"
    "|day/night|morning/evening|public/private|rural/urban|domestic foreign/native"
    "|ancient/modern|maximum/minimum|majority/minority|same similar/different|common/rare|legal/illegal"
    "|possible/impossible|victory/defeat|ally/enemy|employer/employee|landlord/tenant|buyer/seller"
    "|claimant plaintiff/defendant respondent|teacher/pupil student|advantage/disadvantage|positive/negative"
    "|odd/even|active/passive|internal/external|temporary/permanent|direct/indirect|voluntary/compulsory"
)
_OPPOSITES_ZH: Final = (
    "以前 之前/以后 之后|以上/以下|最多/最少|最早/最晚|最大/最小|最高/最低|最长/最短|至多/至少|高于/低于|多于/少于"
    "|增加 提高 上涨/减少 降低 下降|开始/结束|出生/去世|生前/死后"
    "|原告/被告|甲方/乙方|出租人/承租人|买方/卖方|上游/下游"
    "|允许/禁止 严禁 不准|同意/反对|批准/驳回|成功/失败"
    "|进入/离开|公开/秘密|室内/室外|旺季/淡季|东侧 东边/西侧 西边|南侧 南边/北侧 北边|左侧 左边/右侧 右边"
)
_ALTERNATIVES_EN: Final = (
    "north northern|south southern|east eastern|west western/father|mother|son|daughter|brother|sister|uncle|aunt"
    "|grandfather|grandmother|grandson|nephew|niece|cousin|wife|widow|husband/spring|summer|autumn|winter"
    "/january|february|april|june|july|august|september|october|november|december"
    "/monday|tuesday|wednesday|thursday|friday|saturday|sunday/red|blue|green|yellow|black|white|brown|grey gray"
    "/first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth"
)
_ALTERNATIVES_ZH: Final = (
    "父亲|母亲|儿子|女儿|哥哥|弟弟|姐姐|妹妹|祖父|祖母|孙子|孙女|丈夫|妻子|女婿|媳妇"
    "/春天 春季|夏天 夏季|秋天 秋季|冬天 冬季/红色|蓝色|绿色|黄色|黑色|白色|灰色"
)
"""Groups of words of which one excludes the others; not `may` and `march`, which are mostly no months."""


def _table(groups: str, between: str, within: str, stems: bool) -> dict[str, frozenset[str]]:
    """Each word with those that exclude it; spellings and synonyms of one side stand beside each other."""
    found: dict[str, set[str]] = {}
    for group in groups.split(between):
        sides = [[stem(word) if stems else word for word in side.split()] for side in group.split(within)]
        for side in sides:
            for word in side:
                found.setdefault(word, set()).update(*(other for other in sides if other is not side))
    return {word: frozenset(others) for word, others in found.items()}


def _joined(*tables: dict[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    words = {word for table in tables for word in table}
    return {word: frozenset().union(*(table.get(word, ()) for table in tables)) for word in words}


_EN: Final = _joined(_table(_OPPOSITES_EN, "|", "/", True), _table(_ALTERNATIVES_EN, "/", "|", True))
_ZH: Final = _joined(_table(_OPPOSITES_ZH, "|", "/", False), _table(_ALTERNATIVES_ZH, "/", "|", False))
_BOUND: Final = re.compile(
    r"\b(?:no|not|never|nor)(?: \w+)? "
    r"(?:more|less|fewer|later|earlier|longer|higher|lower|only|just|merely|exceed\w*)\b"
    r"|\b(?:many|much|any|some) more\b(?!.*\bthan\b)"
    r"|\bnot until\b|\bcannot but\b|\bno one\b|\bat (?:the )?(?:most|least)\b",
    re.IGNORECASE,
)
"""Words that set a bound, and `more` that means further ones. A negation among them asserts what it stands in: "no
vessel shall exceed 5 knots"."""
_BOUND_ZH: Final = re.compile(
    r"不(?:得|能|应|可|会|宜)?(?:少|多|超|低|高|早|迟|晚|满|足|过|大|小)[于过出]?|不[明同久断良]|不可抗力|不动产"
)
_SELECTIVE: Final = re.compile(r"only|most|least|[a-z]{3,}est")
_NOT_SELECTIVE: Final = word_set(
    "arrest behest bequest breast chest conquest contest crest digest forest guest harvest honest inquest interest "
    "invest manifest modest northwest priest protest quest request southwest suggest tempest unrest west wrest"
)
_SELECTIVE_ZH: Final = re.compile(r"最[^\W初后近终](?=的)")
_DENIAL: Final = re.compile(
    r"\b(?:not|never|cannot|(?:is|was|are|were|do|does|did|ca|could|wo|would|has|have|had|should|must)nt)"
    r"((?: \w+){1,2})"
)
_DENIAL_ZH: Final = re.compile(
    rf"(?:不得|不能|不会|没有?|(?<!除)非(?![常洲])|未(?!来)|严禁|禁止|从不|并不|不予|不许|不准)([{HAN}]{{2,8}})"
)
_CLAUSE_END: Final = re.compile(r"[,;:.!?](?=\s|$)|\b(?:but|until|than|only|except|unless)\b", re.IGNORECASE)
_PARTY_ZH: Final = re.compile(r"原告|被告|甲方|乙方|出租人|承租人|买方|卖方")
_PASSIVE_ZH: Final = re.compile(r"[被由向受]")
_DIFFERENCE_ZH: Final = re.compile(r"比.*[多少高低大小早晚长短重轻贵](?:出|了)?(?:多少|几|若干)")
_COMPARES_ZH: Final = re.compile(r"[比较差]|[增减]|多出|高出|低于|高于")


def contradicts(question: str, passage: str, language: str) -> bool:
    """Whether `passage` turns round what `question` takes for granted, or leaves out what turns it.

    - The question holds a negation and the passage none.
    - The passage negates a word of the question, which holds no negation ("they have never taken the oaks").
    - The question holds a word and the passage only one that excludes it: an opposite, another season.
    - The question holds `only` or a superlative that the passage does not.
    - In Chinese: the passage speaks of the second of two parties where the question has the first one act; or the
      question asks for a difference and the passage compares nothing.
    """
    excluded = _ZH if language == Language.ZH else _EN
    asked, said = _signs(question, language), _signs(passage, language)
    if not said.negative if asked.negative else not asked.content.isdisjoint(said.denied - asked.denied):
        return True
    if any(excluded[word] & (said.words - asked.words) for word in asked.words - said.words):
        return True
    if not asked.selective <= said.selective:
        return True
    return language == Language.ZH and (_swapped(question, said.words) or _uncompared(question, passage))


@dataclass(frozen=True)
class _Signs:
    """What may turn a text round.

    Args:
        negative: whether it holds a negation.
        words: those that exclude others.
        selective: `only` and superlatives.
        content: stems without stop words; in Chinese pairs of neighbouring characters.
        denied: the content that stands right behind a negation.
    """

    negative: bool
    words: frozenset[str]
    selective: frozenset[str]
    content: frozenset[str]
    denied: frozenset[str]


@lru_cache(maxsize=4096)
def _signs(text: str, language: str) -> _Signs:
    return _signs_zh(text) if language == Language.ZH else _signs_en(text)


def _signs_en(text: str) -> _Signs:
    bare = _BOUND.sub(" ", text)
    found = tokens(bare)
    denials = (_DENIAL.finditer(" ".join(tokens(clause))) for clause in _CLAUSE_END.split(bare))
    return _Signs(
        negative=is_negative(bare),
        words=frozenset(map(stem, found)) & _EN.keys(),
        selective=frozenset(word for word in found if _SELECTIVE.fullmatch(word) and word not in _NOT_SELECTIVE),
        content=_content(found),
        denied=_content(word for clause in denials for match in clause for word in match.group(1).split()),
    )


def _content(words: Iterable[str]) -> frozenset[str]:
    return frozenset(stem(word) for word in words if word not in STOP_WORDS)


def _signs_zh(text: str) -> _Signs:
    bare = _BOUND_ZH.sub(" ", text)
    return _Signs(
        negative=is_negative(bare),
        words=frozenset(word for word in _ZH if word in text),
        selective=frozenset(_SELECTIVE_ZH.findall(text)),
        content=_pairs(bare),
        denied=frozenset().union(*(_pairs(match.group(1)) for match in _DENIAL_ZH.finditer(bare))),
    )


def _pairs(text: str) -> frozenset[str]:
    return frozenset(left + right for left, right in pairwise(text) if (left + right).isalnum())


def _swapped(question: str, said: frozenset[str]) -> bool:
    """Whether the passage lacks the one of two parties that the question names first: who acts, mostly."""
    if _PASSIVE_ZH.search(question):
        return False
    named = _PARTY_ZH.findall(question)
    return bool(named) and named[0] not in said and not _ZH[named[0]].isdisjoint(said.intersection(named))


def _uncompared(question: str, passage: str) -> bool:
    """Whether the question asks for a difference and the passage compares nothing."""
    return _DIFFERENCE_ZH.search(question) is not None and not _COMPARES_ZH.search(passage)
