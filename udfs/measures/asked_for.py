"""What a question asks for: a number, a time, a person, …, and what is left of it. English and Chinese. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from udfs.schema import Language


class AskedFor(StrEnum):
    NUMBER = "number"  # how many, how long, 多少, 几
    TIME = "time"  # when, in which year, 什么时候, 哪一年
    PERSON = "person"  # who, whose, 谁
    PLACE = "place"  # where, 哪里
    REASON = "reason"  # why, 为什么
    MANNER = "manner"  # how, 怎样
    YES_NO = "yes_no"  # is, does, 是否, 吗
    THING = "thing"  # what, which, 什么, and whatever is none of these


@dataclass(frozen=True)
class Asked:
    """What a question asks for.

    Args:
        kind: the sort of answer.
        rest: the question with each word of asking replaced by a bar: what it says about the answer.
        words: the words of asking, as the question has them (`how many`, `in which year` without the `in`, 几封);
            empty where there are none.
        after: the question from the end of these words on.
    """

    kind: AskedFor
    rest: str
    words: str
    after: str


BAR: Final = " | "
"""What stands in the place of a word of asking: words on its two sides are no neighbours."""

_MEASURE: Final = r"(?:number|percentage|per ?cent|proportion|amount|quantity|fraction|sum)"
_MEASURED: Final = (
    r"(?:population|height|length|weight|width|depth|distance|temperature|age|speed|price|cost|majority|size|area|rate"
    r"|score)"
)
_UNIT_OF_TIME: Final = (
    r"(?:years?|dates?|days?|months?|decades?|century|centuries|seasons?|weeks?|hours?|times?|weekdays?)"
)
_AUXILIARY: Final = r"(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would|should|may|might|must|shall)"
_WHAT: Final = r"(?:what|which)"
_NUMBER: Final = (
    r"how (?:many|much|long|old|high|tall|far|deep|wide|large|big|heavy|often|frequently|fast|thick|late|early)"
    rf"|{_WHAT}(?: (?:is|was|are|were))?(?: the)?(?: total| exact)? {_MEASURE}(?: of)?"
    rf"|{_WHAT}(?= (?:(?:is|was|are|were) )?(?:the |an? )?(?:\w+ )?{_MEASURED}\b)"
    rf"|(?<=up to ){_WHAT}|(?<=above ){_WHAT}|(?<=below ){_WHAT}"
)
_TIME: Final = (
    rf"{_WHAT}(?: (?:is|was|are|were))?(?: the)?(?: exact)? {_UNIT_OF_TIME}(?: of the (?:week|year|month|day))?"
    rf"|when(?=$|.{{0,3}}\b{_AUXILIARY}\b)"
)
_EN: Final = (
    (AskedFor.NUMBER, _NUMBER),
    (AskedFor.TIME, _TIME),
    (AskedFor.PERSON, r"who|whom|whose"),
    (AskedFor.PLACE, rf"where|{_WHAT} (?:place|location)s?"),
    (AskedFor.REASON, rf"why|{_WHAT}(?: (?:is|was))?(?: the)? reasons?(?: for)?"),
    (AskedFor.MANNER, r"how"),
    (AskedFor.THING, rf"{_WHAT}(?: (?:kind|type|sort)s? of)?(?: (?:is|was) the names?(?: of)?)?"),
)
_EN_YES_NO: Final = re.compile(rf"\W*{_AUXILIARY}\b", re.IGNORECASE)
_MEASURE_WORDS: Final = (
    "个月|年|月|日|天|人|个|只|次|包|座|间|名|两|里|米|元|文|钱|封|件|册|块|条|口|处|环|位|种|家|公斤|公里|斤|吨|岁|度|倍|张|本|把|棵|层|艘|辆|头|"
    "匹|份|场|届|期|章|篇|页|字|户|亩|寸|尺|丈|级|回|遍|趟|项|部|支|枚|桶|箱|袋|盏|扇|根|片|句|批|段|时间"
)
_ZH: Final = (
    (
        AskedFor.TIME,
        r"什么时候|何时|何年|何月|何日|哪(?:一|两|几|个)?(?:年|天|日|月)份?|几(?:点|时|月|号)|什么(?:时间|时段|日期|年份|季节)",
    ),
    (
        AskedFor.NUMBER,
        rf"百分之(?:多少|几)|多少(?:{_MEASURE_WORDS})?|第?几(?![乎何])(?:{_MEASURE_WORDS})?|多(?:长时间|[长久高大远重深宽厚快])(?![的])|若干",
    ),
    (AskedFor.PERSON, r"谁|何人|哪(?:一|几)?位|什么人|哪(?:个|些)人"),
    (AskedFor.PLACE, r"哪里|哪儿|何处|何地|什么(?:地方|位置|地点)|哪个地方"),
    (AskedFor.REASON, r"为什么|为何|何以|何故|因何|为啥|(?:原因|理由)(?:是|为)?什么"),
    (AskedFor.MANNER, r"(?:怎么样|怎样|怎么|如何)(?!的)"),
    (AskedFor.YES_NO, r"是否|是不是|能否|能不能|可否|有没有|会不会|吗"),
    (
        AskedFor.THING,
        rf"(?:叫|名叫)什么(?:名字)?|什么(?:东西|样的?)?|怎么?样的|哪(?:一|几|些|个)?(?:{_MEASURE_WORDS})?|何种",
    ),
)


def _compiled(rules: tuple[tuple[AskedFor, str], ...], bounded: bool) -> re.Pattern[str]:
    edge = r"\b" if bounded else ""
    return re.compile("|".join(f"(?P<{kind}>{edge}(?:{pattern}){edge})" for kind, pattern in rules), re.IGNORECASE)


_EN_RULES: Final = _compiled(_EN, bounded=True)
_ZH_RULES: Final = _compiled(_ZH, bounded=False)


def asked_for(question: str, language: str) -> Asked:
    """What `question` asks for, by its first word of asking.

    An English question without one that opens with an auxiliary asks for yes or no; any other text asks for a thing.
    Relative pronouns (“the date on which …”) are replaced by a bar too, but decide only where nothing else does.
    """
    rules = _ZH_RULES if language == Language.ZH else _EN_RULES
    rest = rules.sub(BAR, question)
    if language != Language.ZH and _EN_YES_NO.match(question):
        return Asked(AskedFor.YES_NO, rest, "", question)
    first = rules.search(question)
    if first is None or first.lastgroup is None:
        return Asked(AskedFor.THING, rest, "", question)
    return Asked(AskedFor(first.lastgroup), rest, first.group(), question[first.end() :])
