"""The scripted endpoint as a server of ``/v1/embeddings`` that fails the ways servers do when told to."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import numpy as np

from evals.scripted_endpoint import ModelRequest, Reply, ScriptedEndpoint, embeddings, scripted_endpoint

DIMENSION = 32


def vector(text: str, dimension: int = DIMENSION) -> list[float]:
    """Derive a vector from a text, not of unit length."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    drawn: list[float] = (3.0 * np.random.default_rng(seed).normal(size=dimension)).tolist()
    return drawn


def vectors_of(request: ModelRequest) -> Reply:
    """Embed every text that is asked for."""
    return embeddings([vector(text) for text in request.body["input"]])


@asynccontextmanager
async def serve_embeddings() -> AsyncIterator[ScriptedEndpoint]:
    async with scripted_endpoint(vectors_of, keep_alive=True) as endpoint:
        yield endpoint
