"""Turn-2 replies and the question that is to be cut out of them: (language, original, reply, expected)."""

from __future__ import annotations

from typing import Final

EN: Final = "Who is the cox of the Tannet crew?"
ZH: Final = "白沙队的舵手是谁？"
NEW_EN: Final = "Who is the cox of the Harlow Rowers crew?"
NEW_ZH: Final = "青浦队的舵手是谁？"

CASES: Final[tuple[tuple[str, str, str, str | None], ...]] = (
    ("en", EN, f"New question: {NEW_EN}", NEW_EN),
    ("en", EN, f"**New question:** {NEW_EN}", NEW_EN),
    ("en", EN, f"**New question: {NEW_EN}**", NEW_EN),
    ("en", EN, f'New question: "{NEW_EN}"', NEW_EN),
    ("en", EN, f"New question: “{NEW_EN}”", NEW_EN),
    ("en", EN, f"New question:\n{NEW_EN}", NEW_EN),
    ("en", EN, f"New question:\n\n> *{NEW_EN}*", NEW_EN),
    ("en", EN, f"new question: {NEW_EN} This one is answered by the first sentence.", NEW_EN),
    ("en", EN, f"The document names one cox.\nI replace Tannet.\nNew question: {NEW_EN}", NEW_EN),
    ("en", EN, f"New question: Who is the cox?\nBetter:\nNew question: {NEW_EN}", NEW_EN),
    ("en", EN, "New question: Who is the cox of the Harlow Rowers crew", NEW_EN),
    ("en", EN, "New question: Who is the cox of the Harlow Rowers crew.", NEW_EN),
    ("en", EN, f"Question: {EN}\nNew question: {NEW_EN}", NEW_EN),
    ("en", EN, f"Original question: {EN}\nRevised question: {NEW_EN}", NEW_EN),
    ("en", EN, f"The reformulated question is: {NEW_EN}", NEW_EN),
    ("en", EN, f"Here is the modified question: {NEW_EN}", NEW_EN),
    ("en", EN, f"Sure! {NEW_EN}", NEW_EN),
    ("en", EN, NEW_EN, NEW_EN),
    ("en", EN, f"1. {NEW_EN}", NEW_EN),
    ("en", EN, f"Question: {NEW_EN}", NEW_EN),
    ("en", EN, f'You could ask "{NEW_EN}" instead of "{EN}"', NEW_EN),
    ("en", EN, f'You could change "{EN}" to "{NEW_EN}" since the document names her.', NEW_EN),
    ("en", EN, f"{NEW_EN}\nWould you like to know anything else?", NEW_EN),
    ("en", EN, f"What is missing? The name. So I would ask: {NEW_EN}", f"{NEW_EN}"),
    ("en", EN, f"New question: {EN}", EN),
    ("en", EN, EN, EN),
    ("en", EN, "I cannot change this question.", None),
    ("en", EN, "New question: I cannot change it.", None),
    ("en", EN, "Ines Bahr", None),
    ("en", EN, "", None),
    ("en", EN, "?", None),
    ("en", EN, "What's the captain's name?", "What's the captain's name?"),
    ("zh", ZH, f"新问题：{NEW_ZH}", NEW_ZH),
    ("zh", ZH, f"新问题: {NEW_ZH}", NEW_ZH),
    ("zh", ZH, f"**新问题：** {NEW_ZH}", NEW_ZH),
    ("zh", ZH, f"新问题：“{NEW_ZH}”", NEW_ZH),
    ("zh", ZH, f"文档写了青浦队的舵手，把白沙队换成青浦队。\n新问题：{NEW_ZH}", NEW_ZH),
    ("zh", ZH, "新问题：青浦队的舵手是谁", NEW_ZH),
    ("zh", ZH, "新问题：青浦队的舵手是谁?", "青浦队的舵手是谁?"),
    ("zh", ZH, f"修改后的问题：{NEW_ZH}", NEW_ZH),
    ("zh", ZH, f"改写后的问题是：「{NEW_ZH}」", NEW_ZH),
    ("zh", ZH, f"可以把“{ZH}”改为“{NEW_ZH}”。", NEW_ZH),
    ("zh", ZH, f"好的。{NEW_ZH}", NEW_ZH),
    ("zh", ZH, f"{NEW_ZH}您还需要别的帮助吗？", NEW_ZH),
    ("zh", ZH, f"问题：{NEW_ZH}", NEW_ZH),
    ("zh", ZH, "无法改写。", None),
    # a colon or a quoted mark inside the question
    ("en", EN, "New question: What is the 10:30 train called?", "What is the 10:30 train called?"),
    ("en", EN, "New question: What is the ratio 3:2 called?", "What is the ratio 3:2 called?"),
    ("en", EN, "New question: What is asked in part two: the fee?", "What is asked in part two: the fee?"),
    ("en", EN, "What is the 10:30 train called?", "What is the 10:30 train called?"),
    ("en", EN, 'New question: Who said "why?" in chapter two?', 'Who said "why?" in chapter two?'),
    ("en", EN, 'Who said "why?" in chapter two?', 'Who said "why?" in chapter two?'),
    ("zh", ZH, "新问题：会议时间为：几点？", "会议时间为：几点？"),
    ("zh", ZH, "新问题：谁在第二章说“为什么？”？", "谁在第二章说“为什么？”？"),
    # the model runs on into an invented example
    ("en", EN, f"New question: {NEW_EN}\n\nExample 2\nQuestion: How high?\nNew question: How wide?", NEW_EN),
    ("en", EN, f"New question: {NEW_EN}\n\nQuestion: How high?\nNew question: How wide?", NEW_EN),
    ("en", EN, f"**New question:**\nQuestion: {NEW_EN}", NEW_EN),
    ("zh", ZH, f"新问题：{NEW_ZH}\n\n示例二\n问题：多高？\n新问题：多宽？", NEW_ZH),
    ("zh", ZH, f"新问题：{NEW_ZH}\n问题：多高？\n新问题：多宽？", NEW_ZH),
    ("zh", ZH, f"New question: {NEW_ZH}", NEW_ZH),
)

COULDASK: Final[tuple[tuple[str, str | None], ...]] = (
    (f"New question: {NEW_EN}", NEW_EN),
    (f'New question: "{NEW_EN}"', NEW_EN),
    (f"{NEW_EN} It is answered.", NEW_EN),
    (f"{NEW_EN}\nSecond line?", NEW_EN),
    (f'Change "{EN}" to "{NEW_EN}" please', NEW_EN),
    (f"New question: {NEW_EN}\nNote: it is close.", None),
    ("No question here.", None),
    ("", None),
)
