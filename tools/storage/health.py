"""Whether a process can answer now: its database, the schema in it, and the embedding model."""

import asyncio
from dataclasses import dataclass

from graph.errors import DatabaseUnavailable, EmbeddingUnavailable
from migrations import pending
from tools.embeddings.embedder import recorded_embedding
from tools.library.library import Library

OK = "ok"
EMBEDDING_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Readiness:
    """What was looked at and found, ``ok`` or a sentence each. ``ready`` is False where questions would fail."""

    ready: bool
    checks: dict[str, str]


async def check_readiness(library: Library) -> Readiness:
    """Look at everything that an answer needs.

    An embedding endpoint that does not answer is told, but search goes on by words, so it leaves the process ready.
    """
    try:
        schema, recorded = await _look_at_database(library)
    except DatabaseUnavailable as error:
        unknown = "not known while the database cannot be reached"
        return Readiness(False, {"database": error.message, "migrations": unknown, "embedding": unknown})
    embedding = recorded if recorded != OK else await _look_at_endpoint(library)
    return Readiness(schema == OK and recorded == OK, {"database": OK, "migrations": schema, "embedding": embedding})


async def _look_at_database(library: Library) -> tuple[str, str]:
    async with library.database.connection() as connection:
        waiting = await pending(connection)
        if waiting:
            return f"the database lacks {', '.join(waiting)}: run `citewell migrate`", OK
        found = await recorded_embedding(connection)
    ours = (library.embedder.model, library.embedder.dimension)
    if found is None or found == ours:
        return OK, OK
    return OK, f"the library was embedded by {found[0]} ({found[1]}), not {ours[0]} ({ours[1]}): run `citewell reindex`"


async def _look_at_endpoint(library: Library) -> str:
    try:
        async with asyncio.timeout(EMBEDDING_SECONDS):
            await library.embedder.embed(["ready"])
    except EmbeddingUnavailable as error:
        return f"degraded, search goes by words alone: {error.message}"
    except TimeoutError:
        return f"degraded, search goes by words alone: no answer in {EMBEDDING_SECONDS:.0f} s"
    return OK
