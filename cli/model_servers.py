"""Model servers on the usual ports of this machine, and what an endpoint says of the models that it serves."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

from graph.errors import ModelRefused, ModelUnavailable

USUAL_PORTS = {"Ollama": 11434, "LM Studio": 1234, "llama.cpp": 8080, "vLLM": 8000}
CONNECT_SECONDS = 5
DETAILS = ("/props", "/api/ps", "/api/v0/models")  # where servers tell what their OpenAI-compatible list leaves out
CONTEXT_NAMES = ("n_ctx", "loaded_context_length", "max_model_len", "context_length")

Listed = Mapping[str, Mapping[str, Any]]  # what is told of each model, by its name


async def find_servers() -> dict[str, Listed]:
    """Return the models of the servers that listen on usual ports of this machine, by the addresses of these."""
    addresses = [f"http://127.0.0.1:{port}/v1" for port in USUAL_PORTS.values()]
    told = await asyncio.gather(*(_read(f"{address}/models") for address in addresses))
    found = {address: _models(document) for address, (_, document) in zip(addresses, told, strict=True)}
    return {address: listed for address, listed in found.items() if listed is not None}


async def list_models(base_url: str, api_key: str = "") -> Listed | None:
    """List the models of an endpoint; None where it responds, and lists none.

    Raises ModelUnavailable, ModelRefused.
    """
    status, document = await _read(f"{base_url}/models", api_key)
    if status in (401, 403):
        advice = "Set the model's api_key to one that the endpoint accepts."
        raise ModelRefused(f"{base_url} rejects the key ({status}).", suggestion=advice)
    if not status or status >= 500:
        what = f"responds with {status}" if status else "cannot be reached"
        raise ModelUnavailable(f"{base_url} {what}.", suggestion="Start it, or correct the model's base_url.")
    return _models(document)


async def context_of(base_url: str, model: str, listed: Listed | None) -> int | None:
    """Return how many tokens a model takes at once, as its server tells; None where it does not."""
    root = base_url.rpartition("/")[0]  # without the version
    details = await asyncio.gather(*(_read(f"{root}{path}") for path in DETAILS))
    told = [(listed or {}).get(model, {}), *(document for _, document in details)]
    return next((size for document in told for size in _contexts(document, model)), None)


def _models(document: Any) -> Listed | None:
    rows = document.get("data") if isinstance(document, dict) else None
    named = (row for row in rows if isinstance(row, dict) and "id" in row) if isinstance(rows, list) else None
    return None if named is None else {str(row["id"]): row for row in named}


def _contexts(document: Any, model: str) -> Iterator[int]:
    """Yield the contexts in what a server tells of itself, but for those of other models."""
    if isinstance(document, dict):
        names = [document[name] for name in ("id", "model", "name") if isinstance(document.get(name), str)]
        if names and model not in names:
            return
        yield from (size for name in CONTEXT_NAMES if isinstance(size := document.get(name), int))
        document = list(document.values())
    for each in document if isinstance(document, list) else ():
        yield from _contexts(each, model)


async def _read(url: str, api_key: str = "") -> tuple[int, Any]:
    """Return the status of an address and its JSON: 0 where there is none, and None."""
    import httpx2

    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    try:
        async with asyncio.timeout(CONNECT_SECONDS), httpx2.AsyncClient(headers=headers) as client:
            response = await client.get(url)
    except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError):
        return 0, None
    try:
        return response.status_code, response.json()
    except ValueError:
        return response.status_code, None
