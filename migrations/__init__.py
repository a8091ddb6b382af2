"""The database's schema, as plain SQL that Alembic revisions run.

A revision ``NNNN_<what>.py`` runs every file of ``versions/sql/NNNN/`` in the order of their names. Nothing here
imports Alembic until there is something to migrate: it takes longer than most commands.
"""

import asyncio
from importlib.metadata import version
from pathlib import Path

import psycopg

VERSIONS = Path(__file__).parent / "versions"
LOCK = 0x63697465  # "cite", the advisory lock that one migrating process holds


def revisions() -> list[str]:
    """Name the revisions of this release, oldest first. Blocks: it reads a folder."""
    return sorted(path.stem.split("_", 1)[0] for path in VERSIONS.glob("[0-9]*.py"))


def newest_revision() -> str:
    """Name the newest revision of this release. Blocks."""
    return revisions()[-1]


def checkpointer_release() -> str:
    """Name the release of the checkpointer, which brings tables of its own. Blocks: it reads the package's files."""
    return version("langgraph-checkpoint-postgres")


async def pending(connection: psycopg.AsyncConnection) -> list[str]:
    """Name what this release would still do to the database: revisions of ours, set-up of the checkpointer.

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
    ours, release = row if row is not None else (None, None)
    todo = [revision for revision in released if ours is None or revision > ours]
    return todo if release == await asyncio.to_thread(checkpointer_release) else [*todo, "checkpointer"]


def upgrade(url: str) -> list[str]:
    """Bring the schema to this release, each revision in its own transaction. Blocks.

    Returns the revisions that were applied, oldest first.
    """
    import sqlalchemy
    from alembic import command
    from alembic.config import Config
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    engine = sqlalchemy.create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(url), poolclass=sqlalchemy.NullPool
    )
    with engine.connect() as connection:
        before = MigrationContext.configure(connection).get_current_heads()
        connection.rollback()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        connection.commit()
    script = ScriptDirectory.from_config(config)
    applied = script.iterate_revisions("head", before or "base")
    return [revision.revision for revision in reversed(list(applied))]


def run_sql_folder(revision: str) -> None:
    """Run a revision's SQL files in order, inside Alembic's own transaction."""
    from alembic import op

    driver = op.get_bind().connection.driver_connection
    assert isinstance(driver, psycopg.Connection)
    for path in sorted((VERSIONS / "sql" / revision).glob("*.sql")):
        driver.execute(path.read_bytes())
