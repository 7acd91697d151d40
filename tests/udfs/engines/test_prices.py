"""Prices of an endpoint's tokens. The listed ones move with genai-prices, so only what holds of any list is tested."""

from __future__ import annotations

import pytest

from udfs.engines.config import EndpointModel, ScriptedModel, VllmModel, model_config
from udfs.engines.prices import prices_of, unknown_price
from udfs.errors import UserError

OPENAI = "https://api.openai.com/v1"


def test_prices_listed_charge_cached_tokens_less_and_output_more() -> None:
    prices = prices_of(EndpointModel(name="m", base_url=OPENAI, model="gpt-4o-2024-08-06"))
    assert prices is not None
    assert "gpt-4o" in prices.source
    plain, cached = prices.usd(1_000_000, 0, 0), prices.usd(1_000_000, 1_000_000, 0)
    assert 0 < cached < plain < prices.usd(0, 0, 1_000_000)
    assert prices.usd(1000, 400, 100) == pytest.approx(
        plain * 600 / 1e6 + cached * 400 / 1e6 + prices.usd(0, 0, 1_000_000) * 100 / 1e6
    )


def test_prices_given_stand_before_the_listed_ones() -> None:
    model = EndpointModel(
        name="m", base_url=OPENAI, model="gpt-4o", usd_per_million_prompt=2.0, usd_per_million_output=6.0
    )
    prices = prices_of(model)
    assert prices is not None
    assert prices.usd(1_000_000, 500_000, 1_000_000) == pytest.approx(8.0), "no cached price: as others"


@pytest.mark.parametrize(("address", "model"), [("http://127.0.0.1:8000/v1", "gpt-4o"), (OPENAI, "no-such-model")])
def test_prices_of_an_unknown_model_or_server_ask_for_them(address: str, model: str) -> None:
    config = EndpointModel(name="m", base_url=address, model=model)
    assert prices_of(config) is None
    assert "model.usd_per_million_prompt" in unknown_price(config)


def test_prices_of_a_model_in_process_are_its_machines() -> None:
    assert prices_of(VllmModel(name="m", weights="x")) is None
    assert prices_of(ScriptedModel()) is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"usd_per_million_prompt": 1.0}, "together with model.usd_per_million_output"),
        ({"usd_per_million_prompt": -1.0, "usd_per_million_output": 1.0}, "usd_per_million_prompt=-1"),
        ({"throughput": {"prompt_tokens_per_second": 5}}, "output_tokens_per_second"),
        ({"throughput": {"prompt_tokens_per_second": 0, "output_tokens_per_second": 1}}, "above 0"),
    ],
)
def test_model_config_with_prices_or_speed_that_cannot_be_says_so(given: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        model_config({"engine": "scripted"} | given)


def test_model_config_without_speed_figures_has_no_throughput() -> None:
    nothing = {"prompt_tokens_per_second": None, "output_tokens_per_second": None}
    assert model_config({"engine": "scripted", "throughput": nothing}).throughput is None
