"""Open as much of Citewell as one command needs: settings, the database, or everything that a run takes."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graph.evidence import Identity

if TYPE_CHECKING:
    from graph.entrypoint import Citewell
    from tools.database import Database
    from tools.embeddings import Embedder
    from tools.running.attempt import Durability
    from tools.settings import Settings
    from tools.workspaces import Workspaces


def settings_for(workspace: str | None = None, user: str | None = None) -> "Settings":
    """Read the settings, with the command line's own word for who asks; logging follows their level.

    Raises ConfigurationError.
    """
    from tools.settings import load_settings

    said = {"workspace": workspace, "user": user}
    settings = load_settings(**{name: value for name, value in said.items() if value is not None})
    asked = "log_level" in settings.model_fields_set
    level = settings.log_level.upper() if asked else "WARNING"  # a command that succeeds has nothing to log
    logging.basicConfig(level=level, format="%(levelname)s %(name)s: %(message)s")
    return settings


@asynccontextmanager
async def opened(settings: "Settings", *, durability: "Durability | None" = None) -> AsyncIterator["Citewell"]:
    """Open the library and the runner over it, and close them in order.

    Raises ConfigurationError, DatabaseUnavailable, EmbeddingMismatch.
    """
    from graph.entrypoint import open_citewell

    async with open_citewell(settings, durability=durability) as citewell:
        yield citewell


@asynccontextmanager
async def opened_database(settings: "Settings") -> AsyncIterator["Storage"]:
    """Open the database alone, for commands that ask nothing: LangGraph takes a second to import.

    Raises ConfigurationError, DatabaseUnavailable.
    """
    from tools.database import open_database
    from tools.workspaces import Workspaces

    async with open_database(settings) as database:
        yield Storage(database, Workspaces(database))


@asynccontextmanager
async def opened_embedder(settings: "Settings") -> AsyncIterator["Embedder"]:
    """Open what turns text into vectors, and close its connections.

    Raises ConfigurationError.
    """
    from tools.embeddings import open_embedder

    embedder = await open_embedder(settings)
    try:
        yield embedder
    finally:
        await embedder.close()


@dataclass(frozen=True, slots=True)
class Storage:
    """An open database and its workspaces; what else a command reads or writes it makes over these two."""

    database: "Database"
    workspaces: "Workspaces"


def identity_of(settings: "Settings") -> Identity:
    """Give the identity that the settings act as."""
    return Identity(settings.workspace, settings.user)
