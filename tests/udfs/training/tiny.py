"""A tiny BERT and a dataset that it can learn in seconds: of each document it is asked when a thing opened, and when it
will close; only the first is in it.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from tests.factories import make_document, make_question
from udfs.records import Document, Question, Span, row_of
from udfs.tables.store import Store

THINGS = ("bridge", "mill", "harbour", "school", "tower", "market", "garden", "museum")
TOWNS = ("aster", "birch", "cedar", "dahlia", "elm", "fern", "gorse", "hazel", "iris", "juniper")
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
COMMON = ("the", "of", "in", "when", "did", "will", "open", "opened", "close", "?", ".", "0", "1", "2", "3", "4", "5")
WORDS = (*COMMON, *THINGS, *TOWNS)


def tiny_tokenizer() -> Any:
    """Words and punctuation, with BERT's template for two texts."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    vocabulary = {word: number for number, word in enumerate(dict.fromkeys((*SPECIAL, *WORDS)))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )


def tiny_bert(folder: Path) -> Path:
    """Save a BERT of two layers with random weights; give its folder."""
    import torch
    from transformers import BertConfig, BertModel

    tokenizer = tiny_tokenizer()
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=128,
    )
    BertModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def questions(
    documents: int, dataset: str = "toy", splits: tuple[str, ...] = ("all",)
) -> list[tuple[Document, Question]]:
    """Two questions a document, one of them answerable."""
    rng = random.Random(0)
    found = []
    for number in range(documents):
        thing, town = rng.choice(THINGS), rng.choice(TOWNS)
        year = str(1800 + number)
        document = make_document(
            f"The {thing} of {town} opened in {year}.", dataset, split=splits[number % len(splits)]
        )
        at = document.text.index(year)
        evidence = (Span(at, at + len(year)),)
        asked = (
            make_question(document, 0, True, question=f"When did the {thing} of {town} open?", evidence=evidence),
            make_question(document, 1, False, question=f"When will the {thing} of {town} close?", evidence=()),
        )
        found += [(document, question) for question in asked]
    return found


def ingest(root: str, made: list[tuple[Document, Question]]) -> None:
    """Write them as a dataset that was ingested."""
    store = Store(root)
    dataset = made[0][0].dataset
    documents = {document.doc_id: row_of(document) for document, _ in made}
    store.write("documents", dataset, list(documents.values()), name="documents")
    store.write("questions", dataset, [row_of(question) for _, question in made], name="questions")
