"""What the `openai` SDK raises, as the engines' own errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import openai

from udfs.engines import endpoint
from udfs.engines.base import Filtered, OverLength, ProviderError
from udfs.errors import UserError


@contextmanager
def typed_errors(
    config: endpoint.Endpoint, client: openai.AsyncOpenAI, key: str, use: endpoint.Use = endpoint.CHAT
) -> Iterator[None]:
    """Around one request of `client`, which has its own retries.

    Raises:
        OverLength, ProviderError, Filtered: what is to become of the row.
        UserError: the key, the account or the model is refused; every further request would be, too.
    """
    tries = f"after {client.max_retries} {'retry' if client.max_retries == 1 else 'retries'}"
    try:
        yield
    except openai.APIStatusError as error:
        raise _meaning(error, tries, config, key, use) from None  # the cause holds the request with its headers
    except openai.APITimeoutError:
        raise ProviderError(f"no answer within {client.timeout:g} s, {tries}") from None
    except openai.APIConnectionError as error:
        cause = endpoint.safe(str(error.__cause__ or error), key)
        raise ProviderError(f"the connection to {config.base_url} failed, {tries}: {cause}") from None
    except (openai.APIError, ValueError) as error:  # a body that is no JSON, or not of the shape
        raise ProviderError(f"the endpoint's answer cannot be read: {endpoint.safe(str(error), key)}") from None


def _meaning(
    error: openai.APIStatusError, tries: str, config: endpoint.Endpoint, key: str, use: endpoint.Use
) -> Exception:
    status = error.status_code
    code, message = endpoint.error_fields(error.body)
    detail = endpoint.safe(message or error.message, key)
    if status in endpoint.FATAL_STATUS or code == "insufficient_quota":
        return UserError(endpoint.fatal_message(config, status, code, detail, use))
    if status in (400, 413, 422):
        if status == 413 or endpoint.is_too_long(code, message):
            return OverLength(f"the endpoint says that the prompt is too long: {detail}")
        if endpoint.is_filtered(code, message):
            return Filtered(f"the provider's content filter withheld the prompt: {detail}")
        return ProviderError(f"the endpoint does not take the request ({status}): {detail}")
    return ProviderError(f"the endpoint answered {status}, {tries}: {detail}")
