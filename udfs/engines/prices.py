"""What an endpoint's tokens cost: by `model.usd_per_million_*`, else by genai-prices, which lists providers' prices.

Money of GPUs is elsewhere (`conf/cluster`): a model in process costs what its machine costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import Final, Protocol

from genai_prices import Usage, calc_price

from udfs.engines.config import EndpointModel, ModelConfig, ScriptedModel

MILLION: Final = 1_000_000


class Prices(Protocol):
    """The price of a call."""

    @property
    def source(self) -> str:
        """Where the prices come from, in words."""
        ...

    def usd(self, prompt_tokens: int, cached_tokens: int, output_tokens: int) -> float:
        """Of one call. Some providers charge long prompts more, so calls must not be added up before.

        Args:
            cached_tokens: those of `prompt_tokens` that the provider had in its cache.
        """
        ...


@dataclass(frozen=True)
class GivenPrices:
    """Prices out of the model's config, per million tokens."""

    prompt: float
    cached: float
    output: float

    @property
    def source(self) -> str:
        return f"model.usd_per_million_*: {self.prompt:g} prompt, {self.cached:g} cached, {self.output:g} output"

    def usd(self, prompt_tokens: int, cached_tokens: int, output_tokens: int) -> float:
        """See `Prices`."""
        computed = prompt_tokens - cached_tokens
        return (computed * self.prompt + cached_tokens * self.cached + output_tokens * self.output) / MILLION


@dataclass(frozen=True)
class ListPrices:
    """Of a model that genai-prices knows, at the address of one of its providers.

    Args:
        listed: what genai-prices calls it, for people.
    """

    model: str
    address: str
    listed: str

    @property
    def source(self) -> str:
        return f"genai-prices {version('genai-prices')}: {self.listed}"

    def usd(self, prompt_tokens: int, cached_tokens: int, output_tokens: int) -> float:
        """See `Prices`. A model without a price for cached tokens charges them as others."""
        usage = Usage(input_tokens=prompt_tokens, cache_read_tokens=cached_tokens, output_tokens=output_tokens)
        return float(calc_price(usage, self.model, provider_api_url=self.address).total_price)


def prices_of(config: ModelConfig) -> Prices | None:
    """The prices of an endpoint's tokens; None for a model in process, and for one whose prices nobody knows."""
    if isinstance(config, EndpointModel | ScriptedModel) and config.usd_per_million_prompt is not None:
        assert config.usd_per_million_output is not None
        cached = config.usd_per_million_cached
        prompt = config.usd_per_million_prompt
        return GivenPrices(prompt, prompt if cached is None else cached, config.usd_per_million_output)
    if isinstance(config, EndpointModel):
        return _listed(config.model, config.base_url)
    return None


def _listed(model: str, address: str) -> ListPrices | None:
    try:
        found = calc_price(Usage(input_tokens=1, output_tokens=1), model, provider_api_url=address)
    except LookupError:
        return None
    return ListPrices(model, address, f"{found.provider.id} {found.model.id}")


def unknown_price(config: EndpointModel) -> str:
    """What to say of an endpoint whose prices nobody knows."""
    return (
        f"nobody knows what {config.model!r} at {config.base_url} costs: give model.usd_per_million_prompt=… "
        "model.usd_per_million_output=… (and model.usd_per_million_cached=…; 0 for a server of your own)"
    )
