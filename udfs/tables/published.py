"""Results that the two papers print, as reference beside measured ones. Shares in percent, as printed.

They were measured on other data, with other prompts and judges: a reference, never a target. A row that the paper
prints doubtfully keeps its numbers and says so in `note`.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

import polars as pl


@dataclass(frozen=True, slots=True)
class Published:
    """Where one table was printed, and the file that holds its numbers."""

    file: str
    source: str


COULDASK_TABLE4: Final = Published(
    "couldask_table4.csv", "CouldAsk, Table 4: F1 of detecting unanswerable questions, by prompt method and dataset"
)
COULDASK_TABLE1: Final = Published(
    "couldask_table1.csv", "CouldAsk, Table 1: strategies of a person who reformulated 100 unanswerable questions"
)
COULDASK_TABLE5: Final = Published(
    "couldask_table5.csv",
    "CouldAsk, Table 5: success rate of reformulations, by prompt method and dataset; by its code, answerable and an "
    "entity overlap of at least one half (the text says: more), over all unanswerable questions",
)
COULDASK_TABLE6: Final = Published(
    "couldask_table6.csv",
    "CouldAsk, Table 6: 100 reformulations of five models that are not answerable, read by people; the four shares sum "
    "to 104, as printed",
)
COULDASK_TABLE9: Final = Published(
    "couldask_table9.csv",
    "CouldAsk, Table 9: success rate of the zero-shot prompt beside two methods made to hack it; of which model "
    "is not said",
)
COULDASK_TABLE10: Final = Published(
    "couldask_table10.csv", "CouldAsk, Table 10: what the success rates of Table 9 are made of"
)
COULDASK_TABLE13: Final = Published(
    "couldask_table13.csv",
    "CouldAsk, Table 13: answerability and entity overlap of reformulations, by prompt method and dataset, over all "
    "unanswerable questions",
)
COULDASK_TABLE14: Final = Published(
    "couldask_table14.csv",
    "CouldAsk, Table 14: cosine similarity of the two questions' embeddings (text-embedding-3-large), by prompt method "
    "and dataset, over all unanswerable questions",
)
COULDASK_TABLE15: Final = Published(
    "couldask_table15.csv",
    "CouldAsk, Table 15: edit distance in words, by prompt method and dataset, over all unanswerable questions; those "
    "that were not detected count 0",
)
COULDASK_FIGURE3: Final = Published(
    "couldask_figure3.csv",
    "CouldAsk, Section 7 with Figure 3: on which of the two spans fewer reformulations of the zero-shot prompt are "
    "answerable; the figure prints no numbers, the text names its one exception",
)
COULDASK_TABLE7: Final = Published("couldask_table7.csv", "CouldAsk, Table 7: an example of each minimum span")
COULDASK_TABLE8: Final = Published(
    "couldask_table8.csv",
    "CouldAsk, Table 8: Fleiss' κ of a measure and one person over 200 pairs of reformulations, by zero-shot GPT-4 and "
    "GPT-3.5 on BanditQA; of ties nothing is said",
)
COULDASK_TABLE11: Final = Published(
    "couldask_table11.csv", "CouldAsk, Table 11: entity tags of GPT-4 against those of people, on 100 questions"
)
COULDASK_TABLE12: Final = Published(
    "couldask_table12.csv",
    "CouldAsk, Table 12: agreement of three annotators on whether a question is answerable; n and the unanswerable "
    "by the majority are of section 4.1 and Table 2",
)
FACTGUARD_TABLE5: Final = Published(
    "factguard_table5.csv", "FactGuard, Table 5: answer consistency by language and kind, FactGuard-Bench test set"
)
FACTGUARD_TABLE6: Final = Published(
    "factguard_table6.csv", "FactGuard, Table 6: answer consistency by length and kind, FactGuard-Bench test set"
)
FACTGUARD_TABLE7: Final = Published(
    "factguard_table7.csv",
    "FactGuard, Table 7: responses to unanswerable questions, FactGuard-Bench test set",
)
FACTGUARD_FIGURE2: Final = Published(
    "factguard_figure2.csv",
    "FactGuard, Section 4.1 with Figure 2: losses in making misleading questions, one fragment an article; the text "
    "gives both figures as approximate",
)
FACTGUARD_TABLE3: Final = Published("factguard_table3.csv", "FactGuard, Table 3: FactGuard-Bench")
FACTGUARD_TABLE4: Final = Published(
    "factguard_table4.csv", "FactGuard, Table 4: 144 generated questions, three annotators who had to agree"
)
FACTGUARD_TABLE8: Final = Published(
    "factguard_table8.csv", "FactGuard, Table 8: verdicts of the paper's judge on Qwen2.5-72B, three annotators"
)


def published(table: Published) -> pl.DataFrame:
    """The table's rows in printed order: its labels (a model, …), one column a printed column, `note` ("" for most)."""
    text = files("udfs.tables").joinpath("published", table.file).read_text(encoding="utf-8")
    frame = pl.read_csv(io.StringIO(text), infer_schema_length=None)
    note = pl.col("note").cast(pl.String).fill_null("") if "note" in frame.columns else pl.lit("").alias("note")
    return frame.with_columns(note)
