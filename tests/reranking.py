"""A reranker endpoint over real HTTP: it scores a text by the words that it shares with the query."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Literal

from evals.scripted_endpoint import ModelRequest, Reply, ScriptedEndpoint, scripted_endpoint
from tools.settings import RerankerSettings

Kind = Literal["tei", "cohere", "jina"]


def rows(request: ModelRequest) -> list[dict[str, Any]]:
    """Return a row for each text of a request, best first as the real servers do."""
    texts = request.body.get("texts") or request.body["documents"]
    wanted = set(request.body["query"].lower().strip("?").split())
    shared = [len(wanted & set(text.lower().replace(".", "").split())) / len(wanted) for text in texts]
    return sorted(({"index": i, "score": score} for i, score in enumerate(shared)), key=lambda row: -row["score"])


def ranked(request: ModelRequest) -> Reply:
    """Return the reply of the kind of server that the request's path names."""
    if request.path.endswith(("/v1/rerank", "/v2/rerank")):
        named = [{"index": row["index"], "relevance_score": row["score"]} for row in rows(request)]
        return Reply(body=json.dumps({"id": "r", "results": named, "meta": {}}).encode())
    return Reply(body=json.dumps(rows(request)).encode())


@asynccontextmanager
async def reranker_server(
    kind: Kind = "tei", respond: Callable[[ModelRequest], Reply] = ranked, **options: Any
) -> AsyncIterator[tuple[ScriptedEndpoint, RerankerSettings]]:
    """Serve a reranker; give the server, and the settings to reach it with."""
    async with scripted_endpoint(respond) as server:
        base_url = server.base_url.removesuffix("/v1")
        yield server, RerankerSettings(kind=kind, base_url=base_url, model="bge", api_key="sesame", **options)
