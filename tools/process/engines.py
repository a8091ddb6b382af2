"""Engines for more than one machine: each is loaded where a setting names it, and by nothing else.

They are imported inside of functions, since a process with the usual settings runs none of them and should not pay for
their code, nor for that of their clients.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from tools.settings import MilvusSettings, RunSettings, Settings
from tools.storage.database import Database
from tools.storage.startup import open_database

if TYPE_CHECKING:
    from tools.milvus.collection import Milvus
    from tools.milvus.keeping import IndexKeeper, IndexWorker
    from tools.runs.notifications import Carrier


@asynccontextmanager
async def open_databases(settings: Settings) -> AsyncIterator[Database]:
    """Open the configured database, and its replica where the settings name one.

    Raises DatabaseUnavailable, ConfigurationError.
    """
    async with open_database(settings) as database:
        if settings.replica.url is None:
            yield database
            return
        from tools.replica.replica import opened_replica

        async with opened_replica(database, settings, settings.replica.url.get_secret_value()) as replica:
            yield replace(database, replica=replica)


def carriers_of(settings: RunSettings) -> "list[Carrier]":
    """Return what carries notifications beside the database, as the settings say; nothing is connected yet.

    Raises ConfigurationError where they name a server of NATS and its client is not installed.
    """
    if settings.nats_url is None:
        return []
    from tools.nats.nats_carrier import NatsCarrier

    return [NatsCarrier(settings.nats_url.get_secret_value())]


def open_milvus(settings: MilvusSettings) -> "Milvus":
    """Return the Milvus that the settings name; nothing is connected yet.

    Raises ConfigurationError where they name none, or its client is not installed.
    """
    from tools.milvus.collection import Milvus

    return Milvus(settings)


def index_keeper(database: Database, milvus: "Milvus") -> "IndexKeeper":
    """Return what fills and repairs the index in Milvus."""
    from tools.milvus.keeping import IndexKeeper

    return IndexKeeper(database, milvus)


def index_worker(database: Database, milvus: "Milvus") -> "IndexWorker":
    """Return a worker that keeps the index in Milvus up to date."""
    from tools.milvus.keeping import IndexWorker

    return IndexWorker(database, milvus)


@asynccontextmanager
async def following_index(database: Database, settings: MilvusSettings) -> AsyncIterator[None]:
    """Keep the index up to date beside what a process does, where the settings name a Milvus.

    Raises ConfigurationError.
    """
    if settings.url is None:
        yield
        return
    milvus = open_milvus(settings)
    worker = index_worker(database, milvus)
    worker.start()
    try:
        yield
    finally:
        await worker.close()
        await milvus.close()
