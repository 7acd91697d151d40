"""What the scripted agents see in a text by its surface, and the words that they make up. Pure, in two languages.

Patterns, not knowledge: a capitalised word after "in" is a place, a Han run that ends in 公司 is an organisation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from udfs.measures.answers import find_answer, tokens
from udfs.schema import Topic
from udfs.synthesis.overlap import STOP_WORDS, content
from udfs.synthesis.sentences import sentences
from udfs.text import HAN

Draw = Callable[[str], float]
"""A number in [0, 1) for what it is drawn for; the same one for the same request."""

BLANK: Final = "____"
MIN_CONTENT: Final = {"en": 5, "zh": 8}
"""Content units that a statement with a blank needs to say something."""
AROUND: Final = {"en": (75, 55), "zh": (45, 35)}
"""Characters of a sentence that a question keeps before and after its blank."""

_DATED: Final = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?)\b"
)
_NAME: Final = rf"(?!{_DATED})[A-Z][a-z]+(?:[-’'][A-Z][a-z]+)*"
_NAMES: Final = rf"{_NAME}(?: (?:of |and )?{_NAME})*"
_MONTH: Final = (
    "(?:January|February|March|April|May|June|July|August|September|October|November|December)"  # May with a number
)
_COUNT: Final = (
    r"(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    r"|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-[a-z]+)?|hundred|thousand)"
)
_SMALL: Final = rf"(?:{'|'.join(sorted(STOP_WORDS))})\b"
_NOT_WHERE: Final = r"(?<!\bin )(?<!\bat )(?<!\bto )(?<!\bfrom )(?<!\bnear )"
_HONORIFIC: Final = r"(?:Mr|Mrs|Ms|Miss|Dr|Sir|Lady|Lord|Captain|Skipper|Justice|Judge|Brother|Sister|Uncle|Aunt)\.?"
_BODY: Final = (
    r"(?:Board|Company|Court|Council|Committee|Tribunal|Society|Association|Commission|Trust|Cooperative|Congress"
    r"|Office|Department|Assembly|Union|Bank|Authority|Church|Senate|Party|Binders)"
)
_HAPPENING: Final = (
    r"(?:fire|flood|war|battle|festival|meeting|trial|wedding|funeral|plague|harvest|storm|frost|election|hearing"
    r"|appeal|violation|infringement|lottery|inspection|auction|accident|journey|assembly|amendment|application)"
)
_EN: Final[dict[Topic, str]] = {
    Topic.TIME: rf"\b(?:\d{{1,2}} {_MONTH}(?: \d{{4}})?|{_MONTH} \d{{1,2}}(?:, \d{{4}})?|{_MONTH} \d{{4}}"
    r"|(?:1[4-9]|20)\d\d|\d{1,2}[.:]\d\d [ap]\.m\.|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?)(?!\w)",
    Topic.NUMBER: rf"\b(?!(?:1[4-9]|20)\d\d\b)(?:\d{{1,3}}(?:,\d{{3}})+|\d+(?:\.\d+)?"
    rf"|{_COUNT}(?: (?:hundred|thousand))?)(?: (?!{_SMALL})[a-z]{{3,}})?(?![\w-])",
    Topic.LOCATION: rf"(?<=\b(?:in|at|to) )(?:the )?{_NAMES}|(?<=\b(?:from|near) )(?:the )?{_NAMES}",
    Topic.PERSON: rf"\b{_HONORIFIC} {_NAME}(?: {_NAME})?"
    rf"|{_NOT_WHERE}\b(?!(?i:{_SMALL})){_NAME} (?:[A-Z]\. )?{_NAME}(?! of\b)(?! [A-Z])",
    Topic.ORGANISATION: rf"\b(?:{_NAME} (?:of |and |& )?)+{_BODY}\b",
    Topic.EVENT: rf"\b(?:[a-z]{{4,}} )?{_HAPPENING}s?\b",
    Topic.OBJECT: r"(?<=[“\"])[^“”\"\n]{4,40}(?=[”\"])"
    r"|(?:(?<=\b[Tt]he )|(?<=\b[Aa] )|(?<=\b[Aa]n ))[a-z]{5,}\b(?![-\u00ad])",
}
_N: Final = "一二两三四五六七八九十百千万〇零0-9"
_FUNCTION: Final = (
    "的了在是和与及或并不也就都而之其为以于由从到向对把被让给着过这那有没个每各已将所可应当得者等者但若则且"
)
_PLAIN: Final = f"(?:(?![{_FUNCTION}{_N}])[{HAN}])"
_C: Final = f"(?:(?![{_FUNCTION}])[{HAN}])"
_MEASURE: Final = (
    "元|米|公里|里|亩|斤|两|人|名|个|只|块|张|条|件|次|回|户|艘|座|间|棵|本|盏|石|尺|丈|文|匹|口|倍|分|千克|平方米"
)
_SURNAME: Final = (
    "赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦许何吕张孔曹严华金魏陶姜戚谢邹喻柏窦章云苏潘葛范彭鲁韦马方任袁柳史唐费薛雷贺倪"
    "汤罗毕郝安常于傅齐康伍余顾孟黄穆萧尹姚邵汪毛狄米贝宋庞熊纪舒屈项董梁杜阮蓝席季贾路江童郭梅林钟徐邱高夏蔡田胡霍关"
)
_HAPPENED: Final = "会议|地震|大火|战争|洪水|大水|仪式|抽签|犯罪|婚礼|诉讼|选举|审判|修缮|检查|申请|登记|执行"
_ZH: Final[dict[Topic, str]] = {
    Topic.TIME: rf"[{_N}]{{4}}年(?:[{_N}]{{1,3}}月(?:[{_N}]{{1,3}}[日号])?)?"
    rf"|[正腊冬{_N}]{{1,3}}月(?:初?[{_N}廿]{{1,3}}[日号]?)?"
    rf"|[{_N}]{{1,4}}(?:年以[上下]|年|个月|日|天|小时|时)",
    Topic.NUMBER: rf"(?<![第{_N}])[{_N}]{{1,8}}(?:点[{_N}]+)?(?:{_MEASURE})",
    Topic.LOCATION: f"{_C}{{1,4}}(?:省|市|县|镇|乡|村|山|河|江|桥|路|街|渡口|港|城|湖|寺|庙|站|岛|关|寨|州|府)",
    Topic.PERSON: rf"(?:[{_SURNAME}]{_C}{{1,2}}|[老小]{_C}|{_C}(?:先生|婶|嫂|爷|叔|师傅))(?=[说道问答笑曰说，]|先生)"
    rf"|{_C}{{0,2}}(?:犯罪分子|当事人|被告人|原告|被告|承租人|出租人|债务人|债权人|罪犯|辩护人|摊主)",
    Topic.ORGANISATION: f"{_C}{{0,6}}(?:公司|委员会|法院|合作社|政府|中心|检察院|机关|部门|银行|学校|消防队|商会|公所)",
    Topic.EVENT: f"{_C}{{0,4}}(?:{_HAPPENED})",
    Topic.OBJECT: f"(?<=《)[^《》\n]{{2,20}}(?=》)|(?<=“)[^“”\n]{{2,12}}(?=”)|{_PLAIN}{{2,5}}",
}
_PATTERNS: Final[dict[str, dict[Topic, re.Pattern[str]]]] = {
    "en": {topic: re.compile(pattern) for topic, pattern in _EN.items()},
    "zh": {topic: re.compile(pattern) for topic, pattern in _ZH.items()},
}
_ORIGINALS: Final[dict[str, tuple[re.Pattern[str], ...]]] = {
    "en": (re.compile(rf"\b{_NAMES}"), re.compile(r"\b[a-z]{5,}\b")),
    "zh": (
        *(re.compile(_ZH[topic]) for topic in (Topic.ORGANISATION, Topic.LOCATION, Topic.PERSON)),
        re.compile(f"{_PLAIN}{{2,4}}"),
    ),
}
_SPACE: Final = re.compile(r"\s+")
_LABEL: Final = re.compile(
    rf"[\s*#“\"]*(?:第[{_N}]+[编章节条款][\s*]*|\d+(?:\.\d+)+\s+|\d+[.．、]\s*|[(（]?\w{{1,3}}[)）]\s*)+"
)
_BORDER: Final = re.compile(r"[\s，。；、：（）“”]")
_ENDS: Final = '.。;；,，!！”"’」』)） '
_INNER: Final = str.maketrans('“”"', "‘’'")  # the statement stands in quotation marks itself
_MARK_UP: Final = re.compile(r"[*#_`|]+")

_POINTING: Final = re.compile(
    r"\b(?:this|that|these|those|given|following|preceding) (?:text|paragraph|section|sentence)s?\b|\b(?:above|below)\b"
    r"|\b(?:passage|fragment|excerpt|extract)s?\b|上述|前述|上文|前文|以上|片段|文段|本段|上段|该段|这段",
    re.IGNORECASE,
)
"""What a question that stands alone does not say."""

_ONSETS: Final = (
    "quor", "brix", "zelm", "thrav", "oskel", "vynd", "jarrow", "plim",
    "drusk", "yelv", "karn", "wexl", "fjord", "morv", "tziv", "ghall",
)  # fmt: skip
_TAILS: Final = (
    "vane", "holt", "arick", "endil", "umber", "ostrel", "ithane", "oxley", "ergast", "ulmen", "avish", "enquill",
)  # fmt: skip
_RARE: Final = "霁岚漪翊琤璟邈窈珩沅瑄翯澍飏祯昶"
INVENTED: Final = {
    "en": re.compile(rf"\b(?:{'|'.join(_ONSETS)})(?:{'|'.join(_TAILS)})\b", re.IGNORECASE),
    "zh": re.compile(f"[{_RARE}]{{3}}"),
}


@dataclass(frozen=True)
class Statement:
    """A sentence of a fragment, verbatim, what is asked for in it, and the sentence with a blank for that."""

    sentence: str
    answer: str
    blanked: str


def one_line(text: str, language: str) -> str:
    """`text` without mark-up, on one line (Chinese: without white space)."""
    return _SPACE.sub("" if language == "zh" else " ", _MARK_UP.sub("", text)).strip()


def statements(fragment: str, language: str, topic: Topic) -> Iterator[Statement]:
    """Every statement of `fragment` about `topic` in which what is asked for stands once."""
    for span in sentences(fragment, language):
        sentence = fragment[span.start : span.end]
        if sentence.rstrip("”’\"'」』)） ").endswith(("?", "？", ":", "：")):
            continue
        label = _LABEL.match(sentence)
        start = label.end() if label else 0
        for found in _PATTERNS[language][topic].finditer(sentence, start):
            statement = _statement(sentence, start, found, language, topic)
            if statement is not None:
                yield statement


def _statement(sentence: str, start: int, found: re.Match[str], language: str, topic: Topic) -> Statement | None:
    """`sentence` from `start` with a blank for `found`; None where that gives away the answer or says too little."""
    answer = one_line(found[0], language)
    if answer.casefold().split(" ")[0] in STOP_WORDS and topic is not Topic.LOCATION:
        return None
    before, after = AROUND[language]
    left = _shortened(one_line(sentence[start : found.start()], language)[::-1], before)[::-1]
    right = _shortened(one_line(sentence[found.end() :], language), after).rstrip(_ENDS)
    space = "" if language == "zh" else " "
    parted = left and sentence[found.start() - 1].isspace()
    blanked = f"{left}{space if parted else ''}{BLANK}{space if right[:1].isalnum() else ''}{right}".translate(_INNER)
    wanted = tokens(answer)
    if len(find_answer(tokens(sentence), wanted)) != 1 or find_answer(tokens(blanked), wanted):
        return None
    if _POINTING.search(blanked):
        return None
    return Statement(sentence, answer, blanked) if len(content(blanked, language)) >= MIN_CONTENT[language] else None


def _shortened(text: str, most: int) -> str:
    """The first `most` characters of `text`, or a little more, to the end of a word or clause, with an ellipsis."""
    border = _BORDER.search(text, most)
    return f"{text[: border.start()]} …" if border and border.end() < len(text) else text


def topics(fragment: str, language: str) -> list[Topic]:
    """The topics that `fragment` has a statement about; what says anything at all speaks of an object."""
    return [topic for topic in Topic if next(statements(fragment, language, topic), None) is not None]


def originals(question: str, evidence: str, language: str) -> list[str]:
    """What a question names once and its evidence names, too, so that it can be replaced; the best kind only."""
    asked = tokens(question)
    for pattern in _ORIGINALS[language]:
        names = [_named(found[0]) if language == "en" else found[0] for found in pattern.finditer(question)]
        kept = [
            name for name in dict.fromkeys(names) if name in evidence and len(find_answer(asked, tokens(name))) == 1
        ]
        if kept:
            return kept
    return []


def _named(name: str) -> str:
    """A name without the stop words before it ("The Harbour Board")."""
    words = name.split(" ")
    while words and words[0].casefold() in STOP_WORDS:
        words = words[1:]
    return " ".join(words)


def invented(draw: Draw, language: str, what: str) -> str:
    """A word that no document has."""
    if language == "zh":
        return "".join(_RARE[int(draw(f"{what}{i}") * len(_RARE))] for i in range(3))
    onset = _ONSETS[int(draw(f"{what}0") * len(_ONSETS))]
    return f"{onset}{_TAILS[int(draw(f'{what}1') * len(_TAILS))]}".capitalize()


def sentence_around(text: str, at: int, language: str, reach: int = 600) -> str:
    """The sentence of `text` that holds the character `at`, looked for within `reach` characters of it."""
    low = max(0, at - reach)
    window = text[low : at + reach]
    for span in sentences(window, language):
        if span.start <= at - low < span.end:
            return window[span.start : span.end]
    return window
