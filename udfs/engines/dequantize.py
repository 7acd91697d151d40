"""Turn a package's GGUF file into a folder of safetensors that vLLM loads. A program of its own.

It runs as a subprocess (`python -P dequantize.py GGUF OUT`), so that torch never enters the driver's memory.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main(source: Path, target: Path) -> None:
    """Write config, tokenizer with chat template, and bf16 weights of the GGUF file `source` into `target`."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch
    from gguf import GGUFReader
    from tokenizers.pre_tokenizers import ByteLevel, Digits
    from tokenizers.pre_tokenizers import Sequence as PreTokenizers
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    tokenizer = AutoTokenizer.from_pretrained(source.parent, gguf_file=source.name)
    fields = GGUFReader(str(source)).fields
    splitter = fields.get("tokenizer.ggml.pre")
    if splitter is not None and splitter.contents() == "smollm":
        # The GGUF names its splitter only, and transformers takes GPT-2's: it would give the model numbers as whole
        # words, where the model learnt them digit by digit.
        tokenizer.backend_tokenizer.pre_tokenizer = PreTokenizers(
            [Digits(individual_digits=True), ByteLevel(add_prefix_space=False, use_regex=True)]
        )
    if not tokenizer.chat_template:
        raise SystemExit(f"{source} holds no chat template")
    model = AutoModelForCausalLM.from_pretrained(
        source.parent,
        gguf_file=source.name,
        quantization_config=GgufConfig(dequantize=True),
        dtype=torch.bfloat16,
    )
    tokenizer.model_max_length = model.config.max_position_embeddings
    model.save_pretrained(target)
    tokenizer.save_pretrained(target)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
