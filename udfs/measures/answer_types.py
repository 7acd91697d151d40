"""Whether a passage holds something of the sort that a question asks for: a number, a year, a name, … Pure.

It goes by the look of words. That something of the sort is there does not make it the answer; that nothing of the sort
is there makes an answer unlikely.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from udfs.measures.answers import tokens
from udfs.measures.asked_for import Asked, AskedFor
from udfs.measures.stems import stem, word_set
from udfs.schema import Language
from udfs.synthesis.overlap import STOP_WORDS
from udfs.text import HAN

_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)*")
_NUMBER_WORDS: Final = word_set(
    "one once twice thrice half halves quarter quarters third thirds fourth fourths fifth fifths sixth sixths "
    "seventh sevenths eighth eighths ninth ninths tenth tenths none no nobody nothing never both neither all "
    "single dozen dozens double couple several majority unanimously free"
)
_NOT_COUNTING: Final = word_set("once twice thrice single free never nothing unanimously couple double")
"""Number words that answer “how much” and “how often”, and count no things."""
_CLAUSE_END: Final = re.compile(r"[.,;:!?](?=\s|$)|[()\[\]—–]")
ITEM_NUMBER: Final = re.compile(r"[\[(]\d{1,3}[\])]|^\d{1,3}(?:\.\d{1,3})*[.)]?(?=\s)", re.MULTILINE)
"""The number of an item or a note, which counts nothing."""
_MONTHS: Final = word_set(
    "january february march april may june july august september october november december jan feb mar apr jun "
    "jul aug sep sept oct nov dec"
)
_WEEKDAYS: Final = word_set(
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays "
    "saturdays sundays weekday weekdays weekend weekends"
)
_TIMES: Final = (
    _MONTHS
    | _WEEKDAYS
    | word_set(
        "spring summer autumn winter fall noon midday midnight morning afternoon evening night dawn dusk sunrise "
        "sunset today yesterday tomorrow easter christmas century centuries decade decades year years month months "
        "week weeks day days hour hours minute minutes daily weekly monthly yearly annually"
    )
)
_BEFORE_YEARS: Final = _MONTHS | word_set("in since of by until till from after before during to and year")
_CAUSE: Final = re.compile(
    r"\b(?:because|since|due|owing|reasons?|so that|in order|therefore|thus|hence|caused?|causes|for|as|to avoid"
    r"|to prevent|thanks|result(?:s|ed|ing)?|led|lest)\b",
    re.IGNORECASE,
)
_CAUSE_ZH: Final = re.compile(r"因|由于|为了|所以|是故|故而|以便|以免|致使|所致|导致|缘|为此")
_PERSON: Final = re.compile(
    r"(?<![.!?]\s)(?<!^)\b[A-Z][a-z]|\b(?:he|she|they|him|her|them|his|i|me|my|we|us)\b"
    r"|\b[a-z]{2,}(?:er|or|ist|ian|ess|ant|ent|ee|man|men)s?\b|\b(?:king|queen|people|public|board|assembly|council"
    r"|committee|company|court|judge|party|wife|husband|son|daughter|mother|father|brother|sister|uncle|aunt|child"
    r"|children|nobody|everyone|anyone)\b"
)
_SURNAMES: Final = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范石姚谭廖邹熊金"
    "陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文霍关葛柳佟蓝欧"
)
_PERSON_ZH: Final = re.compile(
    rf"[人者员师长士生氏方家民女子父母妻夫兄弟姐妹儿孙爷公婆叔伯姨舅某官商匠工友君他她我局部委院府社会司所厂]|[{_SURNAMES}][{HAN}]"
)
_ASKS_NAME_ZH: Final = re.compile(r"^(?:叫|名叫)|名字")
_NAMING_ZH: Final = re.compile(r"[姓名叫称曰谓号改原]")
_HAN_NUMERAL: Final = r"(?:\d+(?:\.\d+)?|[零〇一二三四五六七八九十百千万亿两半点数几]+)"
_MEASURE_ZH: Final = re.compile(r"第?(?:多少|几|若干)(.+)")
_SAME_MEASURE: Final = ("日天", "名人位", "钱元文两块角分", "个只", "次回遍")
"""Measure words that count the same things."""
_TIME_UNITS_ZH: Final = {
    "年": r"年|元年|同年|前年|去年|今年|明年",
    "月": r"月",
    "天": r"日|天|初[一二三四五六七八九十]|清明|中秋|重阳|端午|除夕|元旦|春节",
    "日": r"日|天|初[一二三四五六七八九十]|清明|中秋|重阳|端午|除夕|元旦|春节",
    "点": r"[时点]|[子丑寅卯辰巳午未申酉戌亥]时",
}
_ANY_TIME_ZH: Final = re.compile(r"[年月日时旬春夏秋冬晨夜晚朝午]|清明|重阳|端午|除夕|黄昏|世纪|初")


def holds_answer(asked: Asked, question: str, passage: str, language: str) -> bool:
    """Whether `passage` holds something of the sort that is asked for and that the question does not name itself.

    Numbers must count what is asked (`seven pints` is no answer to “how many days”), times must be as fine as is asked
    (a year, a day, a weekday), a reason needs a word of cause, a person a name, a pronoun or a role. Manner, things,
    places, yes and no are satisfied by any passage with a word in it.
    """
    if language == Language.ZH:
        return _CHECKS_ZH.get(asked.kind, _any)(asked, question, passage)
    return _CHECKS_EN.get(asked.kind, _any)(asked, question, passage)


def _any(asked: Asked, question: str, passage: str) -> bool:
    return re.search(r"\w", passage) is not None


def _number(asked: Asked, question: str, passage: str) -> bool:
    given = _given(question)
    counted = _counted(asked)
    for clause in _CLAUSE_END.split(ITEM_NUMBER.sub(" ", passage)):
        found = tokens(clause)
        for at, token in enumerate(found):
            if token in given or not (_NUMBER.fullmatch(token) or token in _NUMBER_WORDS):
                continue
            if counted and token in _NOT_COUNTING:
                continue
            following = found[at + 1 : at + 4]
            elided = following[:1] and stem(following[0]) in _stems(question)  # “140 contained fur”
            counts = elided or _counts(following, counted)
            if not counted or (counts and not _dates(found[at - 1 : at + 1])):
                return True
    return False


@lru_cache(maxsize=4096)
def _given(question: str) -> frozenset[str]:
    return frozenset(tokens(question))


@lru_cache(maxsize=4096)
def _stems(question: str) -> frozenset[str]:
    return frozenset(stem(token) for token in tokens(question) if token not in STOP_WORDS)


@lru_cache(maxsize=4096)
def _counted(asked: Asked) -> frozenset[str]:
    """Stems of what “how many” counts: the words up to the next stop word; empty for any other number."""
    if not re.match(r"how many", asked.words, re.IGNORECASE):
        return frozenset()
    found: list[str] = []
    for token in tokens(asked.after):
        if token in STOP_WORDS:
            if found or token not in {"more", "other", "of"}:
                break
        else:
            found.append(stem(token))
    return frozenset(found)


def _counts(following: Sequence[str], counted: Collection[str]) -> bool:
    """Whether a number counts what is asked: its noun follows, or no noun of its own does ("29 were roach")."""
    if not following or following[0] in STOP_WORDS - {"of", "more"}:
        return True
    return any(stem(token) in counted for token in following)


def _dates(pair: Sequence[str]) -> bool:
    """Whether a number is a year by what stands before it: "in 2001", "May 1998"."""
    return len(pair) == 2 and re.fullmatch(r"1\d{3}|20\d\d", pair[1]) is not None and pair[0] in _BEFORE_YEARS


def _time(asked: Asked, question: str, passage: str) -> bool:
    given, words = _given(question), asked.words.lower()
    found = [token for token in tokens(passage) if token not in given]
    if "year" in words:
        return any(re.fullmatch(r"\d{3,4}", x) and after != "s" for x, after in pairwise([*found, ""]))
    if "month" in words:
        return any(token in _MONTHS for token in found)
    if "week" in words:
        return any(token in _WEEKDAYS for token in found)
    if "date" in words:
        return any(_NUMBER.fullmatch(token) for token in found)
    if "day" in words:
        return any(token in _WEEKDAYS | _MONTHS for token in found)
    if "decade" in words or "centur" in words:
        return any(_NUMBER.fullmatch(token) for token in found) or "century" in found
    return any(re.fullmatch(r"\d{1,4}", token) or token in _TIMES for token in found)


def _reason(asked: Asked, question: str, passage: str) -> bool:
    return _CAUSE.search(passage) is not None


def _person(asked: Asked, question: str, passage: str) -> bool:
    return _PERSON.search(passage) is not None


def _number_zh(asked: Asked, question: str, passage: str) -> bool:
    measure = match.group(1) if (match := _MEASURE_ZH.fullmatch(asked.words)) else ""
    behind = next((f"[{same}]" for same in _SAME_MEASURE if len(measure) == 1 and measure in same), re.escape(measure))
    given = _given(question)
    for match in re.finditer(rf"({_HAN_NUMERAL})(?={behind})", passage):
        if not given.issuperset(tokens(match.group(1))):
            return True
    return False


def _time_zh(asked: Asked, question: str, passage: str) -> bool:
    unit = next((unit for unit in _TIME_UNITS_ZH if unit in asked.words), None)
    if unit is None:
        return _ANY_TIME_ZH.search(passage) is not None
    given = _given(question)
    for match in re.finditer(rf"({_HAN_NUMERAL})?(?:{_TIME_UNITS_ZH[unit]})", passage):
        if match.group(1) is None or not given.issuperset(tokens(match.group(1))):
            return True
    return False


def _reason_zh(asked: Asked, question: str, passage: str) -> bool:
    return _CAUSE_ZH.search(passage) is not None


def _person_zh(asked: Asked, question: str, passage: str) -> bool:
    return _PERSON_ZH.search(passage) is not None


def _thing_zh(asked: Asked, question: str, passage: str) -> bool:
    """A name that is asked for needs a word of naming; any other thing only words."""
    if _ASKS_NAME_ZH.search(asked.words) or question[: -len(asked.after) or None].endswith("姓" + asked.words):
        return _NAMING_ZH.search(passage) is not None
    return _any(asked, question, passage)


_Check = Callable[[Asked, str, str], bool]
_CHECKS_EN: Final[dict[AskedFor, _Check]] = {
    AskedFor.NUMBER: _number,
    AskedFor.TIME: _time,
    AskedFor.REASON: _reason,
    AskedFor.PERSON: _person,
}
_CHECKS_ZH: Final[dict[AskedFor, _Check]] = {
    AskedFor.NUMBER: _number_zh,
    AskedFor.TIME: _time_zh,
    AskedFor.REASON: _reason_zh,
    AskedFor.THING: _thing_zh,
    AskedFor.PERSON: _person_zh,
}
