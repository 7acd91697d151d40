"""The exported files: one pyarrow schema each, and the same as Hugging Face `datasets` wants it in a card's head.

Spans are two lists of offsets, start and end, half-open, in characters (code points) of `documents.text`.
"""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa

_OFFSETS: Final = pa.list_(pa.int64())
_MESSAGES: Final = pa.list_(pa.struct([pa.field("role", pa.string()), pa.field("content", pa.large_string())]))

QUESTIONS: Final = pa.schema(
    {
        "question_id": pa.string(),
        "doc_id": pa.string(),
        "twin_id": pa.string(),
        "dataset": pa.string(),
        "split": pa.string(),
        "language": pa.string(),
        "domain": pa.string(),
        "length_bucket": pa.string(),
        "n_tokens": pa.int64(),  # of the whole document
        "tokenizer": pa.string(),
        "question": pa.string(),
        "answerable": pa.bool_(),
        "kind": pa.string(),
        "topic": pa.string(),
        "answers": pa.list_(pa.string()),
        "reference_response": pa.string(),
        "original_question": pa.string(),
        "gold_reformulation": pa.string(),
        "gold_reformulation_answer": pa.string(),
        "evidence": pa.list_(pa.string()),
        "evidence_start": _OFFSETS,
        "evidence_end": _OFFSETS,
        "redaction_start": _OFFSETS,
        "redaction_end": _OFFSETS,
        "source": pa.string(),
        "license": pa.string(),
    }
)
DOCUMENTS: Final = pa.schema(
    {
        "doc_id": pa.string(),
        "dataset": pa.string(),
        "split": pa.string(),
        "language": pa.string(),
        "domain": pa.string(),
        "title": pa.string(),
        "source": pa.string(),
        "license": pa.string(),
        "n_chars": pa.int64(),
        "n_words": pa.int64(),
        "n_tokens": pa.int64(),
        "tokenizer": pa.string(),
        "length_bucket": pa.string(),
        "text": pa.large_string(),
    }
)
VIEWS: Final = pa.schema({"question_id": pa.string(), "doc_id": pa.string(), "start": _OFFSETS, "end": _OFFSETS})
SFT: Final = pa.schema(
    {"messages": _MESSAGES, "question_id": pa.string(), "kind": pa.string(), "language": pa.string()}
)
DPO: Final = pa.schema(
    {
        "prompt": _MESSAGES,
        "chosen": _MESSAGES,
        "rejected": _MESSAGES,
        "question_id": pa.string(),
        "response_id": pa.string(),
        "model": pa.string(),
        "kind": pa.string(),
        "language": pa.string(),
        "judge": pa.string(),
    }
)

SCHEMAS: Final[dict[str, pa.Schema]] = {
    "questions": QUESTIONS,
    "documents": DOCUMENTS,
    "views": VIEWS,
    "sft": SFT,
    "dpo": DPO,
}
"""By folder, which is also the name under which `load_dataset(folder, name)` finds it."""
FOLDERS: Final[dict[str, tuple[str, ...]]] = {
    "benchmark": ("questions", "documents", "views"),
    "sft": ("sft",),
    "dpo": ("dpo",),
}
"""What each part of an export consists of."""


def features(schema: pa.Schema) -> list[dict[str, Any]]:
    """The columns as `dataset_info.features` of a card's YAML head.

    With them a JSONL file loads with the same types as its Parquet twin, columns without a single value included.
    """
    return [{"name": field.name, **_feature(field.type)} for field in schema]


def _feature(kind: pa.DataType) -> dict[str, Any]:
    if not pa.types.is_list(kind):
        return {"dtype": str(kind)}
    item = kind.value_type
    if pa.types.is_struct(item):
        return {"list": [{"name": field.name, **_feature(field.type)} for field in item]}
    return {"list": str(item)}
