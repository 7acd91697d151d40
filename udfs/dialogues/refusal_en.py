"""How English replies refuse: patterns over one case-folded sentence with straight apostrophes and no quotations."""

from __future__ import annotations

from typing import Final

from udfs.dialogues.wording import in_order, one_of

_SOURCE: Final = (
    one_of(
        "document, passage, text, article, context, paragraph, excerpt, material, content, source, section, story",
        "report, information, provision, chapter, page, review, post, extract, snippet",
    )
    + "s?"
)
_WORK: Final = (
    one_of(
        "book, novel, law, statute, act, contract, lease, code, agreement, judgment, opinion, ruling, decision",
        "bylaw, by-law, regulation, letter, essay, chronicle, guide, notice, manual, record, register, rules",
    )
    + "s?"
)
"""What a document may be: what such a thing does not do is often the answer itself, so fewer verbs count."""
_WHICH: Final = (
    rf"\b(?:{one_of('the, this, that, your, our, provided, given, above, available, supplied, entire')} ){{1,4}}"
)
_THE_SOURCE: Final = rf"{_WHICH}{_SOURCE}\b"
_CORE: Final = (
    rf"{_WHICH}{one_of('document, passage, text, article, context, paragraph, excerpt, extract, snippet')}s?\b"
)
"""What can be nothing but the document that was shown: what it does not hold is never the answer."""
_ANY_SOURCE: Final = rf"{_WHICH}(?:{_SOURCE}|{_WORK})\b"
_ASIDE: Final = r"(?: (?:itself|provided|given|above|(?:that )?you (?:provided|gave(?: me)?)|about [\w ]{1,40}))?,?"
_ADVERB: Final = (
    "(?: "
    + one_of(
        "explicitly, directly, specifically, clearly, actually, currently, really, even, exactly, also, simply",
        "seem to, appear to",
    )
    + ")*"
)
_NOT: Final = rf"(?:(?:do|does|did|has|have|can|could)(?: not|n't)|cannot|never|nowhere|fails? to|failed to){_ADVERB}"
_INFORMATION: Final = one_of("information, details?, data, mention, indication, clue, answer")
_TELL: Final = (
    one_of(
        "say, state, mention, specify, provide, contain, include, indicate, give, describe, discuss, address, explain",
        "tell, reveal, disclose, name, list, identify, answer, offer, clarify, cover, detail, record, report, note",
        "refer to, speak of, talk about, elaborate, make (?:any )?mention, make (?:it )?clear, go into, touch on, hold",
        "states, says, mentions, specifies, gives",  # after "never"
        rf"have (?:(?:any|enough|sufficient|the|that|an?) )?(?:\w+ )?{_INFORMATION}",
    )
    + r"\b"
)
_CONTENT: Final = one_of(
    "information, details?, data, mention, indication, clause, provision, rule, statement, section"
)
_WORK_TELLS: Final = one_of(
    "say, state, mention, specify, indicate, name, give, date, record, tell us, address, discuss, define, describe",
    "explain, reveal, disclose, identify, deal with, speak of, refer to, go into, touch on, make (?:any )?reference",
    "make clear, clarify",
    rf"provide (?:any |us with )?{_INFORMATION}, (?:contain|include|hold) (?:any |an? )?(?:\w+ )?{_CONTENT}",
)
_TELLS: Final = one_of(
    "says?, states?, mentions?, contains?, gives?, names?, records?, tells?(?: us)?, reveals?, includes?, offers?",
    "indicates?, suggests?, explains?, provides?, holds?",
)
_TOLD: Final = one_of(
    "said, stated, mentioned, specified, provided, contained, included, indicated, given, described, discussed",
    "addressed, explained, told, revealed, disclosed, named, listed, identified, answered, covered, recorded, found",
    "available, present",
)
_ANSWERING: Final = one_of(
    "answer, determine, tell, say, know, conclude, infer, provide, find, identify, confirm, address, respond"
)
_RESULT: Final = r"(?!.*, so (?!.*(?:cannot|can't|unable|unknown|unclear|not know|question|answer)))"
"""What follows from a silence is what a text tells: "the rules name no limit, so members may …"."""
_QUESTION_WORD: Final = one_of("who, whom, whose, what, when, where, which, how, why, whether, if, that")
_UNABLE: Final = one_of(
    "do not, don't, did not, didn't, cannot, can't, can not, could not, couldn't, am not able to, am unable to",
    "'m unable to, 'm not able to, was unable to",
)
_CANNOT: Final = one_of("cannot, can't, can not, could not, couldn't")
_ENOUGH_FOR: Final = (
    rf"(?:\W*$| (?:\w+ ){{0,3}}?to {_ANSWERING}\b| {one_of('about, on, regarding, in, given, provided')}\b)"
)

_REPORTS: Final = in_order(
    r"\b",
    one_of(
        "says, states, mentions, contains, gives, names, records, tells, reveals, includes, indicates, suggests",
        "explains",
        "provides, shows, describes, discusses, according to, reads, requires, said, stated",
    ),
    r"\b",
)
"""What follows these is what the document says, negations and all."""
_ABSENT: Final = (
    r"\b(?:(?:do|does|is|are)(?: not|n't)|has (?:no|nothing)|have (?:no|nothing)|never|nowhere|cannot|can't"
    r"|lacks?|omits?|fails? to)\b"
)
_LEGAL_EFFECT: Final = (
    r"(?! (?:\w+ly )?(?:apply|allow|permit|require|need|expire|bind|take effect|lapse|count|have to|extend|exceed"
    r"|valid|binding|signed|dated|enough to)\b)"
)

STATEMENTS: Final = (
    # In general: the document that was shown, negated before it is said to say anything.
    rf"^(?:(?!{_REPORTS})[^.;])*?{_CORE}(?:(?!{_REPORTS}|, )[^.;])*?{_ABSENT}{_LEGAL_EFFECT}",
    # In general: something is not in the document that was shown.
    in_order(
        rf"^(?:(?!{_REPORTS})[^.;])*?",
        r"\b(?:(?:is|are|do|does)(?: not|n't)|'s not|no|none|nothing|never|nowhere|cannot|can't)\b",
        rf"(?:(?!{_REPORTS}|, )[^.;]){{1,80}} (?:in|from|within|of|by) {_CORE}(?: (?:that )?you \w+(?: me)?)?\W*$",
    ),
    rf"\b(?:outside|beyond) the (?:scope|range|subject|contents?) of {_ANY_SOURCE}",
    rf"{_ANY_SOURCE} (?:is|are)(?: not|n't) (?:explicit|clear|specific)\b",
    r"\b(?:is|are) left (?:unexplained|unsaid|unstated|unspecified|unclear|open)\W*$",
    rf"^none of the (?:{_SOURCE}) (?:\w+ )?{_TELL}",
    r"^(?:i|we)(?:'re| are|'m| am) not told\b",
    # the document does not mention …; the lease does not say …
    rf"{_THE_SOURCE}{_ASIDE} {_NOT} {_TELL}",
    rf"{_WHICH}{_WORK}\b {_NOT} {_WORK_TELLS}\b(?!.*\bbecause\b){_RESULT}",
    rf"\b(?:the|this) author (?:does not|doesn't|never){_ADVERB} {_TELL}(?!.*\bbecause\b)",
    # the passage describes X but does not say …; while it …, it does not say …; it gives X but not Y
    rf"{_THE_SOURCE} [^.;]{{1,160}}\b(?:but|and|though|although|however),? (?:it |they |he |she )?{_NOT} {_TELL}",
    rf"^(?:while|although|though|even though) .{{1,160}}, (?:it|they|there) {_NOT} {_TELL}",
    rf"{_THE_SOURCE} (?:only |just )?\w+s? [^.;]{{1,120}}\bbut not\b",
    rf"{_CORE} (?:only|just) \w+s? [^.;]{{1,120}}, (?:and )?not\b",
    rf"{_THE_SOURCE} [^.;]{{1,160}}\b(?:but|and|yet),? (?:it )?{_TELLS} (?:nothing|no {_INFORMATION})\b",
    in_order(
        rf"{_ANY_SOURCE} [^.;]{{1,160}}\b(?:but|yet|although|though) ",
        rf"[^.;,]{{1,60}} (?:is|are|was|were) (?:not|never|n't) {_TOLD}",
    ),
    rf"{_CORE} (?:omits?|leaves? (?:out|open)|leaves? [^.;]{{1,80}} (?:out|open|unsaid|unnamed|unstated|unclear))\b",
    # the question asks for X, which the judgment does not give
    rf"^the question asks\b.{{1,160}}\b(?:which|but|and) {_ANY_SOURCE} {_NOT} {_TELL}",
    # the document says nothing about …; nothing in the text …; it is silent
    rf"{_WHICH}(?:{_SOURCE}|{_WORK})\b {_TELLS} nothing\b(?! (?:may|can|shall|must|should|will|is|was|could)\b)",
    rf"{_CORE} {_TELLS} no\b(?! (?:more|less|longer)\b)",
    rf"{_ANY_SOURCE} {_TELLS} no (?:\w+ )?{_INFORMATION}\b",
    rf"{_ANY_SOURCE} makes? no (?:mention|reference|allusion)\b",
    rf"\bnothing (?:else )?in {_ANY_SOURCE},? (?:{_TELLS}|about|on|addresses|answers)\b",
    rf"^(?:there(?:'s| is| was)|i (?:can |could )?(?:find|found|see|saw)) nothing\b.*(?:{_ANY_SOURCE}|\bhere\b)",
    r"^nothing (?:\w+ )?(?:is|has been) (?:said|mentioned|stated|written|given|specified|recorded)\b",
    rf"^nothing here {_TELLS}\b",
    rf"{_ANY_SOURCE} (?:is|are|remains?) silent\b",
    rf"^nowhere in {_ANY_SOURCE} (?:is|are|does|do|was|were|has|have)\b",
    rf"\b(?:is|was) (?:not|never) (?:something|anything|a (?:topic|matter|point)) (?:that )?{_ANY_SOURCE}",
    # it does not say …, as a sentence of its own
    rf"^(?:(?:however|but|unfortunately|sorry|yet),? )*it {_NOT} {_WORK_TELLS}\b",
    # … is not mentioned (in the text); neither … nor … is mentioned; not specified
    rf"\b(?:not|n't|never|nowhere){_ADVERB} {_TOLD}{_ADVERB} (?:anywhere|here|(?:in|by|within|from) {_THE_SOURCE})",
    rf"\bnot {_TOLD} (?:\w+ ){{1,8}}in {_CORE}",
    in_order(
        rf"^(?!because\b|since\b)(?!.*, (?:who|which|whose)\b).*\b(?:not|n't|never){_ADVERB} ",
        one_of("mentioned, specified, stated, indicated, given, named, recorded, identified, described, explained"),
        rf"{_ADVERB} (?:anywhere )?(?:in|by) {_WHICH}{_WORK}\b{_RESULT}",
    ),
    in_order(
        "^(?:that|this|such an?) ",
        one_of("detail, information, question, point, topic, matter, subject, fact, rule"),
        rf" (?:(?:is|was)(?: not|n't) {_TOLD}|(?:does not|doesn't) appear in)\b",
    ),
    rf"\bneither\b.{{1,80}}\b(?:is|are|was|were) {_TOLD}\b",
    in_order(
        r"\b(?:is|are|was|were)(?: not|n't)(?: \w+ly)? ",
        one_of("mentioned, specified, stated, provided, indicated, given, identified, disclosed, revealed"),
        r"\W*$",
    ),
    rf"^(?:not|never|nowhere)(?: \w+ly)? {_TOLD}\b",
    # it is unclear who …; it is not stated when …
    in_order(
        r"^(?:it is|it's|it remains|it) (?:unclear|unknown|not (?:\w+ly )?",
        one_of("clear, known, stated, specified, mentioned, said, given, explained"),
        rf")(?: (?:from|in|by) {_THE_SOURCE})?(?:\W*$| {_QUESTION_WORD}\b)",
    ),
    r"^it isn't (?:\w+ly )?(?:specified|stated|mentioned|clear|said|known)\b",
    # the question assumes X, but the document only has Y
    in_order(
        rf"^the question {one_of('asks, assumes, supposes, presumes, refers, takes, presupposes')}\b.{{1,160}}",
        rf"\bbut {_THE_SOURCE}",
    ),
    # there is no information about …; no mention of … in the text; no second bridge is mentioned
    in_order(
        rf"\bthere(?:'s| is| was| are| were) no (?:\w+ )?{_INFORMATION}",
        r"(?:\W*$| ",
        one_of("about, on, of, in, given, provided, available, regarding, as to, here, concerning, for this"),
        r"\b)",
    ),
    in_order(
        rf"{_THE_SOURCE} {one_of('has, have, contains?, provides?, gives?, offers?, includes?, makes?, holds?')} no ",
        rf"(?:\w+ )?{_INFORMATION}\b",
    ),
    r"^no (?:mention|reference) (?:is|was|has been) made\b",
    r"^no (?:such )?[\w' -]{1,60} (?:is|are) (?:mentioned|named|described)\W*$",
    rf"^there(?:'s| is| are) no (?:record|trace|hint|sign) in {_ANY_SOURCE}",
    rf"^no (?:\w+ )?{_INFORMATION}\b(?:\W*$| (?:\w+ ){{0,12}}?(?:{_TOLD}|{_SOURCE})\b)",
    in_order(
        r"^(?:there (?:is|was|are|were) )?no [\w' -]{1,60} (?:(?:is|are|was|were) )?",
        rf"{one_of('mentioned, described, named, listed')} (?:in|by) {_THE_SOURCE}",
    ),
)
"""Say that something is not in the document. They refuse only while nothing has been answered yet: after an answer
they are a caveat."""

WHOLE: Final = (
    # I don't know; I cannot answer; I couldn't find any …; I am not sure
    in_order(
        r"(?:^|[,;:] |\b(?:so|but|and|that|sorry|therefore|thus|hence) )(?:i|we) ?",
        rf"{_UNABLE}(?: \w+ly)? ",
        one_of(
            "know, answer, determine, tell, say, find (?:the|an|any|that|this|it), provide, give, see any",
            "have (?:enough|any|sufficient|that|the|access)",
        ),
        r"\b",
    ),
    r"(?:^|[,;:] )(?:i|we)(?:'m| am|'re| are) not (?:\w+ )?(?:sure|certain)\b",
    rf"(?:^|[,;:] )(?:i|we) have no (?:idea|way of knowing|{_INFORMATION})\b",
    r"^(?:do not|don't) know\b",
    # the question cannot be answered; this cannot be determined from the text; it is impossible to say
    in_order(
        rf"\b(?:question|answer)s?\b[\w ,'-]{{0,60}}? {_CANNOT} be (?:\w+ly )?",
        rf"{one_of('answered, determined, found, given, known, established, inferred')}\b",
    ),
    in_order(
        rf"\b{_CANNOT} be (?:\w+ly )?{one_of('answered, determined, found, told, inferred, established, known')}",
        rf" (?:\w+ )?{one_of('from, by, in, with, on, based, using, given')} (?:[\w ]+ )?(?:{_SOURCE}|{_WORK})\b",
    ),
    r"^(?:it|this|that) (?:cannot|can't) be (?:answered|determined)\b",
    in_order(
        rf"^(?:based (?:up)?on|from|given|according to|going by) {_THE_SOURCE}[^.;]{{0,30}},? ",
        rf"(?:it (?:is|was) (?:\w+ )?(?:impossible|not possible) to|(?:one|we|you|i) {_CANNOT}) {_ANSWERING}\b",
    ),
    rf"^(?:it|there) is (?:\w+ )?(?:impossible|not possible|no way) to {_ANSWERING}\b",
    rf"^(?:i|we) .{{0,80}}\b(?:found|find|see) (?:nothing|no {_INFORMATION})\b",
    rf"\b(?:impossible|not possible|no way) to (?:answer|determine|tell|say|know)\b(?=.*(?:{_SOURCE}|question)|\W*$)",
    r"\b(?:question|it|this) (?:is|was|remains|seems) (?:unanswerable|not answerable|left unanswered)\b",
    r"^unanswerable\b",
    # bare words for it
    in_order(
        r"^(?:it is |it's |the answer is |this is )?",
        one_of("unknown, unspecified, not known, not answerable, undetermined, not provided"),
        r"\W*$",
    ),
    r"^(?:n/a|cannot (?:be )?(?:answer|determine|say|tell)\w*|can't (?:answer|say|tell))\b",
    # not enough information (to answer)
    in_order(
        r"\b(?:not|n't)(?: \w+ly)? (?:(?:have|provide|contain|give|include|offer|hold) )?",
        rf"(?:enough|sufficient|adequate) (?:\w+ )?(?:information|details?|data|context)\b{_ENOUGH_FOR}",
    ),
    in_order(
        r"^there (?:is not|isn't|was not|wasn't) (?:enough|sufficient) (?:\w+ ){1,4}?to (?:answer|respond)\b",
        r".*\b(?:this|that|the|your) (?:question|query)|^i (?:do not|don't) have (?:enough|sufficient) evidence\b",
    ),
    rf"\binsufficient (?:information|details?|data|context)\b{_ENOUGH_FOR}",
    rf"{_THE_SOURCE} (?:lacks?|is lacking) ",
    # the answer is not in the document
    in_order(
        r"\b(?:answer|information|detail)s?\b[\w ,']{0,50} (?:is|are|was|were)(?: not|n't)(?: \w+ly)? ",
        one_of("in, given, provided, found, available, mentioned, stated, contained, present, included, specified"),
        rf"\b(?=\W*$|.*\b{_SOURCE}\b)",
    ),
)
"""Say that the question as a whole has no answer here: they refuse wherever they stand."""

LEAD_IN: Final = (
    rf"^(?:(?:i'm|i am) (?:afraid|sorry)(?: but| that)?,? |no, )?"
    rf"(?:{one_of('based (?:up)?on, according to, from, in, given, going by')} "
    rf"(?:what is (?:said|written) in )?{_THE_SOURCE}[^,.;]{{0,30}}, ?)?"
)
"""What may stand before a sentence proper."""

ABOUT: Final = (
    rf"^(?:while |although |though )?{_THE_SOURCE},? (?:only |just |merely |mainly |does )?"
    + one_of(
        "says?, states?, mentions?, describes?, discuss(?:es)?, talks?, speaks?, refers?, focus(?:es)?, provides?",
        "gives?, covers?, deals?, explains?, notes?, tells?, contains?, includes?, lists?, names?, concerns?",
        "is (?:about|mainly|primarily|only)",
    )
    + r"\b"
)
"""A sentence that only says what the document is about."""

CONCLUSION: Final = r"^(?:so|therefore|thus|hence|in conclusion|overall|the answer is)\b"
PREAMBLE: Final = (
    "^"
    + one_of(
        "sure, okay, ok, certainly, of course, well, let's, let us, let me, i'm sorry, i am sorry, sorry",
        "i apologi[sz]e, unfortunately, thank you, thanks, good question, great question",
    )
    + r"\b[^.,]{0,60}[.!,:]?$"
)
"""A sentence that says nothing yet."""
DOUBT: Final = (
    rf"^(?:if|at first)\b|^because\b(?!.*{_CORE})|\b(?:seems? that|might (?:seem|look)|one (?:might|could) think)\b"
)
"""A sentence that does not stand by what it says."""
