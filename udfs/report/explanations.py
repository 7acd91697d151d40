"""What each part of the report means, for somebody who sees it for the first time."""

from __future__ import annotations

from typing import Final

_SAYS: Final = {
    "detection": """
        Does the model notice that the document does not hold the answer? F1 balances recall (of the questions
        without an answer, how many were refused) and precision (of the refusals, how many were due). False
        refusals are answerable questions that were refused: a model that refuses everything has a high F1 and
        is useless, so read the two together.

        What counts is the reply to the question itself (turn 1), whatever became of the turn after it. A refusal is
        any reply that signals that the question cannot be answered as asked: one that says so, and also one that
        only corrects what the question assumes.

        The column judge says who read the replies: rules (patterns in both languages), couldask (the nine
        phrases of the CouldAsk code) or a model. The average is the plain mean over every
        dataset of the run; a row that lacks one has no average.
    """,
    "consistency": """
        One accuracy for both sorts of question: an answerable one is right when the reply holds the gold
        answer, an unanswerable one when the reply says that it cannot be answered or corrects what the question
        assumes.

        Lack of evidence: the passage with the answer was cut out, or never was there. Misleading: the document
        contradicts the question. A verdict that could not be read is a parse failure; it lowers coverage, never
        the accuracy.
    """,
    "length": """
        The same accuracy, split by how many tokens the document has (K = 1,024). Longer documents leave more
        room to overlook the evidence, and more to take for it.
    """,
    "classes": """
        Of the replies to unanswerable questions: incorrect ones answer anyway; direct refusals only say that
        there is no answer; reasoned answers also say why, or correct the question. The three add up to 100 %.
    """,
    "reformulation": """
        After a refusal the model is asked for a close question that the document does answer. Shown is how
        often a new question could be cut out of its reply; whether that question is a good one is measured
        elsewhere.
    """,
    "differences": """
        Two methods of one model (or two models under one method) on the questions that both answered. Only
        questions where exactly one side is right tell them apart: McNemar's test asks whether those lean to one
        side. Its p takes questions as independent, while the interval is drawn by document; Holm's p allows for
        the number of comparisons made. Coverage is over the questions that the larger of the two was to answer.
        Shown is one judge a measure; comparisons.csv has all.
    """,
    "statuses": """
        Every recorded response has one status; not recorded are those that a start of the run was to ask for and
        has not. Numbers elsewhere are over what could be judged; coverage (cov) says what share of the expected
        responses that is. A refusal whose second turn failed has that turn's status, and its first turn counts all
        the same. Nothing is cut to fit: a prompt that does not fit the window is over_length.
    """,
    "facts": """
        Computed are the prompt tokens that the cache did not give. The bound is the least that could be: every
        document once, each method's examples once a document, each question once. A ratio of 1 means that no
        token was read twice. Both are over the prompts whose bound is known.
    """,
}


def says(anchor: str) -> tuple[str, ...]:
    """The paragraphs that explain the section of that anchor."""
    return tuple(" ".join(paragraph.split()) for paragraph in _SAYS[anchor].split("\n\n"))
