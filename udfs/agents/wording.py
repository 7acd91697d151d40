"""The words that `udfs.agents.checks` looks for, in English and Chinese."""

from __future__ import annotations

import re
from typing import Final

from udfs.measures.numerals import CHARACTERS
from udfs.text import HAN

INSTRUCTIONS: Final = re.compile(
    "|".join(
        (
            # set the rules aside
            (
                r"\b(?:ignore|disregard|forget|override)\b[^.?!\n]{0,30}"
                r"\b(?:previous|prior|above|earlier|preceding|all|any|your|these|system)\b"
                r"[^.?!\n]{0,20}\b(?:instructions?|prompts?|guidelines)\b"
            ),
            (
                r"(?:忽略|无视|忘记|忘掉|不要理会|不必理会|不用理会|不要管)[^。？！\n]{0,8}"
                r"(?:之前|以上|上述|前面|先前|此前|上面|所有|全部|一切|系统|原有)"
                r"[^。？！\n]{0,8}(?:指令|提示|指示|规则|要求|设定)"
            ),
            # decide for the console
            r"\b(?:accept|approve) (?:this|every|all|the following) (?:candidate|item|sample)s?\b",
            r"\b(?:accept|approve) the candidate\b(?=\W*$)",
            r"\b(?:mark|label|flag|record) (?:this|it|the candidate|all)[^.?!\n]{0,20}\bas (?:accepted|approved)\b",
            r"(?:接受|通过|采纳|批准)(?:这个|这条|这些|该|此|本|所有|全部)(?:候选|条目|样本|题目)",
            r"(?:标记|记录|判定)(?:为|成)“?(?:已?接受|已?通过|accepted)",
            # speak as, or to, a part of the pipeline
            r"\b(?:as|i am|you are|dear|attention|hey)[,:]? the (?:agent )?(?:console|pipeline)\b",
            r"\b(?:console|review(?:er)? agent|pipeline)[,:]\s*(?:please|you|accept|approve|ignore|mark)\b",
            r"\b(?:skip|bypass|disable|stop) (?:the |this |all |any )?(?:pipeline|further checks|further reviews?)\b",
            r"\byou (?:must|should|are to|have to|will) (?:now )?(?:accept|approve|ignore|disregard|output)\b",
            r"(?:作为|我是|你是|您是|致|请)(?:本)?(?:控制台|审核代理|评审代理|质检代理|流水线)",
            r"(?:你|您)(?:必须|应当|应该|现在)(?:立即|马上|直接)?(?:接受|通过|采纳|输出|忽略)",
            r"(?:请|务必)?直接(?:接受|采纳|判为通过)",
            r"跳过(?:所有|全部|后续|其余)?(?:审核|检查|评审)",
            # prompts and roles
            r"\b(?:system|developer) (?:prompt|message)\b|系统提示词?",
            r"\bnew instructions?\s*:|新的?指令\s*[::]",
            r"<\|[^|<>\n]{1,40}\|>|</?(?:system|assistant|user|human|instructions?|think|tool_call)\b[^<>\n]{0,40}>",
            r"\[/?INST\]|<</?SYS>>|(?:^|\n)\s*#{2,}\s*(?:system|instructions?|assistant|response)\b",
            r"(?:^|\n)\s*(?:system|assistant|user|human|developer|console)\s*:",
            r"(?:^|\n)\s*(?:系统|助手|用户|控制台)\s*:",
        )
    ),
    re.IGNORECASE,
)
"""On NFKC-normalised text, so full-width marks are plain ones."""

INTERROGATIVE: Final = {
    "en": re.compile(
        r"^\W*(?:(?:according to|in|on|at|by|for|from|to|of|with|under|during|after|before|since|until)\b"
        r"[^.?!\n]{0,80}?[ ,])?(?:who|whom|whose|what|which|when|where|why|how)\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"谁|什么|哪|多少|几[个年月日天次名位人条项种岁元]|何[时地人处种故]|为何|如何|怎|多[久长大高远重]|是否|吗\W*$"
    ),
}

POINTS_TO_TEXT: Final = {
    "en": re.compile(
        r"\b(?:this|that|these|those|above|given|following|provided|quoted|preceding|present)"
        r" (?:passage|fragment|excerpt|snippet|extract|text|paragraph|section|sentence)s?\b"
        r"|\bthe (?:passage|fragment|excerpt|snippet|extract)s?\b(?! (?:of|to|from|between|through|into|by|over)\b)"
        r"|\b(?:text|passage|paragraph|section|sentence|quotation|fragment|excerpt)s? (?:above|below|given|provided)\b"
        r"|\b(?:mentioned|described|said|stated|given|quoted|listed|shown|discussed|cited|named|as) (?:above|below)\b"
        r"|\bthe above\b|\b(?:above|afore)-?(?:mentioned|said)\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"(?:本|此|上|该|这|这一|那)(?:片段|个片段|文段|选段|节选|摘录)|片段[中里内]|文段|选段|节选[中里]"
        r"|本段(?!时)|[此该这上]段(?:文字|话|文本|文章|内容|材料|中|里|落)|这一段(?:文字|话|文本|内容|材料|中|里)"
        r"|上文|前文|上述|前述|以上(?:内容|文字|文本|段落|材料|片段|信息|规定|所述)|给定的?(?:文本|文字|内容|材料)"
    ),
}

YES_NO: Final = {
    "en": re.compile(r"\W*(?:yes|no|true|false)(?:\W*$|\s*[,;:!]\s|\.\s(?!\d))", re.IGNORECASE),
    "zh": re.compile(
        r"\W*(?:是的?|不是的?|否|对的?|不对|错误?|正确|不正确|有的?|没有|会的?|不会|能|不能|可以|不可以|应当|不应当|yes|no)"
        r"(?:\W*$|[，,；;。：:！!])",
        re.IGNORECASE,
    ),
}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENGLISH_WORDS: Final = _words(
    "who whom whose what which when where why how the of and that with from did does not says mentions this there "
    "about only its his their they were would could should it"
)
"""Latin letters alone do not make a text English: it has at least one of these. No word that German, French, Spanish,
Portuguese, Italian or Dutch are full of, such as “was”, “do”, “is” or “in”.
"""

ASKS_FOR_FACT: Final = {
    "en": re.compile(r"\b(?:who|whom|whose|what|which|when|where|why|how)\b", re.IGNORECASE),
    "zh": re.compile(r"谁|什么|哪|多少|几(?!乎)|何|怎|啥|孰|多[久长大高远重宽深厚]|[是为有在叫于][?？]"),
}
"""“Did he win?” asks for yes or no, and “He won?” for nothing."""
QUOTED: Final = re.compile(r"“[^”]*”|「[^」]*」|『[^』]*』|\"[^\"]*\"")
MARKS: Final = re.compile(r"[?？]+")

OF_THE_DOCUMENT: Final = {
    "en": re.compile(
        r"\b(?:according to|based on|as (?:stated|described|mentioned|said|told) (?:in|by)|in|from|by)"
        r" (?:the|this) (?:document|text|passage|article|fragment|story|book|author|law)\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"(?:根据|按照|依据|依照|在|据)?(?:该|本|这篇|这份|此)?(?:文档|文本|文章|原文|作者)"
        r"(?:的?(?:内容|规定|记载|描述|叙述|所述|所说|说法))?(?:中|里|内)?"
    ),
}
"""Words that only point to the document: a condition made of them is none."""

OTHER_SCRIPT: Final = {
    "en": re.compile(r"[^\W\d_A-Za-z\u00aa-\u024f\u1e00-\u1eff]+"),
    "zh": re.compile(rf"[^\W\d_{HAN}]+"),
}
"""Words in a script that is not the language's."""
LONG_NUMBER: Final = re.compile(rf"\d[\d,.]*\d|[{CHARACTERS}]{{2,}}")
"""A number that is more than a small word such as 一 or “two”."""
