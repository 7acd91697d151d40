"""Responses to unanswerable questions and CouldAsk's scores of them, worked out by hand from its rules.

Each case: what the model said in turn 1 and, where turn 1 holds one of the nine phrases, in turn 2; then what the
classifier and the tagger say of the question that is cut out; then the scores expected.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

QUESTION: Final = "When did Ana Rook open the Blue Mill?"  # 8 words
ENTITIES: Final = ("Ana Rook", "Blue Mill")
TURN_1: Final = "I don't know."
NEW: Final = "When did Ana Rook buy the Blue Mill?"  # one word exchanged
BOTH: Final = ("Ana Rook", "Blue Mill")


@dataclass(frozen=True)
class Case:
    name: str
    turn_1: str = TURN_1
    turn_2: str = NEW
    answerable: bool = True
    new_entities: tuple[str, ...] = BOTH
    entities: tuple[str, ...] = ENTITIES
    question: str = QUESTION
    detected: bool = True
    cut: str | None = NEW
    scored_answerable: bool = True
    overlap: float | None = 1.0
    distance: int = 1
    at_least: bool | None = True
    more_than: bool | None = True


def undetected(name: str, turn_1: str) -> Case:
    """Turn 1 holds none of the nine phrases: there is no turn 2, and all scores are 0."""
    return Case(
        name,
        turn_1=turn_1,
        detected=False,
        cut=None,
        scored_answerable=False,
        overlap=0.0,
        distance=0,
        at_least=False,
        more_than=False,
    )


def no_question(name: str, turn_2: str, distance: int) -> Case:
    """No “?” is left in the cut: all but the edit distance is 0."""
    return Case(
        name,
        turn_2=turn_2,
        cut=None,
        scored_answerable=False,
        overlap=0.0,
        distance=distance,
        at_least=False,
        more_than=False,
    )


def overlapping(
    name: str, entities: tuple[str, ...], new: tuple[str, ...], overlap: float | None, passes: tuple[bool | None, ...]
) -> Case:
    return Case(name, entities=entities, new_entities=new, overlap=overlap, at_least=passes[0], more_than=passes[1])


CASES: Final = (
    # turn 1: the nine phrases, case-sensitive, anywhere
    Case("straight apostrophe", turn_1="Sorry, I don't know that."),
    Case("curly apostrophe", turn_1="Sorry, I don’t know that."),
    Case("no information", turn_1="There is no information on it."),
    Case("passage does not", turn_1="The passage does not say."),
    Case("passage did not", turn_1="The passage did not say."),
    Case("passage doesn't", turn_1="The passage doesn't say."),
    Case("article does not", turn_1="The article does not say."),
    Case("article did not", turn_1="The article did not say."),
    Case("article doesn't", turn_1="The article doesn't say."),
    Case("phrase beside an answer", turn_1="In 1902, but I don't know who paid."),
    Case("phrase of a person in the text", turn_1="Ana said they don't know him."),
    undetected("do not know", "I do not know."),
    undetected("article didn't", "The article didn't say."),
    undetected("passage didn't", "The passage didn't say."),
    undetected("curly doesn’t", "The passage doesn’t say."),
    undetected("capital passage", "Passage Does Not say."),
    undetected("capital start", "No information is given."),
    undetected("document", "The document does not say."),
    undetected("two spaces", "The passage  does not say."),
    undetected("an answer", "In 1902."),
    undetected("nothing", ""),
    undetected("Chinese", "文章没有提到。"),
    # turn 2: the cut
    Case("label", turn_2=f"New question: {NEW}"),
    Case("label and quotes", turn_2=f'New question: "{NEW}"'),
    Case("label on its own line", turn_2=f"New question:\n{NEW}"),
    Case("two labels, the last counts", turn_2=f"Reason: it is not said. New question: {NEW}"),
    Case("white space around", turn_2=f"\n  {NEW}  \n"),
    Case("words behind the mark count in the distance only", turn_2=f"{NEW} It is said.", distance=4),
    Case("second line is left out", turn_2=f"{NEW}\nWhy this one?"),
    Case("two questions, the first counts", turn_2=f"{NEW} Who paid?", distance=3),
    Case("four quotes, the second pair counts", turn_2=f'Change "{QUESTION}" to "{NEW}" please.'),
    Case(  # the label takes the quotes away, so the first question is cut out: 10 words too many
        "four quotes behind a label are none",
        turn_2=f'New question: change "{QUESTION}" to "{NEW}"',
        cut=f"change {QUESTION}",
        distance=10,
    ),
    Case(  # 5 words too many; three have another or a quote on them
        "six quotes are not four",
        turn_2=f'Of "Ana" and "Rook" ask "{NEW}"',
        cut=f'Of "Ana" and "Rook" ask "{NEW}',
        distance=8,
    ),
    Case(  # 11 words too many, and quotes on two
        "four curly quotes are none",
        turn_2=f"Change “{QUESTION}” to “{NEW}” please.",
        cut=f"Change “{QUESTION}",
        distance=13,
    ),
    Case(  # the quote opens the first and closes the last word: 2 words beside the exchanged one
        "two quotes stay where no colon stands",
        turn_2=f'"{NEW}"',
        cut=f'"{NEW}',
        distance=3,
    ),
    Case(
        "a colon in the question cuts it",
        turn_2="When did Ana Rook: the Elder open the Blue Mill?",
        cut="the Elder open the Blue Mill?",
        distance=4,  # two of the first four words exchanged, two gone
    ),
    Case(
        "colon without a space is none",
        turn_2="When did Ana Rook open the Blue Mill at 10:30?",
        cut="When did Ana Rook open the Blue Mill at 10:30?",
        distance=3,
    ),
    Case("identity", turn_2=QUESTION, cut=QUESTION, distance=0),
    Case(
        "case counts in the distance",
        turn_2="when did ana rook open the blue mill?",
        cut="when did ana rook open the blue mill?",
        distance=5,
    ),
    Case(
        "two spaces have an empty word between them",
        turn_2=QUESTION.replace("Ana Rook", "Ana  Rook"),
        cut=QUESTION.replace("Ana Rook", "Ana  Rook"),
        distance=1,
    ),
    Case(
        "a space before the mark goes from the cut", turn_2="When did Ana Rook buy the Blue Mill ?", cut=NEW, distance=3
    ),  # open → buy, Mill? → Mill, and “?” came
    no_question("no mark", "When did Ana Rook open the Blue Mill", 1),
    no_question("full-width mark", "When did Ana Rook open the Blue Mill？", 1),
    no_question("apology", "I am sorry.", 8),
    no_question("note behind a colon", f"New question: {NEW}\nNote: it is close.", 8),
    no_question("mark on the second line only", f"Here it is\n{NEW}", 8),
    no_question("nothing but a label", "New question: \n", 8),
    # entities
    overlapping("one of two is 0.5", ENTITIES, ("Ana Rook",), 0.5, (True, False)),
    overlapping("two of three", (*ENTITIES, "1902"), BOTH, 2 / 3, (True, True)),
    overlapping("one of three", (*ENTITIES, "1902"), ("1902",), 1 / 3, (False, False)),
    overlapping("none", ENTITIES, ("mill",), 0.0, (False, False)),
    overlapping("new list empty", ENTITIES, (), 0.0, (False, False)),
    overlapping("case does not count", ENTITIES, ("ana rook", "BLUE MILL"), 1.0, (True, True)),
    overlapping("a part does not match", ENTITIES, ("Rook", "the Blue Mill"), 0.0, (False, False)),
    overlapping("a plural does not match", ("mill", "rook"), ("mills", "rooks"), 0.0, (False, False)),
    overlapping("white space counts", ("Ana Rook ", "Blue Mill"), BOTH, 0.5, (True, False)),
    overlapping("more new ones change nothing", ENTITIES, (*BOTH, "1902", "weir"), 1.0, (True, True)),
    overlapping("original list empty", (), BOTH, None, (None, None)),
    overlapping("both lists empty", (), (), None, (None, None)),
    overlapping("new one twice counts twice", ("mill", "rook", "weir", "quay"), ("mill", "mill"), 0.5, (True, False)),
    overlapping("original one twice divides by two", ("mill", "mill"), ("mill",), 0.5, (True, False)),
    overlapping("more than 1", ("mill",), ("mill", "Mill"), 2.0, (True, True)),
    Case("relevant but not answerable", answerable=False, scored_answerable=False, at_least=False, more_than=False),
    Case(
        "original list empty and undetected",
        turn_1="In 1902.",
        entities=(),
        detected=False,
        cut=None,
        scored_answerable=False,
        overlap=0.0,
        distance=0,
        at_least=False,
        more_than=False,
    ),
    Case(
        "original list empty and no mark",
        turn_2="I am sorry.",
        entities=(),
        cut=None,
        scored_answerable=False,
        overlap=0.0,
        distance=8,
        at_least=False,
        more_than=False,
    ),
    Case(
        "turn 2 says nothing",
        turn_2="",
        cut=None,
        scored_answerable=False,
        overlap=0.0,
        distance=0,
        at_least=False,
        more_than=False,
    ),
)
