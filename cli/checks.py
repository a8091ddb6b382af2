"""Health checks of citewell doctor; a failed check suggests a remedy."""

import hashlib
import logging
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path

import psycopg
from dotenv import dotenv_values
from fastapi import FastAPI

from api.app import mount_routes
from cli.command import BY_CODE, Exit, opened_embedder
from cli.judge import JudgeState, configured_judges, judge_states
from cli.model_servers import list_models
from cli.provenance import PREFIX, environment_name, setting_names
from graph.errors import (
    CitewellError,
    ConfigurationError,
    DatabaseUnavailable,
    EmbeddingMismatch,
)
from migrations import pending
from text.counted import counted
from text.terms import TERMS_VERSION
from tools.backends.backend_registry import configured_families, opened_reranker
from tools.embeddings.embedder import Embedder, refuse_mismatch
from tools.embeddings.onnx_embedding import OnnxEmbedder
from tools.judges.judge_registry import check_judge
from tools.library.sandbox import FILE_MEGABYTES, Sandbox
from tools.parsers import formats
from tools.plugins.entry_points import BACKENDS, DIALECTS, JUDGES, PARSERS, find_plugins
from tools.retrieval.reindexing import Gathered, gathered
from tools.settings import ALIASES, RETIRED, UNUSED, McpServerSettings, ModelSettings, Settings
from tools.storage.database import Connection, database_errors, has_vectors, refuse_older
from tools.storage.embedded import locate_data_folder
from tools.storage.server_account import unprivileged_user
from tools.storage.startup import open_database

log = logging.getLogger("citewell.cli")

CONNECT_SECONDS = 5
# Names of ours that are no settings: of a command's option, of compose.yaml, and of the measurements.
OTHER_NAMES = ("CITEWELL_MOVE_TO", "CITEWELL_DATABASE_PASSWORD", "CITEWELL_BENCH_")


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check. ``facts`` holds the values in ``detail`` for programs."""

    name: str
    ok: bool
    detail: str
    suggestion: str = ""
    exit_code: Exit = Exit.OK
    facts: dict[str, object] = field(default_factory=dict)


def failed(name: str, error: CitewellError) -> Check:
    """Return an error as a failed check."""
    return Check(name, False, error.message, error.advice, BY_CODE[error.code], {"code": error.code})


async def all_checks(settings: Settings, announce: Callable[[str], None]) -> AsyncIterator[Check]:
    """Yield the checks of all that is configured, each announced before it is made."""
    yield await check_database(settings)
    announce("Checking the embedding model")
    yield await check_embedding(settings)
    yield await check_terms(settings)
    for model in settings.models:
        announce(f"Checking the model {model.name}")
        yield await check_model(model)
    announce("Checking judges")
    for check in await check_judges(settings):
        yield check
    if settings.milvus.url:
        announce("Checking Milvus")
        yield await check_milvus(settings)
    if settings.reranker.is_set:
        announce("Checking the reranker")
        yield await check_reranker(settings)
    for server in settings.mcp_search:
        announce(f"Checking the MCP server {server.name}")
        yield await check_mcp_server(server)
    if settings.spending.prices:
        yield check_prices(settings)
    if settings.oidc.issuer:
        announce("Checking the issuer of logins")
        yield await check_login(settings)
    if settings.originals not in ("postgresql", "off"):
        announce("Checking the store of originals")
        yield await check_originals(settings)
    announce("Checking parsers and plugins")
    programs = [check_programs(), *await check_sandbox(settings)]
    for check in [*programs, *check_plugins(settings), *check_other_names(), *check_retired(settings)]:
        yield check


def check_programs() -> Check:
    """Tell which programs of the machine help to read files; without them some are refused."""
    from tools.parsers.programs import libreoffice, tesseract

    found = {"libreoffice": libreoffice() is not None, "tesseract": tesseract() is not None}
    old = (
        "LibreOffice reads .doc, .xls and .ppt"
        if found["libreoffice"]
        else "no LibreOffice to read .doc, .xls and .ppt"
    )
    scans = "tesseract reads scans" if found["tesseract"] else "no tesseract to read scans"
    return Check("programs", True, f"{old}; {scans}", facts=dict(found))


async def check_sandbox(settings: Settings) -> list[Check]:
    """Start a process that parses files, and tell what the system keeps from it; what can't be had here is no fault."""
    sandbox = Sandbox(1, settings.jobs.file_seconds, FILE_MEGABYTES)
    try:
        holds, _ = await sandbox.run("confinement", {}, b"")
    except CitewellError as error:
        return [failed("parsers", error)]
    finally:
        await sandbox.close()
    user = f"a user of their own ({holds['user']})" if holds["user"] != os.geteuid() else "the user of this command"
    told = (
        (
            "files",
            holds["landlock"],
            "open code and fonts, and change their own folder alone",
            "Linux 5.13 or newer with Landlock",
        ),
        (
            "calls",
            holds["system_calls"],
            "start no program, open no socket, signal no other process",
            "Linux on x86-64 or 64-bit ARM",
        ),
        (
            "memory",
            holds["memory"] and holds["privileges"],
            "gain no privileges, and see no memory but theirs",
            "Linux",
        ),
    )
    checks = [
        Check(f"parsers: {name}", True, f"they {what}" if held else "not confined", "" if held else f"{needs} can.")
        for name, held, what, needs in told
    ]
    rest = f"parsers run as {user}, with a plain environment and limits of time, memory and size"
    return [*checks, Check("parsers: user", True, rest, facts=holds)]


async def check_originals(settings: Settings) -> Check:
    """Check that a store of originals outside of the database takes a file, gives it back and removes it."""
    from tools.originals.originals import place_of
    from tools.originals.stores import OriginalKey, open_object_store

    place, data = place_of(settings), b"citewell doctor"
    key = OriginalKey(0, hashlib.sha256(data).hexdigest())
    try:
        store = open_object_store(place)
        await store.put(key, data)
        given = b"".join([piece async for piece in store.read(key, 0, len(data))])
        await store.delete([key])
    except CitewellError as error:
        return failed("originals", error)
    if given != data:
        return failed("originals", ConfigurationError(f"originals: {place} gives back other bytes than it was given."))
    return Check("originals", True, f"{place} stores, reads and removes files", facts={"place": place})


async def check_database(settings: Settings) -> Check:
    """Check the database connection, the PostgreSQL and pgvector versions, and whether migrations are pending."""
    try:
        async with _connection(settings) as connection:
            refuse_older(connection)
            waiting = await pending(connection)
            server = await _one(connection, "SHOW server_version")
            pgvector = None
            if not waiting and await has_vectors(connection):
                pgvector = await _one(connection, "SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    except CitewellError as error:
        return failed("database", error)
    kind = "embedded" if settings.database_url is None else "server"
    facts: dict[str, object] = {"kind": kind, "postgresql": server, "pgvector": pgvector, "pending": waiting}
    if kind == "embedded":
        facts["folder"] = str(locate_data_folder(settings.data_dir, unprivileged_user(settings.postgres_user)))
    if waiting:
        detail = f"PostgreSQL {server} responds, but lacks migrations: {', '.join(waiting)}"
        return Check("database", False, detail, "Run `citewell migrate`.", Exit.CONFIGURATION, facts)
    where = f"embedded in {facts['folder']}" if kind == "embedded" else "your own server"
    if pgvector is None:
        advice = "Install pgvector on the server, then run `citewell reindex` and restart Citewell."
        detail = f"PostgreSQL {server} without pgvector, so that words alone are searched for, {where}"
        return Check("database", True, detail, advice, facts=facts)
    return Check("database", True, f"PostgreSQL {server} with pgvector {pgvector}, {where}", facts=facts)


async def check_embedding(settings: Settings) -> Check:
    """Embed a full batch as of a document, and compare the model with the one that embedded the library."""
    texts = ["Does this endpoint take as many texts as a document has?"] * settings.embedding.batch_texts
    try:
        async with opened_embedder(settings) as embedder:
            await embedder.embed(texts)
            begun = await _reindexing(settings, embedder)
    except CitewellError as error:
        return failed("embedding", error)
    facts: dict[str, object] = {"model": embedder.model, "dimension": embedder.dimension}
    where = "bundled" if settings.embedding.base_url is None else f"at {settings.embedding.base_url}"
    if isinstance(embedder, OnnxEmbedder):
        where, facts["folder"] = embedder.reading, settings.embedding.folder
    said = f"; {begun}" if begun and begun.is_running else ""
    return Check("embedding", True, f"{embedder.model}, {embedder.dimension} dimensions, {where}{said}", facts=facts)


async def _reindexing(settings: Settings, embedder: Embedder) -> Gathered | None:
    """Return how far a reindex to the embedder is, if one is running. Raises EmbeddingMismatch if none is."""
    try:
        async with _connection(settings) as connection:
            if await _one(connection, "SELECT to_regclass('embedding_models')") == "None":
                return None
            begun = await gathered(connection, embedder)
            if begun is None or not begun.is_running:
                await refuse_mismatch(connection, embedder)
            return begun
    except DatabaseUnavailable as error:
        log.info("The library's embedding model could not be read: %s", error.message)
        return None
    except EmbeddingMismatch as error:
        if begun is None:
            raise
        raise EmbeddingMismatch(f"{error.message} {begun}.") from error


async def check_terms(settings: Settings) -> Check:
    """Tell whether words of the library are spelt by the rules of an earlier release."""
    older = 0
    try:
        async with _connection(settings) as connection:
            if await _one(connection, "SELECT to_regclass('vocabulary')") != "None":
                older = int(await _one(connection, _OLDER_TERMS))
    except CitewellError as error:
        return failed("terms", error)
    told = (
        f"{counted(older, 'workspace')} of an earlier release: dates, versions and typos are found there after"
        " `citewell reindex`"
        if older
        else "all spellings of a word are found"
    )
    return Check("terms", True, told, facts={"older": older})


_OLDER_TERMS = f"SELECT count(*) FROM library_statistics WHERE segments > 0 AND terms_version < {TERMS_VERSION}"


async def check_model(model: ModelSettings) -> Check:
    """Check that a model's endpoint responds; one that cannot list its models passes too."""
    name = f"model {model.name}"
    facts: dict[str, object] = {"model": model.model, "base_url": model.base_url}
    try:
        served = await list_models(model.base_url, model.api_key.get_secret_value())
    except CitewellError as error:
        return failed(name, error)
    if served is None:
        return Check(name, True, f"{model.base_url} responds; it does not list its models", facts=facts)
    if model.model not in served:
        advice = f"It lists {', '.join(list(served)[:5]) or 'none'}; an alias may still work."
        return Check(name, True, f"{model.base_url} responds, but does not list {model.model}", advice, facts=facts)
    return Check(name, True, f"{model.model} at {model.base_url}", facts=facts)


async def check_milvus(settings: Settings) -> Check:
    """Check that Milvus answers, and say whether searches ask it and how far it lags behind the library."""
    from tools.process.engines import open_milvus
    from tools.storage.index_changes import read_backlog, read_index

    try:
        milvus = open_milvus(settings.milvus)
        try:
            await milvus.ping()
            async with _connection(settings) as connection:
                begun = await _one(connection, "SELECT to_regclass('search_index')") != "None"
                index = await read_index(connection) if begun else None
                backlog = await read_backlog(connection) if begun else None
            rows = 0
            if index is not None and await milvus.exists(index.collection):
                rows = await milvus.count(index.collection)
        finally:
            await milvus.close()
    except CitewellError as error:
        return failed("milvus", error)
    if index is None or backlog is None:
        advice = "`citewell reindex --to milvus` fills it; until then PostgreSQL searches alone."
        return Check("milvus", True, f"{settings.milvus.address} answers; no search asks it", advice)
    facts: dict[str, object] = {
        "collection": index.collection,
        "state": index.state,
        "segments": rows,
        "waiting_documents": backlog.documents,
        "behind_seconds": round(backlog.seconds),
    }
    lag = (
        f"; {counted(backlog.documents, 'document')} waiting, for {backlog.seconds:.0f} s" if backlog.documents else ""
    )
    state = "names candidates" if index.state == "serving" else "is being filled"
    return Check("milvus", True, f"{index.collection} {state}, of {counted(rows, 'segment')}{lag}", facts=facts)


async def check_login(settings: Settings) -> Check:
    """Check that the issuer by which people log in answers, and names endpoints that can be trusted."""
    from api.browsers import PublicAddress
    from tools.auth.oidc import RelyingParty

    try:
        PublicAddress(settings)
        await RelyingParty(settings.oidc, settings.auth).begin("https://citewell.invalid/login/callback")
    except CitewellError as error:
        return failed("login", error)
    return Check("login", True, f"{settings.oidc.issuer} answers", facts={"issuer": settings.oidc.issuer})


async def check_judges(settings: Settings) -> list[Check]:
    """Return a check per judge: in which languages it passed its exam, and what a missing exam costs.

    A judge without a passed exam is no fault: it has no say, and claims stay unverified. Whether the database responds
    and settings are valid is for other checks to say.
    """
    try:
        judges = configured_judges(settings)
        if not judges:
            return []
        async with _connection(settings) as connection:
            if await _one(connection, "SELECT to_regclass('judge_exams')") == "None":
                return []
            states = await judge_states(judges, settings, connection)
    except (DatabaseUnavailable, ConfigurationError) as error:
        log.info("The exams of judges could not be read: %s", error.message)
        return []
    return [
        Check(f"judge {state.name}", True, str(state), _exam_advice(state, settings), facts=state.document())
        for state in states
    ]


def _exam_advice(state: JudgeState, settings: Settings) -> str:
    if not state.missing:
        return ""
    command = "citewell judge exam" if settings.judge.base_url else f"citewell judge exam --model {state.models[0]}"
    if settings.judge.exam == "manual":
        return f"`{command}` takes it."
    return f"The first question to the service that needs it starts it, or `{command}`."


async def check_mcp_server(server: McpServerSettings) -> Check:
    """Check that an MCP server that is a search source answers and has its tool."""
    from tools.mcp_search.search_server import McpServer

    name = f"MCP server {server.name}"
    try:
        await McpServer(server).check()
    except CitewellError as error:
        return failed(name, error)
    return Check(name, True, f"answers, and has the tool {server.tool}", facts={"tool": server.tool})


def check_prices(settings: Settings) -> Check:
    """Say which configured models have no price, so that their cost stays unknown."""
    named = [name for each in settings.models for name in (each.model, each.thinking_model) if name]
    named += [each.model for each in (settings.judge, settings.embedding) if each.base_url and each.model]
    unpriced = list(dict.fromkeys(name for name in named if settings.spending.price_of(name) is None))
    detail = f"no price for {', '.join(unpriced)}: what they cost is unknown" if unpriced else "no model without one"
    return Check("prices", True, detail, facts={"unpriced": unpriced})


async def check_reranker(settings: Settings) -> Check:
    """Score two texts, and check that the one that answers the question scores higher."""
    from tools.rerankers.reranker_endpoint import Reranker

    reranker = settings.reranker
    texts = ["The office opens at eight.", "A fern grows in the shade."]
    try:
        async with opened_reranker(reranker) as local:
            opens, grows = await (local or Reranker(reranker)).score("When does the office open?", texts)
    except CitewellError as error:
        return failed("reranker", error)
    facts: dict[str, object] = {"kind": reranker.kind, "model": reranker.model, "url": reranker.url}
    where = reranker.url if reranker.base_url else reranker.model
    if opens <= grows:
        detail = f"{where} scores a text beside the question no lower than its answer"
        advice = "Check that its model is a reranker, and CITEWELL_RERANKER__KIND."
        return Check("reranker", False, detail, advice, Exit.CONFIGURATION, facts)
    name = f"{reranker.model} at {reranker.url}" if reranker.model and reranker.base_url else where
    return Check("reranker", True, f"{name}; an answer scores {opens:.2f}, another text {grows:.2f}", facts=facts)


def check_other_names() -> list[Check]:
    """Return a check of names that have no effect: those that other stacks set, and mistyped ones; none without any."""
    set_names = {name for name, value in {**dotenv_values(Path(".env")), **os.environ}.items() if value}
    unused = {name: why for name, why in UNUSED.items() if name in set_names}
    without_url = [name for name in ALIASES if name.startswith("OPENAI_") and name in set_names]
    if "OPENAI_COMPATIBLE_BASE_URL" not in set_names:
        unused |= dict.fromkeys(without_url, "it counts only together with OPENAI_COMPATIBLE_BASE_URL")
    unused |= {name: why for name in sorted(set_names) if (why := _why_unknown(name))}
    if not unused:
        return []
    detail = "; ".join(f"{name} is not used: {why}" for name, why in unused.items())
    return [Check("other names", True, detail, facts={"unused": sorted(unused)})]


def check_retired(settings: Settings) -> list[Check]:
    """Return a check of names that are set and were settings once; none without any."""
    if not settings.retired:
        return []
    said = [f"{environment_name(name)} is no longer a setting: it is {now}" for name, now in settings.retired.items()]
    names = [environment_name(name) for name in settings.retired]
    return [Check("old names", True, "; ".join(said), facts={"retired": names})]


def _why_unknown(name: str) -> str | None:
    """Say what is wrong with a name of the environment that looks like a setting and is none; None of all others."""
    if not name.upper().startswith(PREFIX) or name.upper().startswith(OTHER_NAMES):
        return None
    known = {environment_name(setting) for setting in (*setting_names(), *RETIRED)}
    groups = {environment_name(field) for field in Settings.model_fields}  # a whole group as JSON, or parts of a list
    if name.upper() in known | groups or name.upper().startswith(tuple(f"{each}__" for each in known)):
        return None
    nearest = get_close_matches(name.upper(), sorted(known - {environment_name(each) for each in RETIRED}), n=1)
    return f"no setting has this name{f'; {nearest[0]} is one' if nearest else ''}"


def check_plugins(settings: Settings) -> list[Check]:
    """Load the plugins of other distributions; return a check per group that has plugins or fails to load."""
    loading: dict[str, Callable[[], object]] = {
        DIALECTS: lambda: mount_routes(FastAPI()),
        PARSERS: formats,
        BACKENDS: lambda: configured_families(settings),
        JUDGES: lambda: check_judge(settings),
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
