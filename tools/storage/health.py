"""Readiness checks of a process: its database, the schema in it, and the embedding model."""

import asyncio
from dataclasses import dataclass

from graph.errors import DatabaseUnavailable, EmbeddingUnavailable
from migrations import pending
from tools.embeddings.embedder import recorded_embedding
from tools.library.library import Library

OK = "ok"
EMBEDDING_SECONDS = 2.0
NO_PGVECTOR = "degraded, search uses words only: the database has no pgvector"


@dataclass(frozen=True, slots=True)
class Readiness:
    """The result of each check, ``ok`` or a sentence. ``ready`` is False if questions would fail."""

    ready: bool
    checks: dict[str, str]


async def check_readiness(library: Library) -> Readiness:
    """Check everything that an answer needs.

    A failing embedding endpoint is reported but leaves the process ready, since search continues by words.
    """
    try:
        schema, recorded = await _check_database(library)
    except DatabaseUnavailable as error:
        unknown = "not known while the database cannot be reached"
        return Readiness(False, {"database": error.message, "migrations": unknown, "embedding": unknown})
    embedding = recorded if recorded != OK else NO_PGVECTOR
    if recorded == OK and library.database.has_vectors:
        embedding = await _check_endpoint(library)
    return Readiness(schema == OK and recorded == OK, {"database": OK, "migrations": schema, "embedding": embedding})


async def _check_database(library: Library) -> tuple[str, str]:
    async with library.database.connection() as connection:
        waiting = await pending(connection)
        if waiting:
            return f"the database lacks {', '.join(waiting)}: run `citewell migrate`", OK
        found = await recorded_embedding(connection)
    current = (library.embedder.model, library.embedder.dimension)
    if found is None or found == current:
        return OK, OK
    model, dimension = current
    return OK, f"the library was embedded by {found[0]} ({found[1]}), not {model} ({dimension}): run `citewell reindex`"


async def _check_endpoint(library: Library) -> str:
    try:
        async with asyncio.timeout(EMBEDDING_SECONDS):
            await library.embedder.embed(["ready"])
    except EmbeddingUnavailable as error:
        return f"degraded, search uses words only: {error.message}"
    except TimeoutError:
        return f"degraded, search uses words only: no answer in {EMBEDDING_SECONDS:.0f} s"
    return OK
