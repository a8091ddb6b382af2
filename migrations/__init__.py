"""The database schema, as plain SQL that Alembic revisions run.

A revision is a folder ``versions/sql/NNNN/``, of which every file is run in name order, after the revision with the
number before it. Alembic is imported only when there is something to migrate, since the import takes longer than most
commands.
"""

import asyncio
import logging
from collections.abc import Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import psycopg
from psycopg import errors

if TYPE_CHECKING:
    from alembic.script import Script

log = logging.getLogger(__name__)

VERSIONS = Path(__file__).parent / "versions" / "sql"
HAS_VECTOR_TYPES = "SELECT to_regtype('sparsevec') IS NOT NULL AND to_regtype('halfvec') IS NOT NULL"
LOCK = 0x63697465  # "cite", the advisory lock that a migrating process holds


def revisions() -> list[str]:
    """Return the ids of this release's revisions, oldest first. Blocks: it reads a folder."""
    return sorted(path.name for path in VERSIONS.glob("[0-9]*"))


def checkpointer_release() -> str:
    """Return the version of the checkpointer package, which has its own tables. Blocks: it reads a file."""
    return version("langgraph-checkpoint-postgres")


async def pending(connection: psycopg.AsyncConnection) -> list[str]:
    """Return what this release has yet to apply: our revisions, and "checkpointer" where its set-up is missing.

    A database that a newer release has migrated has nothing pending.
    """
    released = await asyncio.to_thread(revisions)
    found = await connection.execute("SELECT to_regclass('alembic_version') IS NOT NULL")
    row = await found.fetchone()
    if row is None or not row[0]:
        return [*released, "checkpointer"]
    found = await connection.execute(
        "SELECT (SELECT max(version_num) FROM alembic_version), (SELECT release FROM checkpointer_setup)"
    )
    row = await found.fetchone()
    current, release = row if row is not None else (None, None)
    todo = [revision for revision in released if current is None or revision > current]
    return todo if release == await asyncio.to_thread(checkpointer_release) else [*todo, "checkpointer"]


def upgrade(url: str) -> list[str]:
    """Migrate the schema to this release, each revision in its own transaction; return those applied, oldest first.

    Blocks.
    """
    import sqlalchemy
    from alembic.operations import Operations
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory
    from alembic.script.revision import RevisionMap

    script = ScriptDirectory(str(VERSIONS))
    script.revision_map = RevisionMap(_scripts)
    _create_extension(url)
    engine = sqlalchemy.create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(url), poolclass=sqlalchemy.NullPool
    )
    options = {"transaction_per_migration": True, "fn": lambda found, _: script._upgrade_revs("head", found)}
    with engine.connect() as connection:
        migrating = MigrationContext.configure(connection, opts=options)
        before = migrating.get_current_heads()
        connection.rollback()
        with Operations.context(migrating), migrating.begin_transaction():
            migrating.run_migrations()
        connection.commit()
    applied = script.iterate_revisions("head", before or "base")
    return [revision.revision for revision in reversed(list(applied))]


def _scripts() -> "Iterator[Script]":
    """Yield the revisions as Alembic knows them: modules, of which each folder of SQL makes one."""
    from alembic.script import Script

    before = None
    for revision in revisions():
        module = ModuleType(revision)
        module.__dict__.update(down_revision=before, upgrade=partial(_run_sql_folder, revision))
        yield Script(module, revision, str(VERSIONS / revision))
        before = revision


def _create_extension(url: str) -> None:
    """Create pgvector's extension; where the server does not offer it, the schema does without vectors."""
    with psycopg.connect(url, autocommit=True) as connection:
        try:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        except (errors.FeatureNotSupported, errors.UndefinedFile, errors.InsufficientPrivilege) as error:
            log.warning("Searching by words alone: pgvector can't be created: %s", str(error).splitlines()[0])
            return
        found = connection.execute(HAS_VECTOR_TYPES).fetchone()
        if found is None or not found[0]:
            log.warning("Searching by words alone: pgvector is older than 0.7, or in a schema that search_path lacks")


# What stands for pgvector's types where the server has no pgvector: the weights of a segment's terms, in the order of
# the terms, and vectors that are never there. tools/retrieval/reindexing.py changes them once it has.
WITHOUT_VECTORS = {
    b"CREATE EXTENSION IF NOT EXISTS vector;": b"",
    b" sparsevec(1000000000) ": b" real[] ",
    b" halfvec ": b" bytea ",
}


def _run_sql_folder(revision: str) -> None:
    """Run a revision's SQL files in name order, inside Alembic's transaction."""
    from alembic import op

    driver = op.get_bind().connection.driver_connection
    assert isinstance(driver, psycopg.Connection)
    found = driver.execute(HAS_VECTOR_TYPES).fetchone()
    for path in sorted((VERSIONS / revision).glob("*.sql")):
        statements = path.read_bytes()
        for vectors, stand_in in () if found and found[0] else WITHOUT_VECTORS.items():
            statements = statements.replace(vectors, stand_in)
        driver.execute(statements)
