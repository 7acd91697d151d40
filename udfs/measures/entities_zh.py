"""Names, numbers, titles and noun phrases of a Chinese question, for `udfs.measures.entities`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from udfs.text import HAN

_FUNCTION: Final = (
    "以后|之后|以前|之前|的时候|时候|按照|根据|依据|因为|由于|为了|关于|对于|至少|至多|最多|最少|不得|应当|应该|可以|能够|必须|需要|一共|总共|共有|"
    "自己|那位|这位|那个|这个|那些|这些|那天|没有|进行|通过|其中|后来|最初|曾经|已经|分别|地方|以及|或者|并且|如果|假如|每天|每日|每月|每年|当日|当天|时间内?|以外|除了|以内|以上|以下|"
    "之间|之外|之物|之中|当时|同时|所以|允许|超过|什么|一次|作为|成为|属于|位于|以来|仍然|现在|目前|主要|通常|一般|负责|要求|获得|得到|发生|发现|"
    "提出|提前|决定|认为|认定|告诉|开始|结束|支付|收取|使用|包括|规定|指定|安装|举行|出现|成立|建立|发布|公布|负担|承担|参加|接受|属于|导致|"
    "造成|引起|改成|改为|存放|显示|述称|陈述|收到|收回|寄来|寄出|出发|进入"
)
_VERB: Final = (
    rf"[{HAN}](?=[了过着])|(?<![{HAN}])[{HAN}](?=[得到])|(?<=[{HAN}]{{2}})[攀听讲说写称就](?=[{HAN}])"
    rf"|(?<=[{HAN}])(?:上去|下去|出来|起来|回来)"
)
_WORDS: Final = (
    "(?<![称作认行成分变])为(?![期止])"
    "|[的了是在被把着也都就还它他她们我你您这那之而且则与和及或让使令给从向对由归于过得到]"
)
_BORDER: Final = re.compile(rf"[^\w]+|{_FUNCTION}|{_VERB}|{_WORDS}")
_NUMBER: Final = re.compile(
    r"(?:公元前?)?[\d零〇一二三四五六七八九十百千万亿]+(?:\.\d+)?(?:年(?:[\d一二三四五六七八九十]+月)?(?:[\d一二三四五六七八九十]+[日号])?|月(?:[\d一二三四五六七八九十]+[日号])?|%|％)"
    r"|第[\d零〇一二三四五六七八九十百千万]+[条章款项号届年]|\d+(?:\.\d+)?"
)
_EDGES: Final = "上下中里内外前后时以为有要能会可应须所即除据依到来去每各该本其也又再很最不未无"
_TITLE: Final = re.compile(r"《([^《》]+)》|“([^“”]+)”|「([^「」]+)」|『([^『』]+)』")


def entities(rest: str) -> Iterator[tuple[int, str]]:
    """(Where it starts, entity) in a question without its words of asking (`udfs.measures.asked_for.Asked.rest`)."""
    for match in _TITLE.finditer(rest):
        yield match.start(), next(filter(None, match.groups()))
    rest = _TITLE.sub(lambda match: "|" * len(match.group()), rest)
    for match in _NUMBER.finditer(rest):
        if len(match.group()) > 1 or match.group().isdecimal():
            yield match.start(), match.group()
            rest = rest[: match.start()] + "|" * len(match.group()) + rest[match.end() :]
    start = 0
    for border in [*_BORDER.finditer(rest), None]:
        end = len(rest) if border is None else border.start()
        text = rest[start:end].rstrip(_EDGES)
        bare = text.lstrip(_EDGES)
        if len(bare) > 1:
            yield start + len(text) - len(bare), bare
        start = len(rest) if border is None else border.end()
