"""The languages of a library: detected in a sample of its segments, and kept for a minute."""

import time
from collections import Counter, OrderedDict

from psycopg import sql

from graph.evidence import Identity
from text.language import language
from tools.retrieval.scope import LASTING, VISIBLE, reading_as
from tools.storage.database import Database
from tools.storage.partitions import Place
from tools.storage.tenants import Workspaces

LEAST_SHARE = 0.02  # of the sample, for a language to count as one of the library; a misread text is rarer
KEPT_SECONDS = 60.0
MOST_KEPT = 1000  # readers
DOCUMENTS, CHARACTERS = 150, 600
PLACES = [0, 2, 7, 20, 60, 200]  # segments of a document that are read, as far as it has them
_SAMPLE = f"""
SELECT left(s.body, {CHARACTERS})
FROM (
    SELECT d.document_id FROM documents AS d
    WHERE d.workspace = {{workspace}} AND {VISIBLE} AND {LASTING} ORDER BY d.document_id LIMIT {DOCUMENTS}
) AS d
JOIN {{partition}} AS s ON s.workspace = {{workspace}} AND s.document_id = d.document_id
WHERE {{here}} AND s.segment_index = ANY(%(places)s::integer[])
"""


class SampledLanguages:
    """The languages of what a reader may see; document ids are as good as random, so the first are a fair sample."""

    def __init__(self, database: Database, workspaces: Workspaces) -> None:
        self._database = database
        self._workspaces = workspaces
        self._known: OrderedDict[Identity, tuple[float, tuple[str, ...]]] = OrderedDict()

    async def __call__(self, identity: Identity) -> tuple[str, ...]:
        """Return ISO 639-1 codes, the most common first. Raises NotFound, DatabaseUnavailable."""
        now = time.monotonic()
        known = self._known.get(identity)
        if known is not None and now - known[0] < KEPT_SECONDS:
            return known[1]
        found = languages_of(await self._sample(identity))
        self._known[identity] = (now, found)
        self._known.move_to_end(identity)
        while len(self._known) > MOST_KEPT:
            self._known.popitem(last=False)
        return found

    async def _sample(self, identity: Identity) -> list[str]:
        async with self._database.connection() as connection:

            async def read_from(place: Place) -> list[str]:
                tables = place.read
                query = _SAMPLE.format(partition=tables.segments, workspace=tables.workspace, here=tables.here)
                row = {"workspace": place.workspace, **reading_as(identity), "places": PLACES}
                found = await connection.execute(sql.SQL(query), row)
                return [row[0] for row in await found.fetchall()]

            return await self._workspaces.read(connection, identity.workspace, read_from)


def languages_of(texts: list[str]) -> tuple[str, ...]:
    """Return the languages of texts, the most common first; a text whose language can't be told counts for none."""
    counted = Counter(detected for text in texts if (detected := language(text, default="")))
    least = max(1.0, LEAST_SHARE * counted.total())
    return tuple(code for code, count in counted.most_common() if count >= least)
