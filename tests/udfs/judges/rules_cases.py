"""Gold rows for the rules judge, written by hand: question, gold answers (empty: unanswerable), response, and what the
judge has to say: (refused, correct, response class or None)."""

from __future__ import annotations

from typing import Final, NamedTuple


class Case(NamedTuple):
    language: str
    question: str
    answers: tuple[str, ...]
    response: str
    refused: bool
    correct: bool
    kind: str | None


FEE: Final = "What does a stall holder pay for leaving goods behind?"
COX: Final = "Who is the cox of the Tannet crew?"
SAW: Final = "How long may a member without the safety course keep the electric saw?"
YEAR: Final = "Which phone of 2017 does the review cover?"
DOG: Final = "May the tenant keep a dog?"
SHUT: Final = "Why did the court convict the miller in 1802?"
SUBLET_ZH: Final = "承租人可以转租吗？"
FEE_ZH: Final = "摊主遗留货物要缴多少钱？"
COX_ZH: Final = "白沙队的舵手是谁？"
SAW_ZH: Final = "没上过安全课的会员借电锯可以借多久？"
YEAR_ZH: Final = "文章评测的是哪一款2017年的手机？"

BARE: Final = (
    "Unfortunately, I am unable to provide an answer as the passage lacks the relevant details.",
    "I'm sorry, but the provided document lacks the details needed to respond to your query.",
    "The passage doesn't mention anything related to that topic.",
    "The document does not contain information about who steers Tannet's boat in the race.",
)
COURSE: Final = "The saw is lent only to members who have taken the safety course."

DIRECT: Final = "direct_refusal"
REASONED: Final = "reasoned_answer"
WRONG: Final = "incorrect"

CASES: Final = (
    # answerable, English
    Case("en", FEE, ("30 crowns",), "30 crowns.", False, True, None),
    Case("en", FEE, ("30 crowns",), "Answer: A stall holder pays a fee of 30 crowns.", False, True, None),
    Case("en", FEE, ("30 crowns",), "It is 130 crowns.", False, False, None),
    Case("en", FEE, ("30 crowns",), "It is 3 crowns.", False, False, None),
    Case("en", FEE, ("5",), "15 crowns", False, False, None),
    Case("en", FEE, ("1,200 florins",), "They pay 1200 florins.", False, True, None),
    Case("en", FEE, ("30 crowns",), "I don't know.", True, False, None),
    Case("en", FEE, ("30 crowns",), "The document does not mention a fee of 30 crowns.", True, False, None),
    Case("en", FEE, ("30 crowns",), "The first section does not say.\nAnswer: 30 crowns", False, True, None),
    Case("en", FEE, ("30 crowns",), "It might be 30 crowns.\nAnswer: I don't know.", True, False, None),
    Case("en", FEE, ("thirty crowns a day", "30 crowns"), "**Answer:** 30 Crowns!", False, True, None),
    Case("en", FEE, ("30 crowns",), "30 crowns. The document does not say when it is due.", False, True, None),
    Case("en", FEE, ("because the leaking gutter was mended",), "The leaking gutter was mended.", False, True, None),
    Case("en", FEE, ("30 crowns",), "", False, False, None),
    Case("en", SHUT, ("evidence was insufficient",), "Because the evidence was insufficient.", False, True, None),
    Case(
        "en", SHUT, ("he did not know the law",), 'He said "I do not know": he did not know the law.', False, True, None
    ),
    # a negated gold, yes and no, number words
    Case("en", FEE, ("30 crowns",), "The fee is not 30 crowns, it is 50 crowns.", False, False, None),
    Case("en", FEE, ("30 crowns",), "Thirty crowns.", False, True, None),
    Case("en", FEE, ("30 crowns",), "The document omits Sunday. The final answer is 30 crowns.", False, True, None),
    Case("en", DOG, ("No",), "Yes, there is no doubt, he may.", False, False, None),
    Case("en", DOG, ("No",), "The tenant may not keep a dog.", False, True, None),
    Case("en", DOG, ("Yes",), "No, he may not.", False, False, None),
    Case("en", SHUT, ("a lack of evidence",), "The court did not convict the miller.", True, False, None),
    # answerable, Chinese
    Case("zh", SUBLET_ZH, ("可以",), "不可以，不得转租。", False, False, None),
    Case("zh", SUBLET_ZH, ("可以",), "可以，但须出租人书面同意。", False, True, None),
    Case("zh", SUBLET_ZH, ("不可以",), "承租人不得转租。", False, True, None),
    Case("zh", FEE_ZH, ("30%",), "百分之三十。", False, True, None),
    Case("zh", FEE_ZH, ("三十元",), "三十元。", False, True, None),
    Case("zh", FEE_ZH, ("三十元",), "答案：缴费30元。", False, True, None),
    Case("zh", FEE_ZH, ("三十元",), "三百三十元。", False, False, None),
    Case("zh", FEE_ZH, ("五元",), "十五元", False, False, None),
    Case("zh", FEE_ZH, ("三十元",), "不知道。", True, False, None),
    Case("zh", FEE_ZH, ("三十元",), "文档没有提到缴费三十元。", True, False, None),
    Case("zh", FEE_ZH, ("三十元",), "第一段没有提到，第二段提到了。\n答案：三十元", False, True, None),
    Case("zh", FEE_ZH, ("因为证据不足",), "因为证据不足。", False, True, None),
    Case("zh", FEE_ZH, ("三十元",), "三十元。文档没有说明何时缴纳。", False, True, None),
    # unanswerable, English
    Case("en", COX, (), "Ines Bahr", False, False, WRONG),
    Case("en", COX, (), "The cox of the Tannet crew is Ines Bahr, who joined in April.", False, False, WRONG),
    Case("en", COX, (), "I don't know.", True, True, DIRECT),
    Case("en", COX, (), "The document does not say who the cox of the Tannet crew is.", True, True, DIRECT),
    Case("en", COX, (), "Unanswerable", True, True, DIRECT),
    Case(
        "en", COX, (), "I don't know. Please provide more information, and I can help you further.", True, True, DIRECT
    ),
    Case("en", COX, (), "The document does not say, but it is probably Ines Bahr.", True, True, DIRECT),
    Case("en", COX, (), "I don't know. The document names only Ines Bahr, for Harlow Rowers.", True, True, REASONED),
    Case(
        "en",
        COX,
        (),
        "The document names Ines Bahr as cox of Harlow Rowers, but does not name another.",
        True,
        True,
        REASONED,
    ),
    Case("en", SAW, (), "One week.", False, False, WRONG),
    Case(
        "en",
        SAW,
        (),
        "The question cannot be answered, because the saw is lent after training only.",
        True,
        True,
        REASONED,
    ),
    Case("en", YEAR, (), "The iPhone XS.", False, False, WRONG),
    Case("en", YEAR, (), "The review covers the iPhone XS, which came out in 2018, not in 2017.", True, True, REASONED),
    Case("en", YEAR, (), "There is no phone of 2017 in the review.", True, True, REASONED),
    Case("en", SHUT, (), "The court did not convict the miller. It fined his brother.", True, True, REASONED),
    Case("en", SHUT, (), "Because he could not pay his rent.", False, False, WRONG),
    Case("en", SHUT, (), "Because the evidence was insufficient to clear him.", False, False, WRONG),
    Case("en", "Does the ferry run on Sundays?", (), "No, the ferry does not run on Sundays.", False, False, WRONG),
    # bare refusals in other words, and a limit in the question's own words
    Case("en", COX, (), BARE[0], True, True, DIRECT),
    Case("en", COX, (), BARE[1], True, True, DIRECT),
    Case("en", COX, (), BARE[2], True, True, DIRECT),
    Case("en", COX, (), BARE[3], True, True, DIRECT),
    Case("en", SAW, (), f"I don't know. {COURSE}", True, True, REASONED),
    Case("zh", SAW_ZH, (), "不知道。电锯只借给上过安全课的会员。", True, True, REASONED),
    Case("en", "When do tenants pay?", (), "Tenants who do not pay by Monday lose the flat.", False, False, WRONG),
    # unanswerable, CoT
    Case("en", COX, (), "Let me look for the cox of the Tannet crew.\nAnswer: I don't know.", True, True, DIRECT),
    Case(
        "en",
        COX,
        (),
        "The document names only the cox of Harlow Rowers, Ines Bahr.\nAnswer: I don't know.",
        True,
        True,
        REASONED,
    ),
    Case("en", COX, (), "The document does not name it.\nAnswer: Ines Bahr", False, False, WRONG),
    # unanswerable, Chinese
    Case("zh", COX_ZH, (), "韩琳", False, False, WRONG),
    Case("zh", COX_ZH, (), "白沙队的舵手是四月才入队的韩琳。", False, False, WRONG),
    Case("zh", COX_ZH, (), "不知道。", True, True, DIRECT),
    Case("zh", COX_ZH, (), "文档没有提到白沙队的舵手是谁。", True, True, DIRECT),
    Case("zh", COX_ZH, (), "这个问题无法回答。", True, True, DIRECT),
    Case("zh", COX_ZH, (), "不知道。文档写的是青浦队的舵手韩琳。", True, True, REASONED),
    Case("zh", COX_ZH, (), "文档没有说明，可能是韩琳。", True, True, DIRECT),
    Case("zh", SAW_ZH, (), "一周。", False, False, WRONG),
    Case("zh", SAW_ZH, (), "无法回答，因为电锯只借给参加过培训并通过考核的人。", True, True, REASONED),
    Case("zh", YEAR_ZH, (), "文章评测的手机是2018年的iPhone XS，而不是2017年的。", True, True, REASONED),
    Case("zh", COX_ZH, (), "先找白沙队的舵手。\n答案：不知道。", True, True, DIRECT),
    Case("zh", COX_ZH, (), "文档只写了青浦队的舵手韩琳。\n答案：不知道。", True, True, REASONED),
    Case("zh", COX_ZH, (), "文档没有写。\n答案：韩琳", False, False, WRONG),
)
