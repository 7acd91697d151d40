"""What each part of the report means, for somebody who sees it for the first time."""

from __future__ import annotations

from typing import Final

from udfs.schema import Fate, Step

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
        often a new question could be cut out of its reply; whether that question is a good one is said below, where
        a judge looked at it.
    """,
    "success": """
        A new question is a success when the document answers it and it is still about what was asked: enough of the
        original question's entities are kept. CouldAsk's code wants at least half of them, its paper more than half;
        both are shown. A question whose missing answer was not detected got no new question and is no success, so the
        first table rewards detecting, too; the second is over the detected ones alone.

        The column judge says who decided. rules: a match of the question with sentences of the document, and a soft
        overlap of entities. couldask: the same match and CouldAsk's exact overlap, on CouldAsk's own cut of the reply.
        A model or a classifier where one judged; a judge of answerability alone goes by the soft overlap of the rules.
        The rules look at words and no further: they find how far a question is grounded in the document. A detected
        question without entities has no overlap and is left out.
    """,
    "reformulation-parts": """
        Answerable: the document answers the new question. Entity overlap: the share of the original's entities that the
        new question still has, compared as exact strings (as CouldAsk does) or softly: other spellings, parts of names
        and all words of an entity count. Cosine, where an embedding model measured it, and edit distance say how near
        the two questions are in meaning and in words; a question that was merely repeated is nearest by both.
    """,
    "reformulation-errors": """
        Of the new questions that failed: the same question again, in the same or other words; one copied from a
        sentence of the document; one about something else; or no question at all. Of those that succeeded: a wrong
        assumption was corrected; the question was made more general; the nearest question that the document answers
        was found; or it was made more specific. Undecided are those where the rules see no clear case. The paper's
        shares were given by people.
    """,
    "reformulation-spans": """
        The minimum span is the smallest part of a question that makes it unanswerable; a model names it, and it has to
        stand in the question. Where it is the whole question (q span), changing a word or two does not help: the new
        question has to be thought out anew. Where it is a noun or a name (short span), that alone has to be replaced.
        Compared is how many of the new questions the document answers. Both are over the detected questions, which got
        a new one.

        The column judge says who decided on answerability; the spans are its own where it found any, else those of the
        model that did.
    """,
    "classifier": """
        A classifier says how likely a document answers a question. Its verdicts on new questions are worth what it is
        worth on questions whose label is known: here those of documents that it was not trained on. Read its accuracy
        beside that of always giving the larger class, and by dataset: they differ in how their unanswerable questions
        were made. F1 is of the unanswerable class, macro the mean of both classes'. AUC is how often, of two questions
        of different classes, the answerable one has the higher probability.

        A document that does not fit the window is read in windows that overlap, and is as answerable as the best.
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

        The methods read a document together, and whichever is first computes it for all. So the computed tokens of
        each document are shared out among the cells that read it, in proportion to their prompts; output tokens are
        each cell's own and count five times as much. By these tokens the cells share the engines' hours and money, a
        judge's cost with them. An engine is busy while it has a request in flight, idle from being loaded to the end
        of the last engine's work otherwise; the tail is from the end of the first engine's work to that of the last.
    """,
    "attrition": """
        A candidate is a question that the agents were to make over one fragment of a document: one answerable, and
        others made from it that the document cannot answer. Each ends at one step for one reason, or is accepted.

        A share lost is over the candidates that came to that step. Replies that could not be read, prompts that do not
        fit, filtered replies and provider errors say nothing of the question: these candidates are undecided, and are
        counted as what they are. Misleading is the sum of the three kinds that contradict the document.
    """,
    "dataset": """
        What synthesis handed over: the questions of the accepted candidates and the documents that they are asked of.
        An article is a title, or a document that has none; a document and all of its questions are in one split.
        Shares are over all questions of a language, so they have no interval.
    """,
    "curation": """
        A generator wrote questions about documents as they came to it; a checker answered each several times. Kept were
        those of which at least one answer says that the document does not hold it: they confuse the checker. People
        then said whether the document answers them. Labelled by majority are those on which more than half agree, as in
        the paper; unanimously those on which all do. Fleiss' κ says how far they agree beyond chance.
    """,
    "validation": """
        Measures stand in for people, so people were asked. Of two new questions for one original they said which is
        nearer to what was asked; a measure prefers the one with the higher overlap, similarity or cosine, or the lower
        edit distance. Decided pairs are those in which neither the people nor the measure see a tie, as in the paper,
        which speaks of none; a coarse measure ties often, so the column with ties as an answer is the stricter one.
        Scores are those that judges gave to the very words that people saw; coverage shows pairs without them.

        And people marked what questions are about, as taggers do. Precision is the share of a tagger's entities that
        people mark too, recall the share of theirs that it finds, both summed over all questions. On a sheet people see
        what the taggers propose, which leans in their favour; a file of tags made without proposals does not.
    """,
    "review": """
        People read a sample of the questions, or of a judge's verdicts, and said of each whether it passes. Unanimous:
        an item counts as good only where all annotators passed it, as in the paper; majority: where more than half
        did. Fleiss' κ says how far the annotators agree beyond what chance would give: 1 is always, 0 is no better
        than chance. It is low by nature where nearly everything passes, so read it with the share of unanimous items.
    """,
}


def says(anchor: str) -> tuple[str, ...]:
    """The paragraphs that explain the section of that anchor."""
    return tuple(" ".join(paragraph.split()) for paragraph in _SAYS[anchor].split("\n\n"))


STEP_NAMES: Final = {
    Step.SEGMENT: "fragments",
    Step.QUALITY: "quality",
    Step.TOPIC: "topic",
    Step.QA: "question",
    Step.QA_REVIEW: "question review",
    Step.NEGATIVE: "negative",
    Step.RETRIEVAL: "short reading",
    Step.FULL_VIEW: "full view",
    Step.COMMON_SENSE: "common sense",
    Step.CONSOLE: "console",
}
"""Steps of synthesis as the tables head them."""

STEPS_SAY: Final = (
    "The steps: fragments are drawn from the document; quality and topic of a fragment are judged; a question with "
    "answer and evidence is written, then reviewed; a negative is made of it (the evidence cut out, or the question "
    "rewritten); a short reading answers from retrieved passages, the full view from everything that is shown; common "
    "sense is asked without any document; the console decides on all opinions."
)

FATE_SAYS: Final = {
    Fate.NO_FRAGMENT: "the document has fewer fragments than were asked for",
    Fate.LOW_QUALITY: "the fragment's score is below the threshold",
    Fate.NO_TOPIC: "the fragment speaks of none of the topics",
    Fate.NOT_A_QUESTION: "what was written is not a question",
    Fate.WRONG_LANGUAGE: "not in the document's language",
    Fate.TOO_LONG: "a question, answer, quotation or reference beyond its limit",
    Fate.INSTRUCTIONS: "the reply talks to the pipeline instead of doing its work",
    Fate.EVIDENCE_NOT_FOUND: "the quoted evidence is not in the fragment",
    Fate.ANSWER_IN_QUESTION: "the question gives its answer away",
    Fate.UNRELATED_QUESTION: "the question shares no content with the fragment",
    Fate.UNSUPPORTED_ANSWER: "the evidence does not support the answer",
    Fate.NOT_SELF_CONTAINED: "the question cannot be understood without the fragment",
    Fate.INCOMPLETE_ANSWER: "the answer leaves out a part",
    Fate.TOO_MUCH_REDACTED: "the evidence and its copies are too large a part of the document to cut out",
    Fate.UNCHANGED_QUESTION: "the rewriting did not put in what it says it did",
    Fate.IN_DOCUMENT: "the new entity, condition or assumption is in the document after all",
    Fate.WEAK_REFERENCE: "the reference does not say what is wrong, or what the document says instead",
    Fate.EVIDENCE_SURVIVES: "a reader still found the gold answer",
    Fate.CONFLICTING_ANSWERS: "a reader found another answer",
    Fate.NOT_ANSWERED: "the whole document does not answer the answerable question",
    Fate.COMMON_SENSE: "answered without any document",
    Fate.TWIN_REJECTED: "the answerable question that it was made from was not accepted",
    Fate.PARSE_FAILURE: "undecided: an agent's reply could not be read, twice",
    Fate.OVER_LENGTH: "undecided: a prompt does not fit the model's window",
    Fate.FILTERED: "undecided: the provider's content filter withheld a reply",
    Fate.PROVIDER_ERROR: "undecided: the engine failed; the next start proposes it again",
}
"""Why a candidate ended, in words."""
