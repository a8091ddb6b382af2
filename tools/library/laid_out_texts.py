"""The blocks of documents, as they are sent: worked out of the segments once, and kept packed beside the document."""

import logging

import psycopg

from graph.errors import CitewellError
from tools.storage.database import Database, replace_if_large

log = logging.getLogger("citewell.library")

BLOCKS = "blocks 1"  # another name where another release tells more of a block

_FIND = "SELECT blocks FROM laid_out_texts WHERE workspace = %s AND document_id = %s AND content_hash = %s"
_KEEP = """
INSERT INTO laid_out_texts (workspace, document_id, content_hash, blocks) VALUES (%s, %s, %s, %b)
ON CONFLICT (workspace, document_id) DO UPDATE SET content_hash = excluded.content_hash, blocks = excluded.blocks
"""


class LaidOutTexts:
    """The kept blocks of a deployment's documents, as bytes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, workspace: int, document_id: str, content_hash: str) -> bytes | None:
        """Find the blocks of a document's present text. Raises DatabaseUnavailable."""
        row = [workspace, document_id, f"{BLOCKS} {content_hash}"]
        async with self._database.connection() as connection:
            found = await (await connection.execute(_FIND, row, binary=True)).fetchone()
            replace_if_large(connection, len(found[0]) if found else 0)
        return None if found is None else bytes(found[0])

    async def keep(self, workspace: int, document_id: str, content_hash: str, blocks: bytes) -> None:
        """Keep the blocks of a document's text in place of older ones. Best effort: they can be worked out again."""
        try:
            await self._database.require_room()
            async with self._database.connection() as connection:
                await connection.execute(_KEEP, [workspace, document_id, f"{BLOCKS} {content_hash}", blocks])
                replace_if_large(connection, len(blocks))
        except psycopg.errors.ForeignKeyViolation:
            return  # the document was removed meanwhile
        except CitewellError as error:
            log.warning("the layout of a document could not be kept: %s", error.message)
