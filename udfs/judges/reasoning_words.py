"""The words that `udfs.judges.reasoning` goes by, in both languages; patterns over one case-folded sentence."""

from __future__ import annotations

import re
from typing import Final

from udfs.dialogues.wording import in_order, joined, one_of, words_of

STOP_WORDS: Final = words_of(
    """
    a an the of to in on at by for from with without and or but not no nor so as if than then that this these those it
    its he she they him his her their i you we me my your our is are was were be been being am do does did done doing
    has have had can could may might must shall should will would there here what which who whom whose when where why
    how any some such only just also even more most other another same own very too about into over under between
    because since while however therefore thus hence although though unfortunately sorry dont doesnt didnt cant isnt
    wasnt arent im document passage text article context paragraph excerpt source section content material story author
    report given provided based according above question answer answers answered asks asked asking information info
    detail details data mention mentions mentioned say says said state states stated specify specifies specified
    specific provide provides contain contains contained include includes indicate indicates describe describes give
    gives know known unknown unanswerable determine determined tell tells find found enough sufficient insufficient
    possible impossible cannot explicitly directly exactly clearly available able unable hold holds sure idea one out up
    lack lacks lacking relevant related relating required necessary needed need regarding concerning respond response
    query topic matter subject anything something nothing reference refer refers address addresses discuss discusses
    cover covers explain explains reveal reveals identify identifies addressed discussed covered explained afraid
    evidence enough reply clear unclear exact particular present included absent missing
    """
) | frozenset(
    "的了是在有和与或也都就而及着过把被对从到为以于其这那个之所它他她们我你您此该各每很更最还又再不没未无非并但却只仅可能会要"
    "应该请问题答案回文档章中本原里内上下全提及说明给出供写涉记载指包含描述介绍知道清楚法确定得判断根据信息内容相关具体"
    "抱歉起因由然如果虽尽管什么谁哪几多少怎吗呢何时样已经任直接足够"
)
"""Function words, and the words that refusals and questions are made of (Chinese: characters)."""

GUESS: Final = joined(
    (
        in_order(
            r"\b",
            one_of(
                "probably, perhaps, maybe, likely, possibly, i (?:think|guess|believe|suppose|assume), my guess",
                "might be, could be, presumably",
            ),
            r"\b",
        ),
        "可能是|大概|也许|或许|应该是|我猜|估计",
    )
)
OFFER: Final = joined(
    (
        in_order(
            r"\b",
            one_of(
                "please, let me know, feel free, if you (?:have|can|could|need|want|provide|share), would you like",
                "you (?:may|might|can|could) (?:want|check|consult|try|look|need), consult, refer to, other sources",
                "help you, further (?:information|context|details)",
                "more (?:information|context|details) (?:is|are|would|to)",
            ),
            r"\b",
        ),
        "请(?:提供|查阅|参考|告诉)|如果您|建议(?:您|查阅)|需要更多",
    )
)
CLAUSES: Final = re.compile(
    r"([,;:—–，；：、]|\b(?:but|because|since|as|while|although|though|whereas|however|so)\b"
    r"|\band (?=(?:does|did|do|is|are|has|gives|says|only|it|nothing|never|not|contains|names|mentions)\b)"
    r"|因为|由于|但是?|不过|而是|所以|因此)"
)
"""Where the clauses of a sentence part; the mark or conjunction is a group."""
MISSING: Final = joined(
    (
        in_order(
            r"\b",
            one_of(
                "say, state, mention, mentioned, specify, specified, name, named, give, given, tell, contain, include",
                "provide, provided, describe, record, recorded, information, details?, another, know, answer, answered",
            ),
            r"\b",
        ),
        "写|提|说|讲|给出|记载|交代|涉及|信息|内容|知道|回答|确定",
    )
)
"""Beside a negation: the clause says that something is missing."""
STARTS_ANEW: Final = joined(
    (
        r"^\s*(?:it|they|he|she|there|the \w+) (?:only |just )?(?:is|are|was|were|has|have|had|\w+s|\w+ed)\b",
        r"^\s*(?:only|just|names|mentions|says|gives|does)\b",
        "^(?:文档|文章|文中|原文|本文|它|只|仅|而|其)",
    )
)
"""A clause with a subject and a verb of its own, or that goes on with what the document does say."""
LIMITS: Final = joined(
    (
        r"\bonly (?:to|for|by|in|on|at|with|after|before|if|when|until|those|members?|persons?)\b|\bexcept\b",
        "只(?:能|有|在|限|借|给|对|供|向|许|准)|仅(?:限|供|对|有|能)|必须先|须先",
    )
)
"""Words that limit what the question takes as open."""
RELATIVE: Final = re.compile(
    r"\b(?:who|which|that|whoever|if|unless|when|where)\b(?: \w+){0,2}? ?(?:not|n't|never|cannot|no)\b"
    r"|(?:没有?|未|不)[^，。；]{1,8}的(?=[^，。；])"
)
"""A negation that only says who or what is meant ("tenants who do not pay")."""
SETS_RIGHT: Final = joined(
    (
        in_order(
            r"\b",
            one_of(
                "instead, rather, actually, in fact, only, merely, not .{1,60} but, but not, contrary, whereas",
                r"mistaken(?:ly)?, incorrect, wrong(?:ly)?, assum(?:es|ing|ption), presuppos\w+, suppos(?:es|ing)",
                "premise, no such, never",
            ),
            r"\b",
        ),
        r", not\b",
        "而是|而非|并非|不是|其实|实际上|只有|仅|只(?:提|写|说|在|有|能|借)|默认|假定|假设|前提|有误|错误|不存在",
    )
)
ATTRIBUTES: Final = joined(
    (
        in_order(
            r"\b",
            one_of(
                "document, passage, text, article, paragraph, section, story, author, report, lease, contract, law, it"
            ),
            " (?:only |just |merely |also |does )?",
            one_of(
                "says?, states?, mentions?, describes?, names?, gives?, lists?, speaks?, talks?, discuss(?:es)?",
                "notes?, tells?, explains?, refers?, lends?, sets?, provides?",
            ),
            r"\b",
        ),
        r"\baccording to the\b",
        in_order(
            "(?:文档|文章|文中|原文|本文|合同|法律|条例)[^，。；]{0,6}(?:只|仅)?",
            "(?:提到|提及|写|说|讲|介绍|描述|记载|规定|指出|提供|列)",
        ),
    )
)
PLAN: Final = joined(
    (
        r"^(?:let's|let us|let me|first|step \d|to (?:answer|find|determine)|i (?:need|will|have) (?:to )?|we need)\b",
        r"^the question (?:asks|is asking|is about)\b",
        "^(?:让我|首先|第一步|先|我需要|问题问|问题是问)",
    )
)
NEGATES: Final = re.compile(r"\b(?:not|no(?!\. ?\d)|never|cannot|none|neither)\b|n't\b|不|没|未|非|无")
CONTRASTS: Final = joined(
    (
        r",\s*(?:and )?not\b",
        r"\bnot\b.{1,80}\b(?:but|rather|instead)\b",
        r"\b(?:rather than|instead of|as opposed to)\b",
        "而不是|而非|并非|不是.{1,30}(?:而是|，是|,是)|不在.{1,30}(?:而在|，而)|应为|应当是",
    )
)
DENIES: Final = joined(
    (
        r"\bthere (?:is|was|were|are|'s) no\b",
        r"\bno such\b",
        r"\b(?:does|did|do)(?: not|n't) exist\b",
        r"\b(?:false|wrong|mistaken|incorrect) (?:premise|assumption)",
        in_order(
            r"\b(?:premise|assumption|question)\b.{0,30}\b(?:is|are) ",
            "(?:wrong|false|mistaken|incorrect|not (?:right|correct|true))",
        ),
        r"\bthe question (?:wrongly |mistakenly |incorrectly )?(?:assumes|presupposes|supposes)",
        "不存在|没有(?:这|该|此|所谓|第二)|前提(?:有误|错误|不成立|不对)|问题(?:有误|默认|假定|假设)",
    )
)
NEGATED: Final = re.compile(
    r"\b(?:not|never|no|cannot|nobody|none of)\b\W*((?:[\w'-]+\W*){1,4})"
    r"|n't\b\W*((?:[\w'-]+\W*){1,4})"
    r"|(?:没有|并未|并非|不得|不能|不可能?|不会|不曾|从未|未|没|无|不)([^，。；！？]{1,8})"
)
"""What a negation is about: the few words behind it."""
YES_NO: Final = re.compile(
    r"^(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would|should|may|might|must)\b|吗|是否|是不是|有没有"
)
