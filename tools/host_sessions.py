"""Sessions by the ids that hosts gave them: looked up without being made."""

from graph.evidence import Identity
from tools.database import Database
from tools.workspaces import Workspaces

_NAMED = """
SELECT session_id::text FROM sessions
WHERE workspace = %s AND "user" = %s AND dialect = %s AND external_id = %s
"""


async def named_session(
    database: Database, workspaces: Workspaces, identity: Identity, dialect: str, external_id: str
) -> str | None:
    """Give the id of the session that a host's own id names for this person, or None where there is none yet."""
    row = [await workspaces.number(identity.workspace), identity.user, dialect, external_id]
    async with database.connection() as connection:
        found = await (await connection.execute(_NAMED, row)).fetchone()
    return None if found is None else str(found[0])
