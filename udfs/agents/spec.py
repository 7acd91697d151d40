"""How candidates are made: every setting that decides what comes out, and its hash."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Final

from udfs.engines.base import Sampling
from udfs.identity import content_hash
from udfs.schema import Kind

SYNTHESIS_VERSION: Final = 1
"""Raise it when code changes what a program decides while no prompt file changes: it is part of every id."""
KINDS: Final = (
    Kind.ANSWERABLE,
    Kind.LACK_OF_EVIDENCE,
    Kind.ENTITY_SUBSTITUTION,
    Kind.IMPOSSIBLE_CONDITION,
    Kind.FALSE_ASSUMPTION,
)


@dataclass(frozen=True)
class WebSearch:
    """An HTTP search endpoint that answers with JSON, for the common-sense check (FactGuard, section 3.3).

    Args:
        url: asked with GET.
        query_parameter: the URL parameter that carries the question.
        results: dotted path to the list of results in the reply, such as `web.results`; "" where the reply is the list.
        text: the results' fields that are read, in order.
        api_key_env, api_key_header: the environment variable that holds the key, and the header that it is sent in.
        n: results that are read.
    """

    url: str
    query_parameter: str = "q"
    results: str = "results"
    text: tuple[str, ...] = ("title", "snippet")
    parameters: dict[str, str] = field(default_factory=dict)
    api_key_env: str | None = None
    api_key_header: str = "Authorization"
    n: int = 5
    timeout_s: float = 20.0
    max_retries: int = 3


@dataclass(frozen=True)
class SynthesisSpec:
    """Settings of the agents' program. All but placement: equal specs give equal candidate ids.

    Args:
        kinds: what is proposed of every fragment; answerable comes first, the others need it as their twin.
        fragment_min_words, fragment_max_words: length of a fragment (`udfs.text.count_words`).
        quality_threshold: a fragment with a lower score ends.
        passages: retrieved passages that a short reading gets; passage_words: their length.
        full_view: ask over the whole view, too.
        common_sense: ask without any document, too.
        max_redacted_share: a view that cuts more of its document ends its candidate.
        seed: of the draw of fragments and topics.
        web: search the web in the common-sense check; None: do not.
    """

    kinds: tuple[Kind, ...] = KINDS
    fragment_min_words: int = 120
    fragment_max_words: int = 240
    quality_threshold: int = 3
    passages: int = 5
    passage_words: int = 120
    full_view: bool = True
    common_sense: bool = True
    max_redacted_share: float = 0.1
    seed: int = 0
    sampling: Sampling = field(default_factory=Sampling)
    web: WebSearch | None = None


def spec_hash(spec: SynthesisSpec, model: str, revision: str, templates: dict[str, str]) -> str:
    """Identity of a way to make candidates: settings, prompt files by language, and the model."""
    plain: dict[str, Any] = dataclasses.asdict(spec)
    return content_hash("synthesis", SYNTHESIS_VERSION, plain, model, revision, templates)
