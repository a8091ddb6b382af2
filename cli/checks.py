"""Checks of citewell doctor: each reports what it found, and a failure what to do about it."""

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import psycopg
from fastapi import FastAPI

from api.app import mount_routes
from cli.command import BY_CODE, Exit, opened_embedder
from graph.errors import CitewellError, ConfigurationError, DatabaseUnavailable, ModelRefused, ModelUnavailable
from migrations import pending
from tools.backends.backend_registry import configured_families
from tools.embeddings.embedder import Embedder, refuse_mismatch
from tools.parsers import formats
from tools.plugins.entry_points import BACKENDS, DIALECTS, PARSERS, find_plugins
from tools.settings import ModelSettings, Settings
from tools.storage.database import Connection, database_errors
from tools.storage.startup import open_database

log = logging.getLogger("citewell.cli")

CONNECT_SECONDS = 5
START_IT = "Start it, or correct the model's base_url."


@dataclass(frozen=True, slots=True)
class Check:
    """Something configured and whether it works. ``facts`` holds what programs may want of ``detail``."""

    name: str
    ok: bool
    detail: str
    suggestion: str = ""
    exit_code: Exit = Exit.OK
    facts: dict[str, object] = field(default_factory=dict)


def failed(name: str, error: CitewellError) -> Check:
    """Tell an error as a failed check."""
    return Check(name, False, error.message, error.advice, BY_CODE[error.code], {"code": error.code})


async def check_database(settings: Settings) -> Check:
    """Reach the database; ask for its version, that of pgvector, and whether its schema is of this release."""
    try:
        async with _connection(settings) as connection:
            waiting = await pending(connection)
            server = await _one(connection, "SHOW server_version")
            pgvector = await _one(connection, "SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    except CitewellError as error:
        return failed("database", error)
    kind = "embedded" if settings.database_url is None else "server"
    facts: dict[str, object] = {"kind": kind, "postgresql": server, "pgvector": pgvector, "pending": waiting}
    if waiting:
        detail = f"PostgreSQL {server} answers, but lacks migrations: {', '.join(waiting)}"
        return Check("database", False, detail, "Run `citewell migrate`.", Exit.CONFIGURATION, facts)
    where = f"embedded in {settings.data_dir}" if kind == "embedded" else "a server of your own"
    return Check("database", True, f"PostgreSQL {server} with pgvector {pgvector}, {where}", facts=facts)


async def check_embedding(settings: Settings) -> Check:
    """Embed a sentence, and compare the model with the one that the library was embedded by."""
    try:
        async with opened_embedder(settings) as embedder:
            await embedder.embed(["Does this endpoint answer?"])
            await _compare(settings, embedder)
    except CitewellError as error:
        return failed("embedding", error)
    where = "bundled" if settings.embedding.base_url is None else f"at {settings.embedding.base_url}"
    facts: dict[str, object] = {"model": embedder.model, "dimension": embedder.dimension}
    return Check("embedding", True, f"{embedder.model}, {embedder.dimension} dimensions, {where}", facts=facts)


async def _compare(settings: Settings, embedder: Embedder) -> None:
    try:
        async with _connection(settings) as connection:
            if await _one(connection, "SELECT to_regclass('embedding_models')") != "None":
                await refuse_mismatch(connection, embedder)
    except DatabaseUnavailable as error:
        log.info("The library's own embedding model is not known: %s", error.message)


async def check_model(model: ModelSettings) -> Check:
    """Ask a model's endpoint what it serves; one that lists no models is reached all the same."""
    from openai import APIConnectionError, APIStatusError, AsyncOpenAI

    name = f"model {model.name}"
    client = AsyncOpenAI(
        base_url=model.base_url,
        api_key=model.api_key.get_secret_value() or "none",
        timeout=CONNECT_SECONDS,
        max_retries=0,
    )
    facts: dict[str, object] = {"model": model.model, "base_url": model.base_url}
    try:
        async with client:
            served = [listed.id async for listed in client.models.list()]
    except APIConnectionError:
        return failed(name, ModelUnavailable(f"{model.base_url} cannot be reached.", suggestion=START_IT))
    except APIStatusError as error:
        if error.status_code in (401, 403):
            advice = "Set the model's api_key to one that the endpoint accepts."
            refused = ModelRefused(f"{model.base_url} refuses the key ({error.status_code}).", suggestion=advice)
            return failed(name, refused)
        if error.status_code >= 500:
            return failed(
                name, ModelUnavailable(f"{model.base_url} answers with {error.status_code}.", suggestion=START_IT)
            )
        return Check(name, True, f"{model.base_url} answers; it does not list its models", facts=facts)
    if model.model not in served:
        advice = f"It serves {', '.join(served[:5]) or 'none'}; an alias may be accepted all the same."
        return Check(name, True, f"{model.base_url} answers, but does not list {model.model}", advice, facts=facts)
    return Check(name, True, f"{model.model} at {model.base_url}", facts=facts)


def check_plugins(settings: Settings) -> list[Check]:
    """Load what other distributions add, a check for each group that has anything, and for settings that name it."""
    loading: dict[str, Callable[[], object]] = {
        DIALECTS: lambda: mount_routes(FastAPI()),
        PARSERS: formats,
        BACKENDS: lambda: configured_families(settings),
    }
    checks = [_check_group(group, load) for group, load in loading.items()]
    return [check for check in checks if check.facts or not check.ok]


def _check_group(group: str, load: Callable[[], object]) -> Check:
    found = find_plugins(group)
    listed = [{"name": each.name, "distribution": each.distribution, "version": each.version} for each in found]
    facts: dict[str, object] = {"plugins": listed} if found else {}
    try:
        load()
    except ConfigurationError as error:
        refused = failed(group, error)
        return replace(refused, facts={**refused.facts, **facts})
    return Check(group, True, ", ".join(map(str, found)), facts=facts)


@asynccontextmanager
async def _connection(settings: Settings) -> AsyncIterator[Connection]:
    if settings.database_url is None:
        async with open_database(settings) as database, database.connection() as connection:
            yield connection
        return
    url = settings.database_url.get_secret_value()
    with database_errors():
        connection = await psycopg.AsyncConnection.connect(url, autocommit=True, connect_timeout=CONNECT_SECONDS)
        async with connection:
            yield connection


async def _one(connection: Connection, query: str) -> str:
    row = await (await connection.execute(query)).fetchone()
    if row is None:
        raise DatabaseUnavailable("The server lacks the extension pgvector.", suggestion="CREATE EXTENSION vector.")
    return str(row[0])
