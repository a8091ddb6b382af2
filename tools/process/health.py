"""Readiness checks of a process: its database, the schema in it, the embedding model and the disk it writes to."""

import asyncio
import math
import time
from dataclasses import dataclass
from pathlib import Path

from graph.errors import DatabaseUnavailable, EmbeddingUnavailable, IndexUnavailable
from migrations import pending
from tools.embeddings.embedder import recorded_embedding
from tools.process.library import Library
from tools.retrieval.candidates import CandidateEngine
from tools.storage.index_changes import read_index
from tools.storage.supervision import DiskRoom

OK = "ok"
EMBEDDING_SECONDS = 2.0
MILVUS_SECONDS = 2.0
NO_PGVECTOR = "degraded, search uses words only: the database has no pgvector"
ASKED_EVERY_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Readiness:
    """The result of each check, ``ok`` or a sentence. ``ready`` is False if questions would fail."""

    ready: bool
    checks: dict[str, str]


@dataclass(slots=True)
class EndpointProbe:
    """The last state of the embedding endpoint, so that frequent probes ask it every half minute and not each time."""

    _state: str = OK
    _asked_at: float = -math.inf

    async def check(self, library: Library) -> str:
        """Return ``ok``, or what is degraded."""
        now = time.monotonic()
        if now - self._asked_at > ASKED_EVERY_SECONDS:
            self._state = await _check_endpoint(library)
            self._asked_at = now
        return self._state


async def check_readiness(library: Library, endpoint: EndpointProbe, *, is_stopping: bool = False) -> Readiness:
    """Check everything that an answer needs.

    A failing embedding endpoint is reported but leaves the process ready, since search continues by words; so is a
    Milvus that fails, since search continues without it.
    """
    server = "it is stopping" if is_stopping else OK
    disk = await asyncio.to_thread(_check_disk, library)
    try:
        schema, recorded = await _check_database(library)
    except DatabaseUnavailable as error:
        unknown = "not known while the database cannot be reached"
        checks = {"database": error.message, "migrations": unknown, "embedding": unknown}
        return Readiness(False, {**checks, **_replica(library), "disk": disk, "server": server})
    embedding = recorded if recorded != OK else NO_PGVECTOR
    if recorded == OK and library.database.has_vectors:
        embedding = await endpoint.check(library)
    checks = {"database": OK, "migrations": schema, "embedding": embedding, **_replica(library)}
    checks |= {"disk": disk, "server": server}
    if library.milvus is not None and schema == OK:
        checks["milvus"] = await _check_milvus(library, library.milvus)
    return Readiness(schema == recorded == disk == server == OK, checks)


def _replica(library: Library) -> dict[str, str]:
    """Return the state of the replica, where there is one; whatever it is, questions are answered."""
    if (replica := library.database.replica) is None:
        return {}
    return {"replica": OK if replica.left_out is None else f"left out, the primary answers: {replica.left_out}"}


def _check_disk(library: Library) -> str:
    """Check the folders that this process writes to. Blocks: it asks the file system."""
    originals = library.settings.originals
    rooms = [library.database.room]
    if "/" in originals and "://" not in originals:
        rooms.append(DiskRoom(Path(originals), "originals"))
    shortages = [room.shortage() for room in rooms if room is not None]
    return next(filter(None, shortages), OK)


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


async def _check_milvus(library: Library, milvus: CandidateEngine) -> str:
    try:
        async with library.database.connection() as connection:
            index = await read_index(connection)
        if index is None:
            return "unused, PostgreSQL searches alone: run `citewell reindex --to milvus`"
        async with asyncio.timeout(MILVUS_SECONDS):
            await milvus.ping()
    except (IndexUnavailable, DatabaseUnavailable) as error:
        return f"degraded, PostgreSQL searches alone: {error.message}"
    except TimeoutError:
        return f"degraded, PostgreSQL searches alone: no answer in {MILVUS_SECONDS:.0f} s"
    return OK if index.state == "serving" else "degraded, PostgreSQL searches alone: Milvus is being filled"


async def _check_endpoint(library: Library) -> str:
    try:
        async with asyncio.timeout(EMBEDDING_SECONDS):
            await library.embedder.embed_question("ready")
    except EmbeddingUnavailable as error:
        return f"degraded, search uses words only: {error.message}"
    except TimeoutError:
        return f"degraded, search uses words only: no answer in {EMBEDDING_SECONDS:.0f} s"
    return OK
